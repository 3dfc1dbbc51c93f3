"""Workers behind a load balancer: affinity, and the loss of a worker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import anyio
import httpx
import pytest

from tests.remote.cluster import Balancer, Cluster, cluster, free_ports, program, wait_for
from tests.remote.cluster import running as running_program
from tests.remote.killing import killed_in_turns

pytestmark = pytest.mark.anyio
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


@pytest.fixture
def anyio_backend() -> str:
    """Redis needs asyncio."""
    return "asyncio"


@pytest.fixture(params=["nginx", "haproxy"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    """Return a running cluster."""
    balancer: Balancer = request.param
    with cluster(tmp_path, balancer) as each:
        yield each


async def test_a_client_with_cookies_stays_at_its_worker(running: Cluster) -> None:
    async with httpx.AsyncClient() as client:
        for _ in range(20):
            client.cookies.clear()
            response = await client.post(running.url, json=INITIALIZE)
            connection = {"acp-connection-id": response.headers["acp-connection-id"]}
            ends = [(await client.post(running.url, json=INITIALIZE, headers=connection)).status_code for _ in range(5)]
            # Another worker would not know the connection.
            assert ends == [400] * 5
            await client.delete(running.url, headers=connection)


async def test_a_client_stays_at_its_new_worker_when_the_one_before_is_back(running: Cluster) -> None:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx.AsyncClient()) for _ in range(8)]
        for each in clients:
            await each.post(running.url, json=INITIALIZE)
        running.kill(0)
        ids = [(await each.post(running.url, json=INITIALIZE)).headers["acp-connection-id"] for each in clients]
        wait_for(running.ports[0])
        await anyio.sleep(2.5)  # until the load balancer uses the worker again
        responses = [
            await each.post(running.url, json=INITIALIZE, headers={"acp-connection-id": id_})
            for each, id_ in zip(clients, ids, strict=True)
        ]
    assert [each.status_code for each in responses] == [400] * 8


async def test_sessions_continue_at_other_workers_when_theirs_are_killed(running: Cluster) -> None:
    with anyio.fail_after(120):
        result = await killed_in_turns(running, connections=8, sessions=2, seconds=15, every=3, pause=0.05)
    assert (result.lost_sessions, result.lost_updates) == ([], [])
    assert result.interrupted >= 1
    assert result.turns >= 16


async def test_the_balancer_of_compose_gives_each_worker_a_cookie(tmp_path: Path) -> None:
    front, worker = free_ports(2)
    text = Path("examples/remote/haproxy.compose.cfg").read_text(encoding="utf-8")
    text = text.replace(":8080", f"127.0.0.1:{front}").replace("3 agent:8000", f"1 127.0.0.1:{worker}")
    (config := tmp_path / "haproxy.cfg").write_text(text, encoding="utf-8")
    server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(worker)]
    with running_program(server), ExitStack() as stack:
        wait_for(worker)
        stack.enter_context(running_program([program("haproxy"), "-db", "-f", str(config)]))
        wait_for(front)
        async with httpx.AsyncClient() as client:
            response = await client.get(f"http://127.0.0.1:{front}/")
    assert response.cookies.get("acp_worker")
