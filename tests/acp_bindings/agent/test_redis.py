"""Sessions in a real Redis server: takeover, lost responses, full memory, expiry."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import pytest
import redis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from acp_bindings.agent import Agent, RedisSessions, SessionInUse, SessionUnreadable, StoreFailed, Turn
from acp_bindings.connection import RequestFailed
from acp_bindings.setup import SessionNotFound
from tests.acp_bindings.agent.clients import talking
from tests.acp_bindings.agent.test_stores import EMPTY, HELLO, listed, load, update

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def prefix() -> str:
    return f"{uuid4()}:"


@asynccontextmanager
async def stores(url: str, prefix: str, count: int = 1, **options: Any) -> AsyncGenerator[list[RedisSessions]]:
    """Stores with their own connections, like those of several workers."""
    async with AsyncExitStack() as stack:
        made = [RedisSessions(url, prefix=prefix, **options) for _ in range(count)]
        for each in made:
            stack.push_async_callback(each.aclose)
        yield made


@pytest.fixture
async def client(redis_url: str) -> AsyncGenerator[Any]:
    async with Redis.from_url(redis_url) as client:  # pyright: ignore[reportUnknownMemberType]
        yield client


async def test_loading_takes_a_session_over(redis_url: str, prefix: str) -> None:
    async with stores(redis_url, prefix, 2) as (one, other):
        await one.append(HELLO, [update("a")])
        assert await load(other, "sess_1") == (HELLO, [update("a")])
        with pytest.raises(SessionInUse, match="another process has taken it over") as caught:
            await one.append(replace(HELLO, title="lost"), [update("lost")])
        assert caught.value.session_id == "sess_1"
        with pytest.raises(SessionInUse):
            await one.append(HELLO, [update("lost")])

        await other.append(HELLO, [update("b")])
        assert await load(one, "sess_1") == (HELLO, [update("a"), update("b")])
        await one.append(HELLO, [update("c")])
        with pytest.raises(SessionInUse):
            await other.append(HELLO, [update("lost")])
        assert await load(other, "sess_1") == (HELLO, [update("a"), update("b"), update("c")])


async def test_a_worker_that_has_lost_a_session_reads_it_only_to_take_it_back(redis_url: str, prefix: str) -> None:
    async with stores(redis_url, prefix, 2) as (one, other):
        await one.append(HELLO, [update("a")])
        await other.load("sess_1")
        with pytest.raises(SessionInUse, match="another process has taken it over") as caught:
            await one.load("sess_1")
        assert caught.value.session_id == "sess_1"
        await other.append(HELLO, [update("b")])

        assert await load(one, "sess_1") == (HELLO, [update("a"), update("b")])
        await one.append(HELLO, [update("c")])
        assert await load(one, "sess_1") == (HELLO, [*map(update, "abc")])
        await one.append(HELLO, [update("d")])
    async with stores(redis_url, prefix) as (store,):
        assert await load(store, "sess_1") == (HELLO, [*map(update, "abcd")])


async def test_the_history_of_a_lost_session_does_not_take_it_back(redis_url: str, prefix: str) -> None:
    async with stores(redis_url, prefix, 2) as (one, other):
        agent = Agent("reader", version="1.0", sessions=one)

        @agent.prompt
        async def read(turn: Turn) -> None:
            await turn.session.history()
            stored, _ = await other.load(turn.session.id)
            for _ in range(2):
                with pytest.raises(SessionInUse):
                    await turn.session.history()
            await other.append(stored, [update("elsewhere")])

        async with talking(agent, 1) as client:
            session = await client.new()
            with pytest.raises(RequestFailed, match="another process has taken it over"):
                await client.prompt(session, "read")
            await client.load(session)
            assert client.text(session).endswith("elsewhere")


async def test_only_one_of_two_workers_creates_a_session(redis_url: str, prefix: str) -> None:
    got: list[int] = []

    async def create(store: RedisSessions, number: int) -> None:
        try:
            await store.append(HELLO, [update(str(number))])
        except SessionInUse:
            return
        got.append(number)

    async with stores(redis_url, prefix, 8) as workers:
        async with anyio.create_task_group() as tasks:
            for number, store in enumerate(workers):
                tasks.start_soon(create, store, number)
        assert len(got) == 1
        assert await load(workers[0], "sess_1") == (HELLO, [update(str(got[0]))])


async def test_two_workers_competing_for_a_session_store_each_update_once(redis_url: str, prefix: str) -> None:
    stored: list[bytes] = []

    async def work(store: RedisSessions, name: str) -> None:
        for number in range(50):
            text = update(f"{name}{number}")
            try:
                await store.append(HELLO, [text])
            except SessionInUse:
                _, updates = await store.load("sess_1")
                assert [*updates][: len(stored)] == stored
            else:
                stored.append(text)

    async with stores(redis_url, prefix, 3) as (one, other, third):
        await one.append(HELLO)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, one, "a")
            tasks.start_soon(work, other, "b")
        assert sorted((await load(third, "sess_1"))[1]) == sorted(stored)
        assert len(stored) > 10


async def test_a_session_deleted_by_another_worker_is_not_created_again(
    redis_url: str, prefix: str, client: Any
) -> None:
    async with stores(redis_url, prefix, 2) as (one, other):
        await one.append(HELLO, [update("a")])
        await other.delete("sess_1")
        with pytest.raises(SessionNotFound):
            await one.append(HELLO, [update("b")])
        assert await listed(other) == []
    assert await client.keys(f"{prefix}*") == []


WORKER = """
import sys
import anyio
from acp_bindings.agent import RedisSessions, StoredSession

async def main():
    store = RedisSessions(sys.argv[1], prefix=sys.argv[2])
    session = StoredSession(session_id="sess_1", cwd="/")
    for number in range(100_000):
        await store.append(session, [b'{"number":%d}' % number, b'{"again":%d}' % number])
        print(number, flush=True)

anyio.run(main)
"""


async def test_a_killed_process_loses_nothing_and_its_session_can_be_loaded(redis_url: str, prefix: str) -> None:
    command = [sys.executable, "-c", WORKER, redis_url, prefix]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout
        for _ in range(50):
            await anyio.to_thread.run_sync(worker.stdout.readline)
        worker.kill()
        returned = 50 + len(worker.stdout.read().splitlines())

    async with stores(redis_url, prefix) as (store,):
        _, updates = await store.load("sess_1")
        calls = len(updates) // 2
        assert calls in (returned, returned + 1)
        assert [*updates] == [b'{"%b":%d}' % (key, n) for n in range(calls) for key in (b"number", b"again")]


@asynccontextmanager
async def losing(
    url: str, lost: list[str], received: list[bytes] | None = None, *, port: int = 0
) -> AsyncGenerator[str]:
    """Forward connections to a server. End one when the server responds to a command with the first text of *lost*.

    What the clients send is added to *received*.
    """
    parts = urlsplit(url)

    async def forward(source: Any, to: Any, seen: list[bytes], *, drop: bool) -> None:
        async for some in source:
            if drop and lost and any(lost[0].encode() in each for each in seen):
                lost.pop(0)
                break
            if not drop:
                seen.append(some)
                if received is not None:
                    received.append(some)
            await to.send(some)

    async def serve(stream: Any) -> None:
        seen: list[bytes] = []
        server = await anyio.connect_tcp(parts.hostname or "", parts.port or 0)
        async with stream, server, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: forward(stream, server, seen, drop=False))
            await forward(server, stream, seen, drop=True)
            tasks.cancel_scope.cancel()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield f"redis://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}/0"
        tasks.cancel_scope.cancel()


async def test_a_call_whose_response_is_lost_is_stored_once(redis_url: str, prefix: str) -> None:
    lost: list[str] = []
    async with losing(redis_url, lost) as url, stores(url, prefix) as (store,):
        for number in range(3):
            lost.append(f"text {number}")
            await store.append(HELLO, [update(f"text {number}")])
            assert lost == []
        lost.append("sess_1")
        loaded = await load(store, "sess_1")
        assert lost == []
        await store.append(HELLO, [update("next")])
    assert loaded == (HELLO, [update(f"text {number}") for number in range(3)])
    async with stores(redis_url, prefix) as (store,):
        assert await load(store, "sess_1") == (HELLO, [*loaded[1], update("next")])


async def test_a_failed_call_that_the_server_has_received_is_replaced_by_the_next(redis_url: str, prefix: str) -> None:
    lost: list[str] = []
    async with losing(redis_url, lost) as url, connected(url, retry=Retry(NoBackoff(), 0)) as client:
        store = RedisSessions(client, prefix=prefix)
        for text in ("first", "second"):
            lost.append(text)
            with pytest.raises(StoreFailed, match="Redis: ConnectionError") as caught:
                await store.append(HELLO, [update(text), update("lost")])
            assert "127.0.0.1" not in str(caught.value)
        lost.append("third")
        with pytest.raises(StoreFailed):
            await store.append(replace(HELLO, title="lost"), [update("third")])
        await store.append(HELLO, [update("fourth")])
        lost.append("fifth")
        with pytest.raises(StoreFailed):
            await store.append(replace(HELLO, title="lost"), [update("fifth")])
        await store.append(HELLO)
    async with stores(redis_url, prefix) as (store,):
        assert await load(store, "sess_1") == (HELLO, [update("fourth")])


async def test_commands_that_arrive_again_and_late_change_nothing(redis_url: str, prefix: str) -> None:
    received: list[bytes] = []
    async with losing(redis_url, [], received) as url, stores(url, prefix, 2) as (one, other):
        await one.append(HELLO, [update("a")])
        await one.append(HELLO, [update("b")])
        early = b"".join(received)
        await one.append(HELLO, [update("c")])
        await repeat(redis_url, early)
        await one.append(HELLO, [update("d")])
        await one.release("sess_1")
        assert await load(one, "sess_1") == (HELLO, [*map(update, "abcd")])
        await one.append(HELLO, [update("e")])
        early = b"".join(received)
        assert await load(other, "sess_1") == (HELLO, [*map(update, "abcde")])
        await other.append(HELLO, [update("f")])

        await repeat(redis_url, early)
        for store in (one, other):
            # The load that was repeated has ended all claims.
            with pytest.raises(SessionInUse):
                await store.append(HELLO, [update("lost")])
        assert await load(one, "sess_1") == (HELLO, [*map(update, "abcdef")])


async def repeat(url: str, commands: bytes) -> None:
    """Send commands to a server, and wait until it has done them."""
    parts = urlsplit(url)
    async with await anyio.connect_tcp(parts.hostname or "", parts.port or 0) as server:
        await server.send(commands + b"QUIT\r\n")
        async for _ in server:
            pass


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncGenerator[Redis]:
    async with Redis.from_url(url, **options) as client:  # pyright: ignore[reportUnknownMemberType]
        yield client


async def test_a_call_stores_nothing_if_the_memory_is_full(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix) as (store,):
        await store.append(HELLO, [update("a")])
        await client.config_set("maxmemory", 1)
        try:
            for session in (replace(HELLO, title="lost"), EMPTY):
                with pytest.raises(StoreFailed, match="OutOfMemoryError") as caught:
                    await store.append(session, [update("lost")])
                assert caught.value.session_id == session.session_id
        finally:
            await client.config_set("maxmemory", 0)
        assert await load(store, "sess_1") == (HELLO, [update("a")])
        assert await listed(store) == ["sess_1"]
        await store.append(HELLO, [update("b")])
        assert await load(store, "sess_1") == (HELLO, [update("a"), update("b")])


async def test_sessions_expire_if_requested(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix) as (store,), stores(redis_url, prefix, expire_after=3600) as (expiring,):
        await store.append(EMPTY, [update("a")])
        await expiring.append(HELLO, [update("a")])
        for key, seconds in [("session:sess_1", 3600), ("updates:sess_1", 3600), ("session:sess_2", -1)]:
            assert await client.ttl(prefix + key) in (seconds, seconds - 1)
        await client.persist(f"{prefix}updates:sess_1")
        await expiring.append(HELLO, [update("b")])
        assert await client.ttl(f"{prefix}updates:sess_1") > 0

        # What the server does in the end.
        await client.delete(f"{prefix}session:sess_1", f"{prefix}updates:sess_1")
        with pytest.raises(SessionNotFound):
            await expiring.append(HELLO, [update("c")])
        with pytest.raises(SessionNotFound):
            await expiring.load("sess_1")
        assert await listed(store) == ["sess_2"]
        assert await client.zrange(f"{prefix}sessions", 0, -1) == [b"sess_2"]


async def test_expired_sessions_do_not_hide_others(redis_url: str, prefix: str, client: Any) -> None:
    ids = [f"sess_{number}" for number in range(250)]
    async with stores(redis_url, prefix) as (store,):
        for session_id in ids:
            await store.append(replace(EMPTY, session_id=session_id))
        await client.delete(*(f"{prefix}session:{each}" for each in ids[100:]))
        assert await listed(store) == ids[:100][::-1]


async def test_ids_of_expired_sessions_are_forgotten(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix, expire_after=3600) as (store,):
        await client.zadd(f"{prefix}sessions", {"old": 1, "older": 0})
        await store.append(HELLO)
    assert await client.zrange(f"{prefix}sessions", 0, -1) == [b"sess_1"]


async def test_a_session_of_a_newer_version_is_not_taken_over(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix, 2) as (store, other):
        await store.append(HELLO, [update("a")])
        newer = {"head": b'{"format":2,"new":1}', "format": "2"}
        await client.hset(f"{prefix}session:sess_1", mapping=newer)
        before = await client.hgetall(f"{prefix}session:sess_1")
        with pytest.raises(SessionUnreadable, match=r"it has format 2.*Update acp-bindings"):
            await other.load("sess_1")
        assert await client.hgetall(f"{prefix}session:sess_1") == before
        assert await listed(other) == []


async def test_damaged_data_is_refused(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix) as (store,):
        await store.append(HELLO, [update("a"), update("b")])
        await client.lset(f"{prefix}updates:sess_1", 1, b"{")
        with pytest.raises(SessionUnreadable, match="update 2 is not"):
            await store.load("sess_1")
        await store.append(EMPTY)
        await client.hset(f"{prefix}session:sess_1", "head", await client.hget(f"{prefix}session:sess_2", "head"))
        await client.lset(f"{prefix}updates:sess_1", 1, b"{}")
        with pytest.raises(SessionUnreadable, match="another session"):
            await store.load("sess_1")


async def test_many_sessions_are_stored_at_once(redis_url: str, prefix: str) -> None:
    with anyio.fail_after(60):
        async with stores(redis_url, prefix) as (store,), anyio.create_task_group() as tasks:
            for number in range(300):
                tasks.start_soon(store.append, replace(HELLO, session_id=f"sess_{number}"), [update("a")])
        async with stores(redis_url, prefix) as (store,):
            assert len(await listed(store)) == 300


async def test_many_updates_are_stored_at_once(redis_url: str, prefix: str) -> None:
    updates = [update(str(number)) for number in range(10_001)]
    async with stores(redis_url, prefix) as (store,):
        await store.append(HELLO, updates)
        assert await load(store, "sess_1") == (HELLO, updates)


async def test_a_client_can_be_passed_and_stays_open(redis_url: str, prefix: str) -> None:
    async with connected(redis_url, decode_responses=True) as client:
        store = RedisSessions(client, prefix=prefix)
        await store.append(HELLO, [update("ü")])
        assert await load(store, "sess_1") == (HELLO, [update("ü")])
        assert await listed(store) == ["sess_1"]
        await store.aclose()
        assert await client.ping()  # pyright: ignore[reportUnknownMemberType]


async def test_a_closed_store_connects_again(redis_url: str, prefix: str) -> None:
    async with stores(redis_url, prefix) as (store,):
        await store.append(HELLO, [update("a")])
        await store.aclose()
        await store.append(HELLO, [update("b")])
        assert await load(store, "sess_1") == (HELLO, [update("a"), update("b")])


async def test_a_connection_that_the_server_has_closed_is_replaced(redis_url: str, prefix: str, client: Any) -> None:
    async with stores(redis_url, prefix) as (store,):
        await store.append(HELLO, [update("a")])
        assert await client.client_kill_filter(_type="normal", skipme=True) > 0
        await store.append(HELLO, [update("b")])
        assert await load(store, "sess_1") == (HELLO, [update("a"), update("b")])


@pytest.mark.skipif(
    [int(each) for each in redis.__version__.split(".")[:2]] < [7, 2],
    reason="redis before 7.2 does not repeat a connect",
)
async def test_a_server_that_restarts_is_waited_for(redis_url: str, prefix: str) -> None:
    async with stores(redis_url, prefix) as (direct,), anyio.create_task_group() as tasks:
        async with losing(redis_url, []) as url:
            store = RedisSessions(url, prefix=prefix)
            await store.append(HELLO, [update("a")])

        async def restart() -> None:
            await anyio.sleep(0.5)
            port = urlsplit(url).port or 0
            async with losing(redis_url, [], port=port):
                await stored.wait()

        stored = anyio.Event()
        tasks.start_soon(restart)
        await store.append(HELLO, [update("b")])
        stored.set()
        await store.aclose()
        assert await load(direct, "sess_1") == (HELLO, [update("a"), update("b")])


async def test_a_server_that_cannot_be_reached_fails_every_call(prefix: str) -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with connected(f"redis://127.0.0.1:{port}", retry=Retry(NoBackoff(), 0)) as client:
        store = RedisSessions(client, prefix=prefix)
        for call in (store.load("sess_1"), store.append(HELLO), store.delete("sess_1"), store.list()):
            with pytest.raises(StoreFailed, match="Redis: ConnectionError") as caught:
                await call
            assert str(port) not in str(caught.value)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_is_refused_with_the_reason() -> None:
    store = RedisSessions("redis://127.0.0.1:1")
    with pytest.raises(RuntimeError, match="requires asyncio"):
        await store.load("sess_1")
    with pytest.raises(RuntimeError, match="requires asyncio"):
        await store.list()
