"""Defaults that were filled or emptied in place, as by `request.additional_directories.append(…)`, are written too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias, cast

from acp_bindings._models.base import Model, when_derived
from acp_bindings._writing.reached import reached_from


def note_filled(value: object) -> None:
    """Count each default list, map or object in *value* that was filled in place as set, so that it is written."""
    fillable = _FILLABLE.get(type(value))
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
    """The same for the first object of a class, and for anything else but an object."""
    if isinstance(value, list | tuple):
        for each in cast("Iterable[object]", value):
            note_filled(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            note_filled(each)
    # Last, because `isinstance` with a class of pydantic runs Python.
    elif isinstance(value, Model):
        _FILLABLE[type(value)] = tuple(_fillable(type(value)))
        note_filled(value)


_Member: TypeAlias = tuple[str, object, bool]
"""A member that may be filled in place, or hold something that may:

- its name;
- its unfilled state, by `_unfilled`;
- whether what it holds may be filled.
"""

_FILLABLE: dict[type, tuple[_Member, ...]] = {}
"""Those of each class that was written, so that an object costs one look-up."""

when_derived.append(_FILLABLE.clear)


def _fillable(cls: type[Model]) -> Iterator[_Member]:
    for name, field in cls.__pydantic_fields__.items():
        # A default that depends on other members has no state to compare with: whatever is in it counts as filled.
        depends = field.default_factory_takes_validated_data
        default = None if depends else field.get_default(call_default_factory=True)
        is_deep = any(map(_has_fillable, reached_from(field.annotation)))
        if depends or is_deep or isinstance(default, _CONTAINERS):
            yield name, _unfilled(default), is_deep


@cache
def _has_fillable(cls: type[Model]) -> bool:
    """Whether members of *cls* itself have defaults that can be filled in place."""
    fields = cls.__pydantic_fields__.values()
    return any(field.default_factory is not None or isinstance(field.default, _CONTAINERS) for field in fields)


_CONTAINERS = (list, dict, Model)


def _unfilled(default: Any) -> object:
    """The state of *default* that changes when it is filled: of an object its set members. None if it cannot be."""
    if isinstance(default, Model):
        return default.__pydantic_fields_set__
    return cast("object", default) if isinstance(default, list | dict) else None
