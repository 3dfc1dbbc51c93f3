"""Reading text by a compiled schema, with what pydantic-core leaves to do: numbers to refuse, objects to complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_bindings._model import complete
from acp_bindings._numbers import N, refuse_infinite, refuse_names
from acp_bindings._reading import omissions, untyped

TextReader = Callable[[bytes | bytearray], Any]
"""Gives the object, or raises `ValueError`."""


def text_reader(validate: Callable[[bytes | bytearray], Any], *, by_classes: bool) -> TextReader:
    """What reads text by *validate*, a `validate_json`.

    Args:
        validate: raises `pydantic.ValidationError`, as the reader does then.
        by_classes: all that it reads without a type is in objects of our classes, which leave word of it.
    """

    def read(text: bytes | bytearray) -> Any:
        omitted, unread = omissions[0], untyped[0]
        value = validate(text)
        if N in text or text.find(b"Infinity") >= 0:
            refuse_names(text)
        if untyped[0] is not unread or not by_classes:
            refuse_infinite(text)
        if omissions[0] is not omitted:
            complete(value)
        return value

    return read
