"""The examples require what they need and stop; the output of the demo is tested with the README."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.mcp_launch.support import run_python

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_request_is_valid_acp() -> None:
    request = json.loads((EXAMPLES / "session_new.json").read_text())

    assert request["method"] == "session/new"
    assert [server.get("type", "stdio") for server in request["params"]["mcpServers"]] == ["stdio", "http", "sse"]


def test_the_stdio_example_names_its_missing_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GREETING", raising=False)

    done = run_python(str(EXAMPLES / "greeter_stdio.py"))

    assert (done.returncode, done.stdout) == (1, "")
    assert "GREETING is not set" in done.stderr


@pytest.mark.parametrize(("script", "ending"), [("library_http.py", "closed input"), ("clock_sse.py", "SIGTERM")])
def test_a_web_example_requires_its_header(script: str, ending: str) -> None:
    command = [sys.executable, str(EXAMPLES / script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        answer = httpx2.get(url)
        if ending == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        process.wait(timeout=10)

    assert url.startswith("http://127.0.0.1:")
    assert (answer.status_code, "WWW-Authenticate" in answer.headers) == (401, True)
