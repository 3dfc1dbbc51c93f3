"""The JSON examples of the specification's pages on initialization and session setup."""

import json
from pathlib import Path

import pytest

from acp_bindings import decode, encode, v1
from tests.acp_bindings.exact_json import Json, same

FOLDER = Path(__file__).parent / "examples"

DEFINITIONS = {
    "initialize_request": "InitializeRequest",
    "initialize_response": "InitializeResponse",
    "initialize_response_with_load_session": "InitializeResponse",
    "initialize_response_with_mcp_capabilities": "InitializeResponse",
    "mcp_server_http": "McpServer",
    "mcp_server_sse": "McpServer",
    "mcp_server_stdio": "McpServer",
    "session_load_request": "LoadSessionRequest",
    "session_load_response": "LoadSessionResponse",
    "session_new_request": "NewSessionRequest",
    "session_new_response": "NewSessionResponse",
    "session_new_response_with_modes": "NewSessionResponse",
    "session_update_agent_message": "SessionNotification",
    "session_update_user_message": "SessionNotification",
}


def test_every_example_has_a_definition() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(DEFINITIONS)


@pytest.mark.parametrize("package", ["v1", "v1_unstable"])
@pytest.mark.parametrize("name", [name for name in DEFINITIONS if name != "session_load_response"])
def test_an_example_survives_a_round_trip(name: str, package: str) -> None:
    model_type = getattr(__import__(f"acp_bindings.{package}", fromlist=["_"]), DEFINITIONS[name])
    payload = _payload(name)
    assert same(json.loads(encode(decode(model_type, json.dumps(payload)))), payload)
    assert same(json.loads(encode(decode(model_type, payload, strict=True))), payload)


def test_the_null_result_of_session_load_reads_as_the_empty_response() -> None:
    assert _payload("session_load_response") is None
    for given in ("null", b" null\n", None, "{}"):
        response = decode(v1.LoadSessionResponse, given)
        assert response == v1.LoadSessionResponse()
        assert encode(response) == b"{}"


def test_the_misspelled_mcp_capability_is_preserved_without_effect() -> None:
    response = decode(v1.InitializeResponse, _payload("initialize_response"))
    assert response.agent_capabilities.load_session is True
    assert response.agent_capabilities.mcp_capabilities == v1.McpCapabilities(http=False, sse=False)
    assert json.loads(encode(response))["agentCapabilities"]["mcp"] == {"http": True, "sse": True}


def _payload(name: str) -> Json:
    """Return the part that a definition describes: parameters, result, or the whole of a fragment."""
    message = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if "jsonrpc" not in message:
        return message
    return message["params"] if "params" in message else message["result"]
