"""The example client, with the example agent and with agents that behave differently."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.examples.support import CLIENT, Place, example, run_client

HELLO = [sys.executable, str(CLIENT.with_name("hello_agent.py"))]
ODD = Path(__file__).with_name("odd_agent.py")
SECRETS = ("Welcome aboard", "library-card", "tick-tock")
ANOTHER_VERSION = """
import json, pathlib, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"protocolVersion": 7}}), flush=True)
pathlib.Path(sys.argv[1]).write_text(sys.stdin.read() or "closed")
"""
"""An agent that records the messages after its response."""
WITHOUT_SERVERS = """
import contextlib, io, sys, client, demo
demo.web_server = lambda script: contextlib.nullcontext(io.StringIO("http://127.0.0.1:9/"))
sys.exit(client.main())
"""
"""Runs the client without its web servers, which take most of the time to start."""
ANSWERS = [
    "tool     greeter__greet name=Ada → Welcome aboard, Ada!",
    "tool     library__find_book topic=protocols → The Art of Saying Exactly That",
    "tool     editor__selection → def answer() -> int:",
]


def client(place: Place, *options: str, agent: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the client in this process, with servers that do not work."""
    values = {"CWD": str(CLIENT.parent), "PYTHON": "/bin/true"}
    request = example("demo").session_request(
        values | dict.fromkeys(("LIBRARY_URL", "CLOCK_URL"), "http://127.0.0.1:9")
    )
    command = ["--cwd", str(place.project), *options, "--", *(agent or place.command)]
    return run_client(*command, request=request, env=place.env)


def client_process(place: Place, *arguments: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process with these arguments, which name the client and its options."""
    where: Any = {"cwd": place.project, "env": os.environ | place.env}
    command = [sys.executable, *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120, check=False, **where, **streams)


def odd(place: Place, mode: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the client with a misbehaving agent."""
    return client(place, "--prompt", "hello", *options, agent=[sys.executable, "-I", "-S", str(ODD), mode])


def test_the_client_talks_to_the_example_agent_and_loads_the_session(place: Place, version: int) -> None:
    if version == 1:
        done = client_process(place, str(CLIENT), "--version", "1", "--allow", stdout=subprocess.PIPE)
    else:
        options = ("--version", "2", "--cwd", str(place.project), "--allow", "--", *place.command)
        done = run_client(*options, env=place.env)

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == f"agent    The Example Agent 1.0 (ACP v{version})"
    clock = ["tool     clock__weekday date=2026-01-01 → Thursday"] if version == 1 else []
    assert set(lines) >= {*ANSWERS, *clock, "asked    Write to notes.txt? Allow"}
    assert ("left out clock (sse): v2 does not have the capability mcp.sse" in lines) == (version == 2)
    replayed = {line.replace("| ", "", 1) for line in lines if line.startswith("| tool")}
    assert replayed == {line.replace("tool     ", "tool   ") for line in lines if line.startswith("tool")}
    assert (place.project / "notes.txt").read_text() == "remember"


def test_the_last_message_is_shown_even_if_nothing_follows_it(place: Place, version: int) -> None:
    done = client(place, "--version", str(version), "--prompt", "hello", agent=HELLO)

    _, again = done.stdout.split("load     the session again\n")
    assert again.splitlines()[:2] == ["| you    hello", "| agent  You said hello."]


def test_what_was_said_before_a_failure_is_shown(place: Place) -> None:
    assert odd(place, "forgets").stdout.endswith("| agent  in time\n")


def test_a_client_of_both_versions_gets_the_newer_one(place: Place) -> None:
    done = client(place, "--prompt", "hello", agent=HELLO)

    assert done.stdout.startswith("agent    hello 1.0 (ACP v2)\n")
    assert "agent    You said hello.\n" in done.stdout


def test_closing_the_output_of_the_client_causes_no_errors(place: Place) -> None:
    nobody, output = os.pipe()
    os.close(nobody)
    with os.fdopen(output, "wb") as stdout:
        done = client_process(place, "-c", WITHOUT_SERVERS, "--prompt", "hello", "--", *HELLO, stdout=stdout)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_recording_has_each_message_with_its_sender_and_no_secrets(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "conversation.ndjson"
    done = client(place, "--prompt", "say Hello", "--version", "1", "--record", str(file))

    text = file.read_text()
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert not [secret for secret in SECRETS if secret in text]
    assert [lines[0]["from"], lines[0]["message"]["method"]] == ["client", "initialize"]
    assert {line["from"] for line in lines} == {"client", "agent"}
    asked = [line["message"]["method"] for line in lines if line["from"] == "client"]
    assert asked == [
        "initialize",
        "session/new",
        "session/prompt",
        "session/close",
        "session/list",
        "session/load",
    ]
    server = lines[2]["message"]["params"]["mcpServers"][0]
    assert server["env"] == [{"name": "GREETING", "value": "[redacted]"}]


def test_an_agent_that_can_nothing_gets_nothing_that_it_cannot(place: Place) -> None:
    done = odd(place, "can_nothing")

    assert done.returncode == 0
    assert "left out library (http): the agent has not advertised agentCapabilities.mcpCapabilities.http" in done.stdout
    # stdio is what every agent of v1 takes, also for the server of the client itself.
    assert "servers  greeter, editor" in done.stdout
    assert "load" not in done.stdout


def test_updates_that_are_unknown_and_garbage_are_survived(place: Place) -> None:
    done = odd(place, "works")

    assert "update   available_commands_update" in done.stdout
    assert "update   from_the_future\nagent    still here\ndone     end_turn\n" in done.stdout
    loaded, _, remarks = done.stdout.partition("remark   ")
    assert loaded.endswith("load     the session again\n| agent  in time\n")
    assert remarks == "agentInfo: it is missing; a name and a version help when reading logs\n"


@pytest.mark.requirement("R23")
def test_the_client_reports_the_supported_versions_and_closes_the_connection(place: Place, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    done = client(place, agent=[sys.executable, "-I", "-S", "-c", ANOTHER_VERSION, str(heard)])

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "the agent chose ACP version 7; the client requested 2 and supports 1, 2 (-32022)\n"
    assert heard.read_text() == "closed"


@pytest.mark.requirement("R23", "R95")
@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("dated", 'ACP versions are integers, such as 1; "2025-03-26" looks like an MCP version'),
        ("leaves", "initialize: the process exited with status 1; it wrote to stderr: odd: no licence"),
        ("dies_in_a_turn", "the process exited with status 1; it wrote to stderr: odd: out of memory"),
        ("wants_login", 'Authentication required (-32000); log in with "In the browser"'),
        ("has_no_model", "Internal error (-32603): no model is set\n"),
        ("forgets", 'Session not found (-32603): "odd"'),
    ],
)
def test_a_fatal_error_is_reported_and_the_agent_is_ended(place: Place, mode: str, told: str) -> None:
    done = odd(place, mode)

    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    # The log of the agent is shown too.
    assert ("odd: out of memory" in done.stderr.splitlines()) == (mode == "dies_in_a_turn")


def test_a_turn_of_v2_is_over_when_the_session_is_idle_again(place: Place) -> None:
    done = odd(place, "says_idle_twice")
    # This agent does not support closing it.
    assert done.stdout.splitlines()[-2:] == ["you      hello", "done     end_turn"]
