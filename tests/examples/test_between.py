"""A program between a client and an agent: it forwards and records all messages unchanged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.check import Check
from tests.examples.support import ROOT

BETWEEN = str(ROOT / "examples" / "between.py")
ODD_LINES = b"""\
{"jsonrpc": "2.0", "id": 12345678901234567890, "method": "_acme/do", "params": {"n": 1e999, "_meta": {"a": 1.50}}}
{"jsonrpc":"2.0","method":"from/the_future","other":["\\ud800",123456789012345678901234567890]}
[1, 2]

no message, nor \xff UTF-8
without a line break"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The path of the recording."""
    return tmp_path / "talk.ndjson"


def between(record: Path, agent: str, said: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run it with all input of a client and with an agent in Python; return what the client receives."""
    command = [sys.executable, BETWEEN, str(record), sys.executable, "-c", agent]
    return subprocess.run(command, input=said, capture_output=True, timeout=60, check=False)


ECHO = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"


def test_messages_without_servers_are_forwarded_unchanged_in_both_directions(record: Path) -> None:
    done = between(record, ECHO, ODD_LINES)
    assert (done.stdout, done.stderr, done.returncode) == (ODD_LINES, b"", 0)


def test_the_commands_of_servers_become_absolute_and_nothing_else_changes(record: Path) -> None:
    servers: list[dict[str, Any]] = [
        {"name": "one", "command": "sh", "args": ["sh"], "env": [], "_meta": {"n": 10**30}},
        {"type": "http", "name": "two", "url": "https://example.com", "headers": []},
    ]
    request = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"mcpServers": servers, "x": None}}
    done = between(record, ECHO, json.dumps(request).encode() + b"\n")
    servers[0]["command"] = str(shutil.which("sh"))
    assert json.loads(done.stdout) == request


def test_a_request_whose_server_is_not_found_is_forwarded_unchanged(record: Path) -> None:
    line = b'{"id": 1, "params": {"mcpServers": [{"command": "no-such-server"}, 5]}}\n'
    assert between(record, ECHO, line).stdout == line


@pytest.mark.parametrize("command", [b"", b'"command": [], ', b'"command": null, ', b'"command": "/bin/sh", '])
def test_a_request_without_commands_to_change_is_forwarded_unchanged(command: bytes, record: Path) -> None:
    server = b'{%b"n": 1E2, "n": 0.1000000000000000055511151231257827}' % command
    line = b'{"id": 1, "params": {"mcpServers": [%b]}}\r\n' % server
    assert between(record, ECHO, line + ODD_LINES).stdout == line + ODD_LINES


def test_the_proxy_ends_with_its_agent(record: Path) -> None:
    command = [sys.executable, BETWEEN, str(record), sys.executable, "-c", "print('bye'); raise SystemExit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as proxy:
        assert proxy.stdout
        assert (proxy.stdout.read().strip(), proxy.wait(60)) == (b"bye", 7)


def test_the_record_is_a_conversation_that_can_be_checked(record: Path) -> None:
    said = b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": 5}}\n'
    answer = '{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "1"}}'
    between(record, f"input(); print({answer!r})", said)
    senders = [json.loads(line)["from"] for line in record.read_bytes().splitlines()]
    assert senders == ["client", "agent"]
    assert {found.line for found in Check(record.read_bytes().splitlines())} == {1, 2}
