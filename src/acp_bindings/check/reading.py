"""From a message, as a codec reads it, to what the rules look at."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from acp_bindings._json.shapes import members_of
from acp_bindings._models.base import Model
from acp_bindings.check.lines import Line
from acp_bindings.check.said import Said
from acp_bindings.errors import Issue, Path
from acp_bindings.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    BadLine,
    BadResponse,
    ErrorResponse,
    Message,
    Notification,
    ProtocolPackage,
    Request,
    Response,
)
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.method_names import CLOSE, WITHDRAWN
from acp_bindings.setup.remarks import Remark
from acp_bindings.setup.versions import PACKAGES, name_of, package_named


def said_of(message: Message, line: Line, sender: Side | None, protocol: ProtocolPackage) -> Said:
    """The *message* that a codec of *protocol* has read from *line*, for the rules."""
    value = members_of(line.value)
    id_: Any = value.get("id")
    has_id = "id" in value and isinstance(id_, int | str) and not isinstance(id_, bool)
    said = Said(kind="unreadable", protocol=protocol, sender=sender, message=line.value, top=line.at)
    said.id, said.has_id = (id_, True) if has_id else (None, False)
    if isinstance(method := value.get("method"), str):
        said.method = method
    match message:
        case Request(params=params, type=type_) | Notification(params=params, type=type_):
            said.kind = "request" if isinstance(message, Request) else "notification"
            said.typed, said.type_name = (params, type_.params_name) if type_ else (None, None)
            said.findings = message.findings
        case Response(result=result):
            said.kind, said.typed, said.findings = "response", result, message.findings
        case ErrorResponse(error=error):
            said.kind, said.error_code = "error", error.code
        case BadResponse():
            said.kind = "response"
            said.wrong = tuple(_bad_response(message, value, line.at))
        case BadLine():
            if "method" not in value and value.keys() & {"result", "error"}:
                said.kind = "response" if value.get("error") is None else "error"
            else:
                said.wrong = tuple(_bad_line(message, said, line.at))
    _find_body(said, value, line.at, message)
    return said


def issues_as(rule: str, issues: Iterable[Issue], at: Path) -> Iterator[Remark]:
    """The *issues* with the value at the path *at*, as remarks of *rule*."""
    for each in issues:
        yield Remark((*at, *each.path), rule, str(replace(each, path=())), "error")


def _find_body(said: Said, value: dict[str, Any], at: Path, message: Message) -> None:
    if said.kind in ("response", "error"):
        said.body = value.get("result")
        said.at = (*at, "result")
        if isinstance(message, Response | BadResponse):
            known = said.protocol.METHODS.get(message.method)
            said.method = message.method
            said.type_name = known.request.result_name if known and known.request else None
            # JSON also where the version that was spoken when it was asked for had no such method.
            if said.type_name is None or not isinstance(said.typed, Model):
                said.typed = None
    else:
        said.body = value.get("params")
        said.at = (*at, "params")
        if said.type_name is None and (known := said.protocol.METHODS.get(said.method or "")):
            type_ = known.request if said.has_id else known.notification
            said.type_name = type_.params_name if type_ else None


def _bad_response(message: BadResponse, value: dict[str, Any], at: Path) -> Iterator[Remark]:
    if not message.issues:
        yield Remark(at, "schema.message", message.message, "error")
    what = "result" if value.get("error") is None else "error"
    yield from issues_as(f"schema.{what}", message.issues, (*at, what))


def _bad_line(message: BadLine, said: Said, at: Path) -> Iterator[Remark]:
    if message.code == INVALID_PARAMS:
        yield from issues_as("schema.params", message.issues, (*at, "params"))
    elif message.code == METHOD_NOT_FOUND:
        reason = message.message.partition(": ")[2] or _unknown(said.method or "", said.protocol)
        yield Remark((*at, "method"), "schema.method", reason, "error")
    elif message.code == PARSE_ERROR:
        yield Remark(at, "schema.json", _no_json(message.message), "error")
    else:
        yield Remark(at, "schema.message", message.message, "error")


def _no_json(reason: str) -> str:
    """Why a line is no JSON. The place is given by character alone, because it is always in line 1 of the line."""
    reason = re.sub(r" at line 1 column (\d+)", r" at character \1", reason.removeprefix("Parse error: "))
    if reason.startswith("EOF"):
        return "it ends in the middle of a message; was it cut off?"
    return f"it is no JSON: {reason}" + ("" if "; " in reason else "; a message is one line of JSON in UTF-8")


def _unknown(method: str, protocol: ProtocolPackage) -> str:
    """That there is no such method, and what may help."""
    here = name_of(protocol)
    having = [each for each in PACKAGES if method in package_named(each).METHODS]
    if having:
        told = f"{here} has no {method}, which {' and '.join(having)} {'have' if len(having) > 1 else 'has'}"
        draft = f"{here}_unstable"
        return f"{told}; --protocol {draft} reads it" if draft in having else told
    if instead := WITHDRAWN.get(method):
        return f"{method} was in drafts of the protocol; now there is {instead}"
    known = protocol.METHODS if len(method) < 100 else ()
    close = difflib.get_close_matches(method, known, n=1, cutoff=CLOSE)
    hint = f"; did you mean {close[0]}?" if close else "; names of extensions begin with an underscore"
    return f"there is no method {method[:100]}{hint}"
