"""What the constructor of a class takes, as `inspect.signature` and `help` tell it: its members, by keyword."""

from __future__ import annotations

from functools import cache
from inspect import Parameter, Signature
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_bindings._models.types import Unlike


def signature_of(instance: BaseModel | None, cls: type[BaseModel]) -> Signature:
    """What `__signature__` is of *cls*: required members first; defaults are shown as they read.

    Raises:
        AttributeError: an *instance* has none, because it cannot be called, nor a class with its own `__init__`.
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
    """Whether *cls* is a catch-all: it stands for what is newer than the schema, so that nobody knows its members."""
    return any(isinstance(mark, Unlike) for info in cls.__pydantic_fields__.values() for mark in info.metadata)


def _parameter(name: str, info: FieldInfo) -> Parameter:
    default = Parameter.empty if info.is_required() else _default(info)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=info.annotation)


def _default(info: FieldInfo) -> object:
    """What a member reads as. A user's own factory may do anything, and is not called for that."""
    made = info.default_factory
    if made is None or str(made.__module__).startswith("acp_bindings."):
        return info.get_default(call_default_factory=True)
    return _FACTORY


class _Factory:
    """Stands for a default that is made for each object."""

    def __repr__(self) -> str:
        """As pydantic shows it."""
        return "<factory>"


_FACTORY = _Factory()
