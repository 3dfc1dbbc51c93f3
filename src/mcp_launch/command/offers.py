"""`mcp-launch tools`, `resources` and `prompts`: starts all servers and lists what each offers of that kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_launch.command.ahead import started_ahead
from mcp_launch.command.inputs import Typed
from mcp_launch.command.inputs.read import read_inputs

if TYPE_CHECKING:
    from mcp_launch.terms import Listing

__all__ = ["offers"]


def offers(typed: Typed, kind: Listing, *, timeout: float, as_json: bool, verbose: bool) -> int:
    """Print what the servers that are meant offer of a kind; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or standard output not be written to.
        SystemExit: a signal came.
    """
    sessions = read_inputs(typed)
    with started_ahead(sessions):
        # Imported late: it takes time, in which the servers get going.
        from mcp_launch.command.explore.listing import list_all  # noqa: PLC0415

        return list_all(sessions, kind, timeout=timeout, as_json=as_json, verbose=verbose)
