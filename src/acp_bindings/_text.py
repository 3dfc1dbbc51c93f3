"""Reading text by a compiled schema, with what pydantic-core leaves to do: numbers to refuse, objects to complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from acp_bindings._model import complete
from acp_bindings._numbers import refuse_infinite, refuse_names
from acp_bindings._reading import omissions, untyped


class TextReader(Protocol):
    """Gives the object, or raises `ValueError`; *strict* is for the writer's rules."""

    def __call__(self, text: bytes | bytearray, /, strict: bool | None = None) -> Any: ...


def text_reader(validate: Callable[..., Any], *, by_classes: bool) -> TextReader:
    """What reads text by *validate*, a `validate_json`.

    Args:
        validate: raises `pydantic.ValidationError`, as the reader does then.
        by_classes: all that it reads without a type is in objects of our classes, which leave word of it.
    """

    def read(text: bytes | bytearray, strict: bool | None = None) -> Any:
        omitted, unread = omissions[0], untyped[0]
        value = validate(text, strict=strict)
        if _N in text or _I in text:
            refuse_names(text)
        if untyped[0] is not unread or not by_classes:
            refuse_infinite(text)
        if omissions[0] is not omitted:
            complete(value)
        return value

    return read


_N, _I = b"NI"  # as integers, which are found ten times faster than words
