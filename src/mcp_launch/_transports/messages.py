"""JSON-RPC messages and their bytes: what is received is read within limits, and what JSON cannot carry is not sent."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from anyio.lowlevel import cancel_shielded_checkpoint
from mcp_types import (
    INVALID_PARAMS,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from mcp_launch._diagnosis import Diagnosis
from mcp_launch.options import DEEPEST, Limits, allow_more, megabytes

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
        # As `model_dump_json`, without the text in between, which takes four times the bytes if it has an emoji.
        return message.__pydantic_serializer__.to_json(message, by_alias=True, exclude_unset=True)
    except PydanticSerializationError as error:
        raise UnwritableError from error


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why bytes are not a message."""

    why: str
    """A clause that calls it "it"."""
    limit: str | None = None
    """The limit that it exceeds: `bytes`, `values`, `items` or `depth`."""
    id: RequestId | None = None
    """The id in it, if it was found."""
    is_call: bool = False
    """Whether it has a method, and so is not a response."""
    claims: bool = False
    """Whether it is an object that says it is JSON-RPC 2.0, or one that was not read because of a limit."""

    @property
    def answers(self) -> RequestId | None:
        """The id of the request that it is meant to answer."""
        return None if self.is_call else self.id

    def diagnosis(self) -> Diagnosis:
        """The failure of the request that it is meant to answer."""
        if self.limit is None:
            told = f"gave an answer that is not valid JSON-RPC: {self.why}; is there a newer release of it?"
            return Diagnosis("invalid_response", told)
        return Diagnosis("invalid_response", f"gave an answer that exceeds a limit: {self.why}", {"limit": self.limit})


class Reader:
    """Reads the messages of one peer, and knows how much there was."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bytes = 0
        """Bytes of all messages so far."""
        self.values = 0
        """Values in all of them."""
        self.mended = False
        """Whether the last one was read with replacement characters for what is not Unicode."""

    async def read(self, text: bytes | bytearray) -> JSONRPCMessage | Invalid:
        """Return the message that the bytes are, or why they are not one."""
        value = await self._parse(text)
        return value if isinstance(value, Invalid) else _message(value)

    async def read_all(self, text: bytes) -> list[JSONRPCMessage] | Invalid:
        """Return the messages that the bytes are, as older servers write several in an array, or why they are none."""
        value = await self._parse(text)
        if not isinstance(value, list):
            found = value if isinstance(value, Invalid) else _message(value)
            return found if isinstance(found, Invalid) else [found]
        messages: list[JSONRPCMessage] = []
        for item in cast("list[object]", value):
            if isinstance(found := _message(item), Invalid):
                # Not of a request, whose other answers may be in the same array.
                return Invalid(found.why)
            messages.append(found)
        return messages

    def too_long(self, start: bytes, why: str) -> Invalid:
        """Return why a message is not read of which only the start is there."""
        return Invalid(why, limit="bytes", **_outline(start) | {"claims": True})

    async def _parse(self, text: bytes | bytearray) -> object:
        steps = self._steps(text)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
            # Shielded: what is being read would be lost, of which nobody else knows.
            await cancel_shielded_checkpoint()

    def _steps(self, text: bytes | bytearray) -> Generator[None, None, object]:
        """The value; with a long text others have their turn after each step."""
        self.mended = False
        self.bytes += len(text)
        if len(text) > self.limits.bytes:
            return self._beyond(text, "bytes", f"it is longer than {megabytes(self.limits.bytes)}")
        values = _punctuation(text)
        if values > self.limits.values:
            # Perhaps most of it is in strings.
            values = yield from _count_values(text, self.limits.values)
        self.values += values
        if values > self.limits.values:
            return self._beyond(text, "values", f"it has more than {self.limits.values:,} JSON values")
        if len(text) > _PIECE:
            yield
        value = yield from self._lenient(text)
        if values > self.limits.items:
            yield
            if _count_items(value, self.limits.items) > self.limits.items:
                return self._beyond(text, "items", f"it has more than {self.limits.items:,} items in its lists")
        return value

    def _lenient(self, text: bytes | bytearray) -> Generator[None, None, object]:
        """The value, if need be with a mark in place of what is no character: that costs these, and not the message."""
        for attempt in _readings(text):
            if attempt is None:
                yield
                continue
            try:
                value: object = from_json(attempt, cache_strings="keys")
            except ValueError as error:
                if "recursion limit" in str(error):
                    why = f"it is nested more than {DEEPEST} levels deep"
                    return Invalid(why, limit="depth", **_outline(text) | _claims(text))
            else:
                self.mended = attempt is not text
                return value
        if len(text) > _MENDED and _SURROGATE.search(text):
            why = f"it has lone surrogates, which are replaced in messages of up to {megabytes(_MENDED)} only"
            return Invalid(why, limit="bytes", **_outline(text))
        # The beginning of a line whose writer died names its request too.
        is_whole = text[-16:].rstrip().endswith(b"}")
        outline = _outline(text)
        return Invalid("it is not JSON", **outline) if is_whole else Invalid("it is not JSON", claims=outline["claims"])

    def _beyond(self, text: bytes | bytearray, limit: str, why: str) -> Invalid:
        return Invalid(f"{why}; {allow_more(limit)}", limit=limit, **_outline(text) | _claims(text))


def dropped(why: str) -> str:
    """Return the warning of a message that is left out."""
    return f"sent a message that exceeds a limit and was dropped: {why}"


# Values -------------------------------------------------------------------------------------------------------------

_PUNCTUATION = (b",", b":", b"[", b"{")
_PIECE = 1 << 20
"""Bytes that are looked at at once."""
_UNESCAPED = re.compile(rb"[^\\]")


def _punctuation(text: bytes | bytearray) -> int:
    return 1 + sum(map(text.count, _PUNCTUATION))


def _count_values(text: bytes | bytearray, most: int) -> Generator[None, None, int]:
    """Return the number of values and keys, without building any of them; or a number that is larger than *most*."""
    count, quotes, start, inside = 0, 0, 0, False
    while start < len(text) and max(count, quotes // 2) <= most:
        # No piece ends within an escape.
        end = _UNESCAPED.search(text, start + _PIECE)
        stop = end.end() if end else len(text)
        piece = text[start:stop].replace(rb"\\", b"").replace(rb"\"", b"")
        parts = piece.split(b'"')
        count += _punctuation(b"".join(parts[inside::2])) - 1
        # Strings side by side are no JSON, and are not looked through to their end.
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
"""Fields of MCP that hold any JSON, which no model is made of."""
_FIELDS = 64
"""More entries than any object of MCP has fields."""


def _count_items(value: object, most: int) -> int:
    """Return the number of values that models are made of, or a larger number than *most*.

    Models are made of the items of arrays. One that is no model is an error instead, which takes some kilobytes.
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


# Text that is not Unicode -------------------------------------------------------------------------------------------

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, as is left where JavaScript cuts a text in the middle of an emoji."""
_MENDED = 8 << 20
"""Bytes of a message in which these are replaced, which takes several times the time and memory."""


def _readings(text: bytes | bytearray) -> Iterator[bytes | bytearray | None]:
    """The text, then without what is no character; None after each step on the way."""
    yield text
    try:
        text.decode()
    except UnicodeDecodeError:
        yield None
        replaced = text.decode(errors="replace")
        yield None
        mended = replaced.encode()
        del replaced
        yield None
        yield mended
    if len(text) <= _MENDED and _SURROGATE.search(text):
        try:
            value: object = json.loads(text.decode(errors="replace"))
            yield _LONE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()
        except (ValueError, RecursionError):
            return


# Messages -----------------------------------------------------------------------------------------------------------

_Json: TypeAlias = dict[str, Any]


def _message(value: object) -> JSONRPCMessage | Invalid:
    """Return the message; where it may be several kinds, that which pydantic would take of the union."""
    if not isinstance(value, dict):
        return Invalid("it is not an object")
    given = cast("_Json", value)
    if given.get("jsonrpc") == "2.0":
        for kind in _kinds(given):
            try:
                return kind.model_validate(given, by_name=False)
            except ValidationError:
                continue
    return _misshapen(given)


def _kinds(given: _Json) -> Iterator[type[JSONRPCMessage]]:
    if "error" in given:
        yield JSONRPCError
    if "method" in given:
        if "id" in given:
            yield JSONRPCRequest
        yield JSONRPCNotification
    if "result" in given:
        yield JSONRPCResponse


def _misshapen(given: _Json) -> Invalid:
    """Return what is wrong with an object that is no message."""
    claims = given.get("jsonrpc") == "2.0"
    match given.get("id"):
        # A log may be JSON too, and number its lines.
        case int() | str() as number if not isinstance(number, bool) and (
            "jsonrpc" in given or given.keys() <= {"id", "result", "error"}
        ):
            return Invalid(_wrong(given), id=number, is_call="method" in given, claims=claims)
        case _:
            return Invalid(_wrong(given), is_call="method" in given, claims=claims)


def _wrong(answer: _Json) -> str:  # noqa: PLR0911 - a list of cases
    match answer:
        case {"jsonrpc": "2.0", "error": {"code": int(), "message": str()}} | {"jsonrpc": "2.0", "result": {}}:
            return "it cannot be read"
        case {"jsonrpc": "2.0", "error": {"code": int()}}:
            return 'its "error" must have a "message", which is a text'
        case {"jsonrpc": "2.0", "error": {}}:
            return 'its "error" must have a "code", which is an integer'
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
"""Bytes at the start and at the end that are looked at."""
_MEMBER = rb'"(?:jsonrpc|id|method)"\s*:\s*(?:"(?:[^"\\]|\\.){0,300}"|-?\d{1,18}|null)\s*'
_FIRST = re.compile(rb"\s*\{\s*((?:%b,\s*){1,3})" % _MEMBER)
_LAST = re.compile(rb"((?:,\s*%b){1,3})\}\s*\Z" % _MEMBER)
"""The members that SDKs write before or after `result` and `params`, which are those of the outermost object."""


def _outline(text: bytes | bytearray) -> dict[str, Any]:
    """Return the `id`, `is_call` and `claims` of a message that is not parsed."""
    found = [_FIRST.match(text[:_OUTLINE]), _LAST.search(text[-_OUTLINE:])]
    members = b",".join(each[1].strip().strip(b",") for each in found if each)
    try:
        given: _Json = from_json(b"{%b}" % members)
    except ValueError:
        given = {}
    number = given.get("id")
    return {
        "id": number if isinstance(number, int | str) else None,
        "is_call": "method" in given,
        "claims": given.get("jsonrpc") == "2.0",
    }


def _claims(text: bytes | bytearray) -> dict[str, Any]:
    """Return `claims` of a message that was not read because of a limit."""
    return {"claims": text[:_OUTLINE].lstrip().startswith(b"{")}
