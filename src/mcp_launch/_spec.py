"""Read entries of `mcpServers` of any protocol version into one model: a process, or a URL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel

from acp_bindings import DecodeError, EncodeError, decode, encode, v1, v2
from acp_bindings import Issue as SchemaIssue
from acp_bindings._lazy import closest
from acp_bindings._problems.transports import type_fault
from acp_bindings._redact import Redactor, shown_url
from mcp_launch._executable import as_entry, inherited_proxies
from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.failures import OF_ACP, LaunchFailure, Phrases
from mcp_launch.report import TransportName

Pairs: TypeAlias = tuple[tuple[str, str], ...]

_PORT = re.compile(r"(?:\w+_)?PORT=\d{1,5}")
"""A variable with a port, which is not a secret, and which the user needs to read in a URL."""


@dataclass(frozen=True, kw_only=True)
class StdioServer:
    """A process that speaks MCP on its standard input and output."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Pairs = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Further values to redact, from the options."""

    transport: ClassVar[TransportName] = "stdio"

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor of the secrets of this server and of the proxies that it inherits."""
        values = (value for name, value in self.env if not _PORT.fullmatch(f"{name}={value}"))
        return Redactor([*values, *self.secrets], urls=inherited_proxies())

    @property
    def target(self) -> str:
        """The command or URL, without secrets."""
        return self.command


@dataclass(frozen=True, kw_only=True)
class HttpServer:
    """A URL that speaks MCP's Streamable HTTP transport."""

    name: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Further values to redact, from the options."""

    transport: ClassVar[TransportName] = "http"

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor of the secrets of this server."""
        return Redactor([*(value for _, value in self.headers), *self.secrets], urls=[self.url])

    @property
    def target(self) -> str:
        """The command or URL, without secrets."""
        shown = shown_url(self.url)
        # Not all secrets, because the value of a header may be a common word.
        return Redactor(self.secrets)(shown) if self.secrets else shown


@dataclass(frozen=True, kw_only=True)
class SseServer(HttpServer):
    """A URL that speaks MCP's deprecated SSE transport."""

    transport: ClassVar[TransportName] = "sse"


ServerSpec: TypeAlias = StdioServer | HttpServer | SseServer


Issue: TypeAlias = dict[str, str]
"""One error in an entry: `path` (a JSON pointer), `rule`, `message`."""


def issue_at(path: str, rule: str, message: str) -> Issue:
    """Return an issue with this path, rule and message."""
    return {"path": path, "rule": rule, "message": message}


def no_target_issue(members: dict[str, Any], phrases: Phrases) -> Issue:
    """Return the issue of an entry without a command or URL, or with a misspelled one."""
    for member in ("command", "url"):
        if meant := _meant(member, members):
            return issue_at(f"/{member}", "missing", f"field required{meant}")
    return issue_at("", "missing", f"a server must be a map with {phrases.needs}")


def _meant(member: str, entry: object) -> str:
    """Return a hint which field is most likely a misspelling of the missing one."""
    near = closest(member, sorted({*map(str, as_members(entry))} - _MEMBERS))
    return f'; is "{near}" meant to be {member}?' if near else ""


_MEMBERS = frozenset(("name", "type", "command", "args", "env", "url", "headers"))


_SHOWN_WORDS = 3
"""The maximum number of words of a command that are shown."""


def schema_issue(issue: SchemaIssue, entry: object, phrases: Phrases = OF_ACP) -> Issue:
    """Return an issue of the schema, with what to write instead if that is known."""
    message = issue.message[:1].lower() + issue.message[1:]
    if issue.rule == "string_type" and issue.path[-1] != "name" and _at(entry, issue.path) is None:
        message = "has no value"
    match issue.path, entry:
        case _ if "; " in message:
            pass  # The message already says what to write instead.
        case (str() as member,), _ if issue.rule == "missing" and (meant := _meant(member, entry)):
            message += meant
        case ("args" | "env" | "headers",), _ if issue.rule == "missing":
            message += "; send [] if there are none"
        case ("command",), _ if words := texts(as_members(entry).get("command")):
            # Not all of them, because later arguments may contain secrets.
            more = ["…"] if len(words) > _SHOWN_WORDS or as_members(entry).get("args") else []
            message += f"; write {as_entry([*words[:_SHOWN_WORDS], *more], phrases)}"
        case ("args",), _ if isinstance(as_members(entry).get("args"), str):
            message += '; write ["…", "…"], with each argument in its own quotes'
        case ("env" | "headers", int(), *_), _:
            message += _name_hint(as_members(_at(entry, issue.path[:2])).get("name"))
        case _:
            pass
    if isinstance(_at(entry, issue.path), int | float) and issue.rule == "string_type":
        message += "; write it in quotes"
    return issue_at("".join(f"/{step}" for step in issue.path), issue.rule, message)


def _at(entry: object, path: Sequence[str | int]) -> object:
    """Return the value at a path of the entry, or None."""
    for step in path:
        entry = as_members(entry).get(step) if isinstance(step, str) else next(iter(as_items(entry)[step:]), None)
    return entry


def _name_hint(name: object) -> str:
    """Return the name of a variable or header in parentheses, because paths contain only its number.

    Only the part before `=` or `:` is shown, because a name such as `TOKEN=secret` contains a secret by mistake.
    """
    plain = re.split(r"[=:\s]", name, maxsplit=1)[0] if isinstance(name, str) else ""
    return f" (of {plain})" if plain else ""


_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_URL = re.compile(r"https?://(?P<path>[^?#]*)", re.IGNORECASE)
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=")
_NOT_IN_HEADERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def value_issues(spec: ServerSpec, phrases: Phrases) -> Iterator[Issue]:
    """Yield an issue for each value that no process or HTTP request can have."""
    if isinstance(spec, StdioServer):
        yield from _process_issues(spec, phrases)
        return
    yield from _url_issues(spec.url, phrases)
    for number, (name, value) in enumerate(spec.headers):
        if not _HEADER_NAME.fullmatch(name):
            colon = "; remove the colon" if _HEADER_NAME.fullmatch(name.removesuffix(":")) else ""
            yield issue_at(f"/headers/{number}/name", "value", f"is not the name of an HTTP header{colon}")
        if _NOT_IN_HEADERS.search(value):
            message = f"must not contain line breaks or control characters{_name_hint(name)}"
            yield issue_at(f"/headers/{number}/value", "value", message)


def _process_issues(spec: StdioServer, phrases: Phrases) -> Iterator[Issue]:
    if not spec.command or "\0" in spec.command:
        yield issue_at("/command", "value", "must be the path of a program")
    elif found := _URL.match(spec.command):
        kind = "sse" if found["path"].endswith("/sse") else "http"
        yield issue_at("/command", "value", f"is a URL, not a program; give it as {phrases.given(kind)}")
    elif found := _VARIABLE.match(spec.command):
        # Without the value, which may be secret.
        message = f'begins with the variable {found[1]}; put that in "{phrases.called("env")}"'
        yield issue_at("/command", "value", message)
    for number, arg in enumerate(spec.args):
        if "\0" in arg:
            yield issue_at(f"/args/{number}", "value", "must not contain NUL")
    for number, (name, value) in enumerate(spec.env):
        if not name or "=" in name or "\0" in name:
            value_in = '; the part after "=" belongs in its value' if name.find("=") > 0 else ""
            yield issue_at(f"/env/{number}/name", "value", f"is not the name of an environment variable{value_in}")
        if "\0" in value:
            yield issue_at(f"/env/{number}/value", "value", f"must not contain NUL{_name_hint(name)}")


def _url_issues(url: str, phrases: Phrases) -> Iterator[Issue]:
    if _CONTROL.search(url):
        yield issue_at("/url", "value", "must not contain spaces or control characters")
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        yield issue_at("/url", "value", "is not a URL")
        return
    # The variable may also stand for the scheme, or for the whole URL.
    host = parts.netloc.rpartition("@")[2] or url.partition("/")[0]
    if wrong := phrases.unexpanded(host, "url"):
        yield issue_at("/url", "value", wrong)
        return
    try:
        _ = parts.port
    except ValueError:
        yield issue_at("/url", "value", "has a port that is not a number from 0 to 65535")
        return
    if parts.scheme not in ("http", "https"):
        instead = f", not with {parts.scheme}://" if parts.scheme and "://" in url else ""
        yield issue_at("/url", "value", f"must start with http:// or https://{instead}")
    elif not parts.hostname:
        yield issue_at("/url", "value", "has no host")


def parse_server(server: object, *, index: int | None = None, phrases: Phrases = OF_ACP) -> ServerSpec:
    """Read an `McpServer` model of any protocol version, or its JSON; `index` is its position in `mcpServers`.

    Messages use the names of `phrases`; paths in the facts are those of ACP.

    Raises:
        LaunchFailure: in stage `spec`, with an item in `.facts["issues"]` for each error.
    """
    try:
        entry: object = json.loads(encode(server)) if isinstance(server, BaseModel) else server
    except EncodeError as error:
        name = _name({"name": getattr(server, "name", None)}, index=index)
        raise invalid(name, [issue_at("", issue.rule, issue.message) for issue in error.issues], phrases) from None
    name = _name(entry, index=index)
    tag = _tag(entry, name=name, phrases=phrases)
    try:
        spec = _read(tag, entry)
    except DecodeError as error:
        raise invalid(name, [schema_issue(issue, entry, phrases) for issue in error.issues], phrases, tag) from None
    if issues := list(value_issues(spec, phrases)):
        raise invalid(name, issues, phrases, tag)
    # The schema allows an empty name, which would be invisible in messages.
    return spec if spec.name else replace(spec, name=name)


def transport_meant(server: object) -> TransportName | None:
    """Return the transport that an entry, valid or not, most likely means; None if that is unclear."""
    # The relevant fields have the same names in Python.
    entry = vars(server) if isinstance(server, BaseModel) else as_members(server)
    given = entry.get("type") or ("stdio" if "command" in entry else None)
    meant = fault.meant if (fault := type_fault(entry)) else given
    return next((each for each in get_args(TransportName) if each == meant), None)


def _name(entry: object, *, index: int | None) -> str:
    """Return the name of an entry, valid or not, or its position."""
    name = as_members(entry).get("name")
    if isinstance(name, str) and name:
        return name
    return "server" if index is None else f"mcpServers[{index}]"


def _tag(entry: object, *, name: str, phrases: Phrases) -> str | None:
    """Return the `type` by which an entry is read.

    Raises:
        LaunchFailure: the type is not valid.
    """
    if isinstance(entry, str | bytes | bytearray):
        # `decode` would parse it as the JSON of an entry.
        raise invalid(name, [issue_at("", "type", "must be an object, not a string")], phrases)
    members = as_members(entry)
    tag = members.get("type")
    if not isinstance(tag, str | None):
        raise invalid(name, [issue_at("/type", "type", "must be a string")], phrases)
    fault = type_fault(members, called=dict(phrases.words))
    if fault and not fault.unknown:
        raise invalid(name, [issue_at("/type", "value", fault.message)], phrases)
    if tag not in _FORMS:
        raise LaunchFailure(
            f"/type: {fault.message}" if fault else f'the transport "{tag}" is not supported; use stdio or http',
            server=name,
            stage="spec",
            code="unsupported_transport",
            facts={"type": tag},
        )
    if members and tag in (None, "stdio") and not members.keys() & {"command", "url"}:
        raise invalid(name, [no_target_issue(members, phrases)], phrases)
    return tag


def invalid(name: str, issues: list[Issue], phrases: Phrases = OF_ACP, tag: str | None = None) -> LaunchFailure:
    """Return the failure of an entry that is not valid; the message has all issues."""
    message = "; ".join(_shown(issue, phrases, tag) for issue in issues)
    return LaunchFailure(message, server=name, stage="spec", code="invalid_spec", facts={"issues": issues})


def _shown(issue: Issue, phrases: Phrases, tag: str | None) -> str:
    """Return an issue in the terms of the format."""
    message = issue["message"]
    _, *steps = issue["path"].split("/", maxsplit=2)
    if phrases.has_maps and (named := _NAMED.search(message)):
        steps[1:] = [named[1]]
        message = message.replace(named[0], "", 1)
    called = (phrases.url_of(tag) if step == "url" else phrases.called(step) for step in steps)
    return f"{''.join(f'/{each}' for each in called) or 'the entry'}: {message}"


_NAMED = re.compile(r" \(of ([^)]+)\)")


# Only v2 writes the type of stdio, and makes `args`, `env` and `headers` optional; only v1 has sse. An http entry has
# the same type in both, and v2 accepts everything that v1 does.
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
