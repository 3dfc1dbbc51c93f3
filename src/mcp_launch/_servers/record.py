"""The state of each server of a fleet, and its changes for readers that show progress or notice failures."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import anyio

from acp_bindings._condition import Condition
from mcp_launch._spec import ServerSpec
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Budgets, Listing, Options, Transports
from mcp_launch.report import Stage, State, TransportName

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Prompt, Resource, ResourceTemplate, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A server entered another state, or the next stage of its start."""

    server: str
    state: State
    stage: Stage
    """The stage that it has reached."""
    elapsed: float
    """Seconds since its last start."""
    failure: LaunchFailure | None = None
    """The failure, if it has failed."""


class Changes:
    """Changes in order, for one reader: `async for change in fleet.changes()`.

    The iteration ends with the fleet.
    """

    def __init__(self, so_far: list[Change]) -> None:
        self._unread = deque(so_far)
        self._news = Condition()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        while not self._unread:
            if self._ended:
                raise StopAsyncIteration
            await self._news.wait()
        return self._unread.popleft()

    def add(self, change: Change) -> None:
        """Add one more change."""
        self._unread.append(change)
        self._news.notify_all()

    def end(self) -> None:
        """End the iteration after the changes so far."""
        self._ended = True
        self._news.notify_all()


@dataclass(slots=True, kw_only=True)
class Offer:
    """The lists of a server; None for a list that it was not asked for or could not provide."""

    tools: list[Tool] | None = None
    resources: list[Resource] | None = None
    resource_templates: list[ResourceTemplate] | None = None
    prompts: list[Prompt] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of items of each list."""
        listed = {each.name: getattr(self, each.name) for each in fields(self)}
        return {kind: len(items) for kind, items in listed.items() if items is not None}


@dataclass(slots=True, kw_only=True, eq=False)
class Record:
    """The state of one server, and how it got there."""

    name: str
    spec: ServerSpec | None
    """None for an entry that did not parse."""
    meant: TransportName | None = None
    """The transport that such an entry most likely means."""
    options: Options = field(default_factory=Options)
    tell: Callable[[Change], object] = lambda _: None
    """Called with each change."""
    state: State = "starting"
    stage: Stage = "spec"
    """The stage that it has reached."""
    began: float = field(default_factory=anyio.current_time)
    stage_began: float = field(default_factory=anyio.current_time)
    times: dict[Stage, float] = field(default_factory=dict[Stage, float])
    """Seconds spent in each finished stage."""
    warnings: list[str] = field(default_factory=list[str])
    client: Client | None = None
    protocol_version: str | None = None
    server: dict[str, str] | None = None
    """The name and version that the server reports."""
    capabilities: dict[str, Any] | None = None
    """The capabilities of the server."""
    offer: Offer = field(default_factory=Offer)
    """The lists, as last received."""
    failure: LaunchFailure | None = None
    restarts: int = 0
    """The number of restarts after it died."""
    settled: anyio.Event = field(default_factory=anyio.Event)
    """Set once it is ready or has failed. Replaced when its session ends, until the reason is known."""
    again: anyio.Event | None = None
    """Set when it is restarted or will not be; exists from when it was ready, if the options allow restarts."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """Set when its session must end, by whichever task notices first. Each session has a new one."""
    wanted: bool = True
    """False once it is being closed; errors after that are not failures."""
    scope: anyio.CancelScope = field(default_factory=lambda: anyio.CancelScope(shield=True))
    """The scope of its owner. Shielded, because a cancelled launch still closes its servers in order."""
    gone: bool = False
    """True once it is completely closed."""
    ended: anyio.Event | None = None
    """Set then; exists while a task waits for it."""

    @property
    def transport(self) -> TransportName | None:
        """The transport of the server."""
        return self.spec.transport if self.spec else self.meant

    def enter(self, stage: Stage) -> None:
        """Finish the current stage and begin this one."""
        now, before = anyio.current_time(), self.stage
        if before != "spec":
            self.times[before] = self.times.get(before, 0.0) + now - self.stage_began
        self.stage, self.stage_began = stage, now
        if self.state == "starting" and stage not in (before, "call"):
            self._tell()

    def warn(self, warning: str) -> None:
        """Add a warning, unless there is the same one already."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def ready(self) -> None:
        """Mark it as ready."""
        self.enter("call")
        if self.options.restart and self.again is None:
            self.again = anyio.Event()
        self._become("ready")

    def lose(self) -> None:
        """Mark its session as over; whether it is closed or failed is not known yet."""
        self.client = None
        if self.settled.is_set():
            self.settled = anyio.Event()

    def fail(self, failure: LaunchFailure) -> None:
        """Mark it as failed."""
        failure.forget_variables()
        failure.elapsed = anyio.current_time() - self.began
        # The transport may know the stage better; that stage is then not finished.
        self.stage = failure.stage
        self.times.pop(failure.stage, None)
        self.failure = failure
        self._become("failed")

    def start_again(self) -> None:
        """Reset the record for a restart.

        The lists are kept until it lists again, so that a call of one of its tools fails because the server is
        starting and not because the tool is unknown.
        """
        self.restarts += 1
        self.failure = self.protocol_version = self.server = self.capabilities = None
        self.began = self.stage_began = anyio.current_time()
        self.stage, self.times = "spec", {}
        self.settled = anyio.Event()
        again, self.again = self.again, anyio.Event()
        self._become("starting")
        if again:
            again.set()

    def end(self) -> None:
        """Ask the owner to close it, and cancel it if it is still starting."""
        self.wanted = False
        self.over.set()
        if self.state == "starting":
            self.scope.cancel()

    def close(self) -> None:
        """Mark it as closed, unless it has failed."""
        if self.state != "failed":
            self._become("closed")
        if self.again:
            self.again.set()
        self.gone = True
        if self.ended:
            self.ended.set()

    def change(self) -> Change:
        """Return its current state as a change."""
        elapsed = anyio.current_time() - self.began
        return Change(server=self.name, state=self.state, stage=self.stage, elapsed=elapsed, failure=self.failure)

    def _become(self, state: State) -> None:
        self.state = state
        if state != "starting":
            self.settled.set()
        self._tell()

    def _tell(self) -> None:
        self.tell(self.change())


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The arguments of a launch that every server needs."""

    cwd: str
    """The absolute working directory of the session."""
    budgets: Budgets
    lists: Collection[Listing]
    """The lists that a server must provide before it is ready."""
    transports: Transports | None
    """The transports that the agent advertised; None for all."""
    importing: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while one server imports the SDK for all."""
