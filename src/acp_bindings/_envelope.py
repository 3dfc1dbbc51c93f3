"""The parts of JSON-RPC around params and results: error codes, checks of a message, and lines to send."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from acp_bindings.encoding import encode
from acp_bindings.errors import Issue
from acp_bindings.messages import BadLine, Id

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
REQUEST_CANCELLED = -32800
"""The error code of the response to a cancelled request (`Codec.fail`)."""


def version_fault(message: dict[str, Any]) -> str | None:
    """Return the error in the field `jsonrpc`, which every message needs, or None."""
    return None if message.get("jsonrpc") == "2.0" else 'it lacks "jsonrpc": "2.0"'


def call_fault(message: dict[str, Any]) -> str | None:
    """Return the error in a request or notification, or None. It needs a method, and must not have a result or error.

    Null is allowed, as in responses.
    """
    if not isinstance(message.get("method"), str):
        return "it has no method"
    if message.get("error") is not None:
        return "it has both a method and an error"
    return "it has both a method and a result" if message.get("result") is not None else None


def outcome_fault(response: dict[str, Any]) -> str | None:
    """Return the error in a response, or None. It needs a result or an error, but not both.

    Some peers always write both and leave one null.
    """
    if response.get("error") is not None:
        return "it has both a result and an error" if response.get("result") is not None else None
    return None if "result" in response else "it has neither a result nor an error"


def refuse(
    id_: Id, code: int, message: str, method: str | None = None, issues: tuple[Issue, ...] = (), *, answer: bool = True
) -> BadLine:
    """Return an invalid line, with the error response to it if *answer* is true."""
    error: dict[str, Any] = {"code": code, "message": message}
    if issues:
        error["data"] = {"issues": [asdict(issue) for issue in issues]}
    return BadLine(code, message, line_of({"id": id_}, "error", error) if answer else None, method, issues)


def notification_line(method: str, params: Any) -> bytes:
    """Return the line of a notification, without `params` if they are None."""
    start = start_of_notification(method)
    return start[: -len(_PARAMS)] + b"}\n" if params is None else start + encode(params) + b"}\n"


@lru_cache
def start_of_notification(method: str) -> bytes:
    """Return the text before the params in each notification of *method*."""
    return encode({"jsonrpc": "2.0", "method": method})[:-1] + _PARAMS


_PARAMS = b',"params":'


class Line(bytes):
    """The line of a notification, for programs that encode a part of it before. `Connection.notify` sends it."""

    __slots__ = ()


def line_of(head: dict[str, Any], member: str, value: Any) -> bytes:
    """Return the line with the fields of *head* and *value* as *member*, without `params` if they are None."""
    # A head holds no models, and `encode` would take longer.
    start = to_json({"jsonrpc": "2.0", **head})
    if value is None and member == "params":
        return start + b"\n"
    return start[:-1] + b',"' + member.encode() + b'":' + encode(value) + b"}\n"


def issues_with_id(id_: object, open_: Mapping[Id, tuple[str, object]]) -> tuple[Issue, ...]:
    """Return the error in *id_* if an open request has it as a string instead of a number, or the other way round.

    Args:
        id_: any JSON value.
        open_: the method of each open request and other data, by id.
    """
    meant: Id = None
    if isinstance(id_, str) and re.fullmatch(r"0|-?[1-9]\d{0,18}", id_, re.ASCII):
        meant = int(id_)
    elif type(id_) is int:
        meant = str(id_)
    if meant is None or meant not in open_:
        return ()
    wrong, right = encode(id_).decode(), encode(meant).decode()
    message = f"{wrong} is not the id of an open request; the id of {open_[meant][0]} is {right}"
    return (Issue(("id",), "id_type", message),)
