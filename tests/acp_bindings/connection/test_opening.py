"""Opening a connection over a real socket: a version is negotiated, and its rules apply from then on."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from acp_bindings import encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.connection import AgentHandlers, Connection, Handlers, RequestFailed, initialize
from acp_bindings.setup import (
    OPENING,
    AgentHandshake,
    ClientHandshake,
    NotInitialized,
    UnsupportedProtocolVersion,
    error_from,
)
from acp_bindings.setup.capabilities import AgentCapability
from acp_bindings.setup.errors import BadProtocolVersion
from tests.acp_bindings.connection.support import against, both, same

pytestmark = pytest.mark.anyio

INFO = v1.Implementation(name="helper", version="1.0")
BASELINE: set[AgentCapability] = {"session.close", "session.list", "session.load", "session.resume", "mcp.stdio"}
CLIENT: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": True}}}


def agent(*capabilities: AgentCapability, protocols: Any = (v1,)) -> AgentHandlers:
    """An agent that supports sessions and an extension method."""
    handlers = AgentHandlers(AgentHandshake(info=INFO, protocols=protocols, capabilities=capabilities), flavour="posix")

    @handlers.on("session/new")
    async def new(request: Any, connection: Connection) -> Any:
        wire: Any = connection.protocol
        told = handlers.settled(connection)
        return wire.NewSessionResponse(session_id=f"{told.client.display_name} in {request.cwd}")

    @handlers.on("session/load")
    async def load(request: Any, connection: Connection) -> None: ...

    handlers.on("_acme/do")(same)
    return handlers


@pytest.mark.parametrize(
    ("offered", "calls", "message"),
    [
        *(
            (v1, calls, "agents never receive .*, only clients do; send it with")
            for calls in (v1.SessionNotification, v2.RequestPermissionRequest, "fs/read_text_file")
        ),
        (v1, v1_unstable.ForkSessionRequest, "v1_unstable.ForkSessionRequest .* the handshake offers v1;"),
        (v1_unstable, v1.PromptRequest, "v1.PromptRequest would never be received"),
        (v2, v2_unstable.SetSessionConfigOptionRequest, r"or pass protocols=\[v2_unstable\] to the handshake"),
        *(
            (v1, calls, "initialize is handled by AgentHandlers itself")
            for calls in ("initialize", v1.InitializeRequest, v2.InitializeRequest)
        ),
    ],
)
def test_an_agent_refuses_a_handler_that_would_never_be_called(offered: Any, calls: Any, message: str) -> None:
    handlers = AgentHandlers(AgentHandshake(info=INFO, protocols=[offered]))
    with pytest.raises(ValueError, match=message):
        handlers.on(calls)(same)


def test_an_agent_accepts_the_handler_of_both_sides_and_of_a_version_that_it_does_not_offer() -> None:
    agent(protocols=[v1_unstable]).on(v1_unstable.MessageMcpRequest)(same)
    agent(protocols=[v1]).on(v2.PromptRequest)(same)


@pytest.mark.parametrize("package", [v1, v2])
async def test_both_sides_use_the_negotiated_version(package: Any) -> None:
    handlers = agent(*BASELINE, protocols=[v1, v2])
    handshake = ClientHandshake(info=v1.Implementation(name="editor", version="1.0"), protocols=[package])
    async with both(agent=handlers, protocol=OPENING) as (served, connection):
        peer = await initialize(connection, handshake, timeout=5)
        response = await connection.request(package.NewSessionRequest(cwd="/", mcp_servers=[]))

        assert (peer.protocol, connection.protocol, served.protocol) == (package, package, package)
        assert (peer.display_name, peer.supports("session.load")) == ("helper", True)
        assert response == package.NewSessionResponse(session_id="editor in /")


async def test_an_unsupported_version_raises_in_the_client() -> None:
    async with both(agent=agent(*BASELINE, protocols=[v2]), protocol=OPENING) as (_, connection):
        with pytest.raises(RequestFailed) as caught:
            await initialize(connection, ClientHandshake(info=INFO), timeout=5)

        assert isinstance(error_from(caught.value), UnsupportedProtocolVersion)
        assert connection.protocol is OPENING


@pytest.mark.parametrize("said", ["ok", '{"protocolVersion": 1}', 5, [], None])
async def test_a_response_that_is_not_an_object_has_no_version(said: Any) -> None:
    def initialized(params: Any, connection: Connection) -> Any:
        return said

    async with both(agent={"initialize": initialized}, protocol=OPENING) as (_, connection):
        with pytest.raises(BadProtocolVersion, match="protocolVersion: it is missing"):
            await initialize(connection, ClientHandshake(info=INFO), timeout=5)


async def test_initialize_is_refused_on_a_connection_with_a_version() -> None:
    async with against(role="client") as (connection, _):
        with pytest.raises(ValueError, match="already has a protocol version"):
            await initialize(connection, ClientHandshake(info=INFO), timeout=5)


async def test_a_response_with_an_unknown_version_raises_in_the_client() -> None:
    async with against(role="client", protocol=OPENING) as (connection, bare):
        # Its response is there before the request.
        await bare.say({"id": 0, "result": {"protocolVersion": 7}})
        with pytest.raises(UnsupportedProtocolVersion):
            await initialize(connection, ClientHandshake(info=INFO), timeout=5)


@pytest.mark.parametrize("method", ["session/new", "session/fork", "_acme/do", "_acme/other", "odd"])
async def test_any_request_before_initialize_is_refused(method: str) -> None:
    async with against(agent(), protocol=OPENING) as (_, bare):
        await bare.say({"id": 1, "method": method, "params": {}})
        assert await bare.hear() == {
            "id": 1,
            "error": {"code": -32600, "message": f"{method} came before initialize was answered"},
        }


async def test_a_notification_before_initialize_is_ignored() -> None:
    heard: list[Any] = []
    handlers = agent()
    handlers.on("session/cancel")(lambda params, _: heard.append(params))
    async with against(handlers, protocol=OPENING) as (_, bare):
        cancel = {"method": "session/cancel", "params": {"sessionId": "s"}}
        await bare.say(cancel, {"id": 1, "method": "initialize", "params": CLIENT}, cancel)
        await bare.say({"id": 2, "method": "_acme/do", "params": [1]})
        await bare.hear()
        await bare.hear()

        assert heard == [v1.CancelNotification(session_id="s")]


async def test_initialize_may_be_repeated_after_a_failure() -> None:
    async with against(agent(), protocol=OPENING) as (connection, bare):
        for wrong in ({}, {"protocolVersion": "2025-03-26"}, {"protocolVersion": -1}):
            await bare.say({"id": 1, "method": "initialize", "params": wrong})
            assert (await bare.hear())["error"]["code"] == -32602
        await bare.say({"id": 2, "method": "initialize", "params": CLIENT})
        assert (await bare.hear())["result"]["protocolVersion"] == 1
        assert connection.protocol is v1


async def test_initialize_may_be_repeated_where_the_version_allows_it() -> None:
    handlers = agent(*BASELINE, protocols=[v1, v2])
    async with against(handlers, protocol=OPENING) as (connection, bare):
        other = {"protocolVersion": 2, "info": {"name": "editor", "version": "1"}, "capabilities": {}}
        new: dict[str, Any] = {"id": 3, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
        for again in (CLIENT, other, other):
            await bare.say({"id": 1, "method": "initialize", "params": again})
            assert (await bare.hear())["result"]["protocolVersion"] == again["protocolVersion"]
        await bare.say(new, {"id": 4, "method": "initialize", "params": other})
        assert {each["id"]: "result" in each for each in [await bare.hear(), await bare.hear()]} == {3: True, 4: False}
        assert handlers.settled(connection).client.display_name == "editor"


async def test_handlers_never_see_unadvertised_capabilities_or_relative_paths() -> None:
    search: dict[str, Any] = {"type": "http", "name": "search", "url": "https://example.com/mcp", "headers": []}
    cases: list[tuple[str, dict[str, Any], int | None]] = [
        ("session/load", {"sessionId": "s", "cwd": "/", "mcpServers": []}, -32601),
        ("session/list", {}, -32601),
        ("session/new", {"cwd": "/", "mcpServers": [search]}, -32602),
        ("session/new", {"cwd": "C:\\project", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/"}, -32602),
        ("_acme/do", {}, None),
        ("_acme/other", {}, -32601),
        ("odd", {}, -32601),
    ]
    async with against(agent(), protocol=OPENING) as (_, bare):
        await bare.say({"id": 0, "method": "initialize", "params": CLIENT})
        await bare.hear()
        for method, params, code in cases:
            await bare.say({"id": 1, "method": method, "params": params})
            heard = await bare.hear()
            assert heard.get("error", {}).get("code") == code, (method, params, heard)


async def test_one_agent_serves_connections_of_different_versions() -> None:
    handlers = agent(*BASELINE, protocols=[v1, v2])
    async with (
        against(handlers, protocol=OPENING) as (first, one),
        against(handlers, protocol=OPENING) as (second, other),
    ):
        await one.say({"id": 0, "method": "initialize", "params": CLIENT})
        await one.hear()
        with pytest.raises(NotInitialized, match=r"^settled\(\) came before initialize was answered"):
            handlers.settled(second)
        await other.say({"id": 0, "method": "session/new", "params": {"cwd": "/"}})
        assert (await other.hear())["error"]["code"] == -32600
        assert handlers.settled(first).protocol is v1


async def test_an_error_of_the_setup_rules_is_sent_to_the_peer() -> None:
    def refuse(params: Any, connection: Connection) -> None:
        raise UnsupportedProtocolVersion(requested=7, answered=None, supported=[1])

    async with against({"_acme/do": refuse}) as (_, bare):
        await bare.say({"id": 1, "method": "_acme/do"})
        assert (await bare.hear())["error"] == {
            "code": -32022,
            "message": "the agent does not support ACP version 7; it supports 1",
            "data": {"requested": 7, "supported": [1]},
        }


async def test_a_trace_that_fails_is_logged_once_and_the_conversation_continues(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def trace(_who: str, _line: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with against({"_acme/do": same}, trace=trace) as (_, bare):
        for id_ in (1, 2):
            await bare.say({"id": id_, "method": "_acme/do", "params": {}})
            assert (await bare.hear())["result"] == {}
    assert [each.message for each in caplog.records] == ["trace failed and is not called again"]


async def test_a_trace_has_every_line_with_its_sender() -> None:
    lines: list[tuple[str, bytes]] = []

    def trace(who: str, line: bytes) -> None:
        lines.append((who, line))

    async with against({"_acme/do": same}, trace=trace) as (_, bare):
        await bare.say({"id": 1, "method": "_acme/do", "params": [1]}, b"garbage")
        await bare.hear()
        await bare.hear()

    answered = encode({"jsonrpc": "2.0", "id": 1, "result": [1]}) + b"\n"
    assert [line for who, line in lines if who == "peer"][1:] == [b"garbage"]
    assert [line for who, line in lines if who == "us" and b"error" not in line] == [answered]
    assert len(lines) == 4


async def test_a_client_is_warned_of_advertised_methods_without_a_handler(caplog: pytest.LogCaptureFixture) -> None:
    handlers = Handlers({"terminal/create": same, "terminal/kill": same, "terminal/output": same})
    lacking = "fs/read_text_file, terminal/release, terminal/wait_for_exit"
    assert await warned_of_client(handlers, caplog) == [f"advertised, but without a handler: {lacking}"]


async def test_a_client_with_a_fallback_handler_is_not_warned(caplog: pytest.LogCaptureFixture) -> None:
    handlers = Handlers()
    handlers.otherwise(same)
    assert await warned_of_client(handlers, caplog) == []


async def warned_of_client(handlers: Handlers, caplog: pytest.LogCaptureFixture) -> list[str]:
    handshake = ClientHandshake(info=INFO, capabilities={"fs.read_text_file", "terminal"})
    async with both(agent=agent(), client=handlers, protocol=OPENING) as (_, connection):
        await initialize(connection, handshake, timeout=5)
    return caplog.messages


@pytest.mark.parametrize(
    ("package", "lacking"),
    [(v1, "logout, session/delete"), (v2, "session/close, session/delete, session/list, session/resume")],
)
async def test_an_agent_is_warned_once_of_advertised_methods_without_a_handler(
    package: Any, lacking: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = {"protocolVersion": 1} if package is v1 else {"protocolVersion": 2, "info": {"name": "c", "version": "1"}}
    handlers = agent(
        "session.load", "session.delete", "auth.logout", *(BASELINE if package is v2 else ()), protocols=[package]
    )
    for _ in range(2):
        async with against(handlers, protocol=OPENING) as (_, peer):
            await peer.say({"id": 1, "method": "initialize", "params": asked})
            assert "result" in await peer.hear()
    assert caplog.messages == [f"advertised, but without a handler: {lacking}"]
