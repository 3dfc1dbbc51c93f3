"""The outcomes of a check. A check that returns is `ok`; the other outcomes are raised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from acp_bindings.probe._probed_agent import Line

Status: TypeAlias = Literal["ok", "fail", "warn", "skip"]


class Outcome(Exception):  # noqa: N818 - three of them are not errors
    """The end of a check that is not `ok`."""

    status: Status

    def __init__(self, message: str, lines: Iterable[Line] = (), *, cure: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.lines = list(lines)
        """The lines of the conversation that show it."""
        self.cure = cure
        """The advice; by default that of the check."""
        self.hint = hint
        """What else may help."""


class Failed(Outcome):
    """The agent does not do what the protocol requires."""

    status = "fail"


class Warned(Outcome):
    """The agent does not do what the protocol recommends, or what clients rely on."""

    status = "warn"


class Skipped(Outcome):
    """The check could not be made; the message says why."""

    status = "skip"
