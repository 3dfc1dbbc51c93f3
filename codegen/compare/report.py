"""What a change is, and how changes are told in a changelog.

A change is *breaking* when a program that worked with the models of the old schema may stop working with those of the
new one: a name it uses is gone, a value it builds or receives is no longer accepted, or a member it reads may hold a
kind of value that it could not hold before. New variants of a union, new enumeration values (one by one, or at once all
that are still to come), new optional members and new names are not breaking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Change", "Kind", "as_code", "render"]

SchemaKind: TypeAlias = Literal[
    "definition", "method", "property", "type", "variant", "value", "reading", "default", "rule", "text"
]
NameKind: TypeAlias = Literal["name", "meaning", "base", "attribute", "module"]
Kind: TypeAlias = SchemaKind | NameKind
"""Of a schema, and of Python: what can be imported, what it is, and the attributes of a class."""

LISTED = ("definition", "name")
"""The kinds that come and go in numbers, with nothing else to say: one line for those that come, one for the rest."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference."""

    kind: Kind
    where: str
    """The definition, property (`Foo.bar`), item (`Foo.bar[]`), variant (`Foo<type: "a">`), method or Python name."""
    what: str
    """The difference as Markdown, to be read after `where`."""
    breaking: bool


def as_code(names: Iterable[str]) -> str:
    """The names as Markdown shows code, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def render(changes: Sequence[Change]) -> list[str]:
    """The changes as a Markdown list, breaking ones first, ready for the changelog."""
    lines: list[str] = []
    for breaking in (True, False):
        mark = "**Breaking:** " if breaking else ""
        chosen = [change for change in changes if change.breaking is breaking and change.kind not in ("text", "module")]
        went = "removed" if breaking else "added"
        listed = {kind: [f"`{change.where}`" for change in chosen if change.kind == kind] for kind in LISTED}
        lines += [f"- {mark}{kind}s {went}: {', '.join(names)}" for kind, names in listed.items() if names]
        lines += [f"- {mark}`{change.where}` {change.what}" for change in chosen if change.kind not in LISTED]
    if moved := [f"`{change.where}`" for change in changes if change.kind == "module"]:
        lines.append(f"- in another module, which importing from the package does not show: {', '.join(moved)}")
    if texts := sum(change.kind == "text" for change in changes):
        lines.append(f"- {texts} description{'s' if texts > 1 else ''} changed")
    return lines or ["- No change in meaning"]
