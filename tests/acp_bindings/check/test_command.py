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

from acp_bindings._command import check
from acp_bindings._command.cli import main
from acp_bindings.check import RULES, SCHEMA
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
        with pytest.raises(SystemExit) as end:
            main(arguments)
        return cast("int", end.value.code), printed.getvalue().decode(), told.getvalue().decode()


def run_apart(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """Do the same in a separate process."""
    command = [sys.executable, "-W", "error", "-m", "acp_bindings", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def text_of(messages: list[Any]) -> bytes:
    return b"".join(as_lines(messages))


def test_a_clean_conversation_exits_0(tmp_path: Path) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(text_of(CLEAN))
    assert run_apart("check", str(file)) == (0, f"{file}: nothing wrong in a conversation of 23 messages (v1)\n", "")


def test_warnings_exit_0() -> None:
    status, printed, _ = run("check", "-", given=text_of([*opening(), *new(mcpServers=[STDIO | {"command": "npx"}])]))
    assert status == 0
    assert printed.startswith("-:3: warning[path.command]: params.mcpServers[0].command: ")


def test_an_error_exits_1_with_a_line_in_compiler_format() -> None:
    status, printed, told = run_apart("check", "-", given=text_of([*opening(), *new(cwd=".")]))
    assert (status, told) == (1, "")
    finding, summary = printed.splitlines()
    assert finding.startswith('-:3: error[path.cwd]: params.cwd: "." is not an absolute path: ')
    assert summary == "-: 1 error in a conversation of 4 messages (v1)"


def test_output_cannot_contain_commands_for_a_ci_runner() -> None:
    message = b'{"jsonrpc": "2.0", "id": 1, "method": "##[error]owned"}'

    _, printed, _ = run("check", "-", given=message)
    _, document, _ = run("check", "--json", "-", given=message)

    assert "## [error]owned is not a method" in printed
    assert "##[error]owned" in document


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (["check", "no/such/file"], b"", "acp-bindings check: no/such/file: it cannot be read: No such file"),
        (["check", "##[error]x"], b"", "acp-bindings check: ## [error]x: it cannot be read"),
        (["check", "-"], b"", "acp-bindings check: -: it is empty"),
        (["check", "-"], b"{", "it is not JSON"),
        (["check", "-"], b"{}", "--type"),
        (["check", "-", "--type", "v1.Nothing"], b"{}", 'v1 has no type "Nothing"'),
        (["check", "-", "--protocol", "v9"], b"{}", "'v9' is not one of v1"),
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
def test_unusable_input_exits_2(arguments: list[str], given: bytes, told: str) -> None:
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
def test_json_output_is_a_single_document_that_matches_its_schema(given: bytes, status: int) -> None:
    ended, printed, told = run("check", "-", "--json", given=given)
    assert (ended, told) == (status, "")
    whole = json.loads(printed)
    jsonschema_rs.validator_for(SCHEMA).validate(whole)
    (document,) = whole["files"]
    assert (document["unusable"] is not None) == (status == 2)
    assert document["errors"] == sum(each["severity"] == "error" for each in document["findings"])


def test_json_output_has_everything_in_the_text_output() -> None:
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


def test_the_exit_status_is_that_of_the_worst_file(tmp_path: Path) -> None:
    clean, broken = tmp_path / "clean.ndjson", tmp_path / "broken.ndjson"
    clean.write_bytes(text_of(CLEAN))
    broken.write_bytes(text_of([*opening(), *new(cwd=".")]))
    status, printed, told = run("check", str(broken), "-", str(clean), given=text_of(opening()))
    assert (status, told) == (1, "")
    assert [line.partition(": ")[0] for line in printed.splitlines()] == [f"{broken}:3", str(broken), "-", str(clean)]
    status, printed, told = run("check", "no/such/file", str(broken), str(clean))
    assert (status, len(printed.splitlines())) == (2, 3)
    assert told.startswith("acp-bindings check: no/such/file: it cannot be read")


def test_files_can_follow_two_hyphens(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.ndjson", tmp_path / "bad.ndjson"
    good.write_bytes(text_of(CLEAN))
    bad.write_bytes(text_of(BROKEN["capability.load"]))
    status, printed, _ = run("check", str(good), "--", str(bad))
    assert status == 1
    assert f"{bad}:" in printed


def test_json_output_has_an_entry_for_each_file(tmp_path: Path) -> None:
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


def test_input_that_is_not_a_recording_is_reported_once() -> None:
    given = b"".join(b"line %d\n\n" % number for number in range(1000))
    status, printed, told = run("check", "-", given=given)
    assert (status, printed, told.count("\n")) == (2, "", 1)
    (file,) = json.loads(run("check", "-", "--json", given=given)[1])["files"]
    assert [each["line"] for each in file["findings"]] == list(range(1, 41, 2))
    assert {each["rule"] for each in file["findings"]} == {"schema.message"}
    assert file["errors"] == 20
    assert file["unusable"].startswith("it is not a recording: none of its first 20 lines is a message")


def test_a_file_without_an_end_is_abandoned() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("this system has no /dev/zero")
    status, _, told = run_apart("check", "/dev/zero")
    assert status == 2
    assert "more than 256 MB" in told


def test_a_closed_standard_input_does_not_matter_if_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_bytes(text_of(CLEAN))
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as end:
        main(["check", str(file)])
    assert end.value.code == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
@pytest.mark.parametrize(
    ("status", "told", "says"),
    [(129, 129, b""), (1, 2, b"acp-bindings: standard output: No space left on device\n")],
)
def test_a_signal_status_takes_precedence_over_a_write_error(status: int, told: int, says: bytes) -> None:
    code = f"""
from acp_bindings._standard_streams import written_by
with written_by("acp-bindings"):
    print("that the terminal is gone")
    raise SystemExit({status})
"""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        env = {**os.environ, "PYTHONUNBUFFERED": ""}
        pipe = subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], env=env, stdout=full, stderr=pipe, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (told, says)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        ("check conversation >/dev/full", 2, r"acp-bindings: (standard output: )?No space left on device\n"),
        ("rules >/dev/full", 2, r"acp-bindings: (standard output: )?No space left on device\n"),
        ("play --show tool >/dev/full", 2, r"acp-bindings: (standard output: )?No space left on device\n"),
        ("check missing 2>/dev/full", 2, ""),
        ("check conversation >/dev/full 2>/dev/full", 2, ""),
        ("check conversation >&-", 0, ""),
        ("check - <&-", 2, "acp-bindings check: -: standard input is closed\\n"),
        ("check long | true", 0, ""),
        ("play --show tool | true", 0, ""),
    ],
)
def test_closed_or_full_streams_do_not_cause_a_traceback(
    script: str, status: int, says: str, unbuffered: str, tmp_path: Path
) -> None:
    (tmp_path / "conversation").write_bytes(text_of(CLEAN))
    (tmp_path / "long").write_bytes(text_of([*opening(), *(new(n, session=f"s{n}", cwd=".")[0] for n in range(5000))]))
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
    talk = [*opening(agent={}), *new(1, mcpServers=[stdio, http, as_map], cwd=".")]
    return text_of([*talk, *new(2, session="s2", mcpServers=[http], cwd=".", additionalDirectories=["."])])


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_secrets_are_not_printed(options: list[str]) -> None:
    status, printed, told = run("check", "-", *options, given=with_secrets())
    assert status == 1
    assert not [each for each in SECRETS if each in printed + told]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_secrets_are_printed_on_request(options: list[str]) -> None:
    _, printed, _ = run_apart("check", "-", "--show-secrets", *options, given=with_secrets())
    assert "t0psecret" in printed
    assert "p4ssw0rd" in printed


def test_messages_cannot_move_the_cursor() -> None:
    talk = [*opening(), *new(mcpServers=[STDIO | {"name": "a.\u001b[31m"}], cwd="\u001b[2J")]
    _, printed, _ = run("check", "-", given=text_of(talk))
    assert "\u001b" not in printed


def test_file_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    file = tmp_path / "a\u001b[2J.ndjson"
    file.write_bytes(text_of(opening()))
    assert run("check", str(file))[1].startswith(f"{tmp_path}/a [2J.ndjson: nothing wrong in ")


def test_a_name_that_the_terminal_cannot_encode_is_shown_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "é.ndjson"
    file.write_bytes(text_of(opening()))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    status, printed, _ = run_apart("check", str(file))
    assert (status, printed.partition(": ")[0]) == (0, f"{tmp_path}/\\xe9.ndjson")


def test_help_imports_neither_pydantic_nor_an_event_loop() -> None:
    code = """
import atexit, sys
atexit.register(lambda: print({"pydantic", "asyncio", "anyio", "rich", "jinja2"} & set(sys.modules)))
from acp_bindings._command.cli import main
main(["--help"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "check_files", interrupted)
    assert run("check", "-")[0] == 130


INTERRUPTED = """
import importlib.abc, signal, sys
class Member:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            type("Class", (), dict(member=Member()))  # Python 3.11 raises a RuntimeError here
sys.meta_path.insert(0, Interrupting())
from acp_bindings.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["typer.main", "acp_bindings._command.check"])
def test_ctrl_c_while_something_is_imported_prints_nothing(module: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED.format(module=module), "check", "-"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
