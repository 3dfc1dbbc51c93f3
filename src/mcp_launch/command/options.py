"""The options that several subcommands share, and the completion of names of servers."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "Cwd",
    "Discover",
    "Env",
    "Header",
    "Json",
    "Only",
    "Save",
    "Servers",
    "ShowSecrets",
    "Sse",
    "Strict",
    "Timeout",
    "Trust",
    "Verbose",
    "Workspace",
    "complete_server",
]


def complete_server(context: typer.Context, incomplete: str) -> list[str]:
    """The names of servers in the files that were typed so far."""
    from mcp_launch.command.explore.choosing import names_in  # noqa: PLC0415

    typed = context.params
    several: list[str] = typed.get("servers") or []
    words: list[str] = typed.get("words") or []
    place: str | None = typed.get("place")
    places = [*several, *words[:1], *([place] if place else ())]
    # Behind the name of the server stands that of a tool, which only the running server knows. `context.args` is for an
    # option that still lacks its value: then typer has not yet assigned the other words to parameters.
    return [] if len(words) > 1 else [each for each in names_in(places or context.args) if each.startswith(incomplete)]


Servers = Annotated[list[str] | None, typer.Argument(metavar="FILE|URL", hidden=True)]
Header = Annotated[
    list[str] | None,
    typer.Option("--header", "-H", metavar="'NAME: VALUE'", help="A header for the server at the URL; repeatable."),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        "-e",
        metavar="NAME[=VALUE]",
        help="A variable for the server that is a COMMAND, or NAME alone for the value it has here; repeatable.",
    ),
]
Sse = Annotated[bool, typer.Option("--sse", help="The URL speaks the deprecated SSE transport.")]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Only the server of this name; repeatable.",
        autocompletion=complete_server,
    ),
]
Discover = Annotated[
    bool,
    typer.Option(
        "--discover",
        help="Also the files of all clients: yours, and those of the project here once you confirm them.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Start the servers of the project's files that --discover finds, without asking."),
]
Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        help="The project: what ${workspaceFolder} stands for, and of whose servers ~/.claude.json is read.",
    ),
]
Cwd = Annotated[
    str | None, typer.Option("--cwd", metavar="DIR", help="Working directory of the servers, instead of the file's.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="Seconds until all servers are ready.", min=0.1)
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Take warnings for failures, and refuse a command that is no absolute path."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Write the messages that go to and fro to standard error, without secrets."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Save = Annotated[
    str | None,
    typer.Option("--save", metavar="DIR", help="Save there what is no text, and resources too.  [default: .]"),
]
ShowSecrets = Annotated[
    bool, typer.Option("--show-secrets", help="Print results as they are, also where they repeat a secret.")
]
