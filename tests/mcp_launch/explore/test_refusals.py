"""With `--json`, errors of ours and of typer are JSON documents too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.mcp_launch.explore.here import Command

NOTHING: dict[str, dict[str, Any]] = {
    "check": {"servers": [], "findings": []},
    "tools": {"servers": []},
    "resources": {"servers": []},
    "prompts": {"servers": []},
    "call": {"server": None, "tool": None, "result": None, "saved": [], "error": None, "failure": None},
}
"""The JSON that each command prints in addition to its errors."""


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--bogus"], "No such option: --bogus"),
        (["sh", "-y", "server"], "No such option: -y; is sh a command? Put commands after --"),
        (["--timeout"], "Option '--timeout' requires an argument."),
        (["--timeout", "soon"], "Invalid value for '--timeout': "),
        (["no.json", "tool"], "no.json: No such file or directory"),
    ],
    ids=["option", "command", "value", "number", "file"],
)
def test_errors_are_json_documents_too(name: str, words: list[str], why: str, command: Command) -> None:
    given = words[:1] if name != "call" and "no.json" in words else words

    done = command(name, "--json", *given)

    said = json.loads(done.out)
    assert (done.status, [reason.startswith(why) for reason in said.pop("unusable")]) == (2, [True])
    assert said == {"ok": False, **NOTHING[name]}
    assert why in done.err


def test_a_call_without_a_tool_is_refused_as_a_document(command: Command) -> None:
    done = command("call", "--json")

    assert (done.status, json.loads(done.out)["unusable"]) == (2, [done.err.strip().removeprefix("mcp-launch: ")])


def test_wrong_tools_and_arguments_are_refused_as_a_document(odd_file: str, command: Command) -> None:
    unknown = command("call", odd_file, "tpyed", "--json")
    wrong = command("call", odd_file, "typed", "lines=ten", "mode=fats", "--json")

    why = 'odd: no tool is called "tpyed"; did you mean "typed"?'
    assert (unknown.status, json.loads(unknown.out)["unusable"], unknown.err) == (2, [why], f"mcp-launch: {why}\n")
    said = json.loads(wrong.out)
    assert (wrong.status, said["server"], said["tool"]) == (2, "odd", "typed")
    assert said["unusable"] == [
        'typed: lines: must be integer, not "ten"',
        'typed: mode: must be "fast" | "thorough" | 3, not "fats"; did you mean "fast"?',
    ]


@pytest.mark.parametrize("words", [["check", "--bogus"], ["convert", "--json", "--to", "acp"], ["tools", "no.json"]])
def test_errors_are_json_only_on_request(words: list[str], command: Command) -> None:
    done = command(*words)

    assert (done.status, done.out) == (2, "")
