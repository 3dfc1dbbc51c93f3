"""Answers that were meant as such, and are none by the rules of JSON-RPC."""

from __future__ import annotations

import json
from typing import Any, cast

from mcp_types import RequestId

from mcp_launch.diagnosis import Diagnosis

__all__ = ["misshapen"]


def misshapen(line: bytes) -> tuple[RequestId, Diagnosis] | None:
    """The request that a line is meant to answer, and what is wrong with it; None if it may be anything."""
    if b'"id"' not in line:
        return None
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match value:
        case {"method": _} | {"id": bool()}:
            return None
        # A log may be JSON too, and number its lines.
        case {"id": _, **others} if "jsonrpc" not in others and not others.keys() <= {"result", "error"}:
            return None
        case {"id": int() | str() as number}:
            wrong = _wrong(cast("dict[str, Any]", value))
            message = f"gave an answer that is not valid JSON-RPC: {wrong}; is there a newer release of it?"
            return number, Diagnosis("invalid_response", message)
        case _:
            return None


def _wrong(answer: dict[str, Any]) -> str:  # noqa: PLR0911 - a list of cases
    match answer:
        case {"jsonrpc": "2.0", "error": {"code": int(), "message": str()}} | {"jsonrpc": "2.0", "result": {}}:
            return "it cannot be read"
        case {"jsonrpc": "2.0", "error": {"code": int()}}:
            return 'its "error" must have a "message", which is a text'
        case {"jsonrpc": "2.0", "error": {}}:
            return 'its "error" must have a "code", which is an integer'
        case {"jsonrpc": "2.0", "error": _}:
            return 'its "error" must be an object'
        case {"jsonrpc": "2.0", "result": _}:
            return 'its "result" must be an object'
        case {"jsonrpc": "2.0"}:
            return 'it has neither "result" nor "error"'
        case _:
            return 'it lacks "jsonrpc": "2.0"'
