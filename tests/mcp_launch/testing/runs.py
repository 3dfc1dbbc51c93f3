"""Run pytest in a separate process, on test files and configs that a test writes."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_launch.support import SERVERS, Marked

PLAIN = SERVERS / "plain.py"
ROOT = Path(__file__).resolve().parents[3]


def write(pytester: pytest.Pytester, *servers: Any, to: str = "servers.json") -> Path:
    """Write a config file with these servers."""
    return write_json(pytester, servers, to=to)


def write_json(pytester: pytest.Pytester, value: object, *, to: str) -> Path:
    """Write a file with this content."""
    path = pytester.path / to
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Run pytest and return its result; warnings of pytest and of our plugin are errors."""
    strict = ("-p", "no:cacheprovider", "-W", "error::pytest.PytestWarning")
    # What pytest-asyncio warns of where it is not said.
    scope = ("-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_subprocess(*strict, *scope, *args, timeout=60)


def wait_for_servers(marked: Marked, count: int, pytest_run: subprocess.Popen[str]) -> None:
    """Wait until this many servers are running."""
    started_by = time.monotonic() + 30
    while len(marked.running()) < count and time.monotonic() < started_by and pytest_run.poll() is None:
        time.sleep(0.01)
    assert len(marked.running()) == count
