"""One worker, which counts slowly: `python -m tests.remote.worker PORT REDIS_URL`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
from redis.asyncio import from_url

from acp_bindings.agent import Agent, RedisSessions, StoredSession, Turn

port, redis = int(sys.argv[1]), sys.argv[2]
server = from_url(redis)


class NotedSessions(RedisSessions):
    """A store that counts the updates of each session that Redis has acknowledged."""

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        """Store and count."""
        await super().append(session, updates)
        if updates:
            await server.incrby(f"acknowledged:{session.session_id}", len(updates))


agent = Agent("worker", version="1.0", sessions=NotedSessions(redis))


@agent.prompt
async def count(turn: Turn) -> None:
    """Say `NAME.0 NAME.1 …` for a prompt `NAME NUMBER SECONDS`."""
    name, number, seconds = turn.text.split()
    for each in range(int(number)):
        await turn.say(f"{name}.{each} ")
        await anyio.sleep(float(seconds))


agent.asgi().run(port=port)
