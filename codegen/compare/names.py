"""What changed in the Python names of a generated package: what a program imports, what that is, and its attributes.

The names are read from the generated code, because that is what programs see; how a value is read, and its limits, are
the schema's to tell (`codegen.compare.meaning`), so only the types that a type checker knows count here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from codegen.compare.report import Change, NameKind, as_code
from codegen.naming import EXTENSIBLE, INTEGERS, MODEL, NUMBER, RESPONSE, WRAPPERS

__all__ = ["Attribute", "Name", "Names", "compare_names", "names_of"]


@dataclass(frozen=True)
class Attribute:
    """A member of a class, as its constructor takes it and its instances have it."""

    alternatives: tuple[str, ...]
    """The types that it may have."""
    required: bool
    """Whether the constructor asks for it."""

    def __str__(self) -> str:
        """The type, as Markdown."""
        return f"`{' | '.join(self.alternatives)}`"


@dataclass(frozen=True, kw_only=True)
class Name:
    """One name of a package: a class, which has bases, or an alias, which has alternatives."""

    module: str
    bases: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    """Of a class, those that it writes down itself."""
    alternatives: tuple[str, ...] = ()

    def __str__(self) -> str:
        """What it is, as Markdown."""
        return "a class" if self.bases else f"the type `{' | '.join(self.alternatives)}`"


Names: TypeAlias = dict[str, Name]

META = Attribute(("dict[str, Any]", "None"), required=False)
RUNTIME = {MODEL: {}, EXTENSIBLE: {"meta": META}, RESPONSE: {"meta": META}}
"""The attributes of the classes that are written by hand."""
RUNTIME_BASES = {EXTENSIBLE: (MODEL,), RESPONSE: (EXTENSIBLE,)}

NUMBERS = {**dict.fromkeys(INTEGERS.values(), "int"), NUMBER: "float"}
"""What type checkers take the numbers of the runtime for."""


def names_of(package: Path) -> Names:
    """The names that the modules of a generated package define."""
    found: Names = {}
    for path in sorted(package.glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            match statement:
                case ast.ClassDef(name=name, bases=bases, body=body):
                    attributes = dict(_attribute(each) for each in body if isinstance(each, ast.AnnAssign))
                    found[name] = Name(module=path.stem, bases=tuple(map(ast.unparse, bases)), attributes=attributes)
                case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                    found[name] = Name(module=path.stem, alternatives=_alternatives(value))
                case _:
                    pass
    return found


def compare_names(old: Names, new: Names) -> list[Change]:
    """What became of each name, wherever in the package it lives."""
    changes: list[Change] = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            changes.append(Change(kind="name", where=name, what="removed", breaking=True))
        elif name not in old:
            changes.append(Change(kind="name", where=name, what="added", breaking=False))
        else:
            changes += _compare_name(name, old, new)
    return changes


def _compare_name(name: str, old: Names, new: Names) -> Iterator[Change]:
    before, after = old[name], new[name]
    if before.module != after.module:
        what = f"moved from `{before.module}` to `{after.module}`"
        yield Change(kind="module", where=name, what=what, breaking=False)
    if bool(before.bases) != bool(after.bases):
        what = f"now means something else: it was {before} and is {after}"
        yield Change(kind="meaning", where=name, what=what, breaking=True)
    elif before.bases:
        yield from _compare_classes(name, old, new)
    else:
        yield from _compare_types("meaning", name, *_apart_from_aliases(before, after, old, new))


def _compare_classes(name: str, old: Names, new: Names) -> Iterator[Change]:
    before, after = old[name], new[name]
    olds, news = before.attributes, after.attributes
    if before.bases != after.bases:
        what = f"is based on {as_code(after.bases)} instead of {as_code(before.bases)}"
        gone = _ancestors(name, old) - _ancestors(name, new)
        yield Change(kind="base", where=name, what=what, breaking=bool(gone))
        olds, news = _all_attributes(name, old), _all_attributes(name, new)
    for attribute in sorted(olds.keys() | news.keys()):
        where = f"{name}.{attribute}"
        if attribute not in news:
            yield Change(kind="attribute", where=where, what="removed", breaking=True)
        elif attribute not in olds:
            required = news[attribute].required
            what = f"added, {'required' if required else 'optional'} ({news[attribute]})"
            yield Change(kind="attribute", where=where, what=what, breaking=required)
        else:
            was, is_ = olds[attribute], news[attribute]
            yield from _compare_types("attribute", where, *_apart_from_aliases(was, is_, old, new))
            if was.required != is_.required:
                what = "is now required" if is_.required else "is no longer required"
                yield Change(kind="attribute", where=where, what=what, breaking=is_.required)


def _compare_types(kind: NameKind, where: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Change]:
    removed, added = [each for each in old if each not in new], [each for each in new if each not in old]
    if not removed and not added:
        return
    known = [each for each in old if each != "None"]
    # What was no choice, or has nothing left of it, is another type.
    is_choice = len(known) > 1 or any(map(_is_value, known))
    if is_choice and not {*known} <= {*removed} and all(_is_to_be_expected(each, known) for each in added):
        for each in removed:
            yield Change(kind=kind, where=where, what=f"can no longer be `{each}`", breaking=True)
        for each in added:
            yield Change(kind=kind, where=where, what=f"can also be `{each}`", breaking=False)
    else:
        what = f"now has the type `{' | '.join(new)}` instead of `{' | '.join(old)}`"
        yield Change(kind=kind, where=where, what=what, breaking=True)


def _is_to_be_expected(added: str, known: list[str]) -> bool:
    """Whether programs have to expect this of a choice: more of a union, and of an enumeration more of its values."""
    if any(map(_is_value, known)):
        return _is_value(added) or added == "str"
    return added != "None"


def _apart_from_aliases(
    before: Name | Attribute, after: Name | Attribute, old: Names, new: Names
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The alternatives before and after, so that None is the same in an alias and beside it."""
    if before.alternatives == after.alternatives:
        return before.alternatives, after.alternatives
    return _with_none(before.alternatives, old), _with_none(after.alternatives, new)


def _with_none(alternatives: tuple[str, ...], names: Names) -> tuple[str, ...]:
    hidden = "None" not in alternatives and any(_may_be_none(each, names) for each in alternatives)
    return (*alternatives, "None") if hidden else alternatives


def _may_be_none(alternative: str, names: Names) -> bool:
    inner = names[alternative].alternatives if alternative in names else ()
    return alternative == "None" or any(_may_be_none(each, names) for each in inner)


def _is_value(alternative: str) -> bool:
    return alternative.startswith("Literal[")


def _ancestors(name: str, names: Names) -> set[str]:
    bases = names[name].bases if name in names else RUNTIME_BASES.get(name, ())
    return {*bases}.union(*(_ancestors(base, names) for base in bases))


def _all_attributes(name: str, names: Names) -> dict[str, Attribute]:
    """The attributes of a class, with those that it inherits."""
    if name not in names:
        return RUNTIME.get(name, {})
    found: dict[str, Attribute] = {}
    for base in reversed(names[name].bases):
        found |= _all_attributes(base, names)
    return {**found, **names[name].attributes}


def _attribute(statement: ast.AnnAssign) -> tuple[str, Attribute]:
    return ast.unparse(statement.target), Attribute(
        _alternatives(statement.annotation), required=statement.value is None
    )


def _alternatives(annotation: ast.expr) -> tuple[str, ...]:
    """The alternatives of a type as a type checker knows it, each spelt out."""
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
    """Takes away what only readers of messages know, and the quotes around names that come further down."""

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
