"""What is known of one server, from its entry in the request to its end; its owner writes, everyone else reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio

from mcp_launch.failures import LaunchFailure, Stage
from mcp_launch.options import Options
from mcp_launch.specs import ServerSpec

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool

__all__ = ["Record", "State"]

State: TypeAlias = Literal["starting", "ready", "failed", "closed"]


@dataclass(slots=True, kw_only=True)
class Record:
    """The state of one server and the evidence of how it got there."""

    name: str
    spec: ServerSpec | None
    """None for an entry that did not parse."""
    options: Options = field(default_factory=Options)
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
    tools: list[Tool] | None = None
    failure: LaunchFailure | None = None
    settled: anyio.Event = field(default_factory=anyio.Event)
    """Set once it is ready or has failed."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """Set when its session is to end, by whoever notices first."""
    wanted: bool = True
    """False once the launch is ending: what happens then is no failure."""
    scope: anyio.CancelScope = field(default_factory=lambda: anyio.CancelScope(shield=True))
    """Around its owner. Shielded, because a cancelled launch still ends its servers in order."""

    def enter(self, stage: Stage) -> None:
        """The stage before is over, this one begins."""
        now = anyio.current_time()
        if self.stage != "spec":
            self.times[self.stage] = self.times.get(self.stage, 0.0) + now - self.stage_began
        self.stage, self.stage_began = stage, now

    def warn(self, warning: str) -> None:
        """Keep what the user should know of a server that works all the same; said once."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def ready(self) -> None:
        """It can be used."""
        self.enter("call")
        self.state = "ready"
        self.settled.set()

    def fail(self, failure: LaunchFailure) -> None:
        """It cannot be used, or no longer."""
        failure.elapsed = anyio.current_time() - self.began
        self.state, self.failure = "failed", failure
        self.settled.set()

    def end(self) -> None:
        """Ask the owner to close it, and to give up what is not finished."""
        self.wanted = False
        self.over.set()
        if self.state == "starting":
            self.scope.cancel()

    def close(self) -> None:
        """It was ended because it is no longer needed."""
        if self.state != "failed":
            self.state = "closed"
        self.settled.set()
