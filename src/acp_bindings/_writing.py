"""Prepares objects for writing: counts filled defaults and discriminators as set, and checks lists and maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings._models.embedding import AcpObject
from acp_bindings._models.fields import generated, objects_in, parts_of, tags_of, when_derived
from acp_bindings._models.types import FirstMatch, Rule, Tagged


def reached_from(annotation: Any) -> set[type[AcpObject]]:
    """Return all model classes that may occur in a value of the type *annotation*, at any depth."""
    reached: set[type[AcpObject]] = set()
    waiting = _classes_among(parts_of(annotation))
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += _classes_among(_annotations_in(each)) + _of_users(each)
    return reached


def _of_users(cls: type[AcpObject]) -> list[type[AcpObject]]:
    """Return the classes that users have derived from *cls*. Their objects may replace objects of *cls*."""
    return [each for each in type.__subclasses__(cls) if not each.__module__.startswith("acp_bindings.")]


@cache
def _annotations_in(cls: type[AcpObject]) -> list[Any]:
    """Return the annotations of *cls* and all parts of them."""
    return [part for field in cls.__pydantic_fields__.values() for part in parts_of(field.annotation)]


def _classes_among(parts: Iterable[Any]) -> list[type[AcpObject]]:
    # `issubclass` with a class of pydantic runs Python.
    return [part for part in parts if isinstance(part, type) and AcpObject in part.__mro__]


def note_filled(value: object) -> None:
    """Count each default list, map or object in *value* as set if it was filled in place, so that it is written."""
    fillable = _FILLABLE.get(type(value))
    if not fillable:
        if fillable is None:
            _note_first(value)
        return
    model: Any = value
    members: dict[str, object] = model.__dict__
    for name, unfilled, is_deep in fillable:
        held = members.get(name)
        if not held and not unfilled:
            continue
        if is_deep and _FILLABLE.get(type(held), True):
            note_filled(held)
        if name not in model.__pydantic_fields_set__ and _unfilled(held) != unfilled:
            model.__pydantic_fields_set__.add(name)


def _note_first(value: object) -> None:
    """Do the same for the first object of a class, and for values that are not objects."""
    if isinstance(value, list | tuple):
        for each in cast("Iterable[object]", value):
            note_filled(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            note_filled(each)
    elif isinstance(value, AcpObject):
        _FILLABLE[type(value)] = tuple(_fillable(type(value)))
        note_filled(value)
    else:
        _FILLABLE[type(value)] = ()


_FilledField: TypeAlias = tuple[str, object, bool]
"""A field that may be filled in place, or contain something that may:

- its name;
- its unfilled state, by `_unfilled`;
- True if its value may contain something that can be filled.
"""

_FILLABLE: dict[type, tuple[_FilledField, ...]] = {}
"""The fields of each class that was written, so that an object needs only one look-up."""

when_derived.append(_FILLABLE.clear)


def _fillable(cls: type[AcpObject]) -> Iterator[_FilledField]:
    for name, field in cls.__pydantic_fields__.items():
        # A default that depends on other fields has no state to compare with, so any content counts as filled.
        depends = field.default_factory_takes_validated_data
        default = None if depends else field.get_default(call_default_factory=True)
        is_deep = any(map(_has_fillable, reached_from(field.annotation)))
        if depends or is_deep or isinstance(default, _CONTAINERS):
            yield name, _unfilled(default), is_deep


@cache
def _has_fillable(cls: type[AcpObject]) -> bool:
    """Return True if fields of *cls* itself have defaults that can be filled in place."""
    fields = cls.__pydantic_fields__.values()
    return any(field.default_factory is not None or isinstance(field.default, _CONTAINERS) for field in fields)


_CONTAINERS = (list, dict, AcpObject)


def _unfilled(default: Any) -> object:
    """Return the state of *default* that filling changes, for an object its set fields. None if it cannot be filled."""
    if isinstance(default, AcpObject):
        return default.__pydantic_fields_set__
    return cast("object", default) if isinstance(default, list | dict) else None


def fit(value: object) -> bool:
    """Check the lists and maps in *value*, and count the discriminators of the objects in them as set.

    Returns:
        True if a discriminator was not counted before, so that text written earlier lacks it.

    Raises:
        ValueError: a list or map has an invalid item.
    """
    plan = _PLANS.get(type(value))
    if plan is None:
        return _fit_first(value)
    return _fit_members(value, plan) if plan else False


def _fit_members(model: Any, plan: tuple[_Member, ...]) -> bool:
    members: dict[str, Any] = model.__dict__
    changed = False
    for name, kinds, least, is_deep in plan:
        held = members.get(name)
        if held is None:
            continue
        kind = held.__class__
        if kind is list or kind is dict:
            parts: Iterable[object] = held if kind is list else held.values()
            if kinds is not None and not (kinds and kinds.issuperset(map(type, parts)) and len(held) >= least):
                _check(model, name, kinds)
            if is_deep and _fit_parts(parts):
                changed = True
        elif (below := _PLANS.get(kind)) is None:
            changed |= _fit_first(held)
        elif below:
            changed |= _fit_members(held, below)
    return changed


_Member: TypeAlias = tuple[str, frozenset[type] | None, int, bool]
"""A field that may be a list or a map, or contain one:

- its name;
- its kinds, the classes that need no further check, because all their instances are valid items. None if any item is
  valid, empty if every item needs a closer look;
- the minimum number of items;
- True if its items may contain lists or maps, or have a discriminator.
"""

_PLANS: dict[type, tuple[_Member, ...]] = dict.fromkeys((str, bool, int, float, NoneType), ())
"""The fields to check in each class, so that an object needs only one look-up."""

_TAGS: dict[type, frozenset[str]] = {}
"""The discriminator fields of each model class in `_PLANS`."""


def _forget() -> None:
    may_have_maps.cache_clear()
    for cls in _TAGS.copy():
        _PLANS.pop(cls, None)


when_derived.append(_forget)


def _fit_first(value: object) -> bool:
    """Do the same for the first object of a class, or for a value that is not an object."""
    if isinstance(value, list | tuple):
        return _fit_parts(cast("Iterable[object]", value))
    if isinstance(value, dict):
        return _fit_parts(cast("dict[str, object]", value).values())
    if isinstance(value, AcpObject):
        _TAGS[type(value)] = frozenset(tags_of(type(value)))
        _PLANS[type(value)] = tuple(_members(type(value)))
        return fit(value)
    return False


def _fit_parts(parts: Iterable[object]) -> bool:
    changed = False
    for part in parts:
        kind = type(part)
        if (plan := _PLANS.get(kind)) is None:
            changed |= _fit_first(part)
        elif plan:
            changed |= _fit_members(part, plan)
        if (tags := _TAGS.get(kind)) and not tags <= cast("AcpObject", part).__pydantic_fields_set__:
            cast("AcpObject", part).__pydantic_fields_set__.update(tags)
            changed = True
    return changed


def _check(model: AcpObject, name: str, kinds: frozenset[type]) -> None:
    """Refuse the value of the field *name* if the constructor would not accept it.

    A field that a user has defined may have validators that do not accept their own results. Only the classes of the
    objects in it are checked.

    Raises:
        ValueError: an item is not valid.
    """
    held = vars(model)[name]
    if not _is_ours(type(model), name):
        if any(isinstance(part, AcpObject) and not isinstance(part, tuple(kinds)) for part in held):
            raise ValueError("an object of another class")
        return
    taken = _validator(type(model), name).validate_python(held, strict=True)
    if any(made is not given for given, made in objects_in(held, taken)):
        raise ValueError("a dict in place of an object")


@cache
def _validator(cls: type[AcpObject], name: str) -> SchemaValidator:
    schema: Any = cls.__pydantic_core_schema__
    definitions: list[Any] = []
    while schema["type"] != "model-fields":
        definitions += schema.get("definitions", ())
        if schema["type"] == "definition-ref":
            schema = next(each for each in definitions if each["ref"] == schema["schema_ref"])
        else:
            schema = schema["schema"]
    member = schema["fields"][name]["schema"]
    return SchemaValidator(cs.definitions_schema(member, definitions))


@cache
def may_have_maps(cls: type[AcpObject]) -> bool:
    """Return True if objects of *cls* may contain a map, at any depth. Maps with arbitrary JSON values do not count."""
    return any(map(_has_maps, reached_from(cls)))


@cache
def _has_maps(cls: type[AcpObject]) -> bool:
    return any(get_origin(part) is dict and _kinds(part) is not None for part in _annotations_in(cls))


def _members(cls: type[AcpObject]) -> Iterator[_Member]:
    for name, info in cls.__pydantic_fields__.items():
        kinds = _kinds(info.annotation)
        kinds = kinds if kinds or _is_ours(cls, name) else None
        below = reached_from(info.annotation)
        is_deep = any(tags_of(each) or _has_lists(each) for each in below)
        if kinds is not None or any(map(_has_lists, below)):
            yield name, kinds, _least(info), is_deep


def _is_ours(cls: type[AcpObject], name: str) -> bool:
    """Return True if the field *name* is unchanged from the generated class, which is *cls* or a base of it."""
    own = generated(cls).__pydantic_fields__.get(name)
    return own is not None and own.annotation == cls.__pydantic_fields__[name].annotation


def _least(info: FieldInfo) -> int:
    """Return the minimum number of items; 0 if decoding may have dropped some, because the rest is written back."""
    if any(isinstance(mark, Rule) for mark in info.metadata):
        return 0
    return max((getattr(mark, "min_length", None) or 0 for mark in info.metadata), default=0)


@cache
def _has_lists(cls: type[AcpObject]) -> bool:
    """Return True if fields of *cls* itself are lists or maps to check."""
    return any(_kinds(field.annotation) is not None for field in cls.__pydantic_fields__.values())


def _kinds(annotation: Any) -> frozenset[type] | None:
    """Return the kinds of a `_Member`; None also if *annotation* has neither a list nor a map.

    Strings with a fixed set of values, numbers in a range, and maps need a closer look.
    """
    holders = [part for part in _alternatives(annotation) if get_origin(part) in (list, dict)]
    if not holders or any(Any in get_args(holder) for holder in holders):
        return None
    if len(holders) > 1 or get_origin(holders[0]) is dict:
        return frozenset()
    kinds = [kind for kind in _alternatives(get_args(holders[0])[0]) if get_origin(kind) is not Literal]
    return frozenset(kinds) if all(map(_is_sure, kinds)) else frozenset()


def _is_sure(kind: Any) -> bool:
    """Return True if every instance of *kind* is valid."""
    return kind in (str, bool, int, NoneType) or (isinstance(kind, type) and issubclass(kind, AcpObject))


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the variants of a union. Other annotations, such as bounds, are yielded as well."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        for each in get_args(annotation):
            yield from _alternatives(each)
    elif origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
        yield from (mark for mark in annotation.__metadata__ if not isinstance(mark, Tagged | FirstMatch))
    else:
        yield annotation
