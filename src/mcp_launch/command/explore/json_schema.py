"""Reads JSON schemas: follows references, and lists the alternatives that a value has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast
from urllib.parse import unquote

from mcp_launch.json_values import as_items, as_members
from mcp_launch.validation import spend

__all__ = ["Schema", "alternatives", "fixed_values", "kind_of", "member_of", "properties_of", "resolved"]

Schema: TypeAlias = Mapping[str, Any]
_MOST = 1000
"""Schemas that are looked at for one value: nested alternatives multiply, and a server may do so on purpose."""
_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
"""The type of a JSON value, as a schema calls it."""


def resolved(schema: object, root: Schema) -> Schema:
    """The schema with its `$ref` replaced by what that names within *root*; members beside the `$ref` win.

    A `$ref` that leads nowhere, or out of the document, adds nothing. The schema `false` becomes `{"not": {}}`.
    """
    return _followed(schema, root)[0]


def alternatives(schema: object, root: Schema) -> list[Schema]:
    """The alternatives for a value: schemas without `$ref`, `anyOf`, `oneOf`, `allOf`, and with one `type` at most."""
    return list(_alternatives(schema, root, frozenset(), iter(range(_MOST))))


def kind_of(schema: Schema) -> str | None:
    """The one type that an alternative has, said or implied; None for any."""
    said = schema.get("type")
    if isinstance(said, str):
        return said
    kinds = {_KINDS[type(value)] for value in fixed_values(schema)}
    if len(kinds) == 1:
        return kinds.pop()
    if any(word in schema for word in ("properties", "patternProperties", "additionalProperties", "required")):
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def fixed_values(schema: Schema) -> list[Any]:
    """The values of `const` or `enum`; none where an alternative has neither."""
    return [schema["const"]] if "const" in schema else as_items(schema.get("enum"))


def properties_of(schema: object, root: Schema) -> dict[str, Any]:
    """The properties of an object, those of all its alternatives together."""
    found: dict[str, Any] = {}
    for each in alternatives(schema, root):
        spend(_size(each))
        found |= as_members(each.get("properties"))
    return found


def member_of(name: str, schema: object, root: Schema) -> object:
    """The schema of a member, which `properties` need not name; None where the object cannot have it."""
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
        # A schema that says nothing of any member allows all of them.
        if more is None and not known and kind_of(each) in ("object", None):
            return {}
    return None


def _alternatives(schema: object, root: Schema, path: frozenset[str], steps: Iterator[int]) -> Iterator[Schema]:
    spend()
    known, followed = _followed(schema, root)
    # A schema that is an alternative to itself says nothing more.
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
        schema = _at(target, root)


def _at(reference: str, root: Schema) -> object:
    if reference != "#" and not reference.startswith("#/"):
        return None
    found: Any = root
    for step in unquote(reference).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        match found:
            case dict():
                found = cast("dict[str, Any]", found).get(key)
            case [*items] if key.isdecimal() and int(key) < len(items):
                found = items[int(key)]
            case _:
                return None
    return found


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
    """What it costs to copy, in steps."""
    return 1 + len(schema) // 10 + len(as_members(schema.get("properties"))) // 10
