"""A report for people: a line for each server on standard output, and warnings on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from mcp_launch.report import Report, ServerReport

__all__ = ["print_lines", "printable"]


def print_lines(found: Report) -> None:
    """Print how each server fared."""
    console = Console(highlight=False, soft_wrap=True)
    errors = Console(highlight=False, soft_wrap=True, stderr=True)
    servers = found["servers"]
    width = max((len(server["name"]) for server in servers), default=0)
    if not servers:
        console.print("no servers")
    for server in servers:
        name = Text(printable(server["name"]).ljust(width), style="bold")
        kind = Text((server["transport"] or "?").ljust(5), style="dim")
        console.print(_mark(server), name, kind, Text(printable(_outcome(server))))
        for warning in server["warnings"]:
            errors.print(Text(printable(f"warning: {server['name']}: {warning}"), style="yellow"))


def printable(text: str) -> str:
    """The text without what could move the cursor or recolour the terminal: servers write it."""
    return "".join(char if char.isprintable() else " " for char in text)


def _mark(server: ServerReport) -> Text:
    return Text("ok  ", style="green") if server["failure"] is None else Text("FAIL", style="red")


def _outcome(server: ServerReport) -> str:
    if failure := server["failure"]:
        return f"{failure['code']} in {failure['stage']} after {failure['elapsed']:.1f} s: {failure['message']}"
    tools = [tool["name"] for tool in server["tools"] or ()]
    count = "no tools" if not tools else f"{len(tools)} tool{'s' if len(tools) > 1 else ''}: {', '.join(tools)}"
    return f"{count} ({sum(server['seconds'].values()):.1f} s)"
