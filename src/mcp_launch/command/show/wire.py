"""What goes to and fro between us and the servers, and what they write besides, as it happens, on standard error."""

from __future__ import annotations

from mcp_launch.command.show.text import printable, remark
from mcp_launch.options import Direction

__all__ = ["show_message", "show_stderr"]

_ARROWS: dict[Direction, str] = {"sent": "->", "received": "<-"}


def show_message(server: str, direction: Direction, line: str) -> None:
    """Show one message."""
    remark((f"{printable(server)} {_ARROWS[direction]}", "cyan"), printable(line))


def show_stderr(server: str, line: str) -> None:
    """Show one line of a server's standard error."""
    remark((f"{printable(server)} !!", "magenta"), printable(line))
