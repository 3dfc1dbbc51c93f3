"""The command: its output, where it is written, and the exit status."""

import io
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest

from acp_bindings.check import RULES, SCHEMA
from acp_bindings.check.command import main
from tests.acp_bindings.check.conversations import CLEAN, HTTP, STDIO, as_lines, new, opening
from tests.acp_bindings.check.test_rules import BROKEN

SECRETS = ("hunter2hunter2", "t0psecret", "Bearer token123", "p4ssw0rd", "sk-abcdefghijklmnopqrst", "query-secret")


def run(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """Return the exit status and the output of the command, run in this process because starting another is slow."""
    printed, told = io.BytesIO(), io.BytesIO()
    streams = {"stdin": io.BytesIO(given), "stdout": printed, "stderr": told}
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, io.TextIOWrapper(stream, "utf-8", write_through=True))
        try:
            status = main(arguments)
        except SystemExit as end:
            status = cast("int", end.code)
        return status, printed.getvalue().decode(), told.getvalue().decode()


def run_apart(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """Do the same in a separate process."""
    command = [sys.executable, "-W", "error", "-m", "acp_bindings", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def text_of(messages: list[Any]) -> bytes:
    return b"".join(as_lines(messages))


def test_nothing_wrong_is_status_0(tmp_path: Path) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(text_of(CLEAN))
    assert run_apart("check", str(file)) == (0, f"{file}: nothing wrong in a conversation of 23 messages (v1)\n", "")


def test_warnings_are_status_0() -> None:
    status, printed, _ = run("check", "-", given=text_of([*opening(), *new(mcpServers=[STDIO | {"command": "npx"}])]))
    assert status == 0
    assert printed.startswith("-:3: warning[path.command]: params.mcpServers[0].command: ")


def test_an_error_is_status_1_and_has_a_line_like_those_of_compilers() -> None:
    status, printed, told = run_apart("check", "-", given=text_of([*opening(), *new(cwd=".")]))
    assert (status, told) == (1, "")
    finding, summary = printed.splitlines()
    assert finding.startswith('-:3: error[path.cwd]: params.cwd: "." is not an absolute path: ')
    assert summary == "-: 1 error in a conversation of 4 messages (v1)"


def test_what_is_printed_is_no_command_to_a_ci_runner() -> None:
    message = b'{"jsonrpc": "2.0", "id": 1, "method": "##[error]owned"}'

    _, printed, _ = run("check", "-", given=message)
    _, document, _ = run("check", "--json", "-", given=message)

    assert "there is no method ## [error]owned" in printed
    assert "##[error]owned" in document


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (["check", "no/such/file"], b"", "acp-bindings check: no/such/file: it cannot be read: No such file"),
        (["check", "-"], b"", "acp-bindings check: -: it is empty"),
        (["check", "-"], b"{", "it is not JSON"),
        (["check", "-"], b"{}", "--type"),
        (["check", "-", "--type", "v1.Nothing"], b"{}", 'v1 has no type "Nothing"'),
        (["check", "-", "--protocol", "v9"], b"{}", "invalid choice"),
        (["check", "/"], b"", "it cannot be read"),
        (["check"], b"", "FILE"),
        ([], b"", "COMMAND"),
        (
            ["check", "-"],
            b'{"mcpServers": {"a": {"command": "npx"}}}',
            "this is a map of MCP servers, as desktop clients write it",
        ),
    ],
)
def test_what_cannot_be_used_is_status_2(arguments: list[str], given: bytes, told: str) -> None:
    status, printed, complaint = run(*arguments, given=given)
    assert (status, printed) == (2, "")
    assert told in complaint


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (text_of(CLEAN), 0),
        (text_of(BROKEN["capability.load"]), 1),
        (b"{}", 2),
        (b"", 2),
        (b"# Read me\n\nThis is none.\n", 2),
        (b'[{"cwd": ".", "mcpServers": []}, {}]', 2),
    ],
)
def test_json_is_one_document_by_its_schema_and_nothing_else(given: bytes, status: int) -> None:
    ended, printed, told = run("check", "-", "--json", given=given)
    assert (ended, told) == (status, "")
    whole = json.loads(printed)
    jsonschema_rs.validator_for(SCHEMA).validate(whole)
    (document,) = whole["files"]
    assert (document["unusable"] is not None) == (status == 2)
    assert document["errors"] == sum(each["severity"] == "error" for each in document["findings"])


def test_the_json_has_all_that_the_lines_have() -> None:
    (file,) = json.loads(run_apart("check", "-", "--json", given=text_of([*opening(), *new(cwd=".")]))[1])["files"]
    (found,) = file["findings"]
    assert (found["rule"], found["severity"], found["line"], found["path"], found["from"], found["method"]) == (
        "path.cwd",
        "error",
        3,
        ["params", "cwd"],
        "client",
        "session/new",
    )


def test_each_file_is_checked_and_the_worst_is_the_status(tmp_path: Path) -> None:
    clean, broken = tmp_path / "clean.ndjson", tmp_path / "broken.ndjson"
    clean.write_bytes(text_of(CLEAN))
    broken.write_bytes(text_of([*opening(), *new(cwd=".")]))
    status, printed, told = run("check", str(broken), "-", str(clean), given=text_of(opening()))
    assert (status, told) == (1, "")
    assert [line.partition(": ")[0] for line in printed.splitlines()] == [f"{broken}:3", str(broken), "-", str(clean)]
    status, printed, told = run("check", "no/such/file", str(broken), str(clean))
    assert (status, len(printed.splitlines())) == (2, 3)
    assert told.startswith("acp-bindings check: no/such/file: it cannot be read")


def test_the_json_has_each_file(tmp_path: Path) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(text_of([*opening(), *new(cwd=".")]))
    status, printed, _ = run("check", "--json", "no/such/file", str(file), "-", given=text_of(CLEAN))
    document = json.loads(printed)
    jsonschema_rs.validator_for(SCHEMA).validate(document)
    assert status == 2
    assert [(each["file"], each["errors"], each["unusable"] is None) for each in document["files"]] == [
        ("no/such/file", 0, False),
        (str(file), 1, True),
        ("-", 0, True),
    ]


def test_what_is_no_recording_is_said_once_and_its_first_lines_are_in_the_json() -> None:
    given = b"".join(b"line %d\n\n" % number for number in range(1000))
    status, printed, told = run("check", "-", given=given)
    assert (status, printed, told.count("\n")) == (2, "", 1)
    (file,) = json.loads(run("check", "-", "--json", given=given)[1])["files"]
    assert [each["line"] for each in file["findings"]] == list(range(1, 41, 2))
    assert {each["rule"] for each in file["findings"]} == {"schema.message"}
    assert file["errors"] == 20
    assert file["unusable"].startswith("it is not a recording: none of its first 20 lines is a message")


def test_a_file_that_does_not_end_is_given_up() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("this system has no /dev/zero")
    status, _, told = run_apart("check", "/dev/zero")
    assert status == 2
    assert "more than 256 MB" in told


def test_a_closed_standard_input_is_no_matter_where_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(text_of(CLEAN))
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", str(file)]) == 0


def test_a_closed_standard_input_is_told() -> None:
    command = [sys.executable, "-m", "acp_bindings", "check", "-"]
    closed = subprocess.run(
        [sys.executable, "-c", f"import os, sys; os.close(0); os.execv(sys.executable, {command!r})"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (2, b"acp-bindings check: -: standard input is closed\n")


@pytest.mark.parametrize(
    ("status", "told", "says"),
    [(129, 129, b""), (1, 2, b"acp-bindings: standard output: No space left on device\n")],
)
def test_only_what_a_signal_ends_says_so_although_it_could_not_write_either(
    status: int, told: int, says: bytes
) -> None:
    code = f"""
from acp_bindings._cli import written_by
with written_by("acp-bindings"):
    print("that the terminal is gone")
    raise SystemExit({status})
"""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        env = {**os.environ, "PYTHONUNBUFFERED": ""}
        pipe = subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], env=env, stdout=full, stderr=pipe, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (told, says)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        ("check conversation >/dev/full", 2, r"acp-bindings: (standard output: )?No space left on device\n"),
        ("rules >/dev/full", 2, r"acp-bindings: (standard output: )?No space left on device\n"),
        ("check missing 2>/dev/full", 2, ""),
        ("check conversation >/dev/full 2>/dev/full", 2, ""),
        ("check conversation >&-", 0, ""),
        ("check --json conversation | true", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full_or_go_away_are_no_traceback(
    script: str, status: int, says: str, unbuffered: str, tmp_path: Path
) -> None:
    (tmp_path / "conversation").write_bytes(text_of(CLEAN))
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {script}', "sh", sys.executable, "-m", "acp_bindings"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == status
    assert re.fullmatch(says, done.stderr)


def test_the_version_is_printed() -> None:
    assert run_apart("--version") == (0, f"acp-bindings {version('acp-bindings')}\n", "")


def test_the_schema_of_the_json_is_printed() -> None:
    status, printed, _ = run("check", "--json-schema")
    assert status == 0
    assert printed.endswith("}\n")
    assert json.loads(printed) == SCHEMA
    jsonschema_rs.meta.validate(SCHEMA)


def test_the_rules_are_listed() -> None:
    status, printed, _ = run("rules")
    assert status == 0
    assert [line.split(maxsplit=2) for line in printed.splitlines()] == [
        [each.id, each.severity, each.doc] for each in RULES
    ]


def with_secrets() -> bytes:
    """A recording with every possible finding about servers, in which each value is a secret."""
    stdio: dict[str, Any] = {
        "name": "a b",
        "command": "npx",
        "args": ["--token", "t0psecret", "sk-abcdefghijklmnopqrst", "--api-key=hunter2hunter2"],
        "env": [{"name": "API_KEY", "value": "hunter2hunter2"}, {"name": "API_KEY", "value": ["t0psecret"]}],
    }
    http = HTTP | {
        "url": "http://me:p4ssw0rd@example.com/mcp?api_key=query-secret",
        "headers": [{"name": "Authorization", "value": "Bearer token123"}, {"name": "Accept", "value": "t0psecret\n"}],
    }
    as_map = STDIO | {"env": {"API_KEY": "hunter2hunter2"}}
    cwd = "https://me:p4ssw0rd@example.com/x?query-secret"
    talk = [*opening(agent={}), *new(1, mcpServers=[stdio, http, as_map], cwd=cwd)]
    return text_of([*talk, *new(2, session="s2", mcpServers=[http], cwd=cwd, additionalDirectories=[cwd])])


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_secret_is_printed(options: list[str]) -> None:
    status, printed, told = run("check", "-", *options, given=with_secrets())
    assert status == 1
    assert not [each for each in SECRETS if each in printed + told]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_secrets_are_printed_when_they_are_asked_for(options: list[str]) -> None:
    _, printed, _ = run_apart("check", "-", "--show-secrets", *options, given=with_secrets())
    assert "t0psecret" in printed
    assert "p4ssw0rd" in printed


def test_what_a_peer_writes_cannot_move_the_cursor() -> None:
    talk = [*opening(), *new(mcpServers=[STDIO | {"name": "a.\u001b[31m"}], cwd="\u001b[2J")]
    _, printed, _ = run("check", "-", given=text_of(talk))
    assert "\u001b" not in printed


def test_neither_can_the_name_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a\u001b[2J.ndjson"
    file.write_bytes(text_of(opening()))
    assert run("check", str(file))[1].startswith(f"{tmp_path}/a [2J.ndjson: nothing wrong in ")


def test_a_name_that_the_terminal_cannot_show_is_shown_in_other_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "é.ndjson"
    file.write_bytes(text_of(opening()))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    status, printed, _ = run_apart("check", str(file))
    assert (status, printed.partition(": ")[0]) == (0, f"{tmp_path}/\\xe9.ndjson")


def test_who_stops_reading_gets_no_complaint() -> None:
    command = [sys.executable, "-m", "acp_bindings", "check", "-"]
    many = text_of([*opening(), *(new(n, session=f"s{n}", cwd=".")[0] for n in range(5000))])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        try:
            process.stdin.write(many)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr.read() == b""


def test_the_command_needs_pydantic_alone() -> None:
    code = """
import sys
before = set(sys.modules)
from acp_bindings.check.command import main
main(["check", "-"])
print(sorted({name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=text_of(CLEAN), capture_output=True, timeout=60, check=True
    )
    loaded = set(json.loads(done.stdout.decode().splitlines()[-1].replace("'", '"')))
    brought = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
    assert {each for each in loaded if not each.startswith("_sysconfigdata")} <= {"acp_bindings"} | brought
