"""The common behaviour of all session stores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from acp_bindings.agent import SessionInUse, SessionPage, SessionStore, StoredSession
from acp_bindings.setup import InvalidParams, RequestError, SessionNotFound

pytestmark = pytest.mark.anyio

HELLO = StoredSession(
    session_id="sess_1",
    cwd="/home/me/app",
    additional_directories=("/home/me/lib", "/srv"),
    title="Hello",
    data={"mode": "ask", "counts": [1, 2.5, None, {"ü": "🐍"}], "open": True},
)
EMPTY = StoredSession(session_id="sess_2", cwd="C:\\app")

ODD_IDS = [
    "../up",
    "/etc/passwd",
    "a/b\\c",
    ".",
    "..",
    "",
    "con",
    "UPPER",
    "upper",
    "ü",
    "\0",
    "a\nb",
    "x" * 5000,
    "a:b",
]


def update(text: str) -> bytes:
    return b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%b"}}' % text.encode()


def without_time(session: StoredSession) -> StoredSession:
    return replace(session, updated_at=None)


async def load(store: SessionStore, session_id: str) -> tuple[StoredSession, list[bytes]]:
    session, updates = await store.load(session_id)
    return without_time(session), [*updates]


async def listed(store: SessionStore, **options: Any) -> list[str]:
    """Return the ids of all pages."""
    ids: list[str] = []
    page = SessionPage([], None)
    while page.next_cursor or not ids:
        page = await store.list(cursor=page.next_cursor, **options)
        assert len(page.sessions) <= 50
        ids += [each.session_id for each in page.sessions]
        if page.next_cursor is None:
            break
    return ids


async def test_a_session_is_loaded_as_it_was_stored(store: SessionStore) -> None:
    await store.append(HELLO, [update("a"), update("ü🐍")])
    await store.append(EMPTY)
    await store.append(HELLO, [update("c")])

    assert await load(store, "sess_1") == (HELLO, [update("a"), update("ü🐍"), update("c")])
    assert await load(store, "sess_2") == (EMPTY, [])


async def test_a_changed_session_replaces_the_stored_one(store: SessionStore) -> None:
    await store.append(HELLO, [update("a")])
    changed = replace(HELLO, title=None, data={}, additional_directories=(), cwd="/elsewhere")
    await store.append(changed)
    await store.append(changed, [update("b")])

    assert await load(store, "sess_1") == (changed, [update("a"), update("b")])
    assert [without_time(each) for each in (await store.list()).sessions] == [changed]


async def test_later_changes_of_the_data_are_not_stored_by_themselves(store: SessionStore) -> None:
    data: dict[str, Any] = {"list": [1]}
    await store.append(replace(HELLO, data=data))
    data["list"].append(2)
    loaded, updates = await load(store, "sess_1")
    assert loaded.data == {"list": [1]}

    await store.append(replace(HELLO, data=data))
    assert (await load(store, "sess_1"))[0].data == {"list": [1, 2]}
    assert updates == []


async def test_the_time_of_the_last_append_is_set(store: SessionStore) -> None:
    before = datetime.now(UTC)
    await store.append(replace(HELLO, updated_at="2001-01-01T00:00:00Z"), [update("a")])
    session, _ = await store.load("sess_1")
    (from_list,) = (await store.list()).sessions

    assert session.updated_at
    assert session == from_list
    assert session.updated_at.endswith("Z")
    assert abs(datetime.fromisoformat(session.updated_at) - before).total_seconds() < 60


async def test_an_unknown_session_is_not_found(store: SessionStore) -> None:
    for session_id in ["sess_9", *ODD_IDS]:
        with pytest.raises(SessionNotFound) as caught:
            await store.load(session_id)
        assert caught.value.session_id == session_id
        await store.release(session_id)
        await store.delete(session_id)


async def test_each_id_is_a_session_of_its_own(store: SessionStore) -> None:
    for number, session_id in enumerate(ODD_IDS):
        await store.append(replace(EMPTY, session_id=session_id), [update(str(number))])
    for number, session_id in enumerate(ODD_IDS):
        assert await load(store, session_id) == (replace(EMPTY, session_id=session_id), [update(str(number))])
    assert sorted(await listed(store)) == sorted(ODD_IDS)


async def test_a_deleted_session_is_not_found(store: SessionStore) -> None:
    await store.append(HELLO, [update("a")])
    await store.append(EMPTY)
    await store.release("sess_2")
    await store.delete("sess_1")
    await store.delete("sess_2")

    with pytest.raises(SessionNotFound):
        await store.load("sess_1")
    assert await listed(store) == []

    await store.append(HELLO, [update("b")])
    assert await load(store, "sess_1") == (HELLO, [update("b")])


async def test_only_a_loaded_session_can_be_continued(store: SessionStore) -> None:
    await store.append(HELLO, [update("a")])
    await store.release("sess_1")
    with pytest.raises(SessionInUse) as caught:
        await store.append(replace(HELLO, title="lost"), [update("lost")])
    assert caught.value.session_id == "sess_1"

    assert await load(store, "sess_1") == (HELLO, [update("a")])
    await store.append(HELLO, [update("b")])
    assert await load(store, "sess_1") == (HELLO, [update("a"), update("b")])


@pytest.mark.parametrize(
    "data", [{"a": object()}, {"a": float("nan")}, {"a": "\ud800"}, {1: 1}, {"a": 10**5000}, {"a": [[[...]]]}]
)
async def test_data_that_is_not_json_is_refused_and_nothing_is_stored(store: SessionStore, data: Any) -> None:
    with pytest.raises(ValueError, match="data"):
        await store.append(replace(HELLO, data=data), [update("a")])
    with pytest.raises(SessionNotFound):
        await store.load("sess_1")


@pytest.mark.parametrize("depth", [150, 199, 210, 300])
async def test_data_is_either_readable_or_refused(store: SessionStore, depth: int) -> None:
    data: Any = {}
    for _ in range(depth):
        data = {"a": data}
    await store.append(EMPTY, [update("a")])
    try:
        await store.append(replace(EMPTY, data=data), [update("b")])
    except ValueError:
        assert await load(store, "sess_2") == (EMPTY, [update("a")])
    else:
        assert await load(store, "sess_2") == (replace(EMPTY, data=data), [update("a"), update("b")])


@pytest.mark.parametrize("wrong", [b"", b"{", b'{"a":1}\n', b"{}\n{}", b"[]", b"1", b'{"a":"\xff"}', b"[" * 300])
async def test_updates_that_are_not_json_objects_on_one_line_are_refused(store: SessionStore, wrong: bytes) -> None:
    await store.append(HELLO, [update("a")])
    with pytest.raises(ValueError, match="update 2 is not"):
        await store.append(replace(HELLO, title="other"), [update("b"), wrong, update("c")])

    assert await load(store, "sess_1") == (HELLO, [update("a")])


async def test_changing_a_loaded_list_does_not_change_the_store(store: SessionStore) -> None:
    await store.append(HELLO, [update("a")])
    _, updates = await store.load("sess_1")
    assert isinstance(updates, list)
    updates.clear()

    assert await load(store, "sess_1") == (HELLO, [update("a")])


async def test_the_caller_may_reuse_its_list_of_updates(store: SessionStore) -> None:
    updates = [update("a")]
    async with anyio.create_task_group() as tasks:
        await tasks.start(started(store, updates))
        updates.clear()

    assert await load(store, "sess_1") == (HELLO, [update("a")])


async def test_concurrent_calls_are_stored_in_their_order(store: SessionStore) -> None:
    texts = [str(number) for number in range(100)]
    async with anyio.create_task_group() as tasks:
        for text in texts:
            # `start_soon` of Trio starts tasks in random order.
            await tasks.start(started(store, [update(text)]))

    assert await load(store, "sess_1") == (HELLO, [update(text) for text in texts])


def started(store: SessionStore, updates: list[bytes]) -> Any:
    async def append(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        await store.append(HELLO, updates)

    return append


async def test_concurrent_sessions_do_not_mix(store: SessionStore) -> None:
    async def talk(number: int) -> None:
        session = replace(EMPTY, session_id=f"sess_{number}", title=str(number))
        for count in range(5):
            await store.append(session, [update(f"{number} {count}")])

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(talk, number)

    for number in range(40):
        session, updates = await load(store, f"sess_{number}")
        assert session.title == str(number)
        assert updates == [update(f"{number} {count}") for count in range(5)]


async def test_pages_have_every_session_once_the_latest_first(store: SessionStore) -> None:
    ids = await many_sessions(store, 120)

    assert await listed(store) == ids[::-1]
    first = await store.list()
    second = await store.list(cursor=first.next_cursor)
    third = await store.list(cursor=second.next_cursor)
    assert [len(page.sessions) for page in (first, second, third)] == [50, 50, 20]
    assert third.next_cursor is None


async def test_pages_continue_correctly_after_sessions_changed(store: SessionStore) -> None:
    ids = (await many_sessions(store, 60))[::-1]
    first = await store.list()
    await later(store, ids[55], ids[0])
    await store.delete(ids[49])

    rest = await store.list(cursor=first.next_cursor)
    assert [each.session_id for each in rest.sessions] == [*ids[50:55], *ids[56:]]
    assert (await listed(store))[0] == ids[55]


async def test_sessions_of_one_directory_are_listed(store: SessionStore) -> None:
    ids = await many_sessions(store, 120, cwds=["/a", "/a/", "/b"])

    assert await listed(store, cwd="/a") == ids[::3][::-1]
    assert await listed(store, cwd="/c") == []


async def test_a_page_that_is_exactly_full_is_the_last(store: SessionStore) -> None:
    await many_sessions(store, 100, cwds=["/a", "/b"])
    page = await store.list(cwd="/a")
    assert (len(page.sessions), page.next_cursor) == (50, None)


@pytest.mark.parametrize("cursor", ["", "x", "-", "1", "1-", "-1-x", "9" * 30 + "-x", "1.5-x", "²-x"])
async def test_a_cursor_of_another_store_is_refused(store: SessionStore, cursor: str) -> None:
    with pytest.raises(InvalidParams, match="cursor"):
        await store.list(cursor=cursor)


async def many_sessions(store: SessionStore, count: int, cwds: list[str] | None = None) -> list[str]:
    """Store sessions one after the other, and return their ids."""
    ids = [f"sess_{number * 7919 % 1000:03}" for number in range(count)]
    before = None
    for number, session_id in enumerate(ids):
        cwd = cwds[number % len(cwds)] if cwds else "/"
        await store.append(StoredSession(session_id=session_id, cwd=cwd), [update(session_id)])
        await later(store, session_id, before)
        before = session_id
    return ids


async def later(store: SessionStore, session_id: str, before: str | None) -> None:
    """Append to a session until its time differs from that of the session *before*: clocks are coarse."""
    while before and (await listed_first(store)) != session_id:
        session, _ = await store.load(session_id)
        await store.append(session, [update("again")])


async def listed_first(store: SessionStore) -> str:
    return (await store.list()).sessions[0].session_id


def test_the_errors_of_stores_are_responses() -> None:
    error = SessionInUse("sess_1", "another process has it open")
    assert isinstance(error, RequestError)
    assert (error.code, error.message) == (-32600, "Session in use: another process has it open")
    assert (error.session_id, error.data) == ("sess_1", {"sessionId": "sess_1"})
