"""Writes lines to standard output and standard error, with colours on a terminal, and makes text safe to show."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO, TypeAlias

from acp_bindings._standard_streams import printable, shown_on
from mcp_launch._command.inputs import Session
from mcp_launch._json_values import as_items, indented
from mcp_launch.config._entries import Finding
from mcp_launch.failures import UnusableInput
from mcp_launch.report import CheckReport, FindingReport, ServerReport

Styled: TypeAlias = tuple[str, str]
"""A string and its style, as named by rich."""

_writing = threading.Lock()
"""Several threads write to standard error; this keeps lines intact."""


def harmless(text: str) -> str:
    """Return a text of several lines without control characters, except line ends and tabs."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.splitlines())


def write(*parts: str | Styled) -> None:
    """Write a line to standard output, with spaces between its parts."""
    _write(sys.stdout, parts)


def write_json(document: object) -> None:
    with _writing:
        sys.stdout.write(f"{indented(document)}\n")
        sys.stdout.flush()


def write_file(text: str) -> None:
    """Write the text of a file to standard output as UTF-8, independent of the terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.flush()


def remark(*parts: str | Styled) -> None:
    """Write a line to standard error. Errors are ignored, because the exit status still reports the outcome."""
    with suppress(OSError):
        _write(sys.stderr, parts)


def complain(message: str) -> None:
    """Print an error of the command to standard error."""
    remark(f"mcp-launch: {printable(message)}")


def has_terminal() -> bool:
    """Return True if there is a terminal at which the user can answer questions."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(intro: str, lines: Iterable[str], question: str) -> bool:
    """Show lines at the terminal, and return True if the user says yes to a question about them."""
    remark(intro)
    for line in lines:
        remark(f"  {line}")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _write(stream: TextIO, parts: tuple[str | Styled, ...]) -> None:
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    # Everything from servers and files passes through here.
    styled = [(shown_on(stream, text), style) for text, style in pairs]
    with _writing:
        if stream.isatty() or os.environ.get("FORCE_COLOR"):
            # Imported late: it takes as long as the start of a server, and is not needed for a pipe.
            from rich.console import Console  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415

            console = Console(file=stream, highlight=False, soft_wrap=True)
            console.print(*(Text(text, style) for text, style in styled))
        else:
            print(*(text for text, _ in styled), file=stream)
        stream.flush()


def found_in(source: str, findings: Iterable[Finding]) -> list[FindingReport]:
    """Return the findings of a file in the format of reports."""
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


def findings_of(sessions: Iterable[Session]) -> list[FindingReport]:
    """Return the findings of all files in the format of reports."""
    return [each for session in sessions for each in found_in(session.source, session.findings)]


def of_server(report: CheckReport, server: ServerReport) -> list[FindingReport]:
    return [each for each in report["findings"] if each["server"] == server["name"]]


def of_files(report: CheckReport) -> list[FindingReport]:
    """Return the findings that do not concern a server of the report."""
    names = {server["name"] for server in report["servers"]}
    return [each for each in report["findings"] if each["server"] not in names]


def with_findings(report: CheckReport) -> list[ServerReport]:
    """Return the servers, with their findings among their warnings."""
    return [
        {**server, "warnings": [*map(placed, of_server(report, server)), *server["warnings"]]}
        for server in report["servers"]
    ]


def shown(found: FindingReport) -> str:
    """Return a line in the style of compilers: `source:line:column: warning: server: message [code]`."""
    return placed(found, f"{found['level']}: ", named=True)


def placed(found: FindingReport, level: str = "", *, named: bool = False) -> str:
    """Return the line without the level, and with the server only if *named*."""
    server = f"{found['server']}: " if named and found["server"] is not None else ""
    place = "" if found["line"] is None else f"{found['source']}:{found['line']}:{found['column']}: "
    return f"{place}{level}{server}{found['message']} [{found['code']}]"


def print_lines(found: CheckReport) -> None:
    servers = found["servers"]
    width = max((len(server["name"]) for server in servers), default=0)
    print_findings(of_files(found))
    if not servers:
        write("no servers")
    for server in servers:
        write(*_line(server, width=width))
        remark_difference(server)
        print_findings(of_server(found, server))
        remark_warnings(server["name"], server["warnings"])


def remark_failure(server: ServerReport) -> None:
    """Print to standard error why a server cannot be used."""
    remark(*_line(server))


def remark_difference(server: ServerReport) -> None:
    """Print to standard error how the tools of a server differ from their lock."""
    if (failure := server["failure"]) and failure["code"] == "changed":
        for line in failure["facts"]["diff"].splitlines():
            remark((f"  {printable(line)}", diff_style(line)))


def diff_style(line: str) -> str:
    """Return the style of a line of a unified difference."""
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def remark_warnings(server: str, warnings: Iterable[str]) -> None:
    for warning in warnings:
        remark((printable(f"warning: {server}: {warning}"), "yellow"))


def print_findings(findings: Iterable[FindingReport]) -> None:
    for each in findings:
        remark((printable(shown(each)), "dim" if each["level"] == "note" else "yellow"))


def _line(server: ServerReport, *, width: int = 0) -> list[str | Styled]:
    mark = ("ok  ", "green") if server["failure"] is None else ("FAIL", "red")
    name = printable(server["name"]).ljust(width)
    kind = (server["transport"] or "?").ljust(5)
    return [mark, (name, "bold"), (kind, "dim"), printable(_outcome(server))]


def _outcome(server: ServerReport) -> str:
    if failure := server["failure"]:
        return f"{failure['code']} in {failure['stage']} after {failure['elapsed']:.1f} s: {failure['message']}"
    tools = [tool["name"] for tool in server["tools"] or ()]
    count = "no tools" if not tools else f"{len(tools)} tool{'s' if len(tools) > 1 else ''}: {', '.join(tools)}"
    return f"{count} ({sum(server['seconds'].values()):.1f} s)"


_LISTED: dict[str, Any] = {"servers": []}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "check": {"servers": [], "findings": []},
    "lint": {"servers": [], "findings": []},
    "tools": _LISTED,
    "resources": _LISTED,
    "prompts": _LISTED,
    "fix": {"servers": [], "diff": "", "written": False, "backup": None, "findings": []},
    "call": {"server": None, "tool": None, "result": None, "saved": [], "error": None, "failure": None},
}
"""The members of each command's JSON document if it did nothing."""


def write_refusal(command: str, reasons: Sequence[str], **known: str) -> None:
    """Print the JSON document of a command that did nothing."""
    write_json({"ok": False, **DOCUMENTS[command], **known, "unusable": list(reasons)})


@contextmanager
def refusing(command: str, *, as_json: bool) -> Generator[None]:
    """Also print the message of an UnusableInput as the JSON document of a command, if *as_json*."""
    try:
        yield
    except UnusableInput as error:
        if as_json:
            write_refusal(command, [str(error)])
        raise


def fact_lines(value: object) -> list[str]:
    """Return the lines of a fact of a failure: those of a string or a list of strings, and everything else as JSON."""
    items = [value] if isinstance(value, str) else as_items(value)
    if items and all(isinstance(each, str) for each in items):
        return "\n".join(items).splitlines() or [""]
    return [json.dumps(value, ensure_ascii=False)]


def named_fact(name: str, value: object) -> Iterator[str]:
    """Yield a fact of a failure after its name, or below it if it has several lines."""
    first, *more = fact_lines(value)
    if more:
        yield f"{name}:"
        yield from (f"    {line}" for line in (first, *more))
    else:
        yield f"{name}: {first}"


def elapsed(server: ServerReport) -> float:
    """Return the seconds from the start of a server until it was ready or had failed."""
    spent = sum(server["seconds"].values())
    # Stages are rounded separately, so their sum may be slightly longer than `elapsed`.
    return max(spent, server["failure"]["elapsed"]) if server["failure"] else spent
