"""Reads the lines of a recording. A message may have a wrapper that names its sender."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, get_args

from pydantic_core import from_json, to_json

from acp_bindings._json import members_of
from acp_bindings._problems.mistakes import hint_about, is_json
from acp_bindings.errors import Path
from acp_bindings.setup.capabilities import Side


class Line(NamedTuple):
    """A message without the wrapper of the recorder."""

    text: bytes
    """The message as JSON, or the text of a line that is not JSON."""
    value: Any
    """The message, parsed; None if it is not JSON."""
    sender: Side | None
    """The sender in the wrapper; None if it has none."""
    at: Path
    """The path to the message in the line."""


def is_message(value: Any) -> bool:
    """Return True if *value* is a message of JSON-RPC, or looks like an attempt to write one."""
    members = members_of(value)
    return (
        "jsonrpc" in members
        or isinstance(members.get("method"), str)
        or ("id" in members and not members.keys().isdisjoint(("result", "error")))
    )


def is_event(value: Any) -> bool:
    """Return True if *value* is a line of a recording that is not about a message, such as a line of standard error."""
    members = members_of(value)
    return "time" in members and "message" not in members and any(each in members for each in EVENTS)


EVENTS = ("stderr", "receipt", "finding", "dropped", "closed", "end")
"""What a line of a recording may be about instead of a message."""


def unwrap(text: bytes, value: Any) -> Line:
    """Return the message in a line that may have a wrapper, such as `{"direction": "client", "message": …}`.

    The direction has one of several names and begins with the sender: `client`, `client->agent`, `fromAgent`. The
    message may have any name, and is an object or a string with its line. Any other value is itself the message.
    """
    wrapper = members_of(value)
    if "jsonrpc" in wrapper or is_event(value):
        return Line(text, value, None, ())
    direction = next((wrapper[each] for each in ("direction", "from", "dir", "sender") if each in wrapper), None)
    has_direction = isinstance(direction, str)
    for name, inner in wrapper.items():
        # Without a direction, only a value with "jsonrpc" makes a wrapper, because params may have any fields.
        meant = has_direction and name == "message"
        if isinstance(inner, str) and (meant or _MESSAGE.match(inner)):
            said = inner.encode(errors="surrogatepass")
            # `Recorder` writes a string only for a line that is not JSON, or not UTF-8 and so not JSON either.
            line = _parsed(said.replace(_REPLACED, b"\xff") if "time" in wrapper and "from" in wrapper else said)
        elif meant or "jsonrpc" in members_of(inner):
            line = Line(to_json(inner), inner, None, ())
        else:
            continue
        return line._replace(sender=_side(direction) if isinstance(direction, str) else None, at=(name,))
    return Line(text, value, None, ())


_MESSAGE = re.compile(r'\s*\{.{0,100}"jsonrpc"', re.DOTALL)
_REPLACED = "\ufffd".encode()


def _side(direction: str) -> Side | None:
    plain = direction.strip().lower().removeprefix("from").strip(" _-:")
    return next((each for each in get_args(Side) if plain.startswith(each)), None)


EXPECTED = "A recording has one JSON-RPC message on each line; a JSON document is one message, one payload, or a list"
"""The description of valid inputs, for error messages."""


_LOOKED_AT = 50_000
_LOG = re.compile(r"(?m)^\W{0,9}(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(TRACE|DEBUG|INFO|WARN|ERROR)\b)")


class Document(NamedTuple):
    """One JSON value, on any number of lines."""

    text: bytes
    value: Any


Numbered: TypeAlias = tuple[int, Line]
"""A line and its number, from 1."""


class Unusable(Exception):  # noqa: N818 - says what it is, which a suffix would not
    """The input cannot be used. The argument is the reason."""

    def __init__(self, reason: str, *, lines: Sequence[int] = ()) -> None:
        super().__init__(reason)
        self.lines = tuple(lines)
        """The numbers of the first lines, if no line contains a message."""


MOST_WITHOUT = 20
"""The maximum number of lines before the first message."""


def read_input(raw: Iterable[bytes], *, of_messages: bool = True) -> Document | Iterator[Numbered]:
    """Return the lines of a file as a document, or as the lines of a conversation, which are read lazily.

    A file that begins with an event of a recording is a conversation. Otherwise it is a document if only one of its
    lines is not empty, or if its first line is the beginning of JSON and the whole file is valid JSON. A leading byte
    order mark and empty lines are skipped. In a log, only the lines that end with a message are used, without the text
    before it.

    Args:
        raw: the lines.
        of_messages: True if lines must contain messages; False if they may contain any JSON.

    Raises:
        Unusable: the file is empty, has an encoding other than UTF-8, or is neither a document nor a conversation.
    """
    numbered = enumerate(_without_mark(raw), start=1)
    lines = _filled(numbered)
    first = next(lines, None)
    if first is None:
        raise Unusable("it is empty")
    if is_event(line_of(first[1]).value):
        return _conversation(chain((first,), lines), of_messages=of_messages)
    if _is_cut_short(first[1]):
        kept = [first, *numbered]
        try:
            return _document(kept)
        except ValueError as error:
            if not any(is_message(line_of(line).value) for _, line in kept[1:]):
                raise _no_json(error, kept) from None
        return _conversation(_filled(kept), of_messages=of_messages)
    second = next(lines, None)
    if second is None:
        try:
            return _document([first])
        except ValueError as error:
            raise _no_json(error, [first]) from None
    return _conversation(chain((first, second), lines), of_messages=of_messages)


def line_of(text: bytes) -> Line:
    """Return the message on a line."""
    line = _parsed(text.rstrip(b"\r\n"))  # otherwise the error of a line that was cut off would be about these
    return unwrap(line.text, line.value)


def _parsed(text: bytes) -> Line:
    try:
        return Line(text, from_json(text), None, ())
    except ValueError:
        return Line(text, None, None, ())


def _filled(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    return (each for each in lines if each[1].strip())


def _document(lines: Sequence[tuple[int, bytes]]) -> Document:
    text = _text_of(lines)
    return Document(text, from_json(text))


def _text_of(lines: Sequence[tuple[int, bytes]]) -> bytes:
    return b"\n" * (lines[0][0] - 1) + b"".join(line for _, line in lines)


def _no_json(error: ValueError, lines: Sequence[tuple[int, bytes]]) -> Unusable:
    hint = hint_about(_text_of(lines), str(error))
    several = f". {EXPECTED}" if str(error).startswith("trailing characters") else ""
    return Unusable(f"it is not JSON: {error}{hint}{several}")


def _conversation(lines: Iterator[tuple[int, bytes]], *, of_messages: bool) -> Iterator[Numbered]:
    head: list[tuple[int, bytes]] = []
    for each in lines:
        head.append(each)
        value = line_of(each[1]).value
        if is_message(value) or is_event(value) or _begins_message(each[1]) or (value is not None and not of_messages):
            return ((number, line_of(line)) for number, line in chain(head, lines))
        if len(head) == MOST_WITHOUT:
            break
    hint = ""
    start = b"".join(line for _, line in head[:3])
    if _LOG.search(start[:_LOOKED_AT].decode(errors="replace")):
        logged = ((number, found) for number, line in chain(head, lines) if (found := _logged(line)))
        if beginning := next(logged, None):
            return chain((beginning,), logged)
        hint = "; it looks like a log, in which no line ends in a message"
    elif all(is_json(line) for _, line in head):
        hint = "; it looks like payloads or other JSON on each line; for payloads, pass --type"
    which = f"{'' if len(head) < MOST_WITHOUT else 'first '}{len(head)} line{'s' if len(head) > 1 else ''}"
    what = "a message" if of_messages else "JSON"
    message = f"it is not a recording: none of its {which} is {what}{hint}. {EXPECTED}"
    raise Unusable(message, lines=[number for number, _ in head])


def _begins_message(line: bytes) -> bool:
    """Return True if *line* begins like a message, even if it was cut off."""
    return line.lstrip().startswith(b"{") and b'"jsonrpc"' in line[:100]


def _logged(line: bytes) -> Line | None:
    """Return the message at the end of a line of a log, or None."""
    if b'"jsonrpc"' not in line:
        return None
    found = line_of(line[line.index(b"{") :]) if b"{" in line else None
    return found if found and is_message(found.value) else None


def _without_mark(raw: Iterable[bytes]) -> Iterator[bytes]:
    for index, line in enumerate(raw):
        if index == 0:
            if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise Unusable("it is UTF-16; write it as UTF-8")
            yield line.removeprefix(codecs.BOM_UTF8)
        else:
            yield line


def _is_cut_short(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError as error:
        return str(error).startswith("EOF")
    return False
