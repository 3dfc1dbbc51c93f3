"""What was filled in place since a model was made, as by `request.additional_directories.append(…)`, is written too."""

from __future__ import annotations

from functools import cache
from typing import Any, cast, get_args

from acp_bindings._model import Model


def note_filled(value: object) -> None:
    """Count as set each default list or object in *value* that was filled in place, so that it is written."""
    if isinstance(value, Model):
        if fillable := _fillable(type(value)):
            members, known = vars(value), value.__pydantic_fields_set__
            for name, default in fillable:
                if held := members.get(name):
                    note_filled(held)
                    if name not in known and _differs(held, default):
                        known.add(name)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            note_filled(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            note_filled(each)


def _differs(held: Any, default: object) -> bool:
    """Whether *held* was filled since it was the *default*; of an object it is enough to see what is set."""
    if isinstance(held, Model) and isinstance(default, Model):
        return held.__pydantic_fields_set__ != default.__pydantic_fields_set__
    return bool(held != default)


@cache
def _fillable(cls: type[Model]) -> list[tuple[str, object]]:
    """The members of *cls*, with their defaults, that are or may hold a default that can be filled in place."""
    return [
        (name, default)
        for name, default in _defaults(cls)
        if isinstance(default, _CONTAINERS)
        or any(isinstance(inner, _CONTAINERS) for each in _reached(cls, name) for _, inner in _defaults(each))
    ]


_CONTAINERS = (list, dict, Model)


def _defaults(cls: type[Model]) -> list[tuple[str, object]]:
    fields = cls.__pydantic_fields__
    return [(name, field.get_default(call_default_factory=True)) for name, field in fields.items()]


def _reached(cls: type[Model], name: str) -> set[type[Model]]:
    """Every class whose instances may be found below the member *name* of *cls*."""
    reached: set[type[Model]] = set()
    waiting: list[Any] = [cls.__pydantic_fields__[name].annotation]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, type):
            waiting += get_args(each)
        elif issubclass(each, Model) and each not in reached:
            reached.add(each)
            waiting += (field.annotation for field in each.__pydantic_fields__.values())
    return reached
