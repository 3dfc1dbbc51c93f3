"""`mcp-launch call`."""

from __future__ import annotations

import base64
import json
import math
import re
import sys
from pathlib import Path

import pytest
from mcp_types import REQUEST_TIMEOUT

from mcp_launch import UnusableInput
from mcp_launch._command.explore import calling
from mcp_launch._command.find_servers import read_words
from tests.mcp_launch.explore.here import ODD, Command
from tests.mcp_launch.here import Output
from tests.mcp_launch.servers.offers import PIXEL, RUDE
from tests.mcp_launch.support import SECRET, scripted, web_server

SCRIPT = [sys.executable, *ODD["args"]]


def test_arguments_are_converted_by_the_schema_of_the_tool(file: str, command: Command) -> None:
    done = command(
        "call", file, "odd", "typed", "path=5", "lines=3", "deep=yes", "tags=a", "tags=b", "filter.since=2026"
    )

    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == {
        "path": "5", "lines": 3, "deep": True, "tags": ["a", "b"], "filter": {"since": 2026},
    }  # fmt: skip


def test_arguments_are_read_from_standard_input(file: str, command: Command) -> None:
    done = command("call", file, "odd", "typed", "--args", "-", "lines=2", stdin='\ufeff{"path": "it\'s \\"quoted\\""}')

    assert (done.status, json.loads(done.out)) == (0, {"path": 'it\'s "quoted"', "lines": 2})


@pytest.mark.parametrize("words", [["call", "odd", "typed", "path=a"], ["tools", "--only", "odd"]], ids=" ".join)
def test_only_findings_about_the_entry_are_printed(words: list[str], tmp_path: Path, command: Command) -> None:
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    other = {**ODD, "args": ["${env:NOT_SET_EITHER}"]}
    odd = {**ODD, "args": [*ODD["args"], "${env:NOT_SET_ANYWHERE}"], "cwd": str(tmp_path)}
    path.write_text(json.dumps({"servers": {"other": other, "odd": odd}}))

    name, *rest = words
    done = command(name, str(path), *rest)

    assert done.status == 0
    assert "${env:NOT_SET_ANYWHERE} is not set" in done.err
    assert "NOT_SET_EITHER" not in done.err


@pytest.mark.parametrize(
    ("words", "stdin", "out"),
    [
        ("odd.json typed path=a", "", '{"path": "a"}\n'),
        ("servers.json structured --only odd", "", '{\n  "n": 1\n}\n'),
        ("- structured", json.dumps({"mcpServers": {"odd": ODD}}), '{\n  "n": 1\n}\n'),
        ("servers.json odd typed --unchecked lines=ten", "", '{"lines": "ten"}\n'),
        ("servers.json odd rude", "", f"{RUDE}\n"),
        ("servers.json odd say_more", "", 'one item\n{\n  "items": [\n    1\n  ]\n}\n'),
    ],
)
@pytest.mark.usefixtures("file", "odd_file")
def test_the_result_is_printed(
    *, words: str, stdin: str, out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)

    done = command("call", *words.split(), stdin=stdin)

    assert (done.status, done.out, done.err) == (0, out, "")


def test_a_command_can_be_called_without_a_file(command: Command) -> None:
    done = command("call", "-e", f"SECRET={SECRET}", "typed", "path=a=b", "--", *SCRIPT)

    assert (done.status, done.err, json.loads(done.out)) == (0, "", {"path": "a=b"})


def test_a_url_can_be_called_without_a_file(command: Command) -> None:
    with web_server("http") as url:
        done = command("call", url, "headers", "-H", f"Authorization: Bearer {SECRET}", "--show-secrets")

    assert (done.status, done.err) == (0, "")
    assert ["authorization", f"Bearer {SECRET}"] in json.loads(done.out)


PLACES: list[tuple[list[str], str | None, bool, tuple[list[str], str | None, str, list[str]]]] = [
    (["f.json", "server", "tool", "a=1"], None, False, (["f.json"], "server", "tool", ["a=1"])),
    (["f.json", "tool", "a=1", "b"], None, False, (["f.json"], None, "tool", ["a=1", "b"])),
    (["f.json", "server", "tool", "b"], None, False, (["f.json"], "server", "tool", ["b"])),
    (["f=1.json", "tool"], None, False, (["f=1.json"], None, "tool", [])),
    (["-", "server", "tool"], None, False, (["-"], "server", "tool", [])),
    (["https://h/?a=1", "tool", "b", "a=1"], None, False, (["https://h/?a=1"], None, "tool", ["b", "a=1"])),
    (["tool", "a=1"], None, True, ([], None, "tool", ["a=1"])),
    (["tool", "b"], None, True, ([], None, "tool", ["b"])),
    (["f.json", "server", "a=1"], "x=y", False, (["f.json"], "server", "x=y", ["a=1"])),
    (["f.json", "a=1", "b"], "x=y", False, (["f.json"], None, "x=y", ["a=1", "b"])),
    (["f.json"], "x=y", False, (["f.json"], None, "x=y", [])),
    (["https://h/", "a=1"], "x=y", False, (["https://h/"], None, "x=y", ["a=1"])),
    (["a=1"], "x=y", True, ([], None, "x=y", ["a=1"])),
    ([], "x=y", True, ([], None, "x=y", [])),
]


@pytest.mark.parametrize(("words", "tool", "has_command", "read"), PLACES)
def test_each_word_has_its_place(words: list[str], tool: str | None, has_command: bool, read: object) -> None:
    assert read_words(words, tool=tool, has_command=has_command) == read


@pytest.mark.parametrize("name", ["-x", "a=b"])
def test_a_tool_and_its_arguments_may_be_called_anything(name: str, tmp_path: Path, command: Command) -> None:
    arguments = {"-y": 1, "b=c": 2}
    tool = {"name": name, "inputSchema": {"type": "object"}}
    server = scripted(tmp_path, tools=[tool], **{name: {"result": {"content": [{"type": "text", "text": "called"}]}}})

    done = command("call", "--verbose", "--tool", name, "--args", json.dumps(arguments), "--", *server)

    sent = [json.loads(line.partition(" -> ")[2]) for line in done.err.splitlines() if " -> " in line]
    (call,) = [each["params"] for each in sent if each["method"] == "tools/call"]
    assert (done.status, done.out, call["name"], call["arguments"]) == (0, "called\n", name, arguments)


@pytest.mark.parametrize(("words", "has_command"), [([], False), (["f.json"], False), ([], True), (["a=1"], True)])
def test_a_call_requires_the_name_of_a_tool(words: list[str], has_command: bool) -> None:
    with pytest.raises(UnusableInput, match="no tool was given"):
        read_words(words, has_command=has_command)


def test_wrong_arguments_are_all_named_and_nothing_is_called(file: str, command: Command) -> None:
    done = command("call", file, "odd", "typed", "lines=ten", "mode=fats", "--verbose")

    assert (done.status, done.out) == (2, "")
    said = [line for line in done.err.splitlines() if not line.startswith("odd ")]
    assert said[:2] == [
        'mcp-launch: typed: lines: must be integer, not "ten"',
        'mcp-launch: typed: mode: must be "fast" | "thorough" | 3, not "fats"; did you mean "fast"?',
    ]
    assert said[2].startswith("usage: typed(path: string")
    assert "tools/list" in done.err
    assert "tools/call" not in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("odd tpyed", 'odd: no tool is called "tpyed"; did you mean "typed"?'),
        ("old typed", 'no server is named "old"; did you mean "odd"?'),
        ("nothing typed", 'no server is named "nothing"; choose from odd, gone'),
        ("typed path=a", "specify the server after the file; choose from odd, gone"),
        ("odd", 'no tool of "odd" was given; use call FILE odd TOOL name=value ...'),
    ],
)
def test_unknown_and_missing_names_are_rejected(words: str, says: str, file: str, command: Command) -> None:
    done = command("call", file, *words.split())

    assert (done.status, done.out, done.err) == (2, "", f"mcp-launch: {says}\n")


@pytest.mark.parametrize(
    ("tool", "says"), [("fail", "401 for [redacted]"), ("refuse", "mcp-launch: odd: not with [redacted]")]
)
def test_a_failure_is_a_status_and_a_sentence_without_secrets(
    tool: str, says: str, file: str, command: Command
) -> None:
    done = command("call", file, "odd", tool)

    assert (done.status, done.out, done.err) == (1, "", f"{says}\n")


def test_a_failure_in_json_is_a_result_or_an_error(file: str, command: Command) -> None:
    failed = command("call", file, "odd", "fail", "--json")
    refused = json.loads(command("call", file, "odd", "refuse", "--json").out)

    found = json.loads(failed.out)
    assert (failed.status, found["ok"], found["result"]["isError"], found["error"]) == (1, False, True, None)
    assert SECRET not in failed.out
    assert (refused["ok"], refused["result"], refused["failure"]) == (False, None, None)
    assert refused["error"] == {"code": -32000, "message": "not with [redacted]"}


def test_a_rejection_does_not_wait_for_the_server_to_exit(
    file: str, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    # Its code is that of a closed connection, as with many servers.
    monkeypatch.setattr(calling, "_DYING", math.inf)

    assert command("call", file, "odd", "refuse").err == "mcp-launch: odd: not with [redacted]\n"


@pytest.mark.parametrize(("server", "code"), [("odd", "exited"), ("gone", "command_not_found")])
def test_a_server_that_fails_is_in_the_json(server: str, code: str, file: str, command: Command) -> None:
    done = command("call", file, server, "leave", "--json")

    found = json.loads(done.out)
    assert (done.status, found["ok"], found["server"], found["failure"]["code"]) == (1, False, server, code)


def test_a_server_that_dies_during_a_call_is_reported_with_the_reason(file: str, command: Command) -> None:
    done = command("call", file, "odd", "leave")

    assert (done.status, done.out) == (1, "")
    assert "exited with status 9" in done.err
    assert "out of paper, key [redacted]" in done.err


@pytest.mark.parametrize(("name", "words"), [("call", ["anything"]), ("shell", [])])
def test_a_server_that_does_not_start_has_the_diagnosis_of_check(
    name: str, words: list[str], file: str, command: Command
) -> None:
    done = command(name, file, "gone", *words)

    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("FAIL gone stdio command_not_found in spawn after ")


def test_a_call_that_takes_too_long_is_an_error(file: str, command: Command) -> None:
    done = command("call", file, "odd", "hang", "--wait", "0.5")
    as_json = command("call", file, "odd", "hang", "--wait", "0.5", "--json")

    message = "hang did not respond within 0.5 s; does it need more time (mcp-launch call --wait)?"
    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines() == ["info: hanging with [redacted]", f"mcp-launch: odd: {message}"]
    assert (as_json.status, json.loads(as_json.out)["error"]) == (1, {"code": REQUEST_TIMEOUT, "message": message})


def test_what_a_tool_prints_to_stdout_is_a_warning_after_the_call(printing: list[str], command: Command) -> None:
    done = command("call", "log", "--", *printing)

    warning = 'warning: odd: wrote "working" on stdout, which is not a JSON-RPC message; logs belong on stderr'
    assert (done.status, done.err) == (0, f"{warning}\n")


def test_a_call_that_takes_too_long_has_what_was_printed_in_place_of_its_result(
    printing: list[str], command: Command
) -> None:
    done = command("call", "print_dot", "--wait", "0.5", "--json", "--", *printing)

    message = json.loads(done.out)["error"]["message"]
    assert done.status == 1
    assert re.fullmatch(
        r'print_dot did not respond within 0.5 s, but the server wrote "\.{"jsonrpc": .*"}]}}" on stdout, which is '
        r"not a JSON-RPC message; does it need more time \(mcp-launch call --wait\)\?",
        message,
    )
    assert message in done.err


def is_terminal(_: Output) -> bool:
    """Return True, for an output that is a terminal."""
    return True


@pytest.mark.parametrize(("words", "seconds"), [(["hang", "--wait", "1"], 1), (["structured"], 300)])
def test_a_terminal_shows_how_long_a_silent_tool_may_take(
    words: list[str], seconds: int, file: str, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setattr(calling, "SILENCE", 0)
    monkeypatch.setattr(Output, "isatty", is_terminal)
    monkeypatch.setenv("TERM", "dumb")

    done = command("call", file, "odd", *words)

    assert f"waiting up to {seconds} s for {words[0]} (--wait); press Ctrl-C to stop\n" in done.err


def test_text_is_printed_and_other_content_is_saved_in_the_directory(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    done = command("call", file, "odd", "show")

    assert (done.status, done.out) == (0, "here it is\nroot\na <file:///a.txt>\n")
    assert done.err.splitlines() == [
        "saved show-1.png (image, image/png, 14 bytes)",
        "saved show-1.bin (audio, audio/x-no-such, 14 bytes)",
    ]
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["show-1.bin", "show-1.png"]


def test_resources_are_saved_in_a_given_folder_without_overwriting(file: str, tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "new" / "kept"
    for _ in range(2):
        done = command("call", file, "odd", "show", "--save", str(folder))
        assert (done.status, done.out) == (0, "here it is\na <file:///a.txt>\n")

    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "show-1-2f_2f_2fetc_2fpass_wd.txt", "show-1.bin", "show-1.png",
        "show-2-2f_2f_2fetc_2fpass_wd.txt", "show-2.bin", "show-2.png",
    ]  # fmt: skip
    assert (folder / "show-1.png").read_bytes() == base64.b64decode(PIXEL)


def test_json_output_names_saved_files_and_saves_only_on_request(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)

    unasked = json.loads(command("call", file, "odd", "show", "--json").out)
    asked = json.loads(command("call", file, "odd", "show", "--json", "--save", "kept").out)

    assert (unasked["saved"], [path.name for path in tmp_path.glob("show*")]) == ([], [])
    assert asked["saved"] == ["kept/show-1.png", "kept/show-1.bin", "kept/show-1-2f_2f_2fetc_2fpass_wd.txt"]
    assert unasked["result"]["content"][1]["data"] == PIXEL


def test_a_folder_that_cannot_be_created_is_reported(file: str, command: Command) -> None:
    done = command("call", file, "odd", "show", "--save", "/dev/null/here")

    assert done.status == 2
    assert done.err.endswith("mcp-launch: /dev/null/here: Not a directory\n")


def test_a_secret_repeated_by_a_tool_is_shown_only_on_request(file: str, command: Command) -> None:
    for more in ((), ("--json",)):
        hidden = command("call", file, "odd", "repeat", *more, "--verbose")
        shown = command("call", file, "odd", "repeat", *more, "--show-secrets", "--verbose")

        assert SECRET not in hidden.out + hidden.err
        assert "[redacted]" in hidden.out
        assert SECRET in shown.out
        assert SECRET not in shown.err


def test_standard_input_cannot_be_two_things(command: Command) -> None:
    done = command("call", "-", "odd", "typed", "--args", "-", stdin="[]")

    assert (done.status, done.out) == (2, "")
    assert "standard input already contains the servers" in done.err
