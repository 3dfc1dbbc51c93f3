"""The outcome of reading a message: the value, or a refusal."""

import json
from dataclasses import dataclass
from typing import TypeAlias

from acp_bindings import DecodeError, decode, encode
from tests.acp_bindings.exact_json import Json, is_array, is_object, same
from tests.acp_bindings.roundtrip import generated


@dataclass(frozen=True)
class Refused:
    """A refused message and the reason. Two refusals are the same outcome, whatever their reasons are."""

    why: tuple[str, ...] = ()


Outcome: TypeAlias = Json | Refused


def our_reading(package: str, definition: str, text: str) -> Outcome:
    """Read a JSON text as a user of `acp_bindings` does, and write it again."""
    try:
        return json.loads(encode(decode(generated(package, definition), text)))
    except DecodeError as error:
        return Refused(tuple(map(str, error.issues)))


def agree(one: Outcome, other: Outcome) -> bool:
    """Return True if both are refusals, or the same JSON value."""
    if isinstance(one, Refused) or isinstance(other, Refused):
        return isinstance(one, Refused) and isinstance(other, Refused)
    return same(one, other)


def as_doubles(value: Json) -> Json:
    """Round every number to a double. Integral ones compare like integers, however they are written."""
    if is_object(value):
        return {name: as_doubles(member) for name, member in value.items()}
    if is_array(value):
        return [as_doubles(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(float(value)) if float(value).is_integer() else value
    return value
