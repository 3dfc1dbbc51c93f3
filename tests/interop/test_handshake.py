"""`initialize` between our side and the TypeScript SDK's, in both directions and both versions."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from acp_bindings import v1, v2
from acp_bindings.jsonrpc import Codec, Request, Response
from acp_bindings.setup import (
    OPENING,
    AgentHandshake,
    ClientHandshake,
    RequestError,
)
from acp_bindings.setup.capabilities import AgentCapability, ClientCapability
from tests.interop.typescript import FOLDER

INFO = v1.Implementation(name="python", version="2.0")
SESSIONS: set[AgentCapability] = {"session.close", "session.list", "session.load", "session.resume"}
PACKAGES: dict[int, Any] = {1: v1, 2: v2}
TERMINALS: dict[bool, set[ClientCapability]] = {True: {"terminal"}, False: set()}
"""By whether the client supports v1."""


@contextmanager
def typescript_side(role: str, versions: str) -> Generator[subprocess.Popen[bytes]]:
    """One side of a connection in Node, which exits at the end of its input."""
    command = ["node", "handshake.mjs", role, versions]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=FOLDER, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait(timeout=20)


def ask(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    assert process.stdin
    assert process.stdout
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    ("ours", "theirs", "version"),
    [((1,), "v1", 1), ((1, 2), "v1", 1), ((1,), "v1,v2", 1), ((2,), "v2", 2), ((1, 2), "v2", 2), ((1, 2), "v1,v2", 2)],
)
def test_our_client_settles_with_an_agent_of_the_sdk(ours: tuple[int, ...], theirs: str, version: int) -> None:
    client = ClientHandshake(
        info=INFO,
        protocols=[PACKAGES[each] for each in ours],
        capabilities={"auth.terminal", "elicitation.form", *TERMINALS[1 in ours]},
    )
    codec = Codec(OPENING, role="client")
    with typescript_side("agent", theirs) as process:
        response = codec.read(ask(process, codec.request(client.request()).line))
    assert isinstance(response, Response)
    peer = client.accept(response.result)
    assert (peer.version, peer.display_name, peer.findings) == (version, "typescript", ())
    assert peer.supports("session.load")
    assert peer.supports("mcp.http")
    assert peer.supports("mcp.stdio") == (version == 1)
    assert peer.login_refusal("browser") is None
    # What the other side says that it has read of us is what we think that it knows.
    seen = response.result["_meta"]["seen"]
    said = seen["clientCapabilities" if version == 1 else "capabilities"]
    assert said["auth"]["terminal"] == (True if version == 1 else {})
    assert said["elicitation"] == {"form": {}}
    assert said.get("terminal", False) == (version == 1)
    assert seen["clientInfo" if version == 1 else "info"]["name"] == "python"


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(("theirs", "version"), [("v1", 1), ("v2", 2)])
@pytest.mark.parametrize("ours", [(1,), (2,), (1, 2)])
def test_our_agent_answers_a_client_of_the_sdk(theirs: str, version: int, ours: tuple[int, ...]) -> None:
    agent = AgentHandshake(
        info=INFO,
        protocols=[PACKAGES[each] for each in ours],
        capabilities={*SESSIONS, "mcp.http"},
        auth_methods=[v1.AuthMethodTerminal(id="tui", name="In a terminal")],
    )
    codec = Codec(OPENING, role="agent")
    with typescript_side("client", theirs) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        request = codec.read(process.stdout.readline())
        assert isinstance(request, Request)
        try:
            settled = agent.answer(request.params)
            assert settled.client.supports("auth.terminal")
            assert settled.client.display_name == "typescript"
            answer = codec.respond(request, settled.result)
        except RequestError as error:
            answer = codec.fail(request, error.as_error(v1))
        process.stdin.write(answer)
        process.stdin.flush()
        outcome = json.loads(process.stderr.readline())
    if version in ours:
        assert outcome["result"]["protocolVersion"] == version
        assert [each["name"] for each in outcome["result"]["authMethods"]] == ["In a terminal"]
    elif ours == (1,):
        # In v1, an agent responds with the version that it supports. A client of the SDK with only v2 cannot read that.
        assert "error" in outcome
    else:
        assert outcome["error"] == {
            "code": -32022,
            "message": "the agent does not support ACP version 1; it supports 2",
            "data": {"requested": 1, "supported": [2]},
        }
