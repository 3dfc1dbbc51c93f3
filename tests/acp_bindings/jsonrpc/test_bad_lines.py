"""Invalid messages are reported by code and message, and the next line is read."""

import importlib
import io
from typing import Any

import jsonschema_rs
import pytest

from acp_bindings import v1
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    BadLine,
    Request,
)
from tests.acp_bindings.jsonrpc.support import NEW_SESSION, agent, answered, line
from tests.acp_bindings.schemas import PACKAGES, load


@pytest.mark.parametrize(
    ("text", "code", "id_"),
    [
        ("{", PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","params":{"a":NaN}}', PARSE_ERROR, None),
        ("\ud800", PARSE_ERROR, None),
        ("[]", INVALID_REQUEST, None),
        ('{"jsonrpc":"1.0","id":1,"method":"logout"}', INVALID_REQUEST, 1),
        ('{"jsonrpc":2.0,"id":"x","method":"logout"}', INVALID_REQUEST, "x"),
        ('{"jsonrpc":"2.0","id":1,"method":5}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","method":null,"params":{}}', INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","result":{}}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"result":{},"method":"logout","params":{}}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"},"result":0}', INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":1,"method":"","params":{}}', METHOD_NOT_FOUND, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}', METHOD_NOT_FOUND, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{}}', METHOD_NOT_FOUND, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","params":[]}', INVALID_PARAMS, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","params":"{}"}', INVALID_PARAMS, 1),
    ],
)
def test_a_bad_line_gets_an_error_and_the_next_is_read(text: str | bytes, code: int, id_: Any) -> None:
    codec = agent()
    refused = codec.read(text)

    assert (answered(refused)["id"], answered(refused)["error"]["code"]) == (id_, code)
    assert isinstance(refused, BadLine)
    assert refused.code == code
    assert codec.read(line(id=1, method="logout")) == Request(1, "logout", v1.LogoutRequest())


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("nonsense", PARSE_ERROR, "Parse error: expected ident at line 1 column 2"),
        ("5", INVALID_REQUEST, "Invalid request: a message must be an object"),
        ("{}", INVALID_REQUEST, 'Invalid request: it lacks "jsonrpc": "2.0"'),
        ('{"jsonrpc":"2.0"}', INVALID_REQUEST, "Invalid request: it has no method"),
        (line(id=1, method="x", result=False), INVALID_REQUEST, "Invalid request: it has both a method and a result"),
        (line(id=1, method="x", error="e"), INVALID_REQUEST, "Invalid request: it has both a method and an error"),
        (
            f"[{line(id=1, method='logout')}, {line(id=2, method='logout')}]",
            INVALID_REQUEST,
            (
                "Invalid request: batches are not supported (the v2 draft allows them, but the SDKs reject them); send "
                "each message on its own line"
            ),
        ),
        (line(id=1, method="no/such"), METHOD_NOT_FOUND, "Method not found"),
        (
            line(id=1, method="session/cancel"),
            METHOD_NOT_FOUND,
            "Method not found: session/cancel is a notification, and has no id",
        ),
        (line(method="logout"), METHOD_NOT_FOUND, "Method not found: logout is a request, and has an id"),
        (
            line(method="session/update", params={}),
            METHOD_NOT_FOUND,
            "Method not found: session/update is handled by the client, not by the agent",
        ),
        (line(id=1, methd="logout", params={}), INVALID_REQUEST, "Invalid request: it has no method"),
        (line(id=1, method="session/prompt"), INVALID_PARAMS, "Invalid params: they are missing"),
        (line(id=1, method="session/prompt", params={}), INVALID_PARAMS, "Invalid params"),
    ],
)
def test_a_bad_line_has_a_message_with_the_reason(text: str, code: int, message: str) -> None:
    refused = agent().read(text)

    assert isinstance(refused, BadLine)
    assert (refused.code, refused.message) == (code, message)
    if refused.reply:
        said = answered(refused)["error"]
        assert (said["code"], said["message"]) == (code, message)


def test_a_request_with_null_result_and_error_is_accepted() -> None:
    # As with responses, of which some peers write `error: null`.
    text = line(id=1, method="logout", params={}, result=None, error=None)

    assert agent().read(text) == Request(1, "logout", v1.LogoutRequest())


def test_invalid_params_are_named_in_the_error_without_their_values() -> None:
    servers = [{"type": "http", "name": "n", "headers": [{"name": "Key", "value": 12345678}]}]
    refused = agent().read(line(id=1, method="session/new", params={"cwd": "/", "mcpServers": servers}))

    issues = [
        Issue(("mcpServers", 0, "url"), "missing", "Field required", "http"),
        Issue(("mcpServers", 0, "headers", 0, "value"), "string_type", "Input should be a valid string", "http"),
    ]
    assert isinstance(refused, BadLine)
    assert sorted(refused.issues, key=str) == sorted(issues, key=str)
    answer = answered(refused)
    assert {"path": ["mcpServers", 0, "url"], "rule": "missing", "message": "Field required", "branch": "http"} in (
        answer["error"]["data"]["issues"]
    )
    assert "12345678" not in str(answer)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("no/such", None),
        ("session/new", NEW_SESSION),
        ("session/update", {}),
        ("session/cancel", {}),
        ("session/cancel", 5),
    ],
)
def test_an_invalid_notification_gets_no_response(method: str, params: Any) -> None:
    refused = agent().read(line(method=method, params=params))

    assert isinstance(refused, BadLine)
    assert (refused.reply, refused.method) == (None, method)


@pytest.mark.parametrize("text", ["", "\n", " \r\n", b"", b"\n"])
def test_an_empty_line_gets_no_response(text: str | bytes) -> None:
    assert agent().read(text) == BadLine(PARSE_ERROR, "The line is empty", None)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_error_response_matches_the_schema(package: str) -> None:
    schema = load(package).document
    validator = jsonschema_rs.validator_for({**schema, "anyOf": [{"$ref": "#/$defs/Error"}]})
    codec = agent(importlib.import_module(f"acp_bindings.{package}"))  # pyright: ignore[reportArgumentType]

    for text in ("{", "[]", line(id=1, method="x"), line(id=1, method="session/new", params={"cwd": 5})):
        assert validator.is_valid(answered(codec.read(text))["error"])


def test_the_codes_are_those_of_json_rpc_and_of_the_protocol() -> None:
    stated = str(load("v1").definitions["ErrorCode"])

    codes = (PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, REQUEST_CANCELLED)
    assert [code for code in codes if f"'const': {code}" not in stated] == []
    assert codes == (-32700, -32600, -32601, -32602, -32603, -32800)


@pytest.mark.parametrize("given", [{"jsonrpc": "2.0"}, None, 5, [b"{}"], io.StringIO("{}")])
def test_only_str_and_bytes_are_accepted_as_a_line(given: Any) -> None:
    with pytest.raises(TypeError, match=f"^a line must be str or bytes, not {type(given).__name__}$"):
        agent().read(given)
