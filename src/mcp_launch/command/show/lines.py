"""A report for people: a line for each server on standard output, and warnings on standard error."""

from __future__ import annotations

from mcp_launch.command.show.text import printable, remark, write
from mcp_launch.shapes import Report, ServerReport

__all__ = ["print_lines"]


def print_lines(found: Report) -> None:
    """Print how each server fared.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    servers = found["servers"]
    width = max((len(server["name"]) for server in servers), default=0)
    if not servers:
        write("no servers")
    for server in servers:
        mark = ("ok  ", "green") if server["failure"] is None else ("FAIL", "red")
        name = printable(server["name"]).ljust(width)
        kind = (server["transport"] or "?").ljust(5)
        write(mark, (name, "bold"), (kind, "dim"), printable(_outcome(server)))
        for warning in server["warnings"]:
            remark((printable(f"warning: {server['name']}: {warning}"), "yellow"))


def _outcome(server: ServerReport) -> str:
    if failure := server["failure"]:
        return f"{failure['code']} in {failure['stage']} after {failure['elapsed']:.1f} s: {failure['message']}"
    tools = [tool["name"] for tool in server["tools"] or ()]
    count = "no tools" if not tools else f"{len(tools)} tool{'s' if len(tools) > 1 else ''}: {', '.join(tools)}"
    return f"{count} ({sum(server['seconds'].values()):.1f} s)"
