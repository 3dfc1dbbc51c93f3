"""The formats of Codex and OpenCode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_launch._json_values import as_items, as_members, kind_of
from mcp_launch.config import _references as variables
from mcp_launch.config._detection import project_of
from mcp_launch.config._documents import Path
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.agents import without_forwarded
from mcp_launch.config._formats.format import EntryReading, Reading, Writing
from mcp_launch.config._formats.map import MEMBERS, OF_CLIENTS, MapFormat
from mcp_launch.config._references import Reference, Text


class Codex(MapFormat):
    """Codex: `mcp_servers` in `config.toml`, with stdio and Streamable HTTP servers.

    There are no references in strings. `env_vars`, `bearer_token_env_var` and `env_http_headers` name variables. Codex
    ignores unknown members, rejects the whole file because of `bearer_token`, or of a member of the other type of
    server, and does not start a server whose name has other characters than letters, digits, `_` and `-`. Source:
    `RawMcpServerConfig` in `codex-rs/config/src/mcp_types.rs`, `mcp_edit.rs`, and the tests beside them, in its
    repository; about names, https://github.com/openai/codex/issues/5635.
    """

    name = "codex"
    title = "Codex"
    grammar = "toml"
    at = (("mcp_servers",),)
    headers = "http_headers"
    transports = ("stdio", "http")
    phrases = OF_CLIENTS._replace(
        needs='a "command" or a "url"', words=(("headers", "http_headers"),), urls=(("http", "url"),)
    )
    cwd = "cwd"
    timeout = ("tool_timeout_sec", 1.0)
    disabled = ("enabled", False)
    others = frozenset(
        {
            *("env_vars", "bearer_token_env_var", "env_http_headers"),
            *("startup_timeout_sec", "startup_timeout_ms", "required", "supports_parallel_tool_calls"),
            *("default_tools_approval_mode", "enabled_tools", "disabled_tools", "tools"),
            *("scopes", "oauth", "oauth_resource", "name", "omit_tools_from"),
        }
    )
    unread = frozenset({"experimental_environment", "environment_id", "auth", "http_headers_helper"})
    expands = frozenset()
    misplaced = "is for servers of the other type, so Codex rejects the whole file"
    instead = {  # noqa: RUF012 - a Mapping is not written to
        "headers": "ignores headers; write http_headers, or env_http_headers with names of variables",
        "bearer_token": "rejects the whole file because of bearer_token; write bearer_token_env_var with the name of a "
        "variable",
        "disabled": "ignores disabled; write enabled = false",
        "timeout": "ignores timeout; write startup_timeout_sec and tool_timeout_sec",
    }

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        if not re.fullmatch(r"(?a)[\w-]+", at.name):
            message = "Codex does not start a server with this name; use only letters, digits, _ and -"
            at.note("other_name", message)
        is_part = raw.keys() <= self.known() - {"command", "url"}
        if is_part and project_of(at.reading.source, at.reading.values.env):
            at.note("not_in_file", "is a server of the user's file, whose settings this file changes")
            return None
        return super().read_entry(raw, at)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        return "stdio" if "command" in raw else super().transport(raw)

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        def named(variable: Any, *steps: str | int, before: tuple[str, ...] = ()) -> Text:
            return Text((*before, Reference("", "env", variable)), at.place(*steps))

        members, used = dict(raw), {"env_vars"}
        of_url = ("bearer_token_env_var", "env_http_headers", "oauth", "oauth_resource")
        for each in of_url if kind == "stdio" else ("env_vars", "cwd"):
            if each in raw:
                at.note("unused_member", f"{each} {self.misplaced}", each)
        if kind == "stdio":
            # An item may be an object that also names the machine whose variable it is.
            names = [as_members(each).get("name", each) for each in as_items(raw.get("env_vars"))]
            passed = {each: named(each, "env_vars", index) for index, each in enumerate(names) if _is_name(each)}
            if passed:
                members["env"] = {**passed, **as_members(raw.get("env"))}
        else:
            used = {"bearer_token_env_var", "env_http_headers"}
            more = as_members(raw.get("env_http_headers"))
            headers = {each: named(name, "env_http_headers", each) for each, name in more.items() if _is_name(name)}
            if _is_name(bearer := raw.get("bearer_token_env_var")):
                headers["Authorization"] = named(bearer, "bearer_token_env_var", before=("Bearer ",))
            if headers:
                members["http_headers"] = {**as_members(raw.get("http_headers")), **headers}
        server, more_used = super().shape(kind, members, at)
        return server, used | more_used

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        if writing.config.format != self.name and not re.fullmatch(r"(?a)[\w-]+", entry.name):
            writing.note(entry, "not_said", "Codex does not start a server with this name; rename it")
        if kind == "stdio":
            names, server = without_forwarded(server)
            named: dict[str, Any] = {"env_vars": names}
        else:
            pairs = [as_members(pair) for pair in as_items(server.get("headers"))]
            bearer = [pair for pair in pairs if _is_authorization(pair) and _variable(pair.get("value"), "Bearer ")]
            whole = [pair for pair in pairs if _variable(pair.get("value"))]
            named = {
                "bearer_token_env_var": _variable(bearer[-1]["value"], "Bearer ") if bearer else None,
                "env_http_headers": {pair["name"]: _variable(pair["value"]) for pair in whole},
            }
            if taken := [*bearer, *whole]:
                server = {**server, "headers": [pair for pair in server["headers"] if pair not in taken]}
        return {**super().unshape(entry, kind, server, writing), **{key: each for key, each in named.items() if each}}


class OpenCode(MapFormat):
    """OpenCode: `mcp` in `opencode.json` or `opencode.jsonc`, JSON with comments and trailing commas.

    `command` is a list with the arguments. `{env:VAR}` and `{file:path}` are replaced everywhere, an unset variable by
    nothing. A remote server is tried with Streamable HTTP, then with SSE. An entry without `type` may only enable or
    disable a server of another file. Newer releases also read `mcp.servers`, whose entries have `disabled`, and objects
    as `timeout`. Unknown members of a server are errors in older releases and ignored in newer ones; a wrong `type` or
    `command` rejects the whole file. Source: "MCP servers" and "Config" in its documentation,
    `packages/core/src/v1/config/mcp.ts`, `packages/core/src/config/normalize.ts`, `packages/schema/src/mcp.ts`,
    `packages/opencode/src/config/variable.ts` and `src/mcp/index.ts` in its repository, and
    https://github.com/anomalyco/opencode/issues/39431.
    """

    name = "opencode"
    title = "OpenCode"
    grammar = "jsonc"
    syntax = variables.OPENCODE
    at = (("mcp",),)
    env = "environment"
    types = {"stdio": "local", "http": "remote", "sse": "remote"}  # noqa: RUF012 - a Mapping is not written to
    phrases = OF_CLIENTS._replace(
        http='set "type" to "remote"',
        sse='set "type" to "remote"',
        needs='a "type", and a "command" or a "url"',
        words=(("env", "environment"), ("stdio", "local"), ("http", "remote"), ("sse", "remote")),
        lists_command=True,
        tries_both=True,
    )
    guesses_sse = True
    cwd = "cwd"
    timeout = ("timeout", 0.001)
    disabled = ("enabled", False)
    others = frozenset({"oauth", "codemode"})
    expands = frozenset({*MEMBERS, "environment", "cwd"})
    instead = {  # noqa: RUF012
        "env": "ignores env, or rejects the file; write environment",
        "args": "ignores args, or rejects the file; write the arguments into the list of command",
        "disabled": 'ignores disabled, or rejects the file; write "enabled": false',
    }

    def known(self) -> set[str]:
        return super().known() - {"args", "transport"}

    def read_map(self, servers: Mapping[str, Any], at: Path, reading: Reading) -> Iterator[Entry]:
        older = {name: raw for name, raw in servers.items() if name not in ("servers", "timeout")}
        yield from super().read_map(older, at, reading)
        yield from _NEWER.read_map(as_members(servers.get("servers")), (*at, "servers"), reading)

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        if raw.keys() in ({"enabled"}, {"disabled"}):
            at.note("not_in_file", "is a server of another file")
            return None
        return super().read_entry(raw, at)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        if (kind := raw.get("type")) == "local" or (kind is None and "url" not in raw):
            return "stdio"
        return self.guess("url", raw.get("url")) if kind in ("remote", None) else super().transport(raw)

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        if raw.get("type") not in ("local", "remote"):
            meant = "local" if kind == "stdio" else "remote"
            message = f'OpenCode requires the type local or remote; write "type": "{meant}"'
            at.note("missing_type", message)
        command = raw.get("command")
        if as_items(command):
            program, *args = as_items(command)
            raw = {**raw, "command": program, "args": args}
        elif command is not None and kind == "stdio":
            message = f"command must be a list with the program and its arguments, not {kind_of(command)}"
            at.note("wrong_type", message, "command")
        return super().shape(kind, raw, at)

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        raw = super().unshape(entry, kind, server, writing)
        if "command" in raw:
            raw["command"] = [raw["command"], *as_items(raw.pop("args", None))]
        if kind != "stdio" and (meant := self.guess("url", server.get("url"))) != kind:
            writing.note(entry, "not_said", f"OpenCode tries Streamable HTTP first, which means {meant}, not {kind}")
        return raw

    def write_file(self, servers: dict[str, Any], writing: Writing) -> dict[str, Any]:
        return {"$schema": "https://opencode.ai/config.json", **super().write_file(servers, writing)}


class _NewerOpenCode(OpenCode):
    """The entries of `mcp.servers`."""

    disabled = ("disabled", True)
    read_map = MapFormat.read_map

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        if isinstance(raw.get("timeout"), dict):
            raw = {**raw, "timeout": raw["timeout"].get("execution")}
        return super().read_entry(raw, at)


_NEWER = _NewerOpenCode()


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_authorization(pair: Mapping[str, Any]) -> bool:
    return str(pair.get("name")).lower() == "authorization"


def _variable(value: Any, before: str = "") -> str | None:
    """Return the name of the variable that a value consists of, after this beginning."""
    if not isinstance(value, Text):
        return None
    *start, last = value.parts
    is_alone = start == ([before] if before else [])
    if is_alone and isinstance(last, Reference) and last.kind == "env" and last.default is None:
        return last.name
    return None
