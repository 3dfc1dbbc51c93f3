"""ACP v1: elicitation. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import AnsweredBy, Extensible, Model
from acp_bindings._types import FirstMatch, Implied, Int64, Lenient, LenientList, Number, Tagged, UInt32, UInt64, Unlike

from .common import RequestId, SessionId, ToolCallId


class BooleanPropertySchema(Extensible):
    """Schema for boolean properties in an elicitation form."""

    type: Literal["boolean"] = "boolean"
    title: Lenient[str | None] = None
    """Optional title for the property.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """

    default: Lenient[bool | None] = None
    """Default value.

    Optional. Omitted and `null` are equivalent and mean no default value is provided.
    """


class CreateElicitationResponseCancel(Extensible):
    """The elicitation was cancelled."""

    action: Literal["cancel"] = "cancel"


class CreateElicitationResponseDecline(Extensible):
    """The user declined the elicitation."""

    action: Literal["decline"] = "decline"


ElicitationContentValueStringArray: TypeAlias = list[str]
"""String array value accepted in elicitation response content."""


ElicitationContentValue: TypeAlias = Annotated[
    str | Int64 | Number | bool | ElicitationContentValueStringArray, FirstMatch()
]
"""Allowed wire representations for `ElicitationContentValue`."""


class ElicitationAcceptAction(Model):
    """The user accepted the elicitation and provided content."""

    content: dict[str, ElicitationContentValue] | None = None
    """The user-provided content, if any, as an object matching the requested schema."""


class CreateElicitationResponseAccept(ElicitationAcceptAction, Extensible):
    """The user accepted and provided content."""

    action: Literal["accept"] = "accept"


ElicitationId: TypeAlias = str
"""Unique identifier for an elicitation."""


class CompleteElicitationNotification(Extensible):
    """Notification sent by the agent when a URL-based elicitation is complete."""

    elicitation_id: ElicitationId
    """The ID of the elicitation that completed."""


class ElicitationRequestScope(Model):
    """Request-scoped elicitation, tied to a specific JSON-RPC request outside of a session (e.g., during
    auth/configuration phases before any session is started).
    """

    request_id: RequestId
    """The request this elicitation is tied to."""


ElicitationSchemaType: TypeAlias = Literal["object"]
"""Type discriminator for elicitation schemas.

- `object`: Object schema type.
"""


class ElicitationSessionScope(Model):
    """Session-scoped elicitation, optionally tied to a specific tool call.

    When `toolCallId` is set, the elicitation is tied to a specific tool call. This is useful when an agent receives an
    elicitation from an MCP server during a tool call and needs to redirect it to the user.
    """

    session_id: SessionId
    """The session this elicitation is tied to."""

    tool_call_id: Lenient[ToolCallId | None] = None
    """Optional tool call within the session.

    Optional. Omitted and `null` are equivalent and mean the elicitation is scoped to the session without a specific
    tool call.
    """


class ElicitationUrlModeRequest(ElicitationRequestScope):
    """Tied to a specific JSON-RPC request outside of a session (e.g., during auth/configuration phases before any
    session is started).
    """

    elicitation_id: ElicitationId
    """The unique identifier for this elicitation."""

    url: str
    """The URL to direct the user to."""


class CreateElicitationRequestUrlRequest(
    ElicitationUrlModeRequest, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a specific JSON-RPC request outside of a session (e.g., during auth/configuration phases before any
    session is started).
    """

    mode: Literal["url"] = "url"
    message: str
    """A human-readable message describing what input is needed."""


class ElicitationUrlModeSession(ElicitationSessionScope):
    """Tied to a session, optionally to a specific tool call within that session."""

    elicitation_id: ElicitationId
    """The unique identifier for this elicitation."""

    url: str
    """The URL to direct the user to."""


class CreateElicitationRequestUrlSession(
    ElicitationUrlModeSession, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a session, optionally to a specific tool call within that session."""

    mode: Literal["url"] = "url"
    message: str
    """A human-readable message describing what input is needed."""


CreateElicitationRequestUrl: TypeAlias = Annotated[
    CreateElicitationRequestUrlSession | CreateElicitationRequestUrlRequest, FirstMatch()
]
"""URL-based elicitation where the client directs the user to a URL."""


ElicitationUrlMode: TypeAlias = Annotated[ElicitationUrlModeSession | ElicitationUrlModeRequest, FirstMatch()]
"""URL-based elicitation mode where the client directs the user to a URL."""


class EnumOption(Extensible):
    """A titled enum option with a const value, human-readable title, and optional description."""

    const: str
    """The constant value for this option."""

    title: str
    """Human-readable title for this option."""

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """


class IntegerPropertySchema(Extensible):
    """Schema for integer properties in an elicitation form."""

    type: Literal["integer"] = "integer"
    title: Lenient[str | None] = None
    """Optional title for the property.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """

    minimum: Int64 | None = None
    """Minimum value (inclusive).

    Optional. Omitted and `null` are equivalent and mean there is no inclusive lower bound.
    """

    maximum: Int64 | None = None
    """Maximum value (inclusive).

    Optional. Omitted and `null` are equivalent and mean there is no inclusive upper bound.
    """

    default: Lenient[Int64 | None] = None
    """Default value.

    Optional. Omitted and `null` are equivalent and mean no default value is provided.
    """


class NumberPropertySchema(Extensible):
    """Schema for number (floating-point) properties in an elicitation form."""

    type: Literal["number"] = "number"
    title: Lenient[str | None] = None
    """Optional title for the property.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """

    minimum: Number | None = None
    """Minimum value (inclusive).

    Optional. Omitted and `null` are equivalent and mean there is no inclusive lower bound.
    """

    maximum: Number | None = None
    """Maximum value (inclusive).

    Optional. Omitted and `null` are equivalent and mean there is no inclusive upper bound.
    """

    default: Lenient[Number | None] = None
    """Default value.

    Optional. Omitted and `null` are equivalent and mean no default value is provided.
    """


class OtherCreateElicitationRequestRequest(
    ElicitationRequestScope, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a specific JSON-RPC request outside of a session (e.g., during auth/configuration phases before any
    session is started).
    """

    mode: Annotated[str, Unlike("form", "url")]
    message: str
    """A human-readable message describing what input is needed."""


class OtherCreateElicitationRequestSession(
    ElicitationSessionScope, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a session, optionally to a specific tool call within that session."""

    mode: Annotated[str, Unlike("form", "url")]
    message: str
    """A human-readable message describing what input is needed."""


OtherCreateElicitationRequest: TypeAlias = Annotated[
    OtherCreateElicitationRequestSession | OtherCreateElicitationRequestRequest, FirstMatch()
]
"""Custom or future elicitation mode.

Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with `_`
are reserved for future ACP variants.

Clients that do not understand this mode should preserve the raw payload when storing, replaying, proxying, or
forwarding elicitation requests. They MUST NOT render it as a known elicitation mode.
"""


class OtherCreateElicitationResponse(Extensible):
    """Custom or future elicitation action.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Agents that do not understand this action should preserve the raw payload when storing, replaying, proxying, or
    forwarding elicitation responses. They MUST NOT treat it as a known elicitation action.
    """

    action: Annotated[str, Unlike("accept", "cancel", "decline")]


CreateElicitationResponse: TypeAlias = Annotated[
    CreateElicitationResponseAccept
    | CreateElicitationResponseDecline
    | CreateElicitationResponseCancel
    | OtherCreateElicitationResponse,
    Tagged("action"),
]
"""Response from the client to an elicitation request."""


class OtherElicitationPropertySchema(Model):
    """Custom or future elicitation property schema.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this property schema type should preserve the raw schema when storing, replaying,
    proxying, or forwarding elicitation requests. They MUST NOT render it as a known input control.
    """

    type: Annotated[str, Unlike("array", "boolean", "integer", "number", "string")]


class OtherMultiSelectItems(Model):
    """Custom or future typed multi-select items."""

    type: Annotated[str, Unlike("string")]


StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"]
"""String format types for string properties in elicitation schemas.

- `email`: Email address format.
- `uri`: URI format.
- `date`: Date format (YYYY-MM-DD).
- `date-time`: Date-time format (ISO 8601).
"""


class StringMultiSelectItems(Extensible):
    """String item schema for multi-select enum properties."""

    type: Literal["string"] = "string"
    enum: list[str]
    """Allowed enum values."""


class StringPropertySchema(Extensible):
    """Schema for string properties in an elicitation form.

    When `enum` or `oneOf` is set, this represents a single-select enum with `"type": "string"`.
    """

    type: Literal["string"] = "string"
    title: Lenient[str | None] = None
    """Optional title for the property.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """

    min_length: UInt32 | None = None
    """Minimum string length.

    Optional. Omitted and `null` are equivalent and mean there is no minimum length constraint.
    """

    max_length: UInt32 | None = None
    """Maximum string length.

    Optional. Omitted and `null` are equivalent and mean there is no maximum length constraint.
    """

    pattern: str | None = None
    """Pattern the string must match.

    Optional. Omitted and `null` are equivalent and mean there is no pattern constraint.
    """

    format: StringFormat | None = None
    """String format.

    Optional. Omitted and `null` are equivalent and mean there is no format constraint.
    """

    default: Lenient[str | None] = None
    """Default value.

    Optional. Omitted and `null` are equivalent and mean no default value is provided.
    """

    enum: list[str] | None = None
    """Enum values for untitled single-select enums.

    Optional. Omitted and `null` are equivalent and mean no untitled single-select choices are declared by `enum`.
    """

    one_of: list[EnumOption] | None = None
    """Titled enum options for titled single-select enums.

    Optional. Omitted and `null` are equivalent and mean no titled single-select choices are declared by `oneOf`.
    """


class TitledMultiSelectItems(Extensible):
    """Items definition for titled multi-select enum properties."""

    type: Annotated[Literal["titled"], Implied("string")] = "titled"
    any_of: list[EnumOption]
    """Titled enum options."""


MultiSelectItems: TypeAlias = Annotated[
    StringMultiSelectItems | OtherMultiSelectItems | TitledMultiSelectItems, Tagged("type")
]
"""Items for a multi-select (array) property schema."""


class MultiSelectPropertySchema(Extensible):
    """Schema for multi-select (array) properties in an elicitation form."""

    type: Literal["array"] = "array"
    title: Lenient[str | None] = None
    """Optional title for the property.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Human-readable description.

    Optional. Omitted and `null` are equivalent and mean no description is provided.
    """

    min_items: UInt64 | None = None
    """Minimum number of items to select.

    Optional. Omitted and `null` are equivalent and mean there is no minimum selection count.
    """

    max_items: UInt64 | None = None
    """Maximum number of items to select.

    Optional. Omitted and `null` are equivalent and mean there is no maximum selection count.
    """

    items: MultiSelectItems
    """The items definition describing allowed values."""

    default: LenientList[list[str] | None] = None
    """Default selected values.

    Optional. Omitted and `null` are equivalent and mean no default selections are provided.
    """


ElicitationPropertySchema: TypeAlias = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | OtherElicitationPropertySchema,
    Tagged("type"),
]
"""Property schema for elicitation form fields.

Each variant corresponds to a JSON Schema `"type"` value. Single-select enums use `type: "string"` with `enum` or
`oneOf` set. Multi-select enums use `type: "array"`.
"""


class ElicitationSchema(Extensible):
    """Type-safe elicitation schema for requesting structured user input.

    This represents a JSON Schema object with primitive-typed properties, as required by the elicitation specification.
    """

    type: Lenient[ElicitationSchemaType] = "object"
    """Type discriminator. Always `"object"`."""

    title: Lenient[str | None] = None
    """Optional title for the schema.

    Optional. Omitted and `null` are equivalent and mean no title is provided.
    """

    properties: dict[str, ElicitationPropertySchema] = {}
    """Property definitions (must be primitive types)."""

    required: list[str] | None = None
    """List of required property names.

    Optional. Omitted and `null` are equivalent and mean no property names are required.
    """

    description: Lenient[str | None] = None
    """Optional description of what this schema represents.

    Optional. Omitted and `null` are equivalent and mean no schema description is provided.
    """


class ElicitationFormModeRequest(ElicitationRequestScope):
    """Tied to a specific JSON-RPC request outside of a session (e.g., during auth/configuration phases before any
    session is started).
    """

    requested_schema: ElicitationSchema
    """A JSON Schema describing the form fields to present to the user."""


class CreateElicitationRequestFormRequest(
    ElicitationFormModeRequest, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a specific JSON-RPC request outside of a session (e.g., during auth/configuration phases before any
    session is started).
    """

    mode: Literal["form"] = "form"
    message: str
    """A human-readable message describing what input is needed."""


class ElicitationFormModeSession(ElicitationSessionScope):
    """Tied to a session, optionally to a specific tool call within that session."""

    requested_schema: ElicitationSchema
    """A JSON Schema describing the form fields to present to the user."""


class CreateElicitationRequestFormSession(
    ElicitationFormModeSession, Extensible, AnsweredBy["CreateElicitationResponse"]
):
    """Tied to a session, optionally to a specific tool call within that session."""

    mode: Literal["form"] = "form"
    message: str
    """A human-readable message describing what input is needed."""


CreateElicitationRequestForm: TypeAlias = Annotated[
    CreateElicitationRequestFormSession | CreateElicitationRequestFormRequest, FirstMatch()
]
"""Form-based elicitation where the client renders a form from the provided schema."""


CreateElicitationRequest: TypeAlias = Annotated[
    CreateElicitationRequestForm | CreateElicitationRequestUrl | OtherCreateElicitationRequest, Tagged("mode")
]
"""Request from the agent to elicit structured user input.

The agent sends this to the client to request information from the user, either via a form or by directing them to a
URL. Elicitations are tied to a session (optionally a tool call) or a request.
"""


ElicitationFormMode: TypeAlias = Annotated[ElicitationFormModeSession | ElicitationFormModeRequest, FirstMatch()]
"""Form-based elicitation mode where the client renders a form from the provided schema."""
