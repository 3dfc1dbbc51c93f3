"""Writing by compiled schemas, which is refused where pydantic-core alone would warn of what it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaSerializer, core_schema

# Python notes here which warnings of this module it has shown. Where it cannot, each of them is an error, whatever
# filters there are. To ask for errors by `warnings="error"` takes longer than to write a small object.
__warningregistry__: Any = []


def write(value: object) -> bytes:
    """*value* as JSON, by what its class was compiled to.

    Raises:
        TypeError: something in it is not what belongs there.
        ValueError: JSON cannot hold it.
        RecursionError: it nests too deeply.
    """
    to_json = _WRITERS.get(type(value)) or _writer_of(value)
    return to_json(value, by_alias=True, exclude_unset=True)


def write_unchecked(value: Any) -> bytes:
    """*value* as JSON, whatever the protocol says of it."""
    return _ANYTHING.to_json(value, by_alias=True, exclude_unset=True, warnings=False)


_ANYTHING = SchemaSerializer(core_schema.any_schema(), core_schema.CoreConfig(ser_json_inf_nan="constants"))

_WRITERS: dict[type, Callable[..., bytes]] = {}
"""What writes the objects of each class that has been written, so that an object costs one look-up."""


def _writer_of(value: object) -> Callable[..., bytes]:
    if not isinstance(value, BaseModel):
        return _ANYTHING.to_json
    return _WRITERS.setdefault(type(value), value.__pydantic_serializer__.to_json)
