"""Handlers and clients that misbehave: the other sessions go on, and nothing keeps running."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from contextlib import suppress
from random import Random
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings.agent import Agent, MemorySessions, Turn, TurnEnded
from acp_bindings.connection import ConnectionClosed, RequestFailed
from acp_bindings.connection._connection import LONGEST_MESSAGE
from tests.acp_bindings.agent.clients import Client, Served, memory_pipes, served, talking

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for handlers that ignore their cancellation."""
    monkeypatch.setattr("acp_bindings.agent._session.CANCELLING", 0.2)


class Stubborn:
    """An agent whose handler ignores its cancellation until it is released."""

    def __init__(self, **options: Any) -> None:
        self.agent: Agent[Any] = Agent("stubborn", version="1.0", **options)
        self.release = anyio.Event()
        self.late: list[str] = []
        self.agent.prompt(self._answer)

    async def _answer(self, turn: Turn) -> None:
        await turn.say(turn.text)
        if turn.text == "stay":
            with anyio.CancelScope(shield=True):
                await self.release.wait()
            try:
                await turn.say("late")
            except TurnEnded:
                self.late.append("TurnEnded")
        if turn.text == "call":
            with suppress(TurnEnded):
                async with turn.tool_call("Call"):
                    with anyio.CancelScope(shield=True):
                        await self.release.wait()


async def stay(client: Client, session: str, tasks: Any, reasons: list[str]) -> None:
    """Send a prompt whose handler does not end, and wait until it runs."""

    async def prompt() -> None:
        reasons.append(await client.prompt(session, "stay"))

    tasks.start_soon(prompt)
    await client.until(lambda: client.text(session) == "stay")


async def test_a_turn_that_ignores_its_cancellation_ends_without_its_handler(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn, reasons = Stubborn(), list[str]()
    async with talking(stubborn.agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            await stay(client, session, tasks, reasons)
            await client.cancel(session)
        assert reasons == ["cancelled"]
        # The session can be used again, and what the handler says is not shown.
        assert await client.prompt(session, "again") == "end_turn"
        stubborn.release.set()
        assert await client.prompt(session, "again") == "end_turn"
        assert client.text(session) == "stayagainagain"
    assert stubborn.late == ["TurnEnded"]
    assert ["has not ended after its cancellation" in each.message for each in caplog.records] == [True]


async def test_a_tool_call_that_ignores_the_cancellation_ends_on_the_wire(version: int) -> None:
    stubborn = Stubborn()
    kinds = ("tool_call", "tool_call_update")
    async with talking(stubborn.agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt, session, "call")
            await client.until(lambda: client.of(session, *kinds))
            await client.cancel(session)
        assert [each.status for each in client.of(session, *kinds)][1:] == ["failed" if version == 1 else "cancelled"]
        stubborn.release.set()
        await client.prompt(session, "again")
        assert len(client.of(session, *kinds)) == 2


@pytest.mark.parametrize("returns", [True, False])
async def test_a_prompt_is_answered_although_its_handler_has_ended_the_turn(version: int, returns: bool) -> None:
    agent, release, reasons = Agent("ending", version="1.0"), anyio.Event(), list[str]()

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say("no")
        turn.end("refusal")
        if not returns:
            with anyio.CancelScope(shield=True):
                await release.wait()

    async with talking(agent, version) as client:
        session = await client.new()

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "go"))

        for _ in range(2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(prompt)
                if not returns:
                    await client.until(lambda: client.text(session) == "no" * (len(reasons) + 1))
                    await client.cancel(session)
        release.set()
    assert reasons == ["refusal", "refusal"]


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_close_does_not_wait_for_a_handler_that_ignores_its_cancellation(version: int, method: str) -> None:
    stubborn, reasons = Stubborn(), list[str]()
    async with talking(stubborn.agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            await stay(client, session, tasks, reasons)
            await client.ask(method, sessionId=session)
        assert reasons == ["cancelled"]
        assert await client.prompt(await client.new(), "hello") == "end_turn"
        stubborn.release.set()


async def test_a_load_takes_a_session_over_from_a_stubborn_handler(version: int) -> None:
    stubborn, reasons = Stubborn(), list[str]()
    async with served(stubborn.agent) as server, server.client(version) as one, server.client(version) as other:
        session = await one.new()
        async with anyio.create_task_group() as tasks:
            await stay(one, session, tasks, reasons)
            await other.load(session)
        assert reasons == ["cancelled"]
        assert await other.prompt(session, "hello") == "end_turn"
        stubborn.release.set()


async def test_a_disconnected_client_leaves_no_session_behind(version: int) -> None:
    stubborn = Stubborn()
    async with served(stubborn.agent) as server:
        async with server.leaving(version, "stay") as (_, session):
            pass
        async with server.client(version) as client:
            await client.load(session)
            assert client.text(session) == "stay"
            assert await client.prompt(session, "hello") == "end_turn"
        stubborn.release.set()


async def test_a_client_in_the_same_process_learns_that_its_message_was_too_long() -> None:
    with anyio.fail_after(20):
        async with Stubborn().agent.connected() as client:
            with pytest.raises(ConnectionClosed, match="Parse error: a line is longer than"):
                await client.request(["x" * LONGEST_MESSAGE], method="_acme/do")


async def test_a_failing_handler_does_not_affect_other_sessions(version: int) -> None:
    agent = Agent("mixed", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(turn.text)
        if turn.text == "fail":
            raise RuntimeError("hunter2")
        if turn.text == "group":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fail)
        if turn.text == "block":
            time.sleep(1)

    async def fail() -> None:
        raise RuntimeError("hunter2")

    async with talking(agent, version) as client:

        async def use(text: str) -> None:
            session = await client.new()
            if text in ("fail", "group") and version == 1:
                with pytest.raises(RequestFailed, match="Internal error"):
                    await client.prompt(session, text)
            else:
                reason = "error" if text in ("fail", "group") else "end_turn"
                assert await client.prompt(session, text) == reason
            # The same session goes on too.
            assert await client.prompt(session, "again") == "end_turn"

        async with anyio.create_task_group() as tasks:
            for text in ("one", "fail", "two", "group", "block", "three"):
                tasks.start_soon(use, text)


async def test_tasks_that_outlive_a_turn_cannot_send_updates(version: int) -> None:
    agent = Agent("starter", version="1.0")
    ended = anyio.Event()

    async with anyio.create_task_group() as background:

        async def go_on(turn: Turn) -> None:
            with pytest.raises(TurnEnded, match="has ended"):
                async with turn.tool_call("Read"):
                    await turn.done.wait()
            with pytest.raises(TurnEnded, match="has ended"):
                await turn.say("late")
            ended.set()

        @agent.prompt
        async def start(turn: Turn) -> None:
            background.start_soon(go_on, turn)
            await anyio.wait_all_tasks_blocked()
            await turn.say("started")

        async with talking(agent, version) as client:
            session = await client.new()
            await client.prompt(session, "go")
            await ended.wait()
            assert client.text(session) == "started"
            assert len(client.of(session, "tool_call", "tool_call_update")) == 2


async def test_a_session_may_show_something_after_its_turn(version: int) -> None:
    turns: list[Turn] = []
    agent = Agent("late", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        turns.append(turn)

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        await turns[0].session.report("The index is ready", severity="info")
        await client.until(lambda: "The index is ready" in str(client.updates))


async def test_a_flood_of_prompts_to_a_busy_session_is_refused(version: int) -> None:
    stubborn, reasons = Stubborn(), list[str]()
    async with talking(stubborn.agent, version) as client:
        session = await client.new()
        async with anyio.create_task_group() as tasks:
            await stay(client, session, tasks, reasons)
            refused: list[int] = []

            async def prompt() -> None:
                try:
                    await client.prompt(session, "more")
                except RequestFailed as error:
                    refused.append(error.code)

            async with anyio.create_task_group() as flood:
                for _ in range(2000):
                    flood.start_soon(prompt)
            assert refused == [-32600] * 2000
            stubborn.release.set()
        assert reasons == ["end_turn"]


async def test_a_flood_of_queued_prompts_ends_with_one_cancel() -> None:
    stubborn = Stubborn(prompts="queue")
    reasons: list[str] = []
    async with talking(stubborn.agent) as client:
        session = await client.new()

        async def prompt(text: str) -> None:
            reasons.append(await client.prompt(session, text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, "stay")
            await client.until(lambda: client.text(session))
            for _ in range(500):
                tasks.start_soon(prompt, "more")
            await anyio.wait_all_tasks_blocked()
            await client.cancel(session)
        assert reasons == ["cancelled"] * 501
        assert client.text(session) == "stay"
        stubborn.release.set()


async def test_a_flood_of_cancels_loads_and_closes_leaves_one_session(version: int) -> None:
    store = MemorySessions()
    agent = Agent("busy", version="1.0", sessions=store)

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say("word ")
        await anyio.sleep(0.001)

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")

        codes: set[int] = set()

        async def hit(number: int) -> None:
            try:
                match number % 4:
                    case 0:
                        await client.send_prompt(session, "go")
                    case 1:
                        await client.cancel(session)
                    case 2:
                        await client.load(session)
                    case _:
                        await client.ask("session/close", sessionId=session)
            except RequestFailed as error:
                codes.add(error.code)

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(hit, number)
        assert codes <= {-32600, -32002}
        await client.load(session)
        with anyio.fail_after(5):
            await client.prompt(session, "go")
        sessions = (await client.ask("session/list")).sessions
        assert [each.session_id for each in sessions] == [session]


async def test_a_client_that_does_not_read_delays_only_itself(version: int) -> None:
    agent = Agent("flood", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        for _ in range(20000 if turn.text == "flood" else 1):
            await turn.say("x" * 100)

    async with served(agent) as server, server.client(version) as good:
        (source, sink), (answers, requests) = memory_pipes()
        async with anyio.create_task_group() as tasks:
            await tasks.start(server.serve, source, sink)
            await _prompt(answers, requests, version, "flood")
            for _ in range(5):
                assert await good.prompt(await good.new(), "hello") == "end_turn"
            await requests.aclose()
            await answers.aclose()


@pytest.mark.parametrize("text", ["end", "cancel"])
async def test_the_ends_of_calls_and_turns_are_kept_for_a_client_that_pauses(version: int, text: str) -> None:
    agent = Agent("flood", version="1.0")
    ended = anyio.Event()

    @agent.prompt
    async def answer(turn: Turn) -> None:
        background.start_soon(note, turn)
        async with turn.tool_call("Read") as call:
            for _ in range(2):
                background.start_soon(turn.say, "x" * 100_000)
            await anyio.wait_all_tasks_blocked()
            if text == "cancel":
                turn.session.cancel()
                await anyio.sleep_forever()
            call.result("found")

    async def note(turn: Turn) -> None:
        await turn.done.wait()
        ended.set()

    sent = ""
    async with anyio.create_task_group() as background:
        sent = await _told_after(agent, version, text, ended)
    assert ('"status":"completed"' in sent) == (text == "end")
    assert ('"Cancelled"' in sent) == (text != "end")
    assert f'"stopReason":"{"end_turn" if text == "end" else "cancelled"}"' in sent


async def test_calls_that_outlive_a_turn_end_with_it_while_its_client_pauses(version: int) -> None:
    agent = Agent("flood", version="1.0")
    ended = anyio.Event()

    async def call(turn: Turn) -> None:
        with suppress(TurnEnded):
            async with turn.tool_call("Read") as call:
                await call.update(content="x" * 50_000)
                await turn.done.wait()
        ended.set()

    @agent.prompt
    async def answer(turn: Turn) -> None:
        for _ in range(8):
            background.start_soon(call, turn)
        await anyio.wait_all_tasks_blocked()
        raise KeyError("mistake")

    async with anyio.create_task_group() as background:
        sent = await _told_after(agent, version, "go", ended)
        assert sent.count('"Cancelled"') == sent.count('"in_progress"') > 1


async def _told_after(agent: Agent, version: int, text: str, happened: anyio.Event) -> str:
    """Return what a client gets that sends a prompt, and reads on when something has happened."""
    told = b""
    async with served(agent) as server, anyio.create_task_group() as tasks:
        to_agent, from_client = anyio.create_memory_object_stream[bytes](0)
        to_client, from_agent = anyio.create_memory_object_stream[bytes](0)
        await tasks.start(server.serve, BufferedByteReceiveStream(from_client), to_client)
        await _prompt(from_agent, to_agent, version, text)
        await happened.wait()
        while not (b'"stopReason"' in told or b"Internal error" in told):
            told += await from_agent.receive()
        await to_agent.aclose()
        await from_agent.aclose()
    return told.decode()


@pytest.mark.parametrize("text", ["ask", "call", "group"])
async def test_a_client_that_leaves_a_question_open_cancels_its_turn(
    version: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent("asker", version="1.0")
    went_on = list[str]()

    @agent.prompt
    async def ask(turn: Turn) -> None:
        if turn.text == "ask":
            await turn.ask("Really?")
        elif turn.text == "call":
            async with turn.tool_call("Write") as call:
                await turn.ask("Really?", call=call)
        else:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(turn.ask, "Really?")
        went_on.append(turn.text)

    sent = b""
    async with served(agent) as server, anyio.create_task_group() as tasks:
        (source, sink), (answers, requests) = memory_pipes()
        await tasks.start(server.serve, source, sink)
        await _prompt(answers, requests, version, text)
        while b"session/request_permission" not in sent:
            sent += await answers.receive()
        # As `printf … | agent` does: it still reads.
        await requests.aclose()
        while b'"stopReason"' not in sent:
            sent += await answers.receive()
        await answers.aclose()
    assert b'"stopReason":"cancelled"' in sent
    assert went_on == []
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


async def _prompt(answers: Any, requests: Any, version: int, text: str) -> None:
    """Send a prompt in a new session over the streams of a client."""
    info = {"name": "deaf", "version": "1"}
    await requests.send(_line("initialize", {"protocolVersion": version, "info": info, "capabilities": {}}, 1))
    await requests.send(_line("session/new", {"cwd": "/", "mcpServers": []}, 2))
    told = b""
    while b'"sessionId":"' not in told:
        told += await answers.receive()
    session = told.split(b'"sessionId":"')[1].split(b'"')[0].decode()
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    await requests.send(_line("session/prompt", prompt, 3))


def _line(method: str, params: Any, id_: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode() + b"\n"


async def test_nothing_is_logged_as_an_error_when_clients_leave(version: int, caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent("speaker", version="1.0")

    @agent.prompt
    async def speak(turn: Turn) -> None:
        try:
            while True:
                await turn.say("x")
                await anyio.sleep(0)
        finally:
            with anyio.CancelScope(shield=True):
                await turn.session.request({}, method="_acme/clean_up")

    async with served(agent) as server, server.leaving(version, "go"):
        pass
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("prompts", ["refuse", "queue"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_clients_that_act_at_random_and_leave_lose_no_session(prompts: Any, seed: int) -> None:
    random = Random(seed)
    running: set[Turn] = set()
    accepted, codes = set[str](), set[int]()
    agent = Agent("random", version="1.0", prompts=prompts)

    @agent.prompt
    async def answer(turn: Turn) -> None:
        running.add(turn)
        accepted.add(turn.session.id)
        try:
            async with turn.tool_call("Call"):
                await anyio.sleep(random.random() * 0.01)
            if random.random() < 0.2:
                await turn.ask("Really?")
        finally:
            running.discard(turn)

    async def act(client: Client, session: str) -> None:
        try:
            match random.choice(["prompt"] * 4 + ["impatient", "cancel", "load", "close"]):
                case "prompt":
                    await client.send_prompt(session, "go")
                case "impatient":
                    with anyio.move_on_after(random.random() * 0.005):
                        await client.send_prompt(session, "go")
                case "cancel":
                    await client.cancel(session)
                case "load":
                    await client.load(session)
                case _:
                    await client.ask("session/close", sessionId=session)
        except RequestFailed as error:
            codes.add(error.code)

    async def visit(server: Served, version: int) -> None:
        for _ in range(2):
            with anyio.CancelScope() as scope:
                async with server.client(version) as client, anyio.create_task_group() as tasks:
                    ids.append(await client.new())
                    for _ in range(60):
                        tasks.start_soon(act, client, random.choice(ids))
                        await anyio.sleep(random.random() * 0.002)
                    scope.cancel()

    ids: list[str] = []
    async with served(agent) as server:
        async with anyio.create_task_group() as tasks:
            for version in (1, 2, 1, 2):
                tasks.start_soon(visit, server, version)
        assert not running
        assert codes <= {-32600, -32002, -32800}
        async with server.client(1) as client:
            stored = [each.session_id for each in (await client.ask("session/list")).sessions]
            assert len(stored) == len({*stored})
            assert accepted <= {*stored}
            for session in stored:
                await client.load(session)


PROGRAM = """
import asyncio, sys, threading, time
import anyio
from acp_bindings.agent import Agent, Turn, _agent

_agent._EXIT = 0.2
agent = Agent("threads", version="1.0")

@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say("begun")
    await CALL

def finish() -> None:
    threading.main_thread().join()
    time.sleep(0.5)
    print("finished", file=sys.stderr)

RUN
threading.Thread(target=finish).start()
time.sleep(0.5)
print("finished", file=sys.stderr)
"""
RUN = "agent.run()"
RUN_IN_A_THREAD = "thread = threading.Thread(target=agent.run); thread.start(); thread.join()"
IN_ANYIO = "anyio.to_thread.run_sync(time.sleep, 60, abandon_on_cancel=True)"


@pytest.mark.parametrize(
    ("run", "call", "end", "status", "says"),
    [
        (RUN, IN_ANYIO, "", 0, "finished\nfinished\n"),
        (RUN, IN_ANYIO, "raise LookupError", 1, "\nLookupError\n"),
        (RUN, "asyncio.to_thread(time.sleep, 60)", "", 0, "a call in a thread of agent threads is still running"),
        # There it waits for the calls, because only the main thread ends the process.
        (RUN_IN_A_THREAD, "asyncio.to_thread(time.sleep, 1)", "", 0, "finished\nfinished\n"),
    ],
)
def test_a_process_ends_without_the_calls_that_it_has_left_in_threads(
    run: str, call: str, end: str, status: int, says: str
) -> None:
    program = [sys.executable, "-c", PROGRAM.replace("RUN", run).replace("CALL", call) + end]
    agent: Any
    with subprocess.Popen(program, stdin=-1, stdout=-1, stderr=-1, bufsize=0) as agent:
        agent.stdin.write(_line("initialize", {"protocolVersion": 1}, 1))
        agent.stdin.write(_line("session/new", {"cwd": "/", "mcpServers": []}, 2))
        agent.stdout.readline()
        session = json.loads(agent.stdout.readline())["result"]["sessionId"]
        agent.stdin.write(_line("session/prompt", {"sessionId": session, "prompt": []}, 3))
        assert b"begun" in agent.stdout.readline()
        agent.stdin.close()
        assert agent.wait(30) == status
        assert says in agent.stderr.read().decode()
