"""JSON that came from elsewhere and may have any shape, looked into without asking each time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import SchemaSerializer, from_json
from pydantic_core import core_schema as cs


def members_of(value: Any) -> dict[str, Any]:
    """The members of an object; of anything else none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; of anything else none."""
    return [*cast("Iterable[Any]", value)] if isinstance(value, list) else []


ANYTHING = SchemaSerializer(cs.any_schema(), cs.CoreConfig(ser_json_inf_nan="constants"))
"""Serializes any JSON value, also with models in it."""


def write_unchecked(value: Any) -> bytes:
    """Return *value* as JSON, without checking it against the protocol."""
    return ANYTHING.to_json(value, by_alias=True, exclude_unset=True, warnings=False)


_N = b"N"[0]
"""The first letter of NaN, which is rare. That of Infinity is not: there is an "I" in every sessionId."""


def refuse_names(text: bytes | bytearray) -> None:
    """Refuse *text* that holds NaN or Infinity as a number.

    Raises:
        ValueError: it does, or it is not JSON at all.
    """
    # A byte is found ten times faster than a word, and `find` takes half as long as `in`.
    if (_N in text and text.find(b"NaN") >= 0) or text.find(b"Infinity") >= 0:
        from_json(text, allow_inf_nan=False)


LONGEST_INTEGER = 4300
"""How many digits are read."""


def refuse_long_integers(text: bytes) -> None:
    """Refuse *text* that holds an integer with more digits than are read.

    Raises:
        ValueError: it does.
    """
    # Of so many digits in a row every 400th are ten in a row. To look at each takes as long as to write them.
    if _TEN_DIGITS.search(text[::400]):
        from_json(text)


_TEN_DIGITS = re.compile(rb"\d{10}")


def refuse_read_names(text: bytes | bytearray) -> None:
    """The same, except for members that are not read because another of the same name follows.

    Raises:
        ValueError: it holds one elsewhere, or it is not JSON at all.
    """
    try:
        refuse_names(text)
    except ValueError:
        if not is_finite(from_json(text)):
            raise


def may_be_out_of_range(text: bytes | bytearray) -> bool:
    """Whether there is anything in *text* that looks like a number beyond the range of floats, such as `1e999`."""
    digits = text.translate(_DIGITS)
    suspect = digits.find(b"0e000") >= 0 or digits.find(_LONG) >= 0
    return suspect and re.search(_OUT_OF_RANGE, text) is not None


def refuse_infinite(value: object) -> None:
    """Refuse *value* if a number in it is NaN or infinite.

    Raises:
        ValueError: one is.
    """
    if not is_finite(value):
        raise ValueError("number out of range")


_DIGITS = bytes.maketrans(b"123456789+E", b"0000000000e")
_LONG = b"0" * 40
# Both begin where digits begin, so that no run of digits is gone through more than twice.
_OUT_OF_RANGE = rb"(?<!\d)(?:(?<![^:,\[\s-])\d++(?:\.\d++)?[eE]\+?\d{3}|\d{200})"


def is_finite(value: object) -> bool:
    """Whether all numbers in *value*, JSON or an object of the protocol, are finite."""
    waiting: list[Any] = [value]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, float) and not math.isfinite(each):
            return False
        if isinstance(each, BaseModel):
            if id(each) in seen:  # a user's validator has linked an object with what holds it
                continue
            seen.add(id(each))
            waiting += vars(each).values()
            each = each.model_extra
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
    return True


def full_name(cls: type) -> str:
    """The name of *cls*, with its protocol package if it has one."""
    package = package_of(cls.__module__)
    return f"{package}.{cls.__name__}" if package else cls.__name__


def kind_of(value: object) -> str:
    """The class of *value*, or that it is a class itself."""
    return f"the class {full_name(value)}" if isinstance(value, type) else full_name(type(value))


def package_of(module: str) -> str | None:
    """The protocol package that the module of this name is in, or is: `v1`, …; None for any other."""
    found = re.match(r"acp_bindings\.(v\d+(?:_unstable)?)(?:\.|$)", module)
    return found and found[1]
