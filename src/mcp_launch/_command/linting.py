"""`mcp-launch lint`: prints what model APIs and clients reject in the tools of servers, and what the tools cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from acp_bindings._standard_streams import printable
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import remark_failure, shown, write, write_json
from mcp_launch._lint import DEFAULT_TARGETS, TARGETS, LintTarget, estimate_tokens, lint
from mcp_launch.failures import UnusableInput, did_you_mean
from mcp_launch.report import FindingReport, ServerReport

if TYPE_CHECKING:
    from mcp_launch._servers.launched import LaunchedServer
    from mcp_launch.config._entries import Entry
    from mcp_launch.fleet import Fleet


def targets_of(named: Sequence[str]) -> tuple[LintTarget, ...]:
    """Return the targets of `--for`: names, or `all`.

    Raises:
        UnusableInput: a name is unknown.
    """
    for unknown in (each for each in named if each not in TARGETS and each != "all"):
        hint = did_you_mean(unknown, TARGETS) or f"; use {', '.join(TARGETS)} or all"
        raise UnusableInput(f'--for: unknown target "{unknown}"{hint}')
    known: tuple[LintTarget, ...] = get_args(LintTarget)
    return tuple(each for each in known if each in named or "all" in named) or DEFAULT_TARGETS


def found_in_tools(
    sessions: Sequence[Session], fleets: Sequence[Fleet], targets: Collection[LintTarget]
) -> Iterator[FindingReport]:
    """Yield the findings in the tools of all servers that work."""
    for session, entry, server in _servers(sessions, fleets):
        is_file = session.origin != "typed"
        for found in lint(server.tools, server=entry.name, targets=targets):
            yield FindingReport(
                source=session.source,
                line=entry.place.line if is_file else None,
                column=entry.place.column if is_file else None,
                level="warning",
                server=server.name,
                code=found.rule,
                message=server.redact(str(found)),
            )


def lint_all(typed: Typed, sessions: Sequence[Session], targets: Collection[LintTarget], *, as_json: bool) -> int:
    """Start all servers, print the findings and costs, and return the exit status."""
    # Imported while the servers start.
    from mcp_launch._command.run import run  # noqa: PLC0415
    from mcp_launch.options import TOOLS  # noqa: PLC0415

    async def use(fleets: Sequence[Fleet]) -> int:
        found = list(found_in_tools(sessions, fleets, targets))
        reports = [report for fleet in fleets for report in fleet.report["servers"]]
        costs = [
            {server.redact(tool.name): estimate_tokens(tool) for tool in server.tools}
            for _, _, server in _servers(sessions, fleets)
        ]
        ok = not found and all(report["failure"] is None for report in reports)
        if as_json:
            servers = [
                {
                    "name": report["name"],
                    "tokens": sum(cost.values()),
                    "tools": [{"name": name, "tokens": tokens} for name, tokens in cost.items()],
                    "failure": report["failure"],
                }
                for report, cost in zip(reports, costs, strict=True)
            ]
            write_json({"ok": ok, "servers": servers, "findings": found, "unusable": []})
        else:
            for report, cost in zip(reports, costs, strict=True):
                _write(report, cost, [each for each in found if each["server"] == report["name"]])
        return 0 if ok else 1

    return run(typed, sessions, use, lists=TOOLS)


def _servers(sessions: Sequence[Session], fleets: Sequence[Fleet]) -> Iterator[tuple[Session, Entry, LaunchedServer]]:
    for session, fleet in zip(sessions, fleets, strict=True):
        for entry, server in zip(session.entries, fleet.servers, strict=True):
            yield session, entry, server


def _write(report: ServerReport, cost: dict[str, int], found: Sequence[FindingReport]) -> None:
    if report["failure"]:
        remark_failure(report)
        return
    total = sum(cost.values())
    count = f"{len(cost)} tool{'s' if len(cost) != 1 else ''}"
    write((printable(report["name"]), "bold"), f"{count}, about {total:,} tokens in each request (estimated)")
    width = len(f"{max(cost.values(), default=0):,}")
    for name, tokens in sorted(cost.items(), key=lambda each: -each[1]):
        write(f"  {tokens:>{width},}  {printable(name)}")
    for each in found:
        write((printable(shown(each)), "yellow"))
