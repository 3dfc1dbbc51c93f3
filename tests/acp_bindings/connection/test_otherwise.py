"""One handler for all messages without a handler: unknown extensions, and messages to forward."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.connection import AgentHandlers, Connection, Handlers, RequestFailed
from acp_bindings.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Notification, Request
from acp_bindings.setup import OPENING, AgentHandshake, error_from
from tests.acp_bindings.connection.support import against

pytestmark = pytest.mark.anyio


def known(params: Any, connection: Connection) -> str:
    return "known"


async def test_messages_without_a_handler_reach_the_fallback() -> None:
    heard: list[Request | Notification] = []
    handlers = Handlers({"_acme/known": known})

    @handlers.otherwise
    async def other(message: Request | Notification, connection: Connection) -> Any:
        heard.append(message)
        return None if message.type else {"asked": message.method}

    async with against(handlers) as (_, peer):
        await peer.say(
            {"method": "_acme/did", "params": [1]},
            {"id": 1, "method": "_acme/do", "params": {"a": 1}},
            {"id": 2, "method": "_acme/known"},
            {"id": 3, "method": "logout"},
            {"id": 4, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}},
            {"id": 5, "method": "newer/than/this"},
        )
        answers = {(said := await peer.hear())["id"]: said for _ in range(5)}

    assert [(each.method, each.params) for each in heard] == [
        ("_acme/did", [1]),
        ("_acme/do", {"a": 1}),
        ("logout", v1.LogoutRequest()),
        ("session/prompt", v1.PromptRequest(session_id="s", prompt=[])),
    ]
    assert answers[1]["result"] == {"asked": "_acme/do"}
    assert answers[2]["result"] == "known"
    assert answers[3]["result"] == {}
    # Nothing can be made of nothing here.
    assert answers[4]["error"]["code"] == INTERNAL_ERROR
    assert answers[5]["error"]["code"] == METHOD_NOT_FOUND


async def test_unknown_methods_reach_the_fallback_with_pass_unknown() -> None:
    handlers = Handlers()
    handlers.otherwise(lambda message, connection: message.method)

    async with against(handlers, pass_unknown=True) as (_, peer):
        await peer.say({"id": 5, "method": "newer/than/this"})
        assert await peer.hear() == {"id": 5, "result": "newer/than/this"}


async def test_reading_pauses_while_the_fallback_handles_initialize() -> None:
    handlers = Handlers()

    @handlers.otherwise
    async def settle(message: Request | Notification, connection: Connection) -> Any:
        if message.method == "initialize":
            await anyio.sleep(0.01)
            connection.protocol = v1
            return {"protocolVersion": 1}
        assert isinstance(message.params, v1.NewSessionRequest)
        return v1.NewSessionResponse(session_id="s")

    async with against(handlers, protocol=OPENING) as (_, peer):
        await peer.say(
            {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
            {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
        )
        assert await peer.hear() == {"id": 1, "result": {"protocolVersion": 1}}
        assert await peer.hear() == {"id": 2, "result": {"sessionId": "s"}}


async def test_the_rules_of_an_agent_apply_before_the_fallback() -> None:
    asked: list[str] = []
    handlers = AgentHandlers(AgentHandshake(info=v1.Implementation(name="a", version="1")))
    handlers.otherwise(lambda message, connection: asked.append(message.method))

    async with against(handlers) as (_, peer):
        await peer.say({"id": 1, "method": "_acme/do"}, {"method": "_acme/did"})
        assert "initialize" in (await peer.hear())["error"]["message"]
        await peer.say({"id": 2, "method": "initialize", "params": {"protocolVersion": 1}})
        assert (await peer.hear())["result"]["protocolVersion"] == 1
        await peer.say({"id": 3, "method": "_acme/do"})
        assert await peer.hear() == {"id": 3, "result": None}
    assert asked == ["_acme/do"]


def test_only_one_fallback_can_be_registered() -> None:
    handlers = Handlers()
    with pytest.raises(TypeError, match="cannot be called with the params and the connection"):
        handlers.otherwise(lambda message: None)  # type: ignore[arg-type,misc]
    handlers.otherwise(lambda message, connection: None)
    with pytest.raises(ValueError, match="there already is a handler for all other methods"):
        handlers.otherwise(lambda message, connection: None)
    assert list(handlers) == []


def passing_on(ends: dict[str, Connection], end: str) -> Handlers:
    """Return handlers that forward all messages to one of *ends*."""
    handlers = Handlers()

    @handlers.otherwise
    async def pass_on(message: Request | Notification, connection: Connection) -> Any:
        if isinstance(message, Notification):
            return await ends[end].notify(message.params, method=message.method)
        try:
            return await ends[end].request(message.params, method=message.method)
        except RequestFailed as failed:
            raise error_from(failed) from failed

    return handlers


async def test_connections_without_a_version_forward_anything_in_order() -> None:
    ends: dict[str, Connection] = {}
    newer = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": [{"type": "newer"}], "kind": 5}
    update = {"method": "session/update", "params": {"sessionId": "s", "update": newer}}
    ask = {"id": 7, "method": "session/request_permission", "params": {"_acme": 2**70}}
    result = {"result": {"stopReason": "tired"}}
    refusal = {"error": {"code": -7, "message": "no more", "data": {"left": 0}}}
    async with (
        against(passing_on(ends, "client"), protocol=OPENING, role="client") as (to_agent, agent),
        against(passing_on(ends, "agent"), protocol=OPENING) as (to_client, client),
    ):
        ends |= {"agent": to_agent, "client": to_client}
        await client.say({"id": "a", "method": "session/prompt", "params": {"newer": 1}})
        asked = await agent.hear()
        await agent.say(*[update] * 9, {"id": asked.pop("id"), **result}, *[update] * 9, ask)
        heard = [await client.hear() for _ in range(20)]
        await client.say({"id": heard[-1].pop("id"), **refusal})
        answered = await agent.hear()

    assert asked == {"method": "session/prompt", "params": {"newer": 1}}
    assert heard[:19] == [*[update] * 9, {"id": "a", **result}, *[update] * 9]
    assert heard[19] == {"method": ask["method"], "params": ask["params"]}
    assert answered == {"id": 7, **refusal}
