"""Facts about the fields of a class, worked out once for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from inspect import Parameter, Signature
from typing import Any, cast, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_bindings._models.embedding import AcpObject
from acp_bindings._models.types import DefaultUnless, NotEnum, Rule, When


@cache
def tags_of(cls: type[BaseModel]) -> dict[str, str]:
    """Return the tags of *cls* by field name. They count as set, and so are written, although you do not pass them."""
    return {name: info.default for name, info in cls.__pydantic_fields__.items() if is_tag(info)}


def is_tag(info: FieldInfo) -> bool:
    """Return True if the field has one possible value, which is always written."""
    return (
        isinstance(info.default, (str, int))
        and get_args(info.annotation) == (info.default,)
        and not any(isinstance(mark, DefaultUnless) for mark in info.metadata)
    )


@cache
def omittable(cls: type[BaseModel]) -> frozenset[str]:
    """Return the names of the fields that None omits."""
    return frozenset(name for name, info in cls.__pydantic_fields__.items() if Rule.OMITTABLE in info.metadata)


def generated(cls: type[BaseModel]) -> type[BaseModel]:
    """Return *cls* itself or, for a class of a user, the generated class that it is derived from."""
    ours = (each for each in cls.__mro__ if each.__module__.startswith("acp_bindings."))
    return cast("type[BaseModel]", next(ours))


def parts_of(annotation: Any) -> Iterator[Any]:
    """Yield *annotation* and all parts of it."""
    yield annotation
    for part in get_args(annotation):
        yield from parts_of(part)


@cache
def due(cls: type[BaseModel]) -> frozenset[str]:
    """Return the required fields to which a class of a user gives a default. They always count as set."""
    required = {name for name, info in generated(cls).__pydantic_fields__.items() if info.is_required()}
    fields = cls.__pydantic_fields__
    # A `ClassVar` may have replaced a field.
    return frozenset(name for name in required & fields.keys() if not fields[name].is_required())


@cache
def dependent_on(cls: type[BaseModel], name: str) -> frozenset[str]:
    """Return the fields that have their type only for some values of the field *name* (`When`)."""
    marks = ((each, mark) for each, info in cls.__pydantic_fields__.items() for mark in info.metadata)
    return frozenset(each for each, mark in marks if isinstance(mark, When) and mark.member == name)


def signature_of(instance: BaseModel | None, cls: type[BaseModel]) -> Signature:
    """Return the `__signature__` of *cls*, with the required fields first.

    Raises:
        AttributeError: there is an *instance*, which cannot be called, or the class has its own `__init__`.
    """
    if instance is not None or not hasattr(cls.__init__, "__pydantic_base_init__"):
        raise AttributeError("__signature__")
    members = sorted(cls.__pydantic_fields__.items(), key=lambda member: not member[1].is_required())
    parameters = [_parameter(name, info) for name, info in members]
    if takes_anything(cls):
        parameters.append(Parameter("members", Parameter.VAR_KEYWORD, annotation=Any))
    return Signature(parameters, return_annotation=None)


@cache
def takes_anything(cls: type[BaseModel]) -> bool:
    """Return True if *cls* is a catch-all for values newer than the schema, whose fields are not known."""
    return any(isinstance(mark, NotEnum) for info in cls.__pydantic_fields__.values() for mark in info.metadata)


def _parameter(name: str, info: FieldInfo) -> Parameter:
    default = Parameter.empty if info.is_required() else _default(info)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=info.annotation)


def _default(info: FieldInfo) -> object:
    made = info.default_factory
    # A factory of a user is not called for a signature.
    if made is None or str(made.__module__).startswith("acp_bindings."):
        return info.get_default(call_default_factory=True)
    return _FACTORY


class _Factory:
    """The placeholder for a default that is made for each object."""

    def __repr__(self) -> str:
        """Return the same text as pydantic."""
        return "<factory>"


_FACTORY = _Factory()


def objects_in(given: Any, held: Any) -> Iterator[tuple[Any, AcpObject]]:
    """Yield each object in *held* after the value in *given* from which it was made, or after itself."""
    waiting: list[tuple[Any, Any]] = [(given, held)]
    while waiting:
        given, held = waiting.pop()
        if isinstance(held, AcpObject):
            yield given, held
        elif held is given:
            continue
        elif isinstance(held, list):
            waiting += zip(given, held, strict=True)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(held, dict):
            waiting += ((given[key], each) for key, each in cast("dict[str, Any]", held).items())


when_derived: list[Callable[[], object]] = []
"""Functions that clear caches. They are called when a user derives a class from a generated one."""
