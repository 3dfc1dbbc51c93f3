"""The end of a turn in v2, which only states report, and many sessions at once."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings import v2
from acp_bindings.connection import Connection
from tests.acp_bindings.client.support import Agent, Turn, chunk, connected, hello, said

pytestmark = pytest.mark.anyio


def scripted(*steps: Any) -> Agent:
    """Return an agent that answers a prompt by steps: states, texts, and `...` for the response to the prompt."""

    async def prompt(params: Any, connection: Connection) -> Any:
        raw.connection = connection
        responded = anyio.Event()

        async def do(some: tuple[Any, ...]) -> None:
            for step in some:
                if step in ("idle", "running", "requires_action", "_thinking"):
                    await raw.state("s1", step, **({"stopReason": "end_turn"} if step == "idle" else {}))
                else:
                    await raw.update("s1", chunk("agent_message", step, "m1"))

        async def rest() -> None:
            await responded.wait()
            await do(steps[steps.index(...) + 1 :])

        await do(steps[: steps.index(...)])
        raw.tasks.start_soon(rest)
        await connection.notify(
            v2.UpdateSessionNotification(
                session_id="s1", update=v2.UserMessageChunk(message_id="u1", content=v2.TextContent(text="Hi"))
            ),
            after_response=True,
        )
        responded.set()
        return v2.PromptResponse(message_id="u1")

    raw = Agent(2, handlers={"session/prompt": prompt})
    return raw


@pytest.mark.parametrize(
    ("steps", "heard"),
    [
        ((..., "running", "a", "idle"), ["a"]),
        ((..., "idle", "running", "a", "idle"), ["a"]),  # a repeated idle ends nothing
        (("running", ..., "a", "idle"), ["a"]),  # it runs before the prompt is in the conversation
        (("running", "a", "idle", ...), ["a"]),  # it responds when all is done
        (("running", "requires_action", "a", "idle", ...), ["a"]),
        ((..., "requires_action", "a", "running", "b", "idle"), ["a", "b"]),
        ((..., "_thinking", "a", "idle"), ["a"]),  # an unknown state is busy
    ],
)
async def test_a_turn_ends_when_the_session_is_idle_after_it_was_busy(steps: Any, heard: list[str]) -> None:
    async with connected(scripted(*steps)) as agent, agent.session(cwd="/project") as session:
        assert [said(update) async for update in session.prompt("Hi")] == heard
        assert session.state.stop_reason == "end_turn"
        assert session.state.activity == "idle"


async def test_a_prompt_that_joins_work_of_the_agent_ends_with_it() -> None:
    raw = scripted(..., "a", "idle")
    busy = anyio.Event()

    def notice(_: object, update: Any, __: bool) -> None:
        if update.session_update == "state_update":
            busy.set()

    async with connected(raw, on_update=notice) as agent, agent.session(cwd="/project") as session:
        await raw.state("s1", "running")
        await busy.wait()
        assert session.state.activity == "running"
        assert [said(update) async for update in session.prompt("Hi")] == ["a"]


@pytest.mark.parametrize("earlier", [("idle",), ("requires_action", "idle")])
async def test_the_end_of_earlier_work_does_not_end_a_turn(earlier: tuple[str, ...]) -> None:
    raw = scripted(*earlier, ..., "running", "a", "idle")
    busy = anyio.Event()

    def notice(*_: object) -> None:
        busy.set()

    async with connected(raw, on_update=notice) as agent, agent.session(cwd="/project") as session:
        await raw.state("s1", "running")
        await busy.wait()
        assert [said(update) async for update in session.prompt("Hi")] == ["a"]


async def test_work_of_the_agent_between_turns_can_be_cancelled() -> None:
    raw = Agent(2, hello)
    busy = anyio.Event()

    def notice(*_: object) -> None:
        busy.set()

    async with connected(raw, on_update=notice) as agent, agent.session(cwd="/project") as session:
        await session.cancel()
        await raw.state("s1", "running")
        await busy.wait()
        await session.cancel()
        assert await session.prompt("Hi") == "end_turn"
    assert len(raw.of("CancelSessionNotification")) == 1


@pytest.mark.parametrize("version", [1, 2])
async def test_a_failing_listener_is_logged_and_stops_nothing(version: int, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise LookupError("mine")

    async with connected(Agent(version, hello), on_update=fail) as agent, agent.session(cwd="/project") as session:
        assert [said(update) async for update in session.prompt("Hi")] == ["Hel", "lo"]
        assert session.state.messages[-1].text == "Hello"
    assert "mine" in caplog.text


async def test_a_failing_listener_loses_no_part_of_a_message(caplog: pytest.LogCaptureFixture) -> None:
    async def speak(turn: Turn) -> str:
        content = [{"type": "text", "text": text} for text in ("Hel", "lo")]
        await turn.send({"sessionUpdate": "agent_message", "messageId": "m", "content": content})
        return "end_turn"

    def fail(*_: object) -> None:
        raise LookupError("mine")

    async with connected(Agent(2, speak), on_update=fail) as agent, agent.session(cwd="/project") as session:
        assert [said(update) async for update in session.prompt("Hi")] == ["Hel", "lo"]
        assert session.state.messages[-1].text == "Hello"
    assert "on_update failed in session s1" in caplog.messages


@pytest.mark.parametrize("version", [1, 2])
async def test_a_hundred_sessions_talk_at_once(version: int) -> None:
    async def answer(turn: Turn) -> str:
        for number in range(10):
            await turn.say(f"{turn.text} {number}, ")
        return "end_turn"

    ends: list[str] = []
    async with connected(Agent(version, answer)) as agent:

        async def talk(number: int) -> None:
            async with agent.session(cwd="/project") as session:
                heard = [said(update) async for update in session.prompt(str(number))]
                assert heard == [f"{number} {each}, " for each in range(10)]
                ends.append(session.state.messages[-1].text)

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(talk, number)
        assert not agent.sessions
    assert len(set(ends)) == 100


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_that_is_not_closed_ends_with_the_connection(version: int) -> None:
    async def forever(turn: Turn) -> str:
        await turn.say("begun")
        await anyio.sleep_forever()
        return "never"

    begun = anyio.Event()
    errors: list[BaseException] = []

    async def ask(session: Any) -> None:
        try:
            async for _ in session.prompt("Hi"):
                begun.set()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks, connected(Agent(version, forever)) as agent:
            tasks.start_soon(ask, await agent.session(cwd="/project"))
            await begun.wait()
    assert [type(each).__name__ for each in errors] == ["ConnectionClosed"]
