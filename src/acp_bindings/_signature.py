"""What the constructor of a class takes, as `inspect.signature` and `help` tell it: its members, by keyword."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo


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
        return Signature([_parameter(name, info) for name, info in members], return_annotation=None)


# Pydantic declares a plain `Signature` where a descriptor does as well.
of_constructor: Any = _OfConstructor()


def _parameter(name: str, info: FieldInfo) -> Parameter:
    default = Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=info.annotation)
