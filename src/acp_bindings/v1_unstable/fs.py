"""ACP v1 unstable: fs. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings._model import AnsweredBy, Extensible, Response
from acp_bindings._types import UInt32

from .common import SessionId


class ReadTextFileRequest(Extensible, AnsweredBy["ReadTextFileResponse"]):
    """Request to read content from a text file.

    Only available if the client supports the `fs.readTextFile` capability.
    """

    session_id: SessionId
    """The session ID for this request."""

    path: str
    """Absolute path to the file to read."""

    line: UInt32 | None = None
    """Line number to start reading from (1-based)."""

    limit: UInt32 | None = None
    """Maximum number of lines to read."""


class ReadTextFileResponse(Response):
    """Response containing the contents of a text file."""

    content: str
    """Content payload returned by this response."""


class WriteTextFileRequest(Extensible, AnsweredBy["WriteTextFileResponse"]):
    """Request to write content to a text file.

    Only available if the client supports the `fs.writeTextFile` capability.
    """

    session_id: SessionId
    """The session ID for this request."""

    path: str
    """Absolute path to the file to write."""

    content: str
    """The text content to write to the file."""


class WriteTextFileResponse(Response):
    """Response to `fs/write_text_file`."""
