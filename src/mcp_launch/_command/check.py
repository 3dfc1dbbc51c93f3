"""`mcp-launch check`: starts all servers and reports which ones work, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from mcp_launch._command.find_servers import read_inputs, started_ahead
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import (
    complain,
    findings_of,
    print_findings,
    print_lines,
    refusing,
    write,
    write_json,
    write_refusal,
)
from mcp_launch._command.trust import lines_of, planned
from mcp_launch.failures import UnusableInput
from mcp_launch.report import CheckReport

if TYPE_CHECKING:
    from mcp_launch._lint import LintTarget
    from mcp_launch.fleet import Fleet


def check_once(
    typed: Typed,
    *,
    strict: bool,
    as_json: bool,
    junit: str | None,
    html: str | None,
    targets: Sequence[str] | None = None,
    locked: bool = False,
    lock_file: str | None = None,
) -> int:
    """Check the servers, print the report, and return the exit status.

    With *targets*, their tools are checked for these, or for the usual ones if it is empty. With *locked*, their tools
    must be those in the lock file.
    """
    when = datetime.now(UTC)
    unusable: list[str] = []
    # A report in a file cannot list invalid inputs, and one of these may contain a server that --only names.
    sessions = _sessions(typed, unusable, as_json=as_json, needs_all=bool(junit or html or typed.only))
    if locked:
        from mcp_launch._command.locking import with_locks  # noqa: PLC0415 - only needed for this

        with refusing("check", as_json=as_json):
            sessions = with_locks(sessions, lock_file)
    with started_ahead(sessions, strict=strict):
        # Imported while the servers start.
        from mcp_launch._command.run import run  # noqa: PLC0415
        from mcp_launch.options import Options  # noqa: PLC0415

        wanted: Sequence[LintTarget] | None = None
        if targets is not None:
            from mcp_launch._command.linting import targets_of  # noqa: PLC0415 - only needed for this

            with refusing("check", as_json=as_json):
                wanted = targets_of(targets)
        use = partial(_report, sessions, unusable=unusable, targets=wanted)
        report = run(typed, sessions, use, options=Options(strict=strict), quiet=as_json)
    if as_json:
        write_json(report)
    else:
        print_lines(report)
    if junit or html:
        source = ", ".join(dict.fromkeys(session.source for session in sessions))
        write_files(report, junit=junit, html=html, source=source, when=when, strict=strict)
    if unusable:
        return 2
    warned = any(server["warnings"] for server in report["servers"])
    warned |= any(each["level"] == "warning" for each in report["findings"])
    return 0 if report["ok"] and not (strict and warned) else 1


def write_files(
    report: CheckReport, *, junit: str | None, html: str | None, source: str, when: datetime, strict: bool
) -> None:
    """Write the report on the servers of *source* as JUnit XML, as HTML, or both.

    With *strict*, a server with a warning counts as failed.
    """
    # Imported only if needed.
    from acp_bindings._atomic_write import atomic_write  # noqa: PLC0415

    files: list[tuple[str, Callable[..., str]]] = []
    if junit:
        from mcp_launch._command.show.junit import junit_xml  # noqa: PLC0415

        files.append((junit, junit_xml))
    if html:
        from mcp_launch._command.show.html import page  # noqa: PLC0415

        files.append((html, page))
    errors: list[str] = []
    for path, text in files:
        try:
            atomic_write(path, text(report, source=source, when=when, strict=strict).encode())
        except OSError as error:
            errors.append(f"{path}: {error.strerror}")
    if errors:
        raise UnusableInput("; ".join(errors))


def list_servers(typed: Typed, *, as_json: bool) -> int:
    """Print the servers that would be started, and return the exit status."""
    unusable: list[str] = []
    sessions = _sessions(replace(typed, trust=True), unusable, as_json=as_json)
    found = findings_of(sessions)
    servers = planned(sessions)
    if as_json:
        write_json({"ok": not unusable, "servers": servers, "findings": found, "unusable": unusable})
    else:
        print_findings(found)
        for line in lines_of(servers):
            write(line)
    return 2 if unusable else 0


def _sessions(typed: Typed, unusable: list[str], *, as_json: bool, needs_all: bool = False) -> list[Session]:
    """Return the servers. Errors of files are printed and added to *unusable*."""

    def leave_out(error: UnusableInput) -> None:
        complain(str(error))
        unusable.append(str(error))

    try:
        return read_inputs(typed, unusable=None if needs_all else leave_out)
    except UnusableInput as error:
        if as_json:
            write_refusal("check", [*unusable, str(error)])
        raise


async def _report(
    sessions: Sequence[Session],
    fleets: Sequence[Fleet],
    *,
    unusable: Sequence[str],
    targets: Sequence[LintTarget] | None,
) -> CheckReport:
    reports = [fleet.report for fleet in fleets]
    findings = findings_of(sessions)
    if targets is not None:
        from mcp_launch._command.linting import found_in_tools  # noqa: PLC0415 - only needed for this

        findings += found_in_tools(sessions, fleets, targets)
    return CheckReport(
        ok=all(report["ok"] for report in reports) and not unusable,
        servers=[each for report in reports for each in report["servers"]],
        findings=findings,
        unusable=list(unusable),
    )
