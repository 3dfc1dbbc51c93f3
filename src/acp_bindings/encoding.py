"""`encode` turns models into JSON by the writer's rules of the schema.

Values for which pydantic-core only issues a warning are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic_core import to_json

from acp_bindings._json import ANYTHING, LONGEST_INTEGER, refuse_long_integers, refuse_names
from acp_bindings._models.base import Model
from acp_bindings._models.fields import when_derived
from acp_bindings._writing import fit, may_have_maps, note_filled

__all__ = ["encode"]


def encode(value: object) -> bytes:
    """Return *value* as compact JSON in UTF-8.

    Omitted fields stay omitted and `null` stays `null`: only tags and fields that were read, set or filled are written.
    In a field without a type, such as `raw_input`, changes inside the default values of objects are ignored.

    Args:
        value: a model, or any JSON value with models in it.

    Raises:
        EncodeError: a model contains a value that its constructor would refuse, because a list or dict was changed in
            place; or *value* cannot be JSON: it contains NaN, an integer of over 4300 digits, a lone surrogate, or
            itself. `issues` has the errors with their paths.
    """
    try:
        if type(value) is str:
            return to_json(value)
        note_filled(value)
        write, has_maps = _WRITERS.get(type(value)) or _writer_of(value)
        text = write(value, by_alias=True, exclude_unset=True)
        if (has_maps or _BRACKET in text) and fit(value):
            text = write(value, by_alias=True, exclude_unset=True)
        refuse_names(text)
        if len(text) > LONGEST_INTEGER:
            refuse_long_integers(text)
    except (TypeError, ValueError, RecursionError):
        from acp_bindings._problems import refusals  # noqa: PLC0415 - only errors need it

        raise refusals.unencodable(value) from None
    return text


_BRACKET = b"["[0]
"""The first byte of every list. Python finds a number faster than a bytes object of length 1."""

# CPython registers here which warnings this module has issued. It cannot do so in a list, so that every warning raises
# `TypeError`. The option `warnings="error"` of pydantic-core takes longer than writing a small object. The list is
# empty because unittest replaces a registry with entries.
__warningregistry__: Any = []

_ERRORS: dict[str, Any] = {} if sys.implementation.name == "cpython" else {"warnings": "error"}
"""The options of pydantic-core that turn its warnings into errors."""


_Writer: TypeAlias = tuple[Callable[..., bytes], bool]

_WRITERS: dict[type, _Writer] = {}
"""The serializer of each class, and whether its values may have maps, so that `encode` needs only one lookup."""

when_derived.append(_WRITERS.clear)


def _writer_of(value: object) -> _Writer:
    serializer = value.__pydantic_serializer__ if isinstance(value, BaseModel) else ANYTHING
    write = partial(serializer.to_json, **_ERRORS) if _ERRORS else serializer.to_json
    has_maps = may_have_maps(type(value)) if isinstance(value, Model) else not isinstance(value, BaseModel)
    return _WRITERS.setdefault(type(value), (write, has_maps))
