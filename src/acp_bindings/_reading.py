"""The reading rules of a class, worked into the core schema that pydantic compiled for it."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any, Never

from pydantic import ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, PydanticOmit
from pydantic_core import core_schema as cs

from acp_bindings._types import NOTHING, NULL, VALUE, Implied, Rule, When


def apply_rules(fields: dict[str, FieldInfo], schema: cs.ModelFieldsSchema) -> None:
    """Work what is marked on *fields* into *schema*, in place."""
    for name, info in fields.items():
        _apply(info.metadata, schema["fields"][name])
    if names := [name for name, info in fields.items() if info.alias != name]:
        schema["extras_keys_schema"] = _keys_unlike(names)


def _apply(metadata: list[Any], field: cs.ModelField) -> None:
    """Work the rules among *metadata* into the compiled *field*."""
    default = field["schema"] if field["schema"]["type"] == "default" else None
    inner = default["schema"] if default else field["schema"]
    for mark in metadata:
        if isinstance(mark, Implied) and default:
            field["serialization_exclude_if"] = partial(operator.eq, default["default"])
        if isinstance(mark, When):
            free = cs.with_info_plain_validator_function(partial(_unless, mark))
            inner = cs.union_schema([(inner, VALUE), (free, NULL)], mode="left_to_right")
    rules = {mark for mark in metadata if isinstance(mark, Rule)} - {Rule.SECRET}
    if Rule.ABSENT in rules:
        inner = NOTHING
    if Rule.OMITTABLE in rules and inner["type"] == "nullable":
        inner = inner["schema"]
    if Rule.SKIP_INVALID_ITEMS in rules:
        _skip_items(inner)
    if Rule.DEFAULT_ON_ERROR in rules:
        inner = _in_lax_mode(_with_fallback(inner, default), inner)
    if Rule.DEFAULT_ON_NULL in rules:
        empty: Any = {} if inner["type"] == "dict" else []
        null = cs.chain_schema([cs.none_schema(), cs.with_default_schema(NOTHING, default=empty, on_error="default")])
        inner = _in_lax_mode(cs.union_schema([(inner, VALUE), (null, NULL)], mode="left_to_right"), inner)
    if default:
        default["schema"] = inner
    else:
        field["schema"] = inner


def _unless(mark: When, value: Any, info: ValidationInfo) -> Any:
    if info.data.get(mark.member) == mark.value:
        raise PydanticCustomError("bad_value", "")
    return value


def _in_lax_mode(lenient: CoreSchema, strict: CoreSchema) -> CoreSchema:
    """Read by *lenient*, but construct, and read with `strict=True`, by *strict*."""
    return cs.lax_or_strict_schema(lenient, strict, strict=False)


def _with_fallback(inner: CoreSchema, default: cs.WithDefaultSchema | None) -> CoreSchema:
    """A bad value is the default, an empty list, or else as good as not there."""
    if default and default.get("default_factory"):
        return cs.with_default_schema(inner, default_factory=default["default_factory"], on_error="default")  # pyright: ignore
    value = default.get("default") if default else None
    if value is None and inner["type"] == "list":
        value = []
    if value is None:
        return cs.union_schema([inner, _OMIT], mode="left_to_right")
    return cs.with_default_schema(inner, default=value, on_error="default")


omissions = [0]
"""How often a bad value was read as omitted so far, in all threads."""


def _omit(_value: object) -> Never:
    """Read a bad value as omitted, and leave word that the object that it stands in has to be completed."""
    omissions[0] += 1
    raise PydanticOmit


_OMIT = cs.no_info_plain_validator_function(_omit)


class _Key(str):
    """The wire name of an unknown member that is spelt like an attribute (`mime_type` for `mimeType`).

    Pydantic has one set of names for what was read, known or not; this one is not taken for the attribute there.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def _keys_unlike(names: list[str]) -> CoreSchema:
    like = cs.no_info_after_validator_function(_Key, cs.literal_schema(names))
    return cs.union_schema([like, cs.str_schema()], mode="left_to_right")


def _skip_items(schema: CoreSchema) -> None:
    if schema["type"] == "nullable":
        schema = schema["schema"]
    if schema["type"] == "list":
        items = schema.get("items_schema", cs.any_schema())
        schema["items_schema"] = _in_lax_mode(cs.with_default_schema(items, on_error="omit"), items)
