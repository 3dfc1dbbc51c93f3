"""A report as JUnit XML for CI systems, with a test case for each server."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement

from acp_bindings._reports import JUnit, fit
from mcp_launch._command.show.text import elapsed, named_fact, of_files, shown, with_findings
from mcp_launch.failures import FailureJson
from mcp_launch.report import CheckReport, ServerReport


def junit_xml(report: CheckReport, *, source: str, when: datetime, strict: bool = False) -> str:
    """Return the report on the servers of *source*, started at *when*. With *strict*, a warning is a failure."""
    servers = with_findings(report)
    junit = JUnit(
        "mcp-launch",
        source,
        tests=len(servers),
        failures=sum(_has_failed(server, strict=strict) for server in servers),
        skipped=0,
        # All servers start at once.
        seconds=max(map(elapsed, servers), default=0.0),
        when=when,
    )
    # Jenkins treats the part before the last dot as a package.
    classname = "mcp-launch." + re.sub(r"[./\\]+", "_", fit(source)).strip("_")
    for name, server in zip(_names(servers), servers, strict=True):
        _add_outcome(junit.case(name, classname, seconds=elapsed(server)), server, strict=strict)
    if found := of_files(report):
        SubElement(junit.suite, "system-out").text = fit("\n".join(map(shown, found)))
    return junit.text()


def _add_outcome(case: Element, server: ServerReport, *, strict: bool) -> None:
    if failure := server["failure"]:
        element = SubElement(case, "failure", type=failure["code"], message=fit(failure["message"]))
        # The facts are here instead of in system-out, because GitLab and reporters for GitHub only show this.
        element.text = fit("\n".join(_failure(failure)))
    elif _has_failed(server, strict=strict):
        element = SubElement(case, "failure", type="warning", message=fit(server["warnings"][0]))
        element.text = fit("\n".join([*server["warnings"], "", "--strict treats warnings as failures."]))
    SubElement(case, "system-out").text = fit("\n".join(_facts_of(server)))


def _names(servers: list[ServerReport]) -> Iterator[str]:
    """Yield a unique name for each server; CI systems merge test cases with the same name."""
    seen: set[str] = set()
    for server in servers:
        own = name = fit(server["name"])
        again = itertools.count(2)
        while name in seen:
            name = f"{own} ({next(again)})"
        seen.add(name)
        yield name


def _has_failed(server: ServerReport, *, strict: bool) -> bool:
    return server["failure"] is not None or (strict and bool(server["warnings"]))


def _failure(failure: FailureJson) -> Iterator[str]:
    yield failure["message"]
    yield ""
    yield f"what to try: {failure['advice']}"
    yield f"code: {failure['code']}, in {failure['stage']} after {failure['elapsed']:.3f} s"
    for name, value in failure["facts"].items():
        yield from named_fact(name, value)


def _facts_of(server: ServerReport) -> Iterator[str]:
    """Yield a line for each fact about a server."""
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
    for warning in server["warnings"]:
        yield f"warning: {warning}"
