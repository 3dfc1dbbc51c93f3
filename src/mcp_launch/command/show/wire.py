"""`--verbose`: shows on standard error every message to and from the servers, and what they write to theirs."""

from __future__ import annotations

from dataclasses import replace

from mcp_launch.command.show.text import printable, remark
from mcp_launch.options import Direction, Options

__all__ = ["with_traffic"]

_ARROWS: dict[Direction, str] = {"sent": "->", "received": "<-"}


def with_traffic(options: Options) -> Options:
    """The options with callbacks that show messages and standard error."""
    return replace(options, stderr=_show_stderr, traffic=_show_message)


def _show_message(server: str, direction: Direction, line: str) -> None:
    remark((f"{printable(server)} {_ARROWS[direction]}", "cyan"), printable(line))


def _show_stderr(server: str, line: str) -> None:
    remark((f"{printable(server)} !!", "magenta"), printable(line))
