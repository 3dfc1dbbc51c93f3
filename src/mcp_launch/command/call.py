"""`mcp-launch call`: calls one tool of one server with the arguments that were typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mcp_launch.command.ahead import started_ahead
from mcp_launch.command.explore.choosing import chosen
from mcp_launch.command.inputs import Typed
from mcp_launch.command.inputs.files import text_of
from mcp_launch.command.inputs.read import read_inputs
from mcp_launch.failures import UnusableInput

__all__ = ["Call", "call", "read_words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Which tool is to be called, and with what."""

    server: str | None
    """Its name; None means the only one there is."""
    tool: str
    words: Sequence[str] = field(default=(), repr=False)
    """The arguments as typed: `name=value`."""
    whole: str | None = field(default=None, repr=False)
    """All arguments as a JSON object, or `@FILE` with one."""
    checked: bool = True
    """Whether arguments that the schema does not allow are refused here."""


def call(
    typed: Typed,
    meant: Call,
    *,
    timeout: float,
    wait: float | None,
    save: str | None,
    as_json: bool,
    verbose: bool,
    show_secrets: bool,
) -> int:
    """Call the tool and print its answer; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or the answer not be written.
        SystemExit: a signal came.
    """
    if meant.whole == "-":
        if "-" in typed.servers:
            raise UnusableInput("standard input holds the servers already; give the arguments as --args @FILE")
        meant = replace(meant, whole=text_of("-", source="standard input"))
    session = chosen(read_inputs(typed), meant.server, tool=meant.tool)
    with started_ahead([session]):
        # Imported late: it takes time, in which the server gets going.
        from mcp_launch.command.explore.calling import call_once  # noqa: PLC0415

        return call_once(
            session,
            meant,
            timeout=timeout,
            wait=wait,
            save=save,
            as_json=as_json,
            verbose=verbose,
            show_secrets=show_secrets,
        )


def read_words(
    words: Sequence[str], *, tool: str | None = None, has_command: bool
) -> tuple[list[str], str | None, str, list[str]]:
    """Where the servers are, which of them is meant, the tool, and its arguments.

    That is `[FILE|URL] [SERVER] TOOL [NAME=VALUE]...`: behind -- stands a server too, and instead of the first. A tool
    that was named otherwise is not among them.

    Raises:
        UnusableInput: there is no tool among them.
    """
    places = [] if has_command else list(words[:1])
    rest = list(words[len(places) :])
    names = next((number for number, word in enumerate(rest) if "=" in word), len(rest))
    if not names and tool is None:
        raise UnusableInput("no tool was named: call FILE [SERVER] TOOL name=value ..., or call TOOL ... -- COMMAND")
    # Only a file may hold several servers. One word too many is an argument without a value, and said to be that.
    several = "-" in places or Typed(servers=places).files
    server = rest[0] if several and names > (tool is None) else None
    rest = rest if server is None else rest[1:]
    return (places, server, rest[0], rest[1:]) if tool is None else (places, server, tool, rest)
