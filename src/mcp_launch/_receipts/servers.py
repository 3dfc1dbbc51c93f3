"""One MCP server behind a relay: what the agent does with it, and why it failed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings._processes.process import LineBuffer, Tail, uncoloured
from acp_bindings._tap.forwarding import HEADER, MOST
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.process import Seen, diagnose_process
from mcp_launch._receipts.observer import Observer
from mcp_launch._spec import ServerSpec, StdioServer
from mcp_launch._transports.messages import Reader
from mcp_launch._transports.stdio import Stdout, trimmed
from mcp_launch.failures import LaunchFailure, Phrases
from mcp_launch.fleet import launch
from mcp_launch.options import Budgets, Limits

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

BUDGETS = Budgets(connect=5, handshake=5, list=5, close=1)
PATIENCE = 15.0
HASTE = 0.8
"""Seconds for a server for which the agent has waited already."""
_EARLY = 1.0
"""Seconds within which an agent that ends a server has not given up on it, but has itself been told to end."""
_ENDED_BY_AGENT = frozenset(-number for number in (signal.SIGINT, signal.SIGTERM))
"""The statuses of a process that its agent has ended."""


class Relayed:
    """A server of a session."""

    def __init__(
        self,
        spec: ServerSpec,
        entry: object,
        *,
        cwd: str,
        tasks: TaskGroup,
        tell: Callable[[Mapping[str, Any]], object],
    ) -> None:
        self.spec = spec
        self._entry = entry
        self._cwd = cwd
        self._tasks = tasks
        self._tell = tell
        self.opened = False
        """True if the agent has connected to the relay."""
        self.at_end: Callable[[], object] = lambda: None
        """Called when the relays end."""
        self._failing = False
        """True after a failure, until it works again."""

    def observer(self) -> Observer:
        """Return the observer of a new connection."""
        self.opened = True
        return Observer(self.tell, refused=self.check)

    def tell(self, event: str, **facts: Any) -> None:
        """Report an event."""
        if event == "started":
            self._failing = False
        self._tell({"server": self.spec.name, "event": event, **facts})

    def fail(self, failure: LaunchFailure) -> None:
        """Report a failure, once until the server works again."""
        if not self._failing:
            self._failing = True
            self.tell("failed", **facts_of(failure))

    def check(self, *, seconds: float = PATIENCE) -> None:
        """Find out why the server failed for the agent, by launching it again."""
        if not self._failing:
            self._failing = True
            self._tasks.start_soon(self._launch, seconds)

    async def _launch(self, seconds: float) -> None:
        async with launch([self._entry], cwd=self._cwd, timeout=seconds, budgets=BUDGETS) as fleet:
            failures = fleet.failures
        if not (failures or self._failing):
            return  # it has started for the agent meanwhile
        message = "failed for the agent, but works when mcp-launch starts it; see the messages of the agent"
        works = LaunchFailure(message, server=self.spec.name, stage="handshake", code="failed")
        self._failing = False
        self.fail(failures[0] if failures else works)


def facts_of(failure: LaunchFailure) -> dict[str, Any]:
    """Return what a receipt contains of a failure."""
    return {"stage": failure.stage, "code": failure.code, "message": failure.message, "advice": failure.advice}


class Process:
    """The connection of a relay, which runs the process of a stdio server."""

    def __init__(self, server: Relayed, spec: StdioServer) -> None:
        self._server = server
        self._spec = spec
        self._observer = server.observer()
        self._lines = {kind: LineBuffer(limit=Limits().bytes) for kind in (b"c", b"a")}
        self._stdout = Stdout(Reader(Limits()), hide=spec.redactor, warn=lambda _: None, awaited=lambda _: False)
        self._stderr = Tail()
        self._pid: int | None = None
        self._closed_first: bytes | None = None
        """The stream that ended first: `c` if the agent has closed the input of the server."""

    async def follow(self, stream: BufferedByteReceiveStream) -> None:
        """Observe the process until its relay ends."""
        while frame := await next_frame(stream):
            kind, data = frame
            match kind:
                case b"e":
                    self._stderr.add(data)
                case b"c" | b"a":
                    if not data:
                        self._closed_first = self._closed_first or kind
                    for line in self._lines[kind].feed(data):
                        await self._hear(kind, trimmed(line))
                case b"s":
                    self._pid = int(data)
                case b"n":
                    self._server.check()
                    return
                case b"x":
                    self._end(int(data))
                    return
                case _:
                    pass
        # The agent has killed the relay. It would have killed the server.
        if self._pid is not None:
            with suppress(OSError):
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            self._end(0)

    async def _hear(self, kind: bytes, line: bytes) -> None:
        if kind == b"c":
            self._stdout.sent(line)
            self._observer.sent(line)
        else:
            await self._stdout.read(line)
            self._observer.received(line)
            if self._stdout.only_echoes:
                self._fail(waited=self._observer.seconds)

    def _end(self, status: int) -> None:
        gave_up = self._closed_first == b"c" or status in _ENDED_BY_AGENT
        is_idle = self._observer.started and not self._observer.is_listing
        if (gave_up and (is_idle or self._observer.seconds < _EARLY)) or (status == 0 and is_idle):
            self._server.tell("ended", exitStatus=status)
        elif gave_up:
            self._fail(waited=self._observer.seconds)
        else:
            self._fail(status=status)

    def _fail(self, *, waited: float | None = None, status: int | None = None) -> None:
        spec, observer = self._spec, self._observer
        seen = Seen(
            spec=spec,
            phrases=Phrases(),
            spoke=self._stdout.spoke,
            stray=self._stdout.stray,
            logged=self._stdout.logged(),
            echoes=self._stdout.echoes,
            only_echoes=self._stdout.only_echoes,
            unfinished=uncoloured(trimmed(self._lines[b"a"].begun).decode(errors="replace")),
            gave_up_at=Limits().bytes if self._lines[b"a"].overflowed else None,
            stderr=[uncoloured(line) for line in self._stderr.lines()],
            status=status,
        )
        found = diagnose_process(seen, waited=waited) or Diagnosis("disconnected", "the connection was closed")
        self._server.fail(found.failure(spec.name, stage=observer.stage, hide=spec.redactor))


async def next_frame(stream: BufferedByteReceiveStream) -> tuple[bytes, bytes] | None:
    """Return the kind and the data of the next frame from a relay; None at the end."""
    with suppress(anyio.IncompleteRead, anyio.BrokenResourceError, anyio.EndOfStream):
        kind, _, size = HEADER.unpack(await stream.receive_exactly(HEADER.size))
        if size <= MOST:
            return kind, await stream.receive_exactly(size) if size else b""
    return None
