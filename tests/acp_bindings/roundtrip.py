"""The round trip of one definition's instances from JSON to the model and back, without any loss."""

import copy
import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_bindings import DecodeError, decode, encode
from tests.acp_bindings.exact_json import Json, difference, same, spell
from tests.acp_bindings.instances import PER_DEFINITION, Instances
from tests.acp_bindings.schemas import Schema


@dataclass(frozen=True)
class Loss:
    """An instance that changed in the round trip."""

    package: str
    definition: str
    index: int
    seed: int
    what: str
    instance: Json

    def __str__(self) -> str:
        """Return the name of the instance, from which it can be created again."""
        return (
            f"acp_bindings.{self.package}.{self.definition}, instance {self.index} of seed {self.seed}: {self.what}\n"
            f"  {spell(self.instance, 2000)}"
        )


def generated(package: str, definition: str) -> Json:
    """Import the model class or type alias that was generated for a definition."""
    return getattr(importlib.import_module(f"acp_bindings.{package}"), definition)


def losses(
    schema: Schema, definition: str, model_type: Any, *, count: int = PER_DEFINITION, seed: int = 0
) -> Iterator[Loss]:
    """Yield those of the first `count` instances of a definition that its type does not preserve."""
    for index, instance in enumerate(Instances(schema).series(definition, count, seed=seed)):
        if what := lost(schema, definition, model_type, instance, form=index):
            yield Loss(schema.package, definition, index, seed, what, instance)


def lost(schema: Schema, definition: str, model_type: Any, instance: Json, *, form: int = 0) -> str:
    """Describe what a valid instance loses on its way through the model; empty if nothing."""
    given = raw(instance, form)
    before = copy.deepcopy(given)
    try:
        encoded = encode(decode(model_type, given))
        strictly = encode(decode(model_type, raw(instance, form), strict=True))
    except DecodeError as error:
        return f"valid, yet refused: {error}"
    if not same(before, given):
        return "decoding changed the caller's object"
    again = json.loads(encoded)
    if not schema.accepts(definition, again):
        return f"written against the schema: {schema.complaints(definition, again)}"
    return difference(instance, again) or ("strict reading reads otherwise" if strictly != encoded else "")


def raw(instance: Json, form: int) -> Json:
    """Convert the instance to one of the five inputs that `decode` accepts."""
    match form % 5:
        case 0:
            return json.dumps(instance)
        case 1:
            return json.dumps(instance, ensure_ascii=False, indent=1)
        case 2:
            return json.dumps(instance, ensure_ascii=False).encode()
        case 3:
            return bytearray(json.dumps(instance), "ascii")
        case _:
            # A string is JSON text to `decode`, so only other values can be given already parsed.
            return json.dumps(instance) if isinstance(instance, str | bytes) else copy.deepcopy(instance)
