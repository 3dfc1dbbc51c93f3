"""The command line of `acp-bindings`: its subcommands and their options."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from acp_bindings._lazy import PACKAGES
from acp_bindings._standard_streams import version, written_by


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with *arguments*, by default those of this process, and exit with its status."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # Escape characters that the terminal cannot show.
        reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # In these, the command of an agent follows "--"; typer must not read its options.
    has_command = "--" in arguments and arguments[0] in ("probe", "tap")
    end = arguments.index("--") if has_command else len(arguments)
    command = arguments[end + 1 :] if has_command else None
    with written_by("acp-bindings"):
        app(arguments[:end], prog_name="acp-bindings", obj=command)


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: rich takes longer to import than everything else.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(is_given: bool) -> None:
    if is_given:
        typer.echo(f"acp-bindings {version()}")
        raise typer.Exit


@app.callback()
def acp_bindings(
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Tools for the Agent Client Protocol."""


def _print_schema(is_given: bool) -> None:
    if is_given:
        from acp_bindings._command.check import print_schema  # noqa: PLC0415

        print_schema()
        raise typer.Exit


def _known_protocol(name: str | None) -> str | None:
    if name not in (None, *PACKAGES):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(PACKAGES)}.")
    return name


Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="PACKAGE",
        callback=_known_protocol,
        help=f"The protocol of messages without an initialize: {', '.join(PACKAGES)}.  [default: v1]",
    ),
]


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help='A file, or "-" for standard input.')],
    *,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="NAME", help="The type of a payload, such as v1.NewSessionRequest.")
    ] = None,
    protocol: Protocol = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of lines.")] = False,
    _: Annotated[
        bool,
        typer.Option(
            "--json-schema",
            callback=_print_schema,
            is_eager=True,
            help="Print the JSON schema of that document and exit.",
        ),
    ] = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Also print the value at each path, which may be a secret.")
    ] = False,
) -> None:
    """Print the problems in each FILE, one finding on each line.

    FILE contains a conversation, with one message on each line; or one JSON document: a message, the params or the
    result of one, an mcpServers array, or a list of any of these.

    Exit status: 0 if no error is found, even with warnings; 1 if there are errors; 2 if a FILE cannot be used or the
    command line is invalid; 130 after Ctrl-C.
    """
    # Imported here, like the code of each subcommand, so that --help stays fast.
    from acp_bindings._command.check import check_files  # noqa: PLC0415

    raise typer.Exit(
        check_files(files, type_name=type_name, protocol=protocol, as_json=as_json, show_secrets=show_secrets)
    )


@app.command()
def rules() -> None:
    """List the rules that check uses."""
    from acp_bindings._command.check import print_rules  # noqa: PLC0415

    print_rules()


def _refuse_arguments(context: typer.Context, *before: str) -> None:
    """Refuse arguments that seem to be the command of an agent."""
    if context.args:
        given = shlex.join([*before, *context.args])
        why = f"unexpected before --: {given}" if context.obj else f"put -- before the command: -- {given}"
        raise typer.BadParameter(why, param_hint="COMMAND")


@app.command(context_settings={"allow_extra_args": True})
def probe(
    context: typer.Context,
    url: Annotated[str | None, typer.Argument(metavar="URL", help="The URL of a remote agent.")] = None,
    *,
    version: Annotated[int, typer.Option("--version", min=1, max=2, help="The version of the protocol.")] = 1,
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TEXT", help="The text of all prompts; by default it depends on the check."),
    ] = None,
    auth: Annotated[
        str | None, typer.Option("--auth", metavar="METHOD", help="Log in with this authentication method.")
    ] = None,
    headers: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="'NAME: VALUE'", help="Send this header to the URL; repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="CHECK", help="Run only this check or family; repeatable.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="CHECK", help="Leave out this check or family; repeatable.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Seconds to wait for a response.")
    ] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of lines.")] = False,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Also write the results as an HTML page.")
    ] = None,
    record: Annotated[
        str | None, typer.Option("--record", metavar="FILE", help="Also write the conversations, for check and view.")
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="List the selected checks and exit.")] = False,
) -> None:
    """Test whether an agent conforms to the protocol, and print one line for each check.

    Give the agent's command after "--", or its URL: acp-bindings probe -- python my_agent.py

    Exit status: 0 if no check failed, even with warnings; 1 if a check failed; 2 if the agent cannot be started, a file
    cannot be written or the command line is invalid; 129, 130 or 143 after SIGHUP, Ctrl-C or SIGTERM.
    """
    from acp_bindings._command.probe import print_checks, probe_agent  # noqa: PLC0415
    from acp_bindings.probe._bench import Options  # noqa: PLC0415

    if list_checks:
        raise typer.Exit(print_checks(version=version, only=only or [], skip=skip or []))
    _refuse_arguments(context, *([url] if url else []))
    command: list[str] | None = context.obj
    if (url is None) == (not command):
        raise typer.BadParameter('Give either the command of an agent after "--", or its URL.')
    options = Options(target=url or command or [], version=version, prompt=prompt, auth=auth, timeout=timeout)
    status = probe_agent(
        options,
        headers=headers or [],
        only=only or [],
        skip=skip or [],
        record=record,
        as_json=as_json,
        junit=junit,
        html=html,
    )
    raise typer.Exit(status)


@app.command(
    options_metavar="[OPTIONS] -- COMMAND [ARGUMENT]...",
    context_settings={"allow_extra_args": True, "allow_interspersed_args": False},
)
def tap(
    context: typer.Context,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write, or a directory for a new file of each start."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report problems on standard error and in the recording as they happen.")
    ] = False,
    view: Annotated[bool, typer.Option("--view", help="Serve a page that shows the conversation.")] = False,
    receipts: Annotated[
        bool, typer.Option("--receipts", help="Record what the agent does with its MCP servers, and why one fails.")
    ] = False,
    secrets: Annotated[bool, typer.Option("--secrets", help="Do not redact secrets in the recording.")] = False,
) -> None:
    """Run an agent and record its conversation.

    Configure your client to start this command instead of the agent. Messages, standard error and signals are
    forwarded unchanged.

    Exit status: that of the agent, or 128 plus the signal number if a signal ended it; 126 or 127 if it cannot be
    started; 2 if the command line is invalid.
    """
    from acp_bindings._tap.tap import tap as run  # noqa: PLC0415

    _refuse_arguments(context)
    if not context.obj:
        raise typer.BadParameter("put -- and the command of the agent at the end", param_hint="COMMAND")
    raise typer.Exit(run(context.obj, output=output, check=check, view=view, receipts=receipts, secrets=secrets))


@app.command()
def play(
    script: Annotated[
        str | None,
        typer.Argument(
            metavar="SCRIPT",
            help="The script to perform. Without it, slash commands run the built-in scenes.",
        ),
    ] = None,
    *,
    replay: Annotated[
        str | None, typer.Option("--replay", metavar="FILE", help="Replay the agent's side of a recording.")
    ] = None,
    protocol: Annotated[
        int | None,
        typer.Option("--version", min=1, max=2, help="Support only this version of the protocol.  [default: both]"),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="CAPABILITY", help="Leave out a capability, such as session.load."),
    ] = None,
    auth: Annotated[bool, typer.Option("--auth", help="Require a login before the first session.")] = False,
    rude: Annotated[
        list[str] | None, typer.Option("--rude", metavar="KIND", help="Break the protocol; /rude lists the kinds.")
    ] = None,
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve clients at a URL, /acp.")
    ] = None,
    show: Annotated[
        str | None, typer.Option("--show", metavar="SCENE", help="Print a scene as a script and exit.")
    ] = None,
) -> None:
    """Run a scripted agent for testing clients.

    Without SCRIPT, each slash command is a scene, such as /tool, /permission, /everything and /rude KIND. /help lists
    them.

    Exit status: 0 when the client disconnects; 1 if it did not meet an expectation of the script; 2 if the command line
    or the script is invalid; 130 after Ctrl-C. The step exit of a script has its own status, and --replay that of the
    recorded agent.
    """
    from acp_bindings._command.play import run_play  # noqa: PLC0415

    raise typer.Exit(
        run_play(
            script,
            replay=replay,
            version=protocol,
            without=without or (),
            auth=auth,
            rude=rude or (),
            http=http,
            show=show,
        )
    )


@app.command()
def view(
    file: Annotated[str, typer.Argument(metavar="FILE", help='A recording, or "-" for standard input.')],
    *,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="OUT", help='Write the page to OUT, or to standard output if it is "-".'),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page on this machine and follow FILE while it grows.")
    ] = False,
    open_browser: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open", help="Open the page in the browser.  [default: only without --html and --serve]"
        ),
    ] = None,
    until_eof: Annotated[bool, typer.Option("--until-eof", hidden=True)] = False,
    protocol: Protocol = None,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show the values of env and headers, and other secrets.")
    ] = False,
) -> None:
    """Draw the recorded conversation in FILE as a page for the browser.

    The page has all messages with their times, and what `acp-bindings check` finds in them. It is one file that needs
    no network. Without --html and --serve, it is a temporary file, which is opened in the browser.

    Exit status: 0; 2 if FILE cannot be used or the command line is invalid. Ctrl-C ends --serve.
    """
    from acp_bindings._command.view import serve_page, write_page  # noqa: PLC0415

    if serve and (html is not None or file == "-"):
        raise typer.BadParameter("--serve needs a FILE of its own, and no --html.")
    if serve:
        raise typer.Exit(
            serve_page(
                file,
                protocol=protocol,
                open_browser=bool(open_browser),
                show_secrets=show_secrets,
                until_eof=until_eof,
            )
        )
    raise typer.Exit(write_page(file, html, protocol=protocol, open_browser=open_browser, show_secrets=show_secrets))
