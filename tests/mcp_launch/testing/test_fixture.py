"""The fixture `mcp_server`: sessions for plain and async tests."""

from __future__ import annotations

import re
import sys

import pytest

from tests.mcp_launch.support import MARK, Marked, run_python
from tests.mcp_launch.testing.runs import PLAIN, interrupted, run, run_process, write, write_json

pytest_plugins = ["pytester"]

HERE = f"""
import json, os, sys
from pathlib import Path
import anyio
import pytest
from mcp.server import MCPServer

PLAIN = [sys.executable, "-S", {str(PLAIN)!r}]

def about(result):
    return json.loads(result.content[0].text)

@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param
"""
"""The beginning of the test files below."""

INTERRUPTED = """
import signal
from contextlib import asynccontextmanager
import anyio
import pytest
from mcp_launch.testing._loop import Kept

@asynccontextmanager
async def session(name, when="open"):
    async def interrupted():
        await begun.wait()
        signal.raise_signal(signal.SIGINT)

    begun = anyio.Event()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(interrupted)
            if when == "itself":
                signal.raise_signal(signal.SIGINT)
            if when == "opening":
                begun.set()
                await anyio.sleep_forever()
            yield begun
            tasks.cancel_scope.cancel()
    finally:
        print("closed", name)
"""
"""A session that is interrupted: itself or one of its tasks, while it opens or when the event that it yields is set."""


CONFIG = ("-o", "mcp_config=servers.json")


def make(pytester: pytest.Pytester, code: str, *, name: str = "test_made") -> None:
    pytester.makepyfile(**{name: HERE + code})


def made(pytester: pytest.Pytester, code: str, *options: str) -> pytest.RunResult:
    """Run a test file with this code, and return the result."""
    make(pytester, code)
    return run(pytester, *options, *CONFIG, "test_made.py")


def test_a_plain_test_has_a_live_session_by_name_by_command_and_by_entry(
    pytester: pytest.Pytester, marked: Marked
) -> None:
    write(pytester, marked.plain(name="other"), marked.plain(name="named", env={"WHO": "named"}))
    code = f"""
def test_by_name(mcp_server):
    session = mcp_server("named")
    assert about(session.call_tool("environment"))["env"]["WHO"] == "named"
    assert [tool.name for tool in session.list_tools().tools] == ["environment"]
    assert session.client.server_info.name == "plain"

def test_by_command(mcp_server, tmp_path):
    told = about(mcp_server(command=PLAIN, env={{"WHO": "me"}}, cwd=tmp_path).call_tool("environment"))
    assert (told["env"]["WHO"], told["cwd"]) == ("me", str(tmp_path))
    paths = [Path(PLAIN[0]), "-S", Path(PLAIN[2])]
    assert about(mcp_server(command=paths).call_tool("environment"))["cwd"] == os.getcwd()

def test_by_entry(mcp_server):
    assert mcp_server({marked.plain()!r}).list_tools().tools
"""
    made(pytester, code).assert_outcomes(passed=3)


def test_a_server_object_runs_in_this_process(pytester: pytest.Pytester) -> None:
    code = """
calls = []
server = MCPServer("mine")

@server.tool()
def note(text: str) -> int:
    calls.append(text)
    return len(calls)

def test_plain(mcp_server):
    told = mcp_server(server).call_tool("note", arguments={"text": "plain"})
    assert told.structured_content == {"result": len(calls)}
    assert calls[-1] == "plain"

@pytest.mark.anyio
async def test_async(mcp_server):
    async with mcp_server.open(server._lowlevel_server) as session:
        await session.call_tool("note", {"text": "async"})
    assert calls[-1] == "async"
"""
    made(pytester, code).assert_outcomes(passed=3)


def test_an_async_test_has_a_session_in_its_own_event_loop(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="named"))
    code = """
import sniffio

pytestmark = pytest.mark.anyio

@pytest.fixture
async def session(mcp_server):
    async with mcp_server.open("named") as session:
        yield session

@pytest.fixture
def plain(mcp_server):
    return mcp_server("named")

async def test_in_the_test(mcp_server, anyio_backend):
    async with mcp_server.open("named", timeout=20) as session:
        assert about(await session.call_tool("environment"))["pid"]
        assert sniffio.current_async_library() == anyio_backend

async def test_as_a_fixture(session):
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(session.call_tool, "environment")

def test_a_plain_one_besides(plain):
    assert plain.list_tools().tools

async def test_a_plain_fixture_besides(plain, session):
    assert await anyio.to_thread.run_sync(plain.list_tools) == await session.list_tools()
"""
    made(pytester, code).assert_outcomes(passed=7)


def test_a_fixture_of_pytest_asyncio_may_end_in_another_task(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="named"))
    code = """
import pytest_asyncio

server = MCPServer("mine")

@pytest_asyncio.fixture
async def started(mcp_server):
    async with mcp_server.open("named") as session:
        yield session

@pytest_asyncio.fixture
async def own(mcp_server):
    async with mcp_server.open(server) as session:
        yield session

@pytest.mark.asyncio
async def test_both(started, own):
    assert (await started.list_tools()).tools
    assert (await own.list_tools()).tools == []
"""
    made(pytester, code).assert_outcomes(passed=1)


def test_a_server_that_does_not_start_is_its_failure_in_both(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("exits_silently", name="broken"))
    code = """
from mcp_launch import LaunchFailure

def test_plain(mcp_server):
    with pytest.raises(LaunchFailure) as caught:
        mcp_server("broken")
    assert (caught.value.code, caught.value.facts["exit_code"]) == ("exited", 7)

@pytest.mark.anyio
async def test_async(mcp_server):
    with pytest.raises(LaunchFailure) as caught:
        async with mcp_server.open("broken"):
            pass
    assert caught.value.code == "exited"

def test_untried(mcp_server):
    mcp_server("broken")
"""
    result = made(pytester, code)

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(['>*mcp_server("broken")', "E*LaunchFailure: broken: exited with status 7*"])
    assert "concurrent" not in str(result.stdout)


def test_ambiguous_or_wrong_arguments_are_refused(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="named"))
    make(
        pytester,
        """
from mcp_launch import UnknownServer, UnusableInput

def test_no_server(mcp_server):
    for wrong in (
        {},
        {"env": {}},
        {"server": "named", "env": {}},
        {"server": "named", "command": PLAIN},
        {"command": "python x.py"},
        {"command": []},
    ):
        with pytest.raises(UnusableInput):
            mcp_server(**wrong)
        with pytest.raises(UnusableInput):
            mcp_server.open(**wrong)

def test_no_such_server(mcp_server):
    with pytest.raises(UnknownServer, match="the servers are named"):
        mcp_server("nmaed")

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_call_that_would_stop_the_loop(mcp_server):
    with pytest.raises(UnusableInput, match=r"async with mcp_server\\.open"):
        mcp_server("named")
""",
    )
    make(
        pytester,
        """
from mcp_launch import UnusableInput

def test_no_config(mcp_server):
    with pytest.raises(UnusableInput, match="--mcp-config"):
        mcp_server("named")
""",
        name="test_bare",
    )

    run(pytester, *CONFIG, "test_made.py").assert_outcomes(passed=4)
    run(pytester, "test_bare.py").assert_outcomes(passed=1)


def test_a_session_lasts_as_long_as_the_scope_of_its_fixture(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="named"))
    make(
        pytester,
        """
pids = []

def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

@pytest.fixture(scope="session")
def shared(session_mcp_server):
    return session_mcp_server("named")

@pytest.fixture(scope="module")
def shared_here(module_mcp_server):
    return module_mcp_server("named")

@pytest.mark.parametrize("number", [0, 1])
def test_one(number, mcp_server, shared, shared_here):
    pids.append([about(each.call_tool("environment"))["pid"] for each in (mcp_server("named"), shared, shared_here)])

def test_how_long():
    (own, everywhere, here), (own_later, everywhere_later, here_later) = pids
    assert (everywhere, here) == (everywhere_later, here_later)
    assert len({own, own_later, everywhere, here}) == 4
    assert [is_running(each) for each in (own, own_later, everywhere, here)] == [False, False, True, True]
""",
    )
    make(
        pytester,
        """
from test_made import is_running, pids

def test_of_the_module():
    assert [is_running(each) for each in pids[0]] == [False, True, False]
""",
        name="test_next",
    )

    run(pytester, *CONFIG, "test_made.py", "test_next.py").assert_outcomes(passed=4)


def test_timeout_and_options_hold_for_each_kind_of_server(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain(name="named"))
    code = """
from mcp_launch import Options

async def answer(context, params):
    raise NotImplementedError

def test_one(mcp_server):
    for server in ("named", MCPServer("mine")):
        assert mcp_server(server).client.read_timeout_seconds == 41
        session = mcp_server(server, timeout=42, options=Options(elicitation=answer))
        assert (session.client.read_timeout_seconds, session.client.elicitation_callback) == (42, answer)
"""
    made(pytester, code, "--mcp-timeout", "41").assert_outcomes(passed=1)


def test_a_server_runs_in_the_directory_of_its_file(pytester: pytest.Pytester, marked: Marked) -> None:
    project, below = pytester.mkdir("project"), pytester.mkdir("project/below")
    entry = {"command": sys.executable, "args": ["-S", str(PLAIN)], "env": {MARK: marked.mark}}
    session = {"cwd": str(project), "mcpServers": [marked.plain(name="named")]}
    of_vscode = {"servers": {"named": {**entry, "cwd": "${workspaceFolder}/below"}}}
    for file, content, where in (("session.json", session, project), (".vscode/mcp.json", of_vscode, below)):
        write_json(pytester, content, to=f"project/{file}")
        make(
            pytester,
            f"""
def test_one(mcp_server):
    for within, where in ((None, {str(where)!r}), ("..", {str(where.parent)!r})):
        assert about(mcp_server("named", cwd=within).call_tool("environment"))["cwd"] == where
""",
        )

        run(pytester, "-o", f"mcp_config=project/{file}", "test_made.py").assert_outcomes(passed=1)


def test_failing_tests_and_fixtures_leave_no_server(pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("ignores_end", name="stubborn"))
    code = """
@pytest.fixture
def fails_at_end(mcp_server):
    yield mcp_server("stubborn")
    raise RuntimeError("at the end")

@pytest.fixture
def fails_at_once(mcp_server):
    mcp_server("stubborn")
    raise RuntimeError("at once")

@pytest.mark.parametrize("name", ["fails_at_end", "fails_at_once"])
def test_one(name, request):
    request.getfixturevalue(name)

def test_two(session_mcp_server):
    session_mcp_server("stubborn")
    pytest.exit("enough")
"""
    made(pytester, code).assert_outcomes(passed=1, failed=1, errors=1)


@pytest.mark.parametrize("test", ["test_starting", "test_started", "asyncio", "trio"])
def test_an_interrupt_leaves_no_server_of_a_fixture(test: str, pytester: pytest.Pytester, marked: Marked) -> None:
    write(pytester, marked.plain("mute", name="mute"), marked.plain("ignores_end", name="stubborn"))
    code = """
import threading

def test_starting(mcp_server):
    mcp_server("mute")

def test_started(session_mcp_server):
    session_mcp_server("stubborn")
    threading.Event().wait()

@pytest.mark.anyio
async def test_async(mcp_server, anyio_backend):
    async with mcp_server.open("stubborn"):
        await anyio.sleep_forever()
"""
    make(pytester, code)
    interrupted(*CONFIG, "test_made.py", "-k", test, marked=marked, servers=1)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("when", ["itself", "opening", "open"])
def test_an_interrupt_in_a_task_of_the_session_reaches_the_test(
    backend: str, when: str, pytester: pytest.Pytester
) -> None:
    code = f"""
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", [{backend!r}])
async def test_made(anyio_backend):
    async with Kept(session("it", {when!r})) as begun:
        print("open")
        begun.set()
        await anyio.sleep_forever()
"""
    pytester.makepyfile(INTERRUPTED + code)
    result = run_process(pytester, "-s")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    said = ["*open", "closed it", "*KeyboardInterrupt*"] if when == "open" else ["*KeyboardInterrupt*"]
    result.stdout.fnmatch_lines(said)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_interrupt_in_the_middle_of_a_start_leaves_no_server(
    backend: str, pytester: pytest.Pytester, marked: Marked
) -> None:
    write(pytester, marked.plain("ignores_end", name="stubborn"))
    code = """
import signal
import subprocess

class Popen(subprocess.Popen):
    def _execute_child(self, *args):
        super()._execute_child(*args)
        signal.raise_signal(signal.SIGINT)

@pytest.mark.anyio
async def test_made(mcp_server, monkeypatch, anyio_backend):
    monkeypatch.setattr(subprocess, "Popen", Popen)
    async with mcp_server.open("stubborn"):
        await anyio.sleep_forever()
"""
    make(pytester, code)
    assert run_process(pytester, *CONFIG, "-k", backend).ret == pytest.ExitCode.INTERRUPTED
    assert marked.running() == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_interrupt_in_one_session_lets_others_and_all_fixtures_end(backend: str, pytester: pytest.Pytester) -> None:
    code = f"""
@pytest.fixture(params=[{backend!r}])
def anyio_backend(request):
    return request.param

@pytest.fixture
def plain():
    yield
    print("torn down")

@pytest.fixture
async def first(plain, anyio_backend):
    async with Kept(session("first")):
        yield

@pytest.fixture
async def second(first, anyio_backend):
    async with Kept(session("second")) as begun:
        yield begun

@pytest.mark.anyio
async def test_made(second):
    second.set()
    await anyio.sleep_forever()
"""
    pytester.makepyfile(INTERRUPTED + code)
    result = run_process(pytester, "-s")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    said = re.findall("closed [a-z]+|torn down", result.stdout.str())
    assert said == ["closed second", "closed first", "torn down"]


def test_a_thread_left_by_a_test_does_not_keep_pytest_running(pytester: pytest.Pytester) -> None:
    code = """
import threading

def test_one(mcp_server):
    session = mcp_server(MCPServer("mine"))
    running = threading.Event()

    async def forever():
        running.set()
        await anyio.sleep_forever()

    threading.Thread(target=session.run, args=[forever], daemon=True).start()
    assert running.wait(20)
"""
    make(pytester, code)
    run_process(pytester).assert_outcomes(passed=1)


def test_an_interrupted_start_is_abandoned_and_the_next_test_runs(pytester: pytest.Pytester, marked: Marked) -> None:
    """Timeout plugins end a test in this way: they raise an exception wherever the test is."""
    write(pytester, marked.plain("mute", name="mute"), marked.plain(name="works"))
    make(
        pytester,
        f"""
import signal
from tests.leftovers import marked_processes

def test_too_long(mcp_server):
    def end(number, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    mcp_server("mute")

def test_next(mcp_server):
    mcp_server("works").list_tools()
    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(gone)

async def gone():
    with anyio.fail_after(20):
        while len(marked_processes("MCP_LAUNCH_TEST", {marked.mark!r})) > 1:
            await anyio.sleep(0.01)
""",
    )

    result = run(pytester, *CONFIG, "test_made.py")

    result.assert_outcomes(passed=1, failed=1)


def test_the_plugin_imports_no_library_that_pytest_has_not_imported() -> None:
    code = """
import sys, pytest
import _pytest.config
config = _pytest.config.get_config([])
before = set(sys.modules)
import mcp_launch.testing._plugin
print(sorted(set(sys.modules) - before))
"""
    # The plugin of acp_bindings, which pytest loads too, imports the first two.
    loaded = ["acp_bindings", "acp_bindings._lazy"]
    loaded += ["mcp_launch", "mcp_launch.testing", "mcp_launch.testing._plugin", "mcp_launch.testing._settings"]
    assert run_python("-c", code).stdout.strip() == str(loaded)


@pytest.mark.parametrize(("hidden", "missing"), [("mcp", "mcp"), ("anyio", "anyio"), ("ruamel", "ruamel.yaml")])
def test_the_plugin_without_its_extra_names_what_to_install_when_used(
    hidden: str, missing: str, pytester: pytest.Pytester, marked: Marked
) -> None:
    write(pytester, marked.plain())
    pytester.makeconftest(f"import sys\nsys.modules[{hidden!r}] = None\n")
    make(pytester, "", name="unused")
    pytester.makepyfile(test_own="def test_own(): pass", test_uses="def test_uses(mcp_server): pass")
    bare = ("-p", "no:anyio")

    uses = run_process(pytester, *bare, "test_own.py", "test_uses.py")
    uses.assert_outcomes(passed=1, errors=1)
    uses.stdout.fnmatch_lines([f"*mcp_launch needs {missing}: pip install 'acp-bindings*launch*'"])
    for named in ("--mcp-config=servers.json", "--override-ini=mcp_config=servers.json"):
        collects = run_process(pytester, *bare, named)
        assert collects.ret == pytest.ExitCode.USAGE_ERROR
        collects.stderr.fnmatch_lines([f"*mcp_launch needs {missing}: pip install 'acp-bindings*launch*'"])
