"""Turns a text that was typed into the value that a JSON schema asks for; a text that does not fit is a `Fault`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_launch.command.explore.json_schema import Schema, alternatives, fixed_values, kind_of
from mcp_launch.command.explore.nearest import did_you_mean
from mcp_launch.command.explore.signature import short, type_text

__all__ = ["Fault", "json_value", "typed_value", "with_file"]


class Fault(ValueError):  # noqa: N818 - says what is wrong, and is always told with others like it
    """One mistake in what was typed."""


def typed_value(text: str, schema: object, root: Schema, *, called: str, checked: bool) -> Any:
    """The value that a text means for the argument `called`, whose *schema* is a part of *root*.

    Raises:
        Fault: the schema allows no such value; if it is not `checked`, the text stays a text.
    """
    choices = alternatives(schema, root)
    for choice in choices:
        for value in fixed_values(choice):
            if text == (value if isinstance(value, str) else json.dumps(value)):
                return value
    free = {kind_of(choice): choice for choice in reversed(choices) if not fixed_values(choice)}
    bracket = {"[": "array", "{": "object"}.get(text[:1])
    if bracket and bracket in free and ("string" not in free or _is_json(text)):
        return json_value(text, called=called)
    for kind, read in _READERS.items():
        if kind in free and (value := read(text)) is not _NONE:
            return value
    if "array" in free:
        item = free["array"].get("items", {})
        return [typed_value(text, item, root, called=called, checked=checked)]
    if None in free or not choices:
        return json_value(text, called=called) if _is_json(text) else text
    if not checked:
        return text
    values = [value for choice in choices for value in fixed_values(choice) if isinstance(value, str)]
    wants = type_text(schema, root)
    example = f""", such as {called}:='{{"name": "value"}}'""" if wants == "object" else ""
    raise Fault(f"{called}: must be {wants}{example}, not {short(text)}{did_you_mean(text, values)}")


def json_value(text: str, *, called: str) -> Any:
    """The JSON value of a text, or of the file that `@FILE` names.

    Raises:
        Fault: there is none.
    """
    text = with_file(text, called=called)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Fault(f"{called}: not JSON at character {error.pos + 1}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise Fault(f"{called}: not JSON: a number or a nesting beyond what can be read") from None


def with_file(text: str, *, called: str) -> str:
    """The text, or what is in the file that `@FILE` names.

    Raises:
        Fault: it cannot be read.
    """
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise Fault(f"{called}: {text[1:]}: {why}") from None


_NONE = object()
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _integer(text: str) -> Any:
    # Longer ones would be refused by Python, and are no numbers that anybody types.
    return int(text) if re.fullmatch(r"[+-]?\d{1,1000}", text, re.ASCII) else _NONE


def _number(text: str) -> Any:
    if (whole := _integer(text)) is not _NONE:
        return whole
    if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) and math.isfinite(float(text)):
        return float(text)
    return _NONE


def _boolean(text: str) -> Any:
    return _TRUTH.get(text.lower(), _NONE)


def _null(text: str) -> Any:
    return None if text == "null" else _NONE


def _string(text: str) -> Any:
    return text


# In this order: where text is allowed, it is text.
_READERS: dict[str, Callable[[str], Any]] = {
    "string": _string,
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> float:
    raise ValueError(name)
