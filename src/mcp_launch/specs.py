"""One shape for every way to name a server: a model of any protocol version, or its raw JSON, becomes a `ServerSpec`.

The tag decides first: `{"type": "http"}` with the members of stdio is a broken http entry, never a stdio one. A missing
`type` is stdio. What does not parse is a `LaunchFailure` in stage `spec`, so that no entry is dropped in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, TypeAlias, cast
from urllib.parse import urlsplit

from pydantic import BaseModel

from acp_bindings import DecodeError, EncodeError, decode, encode, v1, v2
from acp_bindings import Issue as SchemaIssue
from acp_bindings.secrets.redact import Redactor, shown_url
from acp_bindings.setup.transports import type_fault
from mcp_launch.failures import LaunchFailure
from mcp_launch.shapes import TransportName

__all__ = ["HttpServer", "ServerSpec", "SseServer", "StdioServer", "parse_server"]

Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class StdioServer:
    """A process that speaks MCP on its standard input and output."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Pairs = field(default=(), repr=False)

    transport: ClassVar[TransportName] = "stdio"

    @cached_property
    def redactor(self) -> Redactor:
        """What must not be shown of this server."""
        return Redactor(value for _, value in self.env)

    @property
    def target(self) -> str:
        """What is started or connected to, as it may be shown."""
        return self.command


@dataclass(frozen=True, kw_only=True)
class HttpServer:
    """A URL that speaks MCP's Streamable HTTP transport."""

    name: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)

    transport: ClassVar[TransportName] = "http"

    @cached_property
    def redactor(self) -> Redactor:
        """What must not be shown of this server."""
        return Redactor((value for _, value in self.headers), urls=[self.url])

    @property
    def target(self) -> str:
        """What is started or connected to, as it may be shown."""
        return shown_url(self.url)


@dataclass(frozen=True, kw_only=True)
class SseServer(HttpServer):
    """A URL that speaks MCP's deprecated SSE transport."""

    transport: ClassVar[TransportName] = "sse"


ServerSpec: TypeAlias = StdioServer | HttpServer | SseServer


def parse_server(server: object, *, index: int | None = None) -> ServerSpec:
    """Read an `McpServer` model of any protocol version, or its JSON; `index` is its place in `mcpServers`.

    Raises:
        LaunchFailure: in stage `spec`, with one entry in `.facts["issues"]` for each thing that is wrong.
    """
    try:
        entry: object = json.loads(encode(server)) if isinstance(server, BaseModel) else server
    except EncodeError as error:
        name = _entry_name({"name": getattr(server, "name", None)}, index=index)
        raise _invalid(name, [_issue("", issue.rule, issue.message) for issue in error.issues]) from None
    name = _entry_name(entry, index=index)
    if isinstance(entry, str | bytes | bytearray):
        # Which `decode` would read as the JSON of an entry.
        raise _invalid(name, [_issue("", "type", "must be an object, not a text")])
    tag = _member(entry, "type")
    if not isinstance(tag, str | None):
        raise _invalid(name, [_issue("/type", "type", "must be a string")])
    fault = type_fault(_members(entry))
    if fault and not fault.unknown:
        raise _invalid(name, [_issue("/type", "value", fault.message)])
    if tag not in _FORMS:
        raise LaunchFailure(
            f"/type: {fault.message}" if fault else f'the transport "{tag}" is not supported; use stdio or http',
            server=name,
            stage="spec",
            code="unsupported_transport",
            facts={"type": tag},
        )
    if (members := _members(entry)) and tag in (None, "stdio") and not members.keys() & {"command", "url"}:
        raise _invalid(name, [_says_nothing(members)])
    try:
        spec = _read(tag, entry)
    except DecodeError as error:
        raise _invalid(name, [_schema_issue(issue, entry) for issue in error.issues]) from None
    if issues := list(_value_issues(spec)):
        raise _invalid(name, issues)
    # The schema takes an empty name, which nobody could see.
    return spec if spec.name else replace(spec, name=name)


def _entry_name(entry: object, *, index: int | None = None) -> str:
    """What to call an entry that may be broken: its name, or its place."""
    name = _member(entry, "name")
    if isinstance(name, str) and name:
        return name
    return "server" if index is None else f"mcpServers[{index}]"


def _member(entry: object, name: str) -> object:
    return _members(entry).get(name)


def _members(entry: object) -> dict[str, object]:
    return cast("dict[str, object]", entry) if isinstance(entry, dict) else {}


# Which rules hold is seen from the form: only v2 writes the tag of stdio, and then `args` and `env` may be left out, as
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


Issue: TypeAlias = dict[str, str]
"""One thing that is wrong: `path` (a JSON pointer into the entry), `rule`, `message`."""


def _issue(path: str, rule: str, message: str) -> Issue:
    return {"path": path, "rule": rule, "message": message}


def _invalid(name: str, issues: list[Issue]) -> LaunchFailure:
    told = "; ".join(f"{issue['path'] or 'the entry'}: {issue['message']}" for issue in issues)
    return LaunchFailure(told, server=name, stage="spec", code="invalid_spec", facts={"issues": issues})


def _says_nothing(entry: dict[str, object]) -> Issue:
    """That an entry has neither a command nor a URL, or calls it something else."""
    for member in ("command", "url"):
        if meant := _meant(member, entry):
            return _issue(f"/{member}", "missing", f"field required{meant}")
    return _issue("", "missing", 'a server must be a map with a "command", or with a "url" and its "type"')


def _meant(member: str, entry: object) -> str:
    """Which member most likely was to be this one, which is missing."""
    import difflib  # noqa: PLC0415 - for what is misspelt, and most is not

    near = difflib.get_close_matches(member, sorted({*map(str, _members(entry))} - _MEMBERS), n=1)
    return f'; is "{near[0]}" meant to be {member}?' if near else ""


_MEMBERS = frozenset(("name", "type", "command", "args", "env", "url", "headers"))


def _schema_issue(issue: SchemaIssue, entry: object) -> Issue:
    """What breaks the schema, with what to write instead where people are known to get it wrong."""
    message = issue.message[:1].lower() + issue.message[1:]
    match issue.path, entry:
        case (str() as member,), _ if issue.rule == "missing" and (meant := _meant(member, entry)):
            message += meant
        case ("args" | "env" | "headers",), _ if issue.rule == "missing":
            message += "; send [] when there is nothing to say"
        case ("env", *_), {"env": dict()}:
            message += ' of {"name", "value"} objects, not a map'
        case ("headers", *_), {"headers": dict()}:
            message += ' of {"name", "value"} objects, not a map'
        case ("env" | "headers" as member, int() as number, *_), _:
            message += _whose(entry, member, number)
        case _:
            pass
    return _issue("".join(f"/{step}" for step in issue.path), issue.rule, message)


def _whose(entry: object, member: str, number: int) -> str:
    """The name of the variable or header that is meant, which is no secret; a client's map has no number for it."""
    pairs = _member(entry, member)
    name = _member(cast("list[object]", pairs)[number], "name") if isinstance(pairs, list) else None
    return f" (that of {name})" if isinstance(name, str) and name else ""


_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_URL = re.compile(r"https?://(?P<path>[^?#]*)", re.IGNORECASE)
_NOT_IN_HEADERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _value_issues(spec: ServerSpec) -> Iterator[Issue]:
    """What the schema lets pass, but no process or HTTP request can be made of. Never quotes a secret."""
    if isinstance(spec, StdioServer):
        yield from _process_issues(spec)
        return
    yield from _url_issues(spec.url)
    for number, (name, value) in enumerate(spec.headers):
        if not _HEADER_NAME.fullmatch(name):
            yield _issue(f"/headers/{number}/name", "value", "is not the name of an HTTP header")
        if _NOT_IN_HEADERS.search(value):
            message = f"must not contain line breaks or control characters (that of {name})"
            yield _issue(f"/headers/{number}/value", "value", message)


def _process_issues(spec: StdioServer) -> Iterator[Issue]:
    if not spec.command or "\0" in spec.command:
        yield _issue("/command", "value", "must be the path of a program")
    elif found := _URL.match(spec.command):
        kind = "sse" if found["path"].endswith("/sse") else "http"
        yield _issue("/command", "value", f'is a URL, and no program: give it as "url", with "type": "{kind}"')
    for number, arg in enumerate(spec.args):
        if "\0" in arg:
            yield _issue(f"/args/{number}", "value", "must not contain NUL")
    for number, (name, value) in enumerate(spec.env):
        if not name or "=" in name or "\0" in name:
            yield _issue(f"/env/{number}/name", "value", "is not the name of an environment variable")
        if "\0" in value:
            yield _issue(f"/env/{number}/value", "value", f"must not contain NUL (that of {name})")


def _url_issues(url: str) -> Iterator[Issue]:
    if _CONTROL.search(url):
        yield _issue("/url", "value", "must not contain spaces or control characters")
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        yield _issue("/url", "value", "is not a URL")
        return
    try:
        _ = parts.port
    except ValueError:
        yield _issue("/url", "value", "has a port that is no number from 0 to 65535")
        return
    if parts.scheme not in ("http", "https"):
        instead = f", not with {parts.scheme}://" if parts.scheme and "://" in url else ""
        yield _issue("/url", "value", f"must start with http:// or https://{instead}")
    elif not parts.hostname:
        yield _issue("/url", "value", "has no host")
