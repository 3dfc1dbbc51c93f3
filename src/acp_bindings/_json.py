"""Helpers for JSON of any shape, and checks of numbers that JSON or Python does not allow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import SchemaSerializer, from_json
from pydantic_core import core_schema as cs


def members_of(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object, otherwise an empty dict."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def parsed_members(text: bytes | bytearray) -> dict[str, Any]:
    """Return the members of the JSON object in *text*, none if it is something else."""
    try:
        return members_of(from_json(text))
    except ValueError:
        return {}


def items_of(value: Any) -> list[Any]:
    """Return the items of *value* if it is a list, otherwise an empty list."""
    return [*cast("Iterable[Any]", value)] if isinstance(value, list) else []


def pairs_of(value: Any) -> Iterator[tuple[int, str, str]]:
    """Yield index, name and value of each `{"name": …, "value": …}` in a list, or of a map in place of one."""
    mapped = [{"name": name, "value": each} for name, each in members_of(value).items()]
    for index, each in enumerate(mapped or items_of(value)):
        match each:
            case {"name": str(name), "value": str(given)}:
                yield index, name, given
            case _:
                pass


ANYTHING = SchemaSerializer(cs.any_schema(), cs.CoreConfig(ser_json_inf_nan="constants"))
"""Serializes any JSON value, also with models in it."""


def write_unchecked(value: Any) -> bytes:
    """Return *value* as JSON, without checking it against the protocol."""
    return ANYTHING.to_json(value, by_alias=True, exclude_unset=True, warnings=False)


_N = b"N"[0]
"""The first letter of NaN, which is rare. "I" is not, because every message has a sessionId."""


def refuse_names(text: bytes | bytearray) -> None:
    """Refuse *text* with NaN or Infinity as a number.

    Raises:
        ValueError: *text* contains one, or is not JSON.
    """
    # A byte is found ten times faster than a string, and `find` takes half as long as `in`.
    if (_N in text and text.find(b"NaN") >= 0) or text.find(b"Infinity") >= 0:
        from_json(text, allow_inf_nan=False)


LONGEST_INTEGER = 4300
"""The maximum number of digits of an integer."""


def refuse_long_integers(text: bytes) -> None:
    """Refuse *text* with an integer of more than `LONGEST_INTEGER` digits.

    Raises:
        ValueError: *text* contains one.
    """
    # In a row of so many digits, taking every 400th byte finds ten. Checking each byte would take as long as writing.
    if _TEN_DIGITS.search(text[::400]):
        from_json(text)


_TEN_DIGITS = re.compile(rb"\d{10}")


def refuse_read_names(text: bytes | bytearray) -> None:
    """Do the same as `refuse_names`, but ignore fields that are not read because the same name follows again.

    Raises:
        ValueError: *text* contains one elsewhere, or is not JSON.
    """
    try:
        refuse_names(text)
    except ValueError:
        if not is_finite(from_json(text)):
            raise


def may_be_out_of_range(text: bytes | bytearray) -> bool:
    """Return True if *text* may contain a number beyond the range of floats, such as `1e999`."""
    digits = text.translate(_DIGITS)
    suspect = digits.find(b"0e000") >= 0 or digits.find(_LONG) >= 0
    return suspect and re.search(_OUT_OF_RANGE, text) is not None


_DIGITS = bytes.maketrans(b"123456789+E", b"0000000000e")
_LONG = b"0" * 40
# Both begin at the first digit, so that no digit is checked more than twice.
_OUT_OF_RANGE = rb"(?<!\d)(?:(?<![^:,\[\s-])\d++(?:\.\d++)?[eE]\+?\d{3}|\d{200})"


def is_finite(value: object) -> bool:
    """Return True if all numbers in *value*, which is JSON or an object of the protocol, are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, BaseModel):
        return all(map(is_finite, vars(value).values())) and is_finite(value.model_extra)
    if isinstance(value, dict):
        return all(map(is_finite, cast("dict[str, object]", value).values()))
    return not isinstance(value, list | tuple) or all(map(is_finite, cast("Iterable[object]", value)))


def mended(value: Any) -> Any:
    """Return *value*, JSON or an object of the protocol, with U+FFFD for lone surrogates and None for NaN and infinity.

    The two surrogates of a pair become one character.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: mended(getattr(value, name)) for name in value.model_fields_set})
    if isinstance(value, dict):
        return {mended(name): mended(each) for name, each in members_of(value).items()}
    return [*map(mended, cast("list[Any]", value))] if isinstance(value, list | tuple) else value


_HALF = re.compile(rb"\\u(?i:d(?:[89ab][\da-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab]..\\ud)[c-f][\da-f]{2}))")
"""A lone surrogate, as left by JavaScript that cuts a string in an emoji."""
_BACKSLASH = b"\xff"
"""Stands for an escaped backslash, which is not the start of a surrogate. UTF-8 never contains this byte."""
MENDABLE = 8 << 20
"""The longest text in which these are replaced, because that takes several times the time and memory."""


def mendings(text: bytes | bytearray) -> Iterator[bytes]:
    """Yield *text* with invalid UTF-8 replaced, if it has any, and then without lone surrogates, if it has any."""
    if len(text) > MENDABLE:
        return
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode(errors="replace").encode()
        yield text
    mended = _HALF.sub(rb"\\ufffd", text.replace(rb"\\", _BACKSLASH)).replace(_BACKSLASH, rb"\\")
    if mended != text:
        yield mended


def full_name(cls: type) -> str:
    """Return the name of *cls*, with its protocol package if there is one."""
    package = package_of(cls.__module__)
    return f"{package}.{cls.__name__}" if package else cls.__name__


def kind_of(value: object) -> str:
    """Return the name of the class of *value*, or a text about *value* if it is a class itself."""
    return f"the class {full_name(value)}" if isinstance(value, type) else full_name(type(value))


@cache
def package_of(module: str) -> str | None:
    """Return the protocol package of a module, such as `v1`, or None."""
    found = re.match(r"acp_bindings\.(v\d+(?:_unstable)?)(?:\.|$)", module)
    return found and found[1]
