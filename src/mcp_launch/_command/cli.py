"""The command line of `mcp-launch`: its subcommands and their options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from acp_bindings._standard_streams import version, written_by
from mcp_launch._command.check import check_once, list_servers
from mcp_launch._command.find_servers import (
    chosen,
    names_in,
    not_empty,
    read_file,
    read_inputs,
    read_words,
    started_ahead,
    text_of,
)
from mcp_launch._command.inputs import Session, Typed, is_program
from mcp_launch._command.show.text import (
    DOCUMENTS,
    complain,
    found_in,
    print_findings,
    refusing,
    write_file,
    write_json,
    write_refusal,
)
from mcp_launch.config import FORMATS, write_config
from mcp_launch.config._formats import format_called
from mcp_launch.failures import UnusableInput
from mcp_launch.report import check_schema

if TYPE_CHECKING:
    from mcp_launch._command.explore.asking import Answers
    from mcp_launch.options import Listing


def main() -> None:
    """Run the command with the arguments of this process, and exit with its status.

    An `UnusableInput` from any part of the command is printed, and the status is 2.
    """
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # A name with characters that the terminal cannot show must not stop the output.
        reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    # The command of a server follows "--"; typer must not read its options.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[end + 1 :] if end < len(arguments) else None
    with written_by("mcp-launch"):
        try:
            app(arguments[:end], prog_name="mcp-launch", obj=command)
        except UnusableInput as error:
            complain(str(error))
            raise SystemExit(2) from None


def complete_server(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of servers in the files on the command line that begin with *incomplete*."""
    params = context.params
    several: list[str] = params.get("servers") or []
    words: list[str] = params.get("words") or []
    place: str | None = params.get("place")
    places = [*several, *words[:1], *([place] if place else ())]
    # The word after the server is a tool, which only the running server knows. `context.args` is for an option whose
    # value is being typed: typer has not yet assigned the other words to parameters then.
    return [] if len(words) > 1 else [each for each in names_in(places or context.args) if each.startswith(incomplete)]


class LightGroup(TyperGroup):
    """A command that parses plain strings and flags without pydantic.

    typer converts every value with pydantic, even strings and options that were not given. Importing pydantic takes
    longer than everything else that has to happen before a server is started. With a release of typer that converts
    values in another way, this has no effect.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return [_without_pydantic(param) for param in super().get_params(ctx)]


class LightCommand(TyperCommand):
    """A subcommand like `LightGroup`, which also reports usage errors as JSON on request."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        as_json, place = "--json" in args, next((each for each in args if not each.startswith("-")), "")
        try:
            return super().make_context(info_name, args, parent, **extra)
        except _USAGE_ERROR as error:
            if hasattr(error, "possibilities") and is_program(place):
                # The unknown option is probably one of that program.
                error.message += f"; is {place} a command? Put commands after --"
            if hasattr(error, "param_type"):
                # An option is missing, and its help lists the possible values.
                error.message = getattr(error.param, "help", None) or ""
            if as_json and info_name in DOCUMENTS:
                write_refusal(info_name, [error.format_message()])
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        return [_without_pydantic(param) for param in super().get_params(ctx)]


_USAGE_ERROR: Any = typer.BadParameter.__base__
"""The class of typer's usage errors, which has no public name."""


def _without_pydantic(param: Any) -> Any:
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if annotation is not None and not isinstance(param.process_value, partial):
        param.process_value = partial(_process_value, annotation, param, param.process_value)
    return param


def _process_value(annotation: Any, param: Any, process: Callable[[Any, object], object], ctx: Any, value: Any) -> Any:
    if value is None and not param.required:
        # The callbacks for the version, the help and the completion only matter if their option was given.
        return None
    if param.callback is None and (annotation in (str, list[str]) or type(value) is annotation) and value is not None:
        return value
    return process(ctx, value)


Json = Annotated[bool, typer.Option("--json", help="Print a single JSON document.")]
Save = Annotated[
    str | None,
    typer.Option("--save", metavar="DIR", help="Save binary content and resources in DIR.  [default: .]"),
]
Place = Annotated[str | None, typer.Argument(metavar="FILE|URL", hidden=True)]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", "-H", metavar="'NAME: VALUE'", help="Send this header to the URL; repeatable."),
]
Sse = Annotated[bool, typer.Option("--sse", help="The URL uses the deprecated SSE transport.")]
Server = Annotated[str | None, typer.Argument(metavar="SERVER", hidden=True, autocompletion=complete_server)]
For = Annotated[
    list[str] | None,
    typer.Option(
        "--for",
        metavar="TARGET",
        help=(
            "Check the tools for anthropic, claude-code, cursor, gemini, openai, openai-strict, vscode or all; "
            "repeatable.  [default: anthropic, gemini, openai]"
        ),
    ),
]
LockFile = Annotated[
    str | None, typer.Option("--lock-file", metavar="FILE", help="Use this lock file.  [default: FILE.lock.json]")
]
Answer = Annotated[
    str | None,
    typer.Option("--answer", metavar="FILE", help="Answer the server's questions from this JSON, without a terminal."),
]
ShowSecrets = Annotated[bool, typer.Option("--show-secrets", help="Do not redact secrets in results.")]
Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        help="The project: the value of ${workspaceFolder}, and the project to read from ~/.claude.json.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME[=VALUE]",
        help="Give the value of an input of FILE; NAME passes on the variable NAME, or API_KEY for api-key; "
        "repeatable.",
    ),
]


def _servers(
    servers: Annotated[list[str] | None, typer.Argument(metavar="FILE|URL", hidden=True)] = None,
    *,
    headers: Headers = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            "-e",
            metavar="NAME[=VALUE]",
            help="Set a variable for COMMAND; NAME passes on the current value; repeatable.",
        ),
    ] = None,
    sse: Sse = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Use only the server with this name; repeatable.",
            autocompletion=complete_server,
        ),
    ] = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="Also read the files of all clients: yours, and after confirmation those of this project.",
        ),
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Start the project's servers that --discover finds without confirmation.")
    ] = False,
    inputs: Inputs = None,
    workspace: Workspace = None,
    cwd: Annotated[
        str | None,
        typer.Option("--cwd", metavar="DIR", help="Working directory of the servers, instead of the one in FILE."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Seconds until all servers must be ready.", min=0.1)
    ] = 30.0,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print all messages to standard error, with secrets redacted.")
    ] = False,
    login: Annotated[
        bool, typer.Option("--login", help="Log in with the browser first, where a URL requires it (see login).")
    ] = False,
    legacy: Annotated[
        bool, typer.Option("--legacy", help="Use the versions of MCP before 2026-07-28, even if a server supports it.")
    ] = False,
) -> None:
    """Declare the options of all subcommands that start servers: the fields of `Typed`."""


def _with_servers(
    *, several: bool = True, left_out: Sequence[str] = (), timeout: str = ""
) -> Callable[[Callable[..., int]], Callable[..., None]]:
    """Return a decorator for subcommands that start servers.

    It adds the options of `_servers`, passes their values as the first argument, and exits with the returned status.
    With *several* there may be any number of files and URLs; otherwise the subcommand's own options are first. The
    options in *left_out* do not concern it. *timeout* is the help of that option.
    """
    left_out = left_out if several else (*left_out, "servers", "discover", "trust")
    shared = [each for name, each in _parameters(_servers).items() if name not in left_out]
    if timeout:
        option = typer.Option("--timeout", metavar="SECONDS", help=timeout, min=0.1)
        shared = [
            each.replace(annotation=Annotated[float, option]) if each.name == "timeout" else each for each in shared
        ]

    def decorate(function: Callable[..., int]) -> Callable[..., None]:
        @wraps(function)
        def subcommand(context: typer.Context, **values: Any) -> None:
            given = {each.name: values.pop(each.name) for each in shared}
            named = {name: value for name, value in given.items() if value is not None}
            with refusing(context.info_name or "", as_json=values.get("as_json", False)):
                raise typer.Exit(function(Typed(**named, command=context.obj), **values))

        _, *own = _parameters(function).values()
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY, annotation=typer.Context)
        parameters = [context, *shared, *own] if several else [context, *own, *shared]
        subcommand.__dict__["__signature__"] = inspect.Signature(parameters)
        return subcommand

    return decorate


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function, eval_str=True).parameters)


app = typer.Typer(
    cls=LightGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: rich's takes longer to import than everything that is needed to start a server.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(is_given: bool) -> None:
    if is_given:
        typer.echo(f"mcp-launch {version()}")
        raise typer.Exit


@app.callback()
def mcp_launch(
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Check whether MCP servers work, and find out why not."""


@app.command(cls=LightCommand)
@_with_servers()
def check(
    typed: Typed,
    *,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Treat warnings as failures, also commands in ACP requests without an absolute path."
        ),
    ] = False,
    as_json: Json = False,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write the report as JUnit XML, for CI.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Also write the whole report as an HTML page.")
    ] = None,
    lint: Annotated[bool, typer.Option("--lint", help="Also warn of tools that models or clients reject.")] = False,
    targets: For = None,
    locked: Annotated[
        bool, typer.Option("--locked", help="Fail servers whose tools differ from the lock file of FILE.")
    ] = False,
    lock_file: LockFile = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever a FILE changes, until Ctrl-C.")] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the servers that would be started, and start nothing.")
    ] = False,
) -> int:
    """Start all servers at once, list what they offer, and report which ones work and why the others do not.

    The servers come from each FILE (- for standard input), each URL, and the command with its arguments after --. A
    FILE contains an mcpServers array, a session/new or session/load request or its params, or it is a config file of
    Claude Desktop, Claude Code, VS Code, Cursor, Windsurf, Zed, Gemini CLI, Goose, Codex or OpenCode, which is read by
    the rules of that client, or a server.json of the MCP registry. Problems in a FILE that do not stop a server, such
    as an unset variable, are reported as warnings. --set gives the values that a client would ask you for.

    The commands in a FILE run with your permissions, and variables in it are replaced by their values, in URLs too.
    Use --list first to look at a FILE that you do not trust. Servers that --discover finds in the project are started
    only if you confirm it or pass --trust.

    \b
    mcp-launch check .mcp.json
    mcp-launch check https://example.com/mcp -H 'Authorization: Bearer ...'
    mcp-launch check -e API_KEY -- npx -y some-server --flag

    --lint adds the findings of mcp-launch lint as warnings. With --locked, a server fails if its tools differ from the
    file that mcp-launch lock wrote.

    Exit status: 0 if all servers work; 1 if a server fails, or has a warning with --strict; 2 if the arguments, a FILE
    or a lock file are invalid, a FILE was not confirmed, or the report cannot be written; 129, 130 or 143 after SIGHUP,
    Ctrl-C or SIGTERM, once all servers have exited. With --list: 0 or 2.
    """  # noqa: D301 - \b keeps the lines of a paragraph in the help
    if list_only:
        others = {"junit": junit, "html": html, "lint": lint, "locked": locked, "watch": watch}
        if given := [name for name, value in others.items() if value]:
            raise UnusableInput(f"--list starts nothing and cannot be combined with --{given[0]}")
        return list_servers(typed, as_json=as_json)
    once = partial(
        check_once,
        typed,
        strict=strict,
        as_json=as_json,
        junit=junit,
        html=html,
        targets=(targets or ()) if lint or targets else None,
        locked=locked or lock_file is not None,
        lock_file=lock_file,
    )
    if watch:
        from mcp_launch._command.run import watch as watch_files  # noqa: PLC0415 - slow to import

        watch_files(typed, once)
    return once()


def _add_listing(kind: Listing, text: str) -> None:
    @app.command(kind, cls=LightCommand, help=text)
    @_with_servers()
    def listing(typed: Typed, *, as_json: Json = False) -> int:
        sessions = read_inputs(typed)
        with started_ahead(sessions):
            # Imported while the servers start.
            from mcp_launch._command.explore.listing import list_all  # noqa: PLC0415

            return list_all(typed, sessions, kind, as_json=as_json)


_add_listing(
    "tools",
    """Print the tools of all servers, with their arguments and types.

    Name servers as for check. --json prints the complete schemas.

    Exit status: 0 if all servers listed their tools; 1 if a server fails or cannot list them; 2 if the arguments or a
    FILE are invalid; 129, 130 or 143 after a signal.
    """,
)
_add_listing(
    "resources",
    """Print the resources and resource templates of all servers.

    Name servers as for check. The exit status is that of tools.
    """,
)
_add_listing(
    "prompts",
    """Print the prompts of all servers, with their arguments.

    Name servers as for check. The exit status is that of tools.
    """,
)


@app.command(cls=LightCommand)
@_with_servers()
def lint(typed: Typed, *, targets: For = None, as_json: Json = False) -> int:
    """Print what models and clients reject in the tools of servers, and about how many tokens each tool costs.

    Name servers as for check. The rules and their sources are in docs/lint.md.

    \b
    mcp-launch lint .mcp.json
    mcp-launch lint --for openai --for cursor -- npx -y some-server

    Exit status: 0 if nothing was found; 1 if something was found or a server fails; 2 if the arguments or a FILE are
    invalid; 129, 130 or 143 after a signal.
    """  # noqa: D301 - \b keeps the lines of a paragraph in the help
    from mcp_launch._command.linting import lint_all, targets_of  # noqa: PLC0415 - only needed for this

    sessions, wanted = not_empty(read_inputs(typed)), targets_of(targets or ())
    with started_ahead(sessions):
        return lint_all(typed, sessions, wanted, as_json=as_json)


@app.command(cls=LightCommand)
@_with_servers()
def lock(
    typed: Typed,
    *,
    update: Annotated[bool, typer.Option("--update", help="Accept the changes.")] = False,
    lock_file: LockFile = None,
) -> int:
    """Write the tools of servers into a lock file, with their descriptions and schemas, or show what has changed since.

    Name servers as for check. check --locked compares the tools with the lock file.

    \b
    mcp-launch lock .mcp.json
    mcp-launch check --locked .mcp.json
    mcp-launch lock --update .mcp.json

    Exit status: 0 if the tools are locked; 1 if they have changed and --update was not given, or a server fails; 2 if
    the arguments, a FILE or the lock file are invalid; 129, 130 or 143 after a signal.
    """  # noqa: D301 - \b keeps the lines of a paragraph in the help
    from mcp_launch._command.locking import lock_once  # noqa: PLC0415 - slow to import

    return lock_once(typed, update=update, given=lock_file)


@app.command(cls=LightCommand)
@_with_servers(several=False, timeout="Seconds until the server must be ready.")
def call(
    typed: Typed,
    words: Annotated[
        list[str] | None,
        # typer puts brackets around it and dots after it.
        typer.Argument(metavar="FILE|URL] [SERVER] TOOL [NAME=VALUE", hidden=True, autocompletion=complete_server),
    ] = None,
    *,
    tool: Annotated[
        str | None,
        typer.Option("--tool", metavar="NAME", help="The TOOL, if its name contains = or begins with -."),
    ] = None,
    whole: Annotated[
        str | None, typer.Option("--args", metavar="JSON|@FILE|-", help="All arguments as a JSON object.")
    ] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Send arguments even if the schema does not allow them.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            help="Seconds to wait for the result.  [default: 300]",
            min=0.1,
            show_default=False,
        ),
    ] = 300.0,
    save: Save = None,
    answer: Answer = None,
    as_json: Json = False,
    show_secrets: ShowSecrets = False,
) -> int:
    """Call a tool and print its result.

    Name the server as for check. Add SERVER if FILE contains several servers.

    \b
    mcp-launch call .mcp.json search find query=mcp limit=3
    mcp-launch call https://example.com/mcp find query=mcp
    mcp-launch call find query=mcp -- npx -y some-server --flag

    VALUE is converted to the type of NAME in the tool's schema. Repeat NAME to add items to an array. Use
    OUTER.INNER=VALUE for a field of an object. Use NAME:=JSON to pass an exact value,
    or NAME:=@FILE if it is in a JSON file.

    If the server asks you something, answer it at the terminal or with --answer; see docs/explore.md.

    Exit status: 0 if the tool succeeded; 1 if it reported an error, or the server failed or did not respond; 2 if the
    arguments are invalid, so that no tool was called, or the result cannot be written; 129, 130 or 143 after a signal.
    """  # noqa: D301 - \b keeps the lines of a paragraph in the help
    places, server, tool, arguments = read_words(words or (), tool=tool, has_command=typed.command is not None)
    if whole == "-":
        if "-" in places:
            raise UnusableInput("standard input already contains the servers; use --args @FILE for the arguments")
        whole = text_of("-")
    session = chosen(read_inputs(replace(typed, servers=places)), server, tool=tool)
    answers = _answers_in(answer)
    with started_ahead([session]):
        # Imported while the server starts.
        from mcp_launch._command.explore.calling import call_once  # noqa: PLC0415

        return call_once(
            typed,
            session,
            tool=tool,
            words=arguments,
            whole=whole,
            checked=not unchecked,
            wait=wait,
            save=save,
            answers=answers,
            as_json=as_json,
            show_secrets=show_secrets,
        )


@app.command(cls=LightCommand)
@_with_servers(several=False, timeout="Seconds until the server must be ready.")
def shell(
    typed: Typed,
    place: Place = None,
    server: Server = None,
    *,
    save: Save = None,
    answer: Answer = None,
    show_secrets: ShowSecrets = False,
) -> int:
    """Explore a server interactively: list what it offers, call tools, read resources, and get prompts.

    Name the server as for check. Add SERVER if FILE contains several servers. On a terminal, the shell has history and
    completion; Ctrl-C cancels a call, and Ctrl-D exits. Otherwise, it reads commands from standard input, one per line.
    The command help lists all commands.

    Exit status: 0 on a terminal; otherwise the status of the first command that failed, as for call; 1 if the server
    does not start; 2 if the arguments or FILE are invalid; 129, 130 or 143 after a signal.
    """
    if place == "-":
        raise UnusableInput("standard input is used for the commands of the shell; pass a FILE")
    session = chosen(read_inputs(replace(typed, servers=[] if place is None else [place])), server)
    answers = _answers_in(answer)
    with started_ahead([session]):
        # Imported while the server starts.
        from mcp_launch._command.explore.shell import explore  # noqa: PLC0415

        return explore(typed, session, save=save, show_secrets=show_secrets, answers=answers)


def _answers_in(file: str | None) -> Answers:
    if file is None:
        return {}
    from mcp_launch._command.explore.asking import answers_in  # noqa: PLC0415 - few calls need it before the server

    return answers_in(file)


def _named(place: str | None, server: str | None) -> Session | None:
    """Return the session with the only server that `logout` or `whoami` names; None if it names none."""
    return None if place is None else chosen(read_inputs(Typed(servers=[place])), server)


@app.command(cls=LightCommand)
def login(
    place: Annotated[str, typer.Argument(metavar="FILE|URL", hidden=True)],
    server: Server = None,
    *,
    headless: Annotated[
        bool, typer.Option("--headless", help="Show the URL, and read the URL of the redirect from standard input.")
    ] = False,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="'A B'", help="Request these scopes instead of the server's.")
    ] = None,
    client_id: Annotated[
        str | None, typer.Option("--client-id", metavar="ID", help="Use this client instead of registering one.")
    ] = None,
    client_secret: Annotated[
        bool,
        typer.Option(
            "--client-secret", help="Ask for the secret of the client. MCP_LAUNCH_CLIENT_SECRET is used if it is set."
        ),
    ] = False,
    redirect_uri: Annotated[
        str | None,
        typer.Option(
            "--redirect-uri", metavar="URL", help="The URL that the client is registered with, on this machine."
        ),
    ] = None,
    headers: Headers = None,
    sse: Sse = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Seconds until you must have logged in.", min=0.1)
    ] = 300.0,
) -> None:
    """Log in to a server with a URL by OAuth, and store the tokens for this user.

    The other commands use them from then on, refresh them, and send them to this URL only. They are stored in the
    keyring of the system if the extra keyring is installed, otherwise in a file that only you can read.

    \b
    mcp-launch login https://example.com/mcp
    mcp-launch login .mcp.json search --headless

    Exit status: 0 if you are logged in; 1 if the login failed; 2 if the arguments or FILE are invalid; 129, 130 or 143
    after a signal.
    """  # noqa: D301 - \b keeps the lines of a paragraph in the help
    session = chosen(read_inputs(Typed(servers=[place], headers=headers or (), sse=sse)), server)
    from mcp_launch._command.authorization import Wanted  # noqa: PLC0415 - slow to import
    from mcp_launch._command.login import ask_secret, log_in_once  # noqa: PLC0415

    secret = ask_secret(asked=client_secret)
    wanted = Wanted(headless=headless, client_id=client_id, client_secret=secret, scope=scope, timeout=timeout)
    if redirect_uri is not None:
        wanted = replace(wanted, redirect_uri=redirect_uri)
    raise typer.Exit(log_in_once(session, wanted))


@app.command(cls=LightCommand)
def logout(
    place: Place = None,
    server: Server = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Delete the logins of all servers.")] = False,
) -> None:
    """Delete the stored login of a server. The tokens stay valid at the server until they expire.

    Exit status: 0 if it was deleted; 1 if no login is stored; 2 if the arguments or FILE are invalid.
    """
    if (place is None) != everything:
        raise UnusableInput("pass a URL, a FILE with a SERVER, or --all")
    session = _named(place, server)
    from mcp_launch._command.login import log_out  # noqa: PLC0415 - slow to import

    raise typer.Exit(log_out(session))


@app.command(cls=LightCommand)
def whoami(place: Place = None, server: Server = None, *, as_json: Json = False) -> None:
    """Print the stored logins, or that of one server: client, authorization server, scopes and expiry, but no token.

    Exit status: 0; 1 if no login is stored for the server; 2 if the arguments or FILE are invalid.
    """
    session = _named(place, server)
    from mcp_launch._command.login import show_logins  # noqa: PLC0415 - slow to import

    raise typer.Exit(show_logins(session, as_json=as_json))


@app.command(cls=LightCommand)
@_with_servers(several=False, left_out=("headers", "env", "sse", "legacy"), timeout="Seconds for each attempt.")
def fix(
    typed: Typed,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    write_it: Annotated[bool, typer.Option("--write", help="Change FILE, and keep the old one as FILE.bak.")] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Try programs, packages and variables that FILE does not name, without asking."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Find edits with which the failing servers of FILE work, and show them.

    Each edit is tried: the server is started with it, and the edit is shown only if the server becomes ready. The
    output is a unified diff of FILE without secrets. FILE is changed only with --write. Comments, order, permissions
    and line endings are preserved. Servers that work are not touched.

    The commands in FILE run with your permissions, as with check. Some edits start a program or package that FILE does
    not name, or pass on a variable that it does not name. They are tried only if you confirm them or pass --trust.

    Exit status: 0 if all servers work, as they are or with the edits; 1 if a server fails and no edit helps; 2 if the
    arguments or FILE are invalid, or FILE cannot be written; 129, 130 or 143 after a signal.
    """
    # Imported late, like everything that starts servers.
    from mcp_launch._command.fix.fixing import fix as fix_file  # noqa: PLC0415

    return fix_file(replace(typed, servers=[file], trust=trust), write_it=write_it, as_json=as_json)


@app.command(cls=LightCommand)
def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")],
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="The format of FILE, if name and content do not show it."),
    ] = None,
    workspace: Workspace = None,
) -> None:
    """Print FILE (- for standard input) in the format of another client.

    Variables stay variables, in the syntax of that client, and secrets stay in the output. Everything that its format
    cannot express is reported on standard error, with its position in FILE.

    Exit status: 0 if the result was printed; 2 if FILE is invalid or the result cannot be written.
    """
    format_called(to)  # first: an unknown format matters more than problems of the file
    config = read_file(file, format=origin, workspace=workspace)
    text, lost = write_config(config, to)
    found = [each for each in config.findings if each.code not in _OF_LAUNCHING]
    print_findings(found_in(config.source, sorted([*found, *lost], key=lambda each: each.place)))
    write_file(text)


_OF_LAUNCHING = frozenset(
    {
        "asks_user",
        "byte_order_mark",
        "disabled",
        "missing_member",
        "missing_type",
        "not_read",
        "other_name",
        "other_transport",
        "unexpanded_variable",
        "unknown_variable",
        "unset_variable",
    }
)
"""Codes of findings that `convert` does not report, because they only matter for starting the servers. The new file
means the same as the old one there, or `write_config` reports the loss."""


@app.command(cls=LightCommand)
def schema() -> None:
    """Print the JSON schema of the report that check --json prints."""
    write_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **check_schema()})
