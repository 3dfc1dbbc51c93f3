"""Messages as JSON, and the error for those that JSON cannot carry."""

from __future__ import annotations

from mcp_types import INVALID_PARAMS, ErrorData, JSONRPCMessage, JSONRPCNotification, RequestId
from pydantic_core import PydanticSerializationError

__all__ = ["UNWRITABLE", "UnwritableError", "cancelled_by", "written"]

UNWRITABLE = ErrorData(code=INVALID_PARAMS, message="not sent: half of a surrogate pair in it has no form in UTF-8")
"""What whoever waits for the answer to such a message gets; the session goes on."""


class UnwritableError(Exception):
    """A message that JSON cannot carry."""


def cancelled_by(message: JSONRPCMessage) -> RequestId | None:
    """Return the id of the request that the message cancels, or None if it is another message."""
    match message:
        case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
            return number
        case _:
            return None


def written(message: JSONRPCMessage) -> bytes:
    """The message as JSON.

    Raises:
        UnwritableError: there is text in it that is no Unicode, as broken escapes leave it.
    """
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError as error:
        raise UnwritableError from error
