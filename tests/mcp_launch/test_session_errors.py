"""Exceptions of the SDK whose codes may be the SDK's own or the server's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

import mcp_launch
from acp_bindings import v1
from mcp_launch._diagnosis.protocol import diagnose_session, server_answered


@pytest.mark.anyio
@pytest.mark.parametrize("message", ["Request 'tools/call' timed out", "files: read: did not respond within 5 s"])
async def test_a_timeout_that_a_gateway_forwards_is_its_answer(message: str, tmp_path: Path) -> None:
    async def call_tool(context: Any, params: Any) -> Any:
        raise MCPError(REQUEST_TIMEOUT, message)

    gateway = Server("gateway", on_call_tool=call_tool)
    async with (
        mcp_launch.serve_local(gateway, transport="http") as local,
        mcp_launch.open_session(local.spec(v1.McpServer), cwd=tmp_path) as session,
    ):
        with pytest.raises(MCPError) as raised:
            await session.call_tool("read", {}, 60)

    assert raised.value.message == message
    assert server_answered(raised.value)


@pytest.mark.parametrize(
    ("code", "message", "is_answer", "means"),
    [
        (REQUEST_TIMEOUT, "initialize was not answered", False, "timeout"),
        (REQUEST_TIMEOUT, "Unauthorized", True, "rejected"),
        (CONNECTION_CLOSED, "Connection closed", False, "disconnected"),
        (CONNECTION_CLOSED, "no such tool", True, "rejected"),
    ],
)
def test_errors_of_the_server_are_distinguished_from_those_of_the_sdk(
    code: int, message: str, *, is_answer: bool, means: str
) -> None:
    error = MCPError(code=code, message=message)

    assert (server_answered(error), diagnose_session(error, waited=None).code) == (is_answer, means)


@pytest.mark.parametrize(
    ("error", "is_answer", "means"),
    [
        (RuntimeError("Unsupported protocol version from the server: 1999-01-01"), True, "unsupported_version"),
        (RuntimeError("boo"), False, "failed"),
        (ExceptionGroup("", [OSError(), ExceptionGroup("", [MCPError(-1, "no")])]), True, "rejected"),
        (None, False, "failed"),
    ],
    ids=repr,
)
def test_other_exceptions_are_looked_into(error: Exception | None, *, is_answer: bool, means: str) -> None:
    assert (server_answered(error), diagnose_session(error, waited=None).code) == (is_answer, means)


def test_any_error_at_the_timeout_is_a_timeout() -> None:
    found = diagnose_session(RuntimeError("boo"), waited=1.5)

    assert (found.code, found.message) == ("timeout", "did not answer within 1.5 s")
