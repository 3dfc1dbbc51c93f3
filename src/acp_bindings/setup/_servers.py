"""The MCP servers of a session: conversion between versions, and likely mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, overload

from pydantic_core import from_json, to_json

from acp_bindings._json import items_of, members_of, pairs_of
from acp_bindings._models.base import Model
from acp_bindings._problems.transports import ARGUMENTS_APART, AS_PAIRS, type_fault
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError, Path
from acp_bindings.methods import is_of
from acp_bindings.setup._paths import Flavour, is_absolute
from acp_bindings.setup.errors import Remark

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import HasServers, McpServer, McpServerLike, T


_OWNED = re.compile(
    "accept|connection|content-(length|type)|host|last-event-id|transfer-encoding|"
    "mcp-(method|name|param-.*|protocol-version|session-id)",
    re.IGNORECASE,
)


def is_owned(name: str) -> bool:
    """Return True if the transport sets the header *name*, so an entry cannot (v2 `McpServerHttp.headers`).

    These are headers of HTTP itself and of MCP's Streamable HTTP transport.
    """
    return _OWNED.fullmatch(name) is not None


@overload
def servers_for(protocol: HasServers[T], servers: Iterable[McpServerLike]) -> list[T]: ...
@overload
def servers_for(protocol: ProtocolPackage, servers: Iterable[McpServerLike]) -> list[McpServer]: ...
def servers_for(protocol: Any, servers: Iterable[McpServerLike]) -> list[Any]:
    """Return *servers* converted to *protocol*, in their order, for the `mcp_servers` of its requests.

    Each may be a model of any protocol package, or JSON in the form of any version. Missing lists become empty lists;
    nothing else is repaired.

    Raises:
        DecodeError: an entry is not a valid MCP server, or that version cannot express it. The issues contain the
            index of the entry and what to write.
        TypeError: *servers* is a single server.
    """
    if isinstance(servers, Mapping | Model | str | bytes):
        raise TypeError("mcp_servers must be a list of servers, not one server or a map")
    return [_server_for(protocol, each, ("mcpServers", index)) for index, each in enumerate(servers)]


def servers_remarks(
    servers: Iterable[McpServerLike], *, version: int = 1, flavour: Flavour = "any", path: Path = ("mcpServers",)
) -> list[Remark]:
    """Return likely problems of *servers* in a request of *version*, including entries that the schema accepts.

    Args:
        servers: models, or the original JSON, which shows more problems.
        version: the protocol version: 1 or 2.
        flavour: the kind of paths of the commands.
        path: the path of the list.

    Returns:
        Remarks with the rules `server-type`, `server-list`, `server-map`, `server-name`, `duplicate-server`,
        `relative-command`, `duplicate-env`, `transport-header`, `header-line-break` and `sse-deprecated`.
    """
    entries = [members_of(_raw(each)) for each in servers]
    found: list[Remark] = []
    names: set[str] = set()
    for index, entry in enumerate(entries):
        here = (*path, index)
        found += _of_form(entry, here, version)
        found += _of_name(entry, names, here, version)
        found += _of_process(entry, here, flavour)
        found += _of_headers(entry, here)
    return found


_LISTS = {"stdio": ("args", "env"), "http": ("headers",), "sse": ("headers",)}
"""Fields that v1 requires even if they are empty."""


def _server_for(protocol: ProtocolPackage, server: McpServerLike, path: Path) -> McpServer:
    type_: Any = cast("Any", protocol).McpServer
    if not isinstance(server, Mapping) and is_of(server, type_):
        return server
    raw = _raw(server)
    try:
        read: McpServer = decode(type_, _as_said(raw))
    except DecodeError as error:
        fault = type_fault(members_of(raw))
        advice: dict[Path, str] = {("type",): fault.message} if fault else {}
        issues = [
            replace(each, path=path + each.path, message=advice.get(each.path, each.message)) for each in error.issues
        ]
        raise DecodeError("McpServer", issues) from None
    return read


def _as_said(raw: object) -> Any:
    """Return a server with the empty lists that v1 requires and the type that v2 requires."""
    if not isinstance(raw, dict):
        # A string is not a server, even if it contains the JSON of one.
        return to_json(raw)
    entry = cast("dict[str, Any]", raw)
    unsaid = {} if "url" in entry else {"type": "stdio"}
    lists: dict[str, Any] = {name: [] for name in _LISTS.get(_transport(entry), ())}
    return unsaid | lists | entry


def _of_form(entry: Mapping[str, Any], path: Path, version: int) -> Iterator[Remark]:
    fault = type_fault(entry)
    transport = fault.meant or "" if fault else _transport(entry)
    facts = {"transport": transport}
    here = (*path, "type")
    if fault:
        # v2 preserves an unknown type, because it may be a newer one.
        kept = version >= 2 and fault.unknown and isinstance(entry["type"], str)
        if fault.meant or not kept:
            yield Remark(here, "server-type", fault.message, "warning" if kept else "error", facts)
    elif "type" not in entry and version >= 2:
        yield Remark(here, "server-type", f'v2 requires a type; add "type": "{transport}"', "error", facts)
    elif entry.get("type") == "stdio" and version == 1:
        text = "v1 has no type for stdio, and some agents read any entry with a type as a remote server; remove it"
        yield Remark(here, "server-type", text, "warning", facts)
    if entry.get("type") == "sse":
        text = "v2 does not support sse; use the http url of the server"
        if version == 1:
            text = "MCP has deprecated sse; use the http url of the server if it has one"
        yield Remark(here, "sse-deprecated", text, "warning" if version == 1 else "error", facts)
    for name in _LISTS.get(transport, ()):
        if name not in entry and version == 1:
            yield Remark((*path, name), "server-list", "v1 requires it even if it is empty; send []", "error", facts)
        elif isinstance(entry.get(name), Mapping):
            yield Remark((*path, name), "server-map", AS_PAIRS, "error", facts)


def _of_name(entry: Mapping[str, Any], names: set[str], path: Path, version: int) -> Iterator[Remark]:
    """Yield problems of the name, and add it to *names*, the names of earlier entries."""
    name = entry.get("name")
    if not isinstance(name, str):
        return
    path, facts = (*path, "name"), {"name": name}
    if not name.strip():
        yield Remark(path, "server-name", "it is empty; agents build the names of tools from it", "warning", facts)
    elif any(each.isspace() for each in name):
        text = "white space is valid, but some agents refuse it (codex); letters, digits, - and _ are safe"
        yield Remark(path, "server-name", text, "warning", facts)
    elif "." in name:
        text = "a dot is valid, but some agents refuse it (agy); letters, digits, - and _ are safe"
        yield Remark(path, "server-name", text, "warning", facts)
    if name in names:
        text = "another server in the request has this name" + ("" if version == 1 else "; agents refuse this")
        yield Remark(path, "duplicate-server", text, "warning" if version == 1 else "error", facts)
    names.add(name)


def _of_process(entry: Mapping[str, Any], path: Path, flavour: Flavour) -> Iterator[Remark]:
    command = entry.get("command")
    if isinstance(command, str) and not is_absolute(command, flavour=flavour):
        text = "it is not an absolute path; send the path from `which` (`where` on Windows, resolve_command in Python)"
        if any(map(str.isspace, command)):
            text += f"; {ARGUMENTS_APART}"
        yield Remark((*path, "command"), "relative-command", text, "warning", {"command": command})
    seen: set[str] = set()
    for index, name, _ in pairs_of(items_of(entry.get("env"))):
        # On Windows, names that differ only in case are the same variable.
        same = name.upper() if flavour == "windows" else name
        if same in seen:
            text = "an earlier entry has this name; the last one wins, and some agents refuse both"
            yield Remark((*path, "env", index, "name"), "duplicate-env", text, "warning", {"name": name})
        seen.add(same)


def _of_headers(entry: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    for index, name, value in pairs_of(items_of(entry.get("headers"))):
        here = (*path, "headers", index)
        if is_owned(name):
            text = "the transport sets this header itself; this value is not sent"
            yield Remark((*here, "name"), "transport-header", text, "warning", {"name": name})
        if any(each in name or each in value for each in "\r\n"):
            yield Remark(here, "header-line-break", "a header cannot contain a line break", "error", {"name": name})


def _transport(entry: Mapping[str, Any]) -> str:
    """Return the transport of an entry: its `type`, by default stdio."""
    named = entry.get("type", "stdio")
    return named if isinstance(named, str) else ""


def _raw(server: object) -> object:
    """Return the JSON of a server."""
    return dict(cast("Mapping[str, Any]", server)) if isinstance(server, Mapping) else from_json(encode(server))
