"""Hostile and broken peers, and careless users: the effects of each are limited."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import UNIXSocketStream

from acp_bindings import v1
from acp_bindings.connection import CannotStart, Connection, ConnectionClosed, connect_process
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import OPENING
from tests.acp_bindings.connection.support import (
    HELLO,
    NEW,
    AtOnce,
    against,
    an_answer,
    both,
    doing,
    into,
    nothing,
    setting,
    streams,
)
from tests.leftovers import children

pytestmark = pytest.mark.anyio

WAITING = [sys.executable, "-S", "-c", "input()"]


@pytest.mark.parametrize("protocol", [v1, OPENING])
@pytest.mark.parametrize(
    "params", [{"requestId": [1]}, {"requestId": {}}, {"requestId": True}, {"requestId": 1.0}, {}, [], None, "1"]
)
async def test_a_cancellation_without_a_valid_id_cancels_nothing(params: Any, protocol: ProtocolPackage) -> None:
    async def stay(_: Any, connection: Any) -> str:
        await released.wait()
        return "not cancelled"

    released = anyio.Event()
    async with against({"_acme/stay": stay, "_acme/go": setting(released)}, protocol=protocol) as (_, peer):
        await peer.say({"id": 1, "method": "_acme/stay"}, {"id": None, "method": "_acme/stay"})
        await peer.say({"method": "$/cancel_request", "params": params}, {"method": "_acme/go"})
        assert [(await peer.hear())["result"] for _ in range(2)] == ["not cancelled"] * 2


@pytest.mark.parametrize("junk", [b"\n", b"x\n", b'{"method":"x"}\n'])
async def test_a_flood_of_garbage_lets_other_tasks_have_their_turns(junk: bytes) -> None:
    flood = AtOnce(junk * (65536 // len(junk)))
    sink, other = await streams()
    turns = 0
    with anyio.fail_after(20):
        async with (
            other,
            Connection(flood, sink, protocol=v1, role="client") as connection,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_read_all, other)
            while "open" in repr(connection):
                await anyio.lowlevel.checkpoint()
                turns += 1
            tasks.cancel_scope.cancel()
    assert turns > 10


async def test_a_handler_that_never_waits_for_room_lets_other_tasks_run() -> None:
    turns = seen = 0

    async def stream(params: Any, connection: Connection) -> int:
        nonlocal seen
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            for number in range(1000):
                await connection.notify([number], method="_acme/did")
            seen = turns
            tasks.cancel_scope.cancel()
        return seen

    async def count() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    with anyio.fail_after(20):
        async with against({"_acme/do": stream}) as (_, peer):
            await peer.say(doing(1))
            while "id" not in (message := await peer.hear()):
                pass
    assert message["result"] > 1


async def _read_all(stream: UNIXSocketStream) -> None:
    while True:
        await stream.receive()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("method", ["_acme/waits", "_acme/looks", "initialize"])
async def test_a_handler_that_meets_something_cancelled_has_failed_as_by_any_exception(
    method: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def waits(params: Any, connection: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    def looks(params: Any, connection: Any) -> None:
        future: asyncio.Future[None] = asyncio.Future()
        future.cancel()
        future.result()

    def following(params: Any, connection: Any) -> str:
        return "next"

    handlers = {"_acme/waits": waits, "_acme/looks": looks, "initialize": waits, "_acme/next": following}
    params = {"protocolVersion": 1}
    async with against(handlers) as (_, peer):
        await peer.say({"id": 1, "method": method, "params": params}, {"id": 2, "method": "_acme/next"})
        answers = [await peer.hear(), await peer.hear()]
        assert sorted(answers, key=str) == [
            {"id": 1, "error": {"code": -32603, "message": "Internal error"}},
            {"id": 2, "result": "next"},
        ]
        if method != "initialize":
            await peer.say({"method": method, "params": params}, {"id": 3, "method": "_acme/next"})
            assert await peer.hear() == {"id": 3, "result": "next"}
    assert f"the handler of {method} failed" in caplog.text


def remembering(known: list[asyncio.Task[Any] | None]) -> Any:
    """Return a handler that stores its task."""

    async def tell(params: Any, connection: Any) -> None:
        known.append(asyncio.current_task())

    return tell


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("method", ["_acme/stays", "initialize"])
async def test_cancelling_the_asyncio_task_of_a_request_cancels_only_that_request(method: str, times: int) -> None:
    async def stays(params: Any, connection: Any) -> None:
        known.append(asyncio.current_task())
        heard.set()
        await anyio.sleep_forever()

    async def other(params: Any, connection: Any) -> str:
        await released.wait()
        return "not cancelled"

    heard, released = anyio.Event(), anyio.Event()
    known: list[asyncio.Task[Any] | None] = []
    handlers = {"_acme/stays": stays, "initialize": stays, "_acme/other": other, "_acme/release": setting(released)}
    params = {"protocolVersion": 1}
    async with against(handlers) as (_, peer):
        await peer.say({"id": 1, "method": "_acme/other"}, {"id": 2, "method": method, "params": params})
        await heard.wait()
        assert known[0] is not None
        for _ in range(times):
            known[0].cancel()
        assert await peer.hear() == {"id": 2, "error": {"code": -32800, "message": "Request cancelled"}}
        await peer.say({"method": "_acme/release"})
        assert await peer.hear() == {"id": 1, "result": "not cancelled"}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("times", [1, 2])
async def test_cancelling_the_asyncio_task_of_a_notification_cancels_only_that_notification(
    times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def tell(params: Any, connection: Any) -> None:
        known.append(asyncio.current_task())
        heard.set()
        await anyio.sleep_forever()

    async def fails(params: Any, connection: Any) -> None:
        future: asyncio.Future[None] = asyncio.Future()
        future.cancel()
        await future

    heard = anyio.Event()
    known: list[asyncio.Task[Any] | None] = []
    async with against({"_acme/tell": tell, "_acme/fails": fails, "_acme/do": nothing}) as (_, peer):
        await peer.say({"method": "_acme/tell"}, {"method": "_acme/fails"}, {"id": 1, "method": "_acme/do"})
        await heard.wait()
        assert known[0] is not None
        for _ in range(times):
            known[0].cancel()
        assert await peer.hear() == {"id": 1, "result": None}
    assert [each.message for each in caplog.records] == ["the handler of _acme/fails failed"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("asks", [True, False])
async def test_cancelling_the_task_of_a_finished_handler_has_no_effect(asks: bool) -> None:
    known: list[asyncio.Task[Any] | None] = []
    do = remembering(known)
    async with against({"_acme/do": do, "_acme/next": do}) as (_, peer):
        for number in range(3):
            await peer.say({"method": "_acme/do", **({"id": "first"} if asks else {})})
            await peer.say({"id": number, "method": "_acme/next"})
            answers = [await peer.hear() for _ in range(1 + asks)]
            assert answers[-1] == {"id": number, "result": None}
            assert known[-2] is not None
            known[-2].cancel()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancelling_a_finished_handlers_task_does_not_delay_other_handlers() -> None:
    def cancel(params: Any, connection: Any) -> None:
        assert known[0] is not None
        known[0].cancel()

    known: list[asyncio.Task[Any] | None] = []
    # While the second of them begins, the task of the notifications waits for it.
    handlers = {
        "_acme/tell": remembering(known),
        "_acme/wait": into([], waits=True),
        "_acme/cancel": cancel,
        "_acme/do": nothing,
    }
    async with against(handlers) as (_, peer):
        await peer.say({"method": "_acme/tell"}, {"id": 1, "method": "_acme/do"})
        await peer.hear()
        await peer.say(
            {"id": 2, "method": "_acme/wait"},
            {"id": 3, "method": "_acme/cancel"},
            {"method": "_acme/tell"},
            {"id": 4, "method": "_acme/do"},
        )
        assert {(await peer.hear())["id"] for _ in range(3)} == {2, 3, 4}
    assert len(known) == 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancelling_a_finished_handlers_task_after_a_response_delays_no_handler() -> None:
    async def ask() -> None:
        await client.request(method="_acme/do", timeout=5)
        # The task of the notifications waits until this is done.
        assert known[0] is not None
        known[0].cancel()

    known: list[asyncio.Task[Any] | None] = []
    handlers = {"_acme/tell": remembering(known), "_acme/do": nothing}
    async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        id_ = (await peer.hear())["id"]
        await peer.say({"method": "_acme/tell"}, an_answer(id_), {"method": "_acme/tell"}, doing(1))
        assert (await peer.hear())["id"] == 1
    assert len(known) == 2


@pytest.mark.parametrize("where", ["then", "handler", "aside"])
async def test_a_response_that_has_arrived_is_returned_although_the_connection_was_closed(where: str) -> None:
    async def hear(params: Any, connection: Connection) -> None:
        heard.set()
        if where == "handler":
            await answered.wait()
            connection.close()
        await anyio.sleep_forever()

    def then(answer: Any) -> Any:
        answered.set()
        if where == "then":
            client.close()
        return answer

    async def ask() -> None:
        answers.append(await client.request(method="_acme/do", then=then))

    answers: list[Any] = []
    heard, answered = anyio.Event(), anyio.Event()
    with anyio.fail_after(5):
        async with against({"_acme/hear": hear}, role="client") as (client, peer), anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            asked = await peer.hear()
            if where != "then":
                # While this is handled, the answer has to wait.
                await peer.say({"method": "_acme/hear"})
                await heard.wait()
            await peer.say({"id": asked["id"], "result": "done"})
            await answered.wait()
            if where == "aside":
                client.close()
    assert answers == ["done"]


async def test_a_connection_can_be_entered_only_once() -> None:
    async with against() as (connection, _):
        with pytest.raises(RuntimeError, match="already been used"):
            await connection.__aenter__()
        assert "open" in repr(connection)
    with pytest.raises(RuntimeError, match="already been used"):
        await connection.__aenter__()


@pytest.mark.parametrize("method", ["_acme/waits", "_acme/at_once"])
@pytest.mark.parametrize("asks", [True, False])
async def test_a_base_exception_of_a_handler_leaves_the_block_unchanged(method: str, asks: bool) -> None:
    class Stop(BaseException):
        """An exception that ends the program, like SystemExit."""

    async def stop(params: Any, connection: Any) -> None:
        raise Stop("mine")

    def stop_at_once(params: Any, connection: Any) -> None:
        raise Stop("mine")

    async def until_stopped() -> None:
        async with against({"_acme/waits": stop, "_acme/at_once": stop_at_once}) as (_, peer):
            await peer.say({"method": method, **({"id": 1} if asks else {})})
            await anyio.sleep_forever()

    with anyio.fail_after(5), pytest.raises(Stop, match="mine"):
        await until_stopped()


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.usefixtures("hasty")
async def test_streams_that_cannot_be_closed_neither_delay_nor_hide_errors(fails: bool) -> None:
    class Stuck:
        """A stream that tries to send a last message when it is closed."""

        def __init__(self) -> None:
            self.left = False

        async def receive(self, max_bytes: int = 65536, /) -> bytes:
            raise anyio.EndOfStream

        async def send(self, item: bytes, /) -> None:
            """Discard the item."""

        async def aclose(self) -> None:
            try:
                if fails:
                    raise anyio.BrokenResourceError
                await anyio.sleep_forever()
            finally:
                self.left = True

    source, sink = Stuck(), Stuck()
    with anyio.fail_after(10), pytest.raises(KeyError, match="mine"):
        async with Connection(source, sink, protocol=v1, role="client"):
            raise KeyError("mine")
    assert (source.left, sink.left) == (True, True)


@pytest.mark.filterwarnings("error")
async def test_nothing_can_be_sent_or_awaited_before_the_block() -> None:
    one, other = await streams()
    async with one, other:
        connection = Connection(one, one, protocol=v1, role="client")
        with anyio.fail_after(5):
            for use_it in (connection.request(NEW), connection.notify(HELLO), connection.wait_for(anyio.sleep(60))):
                with pytest.raises(RuntimeError, match="the connection is not open"):
                    await use_it


async def test_calls_from_another_thread_raise_immediately() -> None:
    refused: list[str] = []

    def use(connection: Connection) -> None:
        for use_it in (connection.request(NEW), connection.notify(HELLO), connection.wait_for(anyio.sleep_forever())):
            with pytest.raises(RuntimeError) as caught:
                asyncio.run(use_it)
            refused.append(str(caught.value).partition(": ")[0])
        with pytest.raises(RuntimeError, match="to another event loop: close it there"):
            connection.close()

    async with both() as (_, client):
        thread = threading.Thread(target=use, args=(client,))
        thread.start()
        thread.join()
    assert refused == ["the connection belongs to another event loop"] * 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
def test_calls_in_another_event_loop_of_the_thread_raise_immediately() -> None:
    ours, other = asyncio.new_event_loop(), asyncio.new_event_loop()
    opened: asyncio.Future[Connection] = ours.create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with both() as (_, client):
            opened.set_result(client)
            await done.wait()

    holding = ours.create_task(hold())
    connection = ours.run_until_complete(opened)
    for use_it in (connection.request(NEW), connection.wait_for(anyio.sleep_forever())):
        with pytest.raises(RuntimeError, match="belongs to another event loop"):
            other.run_until_complete(asyncio.wait_for(use_it, 5))
    done.set()
    ours.run_until_complete(holding)
    ours.close()
    other.close()


async def test_a_notification_after_the_end_raises_connection_closed() -> None:
    update = v1.CancelNotification(session_id="s")
    async with against(role="client") as (connection, _):
        connection.close()
        with pytest.raises(ConnectionClosed, match="the connection was closed"):
            await connection.notify(update)
    with pytest.raises(ConnectionClosed, match="the connection was closed"):
        await connection.notify(update)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["a\0b"], {}),
        ([sys.executable, "a\0b"], {}),
        ([sys.executable, "\ud800"], {}),
        ([sys.executable], {"cwd": "/a\0b"}),
        ([sys.executable], {"env": {"A=B": "sk-hunter2"}}),
        ([sys.executable], {"env": {"A": "sk-hunter2\0"}}),
        ([sys.executable], {"env": {"A": "sk-hunter2\ud800"}}),
    ],
)
async def test_a_command_with_nul_is_refused_without_showing_secrets(
    command: list[str], options: dict[str, Any]
) -> None:
    with pytest.raises(CannotStart, match="NUL") as refused:
        async with connect_process(command, protocol=v1, **options):
            pass
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("agent --acp", {}, "a list of a program and its arguments"),
        (b"agent", {}, "a list of a program and its arguments"),
        (Path("agent"), {}, "a list of a program and its arguments"),
        ([], {}, "a list of a program and its arguments"),
        (WAITING, {"handlers": {"_acme/do": len}}, "cannot be called with the params and the connection"),
        (WAITING, {"trace": "trace.log"}, "must be callable"),
        (WAITING, {"handlers": [print]}, "^handlers must be a mapping of classes or methods to handlers, not list$"),
        (WAITING, {"env": [v1.EnvVariable(name="A", value="b")]}, "^env must be a mapping of names to values, not a l"),
    ],
)
async def test_a_refused_command_or_option_leaves_no_process(command: Any, options: dict[str, Any], says: str) -> None:
    before = children()
    with pytest.raises(TypeError, match=says):
        async with connect_process(command, protocol=v1, **options):
            pass
    assert children() <= before
