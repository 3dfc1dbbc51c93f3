"""The pytest plugin: `--acp-agent` makes a test of each check."""

from __future__ import annotations

import shlex
import sys

import pytest

from acp_bindings.probe import CHECKS
from tests.acp_bindings.probe.mutants import AGENT

pytestmark = pytest.mark.full
pytest_plugins = ["pytester"]


def run_on(pytester: pytest.Pytester, *arguments: str, agent: list[str] = AGENT) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--acp-agent", shlex.join(agent), *arguments)


def test_each_check_is_a_test(pytester: pytest.Pytester) -> None:
    result = run_on(pytester, "--collect-only", "-q", "--acp-version", "2")

    ids = {line.rpartition("::")[2] for line in result.outlines if "::" in line}
    assert ids == {each.id for each in CHECKS if 2 in each.versions}


def test_a_failed_check_is_a_failed_test(pytester: pytest.Pytester) -> None:
    result = run_on(pytester, "-k", "unique or negotiation.info or login", agent=[*AGENT, "sessions.unique"])

    result.assert_outcomes(passed=1, failed=1, skipped=1, deselected=len(_OF_V1) - 3)
    result.stdout.fnmatch_lines(["*both have the same id*", "*try: Make a new id for each session.*"])


def test_a_warning_is_a_warning(pytester: pytest.Pytester) -> None:
    result = run_on(pytester, "-k", "relative", agent=[*AGENT, "sessions.relative-cwd"])

    result.assert_outcomes(passed=1, warnings=1, deselected=len(_OF_V1) - 1)


def test_an_agent_that_does_not_start_is_an_error_of_each_test(pytester: pytest.Pytester) -> None:
    result = run_on(pytester, "-k", "unique", agent=["no-such-agent"])

    result.assert_outcomes(failed=1, deselected=len(_OF_V1) - 1)
    result.stdout.fnmatch_lines(["*command not found*"])


def test_other_tests_run_beside_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_own(): pass")

    run_on(pytester, "-k", "test_own or negotiation.info").assert_outcomes(passed=2, deselected=len(_OF_V1) - 1)


def test_the_plugin_imports_nothing_until_it_is_used() -> None:
    import subprocess

    code = "import sys, acp_bindings.probe._plugin; print([m for m in sys.modules if m in ('anyio', 'pydantic')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


_OF_V1 = [each.id for each in CHECKS if 1 in each.versions]
