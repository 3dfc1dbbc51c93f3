"""What a server writes on standard output, line by line: messages, and facts about all that is none."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, TypeVar

from mcp_types import JSONRPCMessage, RequestId, jsonrpc_message_adapter
from pydantic import FailFast, TypeAdapter, ValidationError

from acp_bindings.secrets.redact import Redactor
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.process import SHOWN
from mcp_launch.transports.stdio.misshapen import misshapen
from mcp_launch.transports.unanswered import Unsaid, farewell

__all__ = ["Stdout", "trimmed", "uncoloured"]

T = TypeVar("T")

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, as is left where JavaScript cuts a text in the middle of an emoji."""
_AROUND = b"\xef\xbb\xbf \t\r\0"
"""What may stand around a message and is no part of it; some runtimes begin their output with a byte order mark."""
_STRAY_LINES = 5
"""Lines that are kept of what is no message."""
_ECHOES = 64
"""Lines of ours that are remembered, of a server that sends them back."""

# It stops at the first item that is none: an error takes kilobytes, and a line has room for very many of them.
_batch: TypeAdapter[list[JSONRPCMessage]] = TypeAdapter(Annotated[list[JSONRPCMessage], FailFast()])


class Stdout:
    """Takes lines and gives messages; what is odd about the lines is kept, and of an MCP server a warning once."""

    def __init__(self, *, hide: Redactor, warn: Callable[[str], None], awaited: Callable[[RequestId], bool]) -> None:
        self.spoke = False
        """Whether there was a message."""
        self.stray: list[str] = []
        """The first lines that were none, as they may be shown."""
        self.echoes = False
        """Whether lines of ours came back."""
        self.misshapen: Diagnosis | None = None
        """What was wrong with the last answer that was none."""
        self._awaited = awaited
        """Whether a request waits for an answer."""
        self._trusted = False
        """Whether it is known to be an MCP server; why others are none, is told without warnings."""
        self._hide = hide
        self._warn = warn
        self._ours: deque[bytes] | None = deque(maxlen=_ECHOES)

    def read(self, line: bytes) -> list[JSONRPCMessage]:
        """The messages on a line: one, or of older servers several in an array; none if it is something else."""
        line = trimmed(line)
        if self._ours is not None and line in self._ours:
            self.echoes = True
            return []
        messages = _messages(line) or self._misshapen(line)
        if messages:
            self.spoke = True
        elif line:
            self._note_stray(line)
        return messages

    def _misshapen(self, line: bytes) -> list[JSONRPCMessage]:
        """In place of an answer that is none, what whoever waits for it is told."""
        meant = misshapen(line) if line.startswith(b"{") else None
        if meant is None or not self._awaited(meant[0]):
            return []
        number, self.misshapen = meant
        return [Unsaid(jsonrpc="2.0", id=number, error=farewell(self.misshapen, hide=self._hide))]

    def sent(self, line: bytes) -> None:
        """Know this line of ours again, if it comes back."""
        if self._ours is not None:
            self._ours.append(line)

    def trust(self) -> None:
        """It is an MCP server, which sends nothing back if it has not done so yet."""
        self._trusted = True
        if self.echoes:
            self._warn("sends back on stdout what it is sent on stdin; that was ignored")
        else:
            self._ours = None
        if self.stray:
            self._warn_of_stray()

    def _note_stray(self, line: bytes) -> None:
        if len(self.stray) < _STRAY_LINES:
            self.stray.append(self._hide.start(uncoloured(line.decode(errors="replace")), SHOWN))
            if len(self.stray) == 1 and self._trusted:
                self._warn_of_stray()

    def _warn_of_stray(self) -> None:
        self._warn(f'wrote "{self.stray[0]}" on stdout, which is no JSON-RPC message; its log belongs on stderr')


def trimmed(line: bytes) -> bytes:
    """The line without what is no part of a message."""
    return line.strip(_AROUND)


def uncoloured(text: str) -> str:
    """The text without the colours of a terminal, among which neither secrets nor known errors are found."""
    return _COLOUR.sub("", text)


def _messages(line: bytes) -> list[JSONRPCMessage]:
    # What cannot be JSON is not even tried: a flood of it would keep the event loop from everybody else.
    match line[:1]:
        case b"{":
            message = _valid(jsonrpc_message_adapter, line)
            return [] if message is None else [message]
        case b"[":
            return _valid(_batch, line) or []
        case _:
            return []


def _valid(adapter: TypeAdapter[T], line: bytes) -> T | None:
    for text in _readings(line):
        with suppress(ValidationError):
            return adapter.validate_json(text, by_name=False)
    return None


def _readings(line: bytes) -> Iterator[bytes | str]:
    """The line, then with a mark in place of what is no character: that costs these, and not the message."""
    yield line
    yield line.decode(errors="replace")
    if b"\\ud" in line.lower():
        with suppress(ValueError, RecursionError):
            yield _HALF.sub("\ufffd", json.dumps(json.loads(line), ensure_ascii=False))
