"""`pytest --mcp-config FILE`: a test for each server of the file."""

from __future__ import annotations

import json
import sys
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from mcp_launch.report import ServerReport
from mcp_launch.testing import _items
from tests.mcp_launch.show.test_ci import commands_in
from tests.mcp_launch.support import MARK, SECRET, SERVERS, Marked
from tests.mcp_launch.testing.runs import PLAIN, interrupted, run, write, write_json

pytest_plugins = ["pytester"]


def test_each_server_is_a_test_that_reports_its_failure(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="works"), marked.plain("exits_with_message", name="broken"))

    result = run(pytester, "--mcp-config", "servers.json", "-v")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "servers.json::works PASSED*",
            "servers.json::broken FAILED*",
            "broken: exited with status 3; it wrote on stderr: cannot start with key ?redacted?",
            "    exited in handshake after * s",
            "    stderr: cannot start with key ?redacted?",
            "    exit_code: 3",
            "FAILED servers.json::broken - Failed: broken: exited with status 3*",
        ]
    )
    assert SECRET not in str(result.stdout)


def test_text_of_servers_contains_no_ci_commands(pytester: pytest.Pytester, marked: Marked) -> None:
    server = str(SERVERS / "ci.py")
    works, fails = (marked.stdio(name, sys.executable, "-S", server, *mode) for name, *mode in (("a",), ("b", "fails")))
    write(pytester, works, fails)

    result = run(pytester, "--mcp-config", "servers.json", "-W", "default::pytest.PytestWarning")

    result.assert_outcomes(passed=1, failed=1, warnings=1)
    assert ": :error" in str(result.stdout)
    assert not [*commands_in(str(result.stdout))]


def test_the_file_of_any_client_is_read_by_its_rules(pytester: pytest.Pytester, marked: Marked) -> None:
    args = ["-S", str(PLAIN), "works"]
    entry: dict[str, Any] = {"command": sys.executable, "args": args, "env": {MARK: marked.mark}}
    project = pytester.mkdir("project")
    (project / "below").mkdir()
    (project / "below" / "here.py").write_text(PLAIN.read_text(encoding="utf-8"), encoding="utf-8")
    servers = {
        "below": {**entry, "args": ["-S", "here.py"], "cwd": "${workspaceFolder}/below"},
        "odd": {**entry, "args": [*args, "${env:NOT_SET_ANYWHERE}"]},
    }
    gate = pytester.path / "gate"
    disabled = {**entry, "args": ["-S", str(PLAIN), "works_once"], "env": {"GATE": str(gate)}, "enabled": False}
    off = {"context_servers": {"off": disabled, "on": entry}}
    write_json(pytester, {"servers": servers}, to="project/.vscode/mcp.json")
    write_json(pytester, off, to=".zed/settings.json")

    vscode = run(pytester, "--mcp-config", "project/.vscode/mcp.json", "-W", "default::pytest.PytestWarning", "-v")
    zed = run(pytester, "--mcp-config", ".zed/settings.json", "-rs")

    vscode.assert_outcomes(passed=2, warnings=1)
    vscode.stdout.fnmatch_lines(["*McpServerWarning: odd: mcp.json:1:*: ${env:NOT_SET_ANYWHERE} is not set*"])
    assert marked.mark not in str(vscode.stdout)
    zed.assert_outcomes(passed=1, skipped=1)
    zed.stdout.fnmatch_lines(["SKIPPED * settings.json:1:22: is disabled in Zed and not started"])
    assert not gate.exists()


def test_inputs_of_the_file_can_be_set(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    server = {"command": sys.executable, "args": ["-S", str(PLAIN)], "env": {"A": "${input:a-key}", "B": "${input:b}"}}
    write_json(pytester, {"servers": {"asks": server}}, to=".vscode/mcp.json")
    (pytester.path / "test_own.py").write_text("def test_it(mcp_server): mcp_server('asks')")
    monkeypatch.setenv("A_KEY", "x")
    file = ("--mcp-config", ".vscode/mcp.json", "-W", "default::pytest.PytestWarning")

    without = run(pytester, *file)
    given = run(pytester, *file, "--mcp-set", "a-key", "--mcp-set", "b=y")
    wrong = run(pytester, *file, "--mcp-set", "c")

    without.stdout.fnmatch_lines(["*VS Code asks the user for ${input:a-key}; pass --mcp-set a-key=VALUE (*"])
    given.assert_outcomes(passed=2, warnings=0)
    wrong.stdout.fnmatch_lines(["*--mcp-set c: the variable c is not set; use c=VALUE"])


def test_findings_about_the_file_are_reported_once(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="one"), marked.plain(name="two"), to=".mcp.json")

    result = run(pytester, "--mcp-config", ".mcp.json", "-W", "default::pytest.PytestWarning")

    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["*McpServerWarning: .mcp.json:1:1: Claude Code will not find these servers*"])


def test_a_failed_server_is_reported_with_findings_about_its_entry(pytester: pytest.Pytester, marked: Marked) -> None:
    args = [sys.executable, "-S", str(PLAIN), "exits_silently", "${NOT_SET_ANYWHERE}"]
    entry = {"command": "env", "args": args}
    write_json(pytester, {"mcpServers": {"broken": entry}}, to=".mcp.json")

    result = run(pytester, "--mcp-config", ".mcp.json")

    result.assert_outcomes(failed=1)
    told = ["    exit_code: 7", "    warning: .mcp.json:1:*NOT_SET_ANYWHERE*"]
    result.stdout.fnmatch_lines(told)
    result.stdout.no_fnmatch_line("    stderr:*")


def test_the_value_of_a_variable_in_an_argument_is_redacted(
    pytester: pytest.Pytester, marked: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_ARGUMENT", SECRET)
    entry = {"command": "/bin/sh", "args": ["-c", 'echo "with $0" >&2; exit 3', "${SECRET_ARGUMENT}"]}
    write_json(pytester, {"mcpServers": {"odd": entry}}, to=".mcp.json")
    pytester.makepyfile("def test_it(mcp_server):\n    mcp_server('odd')")

    result = run(pytester, "--mcp-config", ".mcp.json")

    result.assert_outcomes(failed=2)
    assert str(result.stdout).count("it wrote on stderr: with [redacted]") >= 2
    assert SECRET not in str(result.stdout)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "*servers.json:1:2: *"),
        (b"\xff", "*servers.json: not UTF-8 at byte 0"),
        pytest.param(bytes(16 * 2**20 + 1), "*servers.json: is larger than 16 MB*", id="large"),
    ],
)
def test_an_unusable_file_is_an_error_with_the_reason(content: bytes, why: str, pytester: pytest.Pytester) -> None:
    (pytester.path / "servers.json").write_bytes(content)

    result = run(pytester, "--mcp-config", "servers.json")

    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([why])
    result.stdout.no_fnmatch_line("*read_servers*")


def test_the_servers_start_together_and_each_once(pytester: pytest.Pytester, marked: Marked) -> None:
    gate = {"GATE": str(pytester.path / "gate")}
    # The first is ready when the second has run, and the second could not run twice.
    write(
        pytester,
        marked.plain("waits_at_gate", name="first", env=gate),
        marked.plain("works_once", name="second", env=gate),
    )

    run(pytester, "--mcp-config", "servers.json", "--mcp-timeout", "20").assert_outcomes(passed=2)


def test_a_server_that_is_not_selected_is_not_started(pytester: pytest.Pytester, marked: Marked) -> None:
    gate = pytester.path / "gate"
    write(pytester, marked.plain(name="works"), marked.plain("works_once", name="other", env={"GATE": str(gate)}))

    run(pytester, "--mcp-config", "servers.json", "-k", "works").assert_outcomes(passed=1, deselected=1)
    run(pytester, "--mcp-config", "servers.json", "servers.json::works").assert_outcomes(passed=1)
    collected = run(pytester, "--mcp-config", "servers.json", "--collect-only")
    collected.stdout.fnmatch_lines(["*<McpConfig servers.json>", "*<McpServer works>", "*<McpServer other>"])
    assert not gate.exists()

    run(pytester, "--mcp-config", "servers.json", "servers.json::other").assert_outcomes(passed=1)
    assert gate.exists()


def test_the_servers_are_closed_after_the_last_of_their_tests(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="one"), marked.plain(name="two"))
    running = f"marked_processes({MARK!r}, {marked.mark!r})"
    pytester.makepyfile(
        test_later=f"from tests.leftovers import marked_processes\ndef test_later(): assert {running} == []\n"
    )

    ordered = ("--mcp-config", "servers.json", "servers.json", "test_later.py")
    run(pytester, *ordered).assert_outcomes(passed=3)


def test_a_warning_about_a_server_is_a_pytest_warning(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.stdio("plain", "env", "-S", f"{sys.executable} -S {PLAIN}"))

    told = run(pytester, "--mcp-config", "servers.json", "-W", "default::pytest.PytestWarning")
    told.assert_outcomes(passed=1, warnings=1)
    told.stdout.fnmatch_lines(["*servers.json:0: McpServerWarning: plain: *absolute path*"])

    refused = run(pytester, "--mcp-config", "servers.json")
    refused.assert_outcomes(failed=1)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_workers_start_each_server_once_and_junit_output_describes_it(
    workers: str, pytester: pytest.Pytester, marked: Marked
) -> None:
    # These would fail if they were started again, by another worker.
    names = ("one", "two", "three", "same")
    once = [marked.plain("works_once", name=name, env={"GATE": str(pytester.path / name)}) for name in names]
    broken = marked.plain("exits_with_message", name="broken")
    write(pytester, *once, once[-1], {"name": "", "command": 5}, broken)

    result = run(pytester, "--mcp-config", "servers.json", "--junitxml", "out.xml", "-n", workers)

    result.assert_outcomes(passed=4, failed=3)
    result.stdout.fnmatch_lines(["same: another server has the same name*", "    duplicate_name in spec"])
    result.stdout.fnmatch_lines(["FAILED servers.json::mcpServers?5? - *"])
    cases = ElementTree.parse(pytester.path / "out.xml").findall(".//testcase")
    known = {
        (case.get("name"), about.pop("mcp_code", None)): about
        for case in cases
        for about in [{each.get("name"): each.get("value") for each in case.findall(".//property")}]
    }
    assert known.keys() == {
        *((name, None) for name in names),
        *(("same", "duplicate_name"), ("mcpServers[5]", "invalid_spec"), ("broken", "exited")),
    }
    works, twin, fails = (known[each] for each in (("one", None), ("same", "duplicate_name"), ("broken", "exited")))
    assert (works["mcp_transport"], works["mcp_protocol_version"], works["mcp_tools"]) == ("stdio", "2025-06-18", "1")
    assert (fails["mcp_stage"], twin["mcp_stage"]) == ("handshake", "spec")
    assert json.loads(fails["mcp_facts"] or "")["exit_code"] == 3
    assert "mcp_protocol_version" not in fails


def test_the_seconds_of_a_server_that_failed_include_the_stage_in_which_it_failed() -> None:
    failure: dict[str, Any] = {"code": "timeout", "stage": "handshake", "elapsed": 5.0, "facts": {}}
    known: dict[str, Any] = {"transport": "stdio", "target": "s", "protocol_version": None, "counts": {}}
    report = cast("ServerReport", {**known, "seconds": {"spawn": 0.1}, "failure": failure})

    assert ("mcp_seconds", "5.0") in _items._properties(report)  # pyright: ignore[reportPrivateUsage]


def test_the_config_of_the_ini_file_is_tested_when_no_tests_are_named(
    pytester: pytest.Pytester, marked: Marked
) -> None:
    write(pytester, marked.plain(name="works"), to="sub/.editor/servers.json")
    pytester.makeini("[pytest]\nmcp_config = sub/.editor/servers.json\n")
    pytester.makepyfile(test_own="def test_own(): pass")

    run(pytester).assert_outcomes(passed=2)
    run(pytester, "-k", "own").assert_outcomes(passed=1, deselected=1)
    run(pytester, "test_own.py").assert_outcomes(passed=1)
    run(pytester, ".").assert_outcomes(passed=1)
    run(pytester, "sub/.editor/servers.json::works").assert_outcomes(passed=1)
    run(pytester, "--mcp-config", "sub/.editor/servers.json", "test_own.py").assert_outcomes(passed=2)


def test_the_timeout_and_directory_of_the_options_apply(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("mute", name="slow"))
    for said in (("--mcp-timeout", "1"), ("-o", "mcp_timeout=1")):
        result = run(pytester, "--mcp-config", "servers.json", *said)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["    timeout in handshake after * s", "    budget: [01].*"])

    folder = pytester.mkdir("elsewhere")
    (folder / "here.py").write_text(PLAIN.read_text(encoding="utf-8"), encoding="utf-8")
    write(pytester, marked.stdio("here", sys.executable, "-S", "here.py"))
    run(pytester, "--mcp-config", "servers.json").assert_outcomes(failed=1)
    run(pytester, "--mcp-config", "servers.json", "--mcp-cwd", "elsewhere").assert_outcomes(passed=1)
    session = {"cwd": str(folder), "mcpServers": [marked.stdio("here", sys.executable, "-S", "here.py")]}
    write_json(pytester, session, to="servers.json")
    run(pytester, "--mcp-config", "servers.json").assert_outcomes(passed=1)


@pytest.mark.parametrize("given", ["soon", "0", "nan"])
def test_an_invalid_timeout_is_refused(given: str, pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain())

    result = run(pytester, "--mcp-config", "servers.json", "-o", f"mcp_timeout={given}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*mcp_timeout must be a positive number of seconds, not '{given}'"])


def test_an_absent_file_is_a_usage_error(pytester: pytest.Pytester) -> None:
    absent = run(pytester, "--mcp-config", "absent.json")

    assert absent.ret == pytest.ExitCode.USAGE_ERROR
    absent.stderr.fnmatch_lines(["*--mcp-config: *absent.json does not exist"])


def test_stopping_at_the_first_failure_leaves_no_server(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("exits_silently", name="broken"), marked.plain("ignores_end", name="stubborn"))

    run(pytester, "--mcp-config", "servers.json", "-x").assert_outcomes(failed=1)


def test_an_interrupt_leaves_no_server(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("ignores_end", name="stubborn"), marked.plain("mute", name="slow"))

    assert "KeyboardInterrupt" in interrupted("--mcp-config", "servers.json", marked=marked, servers=2)
