"""What can go wrong, and what is known about it.

AcpError
├── DecodeError (also a ValueError)    the data is not what it was to be read as
└── EncodeError (also a ValueError)    the model holds what cannot be sent
"""

from __future__ import annotations

from dataclasses import dataclass


class AcpError(Exception):
    """Every error of this package."""


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong, and where. It holds no value of the data, which may be secret."""

    path: tuple[str | int, ...]
    """The way to the member or item, by wire name and index; empty for the whole."""

    rule: str
    """What was broken, as pydantic names it: `missing`, `string_type`, `union_tag_invalid`, `json_invalid`, …"""

    message: str
    """What would have been right."""

    branch: str | None = None
    """The alternative of the innermost union around it that was being read: its tag or its class."""

    def __str__(self) -> str:
        """`mcpServers[0].url: Field required (in http)`."""
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path).lstrip(".")
        branch = f" (in {self.branch})" if self.branch else ""
        return f"{where}: {self.message}{branch}" if where else f"{self.message}{branch}"


class _IssuesError(AcpError, ValueError):
    """An error that is a list of issues with one value of one type."""

    def __init__(self, type_name: str, issues: list[Issue]) -> None:
        super().__init__(type_name, issues)
        self.type_name = type_name
        self.issues = tuple(issues)

    def __str__(self) -> str:
        """The type and every issue, a line each when there are several."""
        if len(self.issues) == 1:
            return f"{self.type_name}: {self.issues[0]}"
        lines = "".join(f"\n  {issue}" for issue in self.issues)
        return f"{self.type_name}: {len(self.issues)} issues{lines}"


class DecodeError(_IssuesError):
    """The data cannot be read as the type that was asked for."""


class EncodeError(_IssuesError):
    """A model was filled, past its constructor, with something that the protocol has no place for."""
