"""Lines of the peer that are no messages: a banner, a log, a `print` that was forgotten.

They cost nothing but themselves, but where one ran into an answer, or all that comes is such, nobody would know why the
peer never answers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from acp_bindings._problems.few import few
from acp_bindings.connection.errors import StrayLines
from acp_bindings.connection.serving import log
from acp_bindings.messages import BadLine

__all__ = ["Stray"]

_WARNINGS = 5
"""Lines, and notifications and answers that are lost, that are logged as warnings; what comes then may be a flood."""
_LONGEST = 16384
"""Bytes of a line that is looked through for secrets."""
_SHOWN = 300
"""Characters of a line that are shown."""
_INNER_OBJECT = re.compile(r"(?<=.)\{.*", re.DOTALL)


class Stray:
    """Counts such lines, logs the first ones, and has them ready for the error of a request."""

    def __init__(self, *, show: Callable[[str], str] | None) -> None:
        """None so far.

        Args:
            show: gives a text as it may be shown; None where all that the peer sends is nobody else's business.
        """
        self.count = 0
        self._lost = 0
        self.answered = False
        """Whether the peer has answered anything, so that earlier lines have kept it from nothing."""
        self._show = show
        self._last = b""

    def note(self, line: bytes, wrong: BadLine) -> None:
        """Take a line that was read in vain; a message that is wrong, or comes too late, is no such line."""
        if wrong.method is not None or wrong.reply is None:
            self._note_message(wrong)
            return
        self.count += 1
        self._last = line
        level = logging.WARNING if self.count <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = self._said()
            log.log(level, "a line of the peer is no message: %s%s", wrong.message, said and f': "{said}"')

    def _note_message(self, wrong: BadLine) -> None:
        """Take one that is wrong. A notification or an answer that is lost would be missed in silence."""
        is_lost = wrong.reply is None and bool(wrong.issues)
        self._lost += is_lost
        level = logging.WARNING if is_lost and self._lost <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = [wrong.method, wrong.message, few([*map(str, wrong.issues)])]
            log.log(level, "a line that cannot be used: %s", ": ".join(filter(None, said)))

    def since(self, count: int) -> StrayLines | None:
        """Those after so many, or all while nothing was answered; None for none."""
        found = self.count - (count if self.answered else 0)
        return StrayLines(found, self._said() or None) if found else None

    def _said(self) -> str:
        """The last one, as it may be shown."""
        if self._show is None:
            return ""
        if len(self._last) > _LONGEST:
            return f"[a line of {len(self._last)} bytes]"
        # Before it is cut: half a secret would not be recognised.
        text = self._show(self._last.decode(errors="replace").strip())
        # An object behind other text may be a message of ours, with secrets that nobody told us of.
        text = _INNER_OBJECT.sub("…", text)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
