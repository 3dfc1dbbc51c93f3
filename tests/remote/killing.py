"""The kill test: sessions in turns, while workers are killed one after the other."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import anyio
from redis.asyncio import from_url

from acp_bindings import v1, v2
from acp_bindings.client import Client, Reconnect, Reconnected, Session, SessionClosed
from acp_bindings.connection import ConnectionClosed
from tests.remote.cluster import Cluster

UPDATES = 20
"""The updates of a turn."""


@dataclass
class Result:
    """What happened."""

    turns: int = 0
    interrupted: int = 0
    kills: int = 0
    lost_sessions: list[str] = field(default_factory=list[str])
    lost_updates: list[str] = field(default_factory=list[str])
    waits: list[float] = field(default_factory=list[float])
    """The seconds from each interruption to the response to the next prompt's first update."""


async def killed_in_turns(
    cluster: Cluster, *, connections: int, sessions: int, seconds: float, every: float, pause: float
) -> Result:
    """Run turns in all sessions of all connections, and kill a worker every few seconds.

    Args:
        cluster: the workers.
        connections: the clients, which use HTTP and WebSocket in turn, and v1 and v2.
        sessions: the sessions of each.
        seconds: how long new turns begin.
        every: seconds between two kills.
        pause: seconds between two updates.
    """
    result = Result()
    begun: set[str] = set()
    all_begun = anyio.Event()
    stop = math.inf

    async def talk(session: Session, name: str) -> None:
        complete: list[str] = []
        number, since = 0, 0.0
        while time.monotonic() < stop or since:
            number += 1
            turn = f"{name}-{number}"
            try:
                async for _ in session.prompt(f"{turn} {UPDATES} {pause}"):
                    begun.add(name)
                    if len(begun) == connections * sessions:
                        all_begun.set()
                    if since:
                        result.waits.append(time.monotonic() - since)
                        since = 0.0
            except SessionClosed:
                return
            except ConnectionClosed:
                result.interrupted += 1
                since = since or time.monotonic()
            else:
                result.turns += 1
                complete += [f"{turn}.{each}" for each in range(UPDATES)]
        said = " ".join(each.text for each in session.state.messages if each.role == "agent").split()
        result.lost_updates += sorted({*complete} - {*said})

    async def connect(number: int) -> None:
        def note(report: Reconnected) -> None:
            result.lost_sessions += [f"{id_}: {error}" for id_, error in report.lost.items()]

        package: Any = v1 if number % 4 < 2 else v2
        client = Client("kill", version="1.0", protocols=[package], on_reconnect=note)
        url = cluster.url.replace("http", "ws", 1) if number % 2 else cluster.url
        async with client.connect(url, reconnect=Reconnect(attempts=20, wait=0.1, longest=2.0)) as agent:
            opened = [await agent.session(cwd="/tmp") for _ in range(sessions)]
            async with anyio.create_task_group() as tasks:
                for index, session in enumerate(opened):
                    tasks.start_soon(talk, session, f"{number}-{index}")
            result.lost_updates += await unacknowledged(cluster, [each.id for each in opened])

    async def kill() -> None:
        nonlocal stop
        # A session is stored with its first prompt.
        await all_begun.wait()
        stop = time.monotonic() + seconds
        while time.monotonic() + every < stop:
            await anyio.sleep(every)
            await anyio.to_thread.run_sync(cluster.kill, result.kills % 4)
            result.kills += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kill)
        for number in range(connections):
            tasks.start_soon(connect, number)
    return result


async def unacknowledged(cluster: Cluster, ids: list[str]) -> list[str]:
    """Return the sessions of which Redis has fewer updates than it has acknowledged."""
    async with from_url(cluster.redis) as server:
        found: list[str] = []
        for id_ in ids:
            acknowledged = int(await server.get(f"acknowledged:{id_}") or 0)
            stored: Any = await server.llen(f"acp:updates:{id_}")
            if stored < acknowledged:
                found.append(f"{id_}: {stored} of {acknowledged}")
    return found
