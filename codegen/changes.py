"""The changes between two versions of a schema, as Markdown for the changelog.

First come the definitions and methods of the schema, then the Python names that are generated from it.

A change is *breaking* if a program that worked with the old package may fail with the new one: a name that it uses is
gone, a value that it builds or receives is no longer accepted, or an attribute may hold a new kind of value. New names,
new optional fields, new variants of a union and new enumeration values are not breaking.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from codegen.build import PACKAGES, build
from codegen.naming import INTEGERS, MODEL, NUMBER, WRAPPERS
from codegen.passes.tidy import open_booleans
from codegen.tree import CodegenError, Definitions, rewrite_all, without


class Change(NamedTuple):
    """One difference between the Python names of two packages."""

    where: str
    """The name (`Foo`) or the attribute (`Foo.bar`)."""
    what: str
    """The difference as Markdown, to be read after `where`; of a name that is new or gone, "added" or "removed"."""
    is_breaking: bool


def describe_changes(file: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the changes from one version of the schema *file* to another, as lines of Markdown."""
    lines = [*_describe_schema(old["$defs"], new["$defs"])]
    lines += ["", f"Python names, `from acp_bindings.{PACKAGES[file][0]} import …`:", ""]
    names: list[Names] = []
    for which, schema in (("old", old), ("new", new)):
        try:
            with tempfile.TemporaryDirectory(prefix="acp-names-") as scratch:
                build(file, schema, "a comparison", Path(scratch))
                names.append(names_of(Path(scratch) / PACKAGES[file][0]))
        except CodegenError as error:
            return [*lines, f"- These cannot be compared, because the {which} schema cannot be built: {error}"]
    return lines + render(compare_names(*names))


def _describe_schema(old: Definitions, new: Definitions) -> list[str]:
    """Return the definitions and methods that were removed, added or changed, as lines of Markdown."""
    old, new = open_booleans(old), open_booleans(new)
    old_methods, new_methods = (
        {node["x-method"] for node in defs.values() if "x-method" in node} for defs in (old, new)
    )
    bare_old, bare_new = (rewrite_all(defs, lambda node: without(node, "title", "description")) for defs in (old, new))
    common = sorted(old.keys() & new.keys())
    listed = [
        ("**Breaking:** methods removed", old_methods - new_methods),
        ("**Breaking:** definitions removed", old.keys() - new.keys()),
        ("methods added", new_methods - old_methods),
        ("definitions added", new.keys() - old.keys()),
        ("definitions changed", {name for name in common if bare_old[name] != bare_new[name]}),
    ]
    lines = [f"- {what}: {as_code(sorted(names))}" for what, names in listed if names]
    if texts := sum(old[name] != new[name] and bare_old[name] == bare_new[name] for name in common):
        lines.append(f"- {texts} description{'s' if texts > 1 else ''} changed")
    return lines or ["- No change"]


def render(changes: Sequence[Change]) -> list[str]:
    """Return the changes as a Markdown list, breaking ones first."""
    lines: list[str] = []
    for breaking, mark, listed in ((True, "**Breaking:** ", "removed"), (False, "", "added")):
        chosen = [change for change in changes if change.is_breaking is breaking]
        names = [change.where for change in chosen if change.what == listed and "." not in change.where]
        if names:
            lines.append(f"- {mark}names {listed}: {as_code(names)}")
        lines += [f"- {mark}`{where}` {what}" for where, what, _ in chosen if where not in names]
    return lines or ["- No change"]


def as_code(names: Iterable[str]) -> str:
    """Return the names as Markdown code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


@dataclass(frozen=True, kw_only=True)
class Name:
    """One name of a package: a class, an alias, or an attribute that a class declares itself."""

    types: tuple[str, ...]
    """The bases of a class; otherwise the alternatives, as a type checker sees them."""
    is_class: bool = False
    required: bool = False
    """True for an attribute that the constructor requires."""
    declaration: str = field(default="", compare=False)
    """The annotation and the default of an attribute, or the value of an alias, as written: with rules of reading."""

    def __str__(self) -> str:
        """The type, as Markdown."""
        return "a class" if self.is_class else f"`{' | '.join(self.types)}`"


Names: TypeAlias = dict[str, Name]
"""The names of a package (`Foo`), and the attributes of its classes (`Foo.bar`)."""

NUMBERS = {**dict.fromkeys(INTEGERS.values(), "int"), NUMBER: "float"}
"""The types of the number aliases, as a type checker sees them."""


def names_of(package: Path) -> Names:
    """Return the names that the modules of a generated package define."""
    found: Names = {}
    for path in sorted(package.glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            match statement:
                case ast.ClassDef(name=name, bases=bases, body=body):
                    found[name] = Name(types=tuple(map(ast.unparse, bases)), is_class=True)
                    attributes = (each for each in body if isinstance(each, ast.AnnAssign))
                    found |= {f"{name}.{ast.unparse(each.target)}": _attribute(each) for each in attributes}
                case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                    found[name] = Name(types=_alternatives(value), declaration=ast.unparse(value))
                case _:
                    pass
    return found


def compare_names(old: Names, new: Names) -> list[Change]:
    """Return the changes of every name, in whichever module of the package it is."""
    changes: list[Change] = []
    for where in sorted(old.keys() | new.keys()):
        cls, _, attribute = where.partition(".")
        before, after = old.get(where), new.get(where)
        if not attribute:
            changes += _compare_name(where, before, after)
        elif cls in old and cls in new and old[cls].is_class and new[cls].is_class:
            changes += _compare_attribute(where, before, after)
    return changes


def _compare_name(where: str, before: Name | None, after: Name | None) -> Iterator[Change]:
    if before is None or after is None:
        yield Change(where, "removed" if before else "added", is_breaking=before is not None)
    elif before.is_class != after.is_class:
        yield Change(where, f"now means something else: it was {before} and is {after}", is_breaking=True)
    elif not before.is_class:
        yield from _compare_types(where, before, after)
    elif before.types != after.types:
        # Every class has `Model` as an indirect base.
        breaking = not {*before.types} <= {*after.types, MODEL}
        yield Change(where, f"is based on {as_code(after.types)} instead of {as_code(before.types)}", breaking)


def _compare_attribute(where: str, before: Name | None, after: Name | None) -> Iterator[Change]:
    if after is None:
        yield Change(where, "removed", is_breaking=True)
    elif before is None:
        yield Change(where, f"added, {'required' if after.required else 'optional'} ({after})", after.required)
    else:
        yield from _compare_types(where, before, after)
        if before.required != after.required:
            yield Change(where, f"is {'now' if after.required else 'no longer'} required", after.required)


def _compare_types(where: str, before: Name, after: Name) -> Iterator[Change]:
    old, new = before.types, after.types
    removed, added = [each for each in old if each not in new], [each for each in new if each not in old]
    if not removed and not added:
        if _RULE.findall(before.declaration) != _RULE.findall(after.declaration):
            yield Change(
                where, f"is declared as `{after.declaration}` instead of `{before.declaration}`", is_breaking=False
            )
        return
    known = [each for each in old if each != "None"]
    # A type that was not a choice, or of which nothing is left, is another type.
    is_choice = len(known) > 1 or any(map(_is_value, known))
    if is_choice and not {*known} <= {*removed} and all(_is_to_be_expected(each, known) for each in added):
        yield from (Change(where, f"can no longer be `{each}`", is_breaking=True) for each in removed)
        yield from (Change(where, f"can also be `{each}`", is_breaking=False) for each in added)
    else:
        yield Change(where, f"now has the type {after} instead of {before}", is_breaking=True)


_RULE = re.compile(
    r"\b(?:Lenient|LenientList|NullAsEmpty|SkipInvalid|Secret)\b|"
    r"(?:Field|Within|When)\([^)]*\)|\bU?Int\d+| = (?!None).*"
)
"""A rule that type checkers do not see: of reading, of bounds, or a default."""


def _is_to_be_expected(added: str, known: list[str]) -> bool:
    """Return True if programs must expect *added*: another variant of a union, or another value of an enumeration."""
    if any(map(_is_value, known)):
        return _is_value(added) or added == "str"
    return added != "None"


def _is_value(alternative: str) -> bool:
    return alternative.startswith("Literal[")


def _attribute(statement: ast.AnnAssign) -> Name:
    default = f" = {ast.unparse(statement.value)}" if statement.value else ""
    return Name(
        types=_alternatives(statement.annotation),
        required=statement.value is None,
        declaration=ast.unparse(statement.annotation) + default,
    )


def _alternatives(annotation: ast.expr) -> tuple[str, ...]:
    """Return the alternatives of a type as a type checker sees them."""
    found: list[str] = []
    waiting: list[ast.expr] = [_Bare().visit(annotation)]
    while waiting:
        match waiting.pop():
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                waiting += [right, left]
            case ast.Subscript(value=ast.Name("Literal"), slice=values):
                each = values.elts if isinstance(values, ast.Tuple) else [values]
                found += [f"Literal[{ast.unparse(value)}]" for value in each]
            case one:
                found.append(ast.unparse(one))
    return tuple(found)


class _Bare(ast.NodeTransformer):
    """Remove rules of reading, and the quotes around names that are defined later."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match node:
            case ast.Subscript(value=ast.Name("Literal")):
                return node
            case ast.Subscript(value=ast.Name("Annotated"), slice=ast.Tuple(elts=[type_, *_])):
                return self.visit(type_)
            case ast.Subscript(value=ast.Name(name)) if name in WRAPPERS:
                return self.visit(node.slice)
            case _:
                self.generic_visit(node)
                return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(NUMBERS.get(node.id, node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node
