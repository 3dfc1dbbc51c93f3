"""The examples of the official SDK, written with these packages."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from acp_bindings import v1
from acp_bindings.client import Client

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


async def test_the_client_of_gemini_reads_a_missing_file_as_empty(tmp_path: Path) -> None:
    files = runpy.run_path(str(EXAMPLES / "gemini_client.py"))["GeminiFiles"]()
    there, missing = tmp_path / "there.txt", tmp_path / "missing.txt"
    await files.write_text_file(str(there), "Hello", directories=[str(tmp_path)])
    texts = [await files.read_text_file(str(each), directories=[str(tmp_path)]) for each in (there, missing)]
    assert texts == ["Hello", ""]


def test_the_client_of_gemini_talks_with_any_agent() -> None:
    printed = run("gemini_client.py", "--", said="Hello\n:exit\n")

    assert "Connected to hello 1.0 (ACP v2)" in printed
    assert "You said Hello." in printed
    assert "[end_turn]" in printed
