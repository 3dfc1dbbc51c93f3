"""Run pytest on test files and configs that a test writes."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from mcp_launch._servers.life import import_sdk
from tests.mcp_launch.support import SERVERS, Marked

PLAIN = SERVERS / "plain.py"
STRICT = (
    *("-p", "no:cacheprovider", "-W", "error::pytest.PytestWarning"),
    # What pytest-asyncio warns of where it is not said.
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)


def write(pytester: pytest.Pytester, *servers: Any, to: str = "servers.json") -> Path:
    """Write a config file with these servers."""
    return write_json(pytester, servers, to=to)


def write_json(pytester: pytest.Pytester, value: object, *, to: str) -> Path:
    """Write a file with this content."""
    path = pytester.path / to
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


# Now, because pytester forgets what a run imports, and the next run would import it again.
import_sdk()
importlib.import_module("mcp_launch.testing._fixture")
importlib.import_module("mcp_launch.testing._items")


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Run pytest in this process and return its result; warnings of pytest and of our plugin are errors."""
    with warnings.catch_warnings():
        # Those of the test that runs it.
        warnings.resetwarnings()
        return pytester.runpytest_inprocess(*STRICT, *args)


def run_process(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Do the same in a separate process, which a test can interrupt or keep from importing a library."""
    return pytester.runpytest_subprocess(*STRICT, *args, timeout=60)


def interrupted(*args: str, marked: Marked, servers: int) -> str:
    """Run pytest, interrupt it when this many servers are running, and return its output. No server may be left."""
    with subprocess.Popen([sys.executable, "-m", "pytest", *args], stdout=subprocess.PIPE, text=True) as pytest_run:
        try:
            started_by = time.monotonic() + 30
            while len(marked.running()) < servers and time.monotonic() < started_by and pytest_run.poll() is None:
                time.sleep(0.1)
            assert len(marked.running()) == servers
            pytest_run.send_signal(signal.SIGINT)
            said, _ = pytest_run.communicate(timeout=60)
        finally:
            pytest_run.kill()
    assert pytest_run.returncode == pytest.ExitCode.INTERRUPTED
    assert marked.running() == []
    return said
