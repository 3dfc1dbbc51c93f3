"""What becomes of a message that cannot be sent: whoever waits for its answer gets one, and the session goes on."""

from __future__ import annotations

from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest
from pydantic_core import PydanticSerializationError

__all__ = ["UNWRITABLE", "UnwritableError", "refusal", "written"]

UNWRITABLE = ErrorData(code=INVALID_PARAMS, message="not sent: half of a surrogate pair in it has no form in UTF-8")


class UnwritableError(Exception):
    """A message that JSON cannot carry."""


def written(message: JSONRPCMessage) -> bytes:
    """The message as JSON.

    Raises:
        UnwritableError: there is text in it that is no Unicode, as broken escapes leave it.
    """
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError as error:
        raise UnwritableError from error


def refusal(message: JSONRPCMessage, why: ErrorData | str) -> SessionMessage | None:
    """The error in place of an answer, if the message is one that waits for an answer."""
    if not isinstance(message, JSONRPCRequest):
        return None
    error = ErrorData(code=CONNECTION_CLOSED, message=why) if isinstance(why, str) else why
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error))
