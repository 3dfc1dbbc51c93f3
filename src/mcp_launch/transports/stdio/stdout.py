"""What a server writes on standard output, line by line: messages, and facts about all that is none."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from mcp_types import JSONRPCMessage, RequestId

from acp_bindings._redact import Redactor
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.process import SHOWN
from mcp_launch.transports.messages import Invalid, Reader, dropped
from mcp_launch.transports.unanswered import Unsaid, farewell

__all__ = ["Stdout", "trimmed", "uncoloured"]

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_AROUND = b"\xef\xbb\xbf \t\r\0"
"""What may stand around a message and is no part of it; some runtimes begin their output with a byte order mark."""
_STRAY_LINES = 5
"""Lines that are kept of what is no message."""
_ECHOES = 64
"""Lines of ours that are remembered, of a server that sends them back."""
_LOOKED_AT = 65536
"""Bytes of a line that are looked at to show its start."""
_NO_JSON = Invalid("it is not JSON")


class Stdout:
    """Takes lines and gives messages; what is odd about the lines is kept, and of an MCP server a warning once."""

    def __init__(
        self, reader: Reader, *, hide: Redactor, warn: Callable[[str], None], awaited: Callable[[RequestId], bool]
    ) -> None:
        self.spoke = False
        """Whether there was a message."""
        self.stray: list[str] = []
        """The first lines that were none, as they may be shown."""
        self.echoes = False
        """Whether lines of ours came back."""
        self.misshapen: Diagnosis | None = None
        """What was wrong with the last answer that was none."""
        self._reader = reader
        self._awaited = awaited
        """Whether a request waits for an answer."""
        self._trusted = False
        """Whether it is known to be an MCP server; why others are none, is told without warnings."""
        self._hide = hide
        self._warn = warn
        self._dropped = False
        """Whether a message was dropped for its size."""
        self._ours: deque[bytes] | None = deque(maxlen=_ECHOES)

    async def read(self, line: bytes) -> list[JSONRPCMessage]:
        """The messages on a line: one, or of older servers several in an array; none if it is something else."""
        line = trimmed(line)
        if self._ours is not None and line in self._ours:
            self.echoes = True
            return []
        # What cannot be JSON is not even tried: a flood of it would keep the event loop from everybody else.
        found = await self._reader.read_all(line) if line[:1] in (b"{", b"[") else _NO_JSON
        messages = self._in_place_of(found) if isinstance(found, Invalid) else found
        if messages:
            self.spoke = True
        elif isinstance(found, Invalid) and found.limit:
            self._drop(found.why)
        elif line:
            self._note_stray(line)
        return messages

    def _in_place_of(self, found: Invalid) -> list[JSONRPCMessage]:
        """What the request is told that such a line was meant to answer."""
        if found.answers is None or not self._awaited(found.answers):
            return []
        self.misshapen = found.diagnosis()
        return [Unsaid(jsonrpc="2.0", id=found.answers, error=farewell(self.misshapen, hide=self._hide))]

    def _drop(self, why: str) -> None:
        if not self._dropped:
            self._dropped = True
            self._warn(dropped(why))

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
            self.stray.append(self._hide.start(uncoloured(line[:_LOOKED_AT].decode(errors="replace")), SHOWN))
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
