"""The options that several subcommands share, and the completion of names of servers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from mcp_launch._command.light import LightCommand, LightGroup
from mcp_launch.config._formats import FORMATS

if TYPE_CHECKING:
    from mcp_launch._command.inputs import Typed
    from mcp_launch.options import Listing


def complete_server(context: typer.Context, incomplete: str) -> list[str]:
    """The names of servers in the files that were typed so far."""
    from mcp_launch._command.explore.commands import names_in  # noqa: PLC0415

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


app = typer.Typer(
    cls=LightGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: rich's takes longer to import than all that is needed to start a server.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """Run the command with what was typed, and end with its status."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # A name with characters that the terminal cannot show must not stop the output.
        reconfigure(errors="backslashreplace")
    typed = sys.argv[1:]
    # Behind -- stands the command of a server, whose options are not for typer to read.
    end = typed.index("--") if "--" in typed else len(typed)
    command = typed[end + 1 :] if end < len(typed) else None
    from acp_bindings._cli import written_by  # noqa: PLC0415
    from mcp_launch.failures import UnusableInput  # noqa: PLC0415

    with written_by("mcp-launch"):
        try:
            app(typed[:end], prog_name="mcp-launch", obj=command)
        except UnusableInput as error:
            from mcp_launch._command.show.text import complain  # noqa: PLC0415

            complain(str(error))
            raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        from acp_bindings._cli import version  # noqa: PLC0415

        typer.echo(f"mcp-launch {version()}")
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
    discover: Discover = False,
    trust: Trust = False,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    strict: Strict = False,
    as_json: Json = False,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write the result as JUnit XML, for CI.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Also write all of it as one page of HTML.")
    ] = None,
    verbose: Verbose = False,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever a FILE changes, until Ctrl-C.")] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="Print which servers would be started, and start nothing.")
    ] = False,
) -> None:
    """Start all servers at once, list what they offer, and say of each whether it works and why not.

    The servers are those of each FILE (- for standard input), at each URL, and behind -- a command with its arguments.
    A FILE is an mcpServers array, a whole session/new or session/load request or its params, or that of Claude Desktop,
    Claude Code, VS Code, Cursor, Windsurf, Zed, Gemini CLI or Goose, read by its own rules. What is odd in it, such as
    a variable that is not set, is a warning.

    The commands in a FILE run as you, and the variables that it names are replaced, in URLs too. Look at a FILE that
    you do not trust with --list first. What --discover finds in the project is started only when you confirm it, or
    with --trust.

    \b
    mcp-launch check .mcp.json
    mcp-launch check https://example.com/mcp -H 'Authorization: Bearer ...'
    mcp-launch check -e API_KEY -- npx -y some-server --flag

    Exit status: 0 when all servers work; 1 when one does not, or with --strict has a warning; 2 when what was typed or
    a FILE cannot be used, or was not confirmed, or the result not be written; 129, 130 or 143 after SIGHUP, Ctrl-C or
    SIGTERM, when all servers are gone. With --list: 0, or 2.
    """  # noqa: D301 - that of the help, which keeps the lines of a paragraph
    from mcp_launch._command.check import check  # noqa: PLC0415

    typed = _typed(
        context,
        servers,
        header=header,
        env=env,
        sse=sse,
        only=only,
        cwd=cwd,
        discover=discover,
        trust=trust,
        workspace=workspace,
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
        list_only=list_only,
    )
    raise typer.Exit(status)


@app.command(cls=LightCommand)
def tools(
    context: typer.Context,
    servers: Servers = None,
    *,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    discover: Discover = False,
    trust: Trust = False,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Print the tools of all servers, each with its arguments and their types.

    The servers are given as to check. --json has the schemas themselves.

    Exit status: 0 when all servers told; 1 when one does not work, or cannot list its tools; 2 when what was typed or
    a FILE cannot be used; 129, 130 or 143 after a signal.
    """
    typed = _typed(
        context,
        servers,
        header=header,
        env=env,
        sse=sse,
        only=only,
        cwd=cwd,
        discover=discover,
        trust=trust,
        workspace=workspace,
    )
    _offers(typed, "tools", timeout=timeout, as_json=as_json, verbose=verbose)


@app.command(cls=LightCommand)
def resources(
    context: typer.Context,
    servers: Servers = None,
    *,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    discover: Discover = False,
    trust: Trust = False,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Print the resources of all servers, and the templates of some.

    The servers are given as to check, and the exit status is that of tools.
    """
    typed = _typed(
        context,
        servers,
        header=header,
        env=env,
        sse=sse,
        only=only,
        cwd=cwd,
        discover=discover,
        trust=trust,
        workspace=workspace,
    )
    _offers(typed, "resources", timeout=timeout, as_json=as_json, verbose=verbose)


@app.command(cls=LightCommand)
def prompts(
    context: typer.Context,
    servers: Servers = None,
    *,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    discover: Discover = False,
    trust: Trust = False,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Print the prompts of all servers, each with its arguments.

    The servers are given as to check, and the exit status is that of tools.
    """
    typed = _typed(
        context,
        servers,
        header=header,
        env=env,
        sse=sse,
        only=only,
        cwd=cwd,
        discover=discover,
        trust=trust,
        workspace=workspace,
    )
    _offers(typed, "prompts", timeout=timeout, as_json=as_json, verbose=verbose)


@app.command(cls=LightCommand)
def call(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        # It is shown in brackets and with dots behind it.
        typer.Argument(metavar="FILE|URL] [SERVER] TOOL [NAME=VALUE", hidden=True, autocompletion=complete_server),
    ] = None,
    *,
    tool: Annotated[
        str | None,
        typer.Option("--tool", metavar="NAME", help="TOOL, where its name has = in it or begins with -."),
    ] = None,
    whole: Annotated[
        str | None, typer.Option("--args", metavar="JSON|@FILE|-", help="Arguments as one JSON object, of any names.")
    ] = None,
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Send arguments that the schema forbids too.")] = False,
    wait: Annotated[
        float | None, typer.Option("--wait", metavar="SECONDS", help="Seconds for its answer.  [default: 300]", min=0.1)
    ] = None,
    save: Save = None,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    verbose: Verbose = False,
    show_secrets: ShowSecrets = False,
) -> None:
    """Call one tool, and print what it answers.

    The server is given as to check; SERVER is its name where FILE has several.

    \b
    mcp-launch call .mcp.json search find query=mcp limit=3
    mcp-launch call https://example.com/mcp find query=mcp
    mcp-launch call find query=mcp -- npx -y some-server --flag

    VALUE is read by the type that the tool's schema gives to NAME. NAME again is one more item of an array,
    OUTER.INNER=VALUE a member of an object. NAME:=JSON and NAME:=@FILE are taken as they are.

    Exit status: 0 when the tool answered; 1 when it says that it failed, or its server does not work or answer; 2 when
    what was typed cannot be used, so that nothing was called, or the answer not be written; 129, 130 or 143 after a
    signal.
    """  # noqa: D301 - that of the help, which keeps the lines of a paragraph
    from mcp_launch._command.explore.commands import Call, call, read_words  # noqa: PLC0415
    from mcp_launch._command.show.text import refusing  # noqa: PLC0415

    with refusing("call", as_json=as_json):
        places, server, tool, arguments = read_words(words or (), tool=tool, has_command=context.obj is not None)
        status = call(
            _typed(context, places, header=header, env=env, sse=sse, only=only, cwd=cwd, workspace=workspace),
            Call(server=server, tool=tool, words=arguments, whole=whole, checked=not unchecked),
            timeout=timeout,
            wait=wait,
            save=save,
            as_json=as_json,
            verbose=verbose,
            show_secrets=show_secrets,
        )
    raise typer.Exit(status)


@app.command(cls=LightCommand)
def shell(
    context: typer.Context,
    place: Annotated[str | None, typer.Argument(metavar="FILE|URL", hidden=True)] = None,
    server: Annotated[str | None, typer.Argument(metavar="SERVER", hidden=True, autocompletion=complete_server)] = None,
    *,
    save: Save = None,
    header: Header = None,
    env: Env = None,
    sse: Sse = False,
    only: Only = None,
    workspace: Workspace = None,
    cwd: Cwd = None,
    timeout: Timeout = 30.0,
    verbose: Verbose = False,
    show_secrets: ShowSecrets = False,
) -> None:
    """Explore one server: list what it offers, call its tools, read its resources, fill in its prompts.

    The server is given as to check; SERVER is its name where FILE has several. At a terminal there are history and
    completion, Ctrl-C ends a call, and Ctrl-D the shell. Otherwise lines are read from standard input. The line help
    lists what can be said.

    Exit status: 0 at a terminal; without one, that of the first line that did not work, as of call; 1 when the server
    does not start; 2 when what was typed or FILE cannot be used; 129, 130 or 143 after a signal.
    """
    from mcp_launch._command.explore.commands import shell  # noqa: PLC0415

    places = [] if place is None else [place]
    typed = _typed(context, places, header=header, env=env, sse=sse, only=only, cwd=cwd, workspace=workspace)
    raise typer.Exit(shell(typed, server, timeout=timeout, save=save, verbose=verbose, show_secrets=show_secrets))


@app.command(cls=LightCommand)
def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")],
    origin: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Whose FILE it is, if neither name nor shape tells.")
    ] = None,
    workspace: Workspace = None,
) -> None:
    """Print FILE (- for standard input) as another client writes it.

    Variables stay variables, in the way of that client, and secrets stay where they are. What it has no way to say is a
    warning on standard error, by its place in FILE.

    Exit status: 0 when it is printed; 2 when FILE cannot be used, or the result not be written.
    """
    from mcp_launch._command.convert import convert  # noqa: PLC0415

    convert(file, to=to, origin=origin, workspace=workspace)


@app.command(cls=LightCommand)
def schema() -> None:
    """Print the JSON schema of what check --json prints."""
    from mcp_launch._command.schema import print_schema  # noqa: PLC0415

    print_schema()


def _typed(
    context: typer.Context,
    servers: Sequence[str] | None,
    *,
    header: list[str] | None,
    env: list[str] | None,
    sse: bool,
    only: list[str] | None,
    cwd: str | None,
    workspace: str | None,
    discover: bool = False,
    trust: bool = False,
) -> Typed:
    from mcp_launch._command.inputs import Typed  # noqa: PLC0415

    return Typed(
        servers=servers or (),
        command=context.obj,
        headers=header or (),
        env=env or (),
        sse=sse,
        only=only or (),
        cwd=cwd,
        workspace=workspace,
        discover=discover,
        trust=trust,
    )


def _offers(typed: Typed, kind: Listing, *, timeout: float, as_json: bool, verbose: bool) -> NoReturn:
    from mcp_launch._command.explore.commands import offers  # noqa: PLC0415
    from mcp_launch._command.show.text import refusing  # noqa: PLC0415

    with refusing(kind, as_json=as_json):
        status = offers(typed, kind, timeout=timeout, as_json=as_json, verbose=verbose)
    raise typer.Exit(status)
