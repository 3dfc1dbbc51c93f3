"""`mcp-launch shell`: starts one server and does with it what is typed at a prompt, or comes from a pipe."""

from __future__ import annotations

from mcp_launch.command.ahead import started_ahead
from mcp_launch.command.explore.choosing import chosen
from mcp_launch.command.inputs import Typed
from mcp_launch.command.inputs.read import read_inputs
from mcp_launch.failures import UnusableInput

__all__ = ["shell"]


def shell(
    typed: Typed, server: str | None, *, timeout: float, save: str | None, verbose: bool, show_secrets: bool
) -> int:
    """Explore the server of that name, or the only one if that is None; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or standard output not be written to.
        SystemExit: a signal came.
    """
    if "-" in typed.servers:
        raise UnusableInput("standard input is what is typed at the prompt; give FILE by its name")
    session = chosen(read_inputs(typed), server)
    with started_ahead([session]):
        # Imported late: it takes time, in which the server gets going.
        from mcp_launch.command.explore.exploring import explore  # noqa: PLC0415

        return explore(session, timeout=timeout, save=save, verbose=verbose, show_secrets=show_secrets)
