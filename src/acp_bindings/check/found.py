"""One thing that a check has found: which rule, where, what is wrong and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from acp_bindings._problems.message_path import at
from acp_bindings.errors import Path
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.remarks import Severity


@dataclass(frozen=True, kw_only=True)
class Found:
    """A broken rule, a likely mistake, or what is good to know. It holds no secret, but for `value`."""

    rule: str
    """The id of the rule: its family, a dot, its name."""
    severity: Severity
    message: str
    """What is wrong, and what to do."""
    path: Path = ()
    """The way to it in what stands on the line, or in the document, by wire name and index."""
    line: int | None = None
    """Where in the input, from 1; None where the whole input is meant."""
    sender: Side | None = None
    """Who said it, in a conversation."""
    method: str | None = None
    """Of which method it is, also of the answer to one."""
    value: str | None = None
    """What stands there, as JSON, which may be a secret; only where that was asked for."""

    def __str__(self) -> str:
        """`3: error[capability.load]: …`, as compilers say it, for a file name and a colon to stand before it."""
        line = f"{self.line}: " if self.line is not None else " "
        value = f" (it is {self.value})" if self.value is not None else ""
        return f"{line}{self.severity}[{self.rule}]: {at(self.path)}{self.message}{value}"
