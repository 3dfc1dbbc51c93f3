"""The command line of `acp-bindings`: its subcommands and their options."""

from __future__ import annotations

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
    # The command of an agent follows "--"; typer must not read its options.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[end + 1 :] if end < len(arguments) else None
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


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help='A file, or "-" for standard input.')],
    *,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="NAME", help="The type of a payload, such as v1.NewSessionRequest.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="PACKAGE",
            callback=_known_protocol,
            help=f"The protocol of messages without an initialize: {', '.join(PACKAGES)}.  [default: v1]",
        ),
    ] = None,
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

    Exit status: 0 if there are no errors, warnings aside; 1 if there are errors; 2 if a FILE or the command line
    cannot be used; 130 after Ctrl-C.
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
