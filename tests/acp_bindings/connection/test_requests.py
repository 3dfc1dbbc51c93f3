"""Requests and responses in both directions, beside slow handlers, and with large payloads."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection
from tests.acp_bindings.connection.support import NEW, PROMPT, both, new_session, nothing, same

pytestmark = pytest.mark.anyio


async def test_either_side_may_send_requests() -> None:
    def read(request: v1.ReadTextFileRequest, connection: Connection) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content=f"content of {request.path}")

    async with both(client={v1.ReadTextFileRequest: read}) as (agent, _):
        answer = await agent.request(v1.ReadTextFileRequest(session_id="s", path="/file"))
    assert answer == v1.ReadTextFileResponse(content="content of /file")


async def test_a_handler_that_returns_none_sends_the_empty_response() -> None:
    async with both(agent={v1.SetSessionModeRequest: nothing}) as (_, client):
        answer = await client.request(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
    assert answer == v1.SetSessionModeResponse()


async def test_a_result_that_is_not_empty_is_sent_unchanged() -> None:
    answer = v1.LoadSessionResponse(modes=v1.SessionModeState(current_mode_id="m", available_modes=[]))

    def load(request: v1.LoadSessionRequest, connection: Connection) -> v1.LoadSessionResponse:
        return answer

    async with both(agent={v1.LoadSessionRequest: load}) as (_, client):
        asked = v1.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[])
        assert await client.request(asked, timeout=5) == answer


async def test_a_slow_handler_does_not_block_others() -> None:
    release = anyio.Event()

    async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        await release.wait()
        return v1.PromptResponse(stop_reason="end_turn")

    answers: list[Any] = []

    async def ask(client: Connection) -> None:
        answers.append(await client.request(PROMPT))

    agent: dict[Any, Any] = {v1.PromptRequest: prompt, v1.NewSessionRequest: new_session}
    async with both(agent=agent) as (_, client), anyio.create_task_group() as tasks:
        tasks.start_soon(ask, client)
        await client.request(NEW, timeout=5)
        assert answers == []
        release.set()
    assert answers == [v1.PromptResponse(stop_reason="end_turn")]


async def test_large_messages_arrive_in_both_directions() -> None:
    text = "x" * 3_000_000
    async with both(agent={"_acme/do": same}) as (_, client):
        assert await client.request([text], method="_acme/do", timeout=20) == [text]
