"""Turns every form of a server, a model of any protocol version or raw JSON, into a `ServerSpec`.

The tag decides first: `{"type": "http"}` with the members of stdio is a broken http entry, never a stdio one. A missing
`type` is stdio. What does not parse is a `LaunchFailure` in stage `spec`, so that no entry is dropped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from pydantic import BaseModel

from acp_bindings import DecodeError, EncodeError, decode, encode, v1, v2
from acp_bindings._problems.transports import type_fault
from mcp_launch.failures import LaunchFailure
from mcp_launch.json_values import as_members
from mcp_launch.shapes import TransportName
from mcp_launch.specs import HttpServer, Pairs, ServerSpec, SseServer, StdioServer
from mcp_launch.specs.issues import Issue, issue_at, no_target_issue, schema_issue
from mcp_launch.specs.values import value_issues
from mcp_launch.wording import Wording

__all__ = ["parse_server", "transport_meant"]

_OF_ACP = Wording()


def parse_server(server: object, *, index: int | None = None, wording: Wording = _OF_ACP) -> ServerSpec:
    """Read an `McpServer` model of any protocol version, or its JSON; `index` is its place in `mcpServers`.

    The messages call what is wrong as `wording` does; the paths in the facts are those of ACP.

    Raises:
        LaunchFailure: in stage `spec`, with one entry in `.facts["issues"]` for each thing that is wrong.
    """
    try:
        entry: object = json.loads(encode(server)) if isinstance(server, BaseModel) else server
    except EncodeError as error:
        name = _name({"name": getattr(server, "name", None)}, index=index)
        raise _invalid(name, [issue_at("", issue.rule, issue.message) for issue in error.issues], wording) from None
    name = _name(entry, index=index)
    tag = _tag(entry, name=name, wording=wording)
    try:
        spec = _read(tag, entry)
    except DecodeError as error:
        raise _invalid(name, [schema_issue(issue, entry) for issue in error.issues], wording, tag) from None
    if issues := list(value_issues(spec, wording)):
        raise _invalid(name, issues, wording, tag)
    # The schema allows an empty name, which nobody could see in a message.
    return spec if spec.name else replace(spec, name=name)


def transport_meant(server: object) -> TransportName | None:
    """Which transport an entry that may be broken was to have; None if nothing tells."""
    # The members that tell it have the same names in Python.
    entry = vars(server) if isinstance(server, BaseModel) else as_members(server)
    said = entry.get("type") or ("stdio" if "command" in entry else None)
    meant = fault.meant if (fault := type_fault(entry)) else said
    return next((each for each in get_args(TransportName) if each == meant), None)


def _name(entry: object, *, index: int | None) -> str:
    """What to call an entry that may be broken: its name, or its place."""
    name = as_members(entry).get("name")
    if isinstance(name, str) and name:
        return name
    return "server" if index is None else f"mcpServers[{index}]"


def _tag(entry: object, *, name: str, wording: Wording) -> str | None:
    """The `type` by which an entry is to be read.

    Raises:
        LaunchFailure: it has none that can be used.
    """
    if isinstance(entry, str | bytes | bytearray):
        # Which `decode` would read as the JSON of an entry.
        raise _invalid(name, [issue_at("", "type", "must be an object, not a text")], wording)
    members = as_members(entry)
    tag = members.get("type")
    if not isinstance(tag, str | None):
        raise _invalid(name, [issue_at("/type", "type", "must be a string")], wording)
    fault = type_fault(members, called=dict(wording.words))
    if fault and not fault.unknown:
        raise _invalid(name, [issue_at("/type", "value", fault.message)], wording)
    if tag not in _FORMS:
        raise LaunchFailure(
            f"/type: {fault.message}" if fault else f'the transport "{tag}" is not supported; use stdio or http',
            server=name,
            stage="spec",
            code="unsupported_transport",
            facts={"type": tag},
        )
    if members and tag in (None, "stdio") and not members.keys() & {"command", "url"}:
        raise _invalid(name, [no_target_issue(members, wording)], wording)
    return tag


def _invalid(name: str, issues: list[Issue], wording: Wording, tag: str | None = None) -> LaunchFailure:
    told = "; ".join(f"{_place(issue['path'], wording, tag)}: {issue['message']}" for issue in issues)
    return LaunchFailure(told, server=name, stage="spec", code="invalid_spec", facts={"issues": issues})


def _place(path: str, wording: Wording, tag: str | None) -> str:
    _, *steps = path.split("/", maxsplit=2)
    called = (wording.url_of(tag) if step == "url" else wording.called(step) for step in steps)
    return "".join(f"/{each}" for each in called) or "the entry"


# The form tells the version: only v2 writes the tag of stdio, and then `args` and `env` may be left out, as
# its http may leave out `headers`; only v1 has sse. What v1 requires of http, v2 allows, and the tag is the same.
_FORMS: dict[str | None, type[v1.McpServerStdio | v2.McpServerStdio | v2.McpServerHttp | v1.McpServerSse]] = {
    None: v1.McpServerStdio,
    "stdio": v2.McpServerStdio,
    "http": v2.McpServerHttp,
    "sse": v1.McpServerSse,
}


def _read(tag: str | None, entry: object) -> ServerSpec:
    model = decode(_FORMS[tag], entry)
    match model:
        case v1.McpServerStdio() | v2.McpServerStdio():
            return StdioServer(
                name=model.name,
                command=model.command,
                args=tuple(model.args),
                env=tuple((variable.name, variable.value) for variable in model.env),
            )
        case v1.McpServerSse():
            return SseServer(name=model.name, url=model.url, headers=_headers(model.headers))
        case _:
            return HttpServer(name=model.name, url=model.url, headers=_headers(model.headers))


def _headers(headers: Sequence[v1.HttpHeader | v2.HttpHeader]) -> Pairs:
    return tuple((header.name, header.value) for header in headers)
