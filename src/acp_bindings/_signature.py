"""What the constructor of a class takes, as `inspect.signature` and `help` tell it: its members, by keyword."""

from __future__ import annotations

from functools import cache
from inspect import Parameter, Signature
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_bindings._types import Unlike


class _OfConstructor:
    """The signature of a model's constructor, worked out when somebody asks for it."""

    def __get__(self, instance: BaseModel | None, owner: type[BaseModel]) -> Signature:
        """Required members first; defaults are shown as they read.

        Raises:
            AttributeError: an instance has none, because it cannot be called, nor a class with its own `__init__`.
        """
        if instance is not None or not hasattr(owner.__init__, "__pydantic_base_init__"):
            raise AttributeError("__signature__")
        members = sorted(owner.__pydantic_fields__.items(), key=lambda member: not member[1].is_required())
        parameters = [_parameter(name, info) for name, info in members]
        if takes_anything(owner):
            parameters.append(Parameter("members", Parameter.VAR_KEYWORD, annotation=Any))
        return Signature(parameters, return_annotation=None)


# Pydantic declares a plain `Signature` where a descriptor does as well.
of_constructor: Any = _OfConstructor()


@cache
def takes_anything(cls: type[BaseModel]) -> bool:
    """Whether *cls* is for what is newer than the schema, so that nobody knows its members."""
    return any(isinstance(mark, Unlike) for info in cls.__pydantic_fields__.values() for mark in info.metadata)


def _parameter(name: str, info: FieldInfo) -> Parameter:
    default = Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=info.annotation)
