"""Sessions on disk: a file for each, with the session in its first line and an update of its history in each other."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from acp_bindings import decode, encode, v1
from acp_bindings.setup import History, InvalidParams, SessionNotFound

if TYPE_CHECKING:
    from acp_bindings.setup.unions import SessionUpdate

PAGE = 20
"""How many sessions `page` gives at a time."""


class Store:
    """The sessions in a folder. A session is there from its first prompt on, not before: clients must expect that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def append(self, session: v1.SessionInfo, *updates: SessionUpdate) -> None:
        """Add to the history of a session."""
        path = self._path(session.session_id)
        head = [] if path.exists() else [encode(session) + b"\n"]
        with path.open("ab") as file:
            file.writelines([*head, *map(History.line, updates)])

    def read(self, session_id: str) -> tuple[v1.SessionInfo, list[SessionUpdate]]:
        """A session and its history; lines that are none, as the last one after a crash, are skipped."""
        try:
            head, *lines = self._path(session_id).read_bytes().splitlines()
            session = decode(v1.SessionInfo, head)
        except (FileNotFoundError, ValueError):
            raise SessionNotFound(session_id) from None
        return session, History.read(v1, lines).updates

    def page(self, *, cwd: str | None, cursor: str | None) -> tuple[list[v1.SessionInfo], str | None]:
        """Some of the sessions, of one directory or of all, the latest first; and the cursor of those after them."""
        if cursor is not None and not re.fullmatch("[0-9]{1,9}", cursor):
            raise InvalidParams("cursor: it is none of ours")
        heads = [head for file in self._folder.glob("*.jsonl") if (head := _head(file))]
        heads.sort(key=lambda head: (-head[0], head[1].session_id))
        sessions = [session for _, session in heads if cwd in (None, session.cwd)]
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


def _head(file: Path) -> tuple[int, v1.SessionInfo] | None:
    """When a session was changed, and the session; None where there is none, or no more."""
    try:
        with file.open("rb") as lines:
            session, status = decode(v1.SessionInfo, next(lines)), os.fstat(lines.fileno())
    except (StopIteration, OSError, ValueError):
        return None
    changed = datetime.datetime.fromtimestamp(status.st_mtime, datetime.UTC)
    return status.st_mtime_ns, session.model_copy(update={"updated_at": changed.isoformat(timespec="seconds")})
