"""Reads recordings as the rows of the page: a JSON object for each line, and one for each finding.

{"line": 3, "time": 1764243949123.456, "from": "client", "message": {…}}   the time is in milliseconds
{"line": 4, "from": "agent", "text": "…"}                                  a line that is not JSON
{"line": 5, "from": "agent", "stderr": "…"}                                an event of a recording
{"finding": {"line": 3, "rule": "…", "severity": "error", "message": "…", "path": […]}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, get_args

from pydantic_core import to_json

from acp_bindings._json import items_of, members_of, parsed_members
from acp_bindings.check._inputs import Document, Line, Unusable, is_event, is_message, line_of, read_input
from acp_bindings.check._live import Found, LiveCheck
from acp_bindings.check._rules import END
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.recordings import Redaction
from acp_bindings.setup.capabilities import Side

_SHOWN = {"stderr", "receipt", "dropped", "end"}


def rows_of(
    raw: Iterable[bytes], *, protocol: ProtocolPackage | None = None, show_secrets: bool = False
) -> Iterator[str]:
    """Yield the rows of a whole recording: a conversation as `acp-bindings check` reads it, or a list of messages.

    Raises:
        Unusable: it contains no messages.
    """
    rows = Rows(protocol=protocol, show_secrets=show_secrets)
    kept: dict[int, bytes] = {}
    read = read_input(_keeping(raw, kept))
    if isinstance(read, Document):
        messages = [to_json(each) for each in items_of(read.value)] or [read.text.strip()]
        if not any(is_message(line_of(each).value) for each in messages):
            raise Unusable("it has no messages; acp-bindings check reads payloads")
        kept = dict(enumerate(messages, start=1))
        read = ((number, line_of(each)) for number, each in [*kept.items()])
    for number, line in read:
        yield from rows.read(number, kept.pop(number), line)
    yield from rows.end()


def _keeping(raw: Iterable[bytes], kept: dict[int, bytes]) -> Iterator[bytes]:
    for number, each in enumerate(raw, start=1):
        if each.strip():
            kept[number] = each
        yield each


class Rows:
    """Makes the rows of one recording, a line at a time."""

    def __init__(self, *, protocol: ProtocolPackage | None, show_secrets: bool) -> None:
        self._check = LiveCheck(protocol)
        self._redaction = Redaction(None if show_secrets else ())

    def read(self, number: int, raw: bytes, line: Line | None = None) -> Iterator[str]:
        """Yield the row of a line, and one for each finding in it.

        Args:
            number: the number of the line, from 1.
            raw: the line as it is in the file.
            line: the message in it, if that is already known.
        """
        line = line or line_of(raw)
        wrapper = parsed_members(raw) if line.at else members_of(line.value)
        head = {"line": number, "time": _time_in(wrapper, raw)}
        found = [*self._check.hear(line, number)]
        if is_event(line.value):
            # Recorded findings are found again, by the rules of this version.
            for event in _SHOWN & wrapper.keys():
                about = to_json(self._redaction.json(wrapper[event]))
                yield _row({**head, "from": _side(wrapper.get("from"))}, event, about)
            return
        # Without escapes, so that the search of the page finds the text.
        message = self._redaction.message(line.text if line.value is None else to_json(line.value))
        what = "text" if message.startswith(b'"') else "message"
        yield _row({**head, "from": self._check.sender}, what, message)
        yield from (self._finding(each, within=len(line.at)) for each in found)

    def end(self) -> Iterator[str]:
        """Yield the findings that are only known at the end. The page shows by itself what has no response."""
        yield from (self._finding(each) for each in self._check.finish() if each.rule != END.id)

    def _finding(self, found: Found, *, within: int = 0) -> str:
        about = {
            "line": found.line,
            "rule": found.rule,
            "severity": found.severity,
            "message": self._redaction.json(found.message),
            "path": found.path[within:],
        }
        return _escaped(to_json({"finding": about}))


def _side(value: object) -> str | None:
    return next((each for each in get_args(Side) if each == value), None)


_TIMES = ("time", "timestamp", "ts", "at")
_LOGGED = re.compile(rb"\W{0,9}(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)")


def _time_in(wrapper: dict[str, Any], raw: bytes) -> float | None:
    """Return the time of a line in milliseconds since the epoch; None if it has none that browsers can show."""
    value = next((wrapper[each] for each in _TIMES if each in wrapper), None)
    if value is None and (logged := _LOGGED.match(raw)):
        value = logged[1].decode()
    if isinstance(value, int | float) and not isinstance(value, bool):
        milliseconds = value if value > _IN_MILLISECONDS else value * 1000
        return milliseconds if -_LATEST <= milliseconds <= _LATEST else None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


_IN_MILLISECONDS = 1e11
"""Greater numbers are milliseconds; in seconds, this is the year 5138."""
_LATEST = 8.64e15
"""The greatest time of JavaScript. Some logs have nanoseconds, and Python also reads NaN and Infinity."""


def _row(head: dict[str, Any], name: str, value: bytes) -> str:
    members = to_json({key: each for key, each in head.items() if each is not None})
    return _escaped(b'%b,"%b":%b}' % (members[:-1], name.encode(), value))


def _escaped(row: bytes) -> str:
    """Return a row on one line that HTML reads as text. In JSON, these characters are in strings, or white space."""
    text = row.decode(errors="replace").replace("\r", " ").replace("\n", " ")
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
