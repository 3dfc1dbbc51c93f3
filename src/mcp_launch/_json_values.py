"""Reads JSON whose shape nobody has checked yet.

`acp_bindings` has two of these functions too, for itself alone: reading a config does without that package.
"""

from __future__ import annotations

from typing import Any, cast


def as_members(value: Any) -> dict[str, Any]:
    """The members of an object; none of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_items(value: Any) -> list[Any]:
    """The items of an array; none of anything else."""
    match value:
        case [*items]:
            return items
        case _:
            return []


def texts(values: Any) -> list[str]:
    """The texts of an array; none of anything else."""
    return [each for each in as_items(values) if isinstance(each, str)]


def is_empty(value: Any) -> bool:
    """Whether a member with this value means the same as no member: null, or an empty text, array or object."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def kind_of(value: Any) -> str:
    """What kind of value it is, in words for people."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dict():
            return "a map"
        case _:
            return "an array"
