"""A report as JUnit XML, which CI systems show: a test case for each server."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO, cast
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from acp_bindings._cli import without_ci_commands
from mcp_launch._command.show.text import ADVICE, elapsed, of_files, shown, visible, with_findings
from mcp_launch.failures import FailureJson
from mcp_launch.report import CheckReport, ServerReport


def write(report: CheckReport, file: TextIO, *, source: str, when: datetime, strict: bool = False) -> None:
    """Write what became of the servers of `source`, which were started at `when`; with `strict` a warning is a failure.

    The form is that of junit-10.xsd of Jenkins' xUnit plugin, which GitLab and the reporters of GitHub read as well.
    """
    servers = with_findings(report)
    counts = {
        "tests": str(len(servers)),
        "failures": str(sum(_has_failed(server, strict=strict) for server in servers)),
        "errors": "0",
        # All of them start at once.
        "time": _seconds(max(map(elapsed, servers), default=0.0)),
    }
    root = Element("testsuites", {"name": "mcp-launch", **counts})
    more = {
        "skipped": str(sum(_is_unsettled(server, strict=strict) for server in servers)),
        "timestamp": when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    }
    suite = SubElement(root, "testsuite", {"name": _fit(source), **counts, **more})
    # Jenkins takes what stands before the last dot for a package.
    classname = "mcp-launch." + re.sub(r"[./\\]+", "_", _fit(source)).strip("_")
    for name, server in zip(_names(servers), servers, strict=True):
        case = SubElement(suite, "testcase", name=name, classname=classname, time=_seconds(elapsed(server)))
        _tell(case, server, strict=strict)
    if found := of_files(report):
        SubElement(suite, "system-out").text = _fit("\n".join(map(shown, found)))
    indent(root)
    ElementTree(root).write(file, encoding="unicode", xml_declaration=True)
    file.write("\n")


def _tell(case: Element, server: ServerReport, *, strict: bool) -> None:
    if failure := server["failure"]:
        told = SubElement(case, "failure", type=failure["code"], message=_fit(failure["message"]))
        # The facts stand here and not in system-out, since GitLab and the reporters of GitHub show nothing else.
        told.text = _fit("\n".join(_failure(failure)))
    elif _has_failed(server, strict=strict):
        told = SubElement(case, "failure", type="warning", message=_fit(server["warnings"][0]))
        told.text = _fit("\n".join([*server["warnings"], "", "--strict treats warnings as failures."]))
    elif _is_unsettled(server, strict=strict):
        SubElement(case, "skipped", message=f"still in {server['stage']}")
    SubElement(case, "system-out").text = _fit("\n".join(_account(server)))


def _names(servers: list[ServerReport]) -> Iterator[str]:
    """A name for each; CI systems take two cases of one name for one."""
    seen: set[str] = set()
    for server in servers:
        own = name = _fit(server["name"])
        again = itertools.count(2)
        while name in seen:
            name = f"{own} ({next(again)})"
        seen.add(name)
        yield name


def _has_failed(server: ServerReport, *, strict: bool) -> bool:
    return server["failure"] is not None or (strict and bool(server["warnings"]))


def _is_unsettled(server: ServerReport, *, strict: bool) -> bool:
    return server["state"] == "starting" and not _has_failed(server, strict=strict)


def _failure(failure: FailureJson) -> Iterator[str]:
    yield failure["message"]
    yield ""
    yield f"what to try: {ADVICE[failure['code']]}"
    yield f"code: {failure['code']}, in {failure['stage']} after {failure['elapsed']:.3f} s"
    for name, value in failure["facts"].items():
        yield from _fact(name, value)


def _account(server: ServerReport) -> Iterator[str]:
    """What is known of a server, a line for each fact."""
    yield f"transport: {server['transport'] or 'unknown'}"
    if server["target"]:
        yield f"target: {server['target']}"
    if own := server["server"]:
        yield f"server info: {' '.join(own.values())}"
    if server["protocol_version"]:
        yield f"MCP: {server['protocol_version']}"
    for stage, seconds in server["seconds"].items():
        yield f"{stage}: {seconds:.3f} s"
    for kind, count in server["counts"].items():
        yield f"{kind.replace('_', ' ')}: {count}"
    for tool in server["tools"] or ():
        yield f"tool: {tool['name']}"
    if server["restarts"]:
        yield f"restarts: {server['restarts']}"
    for warning in server["warnings"]:
        yield f"warning: {warning}"


def _fact(name: str, value: Any) -> Iterator[str]:
    match value:
        case str() if "\n" not in value:
            yield f"{name}: {value}"
        case str():
            yield f"{name}:"
            yield from (f"    {line}" for line in value.splitlines())
        case [*items] if items and all(isinstance(item, str) for item in items):
            yield f"{name}:"
            yield from (f"    {line}" for line in cast("list[str]", items))
        case _:
            yield f"{name}: {json.dumps(value, ensure_ascii=False)}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _fit(text: str) -> str:
    # Jenkins and GitLab publish the file at the path behind this marker, which a server must not choose. Reporters
    # print the texts to a log, where the runner looks for commands.
    return without_ci_commands(visible(text).replace("[[ATTACHMENT|", "[[ATTACHMENT |"))
