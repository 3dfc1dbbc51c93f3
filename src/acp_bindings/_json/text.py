"""Reading text by a compiled schema, with what pydantic-core leaves to do: numbers to refuse, objects to complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from acp_bindings._json.numbers import may_be_out_of_range, refuse_infinite, refuse_read_names
from acp_bindings._models.base import complete
from acp_bindings._models.reading import notes

Validate: TypeAlias = Callable[[bytes | bytearray], Any]
"""A `validate_json`: gives the object, or raises `ValueError`."""


def read_text(validate: Validate, text: bytes | bytearray) -> Any:
    """What *validate* reads in *text*, and what has to be done for it.

    `decode` and `Codec.read` have these lines too: a call would take a twentieth of their time.
    """
    odd, incomplete = notes
    value = validate(text)
    if notes[0] is not odd:
        look_again(text, value, incomplete)
    return value


def look_again(text: bytes | bytearray, value: object, incomplete: object) -> None:
    """Refuse *text* that was read as *value* although it is no JSON, or complete *value*.

    Args:
        text: what was read.
        value: what it was read as.
        incomplete: the second of the `notes` before.

    Raises:
        ValueError: a number in *text* is none of JSON, or none that Python has.
    """
    refuse_read_names(text)
    if may_be_out_of_range(text):
        refuse_infinite(value)
    if notes[1] is not incomplete:
        complete(value)


def unsure(validate: Validate) -> Validate:
    """The same as *validate*, where not all that it reads is in objects of the generated classes."""

    def read(text: bytes | bytearray) -> Any:
        value = validate(text)
        notes[0] = object()
        return value

    return read
