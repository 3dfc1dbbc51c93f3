"""`mcp-launch check`: starts all servers and reports which ones work, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from mcp_launch._command.find_servers import noted, read_inputs, started_ahead
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import (
    complain,
    findings_of,
    print_findings,
    print_lines,
    write,
    write_json,
    write_refusal,
)
from mcp_launch._command.trust import lines_of, planned
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
    # A report in a file cannot list invalid inputs, and one of these may contain a server that --only names.
    sessions, unusable = _inputs(typed, needs_all=bool(junit or html or typed.only))
    if unusable and not sessions:
        if as_json:
            write_refusal("check", unusable)
        return 2
    if locked:
        from mcp_launch._command.locking import with_locks  # noqa: PLC0415 - only needed for this

        sessions = with_locks(sessions, lock_file)
    wanted: Sequence[LintTarget] | None = None
    if targets is not None:
        from mcp_launch._command.linting import targets_of  # noqa: PLC0415 - only needed for this

        wanted = targets_of(targets)
    with started_ahead(sessions, strict=strict):
        # Imported while the servers start.
        from mcp_launch._command.run import run  # noqa: PLC0415
        from mcp_launch.options import Options  # noqa: PLC0415

        use = partial(_report, sessions, unusable=unusable, targets=wanted)
        report = run(typed, sessions, use, options=Options(strict=strict), quiet=as_json)
    if as_json:
        write_json(report)
    else:
        print_lines(report)
    source = ", ".join(dict.fromkeys(session.source for session in sessions))
    if not write_files(report, junit=junit, html=html, source=source, when=when, strict=strict) or unusable:
        return 2
    warned = any(server["warnings"] for server in report["servers"])
    warned |= any(each["level"] == "warning" for each in report["findings"])
    return 0 if report["ok"] and not (strict and warned) else 1


def write_files(
    report: CheckReport, *, junit: str | None, html: str | None, source: str, when: datetime, strict: bool
) -> bool:
    """Write the report on the servers of *source* as JUnit XML, as HTML, or both; return False if that fails.

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
    ok = True
    for path, text in files:
        try:
            atomic_write(path, text(report, source=source, when=when, strict=strict).encode())
        except OSError as error:
            complain(f"{path}: {error.strerror}")
            ok = False
    return ok


def list_servers(typed: Typed, *, as_json: bool) -> int:
    """Print the servers that would be started, and return the exit status."""
    sessions, unusable = _inputs(replace(typed, trust=True))
    found = findings_of(sessions)
    servers = planned(sessions)
    if as_json:
        write_json({"ok": not unusable, "servers": servers, "findings": found, "unusable": unusable})
    else:
        print_findings(found)
        for line in lines_of(servers):
            write(line)
    return 2 if unusable else 0


def _inputs(typed: Typed, *, needs_all: bool = False) -> tuple[list[Session], list[str]]:
    """Return the servers, and the errors of files that cannot be used, which are printed.

    Raises:
        UnusableInput: a file cannot be used, and *needs_all* is true.
    """
    if needs_all:
        return read_inputs(typed), []
    unusable: list[str] = []
    sessions: list[Session] = []
    with noted(unusable):
        sessions = read_inputs(typed, unusable=unusable)
    for each in unusable:
        complain(each)
    return sessions, unusable


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
