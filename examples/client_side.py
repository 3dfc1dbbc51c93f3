"""What a client does about what an agent sends: shows updates, reads and writes files, asks the user."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from client_view import View

from acp_bindings import decode, v1, v2
from acp_bindings.connection import Connection, Handlers
from acp_bindings.setup import ClientCapability, InvalidParams, ReplayCollector, RequestError, Roots, Update

CAPABILITIES: set[ClientCapability] = {"fs.read_text_file", "fs.write_text_file", "notices"}
"""What follows from the handlers below."""
NOT_FOUND = -32002


class Side:
    """The handlers of a client, and the updates of its sessions."""

    def __init__(self, view: View, root: Path, *, allow: bool) -> None:
        self._view = view
        self._roots = Roots(root)
        self._allow = allow
        self._busy = set[str]()
        self._idle: dict[str, Callable[[str], None]] = {}
        self.updates: ReplayCollector[Any] = ReplayCollector()
        self.handlers = Handlers()
        self.handlers.on("session/update")(self.update)
        self.handlers.on("session/request_permission")(self.permission)
        self.handlers.on(v1.ReadTextFileRequest)(self.read)
        self.handlers.on(v1.WriteTextFileRequest)(self.write)

    def update(self, notification: v1.SessionNotification | v2.UpdateSessionNotification, _: Connection) -> None:
        """An update of a session: history, news, or too early to know what."""
        self.show(self.updates.receive(notification))

    def show(self, updates: list[Update[Any]]) -> None:
        """Show updates, and tell of those that end a turn."""
        for each in updates:
            update = each.notification.update
            self._view.update(update, replay=each.replay)
            if update.session_update == "state_update":
                self._state(each.notification.session_id, update)

    def _state(self, session_id: str, update: v2.SessionStateUpdate) -> None:
        """A turn of v2 ends when its session is idle after it was not; that it is idle may be said again."""
        if isinstance(update, v2.SessionStateUpdateRunning | v2.SessionStateUpdateRequiresAction):
            self._busy.add(session_id)
        elif isinstance(update, v2.SessionStateUpdateIdle) and session_id in self._busy:
            self._busy.remove(session_id)
            self._idle.pop(session_id, _ignore)(update.stop_reason or update.state)

    def when_idle(self, session_id: str, then: Callable[[str], None]) -> None:
        """Call *then* with the reason for which the next turn of a session ends, in v2."""
        self._idle[session_id] = then

    def permission(self, request: Any, _: Connection) -> Any:
        """What the user says to what the agent wants to do; here it is the command line that says it."""
        kind = "allow_once" if self._allow else "reject_once"
        title = request.title if isinstance(request, v2.RequestPermissionRequest) else request.tool_call.title
        chosen = next((each for each in request.options if each.kind == kind), None)
        self._view.note("asked", f"{title} {chosen.name if chosen else 'Cancelled'}")
        outcome = {"outcome": "selected", "optionId": chosen.option_id} if chosen else {"outcome": "cancelled"}
        wire = v2 if isinstance(request, v2.RequestPermissionRequest) else v1
        return decode(wire.RequestPermissionResponse, {"outcome": outcome})

    async def read(self, request: v1.ReadTextFileRequest, _: Connection) -> v1.ReadTextFileResponse:
        """A file of the project, or some lines of it."""
        with _refusals():
            text = await anyio.Path(self._roots.resolve(request.path)).read_text()
        if request.line is not None or request.limit is not None:
            first = max((request.line or 1) - 1, 0)
            end = None if request.limit is None else first + request.limit
            text = "".join(text.splitlines(keepends=True)[first:end])
        return v1.ReadTextFileResponse(content=text)

    async def write(self, request: v1.WriteTextFileRequest, _: Connection) -> None:
        """Write a file of the project."""
        with _refusals():
            await anyio.Path(self._roots.resolve(request.path)).write_text(request.content)


@contextmanager
def _refusals() -> Generator[None]:
    """What goes wrong with a file is the answer to who asked for it."""
    try:
        yield
    except FileNotFoundError:
        raise RequestError(NOT_FOUND, "there is no such file") from None
    except (OSError, UnicodeError) as error:
        raise InvalidParams(f"path: {error}") from error


def _ignore(_: str) -> None:
    """Nobody waits for it."""
