"""`acp-bindings probe`: its output, its files and its exit status."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from acp_bindings._command.cli import main
from acp_bindings.probe import CHECKS
from tests.acp_bindings.probe.mutants import AGENT

NASTY = "<script>alert(1)</script>"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["probe", *arguments])
    status = end.value.code
    return status if isinstance(status, int) else 0


def test_a_good_agent_has_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "negotiation.info", "--", *AGENT) == 0

    first, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["ok", "negotiation.info"]
    assert last.startswith("1 ok (correct 1.0, version 1, ")


def test_a_failed_check_has_status_1_and_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "sessions.unique", "--version", "2", "--", *AGENT, "sessions.unique") == 1

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=2) == ["FAIL", "sessions.unique", "both have the same id"]
    assert lines[1].strip().startswith("required: Two sessions have different ids.")
    assert lines[-2].strip() == "try: Make a new id for each session."


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Give either the command of an agent"),
        (("http://localhost", "--", "agent"), "Give either the command of an agent"),
        (("python", "agent.py"), "put -- before the command: -- python agent.py"),
        (("--only", "nothing", "--", "agent"), "unknown check 'nothing'"),
        (("--", "##[error]agent"), 'cannot start "## [error]agent": command not found'),
        (("--only", "auth", "--skip", "auth", "--", "agent"), "no check of version 1 is selected"),
        (("--only", "sessions.modes", "--version", "2", "--", "agent"), "no check of version 2 is selected"),
        (("agent",), "put -- before a command"),
        (("ftp://localhost",), "put -- before a command"),
        (("--header", "A: b", "--", "agent"), "--header is for a URL, but a command was given"),
        (("--header", "secret", "http://localhost"), "--header: write it as 'NAME: VALUE'; the colon is missing"),
        (("--junit", "/", "--", "agent"), "--junit /: it is a directory"),
        (("--html", "no/such/probe.html", "--", "agent"), "--html no/such/probe.html: its directory does not exist"),
        (("--record", "no/such", "--", "agent"), "--record no/such: its directory does not exist"),
        (("--version", "3", "--", "agent"), "'--version'"),
    ],
)
def test_a_wrong_command_line_has_status_2(
    arguments: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2

    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("package", ["httpx", "h2", "websockets"])
def test_a_url_without_a_package_of_the_extra_names_it(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    assert run("http://127.0.0.1:9/acp") == 2
    assert f" {package}: pip install 'acp-bindings[remote]'" in capsys.readouterr().err


def test_json_has_all_of_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    run("--json", "--only", "sessions.unique", "--", *AGENT, "sessions.unique")

    document = json.loads(capsys.readouterr().out)
    assert document["counts"] == {"ok": 0, "fail": 1, "warn": 0, "skip": 0}
    (result,) = document["results"]
    assert (result["id"], result["status"]) == ("sessions.unique", "fail")
    assert len(result["lines"]) == 4


def test_junit_has_a_test_case_for_each_check(tmp_path: Path) -> None:
    file = tmp_path / "probe.xml"

    run("--junit", str(file), "--only", "auth", "--only", "negotiation.info", "--", *AGENT, "auth.methods")

    suite = ElementTree.parse(file).getroot()[0]
    cases = {case.get("name"): [each.tag for each in case] for case in suite}
    assert cases["info"] == []
    assert cases["methods"] == ["failure"]
    assert cases["required"] == ["skipped"]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "1", "2")


def test_html_shows_problems_and_escapes_what_an_agent_says(tmp_path: Path) -> None:
    file = tmp_path / "probe.html"

    run("--html", str(file), "--only", "sessions.unique", "--", *AGENT, "sessions.unique", NASTY)

    page = file.read_text(encoding="utf-8")
    assert "1 of 1 checks failed" in page
    assert 'id="sessions.unique"' in page
    assert "both have the same id" in page
    assert NASTY not in page
    assert "&lt;script&gt;" in page


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_only_the_user_can_read_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "record"

    run("--record", str(file), "--only", "negotiation.info", "--", *AGENT)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("version", [1, 2])
def test_list_prints_the_checks_of_a_version(version: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "--version", str(version)) == 0

    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [each.id for each in CHECKS if version in each.versions]


def test_list_prints_only_the_selected_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "--only", "auth", "--skip", "auth.login") == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [
        each.id for each in CHECKS if 1 in each.versions and each.id.startswith("auth.") and each.id != "auth.login"
    ]
    assert run("--list", "--only", "no-such-check") == 2
    assert "unknown check 'no-such-check'" in capsys.readouterr().err


def test_secrets_of_the_environment_are_in_no_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-to-be-shown")
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import os\nprint('x' * 395 + os.environ['OPENAI_API_KEY'])\nraise SystemExit(os.environ['OPENAI_API_KEY'])"
    )
    options = [f"--{each}={tmp_path / each}" for each in ("record", "junit", "html")]

    run(*options, "--only", "negotiation", "--", sys.executable, str(agent), "--api-key=also-not-shown")

    texts = [capsys.readouterr().out, *((tmp_path / each).read_text() for each in ("record", "junit", "html"))]
    assert "[redacted]" in texts[0]
    for each in texts:
        assert "x" * 395 in each
        assert "not-" not in each


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
def test_a_file_that_cannot_be_written_does_not_cost_other_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = tmp_path / "html"
    options = ["--record", "/dev/full", "--junit", "/dev/full", "--html", str(html), "--only", "negotiation.info"]

    assert run(*options, "--", *AGENT) == 2

    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].startswith("1 ok")
    assert "negotiation.info" in html.read_text()
    assert printed.err == "".join(
        f"acp-bindings probe: {option} /dev/full: No space left on device\n" for option in ("--record", "--junit")
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send these signals")
@pytest.mark.parametrize(
    ("number", "start"),
    [
        (signal.SIGINT, ""),
        (signal.SIGTERM, ""),
        (signal.SIGTERM, "trap '' INT;"),  # as a background job
        (getattr(signal, "SIGHUP", None), ""),
    ],
)
def test_a_signal_stops_the_agent_and_keeps_what_was_done(tmp_path: Path, number: signal.Signals, start: str) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(HANGING, encoding="utf-8")
    files = {each: tmp_path / each for each in ("record", "junit", "html")}
    options = [*(f"--{name}={file}" for name, file in files.items()), "--only", "negotiation", "--only", "prompts"]
    command = [sys.executable, "-m", "acp_bindings", "probe", *options, "--", sys.executable, str(agent), str(tmp_path)]

    for name in ("prompted", "stopping", "go"):
        os.mkfifo(tmp_path / name)
    started = ["sh", "-c", f'{start} exec "$@"', "sh", *command]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid = int((tmp_path / "prompted").read_text())  # a pipe
        is_hangup = number == getattr(signal, "SIGHUP", None)
        if is_hangup:
            process.stdout.close()
        process.send_signal(number)
        (tmp_path / "stopping").read_text()
        if is_hangup:
            # The system sends it, and so does a shell that it ends.
            process.send_signal(number)
        (tmp_path / "go").write_text("")
        if not is_hangup:
            *_, summary = process.stdout.read().splitlines()
            assert summary.startswith("10 ok, 1 warned (hanging 1, version 1, ")

    assert process.returncode == 128 + number
    assert "session/prompt" in files["record"].read_text()
    assert "initialize-twice" in files["junit"].read_text()
    assert "initialize-twice" in files["html"].read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not have SIGHUP")
def test_a_hangup_that_is_ignored_does_not_stop_a_probe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acp_bindings", "probe", "--only", "negotiation", "--", sys.executable, "-c"]
    agent = "import os, signal; os.kill(os.getppid(), signal.SIGHUP); exit(3)"
    done = subprocess.run(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command, agent], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1, done.stderr


HANGING = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": 1, "agentInfo": {"name": "hanging", "version": "1"}}
    elif message.get("method") == "session/prompt":
        with open(sys.argv[1] + "/prompted", "w") as pipe:
            pipe.write(str(os.getpid()))
        sys.stdin.read()
        open(sys.argv[1] + "/stopping", "w").close()
        open(sys.argv[1] + "/go").read()
    else:
        result = {"sessionId": str(message.get("id"))}
    print(json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}), flush=True)
"""
