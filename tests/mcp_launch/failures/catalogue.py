"""The ways in which servers fail, with a case and the expected message for each.

The tests play every case on both event loops; `python -m tests.mcp_launch.failures.table` prints them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Literal, TypeAlias

import anyio
import pytest
from mcp import MCPError

import mcp_launch
from mcp_launch import Budgets, Fleet
from tests.mcp_launch.failures.scene import Entry, Scene
from tests.mcp_launch.support import ask

__all__ = ["CASES", "Case", "Group", "Scenario"]

Group: TypeAlias = Literal["stdio", "Streamable HTTP", "SSE", "many at once"]

PATIENT = Budgets(close=1.0)
SHORT = Budgets(connect=0.5, handshake=0.8, probe=0.3, close=1.0)
"""Budgets for servers that use all of their time."""
HANDSHAKE = {"era": "handshake", "protocol_version": "2025-06-18"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case with one server."""

    group: Group
    what: str
    """A description of the case."""
    server: Callable[[Scene], Entry]
    must: str = "works"
    """`works`, `works + warning`, or the stage and the code of the failure."""
    says: tuple[str, ...] = ()
    """Strings that the failure's message must contain, or else the warnings."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Facts of the failure: the value, or a pattern in it."""
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Members of the server's report."""
    budgets: Budgets = PATIENT
    within: float = 2.0
    """Seconds within which the outcome must be known and `then` must have ended."""
    then: Callable[[Scene, Fleet], Awaitable[None]] | None = None
    """Uses the launched server."""
    after: Callable[[Scene], None] | None = None
    """Checks the state after everything has been closed."""

    def __str__(self) -> str:
        return f"{self.group}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A case with several servers."""

    what: str
    must: str
    play: Callable[[Scene], Awaitable[tuple[str, Fleet | None]]]
    """Launches and closes them, and returns the outcome in the form of `must`."""
    group: Group = "many at once"
    within: float = 3.0

    def __str__(self) -> str:
        return f"{self.group}: {self.what}"


def codes_of(cases: Iterable[Case | Scenario]) -> list[str]:
    """Return the code of each case in which a server fails."""
    return [case.must.rpartition(": ")[2] for case in cases if ": " in case.must]


def _stdio() -> list[Case]:
    def case(what: str, server: str | Callable[[Scene], Entry], must: str = "works", *says: str, **more: Any) -> Case:
        made = server if callable(server) else methodcaller("plain", server)
        return Case(group="stdio", what=what, server=made, must=must, says=says, **more)

    list_budget = Budgets(list=0.5, close=1.0)
    return [
        case(
            "no such command (absolute)",
            lambda scene: scene.command("/no/such/program"),
            "spawn: command_not_found",
            '"/no/such/program"',
            facts={"command": "/no/such/program"},
        ),
        case(
            "no such command (bare name)",
            lambda scene: scene.command("no-such-program"),
            "spawn: command_not_found",
            '"no-such-program"',
            "on PATH",
            "ACP requires an absolute path",
            facts={"command": "no-such-program"},
        ),
        case(
            "a whole command in one string",
            lambda scene: scene.command("python3 -m server"),
            "spawn: command_not_found",
            'write "command": "python3", "args": ["-m", "server"]',
            facts={"edit": {"command": "python3", "insert": ["-m", "server"], "at": 0}},
        ),
        case(
            "a file that is not executable",
            lambda scene: scene.file("#!/bin/sh\n"),
            "spawn: not_executable",
            "is not executable",
        ),
        case(
            "a directory",
            lambda scene: scene.command(str(scene.folder)),
            "spawn: not_executable",
            "is a directory",
        ),
        case(
            "exits with a message on stderr",
            "exits_with_message",
            "handshake: exited",
            "exited with status 3",
            "cannot start with key [redacted]",
            facts={"exit_code": 3, "stderr": re.compile(r"cannot start with key \[redacted\]")},
        ),
        case(
            "was written for version 1 of the MCP SDK",
            lambda scene: scene.command("/bin/sh", "-c", "echo \"No module named 'mcp.server.fastmcp'\" >&2; exit 1"),
            "handshake: exited",
            'got version 2; install the older one where it runs (pip install "mcp<2")',
        ),
        case(
            "only sends back its input",
            lambda scene: scene.command("/bin/cat"),
            "handshake: not_mcp",
            "only sends back its input",
            facts={"stderr": []},
            within=3.0,
        ),
        case(
            "exits silently",
            "exits_silently",
            "handshake: exited",
            "exited with status 7; it printed nothing",
            facts={"exit_code": 7, "stderr": []},
        ),
        case(
            "dies of a signal",
            "dies_of_signal",
            "handshake: exited",
            "was ended by SIGSEGV",
            facts={"signal": "SIGSEGV"},
        ),
        case(
            "prints usage on stdout and exits",
            "prints_usage",
            "handshake: exited",
            "usage: plain [--port PORT]",
            "not a JSON-RPC",
            facts={"exit_code": 2, "stdout": re.compile(r"usage: plain \[--port PORT\]")},
        ),
        case(
            "prints a log on stdout and exits",
            "logs_then_exits",
            "handshake: exited",
            "INFO reading plain.toml",
            "not a JSON-RPC",
            facts={"exit_code": 1, "stdout": re.compile("INFO reading plain.toml.*ERROR no such file")},
        ),
        case(
            "prints a log on stdout, then silence",
            "logs_then_silent",
            "handshake: not_mcp",
            "Listening on port 8080",
            'it listens on port 8080; if it speaks MCP there, give that as "url"',
            facts={"stdout": re.compile("Listening on port 8080")},
            budgets=SHORT,
        ),
        case(
            "listens for HTTP, and says so on stderr",
            "listens_for_http",
            "handshake: timeout",
            'it listens at http://127.0.0.1:8000/mcp; if it speaks MCP there, give that as "url"',
            budgets=SHORT,
        ),
        case(
            "a banner on stdout, then works",
            "prints_banner",
            "works + warning",
            "Welcome to plain 1.0",
            "not a JSON-RPC",
        ),
        case("a line that is not UTF-8, then works", "prints_bytes", "works + warning", "not a JSON-RPC"),
        case("CRLF line ends", "writes_crlf"),
        case(
            "never answers initialize",
            "mute",
            "handshake: timeout",
            "within 0.8 s",
            "printed nothing; does it need more time, or an argument to speak MCP on stdio?",
            facts={"budget": 0.8, "stderr": []},
            budgets=SHORT,
        ),
        case(
            "the same, with words on stderr",
            "mutters",
            "handshake: timeout",
            "within 0.8 s",
            "loading the model",
            facts={"budget": 0.8, "stderr": re.compile("loading the model")},
            budgets=SHORT,
        ),
        case(
            "swallows server/discover",
            "swallows_probe",
            within=1.0,
            report=HANDSHAKE,
        ),
        case(
            "exits when it sees server/discover",
            "leaves_at_probe",
            "works + warning",
            "started again",
            report=HANDSHAKE,
        ),
        case(
            "says so when it sees server/discover, and exits",
            "complains_of_probe_and_leaves",
            "works + warning",
            "started again",
            report=HANDSHAKE,
        ),
        case(
            "answers initialize with an error",
            "rejects",
            "handshake: rejected",
            "the licence [redacted] has expired",
            facts={"jsonrpc_error": re.compile(r"-32603.*the licence \[redacted\] has expired")},
        ),
        case(
            "answers an unknown version",
            "speaks_old_version",
            "handshake: unsupported_version",
            "1999-01-01",
            "2025-06-18",
            facts={"server": re.compile("^1999-01-01"), "supported": re.compile("2025-06-18")},
        ),
        case(
            "answers a malformed result",
            "answers_nonsense",
            "handshake: invalid_response",
            "not valid MCP: capabilities: must be an object; is there a newer release of the server?",
            facts={"field": "capabilities"},
        ),
        case(
            "dies on tools/list",
            "dies_at_list",
            "list: exited",
            "cannot list the tools",
            facts={"exit_code": 1, "stderr": re.compile("cannot list the tools")},
        ),
        case(
            "hangs on tools/list",
            "hangs_at_list",
            "list: timeout",
            "within 0.5 s",
            facts={"budget": 0.5},
            budgets=list_budget,
        ),
        case("4 MB on stderr, then works", "floods_stderr", then=_answers),
        case("a line of 22 MB", "works", then=_takes_a_long_line),
        case(
            "ignores EOF and SIGTERM",
            "ignores_end",
            "works + warning",
            "ended by a signal",
        ),
        case("exits and leaves a child in its group", "leaves_child", then=_has_two_processes),
        case(
            "a child holds the pipes and is mute",
            "wraps_mute_child",
            "handshake: timeout",
            "within 0.8 s",
            facts={"budget": 0.8},
            budgets=SHORT,
        ),
    ]


async def _answers(scene: Scene, fleet: Fleet) -> None:
    assert (await ask(fleet["server"].session, "environment"))["cwd"] == str(scene.folder)


async def _takes_a_long_line(scene: Scene, fleet: Fleet) -> None:
    assert len(await ask(fleet["server"].session, "big", size=22_000_000)) == 22_000_000


async def _has_two_processes(scene: Scene, fleet: Fleet) -> None:
    assert len(scene.marked.running()) == 2


def _web(group: Literal["Streamable HTTP", "SSE"]) -> list[Case]:
    kind: Literal["http", "sse"] = "http" if group == "Streamable HTTP" else "sse"

    def case(what: str, server: str | Callable[[Scene], Entry], must: str = "works", *says: str, **more: Any) -> Case:
        made = server if callable(server) else methodcaller("at", server, kind=kind)
        return Case(group=group, what=what, server=made, must=must, says=says, **more)

    def status(status: int, code: str, *says: str) -> Case:
        body = re.compile(r"no entry with \[redacted\]")
        facts = {"status": status, "body": body, "url": re.compile(rf"^http://127\.0\.0\.1:\d+/{status}$")}
        return case(f"{status}", f"{status}", f"connect: {code}", str(status), *says, facts=facts)

    def login(what: str, path: str, login: Literal["none", "basic", "bearer"], *says: str, **facts: Any) -> Case:
        facts |= {"status": 401, "body": re.compile("no entry"), "authorization_sent": login != "none"}
        made = methodcaller("at", path, kind=kind, login=login)
        return case(what, made, "connect: unauthorized", "401", *says, facts=facts)

    def elsewhere(what: str, status: int) -> Case:
        return case(
            what,
            lambda scene: scene.at(f"to/{status}/{scene.other.port}", kind=kind),
            "connect: redirected",
            facts={"status": status, "location": re.compile(r"^http://127\.0\.0\.1:\d+/mcp[^?]*$")},
            after=_nothing_was_sent_elsewhere,
        )

    def not_mcp(what: str, path: str, content_type: str, body: str) -> Case:
        facts = {"content_type": content_type, "body": re.compile(body)}
        return case(what, path, "connect: not_mcp", facts=facts)

    asks = re.compile(r'Bearer error="invalid_token", realm="\[redacted\]"')
    shared = [
        login("401 with WWW-Authenticate", "401/WWW-Authenticate=Bearer", "none", "asks for Bearer"),
        login("401 without WWW-Authenticate", "401", "none", "does it require an Authorization header?"),
        login("401 though a token was sent", "401/WWW-Authenticate=Bearer", "bearer", "still valid?"),
        login("401 though a password was sent", "401", "basic", "still valid?"),
        status(403, "forbidden"),
        status(404, "not_found", f"is the path right? It is often /{'mcp' if kind == 'http' else 'sse'}"),
        status(405, "method_not_allowed"),
        status(500, "http_error"),
        elsewhere("307 to another origin", 307),
        not_mcp("200 with HTML", "html", "text/html", "^<html>Welcome</html>"),
        case(
            "connection refused",
            lambda scene: scene.at("mcp", kind=kind, base=f"http://127.0.0.1:{scene.closed_port}"),
            "connect: refused",
            "does not accept connections",
            facts={"host": "127.0.0.1", "port": int},
        ),
        case(
            "name is not known (DNS)",
            lambda scene: scene.at("mcp", kind=kind, base="http://no-such-host.invalid"),
            "connect: dns",
            "no-such-host.invalid",
            facts={"host": "no-such-host.invalid", "port": 80},
        ),
        case("drops the connection", "drop", "connect: disconnected", facts={"host": "127.0.0.1", "port": int}),
        case(
            "a certificate that is not trusted",
            lambda scene: scene.at("mcp", kind=kind, base=f"https://localhost:{scene.tls_port}"),
            "connect: tls",
            "unable to get local issuer certificate",
            facts={"host": "localhost", "port": int},
        ),
        case(
            "https:// to a plain port",
            lambda scene: scene.at("mcp", kind=kind, base=f"https://127.0.0.1:{scene.web.port}"),
            "connect: tls",
            "should the URL start with http://?",
            facts={"host": "127.0.0.1", "port": int},
        ),
        case(
            "http:// to a TLS port",
            lambda scene: scene.at("mcp", kind=kind, base=f"http://localhost:{scene.tls_port}"),
            "connect: tls",
            "use https://",
            facts={"host": "localhost", "port": int},
        ),
        case(
            "accepts and never answers", "never", "connect: timeout", "within", facts={"budget": float}, budgets=SHORT
        ),
    ]
    if kind == "sse":
        return [
            *shared,
            case(
                "a Streamable HTTP url",
                "works",
                "connect: wrong_transport",
                'set "type" to "http"',
            ),
            case(
                "its endpoint is on another origin",
                lambda scene: scene.at(f"beside/{scene.other.port}", kind="sse"),
                "connect: cross_origin_endpoint",
                "nothing was sent there",
                facts={"origin": re.compile("^http://127"), "endpoint_origin": re.compile("^http://127")},
                after=_nothing_was_sent_elsewhere,
            ),
            case(
                "refuses the first message",
                "sse",
                "handshake: http_error",
                "500",
                facts={"status": 500, "body": str},
            ),
            case(
                "names no endpoint",
                "silent",
                "connect: timeout",
                "named no endpoint within 0.5 s",
                facts={"budget": 0.5},
                budgets=SHORT,
            ),
            case("works, repeating what it was sent", "events"),
        ]
    return [
        *shared,
        login(
            "401 that tells the error",
            "401/WWW-Authenticate=Bearer%20error=%22invalid_token%22",
            "bearer",
            www_authenticate=asks,
        ),
        case(
            "429 with Retry-After",
            "429/Retry-After=17",
            "connect: rate_limited",
            "try again after 17",
            facts={"status": 429, "retry_after": "17", "body": re.compile("no entry")},
        ),
        status(406, "http_error"),
        status(502, "http_error"),
        case(
            "an SSE url",
            "sse",
            "connect: wrong_transport",
            'deprecated SSE transport: set "type" to "sse"',
        ),
        case(
            "swallows server/discover",
            "swallows",
            within=1.0,
            report=HANDSHAKE,
        ),
        *(case(f"{status} within the origin", f"{status}/Location=/works", report=HANDSHAKE) for status in (307, 308)),
        elsewhere("308 to another origin", 308),
        elsewhere("302 to another origin", 302),
        case(
            "302 within the origin",
            "302/Location=/works",
            "connect: redirected",
            facts={"status": 302, "location": re.compile(r"^http://127\.0\.0\.1:\d+/works$")},
        ),
        not_mcp("200 with an empty body", "empty", "application/json", "^$"),
        not_mcp("200 with bad JSON", "notjson", "application/json", "^{oops"),
        not_mcp("200 with JSON that is no JSON-RPC", "notrpc", "application/json", '^{"status": "up"'),
        not_mcp("202 in place of an answer", "202", "text/plain", "^no entry"),
        not_mcp("204 in place of an answer", "204", "text/plain", "^$"),
        case(
            "an event stream that ends",
            "ends",
            "handshake: not_mcp",
            "ended without a response",
            facts={"content_type": "text/event-stream"},
        ),
        case(
            "an event stream that stays silent",
            "silent",
            "handshake: timeout",
            "within 0.8 s",
            facts={"budget": 0.8},
            budgets=SHORT,
        ),
        case(
            "401 only for the list of tools",
            "expires",
            "list: unauthorized",
            "401",
            facts={"status": 401, "www_authenticate": asks},
        ),
        case(
            "404 only for the list of tools", "forgets", "list: session_lost", "did it restart", facts={"status": 404}
        ),
        case("401 only for a call, which says so", "tool401", then=_call_fails("401 Unauthorized")),
        case(
            "404 only for a call",
            "tool404",
            "call: session_lost",
            "did it restart",
            facts={"status": 404},
            then=_call_fails("no longer has this session", and_ends=True),
        ),
        case(
            "never answers the closing DELETE",
            "clingy",
            "works + warning",
            "did not end its session within 1 s",
            after=_was_told_goodbye,
        ),
        case("ftp:// as its url", lambda scene: scene.at("mcp", base="ftp://127.0.0.1"), **_invalid("/url", "ftp://")),
        case("a url without scheme", lambda scene: scene.url("127.0.0.1/mcp"), **_invalid("/url", "http://")),
        case(
            "CR and LF in a header",
            lambda scene: scene.url(scene.web.origin, **{"X-Bad": f"a\r\nX-Other: {scene.planted['after CRLF']}"}),
            **_invalid("/headers/1/value", "line breaks"),
            after=_nothing_was_sent,
        ),
        case(
            "a header whose name is none",
            lambda scene: scene.url(scene.web.origin, **{"X Bad": scene.planted["bad header"]}),
            **_invalid("/headers/1/name", "not the name of an HTTP header"),
            after=_nothing_was_sent,
        ),
    ]


def _invalid(path: str, says: str) -> dict[str, Any]:
    return {"must": "spec: invalid_spec", "facts": {"issues": re.compile(f"'path': '{path}'.*{says}")}}


def _nothing_was_sent(scene: Scene) -> None:
    assert scene.web.seen == []


def _nothing_was_sent_elsewhere(scene: Scene) -> None:
    assert scene.web.seen
    assert scene.other.seen == []


def _was_told_goodbye(scene: Scene) -> None:
    assert "DELETE" in [method for method, _, _ in scene.web.seen]


def _call_fails(says: str, *, and_ends: bool = False) -> Callable[[Scene, Fleet], Awaitable[None]]:
    async def then(scene: Scene, fleet: Fleet) -> None:
        server = fleet["server"]
        with pytest.raises(MCPError, match=says):
            await server.session.call_tool("hello")
        with anyio.move_on_after(3):
            while and_ends and server.failure is None:
                await anyio.sleep(0.01)

    return then


def _many() -> list[Scenario]:
    return [
        Scenario(
            what="one of ten fails",
            must="9 ready, handshake: exited",
            play=_one_of_ten("exits_with_message"),
        ),
        Scenario(what="one of ten hangs", must="9 ready, handshake: timeout", play=_one_of_ten("mute")),
        Scenario(what="one of ten is malformed", must="9 ready, spec: invalid_spec", play=_one_of_ten(None)),
        Scenario(what="ten that need 1 s each", must="10 ready", play=_ten_slow_ones, within=1.5),
        Scenario(what="cancelled while half of them start", must="cancelled", play=_cancelled_half_way),
        Scenario(what="closed in any order, from any task", must="closed", play=_closed_in_any_order),
        Scenario(what="one dies later", must="1 ready, call: exited", play=_one_dies_later),
        Scenario(what="two with one name", must="1 ready, spec: duplicate_name", play=_two_with_one_name),
    ]


def _states(fleet: Fleet) -> str:
    ready = sum(server.state == "ready" for server in fleet)
    failures = [f"{failure.stage}: {failure.code}" for failure in fleet.failures]
    return ", ".join([f"{ready} ready", *failures])


def _one_of_ten(mode: str | None) -> Callable[[Scene], Awaitable[tuple[str, Fleet | None]]]:
    async def play(scene: Scene) -> tuple[str, Fleet | None]:
        servers = [scene.plain(name=f"n{number}") for number in range(10)]
        servers[4] = scene.plain(mode, name="n4") if mode else {"name": "n4", "command": 5}
        async with mcp_launch.launch(servers, cwd=scene.folder, budgets=Budgets(handshake=2.0, close=1.0)) as fleet:
            for server, told in zip(fleet, fleet.report["servers"], strict=True):
                if server.failure is None:
                    assert sum(told["seconds"].values()) < 2.0, "one waited for another"
                    assert (await ask(server.session, "environment"))["cwd"] == str(scene.folder)
            assert [failure.server for failure in fleet.failures] == ["n4"]
            return _states(fleet), fleet

    return play


async def _ten_slow_ones(scene: Scene) -> tuple[str, Fleet | None]:
    servers = [scene.plain("needs_a_second", name=f"n{number}") for number in range(10)]
    async with mcp_launch.launch(servers, cwd=scene.folder, budgets=Budgets(probe=3.0, close=1.0)) as fleet:
        return _states(fleet), fleet


async def _cancelled_half_way(scene: Scene) -> tuple[str, Fleet | None]:
    servers = [scene.plain("works" if number % 2 else "mute", name=f"n{number}") for number in range(8)]
    servers.append(scene.at("never"))
    fleet = None
    with anyio.move_on_after(0.6) as scope:
        async with mcp_launch.launch(servers, cwd=scene.folder, budgets=PATIENT) as fleet:
            pass
    assert fleet is None
    assert scene.marked.running() == []
    return ("cancelled" if scope.cancelled_caught else "not cancelled"), None


async def _closed_in_any_order(scene: Scene) -> tuple[str, Fleet | None]:
    servers = [scene.plain(name=f"n{number}") for number in range(3)]
    servers += [scene.at("works") | {"name": "web"}, scene.at("events", kind="sse") | {"name": "old"}]
    async with mcp_launch.launch(servers, cwd=scene.folder, budgets=PATIENT) as fleet:
        assert [server.state for server in fleet] == ["ready"] * 5
        others = list(fleet)
        for name in ("web", "n1", "old", "n0"):
            # Each in a separate task, without the context in which it was opened.
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fleet.remove, name)
        await ask(fleet["n2"].session, "environment")
    return ", ".join(sorted({server.state for server in others})), fleet


async def _one_dies_later(scene: Scene) -> tuple[str, Fleet | None]:
    servers = [scene.plain(), scene.plain(name="other")]
    async with mcp_launch.launch(servers, cwd=scene.folder, budgets=PATIENT) as fleet:
        with pytest.raises(MCPError):
            await fleet["server"].session.call_tool("die")
        with anyio.fail_after(5):
            while fleet["server"].failure is None:
                await anyio.sleep(0.01)
        assert fleet["server"].failure.facts["exit_code"] == 9
        await ask(fleet["other"].session, "environment")
        return _states(fleet), fleet


async def _two_with_one_name(scene: Scene) -> tuple[str, Fleet | None]:
    servers = [scene.plain(), scene.plain("leaves_child")]
    async with mcp_launch.launch(servers, cwd=scene.folder, budgets=PATIENT) as fleet:
        assert len(scene.marked.running()) == 1
        return _states(fleet), fleet


CASES: tuple[Case | Scenario, ...] = (*_stdio(), *_web("Streamable HTTP"), *_web("SSE"), *_many())
