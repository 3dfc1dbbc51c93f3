"""The examples whose turns are run by Pydantic AI and by the OpenAI Agents SDK, with models that are not real."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1, v2
from acp_bindings.connection import Connection, Handlers
from tests.examples.support import Place, talking

pytestmark = [pytest.mark.anyio, pytest.mark.full]
WHERE = "tools__where {}"
"""A prompt: the call that the model makes."""


@pytest.fixture(params=["fake_pydantic_ai.py", "fake_openai_agents.py"])
def place(place: Place, request: pytest.FixtureRequest) -> Place:
    place.command = [sys.executable, str(Path(__file__).with_name(request.param))]
    return place


def choosing(option: str) -> Handlers:
    """Return a client's handlers, which answer each question with *option*."""
    handlers = Handlers()

    @handlers.on("session/request_permission")
    def permission(request: Any, connection: Connection) -> Any:
        wire: Any = v1 if isinstance(request, v1.RequestPermissionRequest) else v2
        return wire.RequestPermissionResponse(outcome=wire.SelectedPermissionOutcome(option_id=option))

    return handlers


async def test_the_model_calls_a_tool_and_streams_its_message(place: Place, version: int) -> None:
    async with talking(place, version, handlers=choosing("allow"), apart=True) as talk:
        session = await talk.new(place.project, place.tools())
        assert await talk.prompt(session, WHERE) == "end_turn"

    where = str(place.project)
    said = [("agent", "Prompt 1. Let me look."), ("completed", where), ("agent", f"It is {where}")]
    assert [each for each in talk.seen.said() if each[0] in ("agent", "completed")] == said


async def test_the_model_remembers_a_session_that_another_process_loads(place: Place) -> None:
    async with talking(place, 1, handlers=choosing("reject"), apart=True) as talk:
        session = await talk.new(place.project, place.tools())
        assert await talk.prompt(session, WHERE) == "end_turn"
        assert talk.seen.said()[-1] == ("agent", "It is The user does not allow this call.")
    async with talking(place, 1, handlers=choosing("allow"), apart=True) as talk:
        await talk.load(session, place.project, place.tools())
        assert await talk.prompt(session, WHERE) == "end_turn"

    assert ("agent", "Prompt 2. Let me look.") in talk.seen.said()


async def test_a_call_that_the_model_gets_wrong_does_not_end_the_turn(place: Place) -> None:
    async with talking(place, 1, handlers=choosing("allow"), apart=True) as talk:
        session = await talk.new(place.project, place.tools())
        for call in ('tools__where {"turn": 1, "tool": 2, "_": 3}', 'tools__where {"a": 1', "nowhere {}"):
            assert await talk.prompt(session, call) == "end_turn"


async def test_the_model_remembers_the_prompt_of_a_turn_that_was_cancelled(place: Place) -> None:
    handlers = Handlers()

    @handlers.on(v1.RequestPermissionRequest)
    async def permission(request: v1.RequestPermissionRequest, connection: Connection) -> v1.RequestPermissionResponse:
        await connection.notify(v1.CancelNotification(session_id=request.session_id))
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())

    async with talking(place, 1, handlers=handlers, apart=True) as talk:
        session = await talk.new(place.project, place.tools())
        assert await talk.prompt(session, WHERE) == "cancelled"
        assert await talk.prompt(session, WHERE) == "cancelled"

    assert ("agent", "Prompt 2. Let me look.") in talk.seen.said()
