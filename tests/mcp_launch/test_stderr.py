"""The stderr callback gets redacted lines and never delays a server."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

import mcp_launch
from mcp_launch import Budgets, Options
from tests.mcp_launch.support import SECRET, Marked, ask

pytestmark = pytest.mark.anyio

SHORT = Budgets(handshake=5, close=0.8)


async def test_the_stderr_callback_gets_every_line_with_the_name(marked: Marked, tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    options = Options(stderr=lambda server, line: lines.append((server, line)))
    servers = [marked.plain("exits_with_message", name="bad"), marked.plain("floods_stderr", name="loud")]

    async with mcp_launch.launch(servers, cwd=tmp_path, options=options, budgets=SHORT) as fleet:
        assert [server.state for server in fleet] == ["failed", "ready"]

    assert ("bad", "cannot start with key [redacted]") in lines
    assert [line for server, line in lines if server == "loud"][-1] == "the last line"
    assert SECRET not in str(lines)


async def test_a_blocking_stderr_callback_delays_nothing(marked: Marked, tmp_path: Path) -> None:
    release = threading.Event()
    options = Options(stderr=lambda _server, _line: release.wait(20))
    began = time.perf_counter()
    try:
        async with mcp_launch.open_session(
            marked.plain("floods_stderr"), cwd=tmp_path, options=options, budgets=SHORT
        ) as session:
            assert (await ask(session, "environment"))["cwd"] == str(tmp_path)
        assert time.perf_counter() - began < 10
    finally:
        release.set()


async def test_a_raising_stderr_callback_is_not_called_again(marked: Marked, tmp_path: Path) -> None:
    calls: list[str] = []

    def listen(_server: str, line: str) -> None:
        calls.append(line)
        raise ZeroDivisionError

    server = marked.plain("floods_stderr")
    async with mcp_launch.launch([server], cwd=tmp_path, options=Options(stderr=listen), budgets=SHORT) as fleet:
        assert (await ask(fleet["plain"].session, "environment"))["cwd"] == str(tmp_path)

    assert len(calls) == 1
    assert fleet["plain"].warnings == ["the stderr callback raised ZeroDivisionError and is not called again"]


async def test_a_missing_variable_is_explained(marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", SECRET)
    lacks = "import os, sys; sys.exit(f'GREETING is not set: {os.environ.get(\"GREETING\")}')"
    servers = [
        marked.stdio("without", sys.executable, "-c", lacks),
        marked.stdio("with", sys.executable, "-c", lacks, env={"GREETING": SECRET}),
    ]

    async with mcp_launch.launch(servers, cwd=tmp_path, budgets=SHORT) as fleet:
        told = [server.failure.message for server in fleet if server.failure]

    hint = 'because servers do not inherit your environment; add it to "env" (on the command line, -e GREETING)'
    assert told == [
        f"exited with status 1: it was not given GREETING, {hint}; it wrote on stderr: GREETING is not set: None",
        "exited with status 1; it wrote on stderr: GREETING is not set: [redacted]",
    ]


async def test_a_running_server_has_no_hint_about_variables(marked: Marked, tmp_path: Path) -> None:
    server = marked.stdio("waits", "/bin/sh", "-c", "echo GREETING is not set >&2; exec sleep 60")

    async with mcp_launch.launch([server], cwd=tmp_path, budgets=Budgets(handshake=0.5)) as fleet:
        [failure] = fleet.failures

    assert failure.code == "timeout"
    assert "; it wrote on stderr: GREETING is not set; " in failure.message
    assert "it was not given" not in failure.message


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_the_password_of_an_inherited_proxy_is_redacted(
    *, name: str, scheme: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "p%40ss-of-the-proxy"
    monkeypatch.setenv(name, f"{scheme}someone:{password}@proxy.example:3128")
    lines: list[str] = []
    options = Options(stderr=lambda _server, line: lines.append(line))
    server = marked.stdio("bad", "/bin/sh", "-c", f'echo "proxy ${name}, p@ss-of-the-proxy" >&2; exit 3')

    async with mcp_launch.launch([server], cwd=tmp_path, options=options, budgets=SHORT) as fleet:
        failure = fleet["bad"].failure

    assert failure is not None
    assert failure.message.endswith(f"proxy {scheme}[redacted]:[redacted]@proxy.example:3128, [redacted]")
    assert lines == [f"proxy {scheme}[redacted]:[redacted]@proxy.example:3128, [redacted]"]
    assert "of-the-proxy" not in str(fleet.report)
