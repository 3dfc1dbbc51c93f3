"""The command line: start the servers of a file, and say for each whether it works and why not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from mcp_launch.command.config import Config, read_config
from mcp_launch.command.lines import print_lines, printable
from mcp_launch.command.show.files import write_files
from mcp_launch.failures import UnusableInput
from mcp_launch.fleet import launch
from mcp_launch.terms import EVERYTHING

if TYPE_CHECKING:
    from mcp_launch.report import Report

__all__ = ["app"]

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcp-launch {version('acp-bindings')}")
        raise typer.Exit


@app.callback()
def mcp_launch(
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Turn the MCP servers of an ACP session into live sessions."""


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help='A JSON file, or "-" for standard input.')],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for all servers together.", min=0.1)] = 30.0,
    cwd: Annotated[str | None, typer.Option(help="Working directory of the servers, instead of the file's.")] = None,
    junit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the result as JUnit XML, for CI.")
    ] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Also write all of it as one page of HTML.")] = None,
) -> None:
    """Start all servers of FILE at once, list their tools, and print one line for each.

    FILE holds an mcpServers array, a whole session/new or session/load request or its params, or the
    {"mcpServers": {name: ...}} map that desktop clients use.

    Exit status: 0 when all servers work, 1 when one does not, 2 when the input cannot be used or the
    result not be written, 130 after Ctrl-C.
    """
    # Reports say what the libraries would log, without the URLs and headers that they log.
    logging.getLogger().addHandler(logging.NullHandler())
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # Names that the terminal cannot show are no reason to show nothing.
        reconfigure(errors="backslashreplace")
    when = datetime.now(UTC)
    try:
        config = read_config(_read(file), source=_called(file))
        found = anyio.run(_check, config, _directory(cwd, config), timeout)
    except UnusableInput as error:
        raise _unusable(str(error)) from None
    unwritten: typer.Exit | None = None
    try:
        write_files(found, junit=junit, html=html, source=_called(file), when=when)
    except UnusableInput as error:
        unwritten = _unusable(str(error))
    try:
        _show(found, as_json=as_json)
    except BrokenPipeError:
        # Whoever reads has read enough; typer knows what to do.
        raise
    except OSError as error:
        raise _unusable(f"standard output: {error.strerror}") from None
    raise unwritten or typer.Exit(0 if found["ok"] else 1)


def _unusable(message: str) -> typer.Exit:
    # Where that cannot be written either, the status still tells.
    with contextlib.suppress(OSError):
        typer.echo(f"mcp-launch: {printable(message)}", err=True)
    return typer.Exit(2)


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    # Standard input is None when whoever started us has closed it.
    if file == "-" and sys.stdin is None:
        raise UnusableInput("standard input: is closed")
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UnusableInput(f"{_called(file)}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{_called(file)}: not UTF-8 at byte {error.start}") from None


def _directory(given: str | None, config: Config) -> str:
    """What the user types may be relative; what a request says must be absolute, which `launch` checks."""
    return os.path.abspath(given) if given else config.cwd or os.getcwd()


async def _check(config: Config, cwd: str, timeout: float) -> Report:
    stopped_by: list[int] = []
    with anyio.CancelScope() as scope:

        def stop(number: int) -> None:
            stopped_by.append(number)
            scope.cancel()

        # They stay until the servers are gone: a second Ctrl-C does not cut that short, and it is bounded. Where there
        # are no such handlers (Windows), Ctrl-C is a KeyboardInterrupt.
        with contextlib.suppress(NotImplementedError):
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        async with launch(config.servers, cwd=cwd, timeout=timeout, lists=EVERYTHING) as fleet:
            # Taken before the end, after which a server that works would be called closed.
            return fleet.report
    raise typer.Exit(128 + stopped_by[0])


def _show(found: Report, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        print_lines(found)
