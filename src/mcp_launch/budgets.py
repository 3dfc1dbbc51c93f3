"""How long each stage of a server may take, so that nothing here waits for ever."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mcp_launch.numbers import refuse_no_numbers

__all__ = ["Budgets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Seconds for each stage; the `timeout` of a launch bounds connect, handshake and list together.

    Raises:
        UnusableInput: one of them is negative, or no number.
    """

    connect: float = 10.0
    """Until an HTTP connection stands, or an SSE server has named its endpoint."""
    handshake: float = 30.0
    """Until the session is initialised. A first `npx` or `uvx` run downloads its package in this time."""
    probe: float = 0.7
    """Until the probe of the 2026-07-28 era is answered, from when the server has received it; then the older handshake
    is tried."""
    list: float = 15.0
    """Until the tools are listed."""
    call: float = 300.0
    """From a request on a ready session to its response, including the time for writing it and for waiting for a
    connection. Each call can ask for another time."""
    validate: float = 5.0
    """For validating the result of a tool against its output schema; a schema that takes longer is rejected."""
    close: float = 5.0
    """Until the server is gone. Half of it is for leaving by itself, the rest for SIGTERM and SIGKILL."""

    def __post_init__(self) -> None:
        refuse_no_numbers(**{each.name: getattr(self, each.name) for each in fields(self)})
