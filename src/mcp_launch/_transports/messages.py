"""Read JSON-RPC messages from bytes within limits, and write them."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, cast

from anyio.lowlevel import cancel_shielded_checkpoint
from mcp_types import (
    INVALID_PARAMS,
    ErrorData,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from acp_bindings._json import MENDABLE, mendings
from mcp_launch._diagnosis import Diagnosis
from mcp_launch.options import DEEPEST, Limits, allow_more, megabytes

UNWRITABLE = ErrorData(code=INVALID_PARAMS, message="not sent: it contains a lone surrogate, which UTF-8 cannot encode")
"""The error for a request that cannot be sent; the session continues."""


class UnwritableError(Exception):
    """A message cannot be written as JSON."""


def cancelled_by(message: JSONRPCMessage) -> RequestId | None:
    """Return the id of the request that the message cancels, or None if it is another message."""
    match message:
        case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
            return number
        case _:
            return None


def written(message: JSONRPCMessage) -> bytes:
    """Return the message as JSON.

    Raises:
        UnwritableError: it contains a lone surrogate.
    """
    try:
        # Like `model_dump_json`, but without a string, which takes four times the bytes if it has an emoji.
        return message.__pydantic_serializer__.to_json(message, by_alias=True, exclude_unset=True)
    except PydanticSerializationError as error:
        raise UnwritableError from error


@dataclass(frozen=True, slots=True)
class Invalid:
    """A reason why bytes are not a message."""

    why: str
    """A clause with "it" for the message."""
    limit: str | None = None
    """The exceeded limit: `bytes`, `values`, `items` or `depth`."""
    id: RequestId | None = None
    """The id in it, if it was found."""
    is_call: bool = False
    """True if it has a method and so is not a response."""
    claims: bool = False
    """True if it is an object with `"jsonrpc": "2.0"`, or one that was not read because of a limit."""

    @property
    def answers(self) -> RequestId | None:
        """The id of the request to which it responds."""
        return None if self.is_call else self.id

    @property
    def warning(self) -> str:
        """The warning that it was dropped."""
        if self.limit is None:
            return "sent an event that is not a JSON-RPC message"
        return f"sent a message that exceeds a limit and was dropped: {self.why}"

    def diagnosis(self) -> Diagnosis:
        """Return the failure of the request to which it responds."""
        if self.limit is None:
            message = f"sent a response that is not valid JSON-RPC: {self.why}; is there a newer release of the server?"
            return Diagnosis("invalid_response", message)
        message = f"sent a response that exceeds a limit: {self.why}"
        return Diagnosis("invalid_response", message, {"limit": self.limit}, advice=self.why.partition("; ")[2] or None)


class Reader:
    """Reads the messages of one peer, and counts bytes and values. *fixed* limits cannot be raised."""

    def __init__(self, limits: Limits, *, fixed: bool = False) -> None:
        self.limits = limits
        self._fixed = fixed
        self.bytes = 0
        """Bytes of all messages so far."""
        self.values = 0
        """Values in all of them."""
        self.mended = False
        """True if the last message was read with replacement characters."""

    async def read(self, text: bytes | bytearray) -> JSONRPCMessage | Invalid:
        """Return the message that the bytes are, or why they are not one."""
        value = await self._parse(text)
        return value if isinstance(value, Invalid) else _message(value)

    async def read_all(self, text: bytes) -> list[JSONRPCMessage] | Invalid:
        """Return the messages in the bytes, which may be an array of an older server, or why they are not valid."""
        value = await self._parse(text)
        if not isinstance(value, list):
            found = value if isinstance(value, Invalid) else _message(value)
            return found if isinstance(found, Invalid) else [found]
        messages: list[JSONRPCMessage] = []
        for item in cast("list[object]", value):
            if isinstance(found := _message(item), Invalid):
                # Without an id, because valid responses may be in the same array.
                return Invalid(found.why)
            messages.append(found)
        return messages

    def too_long(self, start: bytes, why: str) -> Invalid:
        """Return why a message is not read, given its start."""
        return _unread(start, "bytes", why)

    async def _parse(self, text: bytes | bytearray) -> object:
        steps = self._steps(text)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
            for _ in range(_TURNS):
                # Shielded, because the message being read would be lost.
                await cancel_shielded_checkpoint()

    def _steps(self, text: bytes | bytearray) -> Generator[None, None, object]:
        """Return the value; after each step of a long message, other tasks run."""
        self.bytes += len(text)
        if len(text) > self.limits.bytes:
            return self._beyond(text, "bytes", f"it is longer than {megabytes(self.limits.bytes)}")
        values = _punctuation(text)
        if values > self.limits.values:
            # Perhaps most of the punctuation is in strings.
            values = yield from _count_values(text, self.limits.values)
        self.values += values
        if values > self.limits.values:
            return self._beyond(text, "values", f"it has more than {self.limits.values:,} JSON values")
        if len(text) > _PIECE:
            yield
        value = yield from self._lenient(text)
        if len(text) > _PIECE:
            yield
        if values > self.limits.items and _count_items(value, self.limits.items) > self.limits.items:
            return self._beyond(text, "items", f"it has more than {self.limits.items:,} items in its lists")
        return value

    def _lenient(self, text: bytes | bytearray) -> Generator[None, None, object]:
        """Return the value, with replacement characters for invalid UTF-8 and lone surrogates."""
        for attempt in chain([text], mendings(text)):
            if attempt is not text:
                yield
            try:
                value: object = from_json(attempt, cache_strings="keys")
            except ValueError as error:
                if "recursion limit" in str(error):
                    return _unread(text, "depth", f"it is nested more than {DEEPEST} levels deep")
                if len(text) > MENDABLE and any(each in str(error) for each in _NOT_UNICODE):
                    why = f"it is not valid Unicode, which is repaired in messages of up to {megabytes(MENDABLE)} only"
                    return _unread(text, "bytes", why)
            else:
                self.mended = attempt is not text
                return value
        # The start of a line whose writer died contains an id too.
        is_whole = text[-16:].rstrip().endswith(b"}")
        outline = _outline(text)
        return Invalid("it is not JSON", **outline) if is_whole else Invalid("it is not JSON", claims=outline["claims"])

    def _beyond(self, text: bytes | bytearray, limit: str, why: str) -> Invalid:
        return _unread(text, limit, why if self._fixed else f"{why}; {allow_more(limit)}")


# Values -------------------------------------------------------------------------------------------------------------

_PUNCTUATION = (b",", b":", b"[", b"{")
_PIECE = 1 << 20
"""Bytes that are scanned at once."""
_TURNS = 6
"""Turns of the event loop after each step. A task that waits for a signal continues only in the fourth, and may then
cancel another one."""
_NOT_UNICODE = ("invalid unicode", "hex escape")
"""Parts of the errors of the parser for invalid UTF-8 and for lone surrogates."""
_UNESCAPED = re.compile(rb"[^\\]")


def _punctuation(text: bytes | bytearray) -> int:
    return 1 + sum(map(text.count, _PUNCTUATION))


def _count_values(text: bytes | bytearray, most: int) -> Generator[None, None, int]:
    """Return the number of values and keys, without building any of them; or a number that is larger than *most*."""
    count, quotes, start, inside = 0, 0, 0, False
    while start < len(text) and max(count, quotes // 2) <= most:
        # A piece must not end within an escape.
        end = _UNESCAPED.search(text, start + _PIECE)
        stop = end.end() if end else len(text)
        piece = text[start:stop].replace(rb"\\", b"").replace(rb"\"", b"")
        parts = piece.split(b'"')
        count += _punctuation(b"".join(parts[inside::2])) - 1
        # Adjacent strings are not JSON, so they are not scanned to their end.
        quotes += len(parts) - 1
        inside ^= len(parts) % 2 == 0
        start = stop
        yield
    return 1 + max(count, quotes // 2)


# Items --------------------------------------------------------------------------------------------------------------

_OPAQUE = frozenset(
    [
        "_meta",
        "data",
        "experimental",
        "extensions",
        "input",
        "inputSchema",
        "metadata",
        "outputSchema",
        "structuredContent",
    ]
)
"""Fields of MCP with any JSON, for which no models are created."""
_FIELDS = 64
"""More fields than any object of MCP has."""


def _count_items(value: object, most: int) -> int:
    """Return the number of values for which models are created, or a number larger than *most*.

    Models are created for the items of arrays. An item that is not valid is an error, which takes some kilobytes.
    """
    count = 0
    todo: list[object] = [value] if isinstance(value, dict | list) else []
    while todo and count <= most:
        current = todo.pop()
        if isinstance(current, dict):
            entries = cast("dict[str, object]", current)
            within = [value for key, value in entries.items() if key not in _OPAQUE]
            count += len(within) if len(within) > _FIELDS else 0
        else:
            within = cast("list[object]", current)
            count += len(within)
        todo += [each for each in within if isinstance(each, dict | list)]
    return count


# Messages -----------------------------------------------------------------------------------------------------------

_Json: TypeAlias = dict[str, Any]


def _message(value: object) -> JSONRPCMessage | Invalid:
    if not isinstance(value, dict):
        return Invalid("it is not an object")
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return _misshapen(cast("_Json", value))


def _misshapen(given: _Json) -> Invalid:
    """Return what is wrong with an object that is not a message."""
    number = given.get("id")
    is_id = isinstance(number, int | str) and not isinstance(number, bool)
    # A log may also be JSON with numbered lines.
    is_message = "jsonrpc" in given or given.keys() <= {"id", "result", "error"}
    return Invalid(
        _wrong(given),
        id=number if is_id and is_message else None,
        is_call="method" in given,
        claims=given.get("jsonrpc") == "2.0",
    )


def _wrong(answer: _Json) -> str:  # noqa: PLR0911 - a list of cases
    match answer:
        case {"jsonrpc": "2.0", "result": {}} if answer.get("id") is None:
            return 'its "id" is missing or null'
        case {"jsonrpc": "2.0", "error": {"code": int(), "message": str()}} | {"jsonrpc": "2.0", "result": {}}:
            return "it cannot be read"
        case {"jsonrpc": "2.0", "error": {"code": int()}}:
            return 'its "error" must have a "message" that is a string'
        case {"jsonrpc": "2.0", "error": {}}:
            return 'its "error" must have a "code" that is an integer'
        case {"jsonrpc": "2.0", "error": _}:
            return 'its "error" must be an object'
        case {"jsonrpc": "2.0", "result": _}:
            return 'its "result" must be an object'
        case {"jsonrpc": "2.0"}:
            return 'it has neither "result" nor "error"'
        case _:
            return 'it lacks "jsonrpc": "2.0"'


# What is not parsed -------------------------------------------------------------------------------------------------

_OUTLINE = 4096
"""Bytes at the start and at the end that are searched."""
_MEMBER = rb'"(?:jsonrpc|id|method)"\s*:\s*(?:"(?:[^"\\]|\\.){0,300}"|-?\d{1,18}|null)\s*'
_FIRST = re.compile(rb"\s*\{\s*((?:%b,\s*){1,3})" % _MEMBER)
_LAST = re.compile(rb"((?:,\s*%b){1,3})\}\s*\Z" % _MEMBER)
"""The fields that SDKs write before or after `result` and `params`, at the outermost level."""


def _outline(text: bytes | bytearray) -> dict[str, Any]:
    """Return the `id`, `is_call` and `claims` of a message without parsing it."""
    found = [_FIRST.match(text[:_OUTLINE]), _LAST.search(text[-_OUTLINE:])]
    members = b",".join(each[1].strip().strip(b",") for each in found if each)
    try:
        given: _Json = from_json(b"{%b}" % members)
    except ValueError:
        given = {}
    return {
        "id": given.get("id"),
        "is_call": "method" in given,
        "claims": given.get("jsonrpc") == "2.0",
    }


def _unread(text: bytes | bytearray, limit: str, why: str) -> Invalid:
    """Return why a message was not read, because of a limit."""
    is_object = text[:_OUTLINE].lstrip().startswith(b"{")
    return Invalid(why, limit=limit, **_outline(text) | {"claims": is_object})
