"""The output of a check: one line for each finding, or one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_bindings._standard_streams import printable
from acp_bindings.check._checking import Check
from acp_bindings.check._inputs import Unusable
from acp_bindings.check._live import Found
from acp_bindings.check._rules import RULES


def lines_of(check: Check, *, name: str) -> Iterator[str]:
    """Yield a line for each finding, and a summary.

    Raises:
        Unusable: the input cannot be used.
    """
    for each in check:
        yield printable(f"{name}:{each}") + "\n"
    yield printable(f"{name}: {summary(check)}") + "\n"


def summary(check: Check) -> str:
    """Return how many messages were checked, as which types, and how many problems were found."""
    unit = "payload" if check.kind == "payloads" else "message"
    how_many = f"{check.messages} {unit}" + ("" if check.messages == 1 else "s")
    if check.kind == "conversation":
        how_many = f"a conversation of {how_many}"
    counts = [
        f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((check.errors, "error"), (check.warnings, "warning")) if n
    ]
    return f"{' and '.join(counts) or 'nothing wrong'} in {how_many} ({', '.join(check.read_as)})"


def entry_of(check: Check, *, name: str) -> dict[str, Any]:
    """Return an entry in `files` of `SCHEMA`. It is complete even if the rest of the input cannot be used."""
    findings: list[dict[str, Any]] = []
    unusable = None
    try:
        findings.extend(map(as_json, check))
    except Unusable as error:
        unusable = str(error)
    return {
        "file": name,
        "kind": check.kind,
        "messages": check.messages,
        "readAs": check.read_as,
        "errors": check.errors,
        "warnings": check.warnings,
        "unusable": unusable,
        "findings": findings,
    }


def entry_without_messages(name: str, error: Unusable) -> dict[str, Any]:
    """Return the entry for an input without any message. Its first lines are findings."""
    message = "it holds no message"
    found = [Found(rule="schema.message", severity="error", message=message, line=each) for each in error.lines]
    none: dict[str, Any] = {"kind": None, "messages": 0, "readAs": [], "errors": len(found), "warnings": 0}
    return {"file": name, **none, "unusable": str(error), "findings": [*map(as_json, found)]}


def as_json(found: Found) -> dict[str, Any]:
    """Return a finding in the form of `SCHEMA`."""
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


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}


def _text(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "description": description}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


_FILE = _object(
    {
        "file": {"type": "string", "description": "The argument FILE; - is standard input."},
        "kind": {
            "enum": ["conversation", "messages", "payloads", None],
            "description": "The kind of content; null if it is not known.",
        },
        "messages": _count("The number of messages or payloads."),
        "readAs": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The protocol packages, or the types of payloads, by which they were read.",
        },
        "errors": _count("The number of findings that are errors."),
        "warnings": _count("The number of findings that are warnings."),
        "unusable": _text("Why the file cannot be used; null if it can."),
        "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
    }
)
_FINDING = _object(
    {
        "rule": {"enum": [each.id for each in RULES]},
        "severity": {"enum": ["error", "warning", "info"]},
        "line": {"type": ["integer", "null"], "minimum": 1, "description": "The line of the file."},
        "path": {
            "type": "array",
            "items": {"type": ["string", "integer"]},
            "description": "The path to it in the line or in the document.",
        },
        "message": {"type": "string", "description": "The problem, and what to do. It contains no secret."},
        "from": {"enum": ["client", "agent", None], "description": "The sender."},
        "method": _text("The method, also of a response."),
        "value": _text("The value, as JSON, with --show-secrets; otherwise null."),
    }
)
_FILES = {"type": "array", "items": {"$ref": "#/$defs/file"}, "description": "One entry for each FILE."}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "The output of acp-bindings check --json",
    **_object({"files": _FILES}),
    "$defs": {"file": _FILE, "finding": _FINDING},
}
"""The JSON schema of the output. `entry_of` and `entry_without_messages` return its entries."""
