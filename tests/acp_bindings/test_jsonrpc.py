"""The JSON-RPC codec: what every kind of line is read as, what is answered, and what is written."""

import copy
import importlib
import io
import json
import math
import pickle
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import jsonschema_rs
import pytest
from pydantic import ValidationError

from acp_bindings import DecodeError, EncodeError, v1, v1_unstable, v2, v2_unstable
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    BadLine,
    BadResponse,
    Codec,
    ErrorResponse,
    Notification,
    ProtocolPackage,
    Request,
    Response,
    Role,
)
from acp_bindings.methods import Methods, Side
from tests.acp_bindings.schemas import PACKAGES, load

NEW_SESSION: dict[str, Any] = {"cwd": "/project", "mcpServers": []}


def line(**members: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **members})


def agent(protocol: ProtocolPackage = v1) -> Codec:
    return Codec(protocol, role="agent")


def client(protocol: ProtocolPackage = v1) -> Codec:
    return Codec(protocol, role="client")


def answered(message: object) -> Any:
    """The answer that is due to a bad line."""
    assert isinstance(message, BadLine)
    assert message.reply is not None
    assert message.reply.endswith(b"\n")
    return json.loads(message.reply)


class TestCalls:
    def test_a_request_has_its_id_and_its_params_as_an_object(self) -> None:
        request = agent().read(line(id=7, method="session/new", params=NEW_SESSION))

        assert request == Request(7, "session/new", v1.NewSessionRequest(cwd="/project", mcp_servers=[]))
        assert isinstance(request, Request)
        assert request.type is v1.METHODS["session/new"].request

    def test_a_notification_has_none(self) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
        notification = client().read(line(method="session/update", params={"sessionId": "s", "update": update}))

        chunk = v1.AgentMessageChunk(content=v1.TextContent(text="Hi"))
        assert notification == Notification("session/update", v1.SessionNotification(session_id="s", update=chunk))

    @pytest.mark.parametrize("end", ["", "\n", "\r\n"])
    def test_a_line_may_be_text_or_bytes_with_or_without_its_end(self, end: str) -> None:
        text = line(id=0, method="session/list", params={"cwd": "/é"}) + end
        expected = Request(0, "session/list", v1.ListSessionsRequest(cwd="/é"))

        assert [agent().read(each) for each in (text, text.encode(), bytearray(text.encode()))] == [expected] * 3

    @pytest.mark.parametrize("id_", [0, -1, 2**63 - 1, "", "0", "é\u2028", None])
    def test_every_id_of_the_protocol_comes_back_as_it_came(self, id_: Any) -> None:
        codec = agent()
        request = codec.read(line(id=id_, method="logout", params={}))

        assert isinstance(request, Request)
        assert json.loads(codec.respond(request, v1.LogoutResponse())) == {"jsonrpc": "2.0", "id": id_, "result": {}}

    @pytest.mark.parametrize("id_", [True, 1.0, 1.5, 2**63, -(2**63) - 1, [], {}])
    def test_what_is_no_id_is_answered_with_null(self, id_: Any) -> None:
        refused = agent().read(line(id=id_, method="logout", params={}))

        assert answered(refused) == error(
            None, INVALID_REQUEST, "Invalid request: it has no valid id, an integer or a string"
        )

    def test_null_is_no_id_in_v2(self) -> None:
        refused = agent(v2).read(line(id=None, method="session/list", params={}))

        assert answered(refused)["error"]["code"] == INVALID_REQUEST

    @pytest.mark.parametrize("params", [{}, {"params": None}, {"params": {}}])
    def test_no_params_are_empty_ones(self, params: Any) -> None:
        assert agent().read(line(id=1, method="logout", **params)) == Request(1, "logout", v1.LogoutRequest())

    def test_a_method_may_be_a_request_here_and_a_notification_there(self) -> None:
        message = {"serverId": "s", "requestId": "r", "method": "tools/list"}

        request = client(v1_unstable).read(line(id=1, method="mcp/message", params=message))
        refused = agent(v1_unstable).read(line(id=1, method="mcp/message", params=message))
        notification = agent(v1_unstable).read(line(method="mcp/message", params=message))

        assert isinstance(request, Request)
        assert isinstance(request.params, v1_unstable.MessageMcpRequest)
        assert answered(refused)["error"]["code"] == METHOD_NOT_FOUND
        assert isinstance(notification, Notification)
        assert isinstance(notification.params, v1_unstable.MessageMcpNotification)

    def test_the_params_of_a_union_are_one_of_its_classes(self) -> None:
        params = {"sessionId": "s", "configId": "c", "type": "boolean", "value": True}
        request = agent().read(line(id=1, method="session/set_config_option", params=params))

        assert isinstance(request, Request)
        assert isinstance(request.params, v1.SetSessionConfigOptionRequestBoolean)

    def test_cancelling_comes_from_either_side(self) -> None:
        for codec in (agent(), client()):
            notification = codec.read(line(method="$/cancel_request", params={"requestId": 0}))
            assert notification == Notification("$/cancel_request", v1.CancelRequestNotification(request_id=0))

    def test_extension_methods_pass_through(self) -> None:
        for codec in (agent(), client()):
            assert codec.read(line(id=1, method="_acme/do", params=[1, {"a": None}])) == Request(
                1, "_acme/do", [1, {"a": None}]
            )
            assert codec.read(line(method="_acme/did")) == Notification("_acme/did", None)


def error(id_: Any, code: int, message: str, **data: Any) -> Any:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message, **data}}


class TestBadLines:
    @pytest.mark.parametrize(
        ("text", "code", "id_"),
        [
            ("{", PARSE_ERROR, None),
            ("nonsense", PARSE_ERROR, None),
            ('{"jsonrpc":"2.0","id":1,"method":"logout"} trailing', PARSE_ERROR, None),
            ('{"jsonrpc":"2.0","id":1,"method":"logout","params":{"a":NaN}}', PARSE_ERROR, None),
            ('{"jsonrpc":"2.0","id":1,"method":"logout","params":{"a":"\\ud800"}}', PARSE_ERROR, None),
            (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR, None),
            ("\ud800", PARSE_ERROR, None),
            ("[" * 100_000, PARSE_ERROR, None),
            ("[]", INVALID_REQUEST, None),
            ('[{"jsonrpc":"2.0","id":1,"method":"logout"}]', INVALID_REQUEST, None),
            ("5", INVALID_REQUEST, None),
            ("null", INVALID_REQUEST, None),
            ('"logout"', INVALID_REQUEST, None),
            ("{}", INVALID_REQUEST, None),
            ('{"id":1,"method":"logout"}', INVALID_REQUEST, 1),
            ('{"jsonrpc":"1.0","id":1,"method":"logout"}', INVALID_REQUEST, 1),
            ('{"jsonrpc":2.0,"id":"x","method":"logout"}', INVALID_REQUEST, "x"),
            ('{"jsonrpc":"2.0","id":1,"method":5}', INVALID_REQUEST, 1),
            ('{"jsonrpc":"2.0","method":null,"params":{}}', INVALID_REQUEST, None),
            ('{"jsonrpc":"2.0","id":1,"method":"no/such"}', METHOD_NOT_FOUND, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"","params":{}}', METHOD_NOT_FOUND, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}', METHOD_NOT_FOUND, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}', METHOD_NOT_FOUND, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{}}', METHOD_NOT_FOUND, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"session/prompt"}', INVALID_PARAMS, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"logout","params":[]}', INVALID_PARAMS, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"logout","params":"x"}', INVALID_PARAMS, 1),
            ('{"jsonrpc":"2.0","id":1,"method":"logout","params":"{}"}', INVALID_PARAMS, 1),
        ],
    )
    def test_a_bad_line_is_answered_and_the_next_is_read(self, text: str | bytes, code: int, id_: Any) -> None:
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
            ("5", INVALID_REQUEST, "Invalid request: a message is an object"),
            ("{}", INVALID_REQUEST, 'Invalid request: it lacks "jsonrpc": "2.0"'),
            ('{"jsonrpc":"2.0"}', INVALID_REQUEST, "Invalid request: it has no method"),
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
                "Method not found: session/update is for the client, which this is not",
            ),
            (line(id=1, methd="logout", params={}), INVALID_REQUEST, "Invalid request: it has no method"),
            (line(id=1, method="session/prompt"), INVALID_PARAMS, "Invalid params: there are none"),
            (line(id=1, method="session/prompt", params={}), INVALID_PARAMS, "Invalid params"),
        ],
    )
    def test_a_bad_line_says_what_is_wrong(self, text: str, code: int, message: str) -> None:
        refused = agent().read(text)

        assert isinstance(refused, BadLine)
        assert (refused.code, refused.message) == (code, message)
        if refused.reply:
            said = answered(refused)["error"]
            assert (said["code"], said["message"]) == (code, message)

    def test_a_batch_is_refused_as_one(self) -> None:
        refused = agent().read(
            '[{"jsonrpc":"2.0","id":1,"method":"logout"},{"jsonrpc":"2.0","id":2,"method":"logout"}]'
        )

        assert answered(refused) == error(None, INVALID_REQUEST, "Invalid request: batches are not supported")

    def test_bad_params_are_named_in_the_answer_without_their_values(self) -> None:
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
    def test_a_notification_is_never_answered(self, method: str, params: Any) -> None:
        refused = agent().read(line(method=method, params=params))

        assert isinstance(refused, BadLine)
        assert (refused.reply, refused.method) == (None, method)

    @pytest.mark.parametrize("text", ["", "\n", " \r\n", b"", b"\n"])
    def test_an_empty_line_says_nothing(self, text: str | bytes) -> None:
        assert agent().read(text) == BadLine(PARSE_ERROR, "The line is empty", None)

    @pytest.mark.parametrize("package", PACKAGES)
    def test_every_answer_is_an_error_by_the_schema(self, package: str) -> None:
        schema = load(package).document
        validator = jsonschema_rs.validator_for({**schema, "anyOf": [{"$ref": "#/$defs/Error"}]})
        codec = agent(importlib.import_module(f"acp_bindings.{package}"))  # pyright: ignore[reportArgumentType]

        for text in ("{", "[]", line(id=1, method="x"), line(id=1, method="session/new", params={"cwd": 5})):
            assert validator.is_valid(answered(codec.read(text))["error"])


class TestResponses:
    def test_a_response_is_read_as_what_its_request_is_answered_with(self) -> None:
        codec = client()
        sent = codec.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

        assert json.loads(sent.line) == {"jsonrpc": "2.0", "id": 0, "method": "session/new", "params": NEW_SESSION}
        assert dict(codec.pending) == {0: "session/new"}
        assert codec.read(line(id=0, result={"sessionId": "s"})) == Response(
            0, "session/new", v1.NewSessionResponse(session_id="s")
        )
        assert dict(codec.pending) == {}

    def test_what_was_sent_finds_its_result_in_its_own_response_alone(self) -> None:
        codec = client()
        new, logout = (
            codec.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[])),
            codec.request(v1.LogoutRequest()),
        )
        response = codec.read(line(id=0, result={"sessionId": "s"}))
        assert isinstance(response, Response)

        assert new.result_in(response).session_id == "s"
        with pytest.raises(ValueError, match=r"^the response to 1 is wanted, not that to 0$"):
            logout.result_in(response)

    def test_ids_are_matched_by_type_and_value_in_any_order(self) -> None:
        codec = client()
        ids = [codec.request(v1.LogoutRequest(), id=each).id for each in (0, "0", "", None, 1, "null")]

        for id_ in reversed(ids):
            assert codec.read(line(id=id_, result={})) == Response(id_, "logout", v1.LogoutResponse())
        assert dict(codec.pending) == {}

    @pytest.mark.parametrize("id_", [1, "1", None, False, 0.5, [0], {"a": 0}])
    def test_an_answer_to_nothing_is_left_unanswered(self, id_: Any) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())

        assert codec.read(line(id=id_, result={})) == BadLine(
            INVALID_REQUEST, "It answers no request that is open", None
        )
        assert codec.read(line(id=id_ or 5, error={"code": 1, "message": "m"})) == BadLine(
            INVALID_REQUEST, "It answers no request that is open", None
        )
        assert dict(codec.pending) == {0: "logout"}

    @pytest.mark.parametrize("id_", [1, "1", False, 0.5, [0], {"a": 0}])
    def test_what_has_an_id_alone_is_an_answer(self, id_: Any) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())

        late = codec.read(line(id=id_))

        assert isinstance(late, BadLine)
        assert (late.message, late.reply) == ("It answers no request that is open", None)
        assert dict(codec.pending) == {0: "logout"}

    @pytest.mark.parametrize("members", [{}, {"resutl": {}}])
    def test_what_has_the_id_of_an_open_request_is_its_answer(self, members: dict[str, Any]) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())

        assert isinstance(codec.read(line(id=0, **members)), BadResponse)
        assert dict(codec.pending) == {}

    @pytest.mark.parametrize(
        ("id_", "members"), [(0, {"params": {}}), (0, {"methd": "logout", "params": {}}), (1, {"methd": "logout"})]
    )
    def test_a_request_without_its_method_is_refused(self, id_: int, members: dict[str, Any]) -> None:
        """Nobody would know otherwise why it is never answered."""
        codec = client()
        codec.request(v1.LogoutRequest())

        assert answered(codec.read(line(id=id_, **members))) == error(
            id_, INVALID_REQUEST, "Invalid request: it has no method"
        )
        assert dict(codec.pending) == {0: "logout"}

    @pytest.mark.parametrize(
        ("own", "id_", "said"), [(0, "0", '"0"'), (0, 0.0, "0.0"), ("7", 7, "7"), (None, "None", '"None"')]
    )
    def test_an_answer_to_nothing_tells_which_request_it_seems_to_be_of(self, own: Any, id_: Any, said: str) -> None:
        codec = client()
        codec.request(v1.LogoutRequest(), id=own)
        right = json.dumps(own)

        message = codec.read(line(id=id_, result={}))

        issue = Issue(("id",), "id_type", f"{said} is no id of ours; that of logout is {right}")
        assert message == BadLine(INVALID_REQUEST, "It answers no request that is open", None, issues=(issue,))
        assert dict(codec.pending) == {own: "logout"}
        assert isinstance(codec.read(line(id=own, result={})), Response)

    def test_of_an_answer_to_nothing_not_all_that_are_open_are_looked_at(self) -> None:
        spelt: list[int] = []

        class Own(int):
            def __str__(self) -> str:
                spelt.append(int(self))
                return super().__str__()

        codec = client()
        for number in range(1000):
            codec.expect("logout", Own(number))

        message = codec.read(line(id="999", result={}))

        assert isinstance(message, BadLine)
        assert message.issues[0].message == '"999" is no id of ours; that of logout is 999'
        assert isinstance(codec.read(line(id="0999", result={})), BadLine)
        assert not spelt

    def test_a_second_answer_is_one_to_nothing(self) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())
        codec.read(line(id=0, result={}))

        assert isinstance(codec.read(line(id=0, result={})), BadLine)

    def test_null_is_the_empty_result(self) -> None:
        codec = client()
        codec.request(v1.LoadSessionRequest(cwd="/", mcp_servers=[], session_id="s"))

        assert codec.read(line(id=0, result=None)) == Response(0, "session/load", v1.LoadSessionResponse())

    def test_an_error_is_one_of_the_protocol(self) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())

        failed = codec.read(line(id=0, error={"code": -32000, "message": "Log in", "data": {"a": 1}}))

        assert failed == ErrorResponse(0, "logout", v1.Error(code=-32000, message="Log in", data={"a": 1}))

    def test_what_the_peer_could_not_read_it_says_without_an_id(self) -> None:
        complaint = {"code": PARSE_ERROR, "message": "Parse error"}
        expected = ErrorResponse(None, None, v1.Error(code=PARSE_ERROR, message="Parse error"))

        assert client().read(line(id=None, error=complaint)) == expected
        assert client().read(line(error=complaint)) == expected

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ({"jsonrpc": "2.0", "id": 0}, "it has neither a result nor an error"),
            ({"jsonrpc": "2.0", "id": 0, "error": None}, "it has neither a result nor an error"),
            (
                {"jsonrpc": "2.0", "id": 0, "result": {}, "error": {"code": 1, "message": ""}},
                "it has both a result and an error",
            ),
            ({"id": 0, "result": {"sessionId": "s"}}, 'it lacks "jsonrpc": "2.0"'),
            ({"jsonrpc": "2.0", "id": 0, "result": {}}, "its result is no NewSessionResponse"),
            ({"jsonrpc": "2.0", "id": 0, "result": '{"sessionId": "s"}'}, "its result is no NewSessionResponse"),
            ({"jsonrpc": "2.0", "id": 0, "result": None}, "its result is no NewSessionResponse"),
            ({"jsonrpc": "2.0", "id": 0, "error": "bad"}, "its error is no Error"),
            ({"jsonrpc": "2.0", "id": 0, "error": {"message": "x"}}, "its error is no Error"),
        ],
    )
    def test_a_bad_answer_ends_its_request_too(self, answer: Any, message: str) -> None:
        codec = client()
        codec.request(v1.NewSessionRequest(cwd="/", mcp_servers=[]))

        bad = codec.read(json.dumps(answer))

        assert isinstance(bad, BadResponse)
        assert (bad.id, bad.method, bad.message) == (0, "session/new", message)
        assert dict(codec.pending) == {}

    def test_a_peer_may_write_the_other_member_as_null(self) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())
        codec.request(v1.LogoutRequest())

        assert isinstance(codec.read(line(id=0, result={}, error=None)), Response)
        assert isinstance(codec.read(line(id=1, result=None, error={"code": 1, "message": "m"})), ErrorResponse)

    def test_an_extension_is_answered_with_any_json(self) -> None:
        codec = agent()
        sent = codec.request({"a": 1}, method="_acme/do")

        assert json.loads(sent.line) == {"jsonrpc": "2.0", "id": 0, "method": "_acme/do", "params": {"a": 1}}
        assert codec.read(line(id=0, result=[None, 1.5])) == Response(0, "_acme/do", [None, 1.5])

    @pytest.mark.parametrize("result", [None, 0, "{}", [None, 1.5], v1.LogoutResponse()])
    def test_an_extension_of_the_peer_is_answered_with_any_json_too(self, result: Any) -> None:
        codec = agent()
        request = codec.read(line(id=1, method="_acme/do"))

        assert isinstance(request, Request)
        written: Any = {} if result == v1.LogoutResponse() else result
        assert json.loads(codec.respond(request, result)) == {"jsonrpc": "2.0", "id": 1, "result": written}


class TestWriting:
    def test_a_notification_names_its_method_by_its_params(self) -> None:
        written = client().notify(v1.CancelNotification(session_id="s"))

        assert written == b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n'

    def test_an_extension_may_have_no_params(self) -> None:
        assert agent().notify(method="_acme/did") == b'{"jsonrpc":"2.0","method":"_acme/did"}\n'

    def test_so_may_what_an_extension_asks(self) -> None:
        sent = agent().request(method="_acme/ask")

        assert sent.line == b'{"jsonrpc":"2.0","id":0,"method":"_acme/ask"}\n'

    def test_params_without_members_are_params(self) -> None:
        assert agent().notify({}, method="_acme/did") == b'{"jsonrpc":"2.0","method":"_acme/did","params":{}}\n'

    def test_a_method_that_is_no_text_is_not_sent(self) -> None:
        codec = agent()

        with pytest.raises(EncodeError, match="Half of a surrogate pair"):
            codec.notify(method="_\ud800")
        with pytest.raises(EncodeError, match="Half of a surrogate pair"):
            codec.request(method="_\ud800")
        assert dict(codec.pending) == {}

    def test_what_is_sent_is_what_the_other_side_reads(self) -> None:
        asking, asked = client(), agent()
        params = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Ünï\n\u2028\0")])

        request = asked.read(asking.request(params).line)
        assert isinstance(request, Request)
        assert request.params == params
        response = asking.read(asked.respond(request, v1.PromptResponse(stop_reason="end_turn")))
        assert response == Response(0, "session/prompt", v1.PromptResponse(stop_reason="end_turn"))

    def test_a_request_that_was_given_up_is_still_answered(self) -> None:
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

    def test_of_a_request_that_is_forgotten_nothing_is_kept(self) -> None:
        asking = client()
        sent = asking.request(v1.LogoutRequest())

        assert asking.forget(sent.id) == "logout"
        assert dict(asking.pending) == {}
        late = asking.read(line(id=sent.id, result={}))
        assert late == BadLine(INVALID_REQUEST, "It answers no request that is open", None)
        assert asking.request(v1.LogoutRequest()).id != sent.id
        with pytest.raises(ValueError, match="no request with the id 0 is open"):
            asking.forget(sent.id)

    def test_an_error_may_carry_data(self) -> None:
        request = Request(1, "logout", v1.LogoutRequest())

        assert json.loads(agent().fail(request, -32000, "Log in", data=["x"])) == error(1, -32000, "Log in", data=["x"])

    @pytest.mark.parametrize("protocol", [v1, v2])
    def test_an_error_may_carry_data_that_the_schema_knows_as_json(self, protocol: Any) -> None:
        request = Request(1, "logout", None)
        for data in ({"requested": 1, "supported": [2]}, {"sessionId": "s"}, {"more": None}):
            sent = Codec(protocol, role="agent").fail(request, -32022, "no", data=data)
            assert json.loads(sent) == error(1, -32022, "no", data=data)

    def test_an_error_is_passed_on_as_it_came(self) -> None:
        came = error(0, -32000, "Log in", data=None, hint={"url": "u"})
        proxy = agent()
        sent = proxy.request(None, method="_acme/ask")
        failed = proxy.read(json.dumps(came))

        assert isinstance(failed, ErrorResponse)
        assert json.loads(proxy.fail(Request(sent.id, "logout", v1.LogoutRequest()), failed.error)) == came

    @pytest.mark.parametrize(("code", "message"), [("x", "m"), (2**31, "m"), (True, "m"), (1, 5), (1, None)])
    def test_what_is_no_error_is_not_sent(self, code: Any, message: Any) -> None:
        with pytest.raises(ValidationError):
            agent().fail(Request(1, "logout", v1.LogoutRequest()), code, message)

    def test_ids_that_are_open_are_not_given_again(self) -> None:
        codec = client()
        codec.request(v1.LogoutRequest(), id=1)

        assert [codec.request(v1.LogoutRequest()).id for _ in range(3)] == [0, 2, 3]
        with pytest.raises(ValueError, match="a request with the id 1 is open already"):
            codec.request(v1.LogoutRequest(), id=1)

    @pytest.mark.parametrize("id_", [True, 1.0, 2**63, [1], math.nan, "\ud800", object()])
    def test_what_is_no_id_is_not_sent(self, id_: Any) -> None:
        codec = client()

        with pytest.raises((DecodeError, EncodeError)):
            codec.request(v1.LogoutRequest(), id=id_)
        assert dict(codec.pending) == {}

    def test_null_is_no_id_for_a_request_of_v2(self) -> None:
        with pytest.raises(DecodeError):
            client(v2).request(v2.ListSessionsRequest(), id=None)

    def test_what_is_for_our_own_side_is_not_sent(self) -> None:
        with pytest.raises(ValueError, match="session/list is for the agent; the agent does not send it"):
            agent().request(v1.ListSessionsRequest())
        with pytest.raises(ValueError, match="session/update is for the client; the client does not send it"):
            client().notify(v1.SessionNotification(session_id="s", update=v1.Plan(entries=[])))

    @pytest.mark.parametrize(
        ("params", "method", "complaint"),
        [
            ({"cwd": "/", "mcpServers": []}, None, "no method that could be sent so has dict; name the method$"),
            (v1.TextContent(text="t"), None, "no method that could be sent so has v1.TextContent; name the method$"),
            (
                v1.LogoutRequest,
                None,
                "no method that could be sent so has the class v1.LogoutRequest; make an object of it$",
            ),
            ("logout", None, "no method that could be sent so has str; a method is named by method=$"),
            (
                v1_unstable.ForkSessionRequest(session_id="s", cwd="/"),
                None,
                "no method that could be sent so has v1_unstable.ForkSessionRequest; v1 is spoken$",
            ),
            (
                v2.ListSessionsRequest(),
                None,
                "no method that could be sent so has v2.ListSessionsRequest; v1 is spoken$",
            ),
            (
                v1.CancelNotification(session_id="s"),
                None,
                "no method that could be sent so has v1.CancelNotification; session/cancel is a no",
            ),
            (
                v1.LogoutRequest(),
                "session/list",
                "session/list is sent with ListSessionsRequest, not with v1.LogoutRequest",
            ),
            ({}, "session/list", "session/list is sent with ListSessionsRequest, not with dict"),
            (None, "logout", "logout is sent with LogoutRequest, not with NoneType"),
            (v1.CancelNotification(session_id="s"), "session/cancel", "session/cancel is no request"),
        ],
    )
    def test_params_of_no_method_or_of_another_are_not_sent(
        self, params: Any, method: str | None, complaint: str
    ) -> None:
        codec = client()

        with pytest.raises(TypeError, match=complaint):
            codec.request(params, method=method)
        assert dict(codec.pending) == {}

    def test_a_request_is_no_notification(self) -> None:
        with pytest.raises(
            TypeError, match=r"no method that could be sent so has v1\.LogoutRequest; logout is a request"
        ):
            client().notify(v1.LogoutRequest())
        with pytest.raises(TypeError, match="logout is no notification"):
            client().notify(v1.LogoutRequest(), method="logout")

    def test_params_that_two_methods_share_are_sent_with_the_one_that_is_named(self) -> None:
        conductor, proxy = Codec(v1_unstable, role="conductor"), Codec(v1_unstable, role="proxy")
        params = v1_unstable.InitializeProxyRequest(protocol_version=1)
        assert v1_unstable.InitializeProxyRequest is v1_unstable.InitializeRequest

        sent = conductor.request(params), conductor.request(params, method="proxy/initialize")
        requests = [proxy.read(each.line) for each in sent]

        assert requests == [Request(0, "initialize", params), Request(1, "proxy/initialize", params)]
        assert isinstance(requests[1], Request)
        response = v1_unstable.InitializeProxyResponse(protocol_version=1)
        assert conductor.read(proxy.respond(requests[1], response)) == Response(1, "proxy/initialize", response)

    def test_an_extension_may_borrow_params_of_the_protocol(self) -> None:
        codec = agent()
        sent = codec.request(v1.LogoutRequest(meta={}), method="_acme/logout")

        assert json.loads(sent.line)["params"] == {"_meta": {}}
        assert codec.read(line(id=0, result=[1])) == Response(0, "_acme/logout", [1])

    def test_a_notification_goes_by_the_name_that_it_is_given_also_when_it_went_by_its_own(self) -> None:
        codec, cancelled = client(), v1.CancelNotification(session_id="s")
        sent = [codec.notify(cancelled), codec.notify(cancelled, method="_acme/mirror"), codec.notify(cancelled)]

        methods = [json.loads(each)["method"] for each in sent]
        assert methods == ["session/cancel", "_acme/mirror", "session/cancel"]

    def test_the_answer_has_to_be_of_the_methods_type(self) -> None:
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
            assert str(raised.value) == f"session/new is answered with NewSessionResponse, not with {kind}"

    def test_what_cannot_be_encoded_leaves_no_request_open(self) -> None:
        codec = client()
        params = v1.NewSessionRequest(cwd="/", mcp_servers=[])
        params.mcp_servers.append("no server")  # pyright: ignore[reportArgumentType]

        with pytest.raises(EncodeError):
            codec.request(params)
        assert dict(codec.pending) == {}


def test_the_codes_are_those_of_json_rpc_and_of_the_protocol() -> None:
    stated = str(load("v1").definitions["ErrorCode"])

    codes = (PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, REQUEST_CANCELLED)
    assert [code for code in codes if f"'const': {code}" not in stated] == []
    assert codes == (-32700, -32600, -32601, -32602, -32603, -32800)


class TestMessages:
    def test_no_message_shows_secrets(self) -> None:
        servers = [
            {"type": "stdio", "name": "n", "command": "c", "args": [], "env": [{"name": "K", "value": "hunter2"}]}
        ]
        params: Any = {"cwd": "/", "mcpServers": servers}
        wrapped = {"method": "session/new", "params": params}
        proxy = Codec(v2_unstable, role="proxy", pass_unknown=True)
        proxy.request(method="_acme/do")
        shown = [
            proxy.request(v2_unstable.ProxySuccessorRequest(method="session/new", params=params)),
            proxy.read(line(method="_acme/did", params=[{"headers": "hunter2"}])),
            proxy.read(line(id=0, result={"env": "hunter2"})),
            proxy.read(line(id=1, error={"code": 1, "message": "m", "data": {"env": "hunter2"}})),
            *(
                proxy.read(line(id=1, method=method, params=params | wrapped))
                for method in ("session/new", "session/newer", "proxy/successor", "session/cancel", "session/delete")
            ),
        ]

        assert "hunter2" not in repr(shown)
        assert repr(shown[0]) == "Sent(id=1, line=…)"
        assert repr(shown[1]) == "Notification(method='_acme/did', params=[{'headers': '…'}])"
        assert repr(shown[2]) == "Response(id=0, method='_acme/do', result={'env': '…'})"
        assert [type(each) for each in shown[3:]] == [ErrorResponse, Request, Request, Request, BadLine, BadLine]

    def test_messages_can_be_pickled_and_copied(self) -> None:
        params = {"sessionId": "s", "configId": "c", "type": "boolean", "value": True}
        request = agent().read(line(id=1, method="session/set_config_option", params=params))

        assert pickle.loads(pickle.dumps(request)) == copy.deepcopy(request) == request


class TestRoles:
    @pytest.mark.parametrize(
        ("role", "peer", "sides"),
        [
            ("agent", "client", "agent both protocol"),
            ("client", "agent", "client both protocol"),
            ("proxy", "conductor", "agent proxy both protocol"),
            ("conductor", "proxy", "client proxy both protocol"),
        ],
    )
    def test_each_role_handles_its_sides_and_its_peer_sends_to_them(self, role: Role, peer: Role, sides: str) -> None:
        every: list[Side] = ["agent", "both", "client", "protocol", "proxy"]
        types: dict[str, tuple[Side, str, str]] = {side: (side, "LogoutRequest", "LogoutResponse") for side in every}
        protocol: Any = SimpleNamespace(
            METHODS=Methods("acp_bindings.v1.methods", requests=types, notifications={}),
            Error=v1.Error,
            RequestId=v1.RequestId,
        )
        here, there = Codec(protocol, role=role), Codec(protocol, role=peer)

        read = {side: here.read(line(id=1, method=side, params={})) for side in every}

        assert {side for side, message in read.items() if isinstance(message, Request)} == set(sides.split())
        for side, message in read.items():
            if isinstance(message, Request):
                assert here.read(there.request(v1.LogoutRequest(), method=side, id=1).line) == message
                there.read(here.respond(message, v1.LogoutResponse()))
            else:
                assert answered(message)["error"]["code"] == METHOD_NOT_FOUND
                with pytest.raises(ValueError, match=f"{side} is for the {side}; the {peer} does not send it"):
                    there.request(v1.LogoutRequest(), method=side)

    def test_proxies_and_conductors_send_to_each_other(self) -> None:
        params = v2_unstable.ProxySuccessorRequest(method="session/list")

        pairs: list[tuple[Role, Role]] = [("proxy", "conductor"), ("conductor", "proxy")]
        for here, there in pairs:
            sent = Codec(v2_unstable, role=here).request(params)
            assert isinstance(Codec(v2_unstable, role=there).read(sent.line), Request)

    @pytest.mark.parametrize("result", [None, 5, {"a": [1.5]}, v1_unstable.LogoutResponse()])
    def test_what_is_forwarded_is_answered_with_whatever_the_answer_was(self, result: Any) -> None:
        proxy, conductor = Codec(v1_unstable, role="proxy"), Codec(v1_unstable, role="conductor")
        request = conductor.read(proxy.request(v1_unstable.ProxySuccessorRequest(method="logout")).line)

        assert isinstance(request, Request)
        came: Any = {} if isinstance(result, v1_unstable.LogoutResponse) else result
        assert proxy.read(conductor.respond(request, result)) == Response(0, "proxy/successor", came)

    def test_a_proxy_may_let_through_what_is_newer_than_it(self) -> None:
        codec = Codec(v1, role="proxy", pass_unknown=True)

        assert codec.read(line(id=1, method="session/teleport", params={"to": "Mars"})) == Request(
            1, "session/teleport", {"to": "Mars"}
        )
        assert codec.request({"to": "Mars"}, method="session/teleport").id == 0
        assert isinstance(codec.read(line(id=2, method="session/request_permission", params={})), BadLine)

    def test_the_protocol_may_be_settled_after_the_first_request(self) -> None:
        codec = client(v2)
        codec.request(v2.InitializeRequest(protocol_version=2, info=v2.Implementation(name="c", version="1")))
        codec.protocol = v1

        assert isinstance(
            codec.read(line(id=None, method="fs/read_text_file", params={"sessionId": "s", "path": "/"})), Request
        )
        assert codec.request(v1.LogoutRequest()).id == 1


class Quick(Codec):
    """A codec that takes no line apart."""

    def _read_value(self, value: object) -> NoReturn:
        """Fail."""
        raise AssertionError(value)


class Thorough(Codec):
    """A codec that takes every line apart."""

    def _read_quickly(self, line: bytes | bytearray) -> None:
        """Leave it."""


class TestQuickReading:
    @pytest.mark.parametrize(
        "text",
        [
            '{"jsonrpc":"2.0","id":1,"method":"logout","params":{}}',
            ' { "method" : "logout" , "id" : "x y" , "jsonrpc" : "2.0" , "params" : { "_meta" : { "a" : 1 } } } ',
            '{"id":null,"jsonrpc":"2.0","method":"session/list","params":{"cursor":null}}',
            '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","new":[1e5]}}',
        ],
    )
    def test_what_most_peers_write_is_read_at_once(self, text: str) -> None:
        message = Quick(v1, role="agent").read(text)

        assert type(message) in (Request, Notification)
        assert message == Thorough(v1, role="agent").read(text)

    @pytest.mark.parametrize("space", ["\v", "\f", "\x1f", "\x85", "\xa0", "\u2028"])
    def test_only_the_white_space_of_json_is_any(self, space: str) -> None:
        text = ' { "jsonrpc" : "2.0" , "id" : 1 , "method" : "logout" , "params" : {}}'

        for place in (at for at, each in enumerate(text) if each == " "):
            refused = agent().read(text[:place] + space + text[place + 1 :])
            assert isinstance(refused, BadLine)
            assert refused.code == PARSE_ERROR

    @pytest.mark.parametrize(
        "text", ['{"jsonrpc":"2.0","id":0,"result":{}}', ' {"id" : 0, "jsonrpc":"2.0", "result":{"a":1} }\n']
    )
    def test_so_is_a_result(self, text: str) -> None:
        read: list[object] = []
        for kind in (Quick, Thorough):
            codec = kind(v1, role="client")
            codec.request(v1.LogoutRequest())
            read.append(codec.read(text))
            assert dict(codec.pending) == {}

        assert isinstance(read[0], Response)
        assert read[0] == read[1]

    @pytest.mark.parametrize(
        ("text", "read"),
        [
            # The head says one thing, what follows another; of members with one name the last counts.
            (
                '{"jsonrpc":"2.0","id":1,"method":"logout","params":{},"id":2}',
                Request(2, "logout", v1.LogoutRequest()),
            ),
            (
                '{"jsonrpc":"2.0","method":"logout","params":{},"id":2}',
                Request(2, "logout", v1.LogoutRequest()),
            ),
            (
                '{"jsonrpc":"2.0","id":1,"method":"logout","params":{},"method":"session/list"}',
                Request(1, "session/list", v1.ListSessionsRequest()),
            ),
            (
                '{"jsonrpc":"2.0","id":1,"method":"logout","params":{},"extra":true}',
                Request(1, "logout", v1.LogoutRequest()),
            ),
            (
                '{"jsonrpc":"2.0","id":1,"method":"log\\u006fut","params":{}}',
                Request(1, "logout", v1.LogoutRequest()),
            ),
        ],
    )
    def test_a_head_that_misleads_changes_nothing(self, text: str, read: Request) -> None:
        assert agent().read(text) == read

    @pytest.mark.parametrize("head", ['"id":1,"method":"logout","params":{}', '"id":1,"result":{}'])
    @pytest.mark.parametrize(
        "tail",
        [
            *('"id":true', '"id":1.0', '"id":1e0', '"id":"1"', '"id":null', '"id":[]', f'"id":{2**63}'),
            *('"jsonrpc":"1.0"', '"jsonrpc":2.0', '"method":"session/list"', '"params":null', '"params":[]', '"x":1'),
            *('"result":null', '"result":5', '"error":null', '"error":{"code":1,"message":""}', '"params":{"a":NaN}'),
        ],
    )
    def test_what_stands_after_the_params_or_the_result_counts_as_much(self, head: str, tail: str) -> None:
        text = f'{{"jsonrpc":"2.0",{head},{tail}}}'
        read: list[object] = []
        for kind in (Codec, Thorough):
            codec = kind(v1_unstable, role="proxy")
            codec.request({}, method="_acme/do", id="1")
            codec.request(v1_unstable.ProxySuccessorRequest(method="_acme/do"), id=1)
            read.append(codec.read(text))

        assert repr(read[0]) == repr(read[1])  # 1, 1.0 and True are equal

    @pytest.mark.parametrize(
        "head", ['"id":1,"method":"logout","result"', '"id":1,"result"', '"result"', '"id":null,"result"']
    )
    def test_what_stands_before_the_result_counts_too(self, head: str) -> None:
        read: list[object] = []
        for kind in (Codec, Thorough):
            codec = kind(v1, role="client")
            codec.request(v1.LogoutRequest(), id=1)
            codec.request(v1.ListSessionsRequest(), id=None)
            read.append(codec.read(f'{{"jsonrpc":"2.0",{head}:{{"sessions":[]}}}}'))

        assert read[0] == read[1]

    def test_a_result_with_another_id_after_it_answers_that_one(self) -> None:
        codec = client()
        codec.request(v1.LogoutRequest())
        codec.request(v1.ListSessionsRequest())

        assert codec.read('{"jsonrpc":"2.0","id":0,"result":{"sessions":[]},"id":1}') == Response(
            1, "session/list", v1.ListSessionsResponse(sessions=[])
        )
        assert dict(codec.pending) == {0: "logout"}


class TestFindings:
    def test_a_codec_that_is_asked_to_says_what_reading_excused(self) -> None:
        codec = Codec(v1, role="client", findings=True)
        codec.request(v1.InitializeRequest(protocol_version=1))
        update = {"sessionUpdate": "plan", "entries": [5]}

        response = codec.read(line(id=0, result={"protocolVersion": 1, "agentCapabilities": 7}))
        notification = codec.read(line(method="session/update", params={"sessionId": "s", "update": update}))

        assert isinstance(response, Response)
        assert [(each.path, each.rule) for each in response.findings] == [(("agentCapabilities",), "default-on-error")]
        assert isinstance(notification, Notification)
        assert [each.path for each in notification.findings] == [("update", "entries", 0)]

    def test_otherwise_it_says_nothing(self) -> None:
        request = agent().read(line(id=1, method="initialize", params={"protocolVersion": 1, "clientInfo": 7}))

        assert isinstance(request, Request)
        assert request.findings == ()


class TestHeads:
    def test_a_head_that_was_seen_is_trusted_no_more_than_any(self) -> None:
        codec = client()
        update = '{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'
        head = '{"jsonrpc":"2.0","method":"session/update",'
        plan = Notification("session/update", v1.SessionNotification(session_id="s", update=v1.Plan(entries=[])))

        for _ in range(2):
            assert codec.read(f'{head}"params":{update}}}') == plan
            assert isinstance(codec.read(f'{head}"params":{update},"method":"no/such"}}'), BadLine)
            assert isinstance(codec.read(f'{head}"params":{{}}}}'), BadLine)
            assert isinstance(codec.read(f'{head}"params":{update},"id":1}}'), BadLine)

    @pytest.mark.parametrize(
        "end", ["}", "}\n", "}\r\n", "} \t\r\n", "", "\n", "}}", "}x", "}\x0b", "}\x0c", ",}", '}{"a":{}}']
    )
    def test_the_end_of_a_line_is_trusted_no_more(self, end: str) -> None:
        codec, thorough = client(), Thorough(v1, role="client")
        text = line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "new"}})
        start = text.removesuffix("}")

        for _ in range(2):
            assert codec.read(text) == thorough.read(text)
            assert codec.read(start + end) == thorough.read(start + end)

    @pytest.mark.parametrize("id_", ["0", "-1", "-0", "01", "-01", "+1", "1.0", "1e1", r'"\\"', r'"\"', '"\u00e9"'])
    def test_no_id_is_trusted_more(self, id_: str) -> None:
        codec, thorough = agent(), Thorough(v1, role="agent")
        text = f'{{"jsonrpc":"2.0","id":{id_},"method":"logout","params":{{}}}}'

        assert codec.read(text) == thorough.read(text)

    def test_heads_are_forgotten_when_another_protocol_is_spoken(self) -> None:
        codec = client(v2)
        text = line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "new"}})

        read = [codec.read(text)]
        codec.protocol = v1
        read.append(codec.read(text))

        types: list[Any] = [type(each.params) for each in read if isinstance(each, Notification)]
        assert types == [v2.UpdateSessionNotification, v1.SessionNotification]

    def test_lines_whose_heads_take_turns_are_told_apart(self) -> None:
        codec, thorough = client(), Thorough(v1, role="client")
        update = '{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'
        texts = [
            f'{{"jsonrpc":"2.0","method":"session/update","params":{update}}}',
            f'{{ "method": "session/update", "jsonrpc": "2.0", "params" : {update} }}',
            '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
            f'{{"jsonrpc":"2.0","method":"session/update","params":{update},"params":{{}}}}',
        ]

        for text in [*texts, *texts]:
            assert [codec.read(text), codec.read(text.encode())] == [thorough.read(text)] * 2

    @pytest.mark.parametrize(
        "odd",
        ['"_meta":5', '"_meta":{"a":NaN}', '"_meta":-Infinity', '"new":[{"a":1e999}]', '"update":{}', '"a":"\ud800"'],
    )
    def test_what_is_odd_behind_a_head_that_was_seen_before_is_read_as_ever(self, odd: str) -> None:
        codec, thorough = client(), Thorough(v1, role="client")
        text = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"x"}%s}}'

        assert codec.read(text % "") == thorough.read(text % "")
        assert codec.read(text % f",{odd}") == thorough.read(text % f",{odd}")

    def test_findings_can_be_asked_for_at_any_time(self) -> None:
        codec = agent()
        text = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","_meta":5}}'

        before = codec.read(text)
        codec.findings = True
        after = codec.read(text)

        assert isinstance(before, Notification)
        assert isinstance(after, Notification)
        assert before.findings == ()
        assert [finding.path for finding in after.findings] == [("_meta",)]

    def test_no_long_head_is_remembered(self) -> None:
        codec = agent()
        text = f'{{"jsonrpc":"2.0",{" " * 10**6}"method":"session/cancel","params":{{"sessionId":"s"}}}}'

        assert isinstance(codec.read(text), Notification)
        assert codec._last_head is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("protocol", ["v1", 1, [v1, v2], None, v1.METHODS])
def test_what_is_no_protocol_package_is_refused(protocol: Any) -> None:
    told = r"^protocol is a package, such as acp_bindings\.v1, or setup\.OPENING until one is settled on, and no "
    with pytest.raises(TypeError, match=told + type(protocol).__name__ + "$"):
        Codec(protocol, role="agent")
    codec = agent()
    with pytest.raises(TypeError, match=told):
        codec.protocol = protocol
    assert codec.protocol is v1


@pytest.mark.parametrize("role", ["server", "", None, v1])
def test_there_are_four_roles(role: Any) -> None:
    with pytest.raises(ValueError, match=r"^role is agent or client or proxy or conductor, and nothing else$"):
        Codec(v1, role=role)


@pytest.mark.parametrize("given", [{"jsonrpc": "2.0"}, None, 5, [b"{}"], io.StringIO("{}")])
def test_what_is_no_line_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=f"^a line is text or bytes, and no {type(given).__name__}$"):
        agent().read(given)


def test_a_line_may_be_any_bytes() -> None:
    text = line(id=1, method="logout").encode()
    for each in (bytearray(text), cast("Any", memoryview(text))):
        assert agent().read(each) == Request(1, "logout", v1.LogoutRequest())


def test_who_looks_on_reads_the_answers_to_requests_that_it_did_not_write() -> None:
    onlooker = client()
    onlooker.expect("session/new", 5)
    onlooker.expect("_acme/do", "x")
    assert onlooker.pending == {5: "session/new", "x": "_acme/do"}
    answer = onlooker.read(line(id=5, result={"sessionId": "s"}))
    assert answer == Response(5, "session/new", v1.NewSessionResponse(session_id="s"))
    assert onlooker.read(line(id="x", result=[1])) == Response("x", "_acme/do", [1])
    assert isinstance(onlooker.read(line(id=5, result={})), BadLine)


def test_a_request_that_is_expected_takes_the_place_of_one_with_its_id() -> None:
    onlooker = client()
    onlooker.expect("session/new", 5)
    onlooker.expect("session/prompt", 5)
    answer = onlooker.read(line(id=5, result={"stopReason": "end_turn"}))
    assert answer == Response(5, "session/prompt", v1.PromptResponse(stop_reason="end_turn"))


def test_a_notification_of_another_version_is_refused_once_that_is_no_longer_spoken() -> None:
    codec = Codec(v1, role="agent")
    told = v1.SessionNotification(session_id="s", update=v1.AgentMessageChunk(content=v1.TextContent(text="hello")))
    assert codec.notify(told) == codec.notify(told, method="session/update") == codec.notify(told)
    codec.protocol = v2
    with pytest.raises(TypeError, match=r"so has v1\.SessionNotification; v2 is spoken$"):
        codec.notify(told)
