"""Starts the tap around small agents."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TAP = (sys.executable, "-m", "acp_bindings", "tap")
SECONDS = 240


def tap(*options: str, agent: str) -> list[str]:
    """The command of a tap around an agent that is Python code."""
    return [*TAP, *options, "--", sys.executable, "-c", agent]


@contextmanager
def running(
    command: list[str], *, before: Callable[[], None] | None = None, **env: str
) -> Generator[subprocess.Popen[bytes]]:
    """Run a command, and end it at the end of the block at the latest."""
    variables = {**os.environ, **env}
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started: Any = subprocess.Popen(
        command,
        **streams,
        env=variables,
        preexec_fn=before,  # noqa: PLW1509 - sets limits
    )
    with started as process:
        try:
            yield process
        finally:
            process.kill()


def run(command: list[str], sent: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    with running(command, **options) as process:
        out, err = process.communicate(sent, timeout=SECONDS)
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a recording."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
