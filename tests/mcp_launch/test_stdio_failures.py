"""Failures of processes, with one small misbehaving server for each, and their messages."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

import mcp_launch
from mcp_launch import Budgets, Options
from tests.mcp_launch import support
from tests.mcp_launch.support import SECRET, Marked, ask

pytestmark = pytest.mark.anyio

SHORT = Budgets(handshake=0.8, list=0.6, probe=0.3, close=0.8)
failure_of = partial(support.failure_of, budgets=SHORT)


def executable(path: Path, text: str) -> str:
    """Write a script, and return its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


async def test_a_server_that_does_not_answer_initialize_is_late(marked: Marked, tmp_path: Path) -> None:
    failure = await support.failure_of(
        marked.stdio("mute", sys.executable, "-c", "import sys; sys.stdin.read()"),
        cwd=tmp_path,
        budgets=Budgets(call=0.3, probe=0.1, close=0.8),
    )

    assert (failure.code, failure.message) == ("timeout", "mute: initialize: did not respond within 0.3 s")


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("/usr/bin/python3 server.py", 'write "command": "/usr/bin/python3", "args": ["server.py"]'),
        ("npx -y server", 'it contains its arguments; write "command": "npx", "args": ["-y", "server"]'),
        ("export", "only shells have that command; the command must be a program"),
        ("cmd", "that is the Windows shell; on other systems, the command is what follows /c"),
        ("~/bin/server", "write the full path"),
        ("$HOME/bin/server", "write the value"),
        ("${workspaceFolder}/server", "write the value"),
        ("file:///usr/bin/server", "write a file path instead"),
        ('"/usr/bin/server"', "remove them"),
        (" /usr/bin/server", "counts as part of the name"),
        (r"C:\Program Files\nodejs\npx.cmd", "this system is not Windows"),
        ("C:/nodejs/npx.cmd", "this system is not Windows"),
        (r"\\share\tools\server.exe", "this system is not Windows"),
        (r"bin\server.exe -v", 'put arguments in "args"'),
        ("./serve.sh", 'command not found: "./serve.sh" in "{cwd}"; is the path right?'),
    ],
)
async def test_a_command_that_is_not_found_has_advice(
    command: str, advice: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(marked.stdio("tool", command), cwd=tmp_path)

    assert failure.code == "command_not_found"
    assert failure.message.endswith(advice.format(cwd=tmp_path))


@pytest.mark.parametrize("rest", ["", " npx -y server", "/a/b npx", "\nnpx"])
async def test_a_variable_in_the_command_is_named_without_its_value(rest: str, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("tool", f"API_KEY={SECRET}{rest}"), cwd=tmp_path)

    says = '/command: begins with the variable API_KEY; put that in "env"'
    assert (failure.code, failure.message) == ("invalid_spec", says)
    assert SECRET not in str(failure.facts)


async def test_strict_does_not_start_a_bare_command(marked: Marked, tmp_path: Path) -> None:
    server = marked.stdio("tool", "sh", "-c", f"touch {tmp_path / 'started'}")

    async with mcp_launch.launch([server], cwd=tmp_path, options=Options(strict=True)) as fleet:
        [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("spec", "invalid_spec")
    assert failure.message.startswith('the command must be an absolute path, not "sh"; write "/')
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("first_line", "says"), [("#!/no/such/interpreter", "interpreter"), ("echo no interpreter line", '"#!"')]
)
async def test_a_script_that_the_system_cannot_start_is_reported_with_the_reason(
    first_line: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    script = executable(tmp_path / "script", first_line + "\n")

    failure = await failure_of(marked.stdio("tool", script), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("spawn", "not_executable")
    assert says in failure.message


async def test_part_of_a_secret_is_not_shown(marked: Marked, tmp_path: Path) -> None:
    line = "x" * 290 + " " + SECRET
    failure = await failure_of(marked.stdio("tool", "/bin/sh", "-c", f"echo {line}; exit 1"), cwd=tmp_path)

    assert failure.facts["stdout"] == ["x" * 290 + " [redacted"]


async def test_colors_do_not_hide_secrets_or_hints(marked: Marked, tmp_path: Path) -> None:
    half = len(SECRET) // 2
    said = rf"npm \033[31merror\033[39m code E404, key {SECRET[:half]}\033[1m{SECRET[half:]}\033[0m"
    for stream in ("", " >&2"):
        failure = await failure_of(
            marked.stdio("loud", "/bin/sh", "-c", f"printf '{said}\n'{stream}; exit 1"), cwd=tmp_path
        )

        assert "npm error code E404, key [redacted]" in failure.message
        assert SECRET[half:] not in str(failure.to_json())
        assert ("the npm package does not exist" in failure.message) == bool(stream)


@pytest.mark.parametrize(
    ("data", "stderr", "says"),
    [
        (f"\x1b[31mInvalid key {SECRET}", "", "status 1; it logged: Invalid key [redacted]"),
        ({"code": 7}, "", 'status 1; it logged: {"code": 7}'),
        ("KEY is not set\n\n", "", '; add it to "env" (on the command line, -e KEY); it logged: KEY is not set'),
        ("see stderr", "out of luck", "status 1; it wrote on stderr: out of luck"),
    ],
)
async def test_the_last_error_that_a_server_logged_says_why_it_exited(
    data: object, stderr: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    logs = [("error", "an earlier one"), ("emergency", data), ("info", "closing")]
    params = [{"level": level, "data": each} for level, each in logs]
    lines = [json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": each}) for each in params]
    code = f"import time; input(); print(*{lines}, sep='\\n', flush=True); time.sleep(0.2); exit('{stderr}' or 1)"

    failure = await failure_of(marked.stdio("logs", sys.executable, "-c", code), cwd=tmp_path)

    assert failure.message.endswith(says)
    assert failure.facts["logged"] == [says.partition("logged: ")[2] or data]


async def test_a_server_that_was_never_ready_is_ended_soon(marked: Marked, tmp_path: Path) -> None:
    stubborn = marked.stdio("stubborn", "/bin/sh", "-c", "trap '' TERM; while true; do sleep 1; done")
    with anyio.fail_after(20):
        failure = await support.failure_of(stubborn, cwd=tmp_path, budgets=Budgets(handshake=0.3, close=60))

    assert failure.code == "timeout"


async def test_the_overall_timeout_is_shorter_than_the_budgets(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain("mute")], cwd=tmp_path, timeout=0.5) as fleet:
        [failure] = fleet.failures

    assert failure.code == "timeout"
    assert failure.elapsed < 5


async def test_a_timeout_of_a_package_runner_mentions_downloads(marked: Marked, tmp_path: Path) -> None:
    runner = executable(tmp_path / "npx", "#!/bin/sh\necho 'npm notice New version' >&2\nexec sleep 60\n")

    failure = await failure_of(marked.stdio("tool", runner, "-y", "tool-mcp"), cwd=tmp_path)

    assert failure.code == "timeout"
    more = "does it need more time, or an argument to speak MCP on stdio? npx downloads missing packages first"
    assert failure.message.endswith(f" s; {more}")


async def test_a_notice_of_npm_that_the_login_has_expired_is_quoted(marked: Marked, tmp_path: Path) -> None:
    notice = "npm notice Access token expired or revoked. Please try logging in again."
    script = f"echo '{notice}' >&2; echo 'npm error code E404' >&2; exit 1"

    failure = await failure_of(marked.stdio("tool", "/bin/sh", "-c", script), cwd=tmp_path)

    assert failure.message.endswith(f"remove the token from .npmrc; it wrote on stderr: {notice}")


@pytest.mark.parametrize(
    ("warning", "more", "says"),
    [
        ("npm WARN EBADENGINE }", "echo usage", '; it wrote "usage" on stdout, which is not a JSON-RPC message'),
        ("npm warn deprecated glob@7.2.3: no longer supported", "", ""),
    ],
)
async def test_a_warning_of_npm_is_not_the_reason(
    warning: str, more: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    script = f"echo '{warning}' >&2\n{more}\nexit 1"

    failure = await failure_of(marked.stdio("tool", "/bin/sh", "-c", script), cwd=tmp_path)

    assert (failure.message, failure.facts["stderr"]) == (f"exited with status 1{says}", [warning])


@pytest.mark.parametrize(
    ("package", "script", "says"),
    [
        ("weather/server", "exit 128", "npx takes weather/server for a repository on GitHub; is it @weather/server?"),
        (
            "@weather/server",
            "exit 128",
            "npm gets a package that it requires with git, which failed; npm install @weat",
        ),
        ("@weather/server", "echo 'no licence' >&2; exit 128", "no licence"),
        ("weather/server", "exit 1", "npx hides the errors of install scripts;"),
        ("github:weather/server", "exit 128", "npx gets it with git, which failed;"),
        ("ssh://git@github.com/weather/server", "exit 128", "npx gets it with git, which failed;"),
        ("-p bitbucket:weather/server w", "exit 128", "npx gets it with git, which failed;"),
        ("https://me:pass@git.example/server.git", "exit 128", "npx gets it with git, which failed;"),
        ("github:weather/server", "echo 'sh: 1: w: not found' >&2; exit 127", "the repository does not contain its"),
        ("github:weather/server", "echo \"Cannot find module 'zod'\" >&2; exit 1", "node cannot find zod;"),
        ("@weather/server", "echo 'sh: 1: w: not found' >&2; exit 127", "the program w was not found;"),
        ("@weather/server", "echo 'sh: 1: cannot open w' >&2; exit 127", "a shell did not find the command;"),
        ("--registry https://r.example w", "echo 'sh: 1: w: not found' >&2; exit 127", "the program w was not found;"),
        ("github:weather/server", "exit 127", "npx hides the errors of install scripts;"),
    ],
)
async def test_the_error_of_a_package_from_git_is_explained(
    package: str, script: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    runner = executable(tmp_path / "npx", f"#!/bin/sh\n{script}\n")

    failure = await failure_of(marked.stdio("tool", runner, "-y", *package.split()), cwd=tmp_path)

    assert failure.message.partition(": ")[2].startswith(says)
    assert "me:pass" not in failure.message


@pytest.mark.parametrize(
    ("args", "lacks_input"),
    [
        (["run", "--rm"], True),
        (["run", "--init"], True),
        (["run", "--rm", "-i"], False),
        (["run", "--interactive"], False),
        (["run", "--unknown"], False),
        (["mcp", "gateway", "run"], False),
    ],
)
async def test_a_container_without_input_is_recognized(
    *, args: list[str], lacks_input: bool, marked: Marked, tmp_path: Path
) -> None:
    docker = executable(tmp_path / "docker", '#!/bin/sh\necho starting >&2; [ "$2" != --unknown ]\n')

    failure = await failure_of(marked.stdio("tool", docker, *args, "weather"), cwd=tmp_path)

    says = 'without -i, its container gets no input; add -i after "run" in its "args"'
    assert (says in failure.message) == lacks_input


@pytest.mark.parametrize(
    ("command", "args", "script", "is_named"),
    [
        ("npx", ["-y", "mcp-remote@latest"], "echo 'Fatal error: ServerError' >&2; exit 1", True),
        ("mcp-proxy", [], "echo 'httpx.ConnectError: All connection attempts failed' >&2; exit 1", True),
        ("mcp-remote", [], "echo 'Fatal error: ServerError' >&2; exit 1", True),
        ("npx", ["mcp-remote"], "echo 'OAuth callback server running at http://127.0.0.1:3334' >&2; sleep 20", True),
        ("npx", ["mcp-remote"], "sleep 20", False),
    ],
)
async def test_the_url_of_mcp_remote_is_to_be_checked_by_itself(
    *, command: str, args: list[str], script: str, is_named: bool, marked: Marked, tmp_path: Path
) -> None:
    program = executable(tmp_path / command, f"#!/bin/sh\n{script}\n")
    server = marked.stdio("tool", program, *args, f"https://me:{SECRET}@h.example/mcp?key={SECRET}")

    async with mcp_launch.launch([server], cwd=tmp_path, budgets=SHORT) as fleet:
        [failure] = fleet.failures

    assert ('run "mcp-launch check https://h.example/mcp"' in failure.message) == is_named
    assert SECRET not in failure.message


@pytest.mark.parametrize(
    ("script", "hides"),
    [
        ("exit 1", True),
        ("kill -9 $$", False),
        ("printf usage; exit 1", False),
        ("""echo '{"jsonrpc": "2.0", "method": "a"}'; exit 1""", False),
    ],
)
async def test_npx_that_prints_nothing_may_hide_the_error_of_an_install_script(
    *, script: str, hides: bool, marked: Marked, tmp_path: Path
) -> None:
    runner = executable(tmp_path / "npx", f"#!/bin/sh\necho 'npm warn deprecated glob@7.2.3' >&2\n{script}\n")

    failure = await failure_of(marked.stdio("tool", runner, "-y", "weather"), cwd=tmp_path)

    says = "npx hides the errors of install scripts; if one failed, npx --foreground-scripts … shows it"
    assert (failure.message == f"exited with status 1: {says}", says in failure.message) == (hides, hides)


async def test_the_port_of_a_server_that_listens_is_not_redacted(marked: Marked, tmp_path: Path) -> None:
    script = "seq 10; echo up at http://localhost:$PORT/mcp with $PIN; cat >/dev/null"
    server = marked.stdio("bridge", "/bin/sh", "-c", script, env={"PORT": "9891", "PIN": "4711"})

    async with mcp_launch.launch([server], cwd=tmp_path, budgets=SHORT) as fleet:
        [failure] = fleet.failures

    assert failure.code == "not_mcp"
    assert "; it listens at http://localhost:9891/mcp; " in failure.message
    assert failure.facts["stdout"][-1] == "up at http://localhost:9891/mcp with [redacted]"


async def test_a_server_that_exits_before_the_probe_is_not_started_again(marked: Marked, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    server = marked.stdio("tool", "/bin/sh", "-c", f"echo started >> {starts}; exit 4")

    failure = await failure_of(server, cwd=tmp_path)

    assert (failure.code, failure.facts["exit_code"]) == ("exited", 4)
    assert starts.read_text() == "started\n"


SMALL = mcp_launch.Options(limits=mcp_launch.Limits(bytes=1 << 20))


async def test_a_line_that_is_too_long_ends_a_session_too(marked: Marked, tmp_path: Path) -> None:
    with anyio.fail_after(20):
        async with mcp_launch.launch([marked.plain(name="plain")], cwd=tmp_path, options=SMALL) as fleet:
            with pytest.raises(MCPError, match="wrote a line of more than 1 MB"):
                await ask(fleet["plain"].session, "big", size=2_000_000)
            await fleet["plain"].settled()
            [failure] = fleet.failures

    assert (failure.stage, failure.code, failure.facts["limit"]) == ("call", "invalid_response", "bytes")


async def test_many_lines_do_not_count_as_one_long_line(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(marked.plain(), cwd=tmp_path, options=SMALL) as session:
        for _ in range(5):
            assert len(await ask(session, "big", size=500_000)) == 500_000


async def test_a_server_that_closes_its_output_and_stays_is_disconnected(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(marked.stdio("tool", "/bin/sh", "-c", "exec >&-; sleep 60"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "disconnected")
    assert marked.running() == []


async def test_a_long_line_on_stderr_is_quoted(marked: Marked, tmp_path: Path) -> None:
    script = "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 4"

    failure = await failure_of(marked.stdio("tool", "/bin/sh", "-c", script), cwd=tmp_path)

    assert failure.message == "exited with status 4; it wrote on stderr: [a line of more than 16384 bytes]"
