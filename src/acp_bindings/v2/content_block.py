"""ACP v2 draft: content_block. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import Extensible, Model
from acp_bindings._types import FirstMatch, Lenient, LenientList, Tagged, UInt64, Unlike, Within

from .common import MediaType


class BlobResourceContents(Extensible):
    """Binary resource contents."""

    blob: str
    """Base64-encoded bytes for a binary resource payload."""

    uri: str
    """URI associated with this resource or media payload."""

    mime_type: Lenient[MediaType | None] = None
    """MIME type describing the encoded media payload.

    Omitted and `null` are equivalent and mean the MIME type is not specified.
    """


IconTheme: TypeAlias = Literal["light", "dark"] | str
"""Theme an icon is designed for.

- `light`: Icon designed for light backgrounds.
- `dark`: Icon designed for dark backgrounds.
"""


class Icon(Extensible):
    """An optionally-sized icon that can be displayed in a user interface."""

    src: str
    """A standard URI pointing to an icon resource.

    MUST be an `https:` or `data:` URI. Clients reject other schemes, fetch without credentials, and do not follow
    scheme- or origin-changing redirects.
    """

    mime_type: Lenient[MediaType | None] = None
    """Optional MIME type override if the source MIME type is missing or generic.

    Omitted and `null` are equivalent and mean the source MIME type is used.
    """

    sizes: LenientList[list[str] | None] = None
    """Optional array of strings that specify sizes at which the icon can be used.

    Each string should be in `WxH` format (e.g., `"48x48"`, `"96x96"`) or `"any"` for scalable formats like SVG.

    If not provided, the client should assume that the icon can be used at any size.

    Omitted and `null` are equivalent and mean no sizes are specified.
    """

    theme: Lenient[IconTheme | None] = None
    """Optional theme this icon is designed for.

    Omitted and `null` are equivalent and mean the icon is not theme-specific.
    """


class OtherContentBlock(Model):
    """Custom or future content block.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this content block type should preserve the raw payload when storing, replaying,
    proxying, or forwarding content, and otherwise ignore it or display it generically. Agents MUST reject a
    `session/prompt` request with a content block type they do not support with `-32602`.
    """

    type: Annotated[str, Unlike("audio", "image", "resource", "resource_link", "text")]


Role: TypeAlias = Literal["assistant", "user"] | str
"""The sender or recipient of messages and data in a conversation.

- `assistant`: The assistant side of a conversation.
- `user`: The user side of a conversation.
"""


class Annotations(Extensible):
    """Optional annotations for the client.

    The client can use annotations to inform how objects are used or displayed.
    """

    audience: LenientList[list[Role] | None] = None
    """Intended recipients for this content, such as the user or assistant.

    Omitted and `null` are equivalent and mean no audience is specified.
    """

    last_modified: Lenient[str | None] = None
    """Timestamp indicating when the underlying resource was last modified.

    Should be an ISO 8601 formatted string (e.g., "2025-01-12T15:00:58Z"), as in MCP.

    Omitted and `null` are equivalent and mean the modification time is not reported.
    """

    priority: Lenient[Annotated[float | None, Within(ge=0, le=1)]] = None
    """Relative importance of this content when clients choose what to surface, from 0 (least important) to 1 (most
    important).

    Omitted and `null` are equivalent and mean no priority is specified.
    """


class AudioContent(Extensible):
    """Audio provided to or from an LLM."""

    type: Literal["audio"] = "audio"
    data: str
    """Base64-encoded media payload."""

    mime_type: MediaType
    """MIME type describing the encoded media payload."""

    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content.

    Omitted and `null` are equivalent and mean no annotations are provided.
    """


class ImageContent(Extensible):
    """An image provided to or from an LLM."""

    type: Literal["image"] = "image"
    data: str
    """Base64-encoded media payload."""

    mime_type: MediaType
    """MIME type describing the encoded media payload."""

    uri: Lenient[str | None] = None
    """URI associated with this resource or media payload.

    Omitted and `null` are equivalent and mean no URI is associated with the image.
    """

    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content.

    Omitted and `null` are equivalent and mean no annotations are provided.
    """


class ResourceLink(Extensible):
    """A link to a resource that the receiver may be able to read, included in a prompt or tool call result."""

    type: Literal["resource_link"] = "resource_link"
    name: str
    """Human-readable name shown for this protocol object."""

    uri: str
    """URI associated with this resource or media payload."""

    title: Lenient[str | None] = None
    """Optional display title for end-user UI.

    Omitted and `null` are equivalent and mean no title is provided.
    """

    description: Lenient[str | None] = None
    """Optional human-readable details shown with this protocol object.

    Omitted and `null` are equivalent and mean no description is provided.
    """

    icons: LenientList[list[Icon] | None] = None
    """Optional set of sized icons that the client can display in a user interface.

    Omitted and `null` are equivalent and mean no icons are provided.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type describing the encoded media payload.

    Omitted and `null` are equivalent and mean the MIME type is not specified.
    """

    size: Lenient[UInt64 | None] = None
    """Optional size of the linked resource in bytes, if known.

    Omitted and `null` are equivalent and mean the size is not known.
    """

    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content.

    Omitted and `null` are equivalent and mean no annotations are provided.
    """


class TextContent(Extensible):
    """Text provided to or from an LLM."""

    type: Literal["text"] = "text"
    text: str
    """Text payload carried by this content block."""

    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content.

    Omitted and `null` are equivalent and mean no annotations are provided.
    """


class TextResourceContents(Extensible):
    """Text-based resource contents."""

    text: str
    """Text payload carried by this content block."""

    uri: str
    """URI associated with this resource or media payload."""

    mime_type: Lenient[MediaType | None] = None
    """MIME type describing the encoded media payload.

    Omitted and `null` are equivalent and mean the MIME type is not specified.
    """


EmbeddedResourceResource: TypeAlias = Annotated[TextResourceContents | BlobResourceContents, FirstMatch()]
"""Resource content that can be embedded in a message."""


class EmbeddedResource(Extensible):
    """The contents of a resource, embedded into a prompt or tool call result."""

    type: Literal["resource"] = "resource"
    resource: EmbeddedResourceResource
    """Embedded resource payload, either text or binary data."""

    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content.

    Omitted and `null` are equivalent and mean no annotations are provided.
    """


ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | OtherContentBlock, Tagged("type")
]
"""Content blocks represent displayable information in the Agent Client Protocol.

Content blocks appear in:
- User prompts sent via `session/prompt`
- Language model output reported through `session/update` notifications as message updates or streamed chunks
- Progress updates and results from tool calls

This structure is compatible with the Model Context Protocol (MCP), so agents can forward content from MCP tool outputs
without transformation.

See protocol docs: [Content](https://agentclientprotocol.com/protocol/v2/content)
"""
