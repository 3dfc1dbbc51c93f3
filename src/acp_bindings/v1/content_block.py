"""ACP v1: content_block. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import Extensible
from acp_bindings._types import FirstMatch, Int64, Lenient, LenientList, Number, Tagged


class BlobResourceContents(Extensible):
    """Binary resource contents."""

    blob: str
    """Base64-encoded bytes for a binary resource payload."""

    mime_type: Lenient[str | None] = None
    """MIME type describing the encoded media payload."""

    uri: str
    """URI associated with this resource or media payload."""


Role: TypeAlias = Literal["assistant", "user"]
"""The sender or recipient of messages and data in a conversation.

- `assistant`: The assistant side of a conversation.
- `user`: The user side of a conversation.
"""


class Annotations(Extensible):
    """Optional annotations for the client.

    The client can use annotations to inform how objects are used or displayed.
    """

    audience: LenientList[list[Role] | None] = None
    """Intended recipients for this content, such as the user or assistant."""

    last_modified: Lenient[str | None] = None
    """Timestamp indicating when the underlying resource was last modified."""

    priority: Lenient[Number | None] = None
    """Relative importance of this content when clients choose what to surface."""


class AudioContent(Extensible):
    """Audio provided to or from an LLM."""

    type: Literal["audio"] = "audio"
    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content."""

    data: str
    """Base64-encoded media payload."""

    mime_type: str
    """MIME type describing the encoded media payload."""


class ImageContent(Extensible):
    """An image provided to or from an LLM."""

    type: Literal["image"] = "image"
    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content."""

    data: str
    """Base64-encoded media payload."""

    mime_type: str
    """MIME type describing the encoded media payload."""

    uri: Lenient[str | None] = None
    """URI associated with this resource or media payload."""


class ResourceLink(Extensible):
    """A resource that the server is capable of reading, included in a prompt or tool call result."""

    type: Literal["resource_link"] = "resource_link"
    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content."""

    description: Lenient[str | None] = None
    """Optional human-readable details shown with this protocol object."""

    mime_type: Lenient[str | None] = None
    """MIME type describing the encoded media payload."""

    name: str
    """Human-readable name shown for this protocol object."""

    size: Lenient[Int64 | None] = None
    """Optional size of the linked resource in bytes, if known."""

    title: Lenient[str | None] = None
    """Optional display title for end-user UI."""

    uri: str
    """URI associated with this resource or media payload."""


class TextContent(Extensible):
    """Text provided to or from an LLM."""

    type: Literal["text"] = "text"
    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content."""

    text: str
    """Text payload carried by this content block."""


class TextResourceContents(Extensible):
    """Text-based resource contents."""

    mime_type: Lenient[str | None] = None
    """MIME type describing the encoded media payload."""

    text: str
    """Text payload carried by this content block."""

    uri: str
    """URI associated with this resource or media payload."""


EmbeddedResourceResource: TypeAlias = Annotated[TextResourceContents | BlobResourceContents, FirstMatch()]
"""Resource content that can be embedded in a message."""


class EmbeddedResource(Extensible):
    """The contents of a resource, embedded into a prompt or tool call result."""

    type: Literal["resource"] = "resource"
    annotations: Lenient[Annotations | None] = None
    """Optional annotations that help clients decide how to display or route this content."""

    resource: EmbeddedResourceResource
    """Embedded resource payload, either text or binary data."""


ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource, Tagged("type")
]
"""Content blocks represent displayable information in the Agent Client Protocol.

Content blocks appear in:
- User prompts sent via `session/prompt`
- Language model output streamed through `session/update` notifications
- Progress updates and results from tool calls

This structure is compatible with the Model Context Protocol (MCP), so agents can forward content from MCP tool outputs
without transformation.

See protocol docs: [Content](https://agentclientprotocol.com/protocol/v1/content)
"""
