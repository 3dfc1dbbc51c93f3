"""The example client with third-party agents, which reach its servers and replay the history."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs.pairs import EXAMPLES, official_agent, typescript_agent

CALLS = [
    "greeter__greet → Welcome aboard, Ada!",
    "library__find_book → The Art of Saying Exactly That",
    "clock__weekday → Thursday",
    "editor__selection → def answer() -> int:",
]
"""The tools over stdio, HTTP and SSE, and the client's own tool."""


@pytest.mark.parametrize(
    ("agent", "version"),
    [(typescript_agent, 1), (typescript_agent, 2), (official_agent, 1)],
    ids=["TypeScript-v1", "TypeScript-v2", "official-v1"],
)
def test_the_example_client_prompts_an_agent_and_loads_the_session(
    agent: Callable[[], list[str]], version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    monkeypatch.setenv("ACP_SESSIONS", str(sessions))
    options = ["--cwd", str(tmp_path), "--version", str(version)]
    command = [sys.executable, str(EXAMPLES / "client.py"), *options, "--", *agent()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    # The standard error of the client is that of the agent.
    assert done.returncode == 0, done.stderr
    live, again = done.stdout.split("load     the session again\n")
    # v2 has no SSE any more, over which the clock is.
    calls = [each for each in CALLS if version == 1 or not each.startswith("clock")]
    assert _tools(live, "tool     ") == calls
    assert _tools(again, "| tool   ") == calls


def _tools(text: str, mark: str) -> list[str]:
    return [line.removeprefix(mark) for line in text.splitlines() if line.startswith(mark)]
