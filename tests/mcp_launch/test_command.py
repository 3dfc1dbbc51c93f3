"""The command `mcp-launch`, run as users run it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from mcp_launch._command.run import budgets_within
from mcp_launch._extra import NEEDED
from mcp_launch.report import check_schema
from tests.mcp_launch.here import run_here
from tests.mcp_launch.support import SECRET, SERVERS, SOURCE, Marked, run_python, wait_until

PLAIN = ["-S", str(SERVERS / "plain.py")]
COMMAND = [sys.executable, "-m", "mcp_launch"]
TERMINAL = {"COLUMNS": "40", "NO_COLOR": "1"}
ENV = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": str(SOURCE), **TERMINAL}
WHEN_SPAWNED = """
import subprocess, sys
class Popen(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        print("SPAWNED", file=sys.stderr)
        if "-" not in sys.argv:
            sys.exit()  # what follows is the same for all commands
subprocess.Popen = Popen
from mcp_launch.__main__ import main
main()
"""
INTERRUPTED = """
import importlib.abc, signal, sys, weakref
class Module:
    pass
class Member:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            {interrupt}
sys.meta_path.insert(0, Interrupting())
from mcp_launch.__main__ import main
main()
"""
TELLS_OF_SIGINT_AT_END = """
import atexit, signal
# What is ignored now stays so while the interpreter is taken down.
atexit.register(lambda: print("SIGINT is ignored:", signal.getsignal(signal.SIGINT) is signal.SIG_IGN))
from mcp_launch.__main__ import main
main()
"""
STUBBORN = "trap '' TERM; cat; sleep 30"


def run(
    *args: str, stdin: str = "", python: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    which = () if "-c" in python else ("-m", "mcp_launch")
    return run_python(*python, *which, *args, stdin=stdin, **(TERMINAL | variables))


def plain(mode: str = "works") -> dict[str, Any]:
    return {"command": sys.executable, "args": [*PLAIN, mode], "env": {"SECRET": SECRET}}


def test_working_servers_are_printed_in_one_line_each_with_exit_status_0(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"first": plain(), "second": plain()}}))

    done = run("check", str(file))

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:6] for line in done.stdout.splitlines()] == [
        ["ok", "first", "stdio", "1", "tool:", "environment"],
        ["ok", "second", "stdio", "1", "tool:", "environment"],
    ]


def test_a_failed_server_is_printed_with_the_reason_and_exit_status_1() -> None:
    config = {"mcpServers": {"good": plain(), "bad": plain("exits_with_message")}}

    done = run_here("check", "-", stdin=json.dumps(config))

    assert done.returncode == 1
    good, bad = done.stdout.splitlines()
    assert good.startswith("ok   good stdio 1 tool")
    assert bad.startswith("FAIL bad  stdio exited in handshake after")
    assert "exited with status 3; it wrote on stderr: cannot start with key [redacted]" in bad
    assert SECRET not in done.stdout + done.stderr


def test_json_output_is_a_single_document() -> None:
    config = {"mcpServers": {"banner": plain("prints_banner"), "gone": {"command": "/no/such/program"}}}

    done = run_here("check", "--json", "-", stdin=json.dumps(config))

    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    banner, gone = report["servers"]
    assert (banner["state"], banner["tools"]) == ("ready", [{"name": "environment", "description": None}])
    assert (gone["state"], gone["failure"]["code"]) == ("failed", "command_not_found")
    assert SECRET not in done.stdout + done.stderr


def test_a_whole_request_brings_its_directory(tmp_path: Path) -> None:
    server: dict[str, Any] = {"name": "here", "command": "./server", "args": [], "env": []}
    (tmp_path / "server").write_text(f"#!/bin/sh\nexec {sys.executable} {PLAIN[1]}\n")
    (tmp_path / "server").chmod(0o755)
    request = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "session/new",
        "params": {"cwd": str(tmp_path), "mcpServers": [server]},
    }

    done = run_here("check", "-", stdin=json.dumps(request))

    assert (done.returncode, done.stdout[:8]) == (0, "ok   her")
    assert done.stderr.startswith("warning: here: ")


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        ('{"mcpServers": [}', "mcp-launch: standard input:1:17: not JSON"),
        ("{}", "mcp-launch: standard input:1:1: contains no mcpServers"),
        ('{"mcpServers": [], "cwd": "."}', "mcp-launch: standard input: cwd must be an absolute path"),
    ],
)
def test_unusable_input_exits_2_with_its_position(stdin: str, says: str) -> None:
    done = run_here("check", "-", stdin=stdin)
    as_json = run_here("check", "--json", "-", stdin=stdin)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(says)
    why = done.stderr.removeprefix("mcp-launch: ").rstrip("\n")
    assert (as_json.returncode, as_json.stderr) == (2, done.stderr)
    assert json.loads(as_json.stdout) == {"ok": False, "servers": [], "findings": [], "unusable": [why]}


def test_a_file_that_cannot_be_used_keeps_no_other_from_being_checked(tmp_path: Path) -> None:
    good, cut = tmp_path / "good.json", tmp_path / "cut.json"
    good.write_text(json.dumps({"mcpServers": {"good": plain()}}))
    cut.write_text('{"mcpServers": {')
    gone = str(tmp_path / "gone.json")

    lines = run_here("check", str(cut), str(good), gone)
    report = json.loads(run_here("check", "--json", str(cut), str(good), gone).stdout)
    none = run_here("check", "--json", str(cut), gone)
    whole = run_here("check", str(cut), str(good), "--junit", str(tmp_path / "junit.xml"))

    unusable = lines.stderr.splitlines()
    assert (lines.returncode, lines.stdout.split()[:2]) == (2, ["ok", "good"])
    assert [each.startswith(f"mcp-launch: {file}:") for each, file in zip(unusable, (cut, gone), strict=True)] == [
        True
    ] * 2
    assert (report["ok"], [each["name"] for each in report["servers"]]) == (False, ["good"])
    assert report["unusable"] == [each.removeprefix("mcp-launch: ") for each in unusable]
    assert (none.returncode, none.stderr, json.loads(none.stdout)["unusable"]) == (2, lines.stderr, report["unusable"])
    assert (whole.returncode, whole.stdout, (tmp_path / "junit.xml").exists()) == (2, "", False)


def test_the_version_is_printed() -> None:
    done = run("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"mcp-launch {version('acp-bindings')}\n", "")


def test_without_the_extra_the_command_names_what_to_install() -> None:
    # A None in sys.modules hides a package as if it were not installed.
    script = """
import sys
from mcp_launch.__main__ import main
from mcp_launch._extra import NEEDED
sys.modules.update(dict.fromkeys(NEEDED))
main()
"""
    done = run_python("-c", script, "check", "-")

    assert (done.returncode, done.stdout) == (2, "")
    missing = ", ".join(NEEDED)
    assert done.stderr == f"mcp-launch needs {missing}: pip install 'acp-bindings[launch]'\n"


def test_the_extra_contains_what_the_command_imports() -> None:
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    brought = [*extras["connection"], *extras["tools"], *extras["launch"]]
    here = [each for each in brought if "win32" not in each and not each.startswith("acp-bindings[")]
    # httpx searches for it, but works without.
    here = [each for each in here if not each.startswith("sniffio")]

    assert sorted(re.split("[<>=]", each)[0].replace("-", "_") for each in here) == sorted(NEEDED)


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        (b"\xff\xfe[\0]\0", ": not UTF-8 at byte 0; is it UTF-16? Save it as UTF-8"),
        (b"[" + b"1" * 5000 + b"]", ":1:1: contains a number that is too long, or NaN or Infinity"),
    ],
)
def test_input_that_is_not_utf_8_or_json_exits_2(stdin: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(stdin)
    with (tmp_path / "input").open() as file:
        done = subprocess.run(
            [*COMMAND, "check", "-"], stdin=file, capture_output=True, text=True, env=ENV, check=False
        )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"mcp-launch: standard input{says}\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("redirection", "status", "says"),
    [
        ("<&-", 2, "mcp-launch: standard input: is closed\n"),
        ("< servers.json >&-", 0, ""),
        ("< servers.json >/dev/full", 2, "mcp-launch: No space left on device\n"),
        ("< /dev/null 2>/dev/full", 2, ""),
        ("--no-such-option 2>/dev/full", 2, ""),
        ("--help >&-", 0, ""),
        ("< servers.json | head -c 10 >/dev/null", 0, ""),
        ("--json < servers.json | true", 0, ""),
    ],
)
def test_closed_or_full_streams_do_not_cause_a_traceback(
    redirection: str, status: int, says: str, unbuffered: str, tmp_path: Path
) -> None:
    (tmp_path / "servers.json").write_text('{"mcpServers": {}}')

    done = in_a_shell(f'"$@" check - {redirection}', tmp_path, unbuffered=unbuffered)

    assert (done.returncode, done.stderr.replace("standard output: ", "")) == (status, says)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("what", ["--help", "schema", "--version"])
def test_failing_to_print_is_reported(what: str, unbuffered: str, tmp_path: Path) -> None:
    done = in_a_shell(f'"$@" {what} >/dev/full', tmp_path, unbuffered=unbuffered)

    assert done.returncode == 2
    assert re.fullmatch(r"mcp-launch: (standard output: )?No space left on device\n", done.stderr)


def in_a_shell(script: str, folder: Path, *, unbuffered: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which "$@" is the command."""
    arguments = ["/bin/sh", "-c", script, "sh", *COMMAND]
    env = {**ENV, "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, env=env, check=False, timeout=60)


def test_a_name_that_the_terminal_cannot_encode_is_shown_escaped() -> None:
    config = {"mcpServers": {"caf\u00e9": {"command": "/no/such/program"}}}

    done = run("check", "-", stdin=json.dumps(config), PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stdout[:12]) == (1, r"FAIL caf\xe9")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_servers_before_the_command(number: signal.Signals, status: int) -> None:
    marked = Marked()
    servers = [marked.plain("mute", name="mute"), marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN)]

    with subprocess.Popen([*COMMAND, "check", "-"], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(servers).encode())
        process.stdin.close()
        wait_until(lambda: len(marked.running()) >= 2)
        process.send_signal(number)
        process.send_signal(number)
        assert process.wait(timeout=20) == status
        assert process.stderr is not None
        assert process.stderr.read() == b""

    assert marked.running() == []


def test_a_command_behind_two_dashes_is_a_server() -> None:
    done = run_here("check", "-e", "SECRET", "--", sys.executable, *PLAIN, "works", "--json", SECRET=SECRET)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ok   plain stdio 1 tool: environment (")


def test_a_url_is_a_server_with_its_headers(echo_urls: dict[str, str]) -> None:
    done = run_here("check", f"{echo_urls['http']}?key={SECRET}", "-H", f"Authorization: Bearer {SECRET}")
    old = run_here("check", echo_urls["sse"], "--sse")

    assert (done.returncode, done.stdout.split()[:3], done.stderr) == (0, ["ok", "127.0.0.1", "http"], "")
    assert (old.returncode, old.stdout.split()[:3]) == (0, ["ok", "127.0.0.1", "sse"])
    assert "the SSE transport is deprecated" in old.stderr


def test_a_client_that_tries_both_transports_finds_a_server_of_either(
    tmp_path: Path, echo_urls: dict[str, str]
) -> None:
    servers = {"a": {"type": "sse", "url": echo_urls["http"]}, "b": {"type": "http", "url": echo_urls["sse"]}}
    file = tmp_path / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"servers": servers}))
    done = run_here("check", str(file))

    assert [line.split()[:3] for line in done.stdout.splitlines()] == [["ok", "a", "http"], ["ok", "b", "sse"]]
    assert done.stderr.startswith("warning: b: the SSE transport is deprecated by MCP; ")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_transport_is_reported_in_the_terms_of_its_file(tmp_path: Path, echo_urls: dict[str, str]) -> None:
    gemini = tmp_path / ".gemini" / "settings.json"
    gemini.parent.mkdir()
    gemini.write_text(json.dumps({"mcpServers": {"web": {"type": "sse", "url": echo_urls["http"]}}}))
    ways = ((echo_urls["http"], "--sse"), (str(gemini),))
    new = [run_here(command, *where) for command in ("check", "tools") for where in ways]
    gemini.write_text(json.dumps({"mcpServers": {"web": {"httpUrl": echo_urls["sse"]}}}))
    old = [run_here("check", echo_urls["sse"]), run_here("call", str(gemini), "echo")]

    said = ["leave out --sse", 'call the URL "httpUrl"'] * 2
    said += ["add --sse", 'call the URL "url", and set "type" to "sse"']
    assert [done.returncode for done in (*new, *old)] == [1] * 6
    for done, advice in zip([*new, *old], said, strict=True):
        speaks = "the deprecated SSE transport" if done in old else "Streamable HTTP"
        assert f"this URL speaks {speaks}: {advice}\n" in done.stdout + done.stderr


def test_a_timeout_names_the_option_to_increase_it(tmp_path: Path) -> None:
    junit, html = tmp_path / "report.xml", tmp_path / "report.html"
    slow = ("--timeout", "0.5", "--", "/bin/sleep", "20")

    ways = [("check", "--junit", str(junit), "--html", str(html)), ("check", "--json"), ("tools",), ("tools", "--json")]
    done = [run_here(*way, *slow) for way in (*ways, ("shell", "--verbose"))]

    assert [each.returncode for each in done] == [1] * len(done)
    told = [*(each.stdout + each.stderr for each in done), junit.read_text(), html.read_text()]
    advice = "; does it need more time (--timeout), or an argument to speak MCP on stdio?"
    assert [advice in each for each in told] == [True] * len(told)


def test_several_files_make_one_report(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"mcpServers": {name: plain(), "both": plain()}}))

    done = run_here(
        "check", "--json", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--only", "both", "--only", "b"
    )

    names = [server["name"] for server in json.loads(done.stdout)["servers"]]
    assert (done.returncode, names) == (0, [f"{tmp_path}/a.json:both", "b", f"{tmp_path}/b.json:both"])


def test_checking_again_adds_no_handler_of_logs() -> None:
    def handlers() -> list[logging.Handler]:
        run_here("check", "-", stdin='{"mcpServers": {"one": {"command": "/no/such"}}}')
        return list(logging.getLogger().handlers)

    assert handlers() == handlers()


def test_strict_takes_warnings_for_failures() -> None:
    relative = {"command": os.path.basename(sys.executable), "args": PLAIN}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def statuses(server: dict[str, Any], *, acp: bool = False) -> list[int]:
        # Only ACP requires absolute commands.
        servers: Any = [{"name": "one", "env": [], **server}] if acp else {"one": server}
        config = json.dumps({"mcpServers": servers})
        return [run_here("check", "-", *strict, stdin=config, PATH=path).returncode for strict in ((), ("--strict",))]

    assert (statuses(plain()), statuses(plain("prints_banner"))) == ([0, 0], [0, 1])
    assert (statuses(relative), statuses(relative, acp=True)) == ([0, 0], [0, 1])


def test_verbose_shows_traffic_and_stderr_without_secrets() -> None:
    config = {"mcpServers": {"good": plain(), "bad": plain("exits_with_message")}}

    done = run_here("check", "--json", "--verbose", "-", stdin=json.dumps(config))

    lines = done.stderr.splitlines()
    sent = [json.loads(line[8:])["method"] for line in lines if line.startswith("good -> ")]
    assert sent == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
    received = [json.loads(line[8:]) for line in lines if line.startswith("good <- ")]
    assert received[1]["result"]["protocolVersion"] == "2025-06-18"
    assert "bad !! cannot start with key [redacted]" in lines
    assert json.loads(done.stdout)["ok"] is False
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--",), "no command follows --"),
        (("--watch", "--", "true"), "--watch requires a FILE"),
        (("--watch", "-"), "--watch requires a FILE"),
        (("-", "--only", "none"), 'no server is named "none"; no servers were given'),
    ],
)
def test_contradictory_arguments_exit_2(args: tuple[str, ...], says: str) -> None:
    done = run_here("check", *args, stdin="[]")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mcp-launch: {says}")


@pytest.mark.parametrize(
    "args",
    [
        ("check", "--nonsense"),
        ("check", "x", "--timeout", "0"),
        ("convert", "--to", "zed"),
        ("convert", "x"),
        ("nonsense",),
    ],
)
def test_usage_errors_exit_2(args: tuple[str, ...]) -> None:
    done = run_here(*args)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: mcp-launch ")


def test_schema_prints_the_schema_of_reports() -> None:
    done = run_here("schema")

    assert done.returncode == 0
    assert json.loads(done.stdout) == {"$schema": "https://json-schema.org/draft/2020-12/schema", **check_schema()}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_commands_and_options(shell: str) -> None:
    typed = "mcp-launch check --wat"

    done = run_here(
        _MCP_LAUNCH_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS=typed,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        COMP_WORDS=typed,
        COMP_CWORD="2",
    )

    assert done.returncode == 0
    assert "--watch" in done.stdout


SLOW = {"anyio", "asyncio", "jsonschema", "mcp", "prompt_toolkit", "pydantic", "rich", "ruamel.yaml"}


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("check", "--help"),
        ("check", "/no/such/file"),
        ("check", "--discover"),
        ("convert", "--help"),
        ("convert", "/no/such/file", "--to", "zed"),
        ("convert", "examples/.vscode/mcp.json", "--to", "claude-code"),
        ("call", "--help"),
        ("tools", "/no/such"),
        ("call", "/no/such", "a"),
        ("call",),
        ("shell", "/no/such"),
    ],
)
def test_commands_that_start_no_server_import_no_slow_modules(args: tuple[str, ...]) -> None:
    done = run(*args, python=("-X", "importtime"), HOME="/no/such/home", XDG_CONFIG_HOME="/no/such/home")

    assert "typer" in imported_by(done.stderr)
    assert imported_by(done.stderr) & SLOW == set()


FILE_OF_ONE = json.dumps({"mcpServers": {"one": {"command": "/bin/sh", "args": ["-c", "exit"]}}})


@pytest.mark.parametrize("args", [("check", "-"), ("check",), ("prompts",), ("call", "tool"), ("shell",)])
def test_servers_are_started_before_the_libraries_are_imported(args: tuple[str, ...]) -> None:
    where = () if "-" in args else ("--", "/bin/sh", "-c", "exit")
    done = run(*args, *where, python=("-X", "importtime", "-c", WHEN_SPAWNED), stdin=FILE_OF_ONE)

    before, spawned, after = done.stderr.partition("SPAWNED")
    assert spawned
    assert imported_by(before) & SLOW == set()
    assert ({"anyio", "asyncio", "mcp", "pydantic"} <= imported_by(after)) is ("-" in args)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("lint", "--for", "opena"), 'unknown target "opena"; did you mean "openai"?'),
        (("check", "--lint", "--for", "opena"), 'unknown target "opena"; did you mean "openai"?'),
        (("call", "tool", "--answer", "/no/such"), "/no/such: No such file"),
        (("shell", "--answer", "/no/such"), "/no/such: No such file"),
    ],
)
def test_no_server_is_started_if_an_option_is_wrong(args: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = run(*args, "--", "/usr/bin/env", "touch", str(tmp_path / "started"))

    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def imported_by(stderr: str) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in stderr.splitlines() if line.startswith("import time:")}


AT_ONCE = "signal.raise_signal(signal.SIGINT)"
IN_CALLBACK = "weakref.ref(Module(), lambda _: signal.raise_signal(signal.SIGINT))"
"""The import system has such a callback for each module, from which no exception is raised."""
IN_CLASS = "type('Class', (), dict(member=Member()))"
"""Many classes have members with `__set_name__`, from which Python 3.11 raises a RuntimeError instead."""


@pytest.mark.parametrize(
    ("module", "interrupt"),
    [
        ("typer.main", AT_ONCE),
        ("mcp_launch._command.check", AT_ONCE),
        ("mcp_launch.fleet", AT_ONCE),
        ("mcp_launch.fleet", IN_CALLBACK),
        ("mcp_launch.fleet", IN_CLASS),
        ("mcp_launch._command.inputs", IN_CLASS),
        ("mcp.client", AT_ONCE),
    ],
)
def test_ctrl_c_while_something_is_imported_leaves_nothing(module: str, interrupt: str) -> None:
    marked = Marked()
    config = json.dumps([marked.plain("mute"), marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN)])

    done = run("check", "-", python=("-c", INTERRUPTED.format(module=module, interrupt=interrupt)), stdin=config)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert marked.running() == []


def test_once_ctrl_c_has_ended_the_command_another_changes_no_exit_status() -> None:
    marked = Marked()
    command = [sys.executable, "-c", TELLS_OF_SIGINT_AT_END, "check", "--verbose", "-"]

    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps([marked.plain("mute", name="mute")]).encode())
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"mute -> ")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stdout is not None
        assert process.stdout.read() == b"SIGINT is ignored: True\n"

    assert marked.running() == []


@pytest.mark.parametrize(("timeout", "handshake"), [(2, 30), (30, 30), (90, 90)])
def test_a_server_may_take_all_of_a_long_timeout(timeout: float, handshake: float) -> None:
    assert budgets_within(timeout).handshake == handshake
