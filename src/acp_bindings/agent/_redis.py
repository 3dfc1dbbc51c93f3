"""A session store in Redis or Valkey, for agents that run as several processes or on several machines.

Of a session, `…session:ID` is a hash with the fields `head`, `format`, `claim` and `updated`, and `…updates:ID` a list.
`…sessions` is a sorted set of the ids by the time of the last change.

The claim is a random token, the fencing token of the process that loaded or created the session last. Each write is a
script that checks it, and how many updates there are. So a script can be sent again when its response was lost.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar
from uuid import uuid4

from redis.asyncio import Redis

from acp_bindings.agent._stores import (
    FORMAT,
    Locks,
    StoredSession,
)
from acp_bindings.setup.errors import SessionNotFound

T = TypeVar("T")

log = logging.getLogger("acp_bindings.agent")


class RedisSessions:
    """A `SessionStore` in Redis 6 or newer, or Valkey, on asyncio. Requires the extra `redis`.

    `load` takes a session over: the next `append` of the process that had it raises `SessionInUse`. So a session can
    always be loaded, also if that process has crashed or cannot be reached. `delete` deletes sessions of other
    processes, too; their next `append` raises `SessionNotFound`.

    What `append` has stored is as durable as your server: see `appendfsync` and replication in its documentation.
    """

    def __init__(self, server: str | Redis, *, prefix: str = "acp:", expire_after: float | None = None) -> None:
        """Create a store. It connects when it is used.

        Args:
            server: the URL of the server, such as `redis://localhost:6379/0`, or a client that you close yourself.
            prefix: the beginning of all keys. In a cluster, all keys must belong to one slot: use `{acp}:`.
            expire_after: the seconds after the last `append` after which a session is deleted; None to keep it. A
                session that is open can expire, too.
        """
        self._client = server if isinstance(server, Redis) else None
        self._url = server if isinstance(server, str) else None
        self._prefix = prefix
        self._expiry = 0 if expire_after is None else max(1, round(expire_after))
        self._open: dict[str, _Claim] = {}
        self._locks = Locks()

    async def aclose(self) -> None:
        """Close the connections to the server, unless you passed a client."""
        client = self._client
        if self._url is not None and client is not None:
            self._client = None
            await client.aclose()

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        """Take a session over, and return it with its updates. See `SessionStore.load`."""
        async with self._locks.of(session_id):
            claim = _Claim(uuid4().hex)
            found = await self._run(_LOAD, session_id, [claim.token, FORMAT])
            if found is None:
                raise SessionNotFound(session_id)
            head, updated, updates = found
            session = _session(session_id, head, updated)
            number = 0
