"""What happens to the servers of a fleet, as it happens: to show progress, and to notice what dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import anyio

from mcp_launch._spec import ServerSpec
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Budgets, Listing, Options, Transports
from mcp_launch.report import Stage, State, TransportName

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Prompt, Resource, ResourceTemplate, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A server came into another state, or into the next stage of its start."""

    server: str
    state: State
    stage: Stage
    """How far it got."""
    elapsed: float
    """Seconds since it was started, the last time if it was restarted."""
    failure: LaunchFailure | None = None
    """Why it cannot be used, if it has failed."""


class Changes:
    """The changes from some moment on, in order, for one reader: `async for change in fleet.changes()`.

    The iteration ends with the fleet.
    """

    def __init__(self, so_far: list[Change]) -> None:
        self._unread = deque(so_far)
        self._news = anyio.Event()
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
        self._wake()

    def end(self) -> None:
        """Note that no more will come."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


@dataclass(slots=True, kw_only=True)
class Offer:
    """What a server listed; None for what it was not asked for, or could not tell, or not yet."""

    tools: list[Tool] | None = None
    resources: list[Resource] | None = None
    resource_templates: list[ResourceTemplate] | None = None
    prompts: list[Prompt] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are, of those that were listed."""
        listed = {
            "tools": self.tools,
            "resources": self.resources,
            "resource_templates": self.resource_templates,
            "prompts": self.prompts,
        }
        return {kind: len(items) for kind, items in listed.items() if items is not None}


def _to_nobody(_change: Change) -> None:
    """Nobody wants to know."""


@dataclass(slots=True, kw_only=True, eq=False)
class Record:
    """The state of one server and the evidence of how it got there."""

    name: str
    spec: ServerSpec | None
    """None for an entry that did not parse."""
    meant: TransportName | None = None
    """The transport that such an entry was to have, if that can be told."""
    options: Options = field(default_factory=Options)
    tell: Callable[[Change], None] = _to_nobody
    """Takes each change."""
    state: State = "starting"
    stage: Stage = "spec"
    """How far it got."""
    began: float = field(default_factory=anyio.current_time)
    stage_began: float = field(default_factory=anyio.current_time)
    times: dict[Stage, float] = field(default_factory=dict[Stage, float])
    """Seconds spent in each stage that is over."""
    warnings: list[str] = field(default_factory=list[str])
    client: Client | None = None
    protocol_version: str | None = None
    server: dict[str, str] | None = None
    """The name and version the server gives itself."""
    capabilities: dict[str, Any] | None = None
    """What the server says that it can do."""
    offer: Offer = field(default_factory=Offer)
    """What it listed, the last time."""
    failure: LaunchFailure | None = None
    restarts: int = 0
    """How often it was started again after it had died."""
    settled: anyio.Event = field(default_factory=anyio.Event)
    """Set once it is ready or has failed; another one from the end of its session until it is known why."""
    again: anyio.Event | None = None
    """Set once it is started again, or never will be; there since it was ready, if it is restarted."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """Set when its session is to end, by whoever notices first."""
    wanted: bool = True
    """False once it is to be closed: what happens then is no failure."""
    scope: anyio.CancelScope = field(default_factory=lambda: anyio.CancelScope(shield=True))
    """Around its owner. Shielded, because a cancelled launch still ends its servers in order."""
    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set once nothing of it is left."""

    @property
    def transport(self) -> TransportName | None:
        """How it is reached."""
        return self.spec.transport if self.spec else self.meant

    def enter(self, stage: Stage) -> None:
        """The stage before is over, this one begins."""
        now, before = anyio.current_time(), self.stage
        if before != "spec":
            self.times[before] = self.times.get(before, 0.0) + now - self.stage_began
        self.stage, self.stage_began = stage, now
        if self.state == "starting" and stage not in (before, "call"):
            self._tell()

    def warn(self, warning: str) -> None:
        """Keep what the user should know of a server that works all the same; said once."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def ready(self) -> None:
        """It can be used."""
        self.enter("call")
        if self.options.restart and self.again is None:
            self.again = anyio.Event()
        self._become("ready")

    def lose(self) -> None:
        """Its session is over; what becomes of it, closed or failed, is not settled yet."""
        self.client = None
        if self.settled.is_set():
            self.settled = anyio.Event()

    def fail(self, failure: LaunchFailure) -> None:
        """It cannot be used, or no longer."""
        failure.forget_variables()
        failure.elapsed = anyio.current_time() - self.began
        # The transport may know better where that was; then the stage is not over.
        self.stage = failure.stage
        self.times.pop(failure.stage, None)
        self.failure = failure
        self._become("failed")

    def start_again(self) -> None:
        """It died, and is given another life; what it was in the last one no longer holds.

        Only what it listed is kept until it lists again: whoever calls a tool of it hears that it is starting, and not
        that there is no such tool.
        """
        self.restarts += 1
        self.failure = self.protocol_version = self.server = self.capabilities = None
        self.began = self.stage_began = anyio.current_time()
        self.stage, self.times = "spec", {}
        self.settled, self.over = anyio.Event(), anyio.Event()
        again, self.again = self.again, anyio.Event()
        self._become("starting")
        if again:
            again.set()

    def end(self) -> None:
        """Ask the owner to close it, and to give up what is not finished."""
        self.wanted = False
        self.over.set()
        if self.state == "starting":
            self.scope.cancel()

    def close(self) -> None:
        """Nothing of it is left; if it did not fail, that is because it was no longer needed."""
        if self.state != "failed":
            self._become("closed")
        if self.again:
            self.again.set()
        self.ended.set()

    def change(self) -> Change:
        """How it is with it now."""
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
    """The part of a launch that every server needs to know."""

    cwd: str
    """The session's working directory, absolute."""
    budgets: Budgets
    lists: Collection[Listing]
    """What is listed before a server counts as ready."""
    transports: Transports | None
    """Those that the agent advertised; None for all."""
    importing: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the server that imports the SDK for all."""
