"""The three transports. Each gives the SDK its two streams, and explains why they ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcp_launch._diagnosis import Diagnosis
from mcp_launch.failures import Code
from mcp_launch.options import Budgets, Options

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

    from mcp_launch._transports.era import Probe
    from mcp_launch._transports.messages import Reader


DOUBTFUL: frozenset[Code] = frozenset(("method_not_allowed", "not_found", "http_error", "not_mcp"))
"""Failures after which the other transport is tried, to say whether the URL speaks that."""

TRIAL = 2.0
"""Seconds for trying the other transport."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportTerms:
    """What every transport needs from the owner of its server."""

    options: Options
    budgets: Budgets
    on_lost: Callable[[], None]
    """Called when the session must end."""
    give_up: Callable[[], None]
    """Called if the session cannot be opened."""
    warn: Callable[[str], None]
    """Called with each problem that does not stop the server, perhaps several times."""


class Transport(Protocol):
    """A connection to one server."""

    reader: Reader
    """Reads the messages of the server and counts them."""

    @property
    def probe(self) -> Probe | None:
        """Limits the wait for the newer era, if the transport has that."""
        ...

    def open(self) -> Streams:
        """Connect the SDK's two streams to the server, and close everything when the block ends."""
        ...

    def note_initialized(self) -> None:
        """Note that the session is initialized."""
        ...

    def noise(self) -> str | None:
        """Return what the server has written that is not a message since the last request, if anything."""
        ...

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Return why the block ended, after its end; None if the transport does not know a reason.

        `waited` is the number of seconds of the budget that was exceeded, if one was. `answered` is true if the problem
        is a response of the server.
        """
        ...
