"""Prints a report for people: a line for each server on standard output, and warnings on standard error."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_launch.command.show.findings import of_files, of_server, shown
from mcp_launch.command.show.text import Styled, printable, remark, write
from mcp_launch.shapes import CheckReport, FindingReport, ServerReport

__all__ = ["print_findings", "print_lines", "remark_failure", "remark_warnings"]


def print_lines(found: CheckReport) -> None:
    """Print for each server whether it works.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    servers = found["servers"]
    width = max((len(server["name"]) for server in servers), default=0)
    print_findings(of_files(found))
    if not servers:
        write("no servers")
    for server in servers:
        write(*_line(server, width=width))
        print_findings(of_server(found, server))
        remark_warnings(server)


def remark_failure(server: ServerReport) -> None:
    """Say on standard error why a server cannot be used, where standard output is for other things."""
    remark(*_line(server))


def remark_warnings(server: ServerReport) -> None:
    """Say on standard error what the user should know of a server."""
    for warning in server["warnings"]:
        remark((printable(f"warning: {server['name']}: {warning}"), "yellow"))


def print_findings(findings: Iterable[FindingReport]) -> None:
    """Print what is odd in files, by its place."""
    for each in findings:
        remark((printable(shown(each)), "dim" if each["level"] == "note" else "yellow"))


def _line(server: ServerReport, *, width: int = 0) -> list[str | Styled]:
    mark = ("ok  ", "green") if server["failure"] is None else ("FAIL", "red")
    name = printable(server["name"]).ljust(width)
    kind = (server["transport"] or "?").ljust(5)
    return [mark, (name, "bold"), (kind, "dim"), printable(_outcome(server))]


def _outcome(server: ServerReport) -> str:
    if failure := server["failure"]:
        return f"{failure['code']} in {failure['stage']} after {failure['elapsed']:.1f} s: {failure['message']}"
    tools = [tool["name"] for tool in server["tools"] or ()]
    count = "no tools" if not tools else f"{len(tools)} tool{'s' if len(tools) > 1 else ''}: {', '.join(tools)}"
    return f"{count} ({sum(server['seconds'].values()):.1f} s)"
