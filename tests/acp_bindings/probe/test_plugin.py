"""The pytest plugin: `--acp-agent` makes a test of each check."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from acp_bindings.probe import CHECKS
from tests.acp_bindings.probe.mutants import AGENT

# The filters of these tests are those of the runs too.
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("default")]
pytest_plugins = ["pytester"]


def run_on(pytester: pytest.Pytester, *arguments: str, agent: list[str] = AGENT) -> pytest.RunResult:
    quiet = ("-p", "no:cacheprovider", "-p", "no:asyncio")
    return pytester.runpytest_inprocess(*quiet, "--acp-agent", shlex.join(agent), *arguments)


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


@pytest.mark.parametrize(
    ("agent", "reason"),
    [("no-such-agent", "command not found: no-such-agent"), ("a 'b", "No closing quotation"), ("", "give the command")],
)
def test_an_agent_that_cannot_start_is_one_usage_error(pytester: pytest.Pytester, agent: str, reason: str) -> None:
    result = pytester.runpytest_inprocess("--acp-agent", agent)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --acp-agent: *{reason}*"])


def test_a_url_without_a_package_of_the_extra_is_a_usage_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)

    result = pytester.runpytest_inprocess("--acp-agent", "http://127.0.0.1:9/acp")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --acp-agent: a URL requires websockets: pip install *"])


def test_a_header_without_a_colon_is_a_usage_error_that_does_not_show_it(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--acp-agent", "http://127.0.0.1:9/acp", "--acp-header", "s3cret")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--acp-header*the colon is missing*"])
    assert "s3cret" not in result.stderr.str() + result.stdout.str()


def test_an_unexpected_error_shows_no_environment(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-to-be-shown")
    agent = tmp_path / "agent"
    agent.write_text("#!/no-such-interpreter\n", encoding="utf-8")
    agent.chmod(0o755)

    result = run_on(pytester, "-k", "unique", "--showlocals", agent=[str(agent)])

    result.assert_outcomes(failed=1, deselected=len(_OF_V1) - 1)
    result.stdout.fnmatch_lines(["CannotStart: *"])
    assert "not-to-be-shown" not in result.stdout.str()


def test_other_tests_run_beside_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_own(): pass")
    arguments = ("--acp-agent", shlex.join(AGENT), "-k", "test_own or negotiation.info")

    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=2, deselected=len(_OF_V1) - 1)


def test_the_plugin_imports_nothing_until_it_is_used() -> None:
    import subprocess

    code = "import sys, acp_bindings.probe._plugin; print([m for m in sys.modules if m in ('anyio', 'pydantic')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


_OF_V1 = [each.id for each in CHECKS if 1 in each.versions]
