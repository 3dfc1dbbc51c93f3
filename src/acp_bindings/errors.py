"""The errors of this package, and the issues and findings in them.

AcpError
├── DecodeError (also a ValueError)    the data is not valid for the type
├── EncodeError (also a ValueError)    the model contains something that cannot be sent
├── …                                  `acp_bindings.setup.errors`: a rule is broken; `RequestError`, an error response
└── …                                  `acp_bindings.connection.errors`: the peer or the connection has failed
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

__all__ = ["AcpError", "DecodeError", "EncodeError", "Finding", "Issue", "Path", "ReadingRule"]


_SHOWN = 3
_LONGEST = 200


def one_line(text: str) -> str:
    """Return *text* on one line, in printable characters, and shortened if it is long."""
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in short)


def summarize(messages: Sequence[str]) -> str:
    """Return the first three messages and the number of others: `a; b; c; 4 more`."""
    more = [f"{len(messages) - _SHOWN} more"] if len(messages) > _SHOWN else []
    return "; ".join([*messages[:_SHOWN], *more])


def format_path(path: tuple[str | int, ...]) -> str:
    """Return a path as the beginning of a line: `mcpServers[0].url: `. The empty path gives an empty string."""
    where = "".join(map(_step, path)).removeprefix(".")
    return f"{where}: " if where else ""


def _step(step: str | int) -> str:
    # The names in a map may contain anything, such as line breaks.
    if isinstance(step, str) and re.fullmatch(r"[\w$-]+", step):
        return f".{step}"
    import json  # noqa: PLC0415 - takes 2 ms, and only unusual names need it

    return f"[{json.dumps(step)}]"


Path: TypeAlias = tuple[str | int, ...]
"""The path to a value in a message, by wire name and index; empty for the whole message."""

ReadingRule: TypeAlias = Literal["default-on-error", "skip-invalid-items", "default-on-null"]
"""A rule by which readers tolerate what writers must not write (`x-deserialize-…` in the schema)."""


class AcpError(Exception):
    """The base class of all errors of this package. They can be copied and pickled with their attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, an exception is created again from its `args`, which the constructor may not accept.
        return _made_again, (type(self), self.args), self.__dict__


def _made_again(kind: type[AcpError], args: tuple[Any, ...]) -> AcpError:
    error = kind.__new__(kind)
    error.args = args
    return error


@dataclass(frozen=True)
class Issue:
    """One error and its path. It contains no value of the data, which may be secret."""

    path: Path
    """The path to the field or item, by wire name and index; empty for the whole."""

    rule: str
    """The kind of error, as pydantic names it: `missing`, `string_type`, `union_tag_invalid`, `json_invalid`, …"""

    message: str
    """The description of the error."""

    branch: str | None = None
    """The variant of the innermost union around it: its tag, its class, or `list of` a class."""

    def __str__(self) -> str:
        """`mcpServers[0].url: Field required (in http)`."""
        branch = f" (in {self.branch})" if self.branch else ""
        return f"{format_path(self.path)}{self.message}{branch}"


@dataclass(frozen=True)
class Finding:
    """One tolerated error, by which data was lost. It contains no value of the data."""

    path: Path
    """The path to the field or item in the message as it was sent, by wire name and index; empty for the whole."""

    rule: ReadingRule
    """The rule that tolerates it. The field became its default, the item was dropped, or null became empty."""

    causes: tuple[Issue, ...]
    """The errors at `path` or below, with full paths."""

    def __str__(self) -> str:
        """`authMethods[1]: left out, because name: Field required`."""
        reasons = [_reason(replace(cause, path=cause.path[len(self.path) :])) for cause in self.causes]
        return f"{format_path(self.path)}{_DONE[self.rule]}, because {summarize(reasons)}"


_DONE = {
    "default-on-error": "read as the default",
    "skip-invalid-items": "left out",
    "default-on-null": "null read as empty",
}


def _reason(cause: Issue) -> str:
    text = str(cause)
    return text if cause.path else text[:1].lower() + text[1:]


class _IssuesError(AcpError, ValueError):
    """An error with a list of issues in one value."""

    def __init__(self, type_name: str, issues: list[Issue]) -> None:
        super().__init__(type_name, issues)
        self.type_name = type_name
        self.issues = tuple(issues)

    def __str__(self) -> str:
        """Return the type and the issues, one on each line if there are several."""
        if len(self.issues) == 1:
            return f"{self.type_name}: {self.issues[0]}"
        lines = "".join(f"\n  {issue}" for issue in self.issues)
        return f"{self.type_name}: {len(self.issues)} issues{lines}"


class DecodeError(_IssuesError):
    """The data is not valid for the requested type."""


class EncodeError(_IssuesError):
    """A value contains something that cannot be sent, for example because a list in a model was changed in place."""
