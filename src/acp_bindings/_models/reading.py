"""Works the reading rules of a class into the core schema that pydantic made of it."""

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

# Core schemas are dictionaries of many shapes, so their type is `Any` here. Those of which every class has many are
# written as dictionaries: the functions of `core_schema` take time, and the first message would pay for it.


def apply_rules(fields: dict[str, FieldInfo], members: dict[str, Any]) -> None:
    """Change *members*, the core schemas of *fields*, in place: they follow the rules that mark the fields."""
    for name, info in fields.items():
        member = members[name]
        holder = member["schema"] if member["schema"]["type"] == "default" else member
        if holder is not member:
            _make_default(holder)
        if info.metadata:
            _apply(info.metadata, member, holder)
        holder["schema"] = _finished(holder["schema"])


def keys_unlike(names: list[str]) -> Any:
    """The schema for names of unknown members: one that is spelt as an attribute, in *names*, must not pass for it."""
    like = {"type": "function-after", "function": _TO_KEY, "schema": {"type": "literal", "expected": names}}
    return _first_of(like, _STR)


def counting(members: Any, names: Iterable[str]) -> Any:
    """The schema *members* of all members, by which those with these *names* count as set whatever was read."""

    def count(read: tuple[object, object, set[str]]) -> object:
        read[2].update(names)
        return read

    return cs.no_info_after_validator_function(count, members)


def leaving_out(members: Any, names: set[str]) -> Any:
    """The schema *members* of all members, by which unknown ones with these *names*, which a class computes, are lost.

    Otherwise they would be written beside what is computed.
    """

    def leave_out(read: tuple[object, dict[str, object] | None, set[str]]) -> object:
        _, unknown, given = read
        for name in names.intersection(unknown or ()):
            del cast("dict[str, object]", unknown)[name]
            given.discard(name)
        return read

    return cs.no_info_after_validator_function(leave_out, members)


notes = [object(), object()]
"""Two signs for whoever reads: each is replaced by a new object when there is something to look at again.

The first is for all that is odd: a rule excused a bad value, or a value of no type, such as an unknown member, may hold
a number that JSON or Python does not have. The second is for those of them that leave an object incomplete: a bad
member was left out, or an unknown one has not got its own name yet.

All threads share them. Each compares a sign before and after it reads; another thread's makes it look once more, in
vain. Counters would lose some, since counting takes two steps.
"""


def _note_untyped(value: Any) -> Any:
    if value.__class__ not in _FINITE and not _is_surely_finite(value):
        notes[0] = object()
    return value


_FINITE = frozenset({str, int, bool, type(None)})


def _is_surely_finite(value: Any, few: int = 10) -> bool:
    """Whether it is certain that no number in *value* is NaN or infinite.

    Most tool inputs are small, and take less time than their text. Large ones take more, so that this gives up where
    there are more than a *few* lists, objects and floats, side by side or in one another.
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

# A core schema of finite JSON would do without Python, but its union tries each kind for each value: of a small tool
# input it takes three times as long, of a long list of numbers nine times.
UNTYPED = cs.no_info_after_validator_function(_note_untyped, _ANY)
"""The core schema for values of no type. It notes those that may hold odd numbers."""


def _finished(schema: Any) -> Any:
    """*schema*, with lists read up to their first bad item, values of no type by `UNTYPED`, names in maps by `_NAME`.

    The errors of further bad items would take far more time than the items.
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
"""A name in a map: it is written as it is, or refused where it is no text (by `str.__str__`) or half a surrogate pair.

By the plain schema of a text that half would be written as another character, and None as a name.
"""

_AS_THEY_ARE = {"str", "int", "bool", "literal", "model", "definition-ref"}
"""Scalars, and classes, which have been gone through already."""

_ITEMS = {"list": "items_schema", "dict": "values_schema"}
_WRAPPED = ("schema", "items_schema", "values_schema", "lax_schema", "strict_schema")


def _apply(metadata: list[Any], member: dict[str, Any], holder: dict[str, Any]) -> None:
    inner = holder["schema"]
    rules = [mark for mark in metadata if isinstance(mark, Rule)]
    if LENIENT_OBJECT in metadata and inner["type"] in _VALIDATORS:
        # The rule belongs around a validator of a user's own, which cannot be left by what a member is left out by.
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
    """The schema of a member within the validators that a user's class has for it."""
    return _bare(schema["schema"]) if schema["type"] in _VALIDATORS else schema


def _in_validators(schema: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of *schema* with what *change* makes of the `_bare` schema in it."""
    if schema["type"] in _VALIDATORS:
        return {**schema, "schema": _in_validators(schema["schema"], change)}
    return change(schema)


def _not_null(schema: Any) -> Any:
    return schema["schema"] if schema["type"] == "nullable" else schema


def _first_of(*choices: Any) -> Any:
    return {"type": "union", "choices": [*choices], "mode": "left_to_right"}


def _make_default(outer: dict[str, Any]) -> None:
    """Have defaults made by pydantic-core: otherwise lists are copied by Python's `deepcopy`, and constructors run."""
    if outer.get("default") in ([], {}):
        default = outer.pop("default")
        outer["default_factory"] = type(default)
        outer["metadata"] = {**outer.get("metadata", {}), "pydantic_js_updates": {"default": default}}
    elif str(getattr(outer.get("default_factory"), "__module__", None)).startswith("acp_bindings."):
        # A default object is what the empty object reads as; codegen sees to that.
        outer["default_factory"], outer["validate_default"] = dict, True


EXCUSED_BY = "acp_bindings_excused_by"
"""The key in the metadata of a schema for the rule by which it excuses what its `strict_schema` refuses."""


def _reading(lenient: Any, rule: Rule, *, else_by: Any) -> Any:
    """A schema that reads messages by *lenient*; constructors, `strict=True` and JSON schemas go by *else_by*."""
    metadata = {EXCUSED_BY: rule.value, **described_by(lambda handler: handler(else_by))}
    return {
        "type": "lax-or-strict",
        "lax_schema": lenient,
        "strict_schema": else_by,
        "strict": False,
        "metadata": metadata,
    }


def _with_fallback(inner: Any, outer: dict[str, Any]) -> Any:
    """A schema that reads a bad value as the default or as an empty list, or else as if it were omitted."""
    factory = outer.get("default_factory", list if _bare(inner)["type"] == "list" else None)
    if factory:
        empty = _instead(factory)
        return _first_of(inner, cs.chain_schema([empty, inner]) if outer.get("validate_default") else empty)
    default = outer.get("default")
    return _first_of(inner, _NO_MEMBER if default is None else _instead(lambda: default))


def _instead(make: Callable[[], object]) -> Any:
    """A schema that reads a bad value as what *make* returns, and notes that it was bad."""

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
    """A schema that reads null as the empty list or map."""
    default = cs.with_default_schema(NOTHING, default_factory=empty, on_error="default")
    null = cs.chain_schema([cs.none_schema(), default])
    return cs.union_schema([(inner, VALUE), (null, NULL)], mode="left_to_right")


def _skipping_items(schema: Any) -> Any:
    """A copy of *schema*, of a list or a nullable list, that leaves bad items out."""
    if schema["type"] == "nullable":
        return {**schema, "schema": _skipping_items(schema["schema"])}
    if schema["type"] != "list":  # but a function of a user's own that reads the whole
        return schema
    items = schema["items_schema"]
    return {**schema, "items_schema": _reading(_first_of(items, _NO_ITEM), Rule.SKIP_INVALID_ITEMS, else_by=items)}


def _unless(mark: When, inner: Any, whole: Any) -> Any:
    """A schema that keeps what *inner* refuses as it is, unless *mark* says that it has to fit.

    A value with items that *inner* would leave out is kept whole, too: *whole* is the same schema that leaves out none.
    """

    def check(value: Any, info: ValidationInfo) -> Any:
        # There are no data where a value is read alone, to tell what is wrong with it.
        beside = cast("dict[str, Any] | None", info.data)
        if beside is None or beside.get(mark.member) in mark.values:
            raise PydanticCustomError("bad_value", "not valid for this field here")
        return _note_untyped(value)

    free = cs.with_info_plain_validator_function(check, metadata=described_by(lambda _handler: {}))
    if whole is inner:
        return cs.union_schema([(inner, VALUE), (free, NULL)], mode="left_to_right")
    return cs.union_schema([(whole, NULL), (free, NULL), (inner, VALUE)], mode="left_to_right")


class Key(str):
    """The wire name of an unknown member that is spelt as an attribute (`mime_type` beside `mimeType`).

    Pydantic has one set for the names of all that was read, known or not, and would take a plain text there for the
    attribute. So the set keeps this; among the unknown members `base.complete` replaces it by the plain text.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Equal to the same name of another object, but not to the text itself."""
        return isinstance(other, Key) and str.__eq__(self, other)

    def __hash__(self) -> int:
        """Another than the hash of the text, so that no set takes one for the other."""
        return hash((Key, str(self)))


def _to_key(name: str) -> Key:
    notes[0] = notes[1] = object()
    return Key(name)


_TO_KEY = {"type": "no-info", "function": _to_key}
_STR = {"type": "str"}
