"""Exceptions of the SDK whose codes may be the SDK's own or the server's."""

from __future__ import annotations

import pytest
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from mcp_launch._diagnosis.protocol import diagnose_session, server_answered


@pytest.mark.parametrize(
    ("code", "message", "is_answer", "means"),
    [
        (REQUEST_TIMEOUT, "Request 'tools/list' timed out", False, "timeout"),
        (REQUEST_TIMEOUT, "a: tools/list: did not respond within 9 s, but the server wrote nothing", False, "timeout"),
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
