"""`mcp-launch call`: calls one tool of one server with the arguments that were typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

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
    """Where the servers are, the name of one of them, the tool, and its arguments.

    The words are `[FILE|URL] [SERVER] TOOL [NAME=VALUE]...`. With a command behind -- there is no FILE or URL, and with
    `tool`, which --tool gave, no TOOL.

    Raises:
        UnusableInput: no tool is named.
    """
    places = [] if has_command else list(words[:1])
    rest = list(words[len(places) :])
    names = list(takewhile(lambda word: "=" not in word, rest))
    if not names and tool is None:
        raise UnusableInput("no tool was named: call FILE [SERVER] TOOL name=value ..., or call TOOL ... -- COMMAND")
    # Only a file may hold several servers. Elsewhere a further name is refused as an argument without a value.
    has_several = "-" in places or bool(Typed(servers=places).files)
    has_server = has_several and len(names) > (1 if tool is None else 0)
    server = rest.pop(0) if has_server else None
    return places, server, rest.pop(0) if tool is None else tool, rest
