"""Runs `acp-bindings probe`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import anyio

from acp_bindings._reports.files import put
from acp_bindings._standard_streams import shown_on
from acp_bindings.errors import AcpError
from acp_bindings.probe import CHECKS, Report, Result, probe
from acp_bindings.probe._probing import choose
from acp_bindings.probe._report import json_of, lines_of, summary_of


def probe_agent(
    target: Sequence[str] | str,
    *,
    version: int,
    prompt: str | None,
    auth: str | None,
    only: Sequence[str],
    skip: Sequence[str],
    timeout: float,
    record: str | None,
    as_json: bool,
    junit: str | None,
    html: str | None,
) -> int:
    """Probe an agent, print the results and return the exit status."""

    def tell(result: Result) -> None:
        if not as_json:
            _write("".join(f"{line}\n" for line in lines_of(result)))

    async def run() -> Report:
        return await probe(
            target,
            version=version,
            prompt=prompt,
            auth=auth,
            only=only,
            skip=skip,
            timeout=timeout,
            record=record,
            done=tell,
        )

    try:
        choose(only=only, skip=skip, version=version)
    except ValueError as error:
        return _refuse(f"{error}; --list lists them")
    try:
        report = anyio.run(run)
    except (AcpError, ImportError) as error:
        return _refuse(str(error))
    _write(f"{json_of(report) if as_json else summary_of(report)}\n")
    for path, form in ((junit, _junit), (html, _html)):
        if path is not None:
            put(path, form()(report).encode())
    return 1 if report.has_failed else 0


def print_checks(version: int) -> None:
    """Print the checks of a version."""
    width = max(len(each.id) for each in CHECKS)
    for each in CHECKS:
        if version in each.versions:
            sys.stdout.write(f"{each.id:{width}}  {each.requires}\n")


def _junit() -> Callable[[Report], str]:
    from acp_bindings.probe._junit import junit_of  # noqa: PLC0415 - only if it is asked for

    return junit_of


def _html() -> Callable[[Report], str]:
    from acp_bindings.probe._html import html_of  # noqa: PLC0415 - needs jinja2

    return html_of


def _refuse(reason: str) -> int:
    sys.stderr.write(shown_on(sys.stderr, f"acp-bindings probe: {reason}\n"))
    return 2


def _write(text: str) -> None:
    sys.stdout.write(shown_on(sys.stdout, text))
    sys.stdout.flush()
