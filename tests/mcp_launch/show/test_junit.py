"""Reports as JUnit XML: what CI systems read in them, and that the output of servers cannot break or abuse them."""

from __future__ import annotations

import re
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest

from mcp_launch._command.show import junit
from mcp_launch.failures import Code
from mcp_launch.report import CheckReport, ServerReport
from tests.mcp_launch.show.reports import WHEN, failed, finding, report, tool, works

# What junit-10.xsd of Jenkins' xUnit plugin allows, of which GitLab and others read a part.
COUNTS = {"name", "time", "tests", "failures", "errors"}
ATTRIBUTES = {
    "testsuites": COUNTS,
    "testsuite": {*COUNTS, "skipped", "timestamp"},
    "testcase": {"name", "time", "classname"},
    "failure": {"type", "message"},
    "system-out": set[str](),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "system-out"},
    "failure": set[str](),
    "system-out": set[str](),
}
TIME = re.compile(r"\d+\.\d{3}")


def written(found: CheckReport, *, source: str = "servers.json", strict: bool = False) -> str:
    return junit.junit_xml(found, source=source, when=WHEN, strict=strict)


def suite(*servers: ServerReport, source: str = "servers.json", strict: bool = False) -> ET.Element:
    (found,) = ET.fromstring(written(report(*servers), source=source, strict=strict))
    return found


def test_the_suite_counts_its_servers() -> None:
    found = suite(works(), failed(elapsed=1.5))

    assert found.attrib == {
        "name": "servers.json",
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
        "time": "1.500",
        "timestamp": "2026-11-21T09:05:07",
    }


def test_each_server_is_a_test_case() -> None:
    found = suite(works("files"), failed("broken", elapsed=1.5))

    assert [case.attrib for case in found] == [
        {"name": "files", "classname": "mcp-launch.servers_json", "time": "0.550"},
        {"name": "broken", "classname": "mcp-launch.servers_json", "time": "1.500"},
    ]
    assert [[child.tag for child in case] for case in found] == [["system-out"], ["failure", "system-out"]]


def test_a_failure_has_its_code_its_message_and_its_evidence() -> None:
    facts: dict[str, Any] = {"stderr": ["starting", "no key"], "exit_code": 1, "body": "two\nlines", "host": "ü"}
    facts |= {"stdout": [], "numbers": [1, "é"]}
    (told,) = suite(failed(message="exited with status 1; no key", advice="Set KEY.", facts=facts)).iter("failure")

    assert told.attrib == {"type": "exited", "message": "exited with status 1; no key"}
    assert told.text == (
        "exited with status 1; no key\n"
        "\n"
        "what to try: Set KEY.\n"
        "code: exited, in handshake after 1.500 s\n"
        "stderr:\n    starting\n    no key\n"
        "exit_code: 1\n"
        "body:\n    two\n    lines\n"
        'host: ü\nstdout: []\nnumbers: [1, "é"]'
    )


def test_the_output_of_a_test_case_describes_its_server() -> None:
    (out,) = suite(works(warnings=["is deprecated"])).iter("system-out")

    assert (out.text or "").splitlines() == [
        "transport: stdio",
        "target: /usr/bin/files-mcp",
        "server info: Files 1.2.0",
        "MCP: 2025-06-18",
        "spawn: 0.010 s",
        "handshake: 0.500 s",
        "list: 0.040 s",
        "tools: 1",
        "resources: 0",
        "resource templates: 0",
        "prompts: 1",
        "tool: read",
        "warning: is deprecated",
    ]


def test_a_server_with_warnings_has_failed_with_strict() -> None:
    old = works("old", warnings=["is deprecated", "wrote a log"])
    servers = (works("fine"), old, failed(warnings=["is deprecated"]))

    lenient, strict = (suite(*servers, strict=strict) for strict in (False, True))

    assert [each.get("failures") for each in (lenient, strict)] == ["1", "2"]
    assert [[child.tag for child in case][:-1] for case in lenient] == [[], [], ["failure"]]
    told = {case.get("name"): failure for case in strict for failure in case.iter("failure")}
    assert {name: failure.get("type") for name, failure in told.items()} == {"old": "warning", "broken": "exited"}
    assert told["old"].get("message") == "is deprecated"
    assert told["old"].text == "is deprecated\nwrote a log\n\n--strict treats warnings as failures."


def test_findings_are_at_their_server_or_after_all() -> None:
    findings = [finding(None, "is not read", level="note"), finding("files", "${A} is not set")]
    (found,) = ET.fromstring(written(report(works("files"), findings=findings)))

    case, beside = found
    assert (beside.tag, beside.text) == ("system-out", "f.json:2:3: note: is not read [unset_variable]")
    (told,) = case
    assert "warning: f.json:2:3: ${A} is not set [unset_variable]" in (told.text or "").splitlines()


@pytest.mark.parametrize(
    "servers",
    [
        [],
        [works(), failed()],
        [failed(code=code, transport=None, target=None, facts={"more": [{"a": None}]}) for code in get_args(Code)],
        [
            failed(message="\x00\x1b[0m]]>&<\"'", facts={"<&>": "\ud800"}),
            works("<x>&\x0b", tools=[tool("\ufffe", "]]>")]),
        ],
    ],
    ids=["none", "all kinds", "every code", "hostile"],
)
def test_every_report_matches_the_schema(servers: list[ServerReport]) -> None:
    text = written(report(*servers), source="dir/ser\x00vers.json")

    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>\n<testsuites")
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert TIME.fullmatch(element.get("time", "0.000"))
    for each in root.iter("testsuite"):
        assert set(each.attrib) == ATTRIBUTES["testsuite"]


def test_markup_in_text_of_servers_is_escaped() -> None:
    nasty = "</system-out></testcase><!-- ]]> & <![CDATA[\"'"
    found = suite(works(nasty, tools=[tool(nasty)], warnings=[nasty]), failed(message=nasty, facts={nasty: nasty}))

    assert [len(case) for case in found] == [1, 2]
    assert found[0].get("name") == nasty
    assert found[1][0].get("message") == nasty
    assert f"tool: {nasty}" in (found[0][0].text or "")


def test_servers_with_the_same_name_get_unique_test_cases() -> None:
    names = ["files", "files (2)", "files", "files"]
    found = suite(*(failed(name, code="duplicate_name") for name in names))

    assert [case.get("name") for case in found] == ["files", "files (2)", "files (3)", "files (4)"]


def test_a_server_cannot_have_files_of_the_build_published() -> None:
    # By this line on a test's output Jenkins and GitLab attach a file to its result.
    line = "[[ATTACHMENT|/etc/passwd]]"
    text = written(report(works(line, tools=[tool(line)], warnings=[line]), failed(message=line, facts={line: [line]})))

    assert "[[ATTACHMENT|" not in text
    assert "[[ATTACHMENT |/etc/passwd]]" in text
