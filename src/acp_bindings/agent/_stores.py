"""Session stores: the protocol `SessionStore`, the sessions that it stores, and a store in memory."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol
from weakref import WeakValueDictionary

import anyio
from pydantic_core import SchemaValidator, from_json
from pydantic_core import core_schema as cs

from acp_bindings._json import members_of
from acp_bindings._models.base import Model
from acp_bindings.agent.errors import SessionInUse
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.setup.errors import InvalidParams, SessionNotFound

PAGE = 50
"""The most sessions that `list` returns at a time."""

FORMAT = 1
"""The version of what is stored. Increase it when an older version of this package could not read the result."""


@dataclass(frozen=True, kw_only=True)
class StoredSession:
    """The stored data of a session, without its updates."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    """The time of the last `append`, in ISO 8601 and UTC. The store sets it; `append` ignores it."""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Any JSON object, such as the mode and what the author keeps of the session."""


@dataclass(frozen=True)
class SessionPage:
    """Some of the stored sessions."""

    sessions: Sequence[StoredSession]
    next_cursor: str | None = None
    """The `cursor` of the next page; None on the last page."""


class SessionStore(Protocol):
    """A place for sessions. Write your own by implementing these five methods.

    Remote agents with several users also need `for_owner(owner: str)`, which returns the store for the sessions of one
    user.

    A process claims a session when it loads or creates it. At most one process can append to a session: either `load`
    refuses a session that another running process has claimed, or it takes the session over, and the next `append` of
    the other process fails. Do not use time limits for this, because a process may be suspended at any point.
    """

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        """Claim a session, and return it with all of its updates: the JSON of a v1 `SessionUpdate` each.

        If this store has claimed the session already, it keeps the claim.

        Raises:
            SessionNotFound: the session is not stored.
            SessionInUse: another process has it.
            SessionUnreadable: it is damaged, or of a newer version. Nothing was changed.
            StoreFailed: the store cannot be read now.
        """
        ...

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        """Store *session* if it has changed, and add *updates* to its history, each as JSON without a newline.

        The first call for an id creates the session and claims it. What is stored when a call returns must not be lost
        when the process crashes. If a call raises, nothing of it is stored. Concurrent calls for the same session are
        stored in the order of the calls.

        Raises:
            SessionInUse: another process has the session, or it exists and this store has not loaded it.
            SessionNotFound: the session was deleted elsewhere.
            StoreFailed: the store cannot be written now.
            ValueError: an update or the session's `data` is not JSON.
        """
        ...

    async def release(self, session_id: str) -> None:
        """End the claim of a session. Does nothing if there is none."""
        ...

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """Return up to 50 sessions, the last updated first. Sessions that cannot be read are left out.

        Args:
            cwd: only sessions with exactly this directory.
            cursor: the `next_cursor` of the previous page.

        Raises:
            InvalidParams: the cursor is not from this store.
            StoreFailed: the store cannot be read now.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session. Does nothing if it is not stored.

        Raises:
            SessionInUse: another process has it. Stores that let a process take over a session delete it instead.
            StoreFailed: the store cannot be written now.
        """
        ...


class MemorySessions:
    """A `SessionStore` in memory: sessions can be loaded until the process ends."""

    def __init__(self) -> None:
        self._stored: dict[str, _InMemory] = {}
        self._claimed: set[str] = set()
        self._count = count()
        self._of_owners: dict[str, MemorySessions] = {}

    def for_owner(self, owner: str) -> MemorySessions:
        """Return the store for the sessions of one user, whose identity `Agent.asgi(authenticate=…)` has found."""
        return self._of_owners.setdefault(owner, MemorySessions())

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        """Return a session and its updates. See `SessionStore.load`."""
        if (stored := self._stored.get(session_id)) is None:
            raise SessionNotFound(session_id)
        self._claimed.add(session_id)
        return stored.session(), [*stored.updates]

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        """Store a session and add to its updates. See `SessionStore.append`."""
        id_, head = session.session_id, encode_head(session)
        check_updates(updates)
        if id_ in self._stored and id_ not in self._claimed:
            raise SessionInUse(id_, NOT_LOADED)
        before = self._stored.get(id_)
        history = before.updates if before else []
        history += updates
        self._claimed.add(id_)
        self._stored[id_] = _InMemory(head, history, time.time(), next(self._count))

    async def release(self, session_id: str) -> None:
        """End the claim of a session. See `SessionStore.release`."""
        self._claimed.discard(session_id)

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """Return a page of sessions. See `SessionStore.list`."""
        after = None if cursor is None else position_of(cursor)
        latest = sorted((-each.order, id_) for id_, each in self._stored.items())
        rest = [pair for pair in latest if after is None or pair > after]
        found = ((cursor_of(*pair), self._stored[pair[1]].session()) for pair in rest)
        return page_of(pair for pair in found if cwd in (None, pair[1].cwd))

    async def delete(self, session_id: str) -> None:
        """Delete a session. See `SessionStore.delete`."""
        self._claimed.discard(session_id)
        self._stored.pop(session_id, None)


@dataclass
class _InMemory:
    head: bytes
    updates: list[bytes]
    updated: float
    order: int

    def session(self) -> StoredSession:
        return replace(decode_head(self.head), updated_at=timestamp(self.updated))


NOT_LOADED = "it exists already. Load it before you append to it"


class _Head(Model):
    session_id: str
    cwd: str
    additional_directories: list[str]
    title: str | None
    data: dict[str, Any]


class Newer(ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A session was stored by a newer version of this package."""


def encode_head(session: StoredSession) -> bytes:
    """Return *session* as JSON with the format, without `updated_at`.

    Raises:
        ValueError: the `data` is not JSON.
    """
    head = encode(
        _Head(
            session_id=session.session_id,
            cwd=session.cwd,
            additional_directories=[*session.additional_directories],
            title=session.title,
            data=dict(session.data),
        )
    )
    text = b'{"format":%d,"session":%b}' % (FORMAT, head)
    from_json(text)  # what is nested too deep can be written, but not read
    return text


def decode_head(text: bytes) -> StoredSession:
    """Return the session of `encode_head`.

    Raises:
        Newer: *text* was written by a newer version of this package.
        ValueError: *text* is not a session.
    """
    stored = members_of(from_json(text))
    found: object = stored.get("format")
    if type(found) is not int or found < 1:
        raise ValueError("it is not a stored session")
    if found > FORMAT:
        raise Newer(
            f"it has format {found}, and this version of acp-bindings reads format {FORMAT}. "
            "Update acp-bindings to load it"
        )
    try:
        head = decode(_Head, stored.get("session"))
    except DecodeError as error:
        # Only the first path: the data may be private.
        raise ValueError(f"its session is not valid: {error.issues[0]}") from None
    return StoredSession(
        session_id=head.session_id,
        cwd=head.cwd,
        additional_directories=tuple(head.additional_directories),
        title=head.title,
        data=head.data,
    )


def check_updates(updates: Iterable[bytes]) -> None:
    """Check that each of *updates* is a JSON object without a newline.

    Raises:
        ValueError: an update is not. It says which, from 1, but not what is in it.
    """
    for number, update in enumerate(updates, start=1):
        try:
            _OBJECT.validate_json(update)
            if b"\n" not in update:
                continue
        except ValueError:
            pass
        raise ValueError(f"update {number} is not a JSON object without a newline")


_OBJECT = SchemaValidator(cs.typed_dict_schema({}, extra_behavior="ignore"))
"""Accepts every JSON object, and takes half as long as reading what is in it."""


def timestamp(seconds: float) -> str:
    """Return a Unix time in ISO 8601 and UTC: `2026-12-24T18:00:00.000Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page_of(found: Iterable[tuple[str, StoredSession]]) -> SessionPage:
    """Return the first `PAGE` of *found*: pairs of the cursor of a session, and the session."""
    cursor, sessions = None, list[StoredSession]()
    for next_cursor, session in found:
        if len(sessions) == PAGE:
            return SessionPage(sessions, cursor)
        cursor = next_cursor
        sessions.append(session)
    return SessionPage(sessions)


def cursor_of(order: int, key: str) -> str:
    """Return the cursor of the sessions after the one at (*order*, *key*)."""
    return f"{-order}-{key}"


def position_of(cursor: str) -> tuple[int, str]:
    """Return what `cursor_of` was called with.

    Raises:
        InvalidParams: *cursor* is not the result of `cursor_of`.
    """
    if not (found := re.fullmatch(r"([0-9]{1,20})-(.+)", cursor, re.DOTALL)):
        raise InvalidParams("cursor: it is not from session/list. Leave it out to start with the latest sessions")
    return -int(found[1]), found[2]


class Locks:
    """A lock for each session, so that calls for it run one at a time and in order."""

    def __init__(self) -> None:
        self._in_use: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    def of(self, session_id: str) -> anyio.Lock:
        """Return the lock of a session."""
        return self._in_use.setdefault(session_id, anyio.Lock())
