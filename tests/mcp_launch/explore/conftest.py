"""Fixtures of this folder: the command, and files with servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.mcp_launch.explore.here import ODD, Command, Done
from tests.mcp_launch.here import run_here
from tests.mcp_launch.support import SERVERS


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """A function that runs the command with these arguments and this standard input."""

    def run(*args: str, stdin: str = "") -> Done:
        done = run_here(*args, stdin=stdin)
        return Done(status=done.returncode, out=done.stdout, err=done.stderr)

    monkeypatch.setenv("COLUMNS", "60")
    return run


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file with the odd server, and one that cannot be started."""
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"odd": ODD, "gone": {"command": "/no/such/program"}}}))
    return str(path)


@pytest.fixture
def odd_file(tmp_path: Path) -> str:
    """A file with only the odd server."""
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"mcpServers": {"odd": ODD}}))
    return str(path)


@pytest.fixture
def printing() -> list[str]:
    """The command of a server whose tools write to standard output."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("log", "print_dot")]
    return [sys.executable, "-S", str(SERVERS / "odd.py"), json.dumps({"result": {"tools": tools}})]
