"""Runs `acp-bindings probe`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import anyio

from acp_bindings._atomic_write import atomic_write
from acp_bindings._standard_streams import shown_on
from acp_bindings.errors import AcpError
from acp_bindings.probe import Report, Result
from acp_bindings.probe._bench import Options
from acp_bindings.probe._probe_report import json_of, lines_of, summary_of
from acp_bindings.probe._probing import choose, fill, header_in, is_url, missing_for_url


def probe_agent(
    options: Options,
    *,
    headers: Sequence[str],
    only: Sequence[str],
    skip: Sequence[str],
    record: str | None,
    as_json: bool,
    junit: str | None,
    html: str | None,
) -> int:
    """Probe an agent, print the results and return the exit status."""

    def tell(result: Result) -> None:
        if not as_json:
            _write("".join(f"{line}\n" for line in lines_of(result)))

    try:
        chosen = choose(only=only, skip=skip, version=options.version)
    except ValueError as error:
        return _refuse(f"{error}; --list lists them")
    try:
        options = replace(options, headers=dict(map(header_in, headers)))
    except ValueError as error:
        return _refuse(f"--header: {error}")
    if problem := _problem(options, {"--record": record, "--junit": junit, "--html": html}):
        return _refuse(problem)
    report = Report(version=options.version, when=datetime.now(UTC))
    ended_by = status = 0
    try:
        ended_by = anyio.run(_until_signal, partial(fill, report, options, chosen, record=record, done=tell))
    except KeyboardInterrupt:
        ended_by = signal.SIGINT
    except (AcpError, ImportError) as error:
        # The message has the arguments of Python functions.
        return _refuse(str(error).replace("pass headers= or auth=", "pass --header 'Authorization: …'"))
    except OSError as error:
        if record is None or error.filename != record:
            raise
        status = _refuse(f"--record {record}: {error.strerror}")
    # After SIGHUP, the terminal is gone.
    with suppress(OSError) if ended_by else nullcontext():
        _write(f"{json_of(report) if as_json else summary_of(report)}\n")
    for option, path, text_of in (("--junit", junit, _junit_of), ("--html", html, _html_of)):
        if path is not None:
            try:
                atomic_write(path, text_of(report).encode())
            except OSError as error:
                status = _refuse(f"{option} {path}: {error.strerror}")
    return status or (128 + ended_by if ended_by else int(report.has_failed))


def print_checks(*, version: int, only: Sequence[str], skip: Sequence[str]) -> int:
    """Print the checks that `probe_agent` would make, and return the exit status."""
    try:
        chosen = choose(only=only, skip=skip, version=version)
    except ValueError as error:
        return _refuse(f"{error}; use only --list to see all checks")
    width = max(len(each.id) for each in chosen)
    _write("".join(f"{each.id:{width}}  {each.requires}\n" for each in chosen))
    return 0


def _junit_of(report: Report) -> str:
    from acp_bindings.probe._junit import junit_of  # noqa: PLC0415 - only if it is asked for

    return junit_of(report)


def _html_of(report: Report) -> str:
    from acp_bindings.probe._html import html_of  # noqa: PLC0415 - needs jinja2

    return html_of(report)


def _problem(options: Options, files: Mapping[str, str | None]) -> str | None:
    """Return why the command line cannot be used, as far as that is known before the probe."""
    target = options.target
    if options.headers and not isinstance(target, str):
        return "--header is for a URL, but a command was given"
    if isinstance(target, str) and not is_url(target):
        return f"{target!r} is not a URL of HTTP or WebSocket; put -- before a command"
    if isinstance(target, str) and (missing := missing_for_url()):
        return missing
    for option, path in files.items():
        if path is not None and (reason := _unwritable(path)):
            return f"{option} {path}: {reason}"
    return None


def _unwritable(path: str) -> str | None:
    """Return why a file cannot be written, as far as that can be told without writing."""
    folder = os.path.dirname(os.path.abspath(path))
    if not path or os.path.isdir(path):
        return "it is a directory, not a file"
    if not os.path.isdir(folder):
        return "its directory does not exist"
    return None if os.access(path if os.path.exists(path) else folder, os.W_OK) else "it cannot be written"


async def _until_signal(work: Callable[[], Awaitable[object]]) -> int:
    """Do *work* until it is done or a signal cancels it, and return the number of the signal, or 0."""
    received: list[int] = []
    with anyio.CancelScope() as scope:

        def cancel(number: int) -> None:
            received.append(number)
            scope.cancel()

        # Ctrl-C is handled by asyncio. Windows supports neither these signals nor such handlers.
        for number in (signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else ():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                asyncio.get_running_loop().add_signal_handler(number, cancel, number)
        await work()
    return received[0] if received else 0


def _refuse(reason: str) -> int:
    sys.stderr.write(shown_on(sys.stderr, f"acp-bindings probe: {reason}\n"))
    return 2


def _write(text: str) -> None:
    sys.stdout.write(shown_on(sys.stdout, text))
    sys.stdout.flush()
