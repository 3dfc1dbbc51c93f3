"""What is odd in a config file: shown with the server that it is about, or with the file if that was not started."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_launch.config.entries import Finding
from mcp_launch.shapes import CheckReport, FindingReport, ServerReport

__all__ = ["found_in", "of_files", "of_server", "placed", "shown", "with_findings"]


def found_in(source: str, findings: Iterable[Finding]) -> list[FindingReport]:
    """The findings of a file, as a report has them."""
    return [
        FindingReport(
            source=source,
            line=each.line,
            column=each.column,
            level="note" if each.is_note else "warning",
            server=each.server,
            code=each.code,
            message=each.message,
        )
        for each in findings
    ]


def of_server(report: CheckReport, server: ServerReport) -> list[FindingReport]:
    """The findings about this server."""
    return [each for each in report["findings"] if each["server"] == server["name"]]


def of_files(report: CheckReport) -> list[FindingReport]:
    """The findings about no server that was started."""
    names = {server["name"] for server in report["servers"]}
    return [each for each in report["findings"] if each["server"] not in names]


def with_findings(report: CheckReport) -> list[ServerReport]:
    """The servers, each with the findings about it among its warnings."""
    return [
        {**server, "warnings": [*map(placed, of_server(report, server)), *server["warnings"]]}
        for server in report["servers"]
    ]


def shown(found: FindingReport) -> str:
    """A line for people, as compilers write it: `source:line:column: warning: server: message [code]`."""
    place = f"{found['source']}:{found['line']}:{found['column']}"
    return f"{place}: {found['level']}: {_about(found)}{found['message']} [{found['code']}]"


def placed(found: FindingReport, *, named: bool = False) -> str:
    """The same without the level, and without the server unless it is to be `named`."""
    place = f"{found['source']}:{found['line']}:{found['column']}"
    return f"{place}: {_about(found) if named else ''}{found['message']} [{found['code']}]"


def _about(found: FindingReport) -> str:
    return "" if found["server"] is None else f"{found['server']}: "
