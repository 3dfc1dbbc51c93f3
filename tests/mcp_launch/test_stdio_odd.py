"""Servers that deviate from the protocol: which deviations are tolerated, and how others are reported."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import LoggingMessageNotificationParams

import mcp_launch
from acp_bindings._redact import Redactor
from mcp_launch import Budgets, Limits
from mcp_launch._servers import owner as listing
from mcp_launch._transports.messages import Reader
from mcp_launch._transports.stdio import Stdout
from tests.mcp_launch import support
from tests.mcp_launch.support import SERVERS, Marked, ask, later_failure

pytestmark = pytest.mark.anyio

SHORT = Budgets(handshake=1.0, list=0.6, probe=0.2, close=0.8, call=20)
failure_of = partial(support.failure_of, budgets=SHORT)


def odd(marked: Marked, mode: str) -> dict[str, Any]:
    """Return the raw JSON of a server that misbehaves as the mode says."""
    return marked.stdio("odd", sys.executable, "-S", str(SERVERS / "odd.py"), mode)


@pytest.mark.parametrize(
    "mode",
    [
        "answers_in_arrays",
        "answers_twice",
        "answers_what_nobody_asked",
        "answers_with_ids_as_text",
        "cuts_characters",
        "notifies_first",
        "writes_in_pieces",
        "writes_mark_on_each_line",
        "writes_nul",
    ],
)
async def test_tolerated_deviations_work_without_a_warning(mode: str, marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([odd(marked, mode)], cwd=tmp_path, budgets=SHORT) as fleet:
        server = fleet["odd"]
        assert (server.state, server.warnings) == ("ready", [])
        for _ in range(3):
            assert isinstance(await ask(server.session, "pid"), int)


@pytest.mark.parametrize("mode", ["logs_in_lines", "logs_in_arrays"])
async def test_messages_that_arrive_together_stay_in_order(mode: str, marked: Marked, tmp_path: Path) -> None:
    heard: list[Any] = []

    async def listen(params: LoggingMessageNotificationParams) -> None:
        heard.append(params.data)

    options = mcp_launch.Options(logging=listen)
    async with mcp_launch.open_session(odd(marked, mode), cwd=tmp_path, budgets=SHORT, options=options) as session:
        # Trio tosses a coin each time.
        for _ in range(10):
            heard.clear()
            await session.list_tools()
            assert heard == [*range(20)]


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ('{"jsonrpc": "1.0", "result": {}}', 'it lacks "jsonrpc": "2.0"'),
        ('{"result": null}', 'its "result" must be an object'),
        ('{"result": [{"name": "any"}]}', 'its "result" must be an object'),
        ('{"error": "no tools"}', 'its "error" must be an object'),
        ('{"error": {"message": "no tools"}}', 'its "error" must have a "code" that is an integer'),
        ('{"error": {"code": 1, "message": null}}', 'its "error" must have a "message" that is a string'),
        ("{}", 'it has neither "result" nor "error"'),
    ],
    ids=["jsonrpc", "null", "array", "text", "code", "message", "nothing"],
)
async def test_an_invalid_response_fails_its_request_immediately(
    answer: str, wrong: str, marked: Marked, tmp_path: Path
) -> None:
    with anyio.fail_after(5):
        async with mcp_launch.launch([odd(marked, answer)], cwd=tmp_path) as fleet:
            [failure], warnings = fleet.failures, fleet["odd"].warnings

    assert (failure.stage, failure.code, warnings) == ("list", "invalid_response", [])
    assert (
        failure.message
        == f"sent a response that is not valid JSON-RPC: {wrong}; is there a newer release of the server?"
    )


async def test_an_error_without_an_id_refuses_the_opening_request(marked: Marked, tmp_path: Path) -> None:
    refusal = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no licence"}}'
    server = marked.stdio("odd", "/bin/sh", "-c", f"while read -r asked; do echo '{refusal}'; done")

    with anyio.fail_after(5):
        async with mcp_launch.launch([server], cwd=tmp_path, budgets=Budgets(probe=60.0)) as fleet:
            [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("handshake", "rejected")
    assert failure.facts["jsonrpc_error"]["message"] == "no licence"


async def test_json_that_is_not_a_message_is_a_stray_line(marked: Marked, tmp_path: Path) -> None:
    log = '{"id": 1, "level": "info", "error": null}'
    script = f"read -r probe; echo '{log}'; exec {sys.executable} -S {SERVERS / 'odd.py'} works"

    async with mcp_launch.launch([marked.stdio("odd", "/bin/sh", "-c", script)], cwd=tmp_path, budgets=SHORT) as fleet:
        server = fleet["odd"]
        assert server.state == "ready"
        assert server.warnings == [f'wrote "{log}" on stdout, which is not a JSON-RPC message; logs belong on stderr']


async def test_only_the_first_stray_line_of_a_ready_server_is_a_warning() -> None:
    warnings: list[str] = []
    stdout = Stdout(Reader(Limits()), hide=Redactor(), warn=warnings.append, awaited=lambda _: False)
    stdout.trust()
    for line in (b"one", b"two"):
        assert await stdout.read(line) == []

    assert warnings == ['wrote "one" on stdout, which is not a JSON-RPC message; logs belong on stderr']


async def test_a_warning_that_arises_during_a_call_is_there_after_it(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([odd(marked, "works")], cwd=tmp_path, budgets=SHORT) as fleet:
        await ask(fleet["odd"].session, "log")

        assert fleet["odd"].warnings == [
            'wrote "working" on stdout, which is not a JSON-RPC message; logs belong on stderr'
        ]


@pytest.mark.parametrize(
    ("tool", "wrote"),
    [
        ("print_dot", r'wrote "\.{"jsonrpc": .*"}]}}" on stdout, which is not a JSON-RPC message'),
        ("ask_user", r'wrote "Continue\?" on stdout without a newline; each message must end with one \(LF\)'),
    ],
)
async def test_a_call_that_times_out_has_what_the_server_wrote_in_place_of_a_response(
    tool: str, wrote: str, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
        await ask(session, "log")
        with pytest.raises(MCPError, match=f"^odd: {tool}: did not respond within 0.5 s, but the server {wrote}$"):
            await session.call_tool(tool, {}, 0.5)


@pytest.mark.parametrize("seconds", [0.2, 0])
async def test_a_line_that_was_written_before_a_call_is_not_why_it_timed_out(
    seconds: float, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
        await ask(session, "log")
        with pytest.raises(MCPError, match=rf"^odd: stop: did not respond within {seconds} s$"):
            await session.call_tool("stop", {}, seconds)


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("ends_list_with_empty_cursor", ["any"]),
        ("repeats_list", ["any", "any1", "its list of tools repeats itself and was cut"]),
        ("lists_without_end", ["any", "any1", "any2", "its list of tools has more than 3 pages and was cut"]),
    ],
)
async def test_a_list_of_tools_has_an_end(
    mode: str, told: list[str], marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGES", 3)

    async with mcp_launch.launch([odd(marked, mode)], cwd=tmp_path, budgets=SHORT) as fleet:
        server = fleet["odd"]
        assert [*(tool.name for tool in server.tools), *server.warnings] == told


async def test_two_tools_of_one_name_are_a_warning(marked: Marked, tmp_path: Path) -> None:
    tools: list[Any] = [{"name": name, "inputSchema": {"type": "object"}} for name in "babcaded"]

    async with mcp_launch.launch(
        [
            odd(marked, json.dumps({"result": {"tools": tools[:4]}})) | {"name": "two"},
            odd(marked, json.dumps({"result": {"tools": [*tools, *tools]}})) | {"name": "many"},
        ],
        cwd=tmp_path,
        budgets=SHORT,
    ) as fleet:
        warnings = [fleet[name].warnings for name in ("two", "many")]

    assert warnings == [
        ['lists more than one tool named "b"; calls cannot tell them apart'],
        ['lists more than one tool named "b", "a", "c" and 2 more; calls cannot tell them apart'],
    ]


async def test_a_server_that_echoes_its_input_works(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([odd(marked, "repeats_input")], cwd=tmp_path, budgets=SHORT) as fleet:
        server = fleet["odd"]
        assert server.warnings == ["echoes its input on stdout; the echo was ignored"]
        for _ in range(3):
            assert isinstance(await ask(server.session, "pid"), int)


async def test_a_shell_without_a_program_is_not_a_server(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("shell", "/bin/sh"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "not_mcp")
    assert failure.message == (
        'is a shell, which runs the messages as commands; do its "args" name the program to run, '
        "with each argument as a separate item?"
    )


async def test_a_name_that_ends_in_sh_is_not_a_shell(marked: Marked, tmp_path: Path) -> None:
    server = marked.stdio("ssh", "/bin/sh", "-c", "echo 'mcp-ssh: jsonrpc is on stdin' >&2; exec sleep 60")

    failure = await failure_of(server, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "timeout")


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        (
            "frames_as_language_servers",
            "does it frame messages like a language server? MCP requires one message per line",
        ),
        ("writes_on_several_lines", "each message must be on a single line"),
        ("writes_utf_16", "does it write UTF-16? Messages must be UTF-8"),
        ("ends_lines_with_cr", "without a newline; each message must end with one (LF)"),
    ],
)
async def test_messages_in_another_framing_are_recognized(mode: str, says: str, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(odd(marked, mode), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "not_mcp")
    assert says in failure.message


@pytest.mark.parametrize(
    ("tool", "says", "facts"),
    [
        ("die_with_helper", "was ended by SIGKILL; it wrote on stderr: out of paper", {"signal": "SIGKILL"}),
        ("leave_helper", "exited with status 0; it wrote nothing on stderr", {"exit_code": 0}),
        ("close_output", "closed its standard output; it wrote nothing on stderr", {}),
        ("write_half", "exited with status 4; it wrote", {"exit_code": 4}),
    ],
)
async def test_all_pending_requests_fail_with_the_reason_of_the_end(
    tool: str, says: str, facts: dict[str, object], marked: Marked, tmp_path: Path
) -> None:
    told: list[Any] = []

    async def call(session: Client) -> None:
        with pytest.raises(MCPError) as raised:
            await session.call_tool(tool)
        told.append(raised.value.error)

    async with mcp_launch.launch([odd(marked, "works")], cwd=tmp_path, budgets=SHORT) as fleet:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as calls:
                for _ in range(3):
                    calls.start_soon(call, fleet["odd"].session)
        failure = await later_failure(fleet["odd"])

    assert failure.stage == "call"
    assert failure.message.startswith(says)
    assert facts.items() <= failure.facts.items()
    data = {"code": failure.code, **failure.facts}
    assert [(each.message, each.data) for each in told] == [(failure.message, data)] * 3


async def test_a_slow_close_does_not_hide_the_failure(marked: Marked, tmp_path: Path) -> None:
    hasty = Budgets(close=0.001)

    async with mcp_launch.launch([odd(marked, "works")], cwd=tmp_path, budgets=hasty) as fleet:
        with anyio.fail_after(5), pytest.raises(MCPError):
            await fleet["odd"].session.call_tool("close_output")
        failure = await later_failure(fleet["odd"])

    assert (failure.stage, failure.code) == ("call", "disconnected")
    assert failure.message == "closed its standard output; it wrote nothing on stderr"


async def test_a_server_that_no_longer_reads_is_noticed_at_the_next_request(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
        with anyio.move_on_after(0.3):
            await session.call_tool("close_input")
        with anyio.fail_after(5), pytest.raises(MCPError, match="closed its standard input"):
            await session.call_tool("any")


async def test_a_stopped_server_is_ended_too(marked: Marked, tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
            with anyio.move_on_after(0.3):
                await session.call_tool("stop")

    assert marked.running() == []


async def test_a_cancelled_call_does_not_cut_the_message_after_it(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
        with anyio.move_on_after(0.001):
            # More than the pipe holds.
            await session.call_tool("any", {"text": "x" * 5_000_000})
        with anyio.fail_after(10):
            assert isinstance(await ask(session, "any"), int)


async def test_a_flood_on_stderr_does_not_block_a_line_of_20_megabytes(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(odd(marked, "works"), cwd=tmp_path, budgets=SHORT) as session:
        with anyio.fail_after(20):
            assert isinstance(await ask(session, "flood_both"), int)


async def test_a_line_of_100_megabytes_ends_the_server(marked: Marked, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    budgets = Budgets(handshake=20, close=0.8)
    server = marked.stdio("big", "/bin/sh", "-c", "head -c 100000000 /dev/zero; sleep 60")

    async with mcp_launch.launch([server], cwd=tmp_path, budgets=budgets) as fleet:
        [failure] = fleet.failures

    assert failure.code == "not_mcp"
    assert failure.message == "wrote a line of more than 40 MB; in Python, Options(limits=Limits(bytes=…)) allows more"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


async def test_children_that_multiply_and_ignore_sigterm_are_ended(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(odd(marked, "forks_stubborn"), cwd=tmp_path, budgets=SHORT):
        pass

    with anyio.fail_after(1):
        while marked.running():
            await anyio.sleep(0.01)


async def test_a_daemon_that_left_the_group_does_not_delay_closing(marked: Marked, tmp_path: Path) -> None:
    began = time.perf_counter()
    async with mcp_launch.open_session(odd(marked, "leaves_daemon"), cwd=tmp_path, budgets=SHORT):
        pass

    assert time.perf_counter() - began < 20
    # It is out of reach, for the launcher.
    [daemon] = marked.running()
    os.kill(daemon, signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 0", "it printed nothing"),
        ("echo usage: server stdio >&2", "it wrote on stderr: usage: server stdio"),
        ("echo usage: server stdio", 'it wrote "usage: server stdio" on stdout, which is not a JSON-RPC message'),
    ],
)
async def test_an_immediate_exit_with_status_0_is_a_failure(
    script: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(marked.stdio("satisfied", "/bin/sh", "-c", script), cwd=tmp_path)

    advice = "is that the right program, and does it need an argument to speak MCP on stdio?"
    assert (failure.code, failure.message) == ("exited", f"exited with status 0; {says}; {advice}")


@pytest.mark.parametrize("says", ["s is not a valid Git repository", "ERROR - cannot read s"])
async def test_an_exit_with_status_0_and_a_complaint_has_no_other_advice(
    says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(marked.stdio("satisfied", "/bin/sh", "-c", f"echo {says} >&2"), cwd=tmp_path)

    assert failure.message == f"exited with status 0; it wrote on stderr: {says}"


async def test_an_exit_with_status_0_and_a_hint_has_no_other_advice(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("satisfied", "/bin/sh", "-c", "echo KEY is not set >&2"), cwd=tmp_path)

    assert failure.message.endswith("(on the command line, -e KEY); it wrote on stderr: KEY is not set")


async def test_an_exit_on_any_request_is_not_blamed_on_the_probe(marked: Marked, tmp_path: Path) -> None:
    server = marked.stdio("odd", "/bin/sh", "-c", "read -r asked; exit 3")
    async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
        assert (fleet.failures[0].facts["exit_code"], fleet["odd"].warnings) == (3, [])


async def test_a_child_may_go_on_as_the_server_when_its_parent_leaves_in_peace(marked: Marked, tmp_path: Path) -> None:
    script = f"import subprocess as s, sys; s.Popen([sys.executable, '-S', {str(SERVERS / 'odd.py')!r}, 'works'])"
    server = marked.stdio("odd", sys.executable, "-S", "-c", script)

    async with mcp_launch.open_session(server, cwd=tmp_path, budgets=SHORT) as session:
        assert isinstance(await ask(session, "any"), int)


async def test_a_failed_leader_is_not_awaited_while_its_child_holds_the_pipes(marked: Marked, tmp_path: Path) -> None:
    script = "exec 3<&0; /bin/sleep 60 & exit 5"

    server = marked.stdio("tool", "/bin/sh", "-c", script)
    async with mcp_launch.launch([server], cwd=tmp_path, budgets=Budgets(handshake=20, close=0.8)) as fleet:
        [failure] = fleet.failures

    assert (failure.code, failure.facts["exit_code"]) == ("exited", 5)
    assert failure.elapsed < 10


async def test_a_server_may_finish_its_output_when_it_is_closed(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([odd(marked, "talks_at_end")], cwd=tmp_path, budgets=Budgets(close=10)) as fleet:
        assert fleet["odd"].state == "ready"

    assert (fleet["odd"].state, fleet["odd"].warnings) == ("closed", [])


async def test_files_that_are_not_programs_are_explained(marked: Marked, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o777)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "server.py").write_text("print()")
    for name, content in (
        ("marked", b"\xef\xbb\xbf#!/bin/sh\n"),
        ("of-windows", b"#!/bin/sh\r\necho\r\n"),
        ("foreign", b"\x7fELF\xff\xff" + bytes(60)),
    ):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)

    kinds = {
        "server.py": ("not_executable", '; set the command to python3 and put this file in "args", or try chmod +x'),
        "fifo": ("not_executable", "a device, pipe or socket"),
        "link": ("not_executable", "is a directory"),
        "dangling": ("command_not_found", "a broken link"),
        "marked": ("not_executable", "save it without one"),
        "of-windows": ("not_executable", "CR LF"),
        "foreign": ("not_executable", "built for another"),
    }
    for name, (code, says) in kinds.items():
        failure = await failure_of(marked.stdio("tool", str(tmp_path / name)), cwd=tmp_path)
        assert (failure.stage, failure.code) == ("spawn", code)
        assert says in failure.message


async def test_a_directory_that_vanished_or_cannot_be_entered_is_a_bad_request(marked: Marked, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    is_root = os.geteuid() == 0

    (tmp_path / "file").touch()
    gone = await failure_of(marked.plain(), cwd=tmp_path / "gone")
    file = await failure_of(marked.plain(), cwd=tmp_path / "file")
    if is_root:
        # Root may enter every directory.
        os.seteuid(65534)
    try:
        shut = await failure_of(marked.stdio("tool", "/bin/sh"), cwd=closed)
    finally:
        if is_root:
            os.seteuid(0)

    for failure, says in ((gone, "does not exist"), (file, "is a file"), (shut, "cannot be accessed")):
        assert (failure.stage, failure.code) == ("spawn", "invalid_spec")
        assert failure.message.startswith(f"the working directory {says}")


async def test_arguments_that_are_too_long_are_a_bad_request(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("tool", sys.executable, "x" * 3_000_000), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("spawn", "invalid_spec")
    assert '"args" and "env" together are longer' in failure.message


async def test_too_many_open_files_are_reported(marked: Marked, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    last = max(int(name) for name in os.listdir("/dev/fd"))
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1, hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        failure = await failure_of(marked.stdio("tool", sys.executable), cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)

    assert (failure.stage, failure.code) == ("spawn", "failed")
    assert "ulimit -n" in failure.message


async def test_an_empty_path_variable_is_reported(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("tool", "sh", env={"PATH": ""}), cwd=tmp_path)

    assert failure.code == "command_not_found"
    assert "PATH, which is empty" in failure.message
