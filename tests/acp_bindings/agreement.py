"""Compare generated types with the reference reader: both must give the same verdict and the same value."""

import json
from typing import Any

from acp_bindings import DecodeError, decode, encode
from tests.acp_bindings.damage import judge, misread, unwritable
from tests.acp_bindings.exact_json import Json, spell
from tests.acp_bindings.reference_reader import UnreadableError
from tests.acp_bindings.roundtrip import raw
from tests.acp_bindings.schemas import Schema


def disagreement(schema: Schema, definition: str, model_type: Any, value: Json, *, form: int) -> str:
    """Return where the generated type reads a value differently from the reference reader; empty if they agree."""
    verdict = judge(schema, definition, value)
    try:
        model = decode(model_type, raw(value, form))
    except DecodeError as error:
        if not error.issues:
            return "refused without an issue"
        return "" if verdict.refused else f"refused, though the rules excuse it: {error}"
    if encode(decode(model_type, raw(value, form + 2))) != encode(model):
        return "read otherwise when it is given in another form"
    written = json.loads(encode(model))
    if verdict.refused:
        return f"read as {spell(written)}, though: {verdict.refused}"
    return _misread(schema, definition, verdict.reading, written)


def _misread(schema: Schema, definition: str, expected: Json, written: Json) -> str:
    try:
        faults = unwritable(schema, definition, written)
    except UnreadableError as error:
        return f"written in a form that cannot be read: {error}"
    if faults:
        return f"written against the schema at {faults}"
    return misread(schema, definition, expected, written)
