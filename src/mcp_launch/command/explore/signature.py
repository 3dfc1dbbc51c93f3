"""Writes a tool as one line, `read(path: string, lines?: integer = 10)`, and describes each argument by its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from mcp_launch.command.explore.json_schema import Schema, alternatives, kind_of, properties_of, resolved
from mcp_launch.json_values import as_items
from mcp_launch.validation import TooManySteps, limited_steps, spend

__all__ = [
    "DESCRIBING_STEPS",
    "Argument",
    "all_arguments_of",
    "arguments_of",
    "described_arguments",
    "short",
    "signature",
    "type_text",
]

DESCRIBING_STEPS = 50_000
"""Steps in which a schema has to be described; the rest of it is left out."""
ARGUMENTS = 500
"""Arguments of one tool that are described."""
SIGNATURE = 4000
"""Characters of a signature."""

_DEEPEST = 2
"""Levels of objects in objects that are spelled out."""
_LONGEST = 60
"""Characters of an object that is spelled out; a longer one is called an object."""
_LONGEST_TYPE = 500
"""Characters of any type; a schema of kilobytes may have alternatives by the thousand."""
_VALUES = 8
"""Values of an enumeration that are shown."""
_LIMITS = {
    "format": "{}",
    "pattern": "matches {}",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}
_WIDEST = frozenset((1 - 2**53, 2**53 - 1))
"""The bounds of integers that a JavaScript library writes where there are no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a tool, as a person reads it."""

    name: str
    type: str
    required: bool
    default: str | None
    """As JSON; None where there is none."""
    limits: tuple[str, ...]
    """What else a value has to be, such as `at least 1`."""
    description: str
    inner: bool = False
    """Whether it is a member of an argument, and so not in the signature."""

    def __str__(self) -> str:
        if not self.required and self.default in (None, "null"):
            # To leave it out or to give null is the same, so that null need not be shown.
            return f"{self.name}?: {self.type.removesuffix(' | null')}"
        said = f"{self.name}{'' if self.required else '?'}: {self.type}"
        return said if self.default is None else f"{said} = {self.default}"


def signature(name: str, schema: Schema, *, result: Schema | None = None) -> str:
    """The tool as one line of text: the types of its arguments, `?` for those that may be left out.

    With the schema of its *result*, the type of that follows. What takes too long to find out is `...`.
    """
    try:
        with limited_steps(DESCRIBING_STEPS):
            said = f"{name}({', '.join(_in_signature(schema))})"
            return _cut(said if result is None else f"{said} -> {type_text(result, result)}", SIGNATURE)
    except TooManySteps:
        return f"{_cut(name, SIGNATURE)}(...)"


def arguments_of(schema: Schema) -> Iterator[Argument]:
    """The arguments that an input schema names, in its order."""
    for argument, _ in _members(schema, schema):
        yield argument


def all_arguments_of(schema: Schema) -> Iterator[Argument]:
    """The same, with the members of an object behind it, as `outer.inner`, where the signature has no room for them."""
    yield from _spelled_out(schema, schema, prefix="", depth=0)


def described_arguments(schema: Schema) -> tuple[list[Argument], bool]:
    """The same, and whether these are all; a schema of kilobytes may have millions."""
    found: list[Argument] = []
    try:
        with limited_steps(DESCRIBING_STEPS):
            found.extend(islice(all_arguments_of(schema), ARGUMENTS + 1))
    except TooManySteps:
        return found, False
    return found[:ARGUMENTS], len(found) <= ARGUMENTS


def type_text(schema: object, root: Schema, *, depth: int = 0) -> str:
    """The type of a value, in the notation of TypeScript: `string | null`, `(integer | string)[]`, `{x: number}`."""
    return _type_text(_Same(schema), _Same(root), depth)


class _Same:
    """A schema as a key of a cache: equal only to itself, and hashable, which a dict is not."""

    __slots__ = ("schema",)

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.schema is other.schema

    def __hash__(self) -> int:
        return id(self.schema)


# Without the cache, the time for a schema that contains itself in several places grows exponentially.
@lru_cache(maxsize=10_000)
def _type_text(schema: _Same, root: _Same, depth: int) -> str:
    texts = dict.fromkeys(_one(each, root.schema, depth) for each in alternatives(schema.schema, root.schema))
    if "any" in texts or not texts:
        return "any"
    return _cut(" | ".join(sorted(texts, key="null".__eq__)), _LONGEST_TYPE)


def short(value: object) -> str:
    """A value as JSON, or the start of it."""
    text = json.dumps(value, ensure_ascii=False)
    spend(len(text) // 100)
    return _cut(text, _LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _in_signature(schema: Schema) -> Iterator[str]:
    yield from map(str, arguments_of(schema))
    for each in alternatives(schema, schema):
        more = each.get("additionalProperties")
        if more is True or isinstance(more, dict):
            yield f"...: {type_text(cast('object', more), schema)}"
            return


def _members(schema: object, root: Schema, *, prefix: str = "") -> Iterator[tuple[Argument, object]]:
    """The members of an object, each with its schema."""
    required = _required(schema, root)
    for name, part in properties_of(schema, root).items():
        known = resolved(part, root)
        argument = Argument(
            name=f"{prefix}{name}",
            type=type_text(part, root),
            required=name in required,
            default=short(known["default"]) if "default" in known else None,
            limits=tuple(_limits(part, root)),
            description=known["description"] if isinstance(known.get("description"), str) else "",
            inner=bool(prefix),
        )
        yield argument, part


def _spelled_out(schema: object, root: Schema, *, prefix: str, depth: int) -> Iterator[Argument]:
    for argument, part in _members(schema, root, prefix=prefix):
        yield argument
        words = argument.type.split(" | ")
        if depth < _DEEPEST and "object" in words:
            yield from _spelled_out(part, root, prefix=f"{argument.name}.", depth=depth + 1)
        elif depth < _DEEPEST and "object[]" in words:
            for each in alternatives(part, root):
                yield from _spelled_out(each.get("items"), root, prefix=f"{argument.name}[].", depth=depth + 1)


def _one(schema: Schema, root: Schema, depth: int) -> str:  # noqa: PLR0911 - a list of cases
    if schema.get("not") == {}:
        return "never"
    if "const" in schema:
        return short(schema["const"])
    if shown := [short(value) for value in as_items(schema.get("enum"))[: _VALUES + 1]]:
        return " | ".join([*shown[:_VALUES], *(["..."] if len(shown) > _VALUES else [])])
    match kind_of(schema):
        case None:
            return "any"
        case "array":
            return _array(schema, root, depth)
        case "object":
            return _object(schema, root, depth)
        case kind:
            return kind


def _array(schema: Schema, root: Schema, depth: int) -> str:
    if depth > _DEEPEST:
        return "array"
    if first := as_items(schema.get("prefixItems")):
        return f"[{', '.join(type_text(each, root, depth=depth + 1) for each in first)}]"
    if "items" not in schema:
        return "array"
    item = type_text(schema["items"], root, depth=depth + 1)
    return f"({item})[]" if " | " in item else f"{item}[]"


def _object(schema: Schema, root: Schema, depth: int) -> str:
    if depth > _DEEPEST:
        return "object"
    required = _required(schema, root)
    members = [
        f"{name}{'' if name in required else '?'}: {type_text(part, root, depth=depth + 1)}"
        for name, part in properties_of(schema, root).items()
    ]
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        members.append(f"[name]: {type_text(cast('object', more), root, depth=depth + 1)}")
    text = f"{{{', '.join(members)}}}"
    return text if members and len(text) <= _LONGEST else "object"


def _required(schema: object, root: Schema) -> frozenset[str]:
    """The members that every alternative requires, of those that may be an object."""
    required = [
        frozenset(name for name in as_items(each.get("required")) if isinstance(name, str))
        for each in alternatives(schema, root)
        if kind_of(each) in ("object", None)
    ]
    return required[0].intersection(*required[1:]) if required else frozenset()


def _limits(schema: object, root: Schema) -> Iterator[str]:
    for each in alternatives(schema, root):
        for word, text in _LIMITS.items():
            if isinstance(each.get(word), str | int | float) and each[word] not in _WIDEST:
                said = text.format(each[word])
                yield said.removesuffix("s") if each[word] == 1 else said
