"""The example agent that asks for permission: how a prompt ends after each response, and after cancellation."""

import sys
from pathlib import Path

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, Handlers, connect_process

pytestmark = pytest.mark.anyio

AGENT = Path(__file__).parents[2] / "examples" / "asking_agent.py"
NO_CHOICE = v1.RequestPermissionOutcomeCancelled()


@pytest.mark.parametrize(
    ("outcome", "cancels", "ended"),
    [
        (v1.SelectedPermissionOutcome(option_id="yes"), False, ("completed", "end_turn")),
        (v1.SelectedPermissionOutcome(option_id="no"), False, ("failed", "end_turn")),
        (v1.SelectedPermissionOutcome(option_id="no"), True, ("failed", "cancelled")),
        (NO_CHOICE, True, ("failed", "cancelled")),
        # The client's notification may come after its answer.
        (NO_CHOICE, False, ("failed", "cancelled")),
    ],
)
async def test_a_prompt_ends_as_the_users_choice_requires(
    outcome: v1.RequestPermissionOutcome, cancels: bool, ended: tuple[str, str]
) -> None:
    handlers, told = Handlers(), list[str | None]()

    @handlers.on(v1.RequestPermissionRequest)
    async def permission(request: v1.RequestPermissionRequest, agent: Connection) -> v1.RequestPermissionResponse:
        if cancels:
            await agent.notify(v1.CancelNotification(session_id=request.session_id))
        return v1.RequestPermissionResponse(outcome=outcome)

    @handlers.on(v1.SessionNotification)
    def update(notification: v1.SessionNotification, _: Connection) -> None:
        assert isinstance(notification.update, v1.ToolCall | v1.SessionToolCallUpdate)
        told.append(notification.update.status)

    async with connect_process([sys.executable, AGENT], protocol=v1, handlers=handlers) as agent:
        await agent.request(v1.InitializeRequest(protocol_version=1), timeout=30)
        session = await agent.request(v1.NewSessionRequest(cwd="/", mcp_servers=[]), timeout=30)
        # A prompt that was cancelled has nothing to do with the next.
        for _ in range(2):
            request = v1.PromptRequest(session_id=session.session_id, prompt=[v1.TextContent(text="Write it")])
            answer = await agent.request(request, timeout=30)
            assert (told, answer.stop_reason) == (["pending", ended[0]], ended[1])
            told.clear()


async def test_a_cancelled_prompt_ends_even_without_a_response_to_the_permission_request() -> None:
    handlers = Handlers()

    @handlers.on(v1.RequestPermissionRequest)
    async def permission(request: v1.RequestPermissionRequest, agent: Connection) -> v1.RequestPermissionResponse:
        await agent.notify(v1.CancelNotification(session_id=request.session_id))
        await anyio.sleep_forever()
        raise AssertionError

    async with connect_process([sys.executable, AGENT], protocol=v1, handlers=handlers) as agent:
        request = v1.PromptRequest(session_id="sess_1", prompt=[v1.TextContent(text="Write it")])
        assert (await agent.request(request, timeout=30)).stop_reason == "cancelled"


async def test_each_session_has_its_own_id() -> None:
    async with connect_process([sys.executable, AGENT], protocol=v1) as agent:
        new = v1.NewSessionRequest(cwd="/", mcp_servers=[])
        ids = [(await agent.request(new, timeout=30)).session_id for _ in range(2)]
    assert len({*ids}) == 2
