"""Code of users of `acp_bindings.setup` for connecting: checkers accept all lines except those marked as refused."""

import json
from typing import Any, assert_type

from acp_bindings import Finding, v1, v1_unstable, v2, v2_unstable
from acp_bindings.jsonrpc import Codec, ErrorResponse, ProtocolPackage
from acp_bindings.setup import (
    OPENING,
    AgentHandshake,
    AgentPeer,
    AuthRequired,
    ClientHandshake,
    ClientPeer,
    Lifecycle,
    Remark,
    RequestError,
    SessionListing,
    check_message,
    error_from,
    gate_mcp_servers,
    login,
)
from acp_bindings.setup.capabilities import AgentCapability
from acp_bindings.setup.errors import RefusedServer
from acp_bindings.setup.unions import McpServer
from mcp_launch import capabilities

INFO = v1.Implementation(name="editor", version="3.1")


def client(answer: object) -> None:
    handshake = ClientHandshake(info=INFO, protocols=[v1, v2_unstable], capabilities={"terminal"})
    ClientHandshake(info=v2.Implementation(name="editor", version="3.1"), protocols=(v2,), meta={"example.com": 1})
    ClientHandshake(anonymous=True)
    ClientHandshake(info=INFO, capabilities={"terminals"})  # refused
    ClientHandshake(info=INFO, capabilities={"session.load"})  # refused
    ClientHandshake(info=INFO, protocols=[json])  # refused
    codec = Codec(OPENING, role="client")
    codec.request(handshake.request())

    peer = handshake.accept(answer)
    assert_type(peer, AgentPeer)
    codec.protocol = peer.protocol
    assert_type(peer.supports("session.load"), bool)
    assert_type(peer.lacks("session.load"), str | None)
    assert_type(peer.findings, tuple[Finding | Remark, ...])
    peer.supports("session.laod")  # refused
    if isinstance(peer.capabilities, v1.AgentCapabilities):
        assert_type(peer.capabilities.load_session, bool)
    for method in peer.auth_methods:
        match method:
            case v1.AuthMethodTerminal(args=args):
                assert_type(args, list[str])
            case _:
                print(method.name)
    own: ProtocolPackage = v1_unstable
    assert_type(handshake.own(own), ClientPeer)


def agent(params: dict[str, Any]) -> bytes | None:
    handshake = AgentHandshake(info=INFO, auth_methods=[v1.AuthMethodAgent(id="browser", name="Browser")])
    AgentHandshake(info=INFO, capabilities={"session.laod"})  # refused
    named: set[AgentCapability] = {"session.load"}
    AgentHandshake(info=INFO, capabilities=named | capabilities())
    AgentHandshake(info=INFO, capabilities={"session.load", *capabilities()})
    try:
        settled = handshake.answer(params)
    except RequestError as error:
        assert_type(error.code, int)
        return None
    assert_type(settled.client, ClientPeer)
    check_message(settled.agent, v1.ListSessionsRequest(), received=True)
    result, *_ = settled
    print(result.protocol_version)
    return None


def gates(peer: AgentPeer, servers: list[v1.McpServer]) -> None:
    check_message(peer, v1.ListSessionsRequest(), assume={"session.list"})
    accepted, refused = gate_mcp_servers(peer, servers, on_refusal="drop")
    assert_type(accepted, list[McpServer])
    assert_type(refused, tuple[RefusedServer, ...])
    gate_mcp_servers(peer, servers, on_refusal="ignore")  # refused


def listing(peer: AgentPeer, response: v1.ListSessionsResponse) -> None:
    pages = SessionListing(peer, v1.ListSessionsRequest(cwd="/"))
    SessionListing(peer, v1.NewSessionRequest(cwd="/", mcp_servers=[]))  # refused
    for info in pages.take(response):
        assert_type(info, v1.SessionInfo)
    if pages.request is not None:
        print(pages.request.cursor)


def errors(peer: AgentPeer, response: ErrorResponse) -> None:
    match error_from(response.error, peer=peer):
        case AuthRequired(methods=methods):
            login(peer, methods[0].name)
        case error:
            assert_type(error, RequestError)


def rules(lifecycle: Lifecycle) -> None:
    lifecycle.check("session/new", sender="client")
    lifecycle.check("session/new", sender="server")  # refused
