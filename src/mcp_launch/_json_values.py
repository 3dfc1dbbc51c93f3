"""Access JSON values of unknown shape.

`acp_bindings._json` has similar functions, but imports pydantic, which reading a config does not need.
"""

from __future__ import annotations

import json
from typing import Any, cast

_GROWTH = 4
"""How many times the length of JSON may grow by indentation, which also depends on the depth."""
_ALWAYS = 1_000_000
"""The length up to which JSON is always indented."""


def as_members(value: Any) -> dict[str, Any]:
    """Return the members of an object; an empty dict for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_items(value: Any) -> list[Any]:
    """Return the items of an array; an empty list for any other value."""
    match value:
        case [*items]:
            return items
        case _:
            return []


def texts(values: Any) -> list[str]:
    """Return the strings in an array; an empty list for any other value."""
    return [each for each in as_items(values) if isinstance(each, str)]


def is_empty(value: Any) -> bool:
    """Return True if a field with this value means the same as a missing one: null or empty."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def at_pointer(pointer: str, root: Any) -> Any:
    """Return the value at a JSON pointer, such as `/$defs/Item`; None if there is none."""
    found = root
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        items = as_items(found)
        found = items[int(name)] if name.isdecimal() and int(name) < len(items) else as_members(found).get(name)
    return found


def indented(value: Any, **options: Any) -> str:
    """Return the JSON of a value with indentation, or on one line if that is far shorter, as for deep nesting.

    Otherwise a value of a server with a megabyte could become hundreds of them. *options* are those of `json.dumps`.
    """
    flat = json.dumps(value, **options)
    most, parts, size = _ALWAYS + _GROWTH * len(flat), list[str](), 0
    for part in json.JSONEncoder(indent=2, **options).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > most:
            return flat
    return "".join(parts)


def kind_of(value: Any) -> str:
    """Return the kind of a value in words, for messages."""
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
