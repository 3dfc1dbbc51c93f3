"""Sessions in files: crashes, full disks, damaged files, and other processes."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import errno
import importlib
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings.agent import FolderSessions, SessionInUse, SessionUnreadable, StoredSession, StoreFailed, _folder
from acp_bindings.setup import SessionNotFound
from tests.acp_bindings.agent.conftest import folder_sessions
from tests.acp_bindings.agent.killed_writer import Call, calls
from tests.acp_bindings.agent.test_stores import EMPTY, HELLO, ODD_IDS, listed, load, update, without_time

pytestmark = pytest.mark.anyio

FILE = "sess_1.jsonl"


async def stored(folder: Path, *, session: StoredSession = HELLO) -> Path:
    """Store a session with three updates in three calls, and return its file."""
    async with folder_sessions(folder) as store:
        await store.append(session, [update("a")])
        await store.append(replace(session, title="Later"), [update("b")])
        await store.append(replace(session, title="Later"), [update("c")])
    (file,) = folder.glob("*.jsonl")
    return file


LATER = replace(HELLO, title="Later")
STORED = LATER, [update("a"), update("b"), update("c")]


async def test_only_the_user_can_read_the_files(tmp_path: Path) -> None:
    file = await stored(tmp_path / "new" / "sessions")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store = FolderSessions(tmp_path / "new" / "sessions").for_owner("ada")
    await store.append(HELLO)
    await store.release(HELLO.session_id)
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(folders) == 4
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


async def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    async with folder_sessions(Path("~/agent/sessions")) as store:
        await store.append(HELLO)
    assert (tmp_path / "agent" / "sessions" / FILE).exists()


async def test_the_folder_is_created_with_the_first_session(tmp_path: Path) -> None:
    store = FolderSessions(tmp_path / "sessions")
    assert await listed(store) == []
    with pytest.raises(SessionNotFound):
        await store.load("sess_1")
    await store.delete("sess_1")
    await store.release("sess_1")
    assert [*tmp_path.iterdir()] == []


async def test_ids_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "sessions"
    async with folder_sessions(folder) as store:
        for session_id in ODD_IDS:
            await store.append(replace(EMPTY, session_id=session_id))
        with pytest.raises(SessionNotFound):
            await store.load("\ud800")
    everything = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert {each.parent for each in everything} == {folder}
    # Some systems do not distinguish case.
    assert len({each.name.lower() for each in everything}) == len(ODD_IDS)


# Crashes


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_file_that_ends_at_any_byte_has_the_calls_that_returned(tmp_path: Path) -> None:
    whole = (await stored(tmp_path / "whole")).read_bytes()
    ends = [len(b"".join(whole.splitlines(keepends=True)[:number])) for number in (3, 6, 8)]
    assert ends[-1] == len(whole)
    states = [None, (HELLO, [update("a")]), (LATER, [update("a"), update("b")]), STORED]

    async with folder_sessions(tmp_path / "torn") as store:
        (tmp_path / "torn").mkdir()
        file = tmp_path / "torn" / FILE
        for length in range(len(whole) + 1):
            file.write_bytes(whole[:length])
            expected = states[sum(length >= end for end in ends)]
            assert await listed(store) == ([] if expected is None else ["sess_1"]), length
            if expected is None:
                with pytest.raises(SessionNotFound):
                    await store.load("sess_1")
                expected = HELLO, list[bytes]()
            else:
                assert without_time((await store.list()).sessions[0]) == expected[0]
                assert await load(store, "sess_1") == expected, length
            # What follows does not touch the incomplete line.
            await store.append(expected[0], [update("next")])
            await store.release("sess_1")
            assert await load(store, "sess_1") == (expected[0], [*expected[1], update("next")]), length
            assert without_time((await store.list()).sessions[0]) == expected[0]
            await store.release("sess_1")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("stale", [_folder._STALE, -1_000_000], ids=["appended", "rewritten by each call"])
async def test_a_process_killed_at_any_byte_loses_nothing_that_was_stored(
    tmp_path: Path, anyio_backend_name: str, stale: int
) -> None:
    runs = 60
    command = [sys.executable, "-m", killed_writer_module, str(tmp_path), anyio_backend_name, str(runs), str(stale)]
    done = await anyio.run_process(command)
    returned = dict.fromkeys(range(runs), 0)
    for line in done.stdout.splitlines():
        seed, number = map(int, line.split())
        returned[seed] = number
    assert len({*returned.values()}) > 8

    async with folder_sessions(tmp_path) as store:
        for seed, number in returned.items():
            made = calls(seed)
            # A call may be complete although it did not return.
            possible = [after(made[:number]), after(made[: number + 1])]
            try:
                found = await load(store, f"sess_{seed}")
            except SessionNotFound:
                assert number == 0
                continue
            assert found in possible, seed
            await store.append(found[0], [b'{"next":1}'])
            await store.release(f"sess_{seed}")
            assert await load(store, f"sess_{seed}") == (found[0], [*found[1], b'{"next":1}']), seed


killed_writer_module = "tests.acp_bindings.agent.killed_writer"


def after(made: list[Call]) -> tuple[StoredSession | None, list[bytes]]:
    """Return what is stored after these calls."""
    return made[-1][0] if made else None, [each for _, updates in made for each in updates]


# Old lines of the session


async def grow(store: FolderSessions) -> StoredSession:
    """Store a session with 30 updates, and data that grows to 300 KB."""
    session = HELLO
    for number in range(1, 31):
        session = replace(HELLO, data={"messages": ["x" * 10_000] * number})
        await store.append(session, [update(str(number))])
    return session


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not replace open files")


@POSIX
async def test_a_file_does_not_grow_with_each_change_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_folder, "_STALE", 10_000)
    async with folder_sessions(tmp_path) as store, folder_sessions(tmp_path) as other:
        session = await grow(store)
        assert [each.name for each in tmp_path.iterdir()] == [FILE]
        assert (tmp_path / FILE).stat().st_size < 1_000_000
        assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
        with pytest.raises(SessionInUse, match="another process has it open"):
            await other.load("sess_1")
        assert [without_time(each) for each in (await other.list()).sessions] == [session]
        await store.release("sess_1")
        assert await load(other, "sess_1") == (session, [update(str(number)) for number in range(1, 31)])


@POSIX
async def test_old_lines_of_the_session_are_also_removed_from_a_loaded_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with folder_sessions(tmp_path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(_folder, "_STALE", 10_000_000)
            session = await grow(store)
        await store.release("sess_1")
        before = (tmp_path / FILE).stat().st_size
        await store.load("sess_1")
        await store.append(session, [update("last")])
        assert (tmp_path / FILE).stat().st_size < before / 10


@POSIX
@pytest.mark.parametrize("broken", ["acp_bindings.agent._folder._sync", "pathlib.Path.replace"])
async def test_a_file_that_cannot_be_replaced_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(_folder, "_STALE", 10_000)
    async with folder_sessions(tmp_path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(broken, refuse)
            session = await grow(store)
        assert [each.name for each in tmp_path.iterdir()] == [FILE]
        assert (tmp_path / FILE).stat().st_size > 1_000_000
        await store.append(session, [update("last")])
        assert await load(store, "sess_1") == (session, [update(str(each)) for each in [*range(1, 31), "last"]])


async def test_a_copy_that_a_crash_has_left_behind_is_deleted_with_the_session(tmp_path: Path) -> None:
    async with folder_sessions(tmp_path) as store:
        await store.append(HELLO)
        (tmp_path / "sess_1.new").write_bytes(b"some of the conversation")
        await store.delete("sess_1")
        assert [*tmp_path.iterdir()] == []


# Failures of the disk


FULL = """
import resource, signal, sys
import anyio
from acp_bindings.agent import FolderSessions, StoreFailed, StoredSession

async def main():
    store = FolderSessions(sys.argv[2])
    session = StoredSession(session_id="sess_1", cwd="/")
    big = b'{"text":"' + b"x" * 3000 + b'"}'
    for number in range(100):
        # The limit of 10,000 bytes is reached within a line, the second time also within the first line.
        for limit in (10_000, resource.RLIM_INFINITY):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                await store.append(session, [big, b'{"number":%d}' % number])
            except StoreFailed as error:
                assert (error.session_id, error.reason) == ("sess_1", "File too large"), error
                assert isinstance(error.__cause__, OSError)
                failed_at = number
                _, updates = await store.load("sess_1")
                assert updates[1::2] == [b'{"number":%d}' % n for n in range(number)], updates
            else:
                break
        else:
            raise AssertionError("failed without a limit")
        if limit == resource.RLIM_INFINITY:
            break
    print(failed_at)
    await store.release("sess_1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY))
    try:
        await store.append(StoredSession(session_id="sess_2", cwd="/"), [big])
    except StoreFailed:
        print("refused")

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")
async def test_a_call_stores_nothing_if_the_disk_is_full(tmp_path: Path, anyio_backend_name: str) -> None:
    command = [sys.executable, "-B", "-W", "error", "-c", FULL, anyio_backend_name, str(tmp_path)]
    assert (await anyio.run_process(command, stderr=None)).stdout.split() == [b"3", b"refused"]

    async with folder_sessions(tmp_path) as store:
        _, updates = await load(store, "sess_1")
        assert updates[1::2] == [b'{"number":%d}' % number for number in range(4)]
        assert len(updates) == 8
        assert await listed(store) == ["sess_1"]
    # The file of a session that could not be created is removed.
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, name: str, *, times: int = 1) -> Generator[None]:
    """Let the first calls of a method of files fail."""
    left = times

    class Failing(_folder.io.FileIO):
        def __getattribute__(self, wanted: str) -> Any:
            nonlocal left
            if wanted == name and left:
                left -= 1
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().__getattribute__(wanted)

    with monkeypatch.context() as patch:
        patch.setattr("io.FileIO", Failing)
        yield
        assert left == 0


@pytest.mark.parametrize("method", ["readall", "seek"])
async def test_a_file_that_cannot_be_read_is_not_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    await stored(tmp_path)
    async with folder_sessions(tmp_path) as store, folder_sessions(tmp_path) as other:
        with failing(monkeypatch, method), pytest.raises(StoreFailed, match="Input/output error") as caught:
            await store.load("sess_1")
        assert str(tmp_path) not in str(caught.value)
        assert await load(other, "sess_1") == STORED


async def test_the_next_call_replaces_bytes_that_a_failed_call_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await stored(tmp_path)
    failed: list[str] = []

    class Failing(_folder.io.FileIO):
        def write(self, data: Any, /) -> int:
            if not failed:
                super().write(data[:-5])
                failed.append("write")
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().write(data)

        def truncate(self, pos: int | None = None, /) -> int:
            if failed == ["write"]:
                failed.append("truncate")
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().truncate(pos)

    monkeypatch.setattr("io.FileIO", Failing)
    async with folder_sessions(tmp_path) as store:
        await store.load("sess_1")
        with pytest.raises(StoreFailed):
            await store.append(LATER, [update("lost"), update("lost")])
        assert file.read_bytes().count(b"lost") == 2
        assert failed == ["write", "truncate"]

        assert await load(store, "sess_1") == STORED
        await store.append(LATER, [update("d")])
        assert await load(store, "sess_1") == (LATER, [*STORED[1], update("d")])
        assert b"lost" not in file.read_bytes()


async def test_a_call_stores_nothing_if_fsync_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await stored(tmp_path)

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async with folder_sessions(tmp_path, fsync=True) as store:
        await store.load("sess_1")
        monkeypatch.setattr(_folder, "_sync", refuse)
        with pytest.raises(StoreFailed):
            await store.append(HELLO, [update("lost")])
        assert await load(store, "sess_1") == STORED
        with pytest.raises(StoreFailed):
            await store.append(EMPTY)
        assert [each.name for each in tmp_path.iterdir()] == [FILE]


async def test_a_folder_that_cannot_be_used_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = FolderSessions(tmp_path / "file")
    for call in (store.load("sess_1"), store.append(HELLO), store.list(), store.delete("sess_1")):
        with pytest.raises(StoreFailed):
            await call
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("fsync", [False, True])
async def test_fsync_is_called_before_append_returns_if_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fsync: bool
) -> None:
    synced: list[bytes] = []

    def note(_: int) -> None:
        synced.append((tmp_path / FILE).read_bytes())

    monkeypatch.setattr(_folder, "_sync", note)
    async with folder_sessions(tmp_path, fsync=fsync) as store:
        for text in ("a", "b"):
            await store.append(HELLO, [update(text)])
            assert (synced[-1:] == [(tmp_path / FILE).read_bytes()]) is fsync


@POSIX
@pytest.mark.parametrize(("refused", "calls"), [(None, ["full"]), (errno.ENOTSUP, ["full", "fsync"])])
async def test_fsync_empties_the_cache_of_the_disk_on_macos_if_the_file_system_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int | None, calls: list[str]
) -> None:
    fcntl = importlib.import_module("fcntl")  # not on Windows
    called: list[str] = []

    def control(_: int, command: int) -> None:
        assert command == 51
        called.append("full")
        if refused:
            raise OSError(refused, os.strerror(refused))

    def note(_: int) -> None:
        called.append("fsync")

    await stored(tmp_path)
    async with folder_sessions(tmp_path, fsync=True) as store:
        await store.load("sess_1")
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
        monkeypatch.setattr(fcntl, "fcntl", control)
        monkeypatch.setattr("os.fsync", note)
        await store.append(LATER, [update("d")])
    assert called == calls


# Files that are damaged, edited, or of another version


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("damage", [b"x", b"\0", b'"', b"\n", b"}"])
async def test_a_damaged_file_is_refused_with_the_line_or_loaded_whole(tmp_path: Path, damage: bytes) -> None:
    file = await stored(tmp_path)
    whole = file.read_bytes()
    refused = 0
    async with folder_sessions(tmp_path) as store:
        for position in range(len(whole)):
            damaged = whole[:position] + damage + whole[position + 1 :]
            file.write_bytes(damaged)
            problem: SessionUnreadable | None = None
            try:
                session, updates = await load(store, "sess_1")
            except SessionUnreadable as error:
                problem = error
            else:
                # The damage is within a string or a number, or there is only another line end.
                assert session.session_id == "sess_1"
                # Without its line end, the last call looks as if it did not return.
                assert len(updates) == (2 if position == len(whole) - 1 and damage != b"\n" else 3)
            if problem:
                refused += 1
                assert problem.path == file
                assert problem.line is None or 1 <= problem.line <= 9
                assert file.read_bytes() == damaged
            await store.release("sess_1")
    assert refused > len(whole) / 10


async def test_a_damaged_line_can_be_removed_by_hand(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b"}", b"")
    file.write_bytes(b"".join(lines))
    async with folder_sessions(tmp_path) as store:
        with pytest.raises(SessionUnreadable) as caught:
            await store.load("sess_1")
        assert (caught.value.session_id, caught.value.path, caught.value.line) == ("sess_1", file, 5)
        assert caught.value.message == (
            "Session cannot be read: sess_1.jsonl, line 5: the line is damaged. Restore the file, or remove the line "
            "to do without it"
        )

        file.write_bytes(b"".join(lines[:4] + lines[5:]))
        assert [without_time(each) for each in (await store.list()).sessions] == [LATER]
        assert await load(store, "sess_1") == (LATER, [update("a"), update("c")])
        await store.append(replace(LATER, title="Mended"), [update("d")])
        assert await load(store, "sess_1") == (replace(LATER, title="Mended"), [*map(update, "acd")])
        assert [without_time(each).title for each in (await store.list()).sessions] == ["Mended"]


async def test_blank_lines_and_other_line_ends_of_an_editor_are_tolerated(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n\r\n"))
    async with folder_sessions(tmp_path) as store:
        assert await load(store, "sess_1") == STORED
        await store.append(LATER, [update("d")])
        assert await load(store, "sess_1") == (LATER, [*STORED[1], update("d")])
        assert [without_time(each) for each in (await store.list()).sessions] == [LATER]


async def test_a_file_of_a_newer_version_is_not_touched(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = await stored(tmp_path)
    newer = b'{"format":2,"everything":"else"}\n\0\0unknown'
    file.write_bytes(newer)
    async with folder_sessions(tmp_path) as store, folder_sessions(tmp_path) as other:
        for each in (store, other):
            with pytest.raises(SessionUnreadable, match=r"it has format 2.*Update acp-bindings") as caught:
                await each.load("sess_1")
            assert caught.value.path == file
            with pytest.raises(SessionUnreadable):
                await each.append(HELLO, [update("a")])
        assert await listed(store) == []
        assert "sess_1.jsonl is not listed" in caplog.text
    assert file.read_bytes() == newer


async def test_a_file_with_another_session_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = await stored(tmp_path)
    copy = shutil.copy(file, tmp_path / "sess_2.jsonl")
    async with folder_sessions(tmp_path) as store:
        with pytest.raises(SessionUnreadable, match="another session") as caught:
            await store.load("sess_2")
        assert caught.value.path == copy
        assert await load(store, "sess_1") == STORED
        assert await listed(store) == ["sess_1"]
        assert "sess_2.jsonl is not listed" in caplog.text


async def test_other_files_in_the_folder_are_not_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await stored(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "other.jsonl").write_text('{"mine":1}\n')
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    async with folder_sessions(tmp_path) as store:
        assert await listed(store) == ["sess_1"]
    assert (tmp_path / "other.jsonl").read_text() == '{"mine":1}\n'


async def test_a_list_reads_only_the_ends_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with folder_sessions(tmp_path) as store:
        await store.append(HELLO, [update("x" * 100_000)])
        await store.append(LATER, [update("x" * 100_000)])
        await store.append(LATER, [update("x" * 100_000)])
        monkeypatch.setattr(_folder, "_read", None)
        assert [without_time(each) for each in (await store.list()).sessions] == [LATER]


# Other processes


HOLDER = """
import sys
import anyio
from acp_bindings.agent import FolderSessions, SessionInUse

async def main():
    store = FolderSessions(sys.argv[1])
    try:
        await store.load("sess_1")
    except SessionInUse:
        print("in use", flush=True)
    else:
        print("loaded", flush=True)
        sys.stdin.read()

anyio.run(main)
"""


async def test_a_session_of_another_process_is_in_use_until_that_ends(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    before = file.read_bytes()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdin=-1, stdout=-1) as holder:
        assert holder.stdout
        assert await anyio.to_thread.run_sync(holder.stdout.readline) == b"loaded\n"
        async with folder_sessions(tmp_path) as store:
            for call in (store.load("sess_1"), store.append(HELLO, [update("d")]), store.delete("sess_1")):
                with pytest.raises(SessionInUse, match="another process has it open") as caught:
                    await call
                assert caught.value.session_id == "sess_1"
            await store.release("sess_1")
            assert await listed(store) == ["sess_1"]
            assert file.read_bytes() == before

            holder.kill()
            holder.wait()
            assert await load(store, "sess_1") == STORED


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_only_one_process_gets_a_session(tmp_path: Path) -> None:
    await stored(tmp_path)
    holders = [
        subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdin=-1, stdout=-1, text=True)
        for _ in range(5)
    ]
    said = [holder.stdout.readline() for holder in holders if holder.stdout]
    for holder in holders:
        holder.communicate()
    assert sorted(said) == ["in use\n"] * 4 + ["loaded\n"]


async def test_a_released_session_can_be_loaded_by_another_store(tmp_path: Path) -> None:
    await stored(tmp_path)
    async with folder_sessions(tmp_path) as one, folder_sessions(tmp_path) as other:
        await one.load("sess_1")
        assert await load(one, "sess_1") == STORED
        with pytest.raises(SessionInUse):
            await other.load("sess_1")
        await one.release("sess_1")
        await other.load("sess_1")
        await other.append(LATER, [update("d")])
        with pytest.raises(SessionInUse):
            await one.append(LATER, [update("e")])
        await other.release("sess_1")
        assert await load(one, "sess_1") == (LATER, [*STORED[1], update("d")])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")
async def test_a_file_deleted_by_hand_is_missed_at_the_next_call(tmp_path: Path) -> None:
    file = await stored(tmp_path)
    async with folder_sessions(tmp_path) as store:
        await store.load("sess_1")
        file.unlink()
        with pytest.raises(SessionNotFound):
            await store.append(LATER, [update("d")])
        assert [*tmp_path.iterdir()] == []

        await store.append(HELLO)
        (tmp_path / "edited").write_bytes(file.read_bytes())
        (tmp_path / "edited").rename(file)
        assert await load(store, "sess_1") == (HELLO, [])
        await store.append(HELLO, [update("a")])
        assert update("a") in file.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")
async def test_a_file_deleted_while_it_is_opened_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = await stored(tmp_path)
    lock = _folder._lock

    def late(handle: Any) -> None:
        file.unlink(missing_ok=True)
        monkeypatch.setattr(_folder, "_lock", lock)
        lock(handle)

    async with folder_sessions(tmp_path) as store:
        monkeypatch.setattr(_folder, "_lock", late)
        with pytest.raises(SessionNotFound):
            await store.load("sess_1")

        monkeypatch.setattr(_folder, "_lock", late)
        await store.append(HELLO, [update("a")])
        assert update("a") in file.read_bytes()


# Threads


async def test_the_event_loop_runs_while_a_disk_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await stored(tmp_path)
    going_on = threading.Event()
    monkeypatch.setattr(_folder, "_read", slowly(going_on, _folder._read))
    async with folder_sessions(tmp_path) as store, anyio.create_task_group() as tasks:
        tasks.start_soon(store.load, "sess_1")
        await anyio.wait_all_tasks_blocked()
        going_on.set()


async def test_a_call_that_began_is_finished_when_it_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = threading.Event()
    async with folder_sessions(tmp_path) as store:
        await store.append(HELLO)
        monkeypatch.setattr(_folder._File, "append", slowly(going_on, _folder._File.append))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, HELLO, [update("a")])
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            going_on.set()
        assert await load(store, "sess_1") == (HELLO, [update("a")])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_calls_do_not_overlap_when_asyncio_cancels_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    going_on = threading.Event()
    async with folder_sessions(tmp_path) as store:
        await store.append(HELLO)
        with monkeypatch.context() as patch:
            patch.setattr(_folder._File, "append", slowly(going_on, _folder._File.append))
            first = asyncio.ensure_future(store.append(HELLO, [update("a")]))
            await anyio.wait_all_tasks_blocked()
            first.cancel()
            await asyncio.wait([first])
            assert first.cancelled()
        second = asyncio.ensure_future(store.append(HELLO, [update("b")]))
        await anyio.wait_all_tasks_blocked()
        assert not second.done()
        going_on.set()
        await second
        assert await load(store, "sess_1") == (HELLO, [update("a"), update("b")])


def slowly(going_on: threading.Event, function: Any) -> Any:
    """Return *function*, which then waits for an event first."""

    def waiting(*args: Any, **options: Any) -> Any:
        assert going_on.wait(30), "the event loop is blocked"
        return function(*args, **options)

    return waiting
