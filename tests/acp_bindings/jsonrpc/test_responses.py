"""Reading responses: each is assigned to its request, even if the peer writes unusual ones."""

import json
from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import INVALID_REQUEST, PARSE_ERROR, BadLine, BadResponse, ErrorResponse, Request, Response
from tests.acp_bindings.jsonrpc.support import NEW_SESSION, agent, answered, client, error, line


def test_a_response_has_the_result_type_of_its_request() -> None:
    codec = client()
    sent = codec.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

    assert json.loads(sent.line) == {"jsonrpc": "2.0", "id": 0, "method": "session/new", "params": NEW_SESSION}
    assert dict(codec.pending) == {0: "session/new"}
    assert codec.read(line(id=0, result={"sessionId": "s"})) == Response(
        0, "session/new", v1.NewSessionResponse(session_id="s")
    )
    assert dict(codec.pending) == {}


def test_a_sent_request_recognizes_only_its_own_response() -> None:
    codec = client()
    new, logout = (
        codec.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[])),
        codec.request(v1.LogoutRequest()),
    )
    response = codec.read(line(id=0, result={"sessionId": "s"}))
    assert isinstance(response, Response)

    assert new.result_in(response).session_id == "s"
    with pytest.raises(ValueError, match=r"^expected the response to 1, not to 0$"):
        logout.result_in(response)


def test_ids_are_matched_by_type_and_value_in_any_order() -> None:
    codec = client()
    ids = [codec.request(v1.LogoutRequest(), id=each).id for each in (0, "0", "", None, 1, "null")]

    for id_ in reversed(ids):
        assert codec.read(line(id=id_, result={})) == Response(id_, "logout", v1.LogoutResponse())
    assert dict(codec.pending) == {}


@pytest.mark.parametrize("id_", [1, "1", None, False, 0.5, [0], {"a": 0}])
def test_an_unmatched_response_is_not_answered(id_: Any) -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    late = BadLine(INVALID_REQUEST, "It matches no open request", None)
    assert codec.read(line(id=id_, result={})) == late
    assert codec.read(line(id=id_ or 5, error={"code": 1, "message": "m"})) == late
    # Without a result and an error, too.
    assert codec.read(line(id=id_ or 5)) == late
    assert dict(codec.pending) == {0: "logout"}


@pytest.mark.parametrize("members", [{}, {"resutl": {}}])
def test_a_message_with_only_an_open_id_is_the_response(members: dict[str, Any]) -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    assert isinstance(codec.read(line(id=0, **members)), BadResponse)
    assert dict(codec.pending) == {}


@pytest.mark.parametrize(
    ("id_", "members"), [(0, {"params": {}}), (0, {"methd": "logout", "params": {}}), (1, {"methd": "logout"})]
)
def test_a_request_without_its_method_is_refused(id_: int, members: dict[str, Any]) -> None:
    """Otherwise nothing would explain why there is never a response."""
    codec = client()
    codec.request(v1.LogoutRequest())

    assert answered(codec.read(line(id=id_, **members))) == error(
        id_, INVALID_REQUEST, "Invalid request: it has no method"
    )
    assert dict(codec.pending) == {0: "logout"}


@pytest.mark.parametrize(("own", "id_", "said"), [(0, "0", '"0"'), ("7", 7, "7")])
def test_an_unmatched_response_names_the_request_with_a_similar_id(own: Any, id_: Any, said: str) -> None:
    codec = client()
    codec.request(v1.LogoutRequest(), id=own)
    right = json.dumps(own)

    message = codec.read(line(id=id_, result={}))

    issue = Issue(("id",), "id_type", f"{said} is not the id of an open request; the id of logout is {right}")
    assert message == BadLine(INVALID_REQUEST, "It matches no open request", None, issues=(issue,))
    assert dict(codec.pending) == {own: "logout"}
    assert isinstance(codec.read(line(id=own, result={})), Response)


def test_an_error_response_has_an_error_of_the_protocol() -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    failed = codec.read(line(id=0, error={"code": -32000, "message": "Log in", "data": {"a": 1}}))

    assert failed == ErrorResponse(0, "logout", v1.Error(code=-32000, message="Log in", data={"a": 1}))


def test_an_error_without_an_id_is_about_an_unreadable_message() -> None:
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
        ({"jsonrpc": "2.0", "id": 0, "result": {}}, "its result is not a valid NewSessionResponse"),
        ({"jsonrpc": "2.0", "id": 0, "result": '{"sessionId": "s"}'}, "its result is not a valid NewSessionResponse"),
        ({"jsonrpc": "2.0", "id": 0, "result": None}, "its result is not a valid NewSessionResponse"),
        ({"jsonrpc": "2.0", "id": 0, "error": "bad"}, "its error is not a valid Error"),
        ({"jsonrpc": "2.0", "id": 0, "error": {"code": 1, "message": 5}}, "its error is not a valid Error"),
        ({"jsonrpc": "2.0", "id": 0, "error": {"message": "Log in"}}, 'its error is not a valid Error ("Log in")'),
        (
            {"jsonrpc": "2.0", "id": 0, "error": {"code": "ENOENT", "message": "no file " * 100}},
            f'its error is not a valid Error ("{"no file " * 25}…")',
        ),
    ],
)
def test_an_invalid_response_completes_its_request(answer: Any, message: str) -> None:
    codec = client()
    codec.request(v1.NewSessionRequest(cwd="/", mcp_servers=[]))

    bad = codec.read(json.dumps(answer))

    assert isinstance(bad, BadResponse)
    assert (bad.id, bad.method, bad.message) == (0, "session/new", message)
    assert dict(codec.pending) == {}


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        ('{"a":NaN}', "expected value at line 1 column 39; JSON has no NaN or infinity"),
        ('{"a":tru}', "expected ident at line 1 column 42"),
        ('{"a":[}', "expected value at line 1 column 40"),
        ('{"a":1}}', "trailing characters at line 1 column 42"),
    ],
)
def test_a_result_that_is_not_json_completes_its_request(result: str, complaint: str) -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    bad = codec.read(f'{{"jsonrpc":"2.0","id":0,"result":{result}}}\n')

    assert bad == BadResponse(0, "logout", f"it is not JSON: {complaint}")
    assert dict(codec.pending) == {}


def test_an_error_that_is_not_json_completes_its_request() -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    bad = codec.read('{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"m","data":NaN}}')

    assert isinstance(bad, BadResponse)
    assert dict(codec.pending) == {}


def test_an_error_is_never_read_as_params() -> None:
    text = '{"jsonrpc":"2.0","id":1,"method":"session/new","error":{"cwd":"/","mcpServers":[]}}'
    assert "both a method and an error" in answered(agent().read(text))["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":0,"result":{"a":"',
        '{"jsonrpc":"2.0","id":1,"result":NaN}',
        '{"jsonrpc":"2.0","result":NaN}',
        f'{{"jsonrpc":"2.0","id":{"9" * 5000},"result":NaN}}',
        '{"jsonrpc":"2.0","id":0,"method":"logout","result":NaN}',
    ],
)
def test_a_line_that_may_not_be_a_whole_response_completes_nothing(text: str) -> None:
    codec = client()
    codec.request(v1.LogoutRequest())

    assert answered(codec.read(text))["error"]["code"] == PARSE_ERROR
    assert dict(codec.pending) == {0: "logout"}


def test_result_or_error_may_be_null_beside_the_other() -> None:
    codec = client()
    codec.request(v1.LogoutRequest())
    codec.request(v1.LogoutRequest())

    assert isinstance(codec.read(line(id=0, result={}, error=None)), Response)
    assert isinstance(codec.read(line(id=1, result=None, error={"code": 1, "message": "m"})), ErrorResponse)


def test_an_extension_request_may_get_any_json() -> None:
    codec = agent()
    sent = codec.request({"a": 1}, method="_acme/do")

    assert json.loads(sent.line) == {"jsonrpc": "2.0", "id": 0, "method": "_acme/do", "params": {"a": 1}}
    assert codec.read(line(id=0, result=[None, 1.5])) == Response(0, "_acme/do", [None, 1.5])


@pytest.mark.parametrize("result", [None, 0, "{}", [None, 1.5], v1.LogoutResponse()])
def test_an_extension_request_of_the_peer_may_be_answered_with_any_json(result: Any) -> None:
    codec = agent()
    request = codec.read(line(id=1, method="_acme/do"))

    assert isinstance(request, Request)
    written: Any = {} if result == v1.LogoutResponse() else result
    assert json.loads(codec.respond(request, result)) == {"jsonrpc": "2.0", "id": 1, "result": written}


def test_an_observer_reads_responses_to_requests_that_it_did_not_send() -> None:
    onlooker = client()
    onlooker.expect("session/new", 5)
    onlooker.expect("_acme/do", "x")
    assert onlooker.pending == {5: "session/new", "x": "_acme/do"}
    answer = onlooker.read(line(id=5, result={"sessionId": "s"}))
    assert answer == Response(5, "session/new", v1.NewSessionResponse(session_id="s"))
    assert onlooker.read(line(id="x", result=[1])) == Response("x", "_acme/do", [1])
    assert isinstance(onlooker.read(line(id=5, result={})), BadLine)


def test_an_expected_request_replaces_an_earlier_one_with_its_id() -> None:
    onlooker = client()
    onlooker.expect("session/new", 5)
    onlooker.expect("session/prompt", 5)
    answer = onlooker.read(line(id=5, result={"stopReason": "end_turn"}))
    assert answer == Response(5, "session/prompt", v1.PromptResponse(stop_reason="end_turn"))
