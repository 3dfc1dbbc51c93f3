"""The examples of the official SDK, written with these packages."""

from __future__ import annotations

import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.client import Client, PermissionQuestion

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(program: str, *arguments: str, said: str) -> str:
    """Return what a console client prints when its user enters *said*."""
    command = [sys.executable, str(EXAMPLES / program), *arguments, sys.executable, str(EXAMPLES / "hello_agent.py")]
    return subprocess.run(command, input=said, capture_output=True, text=True, check=True, timeout=60).stdout


async def test_the_echo_agent_repeats_texts_with_their_mark(tmp_path: Path) -> None:
    client = Client("test", version="1.0")
    async with client.connect([sys.executable, EXAMPLES / "echo_agent.py"]) as agent:  # noqa: SIM117 - as documented
        async with agent.session(cwd=tmp_path) as session:
            updates = [update async for update in session.prompt("Hello")]

    content = v1.TextContent(text="Hello", meta={"echo": True})
    assert [(each.content, each.meta) for each in updates if isinstance(each, v1.AgentMessageChunk)] == [
        (content, {"echo": True})
    ]


async def test_the_mirror_agent_returns_each_block_and_handles_an_extension(tmp_path: Path) -> None:
    link = v1.ResourceLink(name="notes", uri="file:///notes.txt")
    client = Client("test", version="1.0", protocols=[v1])
    async with client.connect([sys.executable, EXAMPLES / "mirror_agent.py"]) as agent:
        async with agent.session(cwd=tmp_path) as session:
            updates = [update async for update in session.prompt([v1.TextContent(text="Hello"), link])]
        assert await agent.connection.request({}, method="_example/method") == {"example": "response"}

    contents = [each.content for each in updates if isinstance(each, v1.AgentMessageChunk)]
    assert contents == [v1.TextContent(text="Client sent:"), v1.TextContent(text="Hello"), link]


def test_the_console_client_prints_the_text_of_the_agent() -> None:
    assert "| Agent: You said Hello." in run("console_client.py", said="Hello\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")
@pytest.mark.parametrize("program", [("console_client.py",), ("gemini_client.py", "--")])
@pytest.mark.parametrize("end", ["Ctrl-C", "the agent exits"])
def test_a_console_client_does_not_wait_for_its_user_in_the_end(
    program: tuple[str, ...], end: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text('{"prompt": null}\n{"exit": 3}\n')
    agent = [sys.executable, "-m", "acp_bindings", "play", script]
    command = [sys.executable, EXAMPLES / program[0], *program[1:], *agent]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process: Any
    with subprocess.Popen(command, **pipes) as process:
        try:
            while process.stdout.read(1) != b">":
                pass
            if end == "Ctrl-C":
                process.send_signal(signal.SIGINT)
            else:
                process.stdin.write(b"Hello\n")
                process.stdin.flush()
            assert process.wait(30) == (-signal.SIGINT if end == "Ctrl-C" else 1)
        finally:
            process.kill()


async def test_the_client_of_gemini_reads_a_missing_file_as_empty(tmp_path: Path) -> None:
    files = runpy.run_path(str(EXAMPLES / "gemini_client.py"))["GeminiFiles"]()
    there, missing = tmp_path / "there.txt", tmp_path / "missing.txt"
    await files.write_text_file(str(there), "Hello", directories=[str(tmp_path)])
    texts = [await files.read_text_file(str(each), directories=[str(tmp_path)]) for each in (there, missing)]
    assert texts == ["Hello", ""]


async def test_the_client_of_gemini_cancels_a_question_at_the_end_of_the_input() -> None:
    example = runpy.run_path(str(EXAMPLES / "gemini_client.py"))
    options = (v1.PermissionOption(option_id="y", name="Yes", kind="allow_once"),)
    example["lines"].put_nowait(None)
    with anyio.fail_after(5):
        assert await example["ask"](PermissionQuestion("s1", "/", "Edit", options)) is None
        assert await example["read"]("> ") is None


def test_the_client_of_gemini_talks_with_any_agent() -> None:
    printed = run("gemini_client.py", "--", said="Hello\n:exit\n")

    assert "Connected to hello 1.0 (ACP v2)" in printed
    assert "You said Hello." in printed
    assert "[end_turn]" in printed
