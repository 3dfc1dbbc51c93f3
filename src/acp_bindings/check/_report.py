"""What a check found, for people and for programs: a line for each, or one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from acp_bindings.check._checking import Check, Found
from acp_bindings.check._inputs import Unusable
from acp_bindings.check._rules import RULES


def lines_of(check: Check, *, name: str) -> Iterator[str]:
    """A line for each finding, and one that sums up.

    Raises:
        Unusable: the input cannot be used.
    """
    for each in check:
        yield printable(f"{name}:{each}") + "\n"
    yield printable(f"{name}: {summary(check)}") + "\n"


def summary(check: Check) -> str:
    """How much was looked at, as what, and how much was found."""
    unit = "payload" if check.kind == "payloads" else "message"
    how_many = f"{check.messages} {unit}" + ("" if check.messages == 1 else "s")
    if check.kind == "conversation":
        how_many = f"a conversation of {how_many}"
    counts = [
        f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((check.errors, "error"), (check.warnings, "warning")) if n
    ]
    return f"{' and '.join(counts) or 'nothing wrong'} in {how_many} ({', '.join(check.read_as)})"


def document_of(check: Check, *, name: str) -> Iterator[str]:
    """The pieces of one entry in `files` of `SCHEMA`, which is always whole, also when the input cannot be used."""
    yield '{"file":' + _json(name) + ',"findings":['
    separator = "\n"
    try:
        for each in check:
            yield separator + _json(as_json(each))
            separator = ",\n"
    except Unusable as error:
        check.unusable = str(error)
    rest = {
        "kind": check.kind,
        "messages": check.messages,
        "readAs": check.read_as,
        "errors": check.errors,
        "warnings": check.warnings,
        "unusable": check.unusable,
    }
    yield "\n]," + _json(rest)[1:]


def unusable_document(name: str, error: Unusable) -> str:
    """The same for an input of which nothing could be read; the lines that could not are findings."""
    message = "it holds no message"
    found = [Found(rule="schema.message", severity="error", message=message, line=each) for each in error.lines]
    none: dict[str, Any] = {"kind": None, "messages": 0, "readAs": [], "errors": len(found), "warnings": 0}
    return _json({"file": name, "findings": list(map(as_json, found)), **none, "unusable": str(error)})


def as_json(found: Found) -> dict[str, Any]:
    """A finding as `SCHEMA` has it."""
    return {
        "rule": found.rule,
        "severity": found.severity,
        "line": found.line,
        "path": list(found.path),
        "message": found.message,
        "from": found.sender,
        "method": found.method,
        "value": found.value,
    }


def printable(text: str) -> str:
    """The text without what could move the cursor or recolour a terminal: peers write it."""
    return "".join(each if each.isprintable() else " " for each in text)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_COUNT = {"type": "integer", "minimum": 0}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What acp-bindings check --json prints",
    "type": "object",
    "additionalProperties": False,
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "items": {"$ref": "#/$defs/file"}, "description": "Of each FILE, in their order."},
    },
    "$defs": {
        "file": {
            "type": "object",
            "additionalProperties": False,
            "required": ["file", "findings", "kind", "messages", "readAs", "errors", "warnings", "unusable"],
            "properties": {
                "file": {"type": "string", "description": "As it was given; - is standard input."},
                "kind": {
                    "enum": ["conversation", "messages", "payloads", None],
                    "description": "What the file holds; null where that could not be seen.",
                },
                "messages": {**_COUNT, "description": "How many messages or payloads were looked at."},
                "readAs": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The protocol packages, or of payloads the types, that they were read by.",
                },
                "errors": {**_COUNT, "description": "How many findings are errors."},
                "warnings": {**_COUNT, "description": "How many findings are warnings."},
                "unusable": {
                    "type": ["string", "null"],
                    "description": "Why it cannot be used; null where it can.",
                },
                "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
            },
        },
        "finding": {
            "type": "object",
            "additionalProperties": False,
            "required": ["rule", "severity", "line", "path", "message", "from", "method", "value"],
            "properties": {
                "rule": {"enum": [each.id for each in RULES]},
                "severity": {"enum": ["error", "warning", "info"]},
                "line": {"type": ["integer", "null"], "minimum": 1, "description": "Of the file."},
                "path": {
                    "type": "array",
                    "items": {"type": ["string", "integer"]},
                    "description": "The way to it in what stands on the line, or in the document.",
                },
                "message": {"type": "string", "description": "What is wrong, and what to do. It holds no secret."},
                "from": {"enum": ["client", "agent", None], "description": "Who said it."},
                "method": {"type": ["string", "null"], "description": "Of which method it is, or what answers it."},
                "value": {
                    "type": ["string", "null"],
                    "description": "What stands there, as JSON, with --show-secrets; null without it.",
                },
            },
        },
    },
}
"""What is printed, with `document_of` and `unusable_document` in it."""
