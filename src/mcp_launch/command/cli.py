"""What can be typed, and its help; whatever does the work is imported when it is asked for."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mcp_launch.command.light import LightCommand, LightGroup

__all__ = ["app", "main"]

app = typer.Typer(
    cls=LightGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: rich's takes longer to import than all that is needed to start a server.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

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
    list[str] | None, typer.Option("--only", metavar="NAME", help="Only the server of this name; repeatable.")
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


def main() -> None:
    """Run the command with what was typed, and end with its status."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # Names that the terminal cannot show are no reason to show nothing.
        reconfigure(errors="backslashreplace")
    typed = sys.argv[1:]
    # What stands behind it is a command of its own, and none of typer's business.
    end = typed.index("--") if "--" in typed else len(typed)
    command = typed[end + 1 :] if end < len(typed) else None
    from acp_bindings._standard import written_by  # noqa: PLC0415
    from mcp_launch.failures import UnusableInput  # noqa: PLC0415

    with written_by("mcp-launch"):
        try:
            app(typed[:end], prog_name="mcp-launch", obj=command)
        except UnusableInput as error:
            from mcp_launch.command.show.text import complain  # noqa: PLC0415

            complain(str(error))
            raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"mcp-launch {version('acp-bindings')}")
        raise typer.Exit


@app.callback()
def mcp_launch(
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """See whether MCP servers work, and why not."""


@app.command(cls=LightCommand)
def check(
    context: typer.Context,
    servers: Servers = None,
    *,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write the result as JUnit XML, for CI.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Also write all of it as one page of HTML.")
    ] = None,
    verbose: Verbose = False,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever a FILE changes, until Ctrl-C.")] = False,
) -> None:
    """Start all servers at once, list what they offer, and say of each whether it works and why not.

    The servers are those of each FILE (- for standard input), at each URL, and behind -- a command with its arguments.
    A FILE holds an mcpServers array, a whole session/new or session/load request or its params, or the
    {"mcpServers": {name: ...}} map that desktop clients use.

    \b
    mcp-launch check .mcp.json
    mcp-launch check https://example.com/mcp -H 'Authorization: Bearer ...'
    mcp-launch check -e API_KEY -- npx -y some-server --flag

    Exit status: 0 when all servers work; 1 when one does not, or with --strict has a warning; 2 when what was typed or
    a FILE cannot be used, or the result not be written; 129, 130 or 143 after SIGHUP, Ctrl-C or SIGTERM, when all
    servers are gone.
    """  # noqa: D301 - that of the help, which keeps the lines of a paragraph
    from mcp_launch.command.check import check  # noqa: PLC0415
    from mcp_launch.command.inputs import Typed  # noqa: PLC0415

    typed = Typed(
        servers=servers or (),
        command=context.obj,
        headers=header or (),
        env=env or (),
        sse=sse,
        only=only or (),
        cwd=cwd,
    )
    status = check(
        typed,
        timeout=timeout,
        strict=strict,
        as_json=as_json,
        junit=junit,
        html=html,
        verbose=verbose,
        watch=watch,
    )
    raise typer.Exit(status)


@app.command(cls=LightCommand)
def schema() -> None:
    """Print the JSON schema of what check --json prints."""
    from mcp_launch.command.schema import print_schema  # noqa: PLC0415

    print_schema()
