"""References in a config, such as `${HOME}`, and texts that have references in them.

A reference that cannot be replaced stays as it is written, and is noted. `repr` shows no text: a default may be a
secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

from mcp_launch.config.places import Place

__all__ = ["Kind", "Reference", "Text", "replaced", "walk"]

Kind: TypeAlias = Literal["env", "input", "file", "workspace", "workspace name", "home", "separator", "unknown"]


class Reference:
    """A reference; two are equal if they mean the same, however they are written."""

    __slots__ = ("default", "kind", "name", "text")

    def __init__(self, text: str, kind: Kind, name: str = "", default: str | None = None) -> None:
        self.text = text
        """How the file writes it."""
        self.kind: Kind = kind
        self.name = name
        self.default = default

    @property
    def shown(self) -> str:
        """As it is written, without what may be a part of a secret: a default, or what cannot be a name."""
        if self.text.startswith("${"):
            start, colon, _ = self.text[2:-1].partition(":-")
            return f"${{{start}{':-…' if colon else ''}}}" if re.fullmatch(r"[\w./\\:~-]*", start.strip()) else "${…}"
        # A lower case letter behind a dollar is as likely a password.
        return self.text if re.fullmatch(r"\$[A-Z_][A-Z0-9_]*", self.text) else "$…"

    def value(self, env: Mapping[str, str], workspace: str | None) -> str | None:
        """What it stands for, or None where that is not known."""
        match self.kind:
            case "env":
                # A variable that is set to an empty text is set.
                return env.get(self.name, self.default)
            case "workspace":
                return workspace
            case "workspace name":
                return None if workspace is None else os.path.basename(workspace)
            case "home":
                return env.get("HOME") or env.get("USERPROFILE")
            case "separator":
                return os.sep
            case _:
                return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    def __repr__(self) -> str:
        return f"<Reference {self.shown}>"

    @property
    def _meaning(self) -> tuple[Kind, str, str | None]:
        return self.kind, self.name, self.default


class Text:
    """A text with references in it, and where it stands in its file."""

    __slots__ = ("parts", "place")

    def __init__(self, parts: tuple[str | Reference, ...], place: Place) -> None:
        self.parts = parts
        self.place = place

    @property
    def references(self) -> Iterator[Reference]:
        """The references in it."""
        return (part for part in self.parts if isinstance(part, Reference))

    def written(self) -> str:
        """As its file has it."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def replaced(self, env: Mapping[str, str], workspace: str | None) -> str:
        """The text with every reference replaced whose value is known."""
        return "".join(part if isinstance(part, str) else _replaced(part, env, workspace) for part in self.parts)

    def from_env(self, env: Mapping[str, str], workspace: str | None) -> Iterator[tuple[int, str]]:
        """Return where in the replaced text the values of environment variables begin, and the names of these."""
        at = 0
        for part in self.parts:
            if isinstance(part, Reference) and part.kind == "env" and part.name in env:
                yield at, part.name
            at += len(part if isinstance(part, str) else _replaced(part, env, workspace))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "<Text>"


def replaced(value: Any, env: Mapping[str, str], workspace: str | None) -> Any:
    """A JSON value with every reference replaced whose value is known."""
    match value:
        case Text():
            return value.replaced(env, workspace)
        case [*items]:
            return [replaced(item, env, workspace) for item in items]
        case dict():
            members = cast("dict[str, Any]", value)
            return {name: replaced(item, env, workspace) for name, item in members.items()}
        case _:
            return value


def _replaced(reference: Reference, env: Mapping[str, str], workspace: str | None) -> str:
    value = reference.value(env, workspace)
    return reference.text if value is None else value


def walk(value: Any, found: Callable[[Text], object]) -> None:
    """Call a function with each text in a JSON value that has references."""
    match value:
        case Text():
            found(value)
        case [*items]:
            for item in items:
                walk(item, found)
        case dict():
            for item in cast("dict[str, Any]", value).values():
                walk(item, found)
        case _:
            pass
