"""Writing requests, notifications and responses. Refused messages leave nothing behind."""

import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings import DecodeError, EncodeError, decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.jsonrpc import (
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    BadLine,
    Codec,
    ErrorResponse,
    Notification,
    Request,
    Response,
)
from tests.acp_bindings.jsonrpc.support import NEW_SESSION, agent, client, error, line


def test_a_notification_names_its_method_by_its_params() -> None:
    written = client().notify(v1.CancelNotification(session_id="s"))

    assert written == b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n'


def test_params_of_an_extension_may_be_missing_empty_or_of_a_method() -> None:
    codec = agent()

    assert codec.notify(method="_acme/did") == b'{"jsonrpc":"2.0","method":"_acme/did"}\n'
    assert codec.notify({}, method="_acme/did") == b'{"jsonrpc":"2.0","method":"_acme/did","params":{}}\n'
    assert codec.request(method="_acme/do").line == b'{"jsonrpc":"2.0","id":0,"method":"_acme/do"}\n'
    sent = codec.request(v1.LogoutRequest(meta={}), method="_acme/logout")
    assert json.loads(sent.line)["params"] == {"_meta": {}}
    assert codec.read(line(id=1, result=[1])) == Response(1, "_acme/logout", [1])


def test_a_sent_message_is_read_equal_by_the_other_side() -> None:
    asking, asked = client(), agent()
    params = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Ünï\n\u2028\0")])

    request = asked.read(asking.request(params).line)
    assert isinstance(request, Request)
    assert request.params == params
    response = asking.read(asked.respond(request, v1.PromptResponse(stop_reason="end_turn")))
    assert response == Response(0, "session/prompt", v1.PromptResponse(stop_reason="end_turn"))


def test_a_cancelled_request_is_still_answered() -> None:
    asking, asked = client(), agent()
    sent = asking.request(v1.LogoutRequest())
    request = asked.read(sent.line)
    assert isinstance(request, Request)

    cancelled = asked.read(asking.cancel(sent.id))
    assert cancelled == Notification("$/cancel_request", v1.CancelRequestNotification(request_id=0))
    response = asking.read(asked.fail(request, REQUEST_CANCELLED, "Request cancelled"))
    assert response == ErrorResponse(0, "logout", v1.Error(code=REQUEST_CANCELLED, message="Request cancelled"))
    with pytest.raises(ValueError, match="no request with the id 0 is open"):
        asking.cancel(sent.id)


def test_a_forgotten_request_is_not_stored() -> None:
    asking = client()
    sent = asking.request(v1.LogoutRequest())

    assert asking.forget(sent.id) == "logout"
    assert dict(asking.pending) == {}
    late = asking.read(line(id=sent.id, result={}))
    assert late == BadLine(INVALID_REQUEST, "It matches no open request", None)
    assert asking.request(v1.LogoutRequest()).id != sent.id
    with pytest.raises(ValueError, match="no request with the id 0 is open"):
        asking.forget(sent.id)


def test_an_error_may_carry_data() -> None:
    request = Request(1, "logout", v1.LogoutRequest())

    assert json.loads(agent().fail(request, -32000, "Log in", data=["x"])) == error(1, -32000, "Log in", data=["x"])


@pytest.mark.parametrize("protocol", [v1, v2])
def test_error_data_known_to_the_schema_may_be_given_as_json(protocol: Any) -> None:
    request = Request(1, "logout", None)
    for data in ({"requested": 1, "supported": [2]}, {"sessionId": "s"}, {"more": None}):
        sent = Codec(protocol, role="agent").fail(request, -32022, "no", data=data)
        assert json.loads(sent) == error(1, -32022, "no", data=data)


def test_an_error_is_forwarded_unchanged() -> None:
    came = error(0, -32000, "Log in", data=None, hint={"url": "u"})
    proxy = agent()
    sent = proxy.request(None, method="_acme/ask")
    failed = proxy.read(json.dumps(came))

    assert isinstance(failed, ErrorResponse)
    assert json.loads(proxy.fail(Request(sent.id, "logout", v1.LogoutRequest()), failed.error)) == came


@pytest.mark.parametrize(("code", "message"), [("x", "m"), (2**31, "m"), (True, "m"), (1, 5), (1, None)])
def test_an_invalid_error_is_not_sent(code: Any, message: Any) -> None:
    with pytest.raises(ValidationError):
        agent().fail(Request(1, "logout", v1.LogoutRequest()), code, message)


def test_ids_that_are_open_are_not_given_again() -> None:
    codec = client()
    codec.request(v1.LogoutRequest(), id=1)

    assert [codec.request(v1.LogoutRequest()).id for _ in range(3)] == [0, 2, 3]
    with pytest.raises(ValueError, match="a request with the id 1 is open already"):
        codec.request(v1.LogoutRequest(), id=1)


@pytest.mark.parametrize("id_", [True, 1.0, 2**63, [1], math.nan, "\ud800", object()])
def test_an_invalid_id_is_not_sent(id_: Any) -> None:
    codec = client()

    with pytest.raises((DecodeError, EncodeError)):
        codec.request(v1.LogoutRequest(), id=id_)
    assert dict(codec.pending) == {}


def test_null_is_not_an_id_for_a_request_of_v2() -> None:
    with pytest.raises(DecodeError):
        client(v2).request(v2.ListSessionsRequest(), id=None)


def test_messages_for_the_own_side_are_not_sent() -> None:
    with pytest.raises(ValueError, match="session/list is for the agent; the agent does not send it"):
        agent().request(v1.ListSessionsRequest())
    with pytest.raises(ValueError, match="session/update is for the client; the client does not send it"):
        client().notify(v1.SessionNotification(session_id="s", update=v1.Plan(entries=[])))


@pytest.mark.parametrize(
    ("params", "method", "complaint"),
    [
        ({"cwd": "/", "mcpServers": []}, None, "no request takes dict; pass method=$"),
        (v1.TextContent(text="t"), None, "no request takes v1.TextContent; pass method=$"),
        (
            v1.LogoutRequest,
            None,
            "no request takes the class v1.LogoutRequest; create an object of it$",
        ),
        ("logout", None, "no request takes str; pass the name of a method as method=$"),
        (
            v1_unstable.ForkSessionRequest(session_id="s", cwd="/"),
            None,
            "no request takes v1_unstable.ForkSessionRequest; the negotiated version is v1$",
        ),
        (
            v1.CancelNotification(session_id="s"),
            None,
            "no request takes v1.CancelNotification; session/cancel is a no",
        ),
        (
            v1.LogoutRequest(),
            "session/list",
            "the params of session/list must be ListSessionsRequest, not v1.LogoutRequest",
        ),
        (None, "logout", "the params of logout must be LogoutRequest, not NoneType"),
        (v1.CancelNotification(session_id="s"), "session/cancel", "session/cancel is not a request"),
    ],
)
def test_params_without_a_method_or_of_another_one_are_not_sent(
    params: Any, method: str | None, complaint: str
) -> None:
    codec = client()

    with pytest.raises(TypeError, match=complaint):
        codec.request(params, method=method)
    assert dict(codec.pending) == {}


PACKAGES: list[Any] = [v1, v1_unstable, v2, v2_unstable]
CHUNK: dict[str, Any] = {"content": {"type": "text", "text": "t"}, "messageId": "m"}


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize(
    ("package", "part", "members", "wholes"),
    [
        (v1, "AgentMessageChunk", CHUNK, ["SessionNotification(session_id=…, update=…)"]),
        (v1_unstable, "AgentMessageChunk", CHUNK, ["SessionNotification(session_id=…, update=…)"]),
        (v2, "AgentMessageChunk", CHUNK, ["UpdateSessionNotification(session_id=…, update=…)"]),
        (v2, "SessionStateUpdateRunning", {}, ["UpdateSessionNotification(session_id=…, update=…)"]),
        (v2, "ReplayFromStart", {}, ["ResumeSessionRequest(session_id=…, cwd=…, replay_from=…)"]),
        # Two methods of the unstable packages have these params.
        (v1_unstable, "ClientCapabilities", {}, ["InitializeRequest(protocol_version=…, client_capabilities=…)"]),
        (
            v2_unstable,
            "SystemPrompt",
            {"mode": "append", "content": [CHUNK["content"]]},
            [
                "ForkSessionRequest(session_id=…, cwd=…, system_prompt=…)",
                "NewSessionRequest(cwd=…, system_prompt=…)",
                "ResumeSessionRequest(session_id=…, cwd=…, system_prompt=…)",
            ],
        ),
    ],
)
def test_a_part_of_params_is_refused_with_the_whole_class(
    package: Any, part: str, members: dict[str, Any], wholes: list[str], asks: bool
) -> None:
    codec = agent(package)
    params = decode(getattr(package, part), members)

    with pytest.raises(TypeError) as caught:
        codec.request(params) if asks else codec.notify(params)
    assert str(caught.value).partition("; ")[2] == f"it is part of {' or '.join(wholes)}"
    assert dict(codec.pending) == {}


@pytest.mark.parametrize(
    ("part", "hints"),
    [
        (
            v1.ToolCallUpdate(tool_call_id="c"),
            ["it is part of RequestPermissionRequest(session_id=…, tool_call=…, options=…)", "SessionToolCallUpdate"],
        ),
        (
            v1.ContentChunk(content=v1.TextContent(text="Hi")),
            ["AgentMessageChunk or AgentThoughtChunk or UserMessageChunk"],
        ),
    ],
)
def test_a_part_used_by_other_methods_is_refused_with_their_classes(part: Any, hints: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        Codec(v1, role="agent").notify(part)
    told = f"{'; '.join(hints)} is part of SessionNotification(session_id=…, update=…)"
    assert str(caught.value).partition("; ")[2] == told


def test_other_objects_are_refused_without_a_guess() -> None:
    for package in PACKAGES:
        for params in ({"sessionId": "s"}, package.TextContent(text="t"), package.NewSessionResponse(session_id="s")):
            with pytest.raises(TypeError, match=r"; pass method=$"):
                agent(package).notify(params)  # pyright: ignore[reportArgumentType]


def test_a_request_cannot_be_sent_as_a_notification() -> None:
    with pytest.raises(TypeError, match=r"no notification takes v1\.LogoutRequest; logout is a request"):
        client().notify(v1.LogoutRequest())  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="logout is not a notification"):
        client().notify(v1.LogoutRequest(), method="logout")


def test_params_shared_by_two_methods_require_a_method() -> None:
    conductor, proxy = Codec(v1_unstable, role="conductor"), Codec(v1_unstable, role="proxy")
    params = v1_unstable.InitializeProxyRequest(protocol_version=1)
    assert v1_unstable.InitializeProxyRequest is v1_unstable.InitializeRequest

    sent = conductor.request(params), conductor.request(params, method="proxy/initialize")
    requests = [proxy.read(each.line) for each in sent]

    assert requests == [Request(0, "initialize", params), Request(1, "proxy/initialize", params)]
    assert isinstance(requests[1], Request)
    response = v1_unstable.InitializeProxyResponse(protocol_version=1)
    assert conductor.read(proxy.respond(requests[1], response)) == Response(1, "proxy/initialize", response)


def test_the_method_argument_overrides_the_method_of_the_class() -> None:
    codec, cancelled = client(), v1.CancelNotification(session_id="s")
    sent = [codec.notify(cancelled), codec.notify(cancelled, method="_acme/mirror"), codec.notify(cancelled)]

    methods = [json.loads(each)["method"] for each in sent]
    assert methods == ["session/cancel", "_acme/mirror", "session/cancel"]


def test_a_result_must_have_the_type_of_its_method() -> None:
    codec = agent()
    request = codec.read(line(id=1, method="session/new", params=NEW_SESSION))
    assert isinstance(request, Request)

    for result, kind in (
        (None, "NoneType"),
        ({"sessionId": "s"}, "dict"),
        (v1.LoadSessionResponse(), "v1.LoadSessionResponse"),
        (v2.NewSessionResponse(session_id="s"), "v2.NewSessionResponse"),
        (v1.NewSessionResponse, "the class v1.NewSessionResponse"),
    ):
        with pytest.raises(TypeError) as raised:
            codec.respond(request, result)
        assert str(raised.value) == f"the result of session/new must be NewSessionResponse, not {kind}"


def test_a_request_that_cannot_be_encoded_is_not_pending() -> None:
    codec = client()
    params = v1.NewSessionRequest(cwd="/", mcp_servers=[])
    params.mcp_servers.append("no server")  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError):
        codec.request(params)
    assert dict(codec.pending) == {}


def test_notifications_of_the_earlier_version_are_refused_after_a_change() -> None:
    codec = Codec(v1, role="agent")
    told = v1.SessionNotification(session_id="s", update=v1.AgentMessageChunk(content=v1.TextContent(text="hello")))
    assert codec.notify(told) == codec.notify(told, method="session/update") == codec.notify(told)
    codec.protocol = v2
    with pytest.raises(TypeError, match=r"takes v1\.SessionNotification; the negotiated version is v2$"):
        codec.notify(told)
