"""What can go wrong, and what is known about it.

AcpError
├── DecodeError (also a ValueError)    the data is not what it was to be read as
├── EncodeError (also a ValueError)    the model holds what cannot be sent
├── …                                  `acp_bindings.setup.errors`: a rule is broken; `RequestError`, an answer
└── …                                  `acp_bindings.connection.errors`: the peer, or the way to it, has failed
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

__all__ = ["AcpError", "DecodeError", "EncodeError", "Finding", "Issue", "Path", "ReadingRule"]


_SHOWN = 3


def summarize(messages: Sequence[str]) -> str:
    """`a; b; c; 4 more`: the first three, and how many are not shown."""
    more = [f"{len(messages) - _SHOWN} more"] if len(messages) > _SHOWN else []
    return "; ".join([*messages[:_SHOWN], *more])


def format_path(path: tuple[str | int, ...]) -> str:
    """`mcpServers[0].url: `, the beginning of a line; nothing for the whole."""
    where = "".join(map(_step, path)).removeprefix(".")
    return f"{where}: " if where else ""


def _step(step: str | int) -> str:
    # The names in a map are anybody's, also the ones with line breaks.
    if isinstance(step, str) and re.fullmatch(r"[\w$-]+", step):
        return f".{step}"
    import json  # noqa: PLC0415 - two milliseconds that only odd names need

    return f"[{json.dumps(step)}]"


Path: TypeAlias = tuple[str | int, ...]
"""The way to a value in a message, by wire name and index; empty for the whole."""

ReadingRule: TypeAlias = Literal["default-on-error", "skip-invalid-items", "default-on-null"]
"""A rule by which a reader excuses what a writer may not write (`x-deserialize-…` in the schema)."""


class AcpError(Exception):
    """Every error of this package; it can be copied and sent to another process, with its facts."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception would be made again from its `args`, which need not be what its constructor takes.
        return _made_again, (type(self), self.args), self.__dict__


def _made_again(kind: type[AcpError], args: tuple[Any, ...]) -> AcpError:
    error = kind.__new__(kind)
    error.args = args
    return error


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong, and where. It holds no value of the data, which may be secret."""

    path: Path
    """The way to the member or item, by wire name and index; empty for the whole."""

    rule: str
    """What was broken, as pydantic names it: `missing`, `string_type`, `union_tag_invalid`, `json_invalid`, …"""

    message: str
    """What would have been right."""

    branch: str | None = None
    """The alternative of the innermost union around it that was being read: its tag, its class or `list of` one."""

    def __str__(self) -> str:
        """`mcpServers[0].url: Field required (in http)`."""
        branch = f" (in {self.branch})" if self.branch else ""
        return f"{format_path(self.path)}{self.message}{branch}"


@dataclass(frozen=True)
class Finding:
    """One thing that was wrong in a message and was excused, so that it is lost. It holds no value of the data."""

    path: Path
    """The way to the member or item in the message as it was sent, by wire name and index; empty for the whole."""

    rule: ReadingRule
    """The reader's rule that excused it: it reads as the default, is left out, or is null and reads as empty."""

    causes: tuple[Issue, ...]
    """What was wrong: at `path` itself or inside of it, with the ways to there from the top."""

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
