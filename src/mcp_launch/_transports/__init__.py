"""The three ways to reach a server. Each gives the SDK its two streams, and remembers why they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from mcp_launch._diagnosis import Diagnosis
from mcp_launch.failures import Code

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

    from mcp_launch._transports.messages import Reader


Mode: TypeAlias = Literal["auto", "legacy"]
"""How `mcp.Client` negotiates: `auto` tries the 2026-07-28 era first, `legacy` goes straight to `initialize`."""

DOUBTFUL: frozenset[Code] = frozenset(("method_not_allowed", "not_found", "http_error", "not_mcp"))
"""Failures after which it is worth a question whether a URL speaks the other transport."""

TRIAL = 2.0
"""Seconds for the answer to that."""

LONGEST = 64 * 1024 * 1024
"""Bytes of a message; one that goes on is given up before it fills the memory."""


class Transport(Protocol):
    """A connection to one server."""

    warnings: list[str]
    """What the user should know although it works."""
    reader: Reader
    """Reads the messages of the server, and knows how much there was."""

    def open(self) -> Streams:
        """A block in which the SDK's two streams are connected to the server; at its end all is closed."""
        ...

    def prove(self) -> None:
        """Say that the session is initialised."""
        ...

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the block ended, asked after it; None when the transport saw nothing wrong.

        `waited` are the seconds of the budget that was used up, if one was; `answered` says that the server did speak
        MCP at the end, and what it said was the trouble.
        """
        ...
