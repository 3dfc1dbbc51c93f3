"""Stray lines: lines of the peer that are not messages, such as a banner, a log or a forgotten `print`.

They are ignored, but logged and reported in errors, because one of them may have replaced a response.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from acp_bindings.connection.errors import StrayLines, log
from acp_bindings.errors import summarize
from acp_bindings.messages import BadLine

_WARNINGS = 5
"""The number of lines of each kind that are logged as warnings; further ones are logged at debug level."""
_LONGEST = 16384
"""The maximum size in bytes of a line that is redacted and shown."""
_SHOWN = 300
"""The number of characters of a line that are shown."""
_INNER_OBJECT = re.compile(r"(?<=.)\{.*", re.DOTALL)


class Stray:
    """Counts and logs stray lines, and reports them for the errors of requests."""

    def __init__(self, *, show: Callable[[str], str] | None) -> None:
        """Start without stray lines.

        Args:
            show: redacts a text of the peer; None if no text of the peer may be shown.
        """
        self.count = 0
        self._lost = 0
        self.answered = False
        """True if the peer has responded to a request, so earlier stray lines do not explain a missing response."""
        self._show = show
        self._last = b""

    def note(self, line: bytes, wrong: BadLine) -> None:
        """Record an invalid line. An invalid or late message does not count as stray."""
        if wrong.method is not None or wrong.reply is None:
            self._note_message(wrong)
            return
        self.count += 1
        self._last = line
        level = logging.WARNING if self.count <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = self._said()
            log.log(level, "the peer sent a line that is not a message: %s%s", wrong.message, said and f': "{said}"')

    def _note_message(self, wrong: BadLine) -> None:
        """Log an invalid message. The loss of a notification or response would otherwise go unnoticed."""
        is_lost = wrong.reply is None and bool(wrong.issues)
        self._lost += is_lost
        level = logging.WARNING if is_lost and self._lost <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = [wrong.method, wrong.message, summarize([*map(str, wrong.issues)])]
            log.log(level, "ignored an invalid message: %s", ": ".join(filter(None, said)))

    def since(self, count: int) -> StrayLines | None:
        """Return the stray lines after the first *count*, or None. Without any response so far, all of them count."""
        found = self.count - (count if self.answered else 0)
        return StrayLines(found, self._said() or None) if found else None

    def _said(self) -> str:
        """Return the last stray line, redacted."""
        if self._show is None:
            return ""
        if len(self._last) > _LONGEST:
            return f"[a line of {len(self._last)} bytes]"
        # Before it is shortened: a part of a secret would not be recognized.
        text = self._show(self._last.decode(errors="replace").strip())
        # An object after other text may be an echoed message of this side, with unknown secrets.
        text = _INNER_OBJECT.sub("…", text)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
