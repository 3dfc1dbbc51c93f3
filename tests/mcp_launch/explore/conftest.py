"""Run the command `mcp-launch` in the process of the test, because a separate process spends most time on imports."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from mcp_launch._command.cli import main
from mcp_launch._command.signals import ENDING
from tests.mcp_launch.explore.here import ODD, Command, Done


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Generator[Command]:
    """A function that runs the command with these arguments and this standard input."""
    handlers = {number: signal.getsignal(number) for number in ENDING}

    def run(*args: str, stdin: str = "") -> Done:
        given = tmp_path / "standard input"
        given.write_text(stdin, encoding="utf-8", errors="surrogateescape")
        with given.open() as opened:
            monkeypatch.setattr(sys, "argv", ["mcp-launch", *args])
            monkeypatch.setattr(sys, "stdin", opened)
            with pytest.raises(SystemExit) as ended:
                main()
        said = capsys.readouterr()
        return Done(status=ended.value.code, out=said.out, err=said.err)

    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


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
