"""Turns: what they stream, how they end, and how they are cancelled."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import ValidationError

from acp_bindings import v1
from acp_bindings.agent import Agent, Session, Turn, TurnEnded
from acp_bindings.connection import RequestFailed
from acp_bindings.errors import DecodeError
from acp_bindings.setup import InvalidParams, RequestError
from tests.acp_bindings.agent.clients import CWD, served, talking

pytestmark = pytest.mark.anyio


def echo() -> Agent:
    agent = Agent("hello", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(f"You said {turn.text}.")

    return agent


async def test_the_ten_line_agent_responds_to_a_prompt(version: int) -> None:
    async with talking(echo(), version) as client:
        session = await client.new()
        assert await client.prompt(session, "hello") == "end_turn"
        assert client.text(session) == "You said hello."


async def test_all_updates_arrive_before_the_end_of_the_turn(version: int) -> None:
    agent = Agent("counter", version="1.0")

    @agent.prompt
    async def count(turn: Turn) -> None:
        for number in range(2000):
            await turn.say(f"{number} ")

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        assert client.text(session).split() == [str(number) for number in range(2000)]


async def test_consecutive_say_calls_make_one_message(version: int) -> None:
    agent = Agent("speaker", version="1.0")

    @agent.prompt
    async def speak(turn: Turn) -> None:
        await turn.think("hm")
        await turn.say("one")
        await turn.say(" two")
        await turn.plan(["first"])
        await turn.say("three")

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        kinds = ("agent_thought_chunk", "agent_message_chunk", "plan", "plan_update")
        updates = client.of(session, *kinds)
        ids = [getattr(each, "message_id", None) for each in updates]
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == "one twothree"
    assert [each.session_update.removesuffix("_update") for each in updates] == [
        "agent_thought_chunk",
        "agent_message_chunk",
        "agent_message_chunk",
        "plan",
        "agent_message_chunk",
    ]
    assert ids[1] == ids[2]
    assert len({ids[0], ids[1], ids[4]}) == 3


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal"])
async def test_the_handler_decides_on_the_stop_reason(version: int, reason: str) -> None:
    agent = Agent("stopper", version="1.0")

    @agent.prompt
    async def stop(turn: Turn) -> Any:
        return reason

    async with talking(agent, version) as client:
        assert await client.prompt(await client.new(), "go") == reason


async def test_a_request_error_of_the_handler_reaches_the_client(version: int) -> None:
    agent = Agent("strict", version="1.0")

    @agent.prompt
    async def refuse(turn: Turn) -> None:
        raise InvalidParams("prompt: too short", data={"least": 3})

    async with talking(agent, version) as client:
        session = await client.new()
        if version == 1:
            with pytest.raises(RequestFailed, match="too short") as refused:
                await client.prompt(session, "go")
            error: Any = refused.value
        else:
            assert await client.prompt(session, "go") == "error"
            error = client.ends(session)[0].error
            assert error.message == "prompt: too short"
        assert (error.code, error.data) == (-32602, {"least": 3})


async def in_a_group(error: Exception) -> None:
    """Raise an exception as a task group of the handler does."""
    raise ExceptionGroup("unhandled errors in a TaskGroup", [error])


async def test_a_request_error_in_a_task_group_reaches_the_client() -> None:
    agent = Agent("strict", version="1.0", protocols=[v1])

    async def set_model(session: Session, value: str) -> None:
        await in_a_group(InvalidParams("no model"))

    agent.option("model", "Model", {"a": "A"}, default="a", on_set=set_model)

    @agent.prompt
    async def refuse(turn: Turn) -> None:
        await in_a_group(InvalidParams("too short"))

    @agent.on_open
    async def check(session: Session) -> None:
        if session.cwd != CWD:
            await in_a_group(InvalidParams("not here"))

    async with talking(agent) as client:
        session = await client.new()
        with pytest.raises(RequestFailed, match="too short"):
            await client.prompt(session, "go")
        with pytest.raises(RequestFailed, match="no model"):
            await client.ask("session/set_config_option", sessionId=session, configId="model", value="a")
        with pytest.raises(RequestFailed, match="not here"):
            await client.new(cwd="/elsewhere")


@pytest.mark.parametrize("unfit", [{"message": "\udce9"}, {"message": "no", "data": {"x": object()}}])
async def test_a_request_error_that_cannot_be_sent_is_an_internal_error(version: int, unfit: Any) -> None:
    agent = Agent("wrong", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        if turn.text == "fail":
            raise RequestError(-32001, **unfit)

    async with talking(agent, version) as client:
        session = await client.new()
        if version == 1:
            with pytest.raises(RequestFailed, match="Internal error"):
                await client.prompt(session, "fail")
        else:
            assert await client.prompt(session, "fail") == "error"
            error = client.ends(session)[0].error
            assert error.message == "Internal error"
            assert "data" not in error.model_fields_set
        assert await client.prompt(session, "go on") == "end_turn"


async def test_an_exception_of_the_handler_is_logged_and_not_sent(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent("broken", version="1.0")

    @agent.prompt
    async def fail(turn: Turn) -> None:
        raise KeyError("hunter2")

    async with talking(agent, version) as client:
        session = await client.new()
        if version == 1:
            with pytest.raises(RequestFailed) as failed:
                await client.prompt(session, "go")
            told = str(failed.value)
        else:
            await client.prompt(session, "go")
            told = str(client.ends(session)[0])
        assert "Internal error" in told
        assert "hunter2" not in told
        other = await client.new()
        assert other != session
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError]


async def wrong_reason(turn: Turn) -> Any:
    return "done"


async def generator(turn: Turn) -> Any:
    yield "text"


def no_coroutine(turn: Turn) -> Any:
    return "end_turn"


async def call_without_block(turn: Turn) -> None:
    turn.tool_call("Read").result("text")


async def result_without_type(turn: Turn) -> None:
    async with turn.tool_call("Read") as call:
        call.result({"a": 1})


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (wrong_reason, r"return None or a stop reason \(end_turn, .*\), not 'done'"),
        (generator, "a prompt handler must not contain `yield`"),
        (no_coroutine, "must be an async function"),
        (call_without_block, "async with turn.tool_call"),
        (result_without_type, "pass a text, such as json.dumps.*, not dict"),
    ],
)
async def test_a_mistake_in_a_handler_is_logged_with_what_to_write(
    handler: Any, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent("wrong", version="1.0")
    agent.prompt(handler)

    async with talking(agent) as client:
        with pytest.raises(RequestFailed, match="Internal error"):
            await client.prompt(await client.new(), "go")
    assert re.search(says, str(caplog.records[-1].exc_info))


def waiting(seen: list[Turn]) -> Agent:
    agent = Agent("waiting", version="1.0")

    @agent.prompt
    async def wait(turn: Turn) -> None:
        seen.append(turn)
        await turn.say("waiting")
        if turn.text == "wait":
            await anyio.sleep_forever()

    return agent


async def test_cancel_ends_the_turn_with_the_stop_reason_cancelled(version: int) -> None:
    turns: list[Turn] = []
    reasons: list[str] = []
    async with talking(waiting(turns), version) as client, anyio.create_task_group() as tasks:
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "wait"))

        tasks.start_soon(prompt)
        await client.until(lambda: client.text(session))
        await client.cancel(session)
        await client.cancel(session)
    assert reasons == ["cancelled"]
    assert turns[0].is_cancelled


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancel_ends_the_tool_calls_in_tasks_of_asyncio(version: int) -> None:
    running: list[asyncio.Task[None]] = []
    agent = Agent("library", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async def tool() -> None:
            async with turn.tool_call("outer"), turn.tool_call("inner"):
                await turn.say("working")
                await anyio.sleep_forever()

        running.append(asyncio.create_task(tool()))
        # As in a library that cleans up after the cancellation.
        with anyio.CancelScope(shield=True):
            await asyncio.wait(running, timeout=5)

    reasons: list[str] = []
    async with talking(agent, version) as client:
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "go"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await client.until(lambda: client.text(session))
            await client.cancel(session)
        ends = client.of(session, "tool_call_update")
        assert [each.status for each in ends[-2:]] == ["failed" if version == 1 else "cancelled"] * 2
    assert reasons == ["cancelled"]
    assert running[0].cancelled()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_whose_tool_call_has_ended_is_not_cancelled_with_the_turn() -> None:
    running: list[asyncio.Task[None]] = []
    agent = Agent("library", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async def tool() -> None:
            async with turn.tool_call("short"):
                pass
            await turn.say("worked")
            while not turn.is_cancelled:
                await anyio.sleep(0.001)

        running.append(asyncio.create_task(tool()))
        await anyio.sleep_forever()

    async with talking(agent) as client, anyio.create_task_group() as tasks:
        session = await client.new()
        tasks.start_soon(client.prompt, session, "go")
        await client.until(lambda: client.text(session))
        await client.cancel(session)
        await asyncio.wait(running, timeout=5)
    assert not running[0].cancelled()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_tool_calls_may_end_in_any_order_and_in_other_tasks() -> None:
    agent = Agent("hooks", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        calls = [turn.tool_call("one"), turn.tool_call("two")]
        # Libraries call their hooks in tasks that end before the tool does.
        for call in calls:
            await asyncio.create_task(call.__aenter__())
        for call in calls:
            await asyncio.create_task(call.__aexit__(None, None, None))

        async def both() -> None:
            with anyio.fail_after(10):
                one, two = turn.tool_call("one"), turn.tool_call("two")
                await one.__aenter__()
                await two.__aenter__()
                await one.__aexit__(None, None, None)
            await two.__aexit__(None, None, None)

        await asyncio.create_task(both())

    async with talking(agent) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        assert [each.status for each in client.of(session, "tool_call_update")] == ["completed"] * 4


@pytest.mark.parametrize("error", [RuntimeError("aborted"), InvalidParams("aborted")], ids=["mistake", "request"])
@pytest.mark.parametrize("grouped", [False, True], ids=["alone", "grouped"])
async def test_a_cancelled_turn_whose_handler_raises_is_logged_and_cancelled(
    version: int, error: Exception, grouped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent("aborting", version="1.0")

    async def abort(turn: Turn) -> None:
        try:
            await turn.say("working")
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise error from None

    @agent.prompt
    async def work(turn: Turn) -> None:
        if not grouped:
            await abort(turn)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(abort, turn)
            await anyio.sleep_forever()

    reasons: list[str] = []
    async with talking(agent, version) as client, anyio.create_task_group() as tasks:
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "go"))

        tasks.start_soon(prompt)
        await client.until(lambda: client.text(session))
        await client.cancel(session)
    assert reasons == ["cancelled"]
    assert [(record.levelname, record.exc_info is not None) for record in caplog.records] == [("WARNING", True)]


async def test_cancel_before_and_after_a_turn_has_no_effect(version: int) -> None:
    async with talking(echo(), version) as client:
        session = await client.new()
        await client.cancel(session)
        assert await client.prompt(session, "one") == "end_turn"
        await client.cancel(session)
        assert await client.prompt(session, "two") == "end_turn"
        await client.cancel("unknown")


async def test_cancel_right_behind_the_prompt_cancels_it() -> None:
    turns: list[Turn] = []
    reasons: list[str] = []
    async with talking(waiting(turns)) as client, anyio.create_task_group() as tasks:
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "wait"))

        tasks.start_soon(prompt)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        await client.cancel(session)
    assert reasons == ["cancelled"]


async def test_cancel_request_cancels_the_turn() -> None:
    turns: list[Turn] = []
    async with talking(waiting(turns)) as client, anyio.create_task_group() as tasks:
        session = await client.new()

        async def prompt() -> None:
            await client.prompt(session, "wait")

        tasks.start_soon(prompt)
        await client.until(lambda: client.text(session))
        tasks.cancel_scope.cancel()
    assert turns[0].is_cancelled
    assert turns[0].done.is_set()


async def test_a_cancelled_turn_closes_its_permission_request(version: int) -> None:
    agent = Agent("asking", version="1.0")
    closed = anyio.Event()

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.ask("Write?")

    async def never(_: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()

    async with talking(agent, version) as client, anyio.create_task_group() as tasks:
        client.answer = never
        session = await client.new()
        tasks.start_soon(client.prompt, session, "go")
        await client.until(lambda: client.asked)
        await client.cancel(session)
        with anyio.fail_after(5):
            await closed.wait()


async def test_a_question_answered_as_cancelled_waits_for_the_cancellation(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.agent._turn.CANCELLATION", 20)
    agent = Agent("asking", version="1.0")
    answers: list[bool] = []
    reasons: list[str] = []

    @agent.prompt
    async def ask(turn: Turn) -> None:
        answers.append(await turn.ask("Write?"))

    async with talking(agent, version) as client, anyio.create_task_group() as tasks:
        client.answer = lambda _: {"outcome": "cancelled"}
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "go"))

        tasks.start_soon(prompt)
        await client.until(lambda: client.asked)
        await anyio.wait_all_tasks_blocked()
        await client.cancel(session)
    assert (answers, reasons) == ([], ["cancelled"])


async def test_a_second_prompt_is_refused_while_one_is_running(version: int) -> None:
    turns: list[Turn] = []
    async with talking(waiting(turns), version) as client, anyio.create_task_group() as tasks:
        session = await client.new()
        tasks.start_soon(client.prompt, session, "wait")
        await client.until(lambda: client.text(session))
        with pytest.raises(RequestFailed, match="busy") as refused:
            await client.prompt(session, "two")
        assert refused.value.code == -32600
        await client.cancel(session)
    assert len(turns) == 1


async def test_queued_prompts_run_in_their_order(version: int) -> None:
    heard: list[str] = []
    all_sent = anyio.Event()
    agent = Agent("queue", version="1.0", prompts="queue")

    @agent.prompt
    async def listen(turn: Turn) -> None:
        heard.append(turn.text)
        if len(heard) == 1:
            await all_sent.wait()

    async with talking(agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(client.send_prompt, session, str(number))
                await anyio.wait_all_tasks_blocked()
            all_sent.set()
        await client.until(lambda: version == 1 or len(client.ends(session)) == 20)
    assert heard == [str(number) for number in range(20)]


async def test_cancel_also_cancels_queued_prompts() -> None:
    heard: list[str] = []
    agent = Agent("queue", version="1.0", prompts="queue")

    @agent.prompt
    async def listen(turn: Turn) -> None:
        heard.append(turn.text)
        await turn.say("listening")
        await anyio.sleep_forever()

    async with talking(agent) as client:
        session = await client.new()
        reasons: list[str] = []

        async def prompt(text: str) -> None:
            reasons.append(await client.prompt(session, text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, "one")
            await client.until(lambda: client.text(session))
            tasks.start_soon(prompt, "two")
            tasks.start_soon(prompt, "three")
            await anyio.wait_all_tasks_blocked()
            await client.cancel(session)
    assert reasons == ["cancelled"] * 3
    assert heard == ["one"]


async def test_using_a_turn_after_its_end_raises_turn_ended(version: int) -> None:
    turns: list[Turn] = []
    async with talking(waiting(turns), version) as client:
        await client.prompt(await client.new(), "go")
        with pytest.raises(TurnEnded, match="has ended") as ended:
            await turns[0].say("late")
        assert ended.value.session_id == turns[0].session.id
        with pytest.raises(TurnEnded):
            await turns[0].ask("late?")
        with pytest.raises(TurnEnded):
            async with turns[0].tool_call("late"):
                pass
        with pytest.raises(TurnEnded):
            await turns[0].read_file("late")


async def test_a_tool_call_begins_and_completes(version: int) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Read", kind="read", arguments={"path": "/a"}, locations=["/a", "b"]) as call:
            await call.update(title="Reading", content="begun")
            call.result("done")
        assert not call.has_failed
        assert call.output == "done"

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        begin, progress, end = client.of(session, "tool_call", "tool_call_update")
    assert (begin.title, begin.kind, begin.status) == ("Read", "read", "in_progress")
    assert [each.path for each in begin.locations] == ["/a", os.path.join(CWD, "b")]
    assert progress.title == "Reading"
    assert (end.status, end.content[0].content.text) == ("completed", "done")
    assert begin.tool_call_id == end.tool_call_id


@pytest.mark.parametrize("grouped", [False, True])
async def test_a_failed_tool_does_not_end_the_turn(version: int, grouped: bool) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            await turn.say("trying ")
            error = FileNotFoundError("no such file")
            if grouped:
                await in_a_group(error)
            raise error
        assert call.has_failed
        assert isinstance(call.error, FileNotFoundError)
        await turn.say("going on")

    async with talking(agent, version) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        assert client.text(session) == "trying going on"
        assert len({each.message_id for each in client.of(session, "agent_message_chunk")}) == 2
        _, end = client.of(session, "tool_call", "tool_call_update")
        assert (end.status, end.content[0].content.text) == ("failed", "no such file")


async def test_a_tool_call_whose_begin_cannot_be_sent_is_not_shown(version: int) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        with pytest.raises(ValueError, match="cannot be written as JSON"):
            async with turn.tool_call("Read", arguments={"size": object()}):
                pass

    async with talking(agent, version) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        assert client.of(session, "tool_call", "tool_call_update") == []


async def test_a_tool_call_shows_what_a_model_has_made_up_mended(version: int) -> None:
    agent = Agent("tools", version="1.0")
    arguments = {"te\ud83dxt": "half \ud83d", "size": [float("nan"), 2.5], "emoji": "\ud83d\ude00"}

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Write \ud83d", name="\ud83dx", arguments=arguments, locations=["a\ud83d"]) as call:
            assert await turn.ask("Write?", call=call)
            call.result("done")

    async with talking(agent, version) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        begin, *_, end = client.of(session, "tool_call", "tool_call_update")
    assert (begin.title, begin.name) == ("Write \ufffd", "\ufffdx")
    assert begin.raw_input == {"te\ufffdxt": "half \ufffd", "size": [None, 2.5], "emoji": "😀"}
    assert [each.path for each in begin.locations] == [os.path.join(CWD, "a\ufffd")]
    assert end.status == "completed"


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["smile ", "\ud83d", "\ude00", " end"], "smile 😀 end"),
        (["\ude00 \ud83d x", "a\ud83d", "\ude00\ud83d", "\ude00"], "\ufffd \ufffd xa😀😀"),
        (["cut \ud83d", " off ", "\ude00 end"], "cut \ufffd off \ufffd end"),
        (["cut \ud83d", None, "\ude00 end"], "cut \ufffd end"),
    ],
)
async def test_halves_of_emojis_are_joined_or_replaced(pieces: list[str | None], shown: str, version: int) -> None:
    agent = Agent("speaker", version="1.0")

    @agent.prompt
    async def speak(turn: Turn) -> None:
        for piece in pieces:
            if piece is None:
                await turn.plan(["other"])
            else:
                await turn.say(piece)

    async with talking(agent, version) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        assert client.text(session) == shown
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == shown


@pytest.mark.parametrize("how", ["result", "fail", "raise"])
async def test_a_tool_call_fails_if_its_end_cannot_be_sent(version: int, how: str) -> None:
    agent = Agent("tools", version="1.0")
    name = b"caf\xe9.txt".decode(errors="surrogateescape")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("List") as call:
            if how == "raise":
                raise ValueError(name)
            getattr(call, how)(name)
        await turn.say(call.output)

    async with talking(agent, version) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        _, end = client.of(session, "tool_call", "tool_call_update")
        assert end.status == "failed"
        assert ("caf\\udce9.txt" if how == "raise" else "surrogate") in client.text(session)


async def test_a_mistake_in_a_tool_call_ends_the_turn_without_its_message(version: int) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Read"):
            raise KeyError("hunter2")

    async with talking(agent, version) as client:
        session = await client.new()
        if version == 1:
            with pytest.raises(RequestFailed):
                await client.prompt(session, "go")
        else:
            assert await client.prompt(session, "go") == "error"
        _, end = client.of(session, "tool_call", "tool_call_update")
        assert end.status == "failed"
        assert "hunter2" not in str(client.updates)


async def test_a_cancelled_tool_call_ends_on_the_wire(version: int) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Wait"):
            await anyio.sleep_forever()

    async with talking(agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt, session, "go")
            await client.until(lambda: client.of(session, "tool_call", "tool_call_update"))
            await client.cancel(session)
        _, end = client.of(session, "tool_call", "tool_call_update")
    assert end.status == ("failed" if version == 1 else "cancelled")


@pytest.mark.parametrize("how", ["raise", "cancel"])
async def test_tool_calls_that_were_sent_as_updates_end_with_the_turn(version: int, how: str) -> None:
    agent = Agent("tools", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        for id_ in ("done", "posted", "open"):
            await turn.send(v1.ToolCall(tool_call_id=id_, title=id_, status="in_progress"))
        await turn.send(v1.SessionToolCallUpdate(tool_call_id="done", status="completed"))
        await turn.send(v1.SessionToolCallUpdate(tool_call_id="done", title="late"))
        turn.post(v1.SessionToolCallUpdate(tool_call_id="posted", status="failed"))
        if how == "raise":
            raise InvalidParams("no")
        turn.cancel()
        await anyio.sleep_forever()

    async with talking(agent, version) as client:
        session = await client.new()
        with suppress(RequestFailed):
            await client.prompt(session, "go")
        updates = client.of(session, "tool_call_update")
    ends = [(each.tool_call_id, each.status) for each in updates if each.status not in ("in_progress", None)]
    assert ends == [("done", "completed"), ("posted", "failed"), ("open", "failed" if version == 1 else "cancelled")]


async def test_ask_returns_the_users_choice(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.agent._turn.CANCELLATION", 0)
    agent = Agent("asking", version="1.0")
    answers: list[bool] = []

    @agent.prompt
    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Write", kind="edit") as call:
            answers.append(await turn.ask("Write notes.txt?", call=call))

    async with talking(agent, version) as client:
        session = await client.new()
        for outcome in (
            {"outcome": "selected", "optionId": "allow"},
            {"outcome": "selected", "optionId": "reject"},
            {"outcome": "cancelled"},
            {"outcome": "selected", "optionId": "unknown"},
        ):
            client.answer = lambda _, outcome=outcome: outcome
            await client.prompt(session, "go")
    assert answers == [True, False, False, False]


async def test_a_question_can_be_about_a_tool_call_of_another_agent(version: int) -> None:
    agent = Agent("hub", version="1.0")
    other = v1.ToolCall(
        tool_call_id="call_1",
        title="Write",
        kind="edit",
        content=[v1.Diff(path="/a", new_text="x")],
        locations=[v1.ToolCallLocation(path="/a")],
    )
    asked: list[Any] = []
    titles: list[str | None] = []

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.send(other)
        assert await turn.ask("May I write?", call=other)

    def answer(request: Any) -> Any:
        asked.append(request.tool_call if version == 1 else request.subject.tool_call)
        titles.append(request.tool_call.title if version == 1 else request.title)
        return {"outcome": "selected", "optionId": "allow"}

    async with talking(agent, version) as client:
        client.answer = answer
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        shown = client.of(session, "tool_call", "tool_call_update")
    assert [(each.tool_call_id, each.kind, each.locations[0].path) for each in asked] == [("call_1", "edit", "/a")]
    assert not asked[0].model_extra
    assert hasattr(asked[0].content[0], "path" if version == 1 else "patch")
    assert titles == ["May I write?"]
    assert {each.tool_call_id for each in shown} == {"call_1"}
    assert [each.title for each in shown if each.title] == ["Write"] * (2 if version == 1 else 1)


@pytest.mark.parametrize("outcome", ["selected", "cancelled"])
async def test_a_tool_call_has_its_title_again_after_a_question(version: int, outcome: str) -> None:
    agent = Agent("asking", version="1.0")

    @agent.prompt
    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Write", kind="edit") as call:
            await call.update(title="Write notes.txt")
            await turn.ask("May I write?", call=call)

    async def answer(request: Any) -> Any:
        assert (request.tool_call if version == 1 else request).title == "May I write?"
        client.updates.clear()
        if outcome == "cancelled":
            await client.cancel(session)
        return {"outcome": outcome, **({"optionId": "allow"} if outcome == "selected" else {})}

    async with talking(agent, version) as client:
        client.answer = answer
        session = await client.new()
        await client.send_prompt(session, "go")
        ends = ("completed", "failed", "cancelled")
        await client.until(lambda: [each for each in client.of(session, "tool_call_update") if each.status in ends])
        titles = [each.title for each in client.of(session, "tool_call_update") if each.title]
    # In v2 the question is not the title of the call.
    assert titles == (["Write notes.txt"] if version == 1 else [])


async def test_nothing_is_sent_for_a_question_that_is_answered_after_the_end_of_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acp_bindings.agent._session.CANCELLING", 0.01)
    agent = Agent("asking", version="1.0")
    has_ended, has_answer = anyio.Event(), anyio.Event()

    @agent.prompt
    async def ask(turn: Turn) -> None:
        with anyio.CancelScope(shield=True):
            async with turn.tool_call("Write", kind="edit") as call:
                try:
                    await turn.ask("May I write?", call=call)
                finally:
                    has_answer.set()

    async def answer(_: Any) -> Any:
        await client.cancel(session)
        await has_ended.wait()
        return {"outcome": "selected", "optionId": "allow"}

    async with talking(agent, 1) as client:
        client.answer = answer
        session = await client.new()
        assert await client.prompt(session, "go") == "cancelled"
        client.updates.clear()
        has_ended.set()
        await has_answer.wait()
        await client.load(session)
        assert not [each for each in client.of(session, "tool_call_update") if each.title]


async def test_a_question_that_the_client_cannot_answer_is_asked_once(version: int) -> None:
    agent = Agent("asking", version="1.0")
    caught: list[str] = []

    @agent.prompt
    async def ask(turn: Turn) -> None:
        try:
            await turn.ask("Write notes.txt?")
        except RequestFailed as error:
            caught.append(type(error).__name__)

    def refuse(_: Any) -> Any:
        raise InvalidParams("no")

    async with talking(agent, version) as client:
        session = await client.new()
        client.answer = refuse
        await client.prompt(session, "go")
        assert len(client.asked) == 1
        states = [each.status for each in client.of(session, "tool_call_update")]
    assert caught == ["RequestFailed"]
    assert states == (["failed"] if version == 1 else [])


@pytest.mark.parametrize(
    ("outcome", "end"),
    [
        ({"outcome": "selected", "optionId": "allow"}, ("completed", "")),
        ({"outcome": "selected", "optionId": "reject"}, ("failed", "Rejected")),
        ({"outcome": "cancelled"}, ("failed", "Cancelled")),
    ],
)
async def test_the_tool_call_of_a_question_in_v1_fails_unless_it_is_allowed(
    outcome: dict[str, str], end: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.agent._turn.CANCELLATION", 0)
    agent = Agent("asking", version="1.0")

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.ask("Write?")

    async with talking(agent, 1) as client:
        client.answer = lambda _: outcome
        session = await client.new()
        await client.prompt(session, "go")
        (update,) = client.of(session, "tool_call_update")
    assert (update.status, "".join(each.content.text for each in update.content or ())) == end


async def test_in_v2_a_permission_request_is_shown_as_required_action() -> None:
    agent = Agent("asking", version="1.0")

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.ask("Write?")

    async with talking(agent, 2) as client:
        session = await client.new()
        await client.prompt(session, "go")
        states = [each.state for each in client.of(session, "state_update")]
    assert states == ["running", "requires_action", "running", "idle"]


@pytest.mark.parametrize("answer", ["an error", "none in time"])
async def test_in_v2_the_turn_is_running_again_after_a_question_without_an_answer(answer: str) -> None:
    agent = Agent("asking", version="1.0")

    @agent.prompt
    async def ask(turn: Turn) -> None:
        with suppress(RequestFailed), anyio.move_on_after(0.1 if answer == "none in time" else 10):
            await turn.ask("Write?")
        await turn.say("going on")

    async def refuse(_: Any) -> Any:
        if answer == "none in time":
            await anyio.sleep_forever()
        raise InvalidParams("no")

    async with talking(agent, 2) as client:
        client.answer = refuse
        session = await client.new()
        await client.prompt(session, "go")
        updates = client.of(session, "state_update", "agent_message_chunk")
    assert [getattr(each, "state", "said") for each in updates] == [
        "running",
        "requires_action",
        "running",
        "said",
        "idle",
    ]


async def test_in_v2_a_cancelled_question_does_not_show_that_the_turn_goes_on() -> None:
    agent = Agent("asking", version="1.0")

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.ask("Write?")

    async def never(_: Any) -> Any:
        await anyio.sleep_forever()

    async with talking(agent, 2) as client, anyio.create_task_group() as tasks:
        client.answer = never
        session = await client.new()
        tasks.start_soon(client.prompt, session, "go")
        await client.until(lambda: client.asked)
        await client.cancel(session)
        await client.until(lambda: client.ends(session))
        assert [each.state for each in client.of(session, "state_update")] == ["running", "requires_action", "idle"]


@pytest.mark.parametrize("more", [0, 5])
async def test_a_blocked_event_loop_is_reported_once_also_if_the_client_leaves(
    version: int, more: int, caplog: pytest.LogCaptureFixture
) -> None:
    import time

    agent = Agent("blocking", version="1.0")

    @agent.prompt
    async def block(turn: Turn) -> None:
        if turn.text == "block":
            time.sleep(1)

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "block")
        for _ in range(more):
            await client.prompt(session, "fast")
            assert await client.prompt(await client.new(), "fast") == "end_turn"
    warnings = [each for each in caplog.records if "event loop was blocked" in each.message]
    assert [each.levelno for each in warnings] == [logging.WARNING]


async def test_usage_and_other_updates_are_sent_in_both_versions(version: int) -> None:
    agent = Agent("sender", version="1.0")

    @agent.prompt
    async def send(turn: Turn) -> None:
        await turn.usage(10, 100, cost=0.5)
        await turn.send(v1.AgentMessageChunk(content=v1.TextContent(text="hello")))

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        (usage,) = client.of(session, "usage_update")
        assert (usage.used, usage.size, usage.cost.amount) == (10, 100, 0.5)
        assert client.text(session) == "hello"


@pytest.mark.parametrize(
    ("method", "wrong", "error"),
    [("send", v1.ToolCallUpdate(tool_call_id="1"), (ValidationError, DecodeError)), ("say", 3, TypeError)],
)
async def test_what_is_not_an_update_is_refused_and_not_stored(
    version: int, method: str, wrong: Any, error: Any
) -> None:
    agent = Agent("mistaken", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        with pytest.raises(error):
            await getattr(turn, method)(wrong)
        assert len(await turn.session.history()) == 1

    async with talking(agent, version) as client:
        await client.prompt(await client.new(), "go")


async def test_a_turn_has_the_meta_of_its_request(version: int) -> None:
    agent = Agent("reader", version="1.0")

    @agent.prompt
    async def read(turn: Turn) -> None:
        await turn.say(str(turn.meta))

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go", _meta={"acme.com/agent": "small"})
        assert client.text(session) == "{'acme.com/agent': 'small'}"


async def test_turn_text_includes_links_and_embedded_text() -> None:
    agent = Agent("reader", version="1.0")
    texts: list[str] = []

    @agent.prompt
    async def read(turn: Turn) -> None:
        texts.append(turn.text)

    blocks = [
        {"type": "text", "text": "see"},
        {"type": "resource_link", "name": "notes", "uri": "file:///notes"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "embedded"}},
    ]
    async with served(agent) as server, server.client() as client:
        await client.ask("session/prompt", sessionId=await client.new(), prompt=blocks)
    assert texts == ['see\n[notes](file:///notes)\n<context ref="file:///a">\nembedded\n</context>']


async def test_the_title_of_a_session_leaves_out_the_content_of_attached_files(version: int) -> None:
    blocks = [
        {"type": "resource", "resource": {"uri": "file:///a", "text": "embedded"}},
        {"type": "text", "text": "see\n"},
        {"type": "resource_link", "name": "notes", "uri": "file:///notes"},
    ]
    agent = Agent("reader", version="1.0")

    @agent.prompt
    async def read(turn: Turn) -> None: ...

    async with talking(agent, version) as client:
        session = await client.new()
        for each in (blocks[:1], blocks):
            await client.ask("session/prompt", sessionId=session, prompt=each)
            await client.until(lambda: version == 1 or client.ends(session))
            client.updates.clear()
        listed = await client.ask("session/list")
    assert [each.title for each in listed.sessions] == ["see notes"]
