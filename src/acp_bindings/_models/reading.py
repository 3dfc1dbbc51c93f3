"""Adds the reading rules of a class to the core schema that pydantic made for it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Never, cast

from pydantic import ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticOmit
from pydantic_core import core_schema as cs

from acp_bindings._models.types import NOTHING, NULL, VALUE, Compiled, Rule, UntaggedUnless, When, described_by

# Core schemas are dictionaries of many shapes, so their type is `Any` here. Frequent ones are written as dictionaries,
# because the functions of `core_schema` take time when the first message is read.


def apply_rules(fields: dict[str, FieldInfo], members: dict[str, Any]) -> None:
    """Add the rules of *fields* to their core schemas in *members*, in place."""
    for name, info in fields.items():
        member = members[name]
        holder = member["schema"] if member["schema"]["type"] == "default" else member
        if holder is not member:
            _make_default(holder)
        if info.metadata:
            _apply(info.metadata, member, holder)
        holder["schema"] = _finished(holder["schema"])


def keys_unlike(names: list[str]) -> Any:
    """Return the schema for names of unknown fields. Names of attributes, which are in *names*, are marked."""
    like = {"type": "function-after", "function": _TO_KEY, "schema": {"type": "literal", "expected": names}}
    return _first_of(like, _STR)


def counting(members: Any, names: Iterable[str]) -> Any:
    """Return the schema *members* of all fields, with those in *names* always counted as set."""

    def count(read: tuple[object, object, set[str]]) -> object:
        read[2].update(names)
        return read

    return cs.no_info_after_validator_function(count, members)


def leaving_out(members: Any, names: set[str]) -> Any:
    """Return the schema *members* of all fields, without unknown ones in *names*, which the class computes.

    Otherwise they would be written twice.
    """

    def leave_out(read: tuple[object, dict[str, object] | None, set[str]]) -> object:
        _, unknown, given = read
        for name in names.intersection(unknown or ()):
            del cast("dict[str, object]", unknown)[name]
            given.discard(name)
        return read

    return cs.no_info_after_validator_function(leave_out, members)


notes = [object(), object()]
"""Two marks, which validators replace by new objects to request further checks after reading.

The first requests any check: a rule tolerated an invalid value, or a value without a type, such as an unknown field,
may contain a number that JSON or Python does not allow. The second is for incomplete objects: an invalid field was
left out, or an unknown one still has a `Key` as its name.

All threads share them. Each compares a mark before and after reading. A change by another thread only causes a
needless check. Counters could miss a change, because incrementing is not atomic.
"""


def _note_untyped(value: Any) -> Any:
    if value.__class__ not in _FINITE and not _is_surely_finite(value):
        notes[0] = object()
    return value


_FINITE = frozenset({str, int, bool, type(None)})


def _is_surely_finite(value: Any, few: int = 10) -> bool:
    """Return True if every number in *value* is known to be finite.

    Small values, like most tool inputs, take less time than their text. For values with more than a *few* lists,
    objects and floats, this returns False.
    """
    kind = value.__class__
    if kind is dict or kind is list:
        for part in value.values() if kind is dict else value:
            if part.__class__ not in _FINITE:
                few -= 1
                if few < 0 or not _is_surely_finite(part, few):
                    return False
        return True
    return kind is not float or math.isfinite(value)


_ANY = cs.any_schema()

# A core schema for finite JSON would not call Python, but its union tries each type for each value. It takes three
# times as long for a small tool input, and nine times as long for a long list of numbers.
UNTYPED = cs.no_info_after_validator_function(_note_untyped, _ANY)
"""The core schema for values without a type. It notes those that may contain numbers to check."""


def _finished(schema: Any) -> Any:
    """Return *schema* with lists read up to the first invalid item, `UNTYPED` for untyped values, and `_NAME` in maps.

    The errors of further invalid items would take far more time than the items.
    """
    kind = schema["type"]
    if kind == "any":
        return UNTYPED
    if kind in _AS_THEY_ARE or (kind == "function-after" and schema["function"]["function"] is _note_untyped):
        return schema
    if schema.get("keys_schema") == {"type": "str"}:
        schema["keys_schema"] = _NAME
    boundless = kind == "float" and schema.get("allow_inf_nan", True)
    if boundless or (kind in _ITEMS and schema.get(_ITEMS[kind], _ANY)["type"] == "any"):
        return cs.no_info_after_validator_function(_note_untyped, schema)
    if kind == "list":
        schema["fail_fast"] = True
    for key in _WRAPPED:
        if key in schema:
            part = schema[key]
            schema[key] = [_finished(each) for each in part] if kind == "tuple" else _finished(part)
    if kind == "union":
        schema["choices"] = [
            (_finished(each[0]), *each[1:]) if isinstance(each, tuple) else _finished(each)
            for each in schema["choices"]
        ]
    return schema


_NAME: Any = {"type": "str", "serialization": {"type": "function-plain", "function": str.__str__, "when_used": "json"}}
"""A name in a map. `str.__str__` refuses names that are not strings, and lone surrogates are refused.

With the plain schema of a string, a lone surrogate would be written as another character, and None as a name.
"""

_AS_THEY_ARE = {"str", "int", "bool", "literal", "model", "definition-ref"}
"""Scalars, and classes, which are finished already."""

_ITEMS = {"list": "items_schema", "dict": "values_schema"}
_WRAPPED = ("schema", "items_schema", "values_schema", "lax_schema", "strict_schema")


def _apply(metadata: list[Any], member: dict[str, Any], holder: dict[str, Any]) -> None:
    inner = holder["schema"]
    rules = [mark for mark in metadata if isinstance(mark, Rule)]
    if LENIENT_OBJECT in metadata and inner["type"] in _VALIDATORS:
        # The rule must be outside of validators of a user, because `PydanticOmit` cannot pass through them.
        inner, rules = _in_validators(inner, lambda _: _object), [Rule.DEFAULT_ON_ERROR]
    for mark in metadata:
        if isinstance(mark, UntaggedUnless) and holder is not member:
            member["serialization_exclude_if"] = partial(operator.eq, holder["default"])
    if Rule.ABSENT in rules:
        inner = NOTHING
    if Rule.OMITTABLE in rules:
        inner = _in_validators(inner, _not_null)
    empty = dict if _bare(inner)["type"] == "dict" else list
    whole = inner
    if Rule.SKIP_INVALID_ITEMS in rules:
        inner = _in_validators(inner, _skipping_items)
    for mark in metadata:
        if isinstance(mark, When):
            inner = _unless(mark, inner, whole)
    if Rule.DEFAULT_ON_ERROR in rules:
        inner = _reading(_with_fallback(inner, holder), Rule.DEFAULT_ON_ERROR, else_by=inner)
    if Rule.DEFAULT_ON_NULL in rules:
        inner = _reading(_with_empty(inner, empty), Rule.DEFAULT_ON_NULL, else_by=inner)
    holder["schema"] = inner


_VALIDATORS = {"function-before", "function-after", "function-wrap"}


def _bare(schema: Any) -> Any:
    """Return the schema of a field without the validators of a user around it."""
    return _bare(schema["schema"]) if schema["type"] in _VALIDATORS else schema


def _in_validators(schema: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of *schema* with *change* applied to the `_bare` schema in it."""
    if schema["type"] in _VALIDATORS:
        return {**schema, "schema": _in_validators(schema["schema"], change)}
    return change(schema)


def _not_null(schema: Any) -> Any:
    return schema["schema"] if schema["type"] == "nullable" else schema


def _first_of(*choices: Any) -> Any:
    return {"type": "union", "choices": [*choices], "mode": "left_to_right"}


def _make_default(outer: dict[str, Any]) -> None:
    """Let pydantic-core create defaults, which avoids `deepcopy` of lists and calls of constructors."""
    if outer.get("default") in ([], {}):
        default = outer.pop("default")
        outer["default_factory"] = type(default)
        outer["metadata"] = {**outer.get("metadata", {}), "pydantic_js_updates": {"default": default}}
    elif str(getattr(outer.get("default_factory"), "__module__", None)).startswith("acp_bindings."):
        # codegen ensures that a default object is equal to the empty object when read.
        outer["default_factory"], outer["validate_default"] = dict, True


EXCUSED_BY = "acp_bindings_excused_by"
"""The key in the metadata of a schema for the rule by which it tolerates what its `strict_schema` refuses."""


def _reading(lenient: Any, rule: Rule, *, else_by: Any) -> Any:
    """Return a schema that reads messages by *lenient*. Constructors, `strict=True` and JSON schemas use *else_by*."""
    metadata = {EXCUSED_BY: rule.value, **described_by(lambda handler: handler(else_by))}
    return {
        "type": "lax-or-strict",
        "lax_schema": lenient,
        "strict_schema": else_by,
        "strict": False,
        "metadata": metadata,
    }


def _with_fallback(inner: Any, outer: dict[str, Any]) -> Any:
    """Return a schema that reads an invalid value as the default or as an empty list, or omits it."""
    factory = outer.get("default_factory", list if _bare(inner)["type"] == "list" else None)
    if factory:
        empty = _instead(factory)
        return _first_of(inner, cs.chain_schema([empty, inner]) if outer.get("validate_default") else empty)
    default = outer.get("default")
    return _first_of(inner, _NO_MEMBER if default is None else _instead(lambda: default))


def _instead(make: Callable[[], object]) -> Any:
    """Return a schema that reads an invalid value as the result of *make*, and notes that."""

    def excuse(_bad: object) -> object:
        notes[0] = object()
        return make()

    return {"type": "function-plain", "function": {"type": "no-info", "function": excuse}}


def _leave_out_item() -> Never:
    raise PydanticOmit


def _leave_out_member() -> Never:
    notes[1] = object()
    raise PydanticOmit


_NO_ITEM, _NO_MEMBER = _instead(_leave_out_item), _instead(_leave_out_member)

_object = cs.nullable_schema(cs.dict_schema(cs.str_schema(), cs.any_schema()))
LENIENT_OBJECT = Compiled(_finished(_reading(_with_fallback(_object, {}), Rule.DEFAULT_ON_ERROR, else_by=_object)))
"""The mark that makes `dict[str, Any] | None` a `Lenient[dict[str, Any] | None]` with the default None."""


def _with_empty(inner: Any, empty: Any) -> Any:
    """Return a schema that reads null as the empty list or map."""
    default = cs.with_default_schema(NOTHING, default_factory=empty, on_error="default")
    null = cs.chain_schema([cs.none_schema(), default])
    return cs.union_schema([(inner, VALUE), (null, NULL)], mode="left_to_right")


def _skipping_items(schema: Any) -> Any:
    """Return a copy of *schema*, of a list or a nullable list, that drops invalid items."""
    if schema["type"] == "nullable":
        return {**schema, "schema": _skipping_items(schema["schema"])}
    if schema["type"] != "list":  # a function of a user
        return schema
    items = schema["items_schema"]
    return {**schema, "items_schema": _reading(_first_of(items, _NO_ITEM), Rule.SKIP_INVALID_ITEMS, else_by=items)}


def _unless(mark: When, inner: Any, whole: Any) -> Any:
    """Return a schema that preserves values that *inner* refuses, unless *mark* requires them to be valid.

    It also preserves lists with items that *inner* would drop. *whole* is the same schema without dropping.
    """

    def check(value: Any, info: ValidationInfo) -> Any:
        # There is no data if a value is read separately to find its errors.
        beside = cast("dict[str, Any] | None", info.data)
        if beside is None or beside.get(mark.member) in mark.values:
            raise PydanticCustomError("bad_value", "not valid for this field here")
        return _note_untyped(value)

    free = cs.with_info_plain_validator_function(check, metadata=described_by(lambda _handler: {}))
    if whole is inner:
        return cs.union_schema([(inner, VALUE), (free, NULL)], mode="left_to_right")
    return cs.union_schema([(whole, NULL), (free, NULL), (inner, VALUE)], mode="left_to_right")


class Key(str):
    """The wire name of an unknown field that equals the name of an attribute (`mime_type` beside `mimeType`).

    Pydantic has one set for the names of all fields that were read, in which a plain string would mean the attribute.
    So the set contains a key. In the dict of unknown fields, `base.complete` replaces it by a plain string.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Return True for the same name of another object, but not for the plain string."""
        return isinstance(other, Key) and str.__eq__(self, other)

    def __hash__(self) -> int:
        """Return a hash that differs from that of the plain string."""
        return hash((Key, str(self)))


def _to_key(name: str) -> Key:
    notes[0] = notes[1] = object()
    return Key(name)


_TO_KEY = {"type": "no-info", "function": _to_key}
_STR = {"type": "str"}
