"""A session store in a folder: a file of JSON lines for each session.

    {"format":1,"session":{"sessionId":"sess_1","cwd":"/home/me/app",…}}   the session; again when it has changed
    {"update":{"sessionUpdate":"agent_message_chunk",…}}
    {"saved":0}                                          the end of a call, and where the line of the session begins

A call of `append` is one write, which ends with `saved`. After a crash, the lines behind the last `saved` are those of
a call that did not return: `load` ignores them, and the next `append` replaces them. `list` finds the current title
with two short reads, through the last line.

A file in which old lines of the session take much space is replaced by one without them.
"""

from __future__ import annotations

import errno
import hashlib
import io
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import to_thread

from acp_bindings.agent._stores import (
    NOT_LOADED,
    Locks,
    Newer,
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

T = TypeVar("T")

log = logging.getLogger("acp_bindings.agent")


class FolderSessions:
    """A `SessionStore` in a folder, with a file of JSON lines for each session.

    What `append` has stored survives the end of the process, however it ends. The system writes it to the disk later,
    usually within half a minute, so a power failure may lose the end of a conversation. Pass `fsync=True` to prevent
    that.

    A process locks the files of the sessions that it has open. The system unlocks them when the process ends. Only you
    can read the folder and its files. `updated_at` is the modification time of the file.

    A file with a damaged line raises `SessionUnreadable`, because a conversation without one of its messages may
    mislead the agent. The error has the path and the line. You can edit such a file while the session is not open, and
    for example remove the line.
    """

    def __init__(self, folder: str | os.PathLike[str], *, fsync: bool = False) -> None:
        """Create a store. The folder is created with the first session.

        Args:
            folder: the folder. A leading `~` is your home directory.
            fsync: wait in each `append` until the disk has the data, so that it also survives a power failure. This
                takes a few milliseconds on an SSD, and more on a hard disk.
        """
        self._folder = Path(folder).expanduser().absolute()
        self._fsync = fsync
        self._open: dict[str, _File] = {}
        self._locks = Locks()
        self._mutexes: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    def for_owner(self, owner: str) -> FolderSessions:
        """Return the store for the sessions of one user: a folder in this one, named by a digest of the identity."""
        return FolderSessions(self._folder / "owners" / hashlib.sha256(owner.encode()).hexdigest(), fsync=self._fsync)

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        """Lock the file of a session, and return the session and its updates. See `SessionStore.load`."""
        return await self._run(session_id, lambda: self._load(session_id))

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        """Store a session and add to its updates. See `SessionStore.append`."""
        head, added = encode_head(session), [*updates]
        await self._run(session.session_id, lambda: self._append(session.session_id, head, added))

    async def release(self, session_id: str) -> None:
        """Unlock the file of a session. See `SessionStore.release`."""
        await self._run(session_id, lambda: self._release(session_id))

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """Return a page of sessions. See `SessionStore.list`."""
        after = None if cursor is None else position_of(cursor)
        try:
            return await to_thread.run_sync(lambda: self._list(cwd, after))
        except OSError as error:
            raise StoreFailed(_reason(error)) from error

    async def delete(self, session_id: str) -> None:
        """Delete the file of a session, unless another process has locked it. See `SessionStore.delete`."""
        await self._run(session_id, lambda: self._delete(session_id))

    async def _run(self, session_id: str, job: Callable[[], T]) -> T:
        # When asyncio cancels a task, as `asyncio.timeout` does, its thread goes on. The next thread waits for it.
        mutex = self._mutexes.setdefault(session_id, threading.Lock())

        def alone() -> T:
            with mutex:
                return job()

        async with self._locks.of(session_id):
            try:
                return await to_thread.run_sync(alone)
            except OSError as error:
                raise StoreFailed(_reason(error), session_id) from error

    # The methods below run in threads, one at a time for each session.

    def _load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        if (file := self._open.get(session_id)) and not file.is_deleted():
            content = file.read()
        else:
            self._release(session_id)
            file, content = self._lock(session_id)
        self._open[session_id] = file
        if content is None:
            self._release(session_id)
            raise SessionNotFound(session_id)
        return content.session, content.updates

    def _append(self, session_id: str, head: bytes, updates: Sequence[bytes]) -> None:
        check_updates(updates)
        file = self._open.get(session_id) or self._create(session_id)
        if file.is_deleted():
            self._release(session_id)
            raise SessionNotFound(session_id)
        is_new = not file.saved
        try:
            if is_new and self._fsync:
                _sync_folder(self._folder)
            file.append(head, updates, fsync=self._fsync)
        except BaseException:
            if is_new:
                del self._open[session_id]
                file.delete()
            raise
        # Windows does not replace open files.
        if file.stale > _STALE + 2 * (file.saved - file.stale) and sys.platform != "win32":
            with suppress(OSError, SessionUnreadable):  # everything is stored already
                self._open[session_id] = file.rewritten()
                if self._fsync:
                    _sync_folder(self._folder)

    def _create(self, session_id: str) -> _File:
        # With `parents=True`, `mkdir` would let everyone read the new parents, such as the folder of all owners.
        for folder in (*reversed(self._folder.parents), self._folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        file, content = self._lock(session_id, create=True)
        if content is not None:
            file.close()
            raise SessionInUse(session_id, NOT_LOADED)
        self._open[session_id] = file
        return file

    def _lock(self, session_id: str, *, create: bool = False) -> tuple[_File, _Content | None]:
        file = _File.lock(self._path(session_id), session_id, create=create)
        try:
            return file, file.read()
        except BaseException:
            file.close()
            raise

    def _release(self, session_id: str) -> None:
        if file := self._open.pop(session_id, None):
            file.close()

    def _delete(self, session_id: str) -> None:
        try:
            file = self._open.pop(session_id, None) or _File.lock(self._path(session_id), session_id)
        except SessionNotFound:
            return
        file.delete()

    def _list(self, cwd: str | None, after: tuple[int, str] | None) -> SessionPage:
        latest: list[tuple[int, str]] = []
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX):
                    with suppress(OSError):  # it was deleted, or is a broken link
                        latest.append((-max(0, os.stat(entry.path).st_mtime_ns), entry.name))
        found = (pair for pair in sorted(latest) if after is None or pair > after)
        return page_of(self._listed(found, cwd))

    def _listed(self, found: Iterator[tuple[int, str]], cwd: str | None) -> Iterator[tuple[str, StoredSession]]:
        for order, name in found:
            path = self._folder / name
            try:
                session = _session_in(path)
            except (OSError, SessionUnreadable) as error:
                log.warning("%s is not listed: %s", path, error)
                continue
            if session and cwd in (None, session.cwd):
                yield cursor_of(order, name), replace(session, updated_at=timestamp(-order / 1e9))

    def _path(self, session_id: str) -> Path:
        return self._folder / (_name(session_id) + _SUFFIX)


_SUFFIX = ".jsonl"
_STALE = 1_000_000
"""The bytes of old lines of a session that are always tolerated."""


def _name(session_id: str) -> str:
    """Return the name of the file of a session. Ids come from outside, and differ in every character.

    Names do not distinguish case on some systems, and some short names are devices on Windows.
    """
    if re.fullmatch("[a-z0-9_-]{5,100}", session_id):
        return session_id
    return "sha256." + hashlib.sha256(session_id.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class _Content:
    """The saved content of a file."""

    session: StoredSession
    head: bytes
    """The last line of the session, without its newline."""
    start: int
    """The position of the first byte of this line."""
    stale: int
    """The bytes of the lines of the session before it."""
    saved: int
    """The number of saved bytes of the file. Further ones belong to a call that did not return."""
    updates: list[bytes]


class _File:
    """The open and locked file of a session."""

    def __init__(self, handle: io.FileIO, path: Path, session_id: str) -> None:
        self._handle = handle
        self.path = path
        self._copy = path.with_suffix(".new")
        """A file of `rewritten`; after a crash it may be left behind."""
        self._session_id = session_id
        self._head: bytes = b""
        self._start = 0
        self.saved = 0
        self.stale = 0

    @classmethod
    def lock(cls, path: Path, session_id: str, *, create: bool = False) -> _File:
        """Open and lock a file.

        Raises:
            SessionNotFound: there is no file, and it is not to be created.
            SessionInUse: it is locked.
        """
        more = os.O_CREAT if create else 0
        while True:
            try:
                handle = io.FileIO(path, "r+", opener=lambda name, flags: os.open(name, flags | more, 0o600))
            except FileNotFoundError:
                if create:
                    raise
                raise SessionNotFound(session_id) from None
            file = cls(handle, path, session_id)
            try:
                _lock(handle)
                if not file.is_deleted():
                    return file
            except OSError as error:
                file.close()
                if error.errno not in _LOCKED:
                    raise
                reason = "another process has it open. Close it there, and try again"
                raise SessionInUse(session_id, reason) from None
            # It was deleted after it was opened. There may be another one now.
            file.close()

    def is_deleted(self) -> bool:
        """Return True if the file was deleted, or replaced by another."""
        return os.fstat(self._handle.fileno()).st_nlink == 0

    def read(self) -> _Content | None:
        """Return what is saved; None if nothing is, because the process that created the file has crashed."""
        self._handle.seek(0)
        content = _read(self._handle.readall(), self.path, self._session_id)
        if content is None:
            return None
        self._head, self._start, self.saved, self.stale = content.head, content.start, content.saved, content.stale
        changed = os.fstat(self._handle.fileno()).st_mtime
        return replace(content, session=replace(content.session, updated_at=timestamp(changed)))

    def append(self, head: bytes, updates: Sequence[bytes], *, fsync: bool) -> None:
        """Write a session, if it has changed, and *updates*. If this raises, the file is as before."""
        lines, start, stale = [b'{"update":%b}\n' % each for each in updates], self._start, self.stale
        if head != self._head:
            lines.insert(0, head + b"\n")
            start, stale = self.saved, stale + len(self._head)
        if not lines:
            return
        text = b"".join([*lines, b'{"saved":%d}\n' % start])
        try:
            self._handle.seek(self.saved)
            self._handle.truncate()
            rest = memoryview(text)
            while rest:
                rest = rest[self._handle.write(rest) or 0 :]
            if fsync:
                _sync(self._handle.fileno())
        except BaseException:
            # If this fails too, the next call repeats it.
            with suppress(OSError):
                self._handle.truncate(self.saved)
            raise
        self._head, self._start, self.stale = head, start, stale
        self.saved += len(text)

    def rewritten(self) -> _File:
        """Replace the file by a locked one without earlier lines of the session, and return that. This one is closed.

        Raises:
            OSError, SessionUnreadable: the file is as before.
        """
        if (content := self.read()) is None:
            raise SessionUnreadable(self._session_id, "the file was changed", path=self.path)
        file = _File.lock(self._copy, self._session_id, create=True)
        try:
            # Without fsync, some file systems lose the whole file when the power fails.
            file.append(content.head, content.updates, fsync=True)
            self._copy.replace(self.path)
        except BaseException:
            file.delete()
            raise
        file.path = self.path
        self.close()
        return file

    def delete(self) -> None:
        """Delete the file, while it is locked if the system can do that."""
        if sys.platform == "win32":
            self.close()
        for path in (self.path, self._copy):
            path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Unlock and close the file."""
        self._handle.close()


def _read(text: bytes, path: Path, session_id: str | None = None) -> _Content | None:
    """Return what is saved in the *text* of a file; None if nothing is.

    Raises:
        SessionUnreadable: a line is damaged, the file has a newer format, or it contains another session.
    """
    session, head, start, stale, position = None, b"", 0, 0, 0
    updates: list[bytes] = []
    found, kept = None, 0
    # What follows the last newline is incomplete.
    for number, line in enumerate(text.split(b"\n")[:-1], start=1):
        end = position + len(line) + 1
        stripped = line.strip()
        try:
            if session and stripped.startswith(_UPDATE):
                update = stripped[len(_UPDATE) : -1]
                check_updates([update])
                updates.append(update)
            elif session and _SAVED.fullmatch(stripped):
                found, kept = (session, head, start, stale, end), len(updates)
            elif stripped:
                stale += len(head)
                session, head, start = decode_head(stripped), stripped, position
        except Newer as error:
            raise SessionUnreadable(session_id or path.stem, str(error), path=path) from None
        except ValueError:
            reason = "the line is damaged. Restore the file, or remove the line to do without it"
            raise SessionUnreadable(session_id or path.stem, reason, path=path, line=number) from None
        if session:
            session_id = session_id or session.session_id
            if session.session_id != session_id:
                raise SessionUnreadable(session_id, "the file contains another session", path=path, line=number)
        position = end
    return _Content(*found, updates[:kept]) if found else None


_UPDATE = b'{"update":'
_SAVED = re.compile(rb'\{"saved":\d+\}')


def _session_in(path: Path) -> StoredSession | None:
    """Return the session in a file; None if nothing is saved in it.

    Raises:
        SessionUnreadable: the file is damaged, has a newer format, or its name is that of another session.
    """
    with path.open("rb") as file:
        session = _last(file)
        if session is None:
            file.seek(0)
            content = _read(file.read(), path)
            session = content.session if content else None
    if session and _name(session.session_id) != path.stem:
        raise SessionUnreadable(session.session_id, "the file is of another session", path=path)
    return session


def _last(file: io.BufferedReader) -> StoredSession | None:
    """Return the session that the last line refers to; None if that line is incomplete, or the file was edited."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
    if not (found := re.search(rb'\n\{"saved":(\d{1,18})\}\n\Z', file.read())):
        return None
    file.seek(int(found[1]))
    try:
        return decode_head(file.readline())
    except ValueError:
        return None


_TAIL = 40
"""More than the bytes of the last line."""


def _reason(error: OSError) -> str:
    """Return the reason without the path, which does not concern the client."""
    return error.strerror or type(error).__name__


_LOCKED = {errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK}

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: io.FileIO) -> None:
        # Other processes cannot read what is locked, so lock a byte that the file does not have.
        handle.seek(0x7FFF_FFFE)
        msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)

    _sync = os.fsync

    def _sync_folder(folder: Path) -> None:
        """Windows has no such call."""

else:
    import fcntl

    def _lock(handle: io.FileIO) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _sync(descriptor: int) -> None:
        # On macOS, `fsync` leaves the data in the cache of the disk, but some file systems support nothing else.
        if whole := getattr(fcntl, "F_FULLFSYNC", None):
            with suppress(OSError):
                fcntl.fcntl(descriptor, whole)
                return
        os.fsync(descriptor)

    def _sync_folder(folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
