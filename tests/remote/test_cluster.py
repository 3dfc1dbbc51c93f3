"""Workers behind a load balancer: affinity, and the loss of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pytest

from tests.remote.cluster import Balancer, Cluster, cluster
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


async def test_sessions_continue_at_other_workers_when_theirs_are_killed(running: Cluster) -> None:
    with anyio.fail_after(120):
        result = await killed_in_turns(running, connections=8, sessions=2, seconds=15, every=3, pause=0.05)
    assert (result.lost_sessions, result.lost_updates) == ([], [])
    assert result.interrupted >= 1
    assert result.turns >= 16
