"""The classes of the objects that an object may hold, at any depth, by its annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, get_args

from acp_bindings._models.base import Model


def reached_from(annotation: Any) -> set[type[Model]]:
    """Every class of models whose instances a value of the type *annotation* may be or hold, at any depth."""
    reached: set[type[Model]] = set()
    waiting = _classes_among(_within(annotation))
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += _classes_among(parts_of(each)) + _of_users(each)
    return reached


def _of_users(cls: type[Model]) -> list[type[Model]]:
    """The classes that users have derived from *cls*, whose objects may stand in its place."""
    return [each for each in type.__subclasses__(cls) if not each.__module__.startswith("acp_bindings.")]


@cache
def parts_of(cls: type[Model]) -> list[Any]:
    """The annotations of *cls* and all parts of them."""
    return [part for field in cls.__pydantic_fields__.values() for part in _within(field.annotation)]


def _within(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _within(part)


def _classes_among(parts: Iterable[Any]) -> list[type[Model]]:
    # `issubclass` with a class of pydantic runs Python.
    return [part for part in parts if isinstance(part, type) and Model in part.__mro__]
