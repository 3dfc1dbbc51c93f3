"""Prompts: the stream of updates, the end, cancellation, and what happens when a caller leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import pytest

from acp_bindings import v1
from acp_bindings.client import Session, SessionBusy, SessionClosed
from acp_bindings.connection import ConnectionClosed, TimedOut
from acp_bindings.setup import CapabilityNotAdvertised, RequestError
from tests.acp_bindings.client.support import Agent, Turn, chunk, connected, hello, said, until_cancelled

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("version", [1, 2])]

T = TypeVar("T")


async def test_a_loop_gets_the_updates_of_the_turn_in_v1(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        updates = [update async for update in session.prompt("Hi")]
        assert updates == [
            v1.AgentMessageChunk(content=v1.TextContent(text=text), message_id="m1") for text in ("Hel", "lo")
        ]
        assert session.state.stop_reason == "end_turn"
        assert session.state.messages[-1].text == "Hello"


async def test_awaiting_a_prompt_returns_the_stop_reason(version: int) -> None:
    async def refuse(turn: Turn) -> str:
        return "refusal"

    async with connected(Agent(version, refuse)) as agent, agent.session(cwd="/project") as session:
        assert await session.prompt("Hi") == "refusal"
        assert session.state.stop_reason == "refusal"
        assert session.state.activity == "idle"


@pytest.mark.parametrize(("usage", "tokens"), [({"inputTokens": 3}, {"input_tokens": 3}), (3, {}), (None, {})])
async def test_a_turn_ends_with_the_tokens_that_the_agent_reports(
    version: int, usage: Any, tokens: dict[str, int]
) -> None:
    async with connected(Agent(version, hello, ending={"usage": usage})) as agent, agent.session(cwd="/p") as session:
        assert await session.prompt("Hi") == "end_turn"
        assert session.state.usage.tokens == tokens


async def test_what_an_extension_adds_to_the_beginning_and_the_end_is_kept(version: int) -> None:
    raw = Agent(version, hello, opening={"models": ["m1"]}, ending={"_meta": {"quota": 3}})
    async with connected(raw) as agent:
        async with agent.session(cwd="/project") as session, session.prompt("Hi") as turn:
            assert session.opening.model_extra == {"models": ["m1"]}
            assert not turn.ending
            await turn
            assert turn.ending.meta == {"quota": 3}
        async with agent.load(session.record) as again:
            assert again.opening.model_extra == {"models": ["m1"]}


async def test_a_turn_can_be_awaited_after_its_loop(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        turn = session.prompt("Hi")
        assert [said(update) async for update in turn] == ["Hel", "lo"]
        assert await turn == turn.stop_reason == "end_turn"


async def test_content_of_v1_is_sent_in_the_version_of_the_agent(version: int) -> None:
    raw = Agent(version, hello)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        await session.prompt([v1.TextContent(text="Look:"), v1.ResourceLink(name="a", uri="file:///a")])
        (request,) = raw.of("PromptRequest")
        assert request == raw.wire.PromptRequest(
            session_id="s1",
            prompt=[raw.wire.TextContent(text="Look:"), raw.wire.ResourceLink(name="a", uri="file:///a")],
        )


async def test_content_that_the_agent_does_not_support_is_refused_before_it_is_sent(version: int) -> None:
    raw = Agent(version, hello)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        with pytest.raises(CapabilityNotAdvertised, match=r"prompt\[0\]"):
            session.prompt(v1.ImageContent(data="", mime_type="image/png"))
        empty: list[Any] = ["", []]
        for prompt in empty:
            with pytest.raises(ValueError, match="empty"):
                session.prompt(prompt)
        wrong: dict[str, Any] = {"bytes": [b"bytes"], "NoneType": None}
        for kind, prompt in wrong.items():
            with pytest.raises(TypeError, match=f"not {kind}"):
                session.prompt(prompt)
    assert not raw.of("PromptRequest")


async def test_content_of_a_capability_that_the_session_assumes_is_sent(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/p", assume={"prompt.image"}) as session:
        with pytest.raises(RequestError, match="image"):  # of this agent
            await session.prompt(v1.ImageContent(data="", mime_type="image/png"))


async def test_leaving_a_loop_cancels_the_turn_and_the_next_prompt_waits_for_its_end(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        async for update in session.prompt("Count"):
            assert said(update) == "begun"
            break
        raw.prompt = hello
        assert await session.prompt("Hi") == "end_turn"
        assert [each.text for each in session.state.messages if each.role == "agent"][:2] == ["begunHello", "last word"]
    assert [
        type(each).__name__
        for each in raw.received
        if "Session" not in type(each).__name__ or "Cancel" in type(each).__name__
    ] == [
        "PromptRequest",
        raw.wire.METHODS["session/cancel"].notification.params.__name__,
        "PromptRequest",
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_next_prompt_may_be_made_as_soon_as_the_task_of_a_turn_is_cancelled(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        begun = anyio.Event()

        async def count() -> None:
            async for _ in session.prompt("Count"):
                begun.set()

        async def greet() -> str:
            return await session.prompt("Hi")

        first = asyncio.create_task(count())
        await begun.wait()
        raw.prompt = hello
        first.cancel()
        assert await asyncio.create_task(greet()) == "end_turn"


async def in_a_callback(function: Callable[[], T]) -> T:
    """Call *function* as user interfaces do: in a callback of the event loop, in which anyio finds no task."""
    result: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def call() -> None:
        try:
            result.set_result(function())
        except Exception as error:  # noqa: BLE001 - raised where the result is awaited
            result.set_exception(error)

    asyncio.get_running_loop().call_soon(call, context=Context())
    return await result


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_callback_of_the_event_loop_may_send_a_prompt(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        task = await in_a_callback(lambda: asyncio.ensure_future(session.prompt("Hi")))
        assert await task == "end_turn"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_iterator_that_is_dropped_in_a_callback_cancels_the_turn(version: int) -> None:
    async with connected(Agent(version, until_cancelled)) as agent, agent.session(cwd="/project") as session:
        turn = session.prompt("Count")
        kept = [aiter(turn)]
        await anext(kept[0])
        await in_a_callback(kept.clear)
        assert await turn == "cancelled"


async def test_an_iterator_that_is_dropped_in_another_thread_cancels_the_turn(version: int) -> None:
    async with connected(Agent(version, until_cancelled)) as agent, agent.session(cwd="/project") as session:
        turn = session.prompt("Count")
        kept = [aiter(turn)]
        await anext(kept[0])
        await anyio.to_thread.run_sync(kept.clear)
        assert await turn == "cancelled"


async def test_an_iterator_that_is_dropped_just_before_the_end_does_not_cancel_the_next_turn(version: int) -> None:
    kept: list[Any] = []

    async def two_words(turn: Turn) -> str:
        await turn.say("first")
        if turn.text == "One":
            await go_on.wait()
        await turn.say("last")
        return "end_turn"

    def drop(_: Session, update: Any, __: bool) -> None:
        if "last" in str(update):
            kept.clear()

    go_on = anyio.Event()
    async with connected(Agent(version, two_words), on_update=drop) as agent, agent.session(cwd="/project") as session:
        turn = session.prompt("One")
        kept = [aiter(turn)]
        await anext(kept[0])
        go_on.set()
        await turn
        assert await session.prompt("Two") == "end_turn"


async def test_the_block_of_a_turn_waits_for_its_end(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        async with session.prompt("Count") as turn:
            async for _ in turn:
                break
        assert turn.stop_reason == "cancelled"
        assert not session.is_busy
        assert session.state.messages[-1].text == "last word"


async def test_an_exception_in_the_loop_cancels_the_turn(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        with pytest.raises(LookupError):  # noqa: PT012 - the loop raises
            async for _ in session.prompt("Count"):
                raise LookupError
        raw.prompt = hello
        assert await session.prompt("Hi") == "end_turn"


async def test_cancel_ends_the_turn_with_its_last_updates(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        heard: list[str] = []
        turn = session.prompt("Count")
        async for update in turn:
            heard.append(said(update))
            if heard == ["begun"]:
                await session.cancel()
        assert heard == ["begun", "last word"]
        assert session.state.stop_reason == "cancelled"
        await session.cancel()  # an idle session is not cancelled
    assert len(raw.of(raw.wire.METHODS["session/cancel"].notification.params.__name__)) == 1


@pytest.mark.parametrize("by_client", [True, False])
async def test_unfinished_tool_calls_of_a_cancelled_turn_have_failed(
    version: int, caplog: pytest.LogCaptureFixture, by_client: bool
) -> None:
    async def work(turn: Turn) -> str:
        for number, status in enumerate(("pending", "completed", "in_progress", None)):
            given = {} if status is None else {"status": status}
            call = {"toolCallId": f"{turn.text}{number}", "title": "Work", **given}
            await turn.send({"sessionUpdate": "tool_call" if version == 1 else "tool_call_update", **call})
        if turn.text == "a":
            return "end_turn"
        if by_client:
            await turn.cancelled.wait()
        if version == 2:
            for number in (3, 2, 0):
                call = {"toolCallId": f"b{number}", "status": "cancelled"}
                await turn.send({"sessionUpdate": "tool_call_update", **call})
        return "end_turn" if by_client else "cancelled"

    def fail(_: Session, update: object, __: bool) -> None:
        if isinstance(update, v1.SessionToolCallUpdate):
            raise LookupError

    async with connected(Agent(version, work), on_update=fail) as agent, agent.session(cwd="/project") as session:
        await session.prompt("a")
        async with session.prompt("never sent"):
            await session.cancel()
        heard: list[Any] = []
        async for update in session.prompt("b"):
            heard.append(getattr(update, "status", None))
            if by_client and len(heard) == 4:
                await session.cancel()
        begun = ["pending", "completed", "in_progress", None]
        assert heard == [*begun, "failed", "failed", "failed"]
        statuses = [each.status for each in session.state.tool_calls]
        assert statuses == [*begun, "failed", "completed", "failed", "failed"]
    assert len(caplog.records) == 3


async def test_a_prompt_that_is_cancelled_at_once_is_not_sent(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        async with session.prompt("Count") as turn:
            await session.cancel()
        assert turn.stop_reason == "cancelled"
    assert raw.of("PromptRequest") == []


@pytest.mark.parametrize("iterating", [True, False])
async def test_cancelling_the_calling_task_cancels_the_turn(version: int, iterating: bool) -> None:
    raw = Agent(version, until_cancelled)
    begun = anyio.Event()

    def notice(*_: object) -> None:
        begun.set()

    async with connected(raw, on_update=notice) as agent, agent.session(cwd="/project") as session:

        async def ask() -> None:
            if iterating:
                async for _ in session.prompt("Count"):
                    pass
            else:
                await session.prompt("Count")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await begun.wait()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        # The block has waited for the end of the turn.
        assert not session.is_busy
        assert session.state.stop_reason == "cancelled"


async def deaf(turn: Turn) -> str:
    await turn.say("begun")
    await anyio.sleep_forever()
    return "never"


async def test_a_turn_that_does_not_end_is_abandoned(version: int, caplog: pytest.LogCaptureFixture) -> None:
    raw = Agent(version, deaf)
    async with connected(raw, patience=0.1) as agent, agent.session(cwd="/project") as session:
        async for _ in session.prompt("Count"):
            break
        raw.prompt = hello
        assert await session.prompt("Hi") == "end_turn"
    assert "did not end a cancelled turn within 0.1 s" in caplog.text


async def test_a_loop_ends_that_goes_on_after_cancelling_a_turn_that_does_not_end(version: int) -> None:
    raw = Agent(version, deaf)
    async with connected(raw, patience=0.1) as agent, agent.session(cwd="/project") as session:

        async def stop() -> None:
            async for _ in session.prompt("Count"):
                await session.cancel()

        with pytest.raises(TimedOut):
            await stop()
        raw.prompt = hello
        assert await session.prompt("Hi") == "end_turn"


async def test_a_second_prompt_is_refused_before_it_is_sent(version: int) -> None:
    raw = Agent(version, until_cancelled)
    async with connected(raw) as agent, agent.session(cwd="/project") as session, session.prompt("Count") as turn:
        updates = aiter(turn)
        await anext(updates)
        with pytest.raises(SessionBusy) as caught:
            session.prompt("And this")
        assert caught.value.session_id == "s1"
        message = 'session "s1" is still answering a prompt; wait for its end, or call session.cancel()'
        assert str(caught.value) == message
    assert len(raw.of("PromptRequest")) == 1


async def test_a_prompt_made_earlier_is_refused_when_it_is_awaited(version: int) -> None:
    async with connected(Agent(version, until_cancelled)) as agent, agent.session(cwd="/project") as session:
        early = session.prompt("Second")
        async with session.prompt("First"):
            with pytest.raises(SessionBusy):
                await early


async def test_a_closed_session_refuses_prompts(version: int) -> None:
    async with connected(Agent(version, hello)) as agent:
        async with agent.session(cwd="/project") as session:
            pass
        with pytest.raises(SessionClosed):
            session.prompt("Hi")


async def test_a_prompt_after_the_end_of_the_connection_is_refused(version: int) -> None:
    async with connected(Agent(version, hello)) as agent:
        session = await agent.session(cwd="/project")
    for _ in range(2):
        with pytest.raises(ConnectionClosed):
            await session.prompt("Hi")


async def test_a_turn_is_iterated_over_once(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        turn = session.prompt("Hi")
        assert await turn == "end_turn"
        with pytest.raises(RuntimeError, match="once"):
            aiter(turn)


async def test_a_prompt_that_is_not_sent_is_warned_of(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        with pytest.warns(RuntimeWarning, match="a prompt was not sent"):
            session.prompt("Hi")


async def test_an_error_is_raised_after_the_last_update(version: int) -> None:
    raw = Agent(version)

    async def fail(turn: Turn) -> str:
        await turn.say("begun")
        if version == 1:
            raise RequestError(-32050, "The model is gone")
        await raw.state(
            turn.session_id, "idle", stopReason="error", error={"code": -32050, "message": "The model is gone"}
        )
        return "end_turn"

    raw.prompt = fail
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        heard: list[str] = []
        with pytest.raises(RequestError, match="The model is gone") as caught:  # noqa: PT012 - the loop raises
            async for update in session.prompt("Hi"):
                heard.append(said(update))  # noqa: PERF401 - an error ends the loop
        assert (heard, caught.value.code, session.state.stop_reason) == (["begun"], -32050, None)


async def test_a_file_that_is_missing_in_a_turn_is_not_a_missing_session(version: int) -> None:
    raw = Agent(version)
    error: dict[str, Any] = {"code": -32002, "message": "Resource not found"}

    async def fail(turn: Turn) -> str:
        if version == 1:
            raise RequestError(**error, data={"uri": "file:///x"})
        await raw.state(turn.session_id, "idle", stopReason="error", error=error)
        return "end_turn"

    raw.prompt = fail
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        with pytest.raises(RequestError) as caught:
            await session.prompt("Hi")
        assert type(caught.value) is RequestError


async def test_an_agent_that_dies_during_a_turn_raises_connection_closed(version: int) -> None:
    raw = Agent(version)

    async def die(turn: Turn) -> str:
        await turn.say("begun")
        await anyio.wait_all_tasks_blocked()
        await raw.stream.aclose()
        await anyio.sleep_forever()
        return "never"

    raw.prompt = die
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        heard: list[str] = []
        with pytest.raises(ConnectionClosed, match="the peer closed the connection"):  # noqa: PT012 - the loop raises
            async for update in session.prompt("Hi"):
                heard.append(said(update))  # noqa: PERF401
        assert heard == ["begun"]


async def test_a_turn_names_the_reason_if_the_block_is_left_when_the_agent_dies(version: int) -> None:
    raw = Agent(version)
    reasons: list[str] = []

    async def die(turn: Turn) -> str:
        await anyio.wait_all_tasks_blocked()
        await raw.stream.aclose()
        await anyio.sleep_forever()
        return "never"

    async def prompt(session: Session) -> None:
        with pytest.raises(ConnectionClosed) as caught:
            await session.prompt("Hi")
        reasons.append(caught.value.reason)

    raw.prompt = die
    async with anyio.create_task_group() as tasks, connected(raw) as agent:
        tasks.start_soon(prompt, await agent.session(cwd="/project"))
        await agent.connection.wait_ended()
    assert reasons == ["the peer closed the connection"]


async def test_two_sessions_respond_at_the_same_time(version: int) -> None:
    second = anyio.Event()

    async def answer(turn: Turn) -> str:
        if turn.text == "first":
            await second.wait()
        else:
            second.set()
        await turn.say(turn.text)
        return "end_turn"

    heard: dict[str, list[str]] = {}
    async with connected(Agent(version, answer)) as agent:
        async with (
            agent.session(cwd="/one") as one,
            agent.session(cwd="/two") as two,
            anyio.create_task_group() as tasks,
        ):

            async def ask(session: Any, text: str) -> None:
                heard[text] = [said(update) async for update in session.prompt(text)]

            tasks.start_soon(ask, one, "first")
            tasks.start_soon(ask, two, "second")
        assert heard == {"first": ["first"], "second": ["second"]}
        assert [each.state.messages[-1].text for each in (one, two)] == ["first", "second"]


async def test_a_slow_loop_does_not_stop_other_sessions(version: int) -> None:
    async def flood(turn: Turn) -> str:
        for number in range(200 if turn.text == "flood" else 1):
            await turn.say(f"{number} ")
        return "end_turn"

    async with (
        connected(Agent(version, flood)) as agent,
        agent.session(cwd="/one") as one,
        agent.session(cwd="/two") as two,
    ):
        heard: list[str] = []
        async for update in one.prompt("flood"):
            if not heard:
                # The loop does not run during a whole turn of the other session.
                assert await two.prompt("Hi") == "end_turn"
            heard.append(said(update))
        assert heard == [f"{number} " for number in range(200)]


async def test_text_of_a_loop_that_is_far_behind_is_joined(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.client._turns.MOST_BUFFERED", 20)

    async def flood(turn: Turn) -> str:
        for number in range(100):
            await turn.say(f"{number} ")
        return "end_turn"

    async with connected(Agent(version, flood)) as agent, agent.session(cwd="/project") as session:
        heard: list[str] = []
        async with session.prompt("flood") as turn:
            while session.is_busy:
                await anyio.sleep(0)
            heard += [said(update) async for update in turn]
        assert "".join(heard) == "".join(f"{number} " for number in range(100))
        assert len(heard) <= 20
        assert turn.lost == 0


async def test_text_with_metadata_and_annotations_is_joined_too(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.client._turns.MOST_BUFFERED", 20)

    async def flood(turn: Turn) -> str:
        for number in range(100):
            update = chunk("agent_message", f"{number} ", "m1")
            update["content"]["annotations"] = {"priority": 1 if number < 50 else 0}
            await turn.send({**update, "_meta": {"number": number}})
        return "end_turn"

    async with (
        connected(Agent(version, flood)) as agent,
        agent.session(cwd="/project") as session,
        session.prompt("flood") as turn,
    ):
        while session.is_busy:
            await anyio.sleep(0)
        heard = [update async for update in turn]
    assert turn.lost == 0
    assert "".join(map(said, heard)) == "".join(f"{number} " for number in range(100))
    for update in heard:
        # Only text with the same annotations is joined.
        assert isinstance(update, v1.AgentMessageChunk)
        assert isinstance(update.content, v1.TextContent)
        assert update.content.annotations == v1.Annotations(priority=1 if int(said(update).split()[0]) < 50 else 0)
        assert len({int(number) < 50 for number in said(update).split()}) == 1


async def test_updates_that_cannot_be_joined_are_dropped_and_counted(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.client._turns.MOST_BUFFERED", 20)

    async def flood(turn: Turn) -> str:
        for number in range(100):
            await turn.send({"sessionUpdate": "tool_call_update", "toolCallId": f"c{number}", "title": "Work"})
        return "end_turn"

    async with connected(Agent(version, flood)) as agent, agent.session(cwd="/project") as session:
        async with session.prompt("flood") as turn:
            while session.is_busy:
                await anyio.sleep(0)
            heard = [update async for update in turn]
        assert len(heard) + turn.lost == 100
        assert len(heard) <= 20
        assert len(session.state.tool_calls) == 100


async def test_an_error_response_to_a_cancelled_prompt_counts_as_cancelled(version: int) -> None:
    async def strict(turn: Turn) -> str:
        await turn.say("begun")
        await turn.cancelled.wait()
        if version == 1:
            raise RequestError(-32800, "Request cancelled")
        return "cancelled"

    async with connected(Agent(version, strict)) as agent, agent.session(cwd="/project") as session:
        async with session.prompt("Hi") as turn:
            async for _ in turn:
                await session.cancel()
        assert turn.stop_reason == "cancelled"


async def test_a_prompt_in_an_unknown_session_is_session_not_found(version: int) -> None:
    from acp_bindings.setup import SessionNotFound

    def refuse(params: Any, _: object) -> Any:
        raise SessionNotFound(params.session_id)

    async with (
        connected(Agent(version, handlers={"session/prompt": refuse})) as agent,
        agent.session(cwd="/project") as session,
    ):
        with pytest.raises(SessionNotFound):
            await session.prompt("Hi")
        with pytest.raises(SessionNotFound):
            async for _ in session.prompt("Hi"):
                pass


async def test_updates_between_turns_reach_on_update_only(version: int) -> None:
    raw = Agent(version, hello)
    seen: list[tuple[str, str, bool]] = []
    came = anyio.Event()

    def notice(session: Any, update: Any, replay: bool) -> None:
        seen.append((session.id, update.session_update, replay))
        if update.session_update == "available_commands_update":
            came.set()

    async with connected(raw, on_update=notice) as agent, agent.session(cwd="/project") as session:
        await session.prompt("Hi")
        seen.clear()
        more = {"type": "command"} if version == 2 else {}
        commands = {"availableCommands": [{"name": "test", "description": "Run", **more}]}
        await raw.update("s1", {"sessionUpdate": "available_commands_update", **commands})
        await came.wait()
        assert seen == [("s1", "available_commands_update", False)]
        assert session.state.commands == (v1.AvailableCommand(name="test", description="Run"),)


async def test_an_on_update_that_fails_loses_no_update(version: int, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise ValueError

    async with connected(Agent(version, hello), on_update=fail) as agent, agent.session(cwd="/project") as session:
        assert [said(update) async for update in session.prompt("Hi")] == ["Hel", "lo"]
    failures = [each for each in caplog.messages if each == "on_update failed in session s1"]
    assert len(failures) >= len(["Hel", "lo"])


async def test_a_context_variable_that_on_update_sets_does_not_reach_its_next_call(version: int) -> None:
    bound: ContextVar[str] = ContextVar("bound", default="nothing")
    seen: list[str] = []

    def bind(*_: object) -> None:
        seen.append(bound.get())
        bound.set("something")

    async def count(turn: Turn) -> str:
        for number in range(5):
            await turn.say(str(number))
        return "end_turn"

    async with connected(Agent(version, count), on_update=bind) as agent, agent.session(cwd="/project") as session:
        await session.prompt("Hi")
    assert {*seen} == {"nothing"}
    assert len(seen) >= 5


async def test_the_updates_of_two_sessions_reach_their_own_turns(version: int) -> None:
    async def count(turn: Turn) -> str:
        for number in range(5):
            await turn.say(f"{turn.text}{number}")
        return "end_turn"

    heard: dict[str, list[str]] = {}

    async def listen(session: Session, text: str) -> None:
        heard[text] = [said(update) async for update in session.prompt(text)]

    async with (
        connected(Agent(version, count)) as agent,
        agent.session(cwd="/a") as one,
        agent.session(cwd="/b") as two,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listen, one, "a")
        tasks.start_soon(listen, two, "b")
    assert heard == {text: [f"{text}{number}" for number in range(5)] for text in "ab"}
