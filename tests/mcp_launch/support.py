"""Helpers of the launch tests: specifications of test servers, and checks for running processes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

import mcp_launch
from tests.leftovers import marked_processes, open_files, psutil

if TYPE_CHECKING:
    from mcp import Client

    from mcp_launch import Budgets, LaunchedServer, LaunchFailure

SERVERS = Path(__file__).parent / "servers"
SOURCE = Path(mcp_launch.__file__).parents[1]
"""The directory of the package under test, for processes that import it."""
MARK = "MCP_LAUNCH_TEST"
SECRET = "sk-hunter2-never-shown"


class Marked:
    """Stdio servers with a mark in their environment, which their children inherit."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex

    def plain(
        self, mode: str = "works", *, name: str = "plain", env: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The raw JSON of a small server that misbehaves as the mode says."""
        return self.stdio(name, sys.executable, "-S", str(SERVERS / "plain.py"), mode, env=env)

    def echo(self, *, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The raw JSON of the real server."""
        return self.stdio("echo", sys.executable, str(SERVERS / "echo.py"), "stdio", env=env)

    def stdio(self, name: str, command: str, *args: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The raw JSON of any command."""
        pairs = {MARK: self.mark, "SECRET": SECRET, **(env or {})}
        return {
            "name": name,
            "command": command,
            "args": list(args),
            "env": [{"name": key, "value": value} for key, value in pairs.items()],
        }

    def running(self) -> list[int]:
        """The processes that carry the mark."""
        return marked_processes(MARK, self.mark)


def scripted(folder: Path, **script: Any) -> list[str]:
    """Return the command of a stdio server with these tools and responses, as in `servers/scripted.py`."""
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return [sys.executable, "-S", str(SERVERS / "scripted.py"), str(path)]


def read_proc(path: Path) -> str:
    """Return the content of a file in `/proc`, which is empty if its process has ended."""
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def validating(parent: int) -> list[int]:
    """Return the children of a process in which it validates by schemas of servers."""
    if psutil:
        processes = psutil.process_iter(["ppid", "cmdline"])
        found = [each for each in processes if each.info["ppid"] == parent]
        return [each.pid for each in found if "called.py" in " ".join(each.info["cmdline"] or ())]
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    children = [child for task in tasks for child in read_proc(task).split()]
    return [int(child) for child in children if "called.py" in read_proc(Path(f"/proc/{child}/cmdline"))]


@contextmanager
def web_server(kind: str) -> Generator[str]:
    """Run the real server over Streamable HTTP (`http`) or SSE (`sse`), and yield its URL."""
    with _serving(str(SERVERS / "echo.py"), kind) as url:
        yield url


@contextmanager
def bad_web_server() -> Generator[str]:
    """Run the misbehaving web servers in a separate process, so that leaks are not ours; yield their origin."""
    with _serving("-m", "tests.mcp_launch.servers.web") as origin:
        yield origin


@contextmanager
def _serving(*args: str) -> Generator[str]:
    command = [sys.executable, *args]
    # They complain of clients that go away, which is what many of ours are for.
    options: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **options) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()


@asynccontextmanager
async def marked_servers() -> AsyncGenerator[Marked]:
    """Yield servers that must leave nothing when the block ends: no process, pipe, socket or task."""
    files = open_files()
    tasks = len(anyio.get_running_tasks())
    servers = Marked()
    yield servers
    with anyio.move_on_after(2):
        # The kernel takes a moment to let go of what was killed or closed. Trio closes the generators of the SDK in
        # tasks, when the garbage collector has found them.
        while servers.running() or len(open_files()) > len(files) or len(anyio.get_running_tasks()) > tasks:
            gc.collect()
            await anyio.sleep(0.01)
    assert servers.running() == []
    assert len(open_files()) <= len(files)
    assert len(anyio.get_running_tasks()) <= tasks


def run_python(*args: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package under test in a separate process, with these additional variables."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), **variables}
    command = [sys.executable, *args]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env=env, timeout=120, check=False)


def wait_until(happened: Callable[[], bool], *, seconds: float = 10) -> None:
    """Poll until it has happened, because there are no events for what other processes do."""
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def http(
    url: str, *, name: str = "web", headers: Mapping[str, str] | None = None, kind: str = "http"
) -> dict[str, Any]:
    """The raw JSON of a server with a URL."""
    pairs = [{"name": key, "value": value} for key, value in (headers or {}).items()]
    return {"type": kind, "name": name, "url": url, "headers": pairs}


class Bearer(httpx2.Auth):
    """Logs in with a token that is not in any specification."""

    def auth_flow(self, request: httpx2.Request) -> Iterator[httpx2.Request]:  # pyright: ignore[reportIncompatibleMethodOverride]
        request.headers["Authorization"] = f"Bearer {SECRET}"
        yield request


async def failure_of(server: object, *, cwd: Path, budgets: Budgets) -> LaunchFailure:
    """Return the failure of a server; the whole report must be free of secrets."""
    async with mcp_launch.launch([server], cwd=cwd, budgets=budgets) as fleet:
        [failure] = fleet.failures
    assert SECRET not in str(fleet.report) + repr(failure) + "".join(traceback.format_exception(failure))
    return failure


async def later_failure(server: LaunchedServer) -> LaunchFailure:
    """Return the failure of a server that was ready."""
    with anyio.fail_after(5):
        while server.failure is None:
            await anyio.sleep(0.01)
    return server.failure


async def ask(session: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that returns one text, and return that text, parsed if it is JSON."""
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result
    text = getattr(result.content[0], "text", None)
    assert isinstance(text, str)
    try:
        return json.loads(text)
    except ValueError:
        return text
