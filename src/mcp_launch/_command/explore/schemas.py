"""Reads JSON schemas, and describes the arguments of tools and prompts as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import unquote

from mcp_launch._json_values import as_items, as_members, at_pointer
from mcp_launch._validation import TooManySteps, limited_steps, spend

if TYPE_CHECKING:
    from mcp_types import Prompt

Schema: TypeAlias = Mapping[str, Any]
_MOST = 1000
"""The maximum number of schemas per value, because nested alternatives multiply."""
_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
"""The name of each type in schemas."""
DESCRIBING_STEPS = 50_000
"""The maximum number of steps to describe a schema; the rest is omitted."""
ARGUMENTS = 500
"""The maximum number of arguments of one tool."""
SIGNATURE = 4000
"""The maximum length of a signature."""
_DEEPEST = 2
"""The maximum depth of objects that are written in full."""
_LONGEST = 60
"""The maximum length of an object that is written in full; a longer one is written as `object`."""
_LONGEST_TYPE = 500
"""The maximum length of a type; a schema may have thousands of alternatives."""
_VALUES = 8
"""The maximum number of values of an enumeration."""
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
"""The bounds of integers that a JavaScript library writes by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """The description of one argument of a tool or prompt."""

    name: str
    type: str
    required: bool
    default: str | None = None
    """As JSON; None if there is none."""
    limits: tuple[str, ...] = ()
    """Further constraints, such as `at least 1`."""
    description: str
    inner: bool = False
    """True if it is a member of an argument, which is not in the signature."""

    def __str__(self) -> str:
        if not self.required and self.default in (None, "null"):
            # Omitting it and null mean the same, so null is not shown.
            return f"{self.name}?: {self.type.removesuffix(' | null')}"
        text = f"{self.name}{'' if self.required else '?'}: {self.type}"
        return text if self.default is None else f"{text} = {self.default}"


def signature(name: str, schema: Schema, *, result: Schema | None = None) -> str:
    """Return a tool as one line, with the types of its arguments; `?` marks optional ones.

    With the schema of its *result*, the type of that follows. Parts that take too long to describe are `...`.
    """
    try:
        with limited_steps(DESCRIBING_STEPS):
            text = f"{name}({', '.join(_signature_parts(schema))})"
            return _cut(text if result is None else f"{text} -> {type_text(result, result)}", SIGNATURE)
    except TooManySteps:
        return f"{_cut(name, SIGNATURE)}(...)"


def described_arguments(schema: Schema) -> tuple[list[Argument], bool]:
    """Return the arguments and their members, and True if these are all. A small schema may have millions."""
    found: list[Argument] = []
    try:
        with limited_steps(DESCRIBING_STEPS):
            found.extend(islice(all_arguments_of(schema, schema), ARGUMENTS + 1))
    except TooManySteps:
        return found, False
    return found[:ARGUMENTS], len(found) <= ARGUMENTS


def schema_of(prompt: Prompt) -> dict[str, Any]:
    """Return the schema of the arguments of a prompt, which are strings."""
    arguments = prompt.arguments or ()
    return {
        "type": "object",
        "properties": {each.name: {"type": "string", "description": each.description or ""} for each in arguments},
        "required": [each.name for each in arguments if each.required],
        "additionalProperties": False,
    }


def arguments_of(schema: Schema) -> Iterator[Argument]:
    """Yield the arguments of an input schema, in its order."""
    for argument, _ in _members(schema, schema):
        yield argument


def all_arguments_of(schema: object, root: Schema, *, prefix: str = "", depth: int = 0) -> Iterator[Argument]:
    """Yield the arguments, each followed by its members as `outer.inner` if the signature has no space for them."""
    for argument, part in _members(schema, root, prefix=prefix):
        yield argument
        words = argument.type.split(" | ")
        if depth < _DEEPEST and "object" in words:
            yield from all_arguments_of(part, root, prefix=f"{argument.name}.", depth=depth + 1)
        elif depth < _DEEPEST and "object[]" in words:
            for each in alternatives(part, root):
                yield from all_arguments_of(each.get("items"), root, prefix=f"{argument.name}[].", depth=depth + 1)


def type_text(schema: object, root: Schema, *, depth: int = 0) -> str:
    """Return the type of a value as in TypeScript: `string | null`, `(integer | string)[]`, `{x: number}`."""
    return _type_text(_Same(schema), _Same(root), depth)


def short(value: object) -> str:
    """Return a value as JSON, truncated."""
    text = json.dumps(value, ensure_ascii=False)
    spend(len(text) // 100)
    return _cut(text, _LONGEST)


def alternatives(schema: object, root: Schema) -> list[Schema]:
    """Return the alternatives for a value, without `$ref`, `anyOf`, `oneOf`, `allOf`, and with at most one `type`."""
    return list(_alternatives(schema, root, frozenset(), iter(range(_MOST))))


def kind_of(schema: Schema) -> str | None:
    """Return the type of an alternative, explicit or implied; None for any."""
    explicit = schema.get("type")
    if isinstance(explicit, str):
        return explicit
    kinds = {_KINDS[type(value)] for value in fixed_values(schema)}
    if len(kinds) == 1:
        return kinds.pop()
    if any(word in schema for word in ("properties", "patternProperties", "additionalProperties", "required")):
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def fixed_values(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else as_items(schema.get("enum"))


def properties_of(schema: object, root: Schema) -> dict[str, Any]:
    """Return the properties of an object, from all alternatives; what several of them have is their `anyOf`."""
    found: dict[str, list[Any]] = {}
    for each in alternatives(schema, root):
        spend(_size(each))
        for name, part in as_members(each.get("properties")).items():
            parts = found.setdefault(name, [])
            spend(len(parts) // 10)
            if part not in parts:
                parts.append(part)
    return {name: parts[0] if len(parts) == 1 else _any_of(parts) for name, parts in found.items()}


def _any_of(parts: list[Any]) -> dict[str, Any]:
    described = [each for part in parts if (each := as_members(part).get("description"))]
    return {"anyOf": parts, **({"description": described[0]} if described else {})}


def with_defaults(value: Any, schema: object, root: Schema) -> Any:
    """Return *value* in which each object has the defaults of the required members that it lacks."""
    if isinstance(value, list):
        items = [each["items"] for each in alternatives(schema, root) if "items" in each]
        return [with_defaults(each, _any_of(items), root) for each in as_items(value)] if items else as_items(value)
    if not isinstance(value, dict):
        return value
    required, parts = _required(schema, root), properties_of(schema, root)
    known = {name: _followed(part, root)[0] for name, part in parts.items() if name in required}
    defaults = {name: part["default"] for name, part in known.items() if "default" in part}
    given = as_members(value)
    inner = {name: with_defaults(given[name], part, root) for name, part in parts.items() if name in given}
    return {**defaults, **given, **inner}


def member_of(name: str, schema: object, root: Schema) -> object:
    """Return the schema of a member, which may not be in `properties`; None if the object cannot have it."""
    known = properties_of(schema, root)
    if name in known:
        return known[name]
    for each in alternatives(schema, root):
        for pattern, part in as_members(each.get("patternProperties")).items():
            if _matches(pattern, name):
                return part
        more = each.get("additionalProperties")
        if isinstance(more, dict) or more is True:
            return cast("object", more)
        # A schema without members allows all of them.
        if more is None and not known and kind_of(each) in ("object", None):
            return {}
    return None


def _alternatives(schema: object, root: Schema, path: frozenset[str], steps: Iterator[int]) -> Iterator[Schema]:
    spend()
    known, followed = _followed(schema, root)
    # A schema that is an alternative to itself adds nothing.
    if followed & path or next(steps, None) is None:
        return
    path |= followed
    known = dict(known)
    for part in as_items(known.pop("allOf", None)):
        parts = list(_alternatives(part, root, path, steps))
        known = _merged(known, parts[0]) if len(parts) == 1 else {**known, "anyOf": parts}
    for word in ("anyOf", "oneOf"):
        if choices := as_items(known.pop(word, None)):
            for choice in choices:
                for inner in _alternatives(choice, root, path, steps):
                    yield from _alternatives(_merged(known, inner), root, path, steps)
            return
    kinds = as_items(known.get("type"))
    yield from ({**known, "type": kind} for kind in kinds) if kinds else (known,)


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _followed(schema: object, root: Schema) -> tuple[Schema, frozenset[str]]:
    """Return the schema with its `$ref` replaced by the target within *root*, and the references.

    Members next to the `$ref` win. A `$ref` to an unknown place or another document adds nothing. The schema `false`
    becomes `{"not": {}}`.
    """
    followed: set[str] = set()
    beside: dict[str, Any] = {}
    while True:
        if not isinstance(schema, dict):
            return ({"not": {}} if schema is False else beside), frozenset(followed)
        known = cast("dict[str, Any]", schema)
        spend(_size(known))
        beside = {**known, **beside}
        target = beside.pop("$ref", None)
        if not isinstance(target, str) or target in followed:
            return beside, frozenset(followed)
        spend(len(target) // 10)
        followed.add(target)
        schema = at_pointer(unquote(target[1:]), root) if target == "#" or target.startswith("#/") else None


def _merged(one: Schema, other: Schema) -> dict[str, Any]:
    spend(_size(one) + _size(other))
    both = {**one, **other}
    for word in ("properties", "required"):
        if word in one and word in other:
            parts = (one[word], other[word])
            if all(isinstance(part, dict) for part in parts):
                both[word] = {**one[word], **other[word]}
            elif all(isinstance(part, list) for part in parts):
                both[word] = [*one[word], *other[word]]
    return both


def _size(schema: Schema) -> int:
    """Return the cost of copying, in steps."""
    return 1 + len(schema) // 10 + len(as_members(schema.get("properties"))) // 10


class _Same:
    """A schema as the key of a cache, compared by identity."""

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


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _signature_parts(schema: Schema) -> Iterator[str]:
    yield from map(str, arguments_of(schema))
    for each in alternatives(schema, schema):
        more = each.get("additionalProperties")
        if more is True or isinstance(more, dict):
            yield f"...: {type_text(cast('object', more), schema)}"
            return


def _members(schema: object, root: Schema, *, prefix: str = "") -> Iterator[tuple[Argument, object]]:
    required = _required(schema, root)
    for name, part in properties_of(schema, root).items():
        known, _ = _followed(part, root)
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
    """Return the members that every alternative requires, apart from those that are not objects."""
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
                limit = text.format(each[word])
                yield limit.removesuffix("s") if each[word] == 1 else limit
