"""Sessions on disk: a file for each, with the session in its first line and an update of its history in each other."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from acp_bindings import decode, encode, v1
from acp_bindings.setup import InvalidParams, SessionNotFound, history_line, read_history

if TYPE_CHECKING:
    from acp_bindings.setup.unions import SessionUpdate

PAGE = 20
"""How many sessions `page` gives at a time."""


class Store:
    """The sessions in a folder. A session is there from its first prompt on, not before: clients must expect that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def append(self, session: v1.SessionInfo, *updates: SessionUpdate) -> None:
        """Add to the history of a session."""
        path = self._path(session.session_id)
        head = [] if path.exists() else [encode(session) + b"\n"]
        with path.open("ab") as file:
            file.writelines([*head, *map(history_line, updates)])

    def read(self, session_id: str) -> tuple[v1.SessionInfo, list[SessionUpdate]]:
        """A session and its history; lines that are none, as the last one after a crash, are skipped."""
        try:
            head, *lines = self._path(session_id).read_bytes().splitlines()
            session = decode(v1.SessionInfo, head)
        except (FileNotFoundError, ValueError):
            raise SessionNotFound(session_id) from None
        return session, read_history(v1, lines)

    def page(self, *, cwd: str | None, cursor: str | None) -> tuple[list[v1.SessionInfo], str | None]:
        """Some of the sessions, of one directory or of all, the latest first; and the cursor of those after them."""
        if cursor is not None and not cursor.isdecimal():
            raise InvalidParams("cursor: it is none of ours")
        files = sorted(self._folder.glob("*.jsonl"), key=lambda file: (-file.stat().st_mtime_ns, file.name))
        sessions = [session for file in files if (session := _head(file)) and cwd in (None, session.cwd)]
        start = int(cursor or 0)
        end = start + PAGE
        return sessions[start:end], str(end) if end < len(sessions) else None

    def delete(self, session_id: str) -> None:
        """Forget a session, if there is one."""
        with contextlib.suppress(FileNotFoundError, SessionNotFound):
            self._path(session_id).unlink()

    def _path(self, session_id: str) -> Path:
        # Ids come from outside: only what we may have made ourselves becomes the name of a file.
        try:
            name = str(uuid.UUID(session_id))
        except ValueError:
            name = ""
        if name != session_id:
            raise SessionNotFound(session_id)
        return self._folder / f"{name}.jsonl"


def _head(file: Path) -> v1.SessionInfo | None:
    with file.open("rb") as lines:
        try:
            session = decode(v1.SessionInfo, next(lines))
        except (StopIteration, ValueError):
            return None
    changed = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC)
    return session.model_copy(update={"updated_at": changed.isoformat(timespec="seconds")})
