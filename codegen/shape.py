"""Checks once that a document has the shape of a JSON schema, so that no pass has to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from codegen.tree import CodegenError


class _Shape(NamedTuple):
    """What the value of a keyword must be, in words and as a question."""

    words: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_size(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))


def _are_types(value: Any) -> bool:
    return isinstance(value, str) or _are_texts(value)


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


_TEXT = _Shape("text", _is(str))
_BOOLEAN = _Shape("true or false", _is(bool))
_LIST = _Shape("a list", _is(list))
_OBJECT = _Shape("an object", _is(dict))
_TEXTS = _Shape("a list of texts", _are_texts)
_SCHEMAS = ("anyOf", "oneOf", "allOf")
_NAMED_SCHEMAS = ("$defs", "properties")
_OPENNESS = ("additionalProperties", "unevaluatedProperties")

SHAPES: dict[str, _Shape] = {
    **dict.fromkeys(("$ref", "contentEncoding", "description", "format", "pattern", "title"), _TEXT),
    **dict.fromkeys(("x-method", "x-side"), _TEXT),
    **dict.fromkeys(("x-deserialize-default-on-error", "x-deserialize-default-on-null"), _BOOLEAN),
    **dict.fromkeys(("x-deserialize-skip-invalid-items", "x-docs-ignore"), _BOOLEAN),
    **dict.fromkeys(("minimum", "maximum"), _Shape("a number", _is_number)),
    **dict.fromkeys(("minItems", "minLength"), _Shape("a whole number that is not negative", _is_size)),
    **dict.fromkeys((*_SCHEMAS, "enum"), _LIST),
    **dict.fromkeys((*_NAMED_SCHEMAS, "discriminator"), _OBJECT),
    "required": _TEXTS,
    "type": _Shape("text or a list of texts", _are_types),
}
"""What each keyword that the pipeline reads must be."""


def check_shape(document: dict[str, Any]) -> None:
    """Refuse a schema in which a keyword is what JSON Schema does not let it be.

    Raises:
        CodegenError: says where it stands, and what belongs there.
    """
    _check(document, "")


def _check(schema: Any, where: str) -> None:
    if schema is True:
        return
    if not isinstance(schema, dict):
        raise CodegenError(f"{where}: {schema!r} is no schema that the pipeline has a rule for")
    node = cast("dict[str, Any]", schema)
    for keyword, value in node.items():
        if keyword in SHAPES and not SHAPES[keyword].holds(value):
            shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
            raise CodegenError(f"{where or 'the schema'}: {keyword} is {shown} instead of {SHAPES[keyword].words}")
    for inside, child in _children(node):
        _check(child, f"{where}/{inside}".removeprefix("/"))


def _children(node: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """The schemas in *node*, with the way to each; of what an object may have besides, only one that is a schema."""
    for keyword in _NAMED_SCHEMAS:
        for name, child in node.get(keyword, {}).items():
            yield f"{keyword}/{name}", child
    for keyword in _SCHEMAS:
        for index, child in enumerate(node.get(keyword, [])):
            yield f"{keyword}/{index}", child
    for keyword in ("items", "not", *_OPENNESS):
        if keyword in node and not (keyword in _OPENNESS and node[keyword] is False):
            yield keyword, node[keyword]
