"""A session store in Redis or Valkey, for agents that run as several processes or on several machines.

The hash `session:ID` has the session (`head`, `format`) and its state (`claim`, `loads`, `call`, `updated`), the list
`updates:ID` has the updates, and the sorted set `sessions` has all ids by the time of the last change in microseconds.

The claim works as a fencing token: each write and each `load` of the process that has it compares it, and the `load`
of any other process replaces it. Writes of a claim are numbered, and a write is done only once and never after a later
one. So it does no harm if a write arrives twice because the client did not get the response, or arrives late. A write
also has the number of updates before it, and removes any others: those of a call that failed in the client, but not in
the server.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import RedisError

from acp_bindings.agent._stores import (
    FORMAT,
    NOT_LOADED,
    PAGE,
    Locks,
    SessionPage,
    StoredSession,
    check_updates,
    cursor_of,
    decode_head,
    encode_head,
    page_of,
    position_of,
    timestamp,
)
from acp_bindings.agent.errors import SessionInUse, SessionUnreadable, StoreFailed
from acp_bindings.setup.errors import SessionNotFound

log = logging.getLogger("acp_bindings.agent")

_LOST = "another process has taken it over. Load it again to take it back"
_CONNECTIONS = 50
"""The maximum number of connections to a server that was given by its URL."""


class RedisSessions:
    """A `SessionStore` in Redis or Valkey. Requires the extra `redis`, asyncio, and a server that is not a cluster.

    `load` takes a session over: the next call of the process that had it raises `SessionInUse`. A session can
    therefore be loaded even if that process has crashed or cannot be reached. `delete` also deletes sessions that
    another process has. Its next `append` raises `SessionNotFound`.

    What `append` has stored is as durable as your server makes it: see `appendfsync` and replication in its
    documentation. If `append` raises `StoreFailed` because a connection was lost, the server may have stored the call.
    The next `append` removes it.
    """

    def __init__(self, server: str | Redis, *, prefix: str = "acp:", expire_after: float | None = None) -> None:
        """Create a store. It connects when it is used.

        Args:
            server: the URL of a server, such as `redis://localhost:6379/0`, or a client, which you close yourself. With
                a URL and redis 7.2 or newer, calls are repeated for 4 s while the server cannot be reached, as when it
                restarts.
            prefix: the beginning of all keys.
            expire_after: the seconds after its last `append` when a session is deleted, even if it is open then. None
                keeps all sessions.
        """
        self._url = server if isinstance(server, str) else None
        self._client: Any = None if isinstance(server, str) else server
        self._prefix = prefix.encode()
        self._expiry = 0 if expire_after is None else max(1, round(expire_after))
        self._open: dict[str, _Claim] = {}
        self._locks = Locks()

    def for_owner(self, owner: str) -> RedisSessions:
        """Return the store for the sessions of one user, whose keys have a digest of the identity in their prefix.

        It shares the connections of this store, which closes them.
        """
        digest = hashlib.sha256(owner.encode()).hexdigest()
        expire_after = self._expiry or None
        return RedisSessions(
            self._connected(), prefix=f"{self._prefix.decode()}owner:{digest}:", expire_after=expire_after
        )

    async def aclose(self) -> None:
        """Close the connections to the server, unless you passed a client. The store can be used again."""
        if self._url is not None and self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        """Take a session over, and return it with its updates. See `SessionStore.load`."""
        async with self._locks.of(session_id):
            before = self._open.get(session_id) or _Claim(b"")
            found = await self._run(_LOAD, session_id, FORMAT, before.name)
            self._open.pop(session_id, None)
            if found is None:
                raise SessionNotFound(session_id)
            if isinstance(found, bytes | str):
                raise SessionInUse(session_id, _LOST)
            head, updated, claim = _bytes(found[0]), int(found[1]), _bytes(found[2])
            updates = [_bytes(each) for each in found[3]]
            try:
                session = decode_head(head)
                check_updates(updates)
            except ValueError as error:
                raise SessionUnreadable(session_id, str(error)) from None
            if session.session_id != session_id:
                raise SessionUnreadable(session_id, "its key contains another session")
            self._open[session_id] = _Claim(claim, is_new=False, calls=before.calls, head=head, count=len(updates))
            return replace(session, updated_at=timestamp(updated / 1e6)), updates

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        """Store a session and add to its updates. See `SessionStore.append`."""
        id_, head, added = session.session_id, encode_head(session), [*updates]
        check_updates(added)
        async with self._locks.of(id_):
            claim = self._open.get(id_) or _Claim(uuid4().hex.encode())
            if head == claim.head and not added:
                return
            # If the call fails, the server may have stored the session nevertheless.
            self._open[id_] = replace(claim, head=b"", calls=claim.calls + 1)
            new, changed = "new" if claim.is_new else "", b"" if head == claim.head else head
            more = claim.name, new, claim.calls + 1, claim.count, FORMAT, changed, _id(id_), self._expiry
            match _bytes(await self._run(_APPEND, id_, *more, *added)):
                case b"stored":
                    count = claim.count + len(added)
                    self._open[id_] = replace(self._open[id_], is_new=False, head=head, count=count)
                case b"missing":
                    self._open.pop(id_)
                    raise SessionNotFound(id_)
                case _:
                    self._open.pop(id_)
                    raise SessionInUse(id_, NOT_LOADED if new else _LOST)

    async def release(self, session_id: str) -> None:
        """End the claim of a session. See `SessionStore.release`."""
        async with self._locks.of(session_id):
            self._open.pop(session_id, None)

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """Return a page of sessions. See `SessionStore.list`."""
        after = None if cursor is None else position_of(cursor)
        found: list[tuple[str, StoredSession]] = []
        with _failures():
            async for position, session in self._listed(after):
                if cwd in (None, session.cwd):
                    found.append((cursor_of(*position), session))
                if len(found) > PAGE:
                    break
        return page_of(found)

    async def delete(self, session_id: str) -> None:
        """Delete a session. See `SessionStore.delete`."""
        async with self._locks.of(session_id):
            self._open.pop(session_id, None)
            await self._run(_DELETE, session_id, _id(session_id))

    async def _listed(self, after: tuple[int, str] | None) -> AsyncIterator[tuple[tuple[int, str], StoredSession]]:
        """Yield all sessions with their positions, the last updated first. In one microsecond, later ids come first."""
        latest = "+inf" if after is None else -after[0]
        start = 0
        while chunk := await self._connected().zrevrangebyscore(
            self._key("sessions"), latest, "-inf", start=start, num=2 * PAGE, withscores=True
        ):
            start += len(chunk)
            async with self._connected().pipeline(transaction=False) as pipeline:
                for id_, _ in chunk:
                    pipeline.hget(self._key("session:", _bytes(id_)), "head")
                heads = await pipeline.execute()
            if expired := [id_ for (id_, _), head in zip(chunk, heads, strict=True) if head is None]:
                await self._connected().zrem(self._key("sessions"), *expired)
                start -= len(expired)
            for (id_, score), head in zip(chunk, heads, strict=True):
                position = -int(score), _bytes(id_).decode(errors="surrogatepass")
                if head is None or (after and position[0] == after[0] and position[1] >= after[1]):
                    continue
                try:
                    session = decode_head(_bytes(head))
                except ValueError as error:
                    log.warning("session %s is not listed: %s", position[1], error)
                else:
                    yield position, replace(session, updated_at=timestamp(score / 1e6))

    async def _run(self, script: str, session_id: str, *arguments: bytes | str | int) -> Any:
        id_ = _id(session_id)
        keys = self._key("session:", id_), self._key("updates:", id_), self._key("sessions")
        with _failures(session_id):
            return await self._connected().register_script(script)(keys=keys, args=arguments)

    def _key(self, kind: str, id_: bytes = b"") -> bytes:
        return self._prefix + kind.encode() + id_

    def _connected(self) -> Any:
        """Return the client.

        Raises:
            RuntimeError: the event loop is not asyncio.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "RedisSessions requires asyncio, because the redis package does not run on trio"
            ) from None
        if self._client is None:
            # For idle connections that the server has closed, and for 4 s while it restarts.
            retry = Retry(ExponentialBackoff(cap=1, base=0.02), 8)
            # With this pool, a call waits for a connection. The default one raises an error if all are in use.
            kind: Any = BlockingConnectionPool
            pool = kind.from_url(str(self._url), max_connections=_CONNECTIONS, retry=retry)
            self._client = Redis.from_pool(pool)
        return self._client


@dataclass(frozen=True)
class _Claim:
    name: bytes
    is_new: bool = True
    """True until a call has created the session."""
    calls: int = 0
    """The number of calls, including those that failed."""
    head: bytes = b""
    """The session, as stored; empty if that is not known."""
    count: int = 0
    """The number of its updates."""


_LOAD = """
local head, format, updated, current = unpack(redis.call('HMGET', KEYS[1], 'head', 'format', 'updated', 'claim'))
local claim = ARGV[2]
if not head then return nil end
if claim ~= '' and current ~= claim then return 'in use' end
if format ~= ARGV[1] then return {head, updated, '', {}} end
if claim == '' then
  claim = 'load ' .. redis.call('HINCRBY', KEYS[1], 'loads', 1)
  redis.call('HSET', KEYS[1], 'claim', claim, 'call', 0)
end
return {head, updated, claim, redis.call('LRANGE', KEYS[2], 0, -1)}
"""

_APPEND = """
local claim, new, call, count, format, head, id, expiry = unpack(ARGV, 1, 8)
local current, last = unpack(redis.call('HMGET', KEYS[1], 'claim', 'call'))
if not current and new == '' then return 'missing' end
if current and current ~= claim then return 'in use' end
if current and tonumber(last) >= tonumber(call) then return 'stored' end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- This comes first because a server whose memory is full refuses it, and with it the whole call.
redis.call('HSET', KEYS[1], 'claim', claim, 'call', call, 'updated', string.format('%.0f', now))
if count == '0' then redis.call('DEL', KEYS[2]) else redis.call('LTRIM', KEYS[2], 0, count - 1) end
for first = 9, #ARGV, 1000 do
  redis.call('RPUSH', KEYS[2], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if head ~= '' then redis.call('HSET', KEYS[1], 'head', head, 'format', format) end
redis.call('ZADD', KEYS[3], string.format('%.0f', now), id)
if expiry ~= '0' then
  redis.call('EXPIRE', KEYS[1], expiry)
  redis.call('EXPIRE', KEYS[2], expiry)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', string.format('(%.0f', now - expiry * 1000000))
end
return 'stored'
"""

_DELETE = """
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
"""


@contextmanager
def _failures(session_id: str | None = None) -> Generator[None]:
    """Raise `StoreFailed` for errors of Redis. The addresses in them are logged, and not sent to the client."""
    try:
        yield
    except (RedisError, OSError) as error:
        log.warning("Redis: %s: %s", type(error).__name__, error)
        raise StoreFailed(f"Redis: {type(error).__name__}", session_id) from error


def _id(session_id: str) -> bytes:
    return session_id.encode(errors="surrogatepass")


def _bytes(value: bytes | str) -> bytes:
    """Return a value of a response, which is a string if the client has `decode_responses`."""
    return value.encode() if isinstance(value, str) else value
