"""Stray lines: lines of the peer that are no messages, such as a banner, a log, a forgotten `print`.

They do no harm by themselves. But if one ran into an answer, or nothing else comes, nobody would know why the peer
never answers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable

from acp_bindings.connection.errors import StrayLines, log
from acp_bindings.errors import few
from acp_bindings.jsonrpc import METHOD_NOT_FOUND, Codec
from acp_bindings.messages import BadLine

_WARNINGS = 5
"""How many of each kind are logged as warnings; more may be a flood."""
_LONGEST = 16384
"""Bytes of a line that is looked through for secrets."""
_SHOWN = 300
"""Characters of a line that are shown."""
_INNER_OBJECT = re.compile(r"(?<=.)\{.*", re.DOTALL)


class Stray:
    """Counts stray lines, logs the first ones, and tells of them in the errors of requests."""

    def __init__(self, *, show: Callable[[str], str] | None, handled: Iterable[str], codec: Codec) -> None:
        """No stray line so far.

        Args:
            show: gives a text of the peer as it may be shown; None if nothing that the peer sends may be.
            handled: the methods that have handlers.
            codec: what reads the lines.
        """
        self.count = 0
        self._lost = 0
        self.answered = False
        """Whether the peer has answered any request, so that earlier stray lines did not keep it from that."""
        self._show = show
        self._handled, self._codec = handled, codec
        self._told_of: set[str] = set()
        """The methods with handlers that were not let through."""
        self._last = b""

    def note(self, line: bytes, wrong: BadLine) -> None:
        """Take a line that cannot be used. One that is a message, only wrong or too late, is not stray."""
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
        """Log a message that is wrong. The loss of a notification or an answer nobody would notice otherwise."""
        method = wrong.method
        if method and wrong.code == METHOD_NOT_FOUND and method not in self._told_of and method in self._handled:
            self._tell_of_handler(method)
        is_lost = wrong.reply is None and bool(wrong.issues)
        self._lost += is_lost
        level = logging.WARNING if is_lost and self._lost <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = [method, wrong.message, few([*map(str, wrong.issues)])]
            log.log(level, "a line that cannot be used: %s", ": ".join(filter(None, said)))

    def _tell_of_handler(self, method: str) -> None:
        """Tell whoever wrote a handler of *method* why it is not called."""
        from acp_bindings.setup.capabilities import why_not_let_through  # noqa: PLC0415 - it may load all packages

        # A method is told of once, and no name that a peer has made up is kept.
        self._told_of.add(method)
        if reason := why_not_let_through(method, self._codec.protocol):
            log.warning("the handler of %s is not called: %s", method, reason)

    def since(self, count: int) -> StrayLines | None:
        """The stray lines after the first *count*, or all if nothing was answered yet; None if there are none."""
        found = self.count - (count if self.answered else 0)
        return StrayLines(found, self._said() or None) if found else None

    def _said(self) -> str:
        """The last stray line, as it may be shown."""
        if self._show is None:
            return ""
        if len(self._last) > _LONGEST:
            return f"[a line of {len(self._last)} bytes]"
        # Before it is cut: half a secret would not be recognised.
        text = self._show(self._last.decode(errors="replace").strip())
        # An object behind other text may be a message of ours, with secrets that nobody told us of.
        text = _INNER_OBJECT.sub("…", text)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
