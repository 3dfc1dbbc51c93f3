"""Text from servers and files is not a command for the CI runner that reads the output."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from acp_bindings._standard_streams import shown_on, without_ci_commands
from tests.mcp_launch.here import run_here
from tests.mcp_launch.servers.ci import GITHUB, SAID
from tests.mcp_launch.support import SERVERS

CI = [sys.executable, "-S", str(SERVERS / "ci.py")]


def commands_in(output: str) -> Iterator[str]:
    """Yield the lines that a runner treats as commands, by the rules of GitHub, Azure and TeamCity."""
    for line in re.split(r"\r\n|\r|\n", output):
        text = line.lstrip()
        if (text.startswith("::") and "::" in text[2:]) or re.search(r"##\w*\[", text):
            yield line


def printed(*words: str, stdin: str = "", **variables: str) -> str:
    """Run the command and return its output on both streams."""
    done = run_here(*words, stdin=stdin, **variables)
    return done.stdout + done.stderr


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file in which the names of servers and members look like workflow commands."""
    path = tmp_path / ".mcp.json"
    entry = {"command": CI[0], "args": CI[1:], "::debug::member": 1, "##[debug]member": 2}
    failing = {**entry, "args": [*CI[1:], "fails"]}
    path.write_text(json.dumps({"mcpServers": {GITHUB: entry, "##[error]failing": failing}}))
    return str(path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", ": :error::x"),
        ("  ::set-output name=a::b", "  : :set-output name=a::b"),
        ("a\r::stop-commands::b", "a\r: :stop-commands::b"),
        ("a\n\u00a0::group::", "a\n\u00a0: :group::"),
        ("a ##[error]b", "a ## [error]b"),
        ("###[section]", "### [section]"),
        ("##vso[task.setvariable]", "## vso[task.setvariable]"),
        ("##teamcity[x]", "## teamcity[x]"),
    ],
)
def test_a_command_to_a_runner_is_broken_by_a_space(text: str, shown: str) -> None:
    assert without_ci_commands(text) == shown
    assert not [*commands_in(shown)]


@pytest.mark.parametrize(
    "text", ["plain", "std::string", "::", "::1", "::std::string".replace("::std", "a::std"), "## A [link](b)"]
)
def test_ordinary_text_is_not_changed(text: str) -> None:
    assert without_ci_commands(text) == text


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "--verbose"),
        ("tools",),
        ("resources",),
        ("prompts",),
        ("tools", "--only", "unknown"),
    ],
    ids=" ".join,
)
def test_output_about_servers_and_files_contains_no_ci_command(words: tuple[str, ...], file: str) -> None:
    said = printed(*words, file)

    assert re.search(r": :error|## \[|## vso\[", said)
    assert not [*commands_in(said)]


@pytest.mark.parametrize("tool", ["say", "fail", GITHUB, "::none::"])
def test_output_of_a_call_contains_no_ci_command(tool: str, tmp_path: Path) -> None:
    said = printed("call", "--verbose", "--tool", tool, "--", *CI)

    assert ": :" in said
    assert not [*commands_in(said)]


def test_output_of_the_shell_contains_no_ci_command() -> None:
    calls = ("tool say", "call say", "call fail", f"call '{GITHUB}'")
    lines = ("tools", *calls, "read memo://a", "get ##[error]owned", "resources")

    said = printed("shell", "--", *CI, stdin="\n".join(lines))

    assert said.count(": :error") > len(lines)
    assert not [*commands_in(said)]


def test_a_terminal_of_a_runner_is_read_like_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("there is no pty on Windows")
    from tests.mcp_launch.terminal import terminal  # not on Windows

    for name in RUNNERS:
        monkeypatch.delenv(name, raising=False)
    with terminal("call", "say", "--", *CI, TERM="dumb") as shown:
        assert shown.status() == 0
        by_hand = shown.shown
    with terminal("call", "say", "--", *CI, TERM="dumb", GITHUB_ACTIONS="true") as shown:
        assert shown.status() == 0

    assert [*commands_in(by_hand)]
    assert not [*commands_in(shown.shown)]


RUNNERS = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


@pytest.mark.parametrize("name", RUNNERS)
def test_each_runner_is_recognized_by_its_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    for each in RUNNERS:
        monkeypatch.delenv(each, raising=False)
    assert shown_on(stream, "##[x]") == "##[x]"

    monkeypatch.setenv(name, "1")
    assert shown_on(stream, "##[x]") == "## [x]"


def test_json_output_is_not_changed() -> None:
    done = run_here("call", "say", "--json", "--", *CI)

    assert json.loads(done.stdout)["result"]["content"] == [{"type": "text", "text": SAID}]


def test_a_report_for_ci_contains_no_ci_command(file: str, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    printed("check", file, "--junit", str(junit))

    told = [part for each in ET.parse(junit).iter() for part in (each.text or "", *each.attrib.values())]

    assert ": :error" in "".join(told)
    assert not [*commands_in("\n".join(told))]
