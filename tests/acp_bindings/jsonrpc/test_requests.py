"""Reading the peer's requests and notifications: ids, params, and extension methods."""

import json
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND, Notification, Request
from tests.acp_bindings.jsonrpc.support import NEW_SESSION, agent, answered, client, error, line


def test_a_request_has_its_id_and_its_params_as_an_object() -> None:
    request = agent().read(line(id=7, method="session/new", params=NEW_SESSION))

    assert request == Request(7, "session/new", v1.NewSessionRequest(cwd="/project", mcp_servers=[]))
    assert isinstance(request, Request)
    assert request.type is v1.METHODS["session/new"].request


def test_a_notification_has_its_params_as_an_object() -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
    notification = client().read(line(method="session/update", params={"sessionId": "s", "update": update}))

    chunk = v1.AgentMessageChunk(content=v1.TextContent(text="Hi"))
    assert notification == Notification("session/update", v1.SessionNotification(session_id="s", update=chunk))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_line_may_be_str_or_bytes_with_or_without_a_newline(end: str) -> None:
    text = line(id=0, method="session/list", params={"cwd": "/é"}) + end
    expected = Request(0, "session/list", v1.ListSessionsRequest(cwd="/é"))

    forms: list[Any] = [text, text.encode(), bytearray(text.encode()), memoryview(text.encode())]
    assert [agent().read(each) for each in forms] == [expected] * 4


@pytest.mark.parametrize("id_", [0, -1, 2**63 - 1, "", "0", "é\u2028", None])
def test_every_valid_id_is_returned_unchanged(id_: Any) -> None:
    codec = agent()
    request = codec.read(line(id=id_, method="logout", params={}))

    assert isinstance(request, Request)
    assert json.loads(codec.respond(request, v1.LogoutResponse())) == {"jsonrpc": "2.0", "id": id_, "result": {}}


@pytest.mark.parametrize("id_", [True, 1.0, 1.5, 2**63, -(2**63) - 1, [], {}])
def test_an_invalid_id_is_answered_with_null(id_: Any) -> None:
    refused = agent().read(line(id=id_, method="logout", params={}))

    assert answered(refused) == error(None, INVALID_REQUEST, "Invalid request: the id must be an integer or a string")


def test_null_is_not_an_id_in_v2() -> None:
    refused = agent(v2).read(line(id=None, method="session/list", params={}))

    assert answered(refused)["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("params", [{}, {"params": None}, {"params": {}}])
def test_missing_params_are_read_as_empty_ones(params: Any) -> None:
    assert agent().read(line(id=1, method="logout", **params)) == Request(1, "logout", v1.LogoutRequest())


def test_a_method_may_be_a_request_here_and_a_notification_there() -> None:
    message = {"serverId": "s", "requestId": "r", "method": "tools/list"}

    request = client(v1_unstable).read(line(id=1, method="mcp/message", params=message))
    refused = agent(v1_unstable).read(line(id=1, method="mcp/message", params=message))
    notification = agent(v1_unstable).read(line(method="mcp/message", params=message))

    assert isinstance(request, Request)
    assert isinstance(request.params, v1_unstable.MessageMcpRequest)
    assert answered(refused)["error"]["code"] == METHOD_NOT_FOUND
    assert isinstance(notification, Notification)
    assert isinstance(notification.params, v1_unstable.MessageMcpNotification)


def test_the_params_of_a_union_have_the_matching_class() -> None:
    params = {"sessionId": "s", "configId": "c", "type": "boolean", "value": True}
    request = agent().read(line(id=1, method="session/set_config_option", params=params))

    assert isinstance(request, Request)
    assert isinstance(request.params, v1.SetSessionConfigOptionRequestBoolean)


def test_either_side_may_cancel_requests() -> None:
    for codec in (agent(), client()):
        notification = codec.read(line(method="$/cancel_request", params={"requestId": 0}))
        assert notification == Notification("$/cancel_request", v1.CancelRequestNotification(request_id=0))


def test_extension_methods_pass_through() -> None:
    for codec in (agent(), client()):
        assert codec.read(line(id=1, method="_acme/do", params=[1, {"a": None}])) == Request(
            1, "_acme/do", [1, {"a": None}]
        )
        assert codec.read(line(method="_acme/did")) == Notification("_acme/did", None)
