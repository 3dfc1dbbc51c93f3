"""The meaning of the errors that an agent responds with."""

import copy
import pickle
from typing import Any

import pytest

from acp_bindings import AcpError, decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.connection import RequestFailed
from acp_bindings.setup import (
    AuthMethodRefused,
    AuthRequired,
    CapabilityNotAdvertised,
    InvalidParams,
    McpServersRefused,
    NotInitialized,
    RequestError,
    SessionNotFound,
    UnsupportedProtocolVersion,
    error_from,
    is_closed,
)
from acp_bindings.setup._paths import NotAbsolute
from acp_bindings.setup._peer import parsed
from acp_bindings.setup.errors import BadProtocolVersion, EndlessListing, RefusedServer, UnknownCapability
from tests.acp_bindings.setup.peers import agent, client


@pytest.mark.requirement("R42")
def test_error_32000_becomes_auth_required_with_the_advertised_methods() -> None:
    peer = agent(v1, auth_methods=[{"id": "browser", "name": "In the browser"}, {"id": "key", "name": "API key"}])
    error = error_from(v1.Error(code=-32000, message="Authentication required"), peer=peer)
    assert isinstance(error, AuthRequired)
    assert error.methods == peer.auth_methods
    assert str(error) == 'Authentication required (-32000); log in with "In the browser", "API key"'
    bare = error_from(v1.Error(code=-32000, message="no", data={"a": 1}))
    assert (bare.code, bare.data) == (-32000, {"a": 1})
    from_client = error_from(v1.Error(code=-32000, message="no"), peer=client())
    assert isinstance(from_client, AuthRequired)
    assert from_client.methods == ()


@pytest.mark.requirement("R95", "D20")
@pytest.mark.parametrize(
    "error",
    [
        v1.Error(code=-32002, message="Resource not found"),
        v1.Error(code=-32002, message="Resource not found", data={"uri": "session:s1"}),
        decode(v2.Error, {"code": -32002, "message": "Resource not found", "data": {"sessionId": "s1"}}),
        v1.Error(code=-32603, message="Session not found"),
        v1.Error(code=-32603, message="Could not load session"),
        v1.Error(code=-32603, message='Error: session with id "a b" was not found'),
        v1.Error(code=-32603, message="Session 0b6f1b7e-8f0f-4a3c-9d5e-0c3b8f6a2d11 not found"),
        v1.Error(code=-32603, message="Internal error", data={"details": "Session s1 not found"}),
        v1.Error(code=-32603, message="Internal error", data={"message": "COULD NOT LOAD SESSION: gone"}),
        v1.Error(code=-32603, message="Internal error", data="Session not found"),
        v1.Error(code=-32603, message="Internal error", data={"details": "No conversation found with session ID: s1"}),
        v1.Error(code=-32603, message="", data={"details": 'Invalid session identifier "s1".\n  Searched'}),
        v1.Error(code=-32603, message="", data={"details": "No previous sessions found for this project."}),
    ],
)
def test_several_errors_become_session_not_found(error: Any) -> None:
    meant = error_from(error, session_id="s1")
    assert isinstance(meant, SessionNotFound)
    assert (meant.session_id, meant.code, meant.message, meant.data) == (
        "s1",
        error.code,
        error.message,
        parsed(encode(error)).get("data"),
    )


def test_the_failure_of_a_connections_request_means_the_same() -> None:
    peer = agent(v1, auth_methods=[{"id": "browser", "name": "In the browser"}])
    locked = error_from(RequestFailed("session/new", -32000, "Authentication required"), peer=peer)
    assert isinstance(locked, AuthRequired)
    assert locked.methods == peer.auth_methods
    lost = error_from(RequestFailed("session/load", -32603, "Internal error", {"details": "Session not found"}))
    assert (type(lost), lost.code, lost.data) == (SessionNotFound, -32603, {"details": "Session not found"})
    assert type(error_from(RequestFailed("session/new", -32603, "Internal error"))) is RequestError
    assert type(error_from(RequestFailed("session/prompt", -32002, "Session not found"))) is SessionNotFound
    assert type(error_from(RequestFailed("fs/read_text_file", -32002, "Resource not found"))) is RequestError


@pytest.mark.parametrize(
    "error",
    [
        v1.Error(code=-32603, message="Internal error"),
        v1.Error(code=-32603, message="Internal error", data={"details": "file not found"}),
        v1.Error(code=-32603, message="Internal error", data=[1]),
        v1.Error(code=-32603, message="Failed to create session: claude binary not found"),
        v1.Error(code=-32603, message="session/new: MCP server command not found"),
        v1.Error(code=-32603, message="Session token not found"),
        v1.Error(code=-32603, message=f"session ok, {'x' * 90} file not found"),
        v1.Error(code=-32602, message="Session not found"),
        v1.Error(code=7, message="odd", data={"sessionId": "s1"}),
        v1.Error(code=-32002, message="Resource not found: file:///x", data={"uri": "file:///x"}),
    ],
)
def test_other_errors_become_plain_request_errors(error: Any) -> None:
    meant = error_from(error, session_id="s1")
    assert type(meant) is RequestError
    assert (meant.code, meant.message, meant.data) == (error.code, error.message, error.data)


def test_a_session_is_known_by_an_id_that_is_a_word() -> None:
    error = v1.Error(code=-32603, message="Session friday was not found")

    assert type(error_from(error, session_id="friday")) is SessionNotFound
    assert type(error_from(error, session_id="monday")) is RequestError


@pytest.mark.parametrize(
    ("data", "session_id", "found"),
    [
        ({"sessionId": "s2"}, "s1", "s2"),
        ({"sessionId": "s2"}, None, "s2"),
        ({"sessionId": 5}, None, None),
        ({"uri": "file:///x"}, None, None),
    ],
)
def test_the_session_in_the_error_data_takes_precedence(data: Any, session_id: str | None, found: str | None) -> None:
    for package in (v1, v2):
        error = error_from(
            decode(package.Error, {"code": -32002, "message": "no", "data": data}), session_id=session_id
        )
        assert type(error) is (SessionNotFound if found else RequestError)
        assert getattr(error, "session_id", None) == found


@pytest.mark.requirement("R22")
@pytest.mark.parametrize(
    ("data", "requested", "supported"),
    [
        ({"requested": 1, "supported": [3, 2]}, 1, (2, 3)),
        ({"requested": "1", "supported": ["2", 3, True]}, None, (3,)),
        ({"supported": None}, None, ()),
        (None, None, ()),
        ("2", None, ()),
    ],
)
def test_error_32022_becomes_unsupported_protocol_version(data: Any, requested: Any, supported: Any) -> None:
    error = error_from(decode(v2.Error, {"code": -32022, "message": "Unsupported protocol version", "data": data}))
    assert isinstance(error, UnsupportedProtocolVersion)
    assert (error.requested, error.answered, error.supported) == (requested, None, supported)


@pytest.mark.requirement("X2")
def test_in_v2_a_session_that_is_not_there_is_closed() -> None:
    error = error_from(v2.Error(code=-32002, message="Resource not found"), session_id="s")
    assert is_closed(error, peer=agent(v2, {"session": {}}))
    assert is_closed(error_from(v2.Error(code=-32002, message="no")), peer=agent(v2, {"session": {}}))
    assert not is_closed(error, peer=agent(v1))
    for message in ("no", "Session not found"):
        assert not is_closed(error_from(v2.Error(code=-32603, message=message)), peer=agent(v2, {"session": {}}))


REFUSALS = [
    AuthMethodRefused("id", "no", ["other"]),
    CapabilityNotAdvertised("session.load", "session/load", "no", field="f"),
    EndlessListing(3),
    McpServersRefused([RefusedServer(0, "a", "http", "mcp.http", "no")], "session/new"),
    UnknownCapability("session.laod", "session.load"),
    UnknownCapability("terminal", side="client"),
]
ERRORS = [
    RequestError(7, "odd", data={"a": 1}),
    NotInitialized("session/new"),
    BadProtocolVersion("1", "no"),
    InvalidParams("no", data={"type": "sse"}),
    UnsupportedProtocolVersion(requested=1, answered=None, supported={3, 2}),
    AuthRequired(),
    SessionNotFound("s"),
    NotAbsolute("~", "cwd", "home", "posix"),
]


@pytest.mark.parametrize("error", [*ERRORS, *REFUSALS], ids=lambda error: type(error).__name__)
def test_an_error_can_be_copied_and_sent_to_another_process(error: AcpError) -> None:
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert (str(twin), vars(twin), twin.args) == (str(error), vars(error), error.args)


HTTP = RefusedServer(0, "search", "http", "mcp.http", "not advertised")
SSE = RefusedServer(3, None, "sse", "mcp.sse", "not advertised")
TWIN = RefusedServer(1, "twin", "stdio", None, "another has this name")
ASSUME_BOTH = 'To send it anyway, pass assume={"mcp.http", "mcp.sse"}'
LEAVE_OUT = "or leave them out with on_refusal='drop'"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UnknownCapability("x"), 'unknown capability "x"'),
        (
            CapabilityNotAdvertised("session.load", None, "no"),
            'session.load: no. To send it anyway, pass assume={"session.load"}',
        ),
        (
            CapabilityNotAdvertised("session.list", "session/list", "no", field="cwd"),
            'cwd of session/list: no. To send it anyway, pass assume={"session.list"}',
        ),
        (
            McpServersRefused([HTTP, SSE, TWIN]),
            (
                "search (http): not advertised; mcpServers[3] (sse): not advertised; "
                f"twin (stdio): another has this name. {ASSUME_BOTH}; {LEAVE_OUT}"
            ),
        ),
        (McpServersRefused([TWIN]), f"twin (stdio): another has this name; {LEAVE_OUT}"),
        (AuthMethodRefused("a", "no", ["b", "c"]), 'authentication method "a": no; available: b, c'),
        (EndlessListing(3), "session/list does not end: after 3 pages the agent repeats a cursor"),
        (
            UnsupportedProtocolVersion(requested=3, answered=None, supported={2, 1}),
            "the agent does not support ACP version 3; it supports 1, 2 (-32022)",
        ),
        (
            UnsupportedProtocolVersion(requested=3, answered=None, supported=()),
            "the agent does not support ACP version 3, and did not say which versions it supports (-32022)",
        ),
        (
            UnsupportedProtocolVersion(requested=3, answered=9, supported={2, 1}),
            "the agent chose ACP version 9; the client requested 3 and supports 1, 2 (-32022)",
        ),
        (SessionNotFound(), "Session not found (-32002)"),
        (SessionNotFound("", message="gone"), 'gone (-32002): ""'),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else "",
)
def test_error_messages_include_the_known_facts(error: AcpError, told: str) -> None:
    assert str(error) == told


def test_a_session_that_is_not_there_is_named_in_the_data_unless_other_data_is_given() -> None:
    assert [SessionNotFound("s").data, SessionNotFound("").data, SessionNotFound().data] == [
        {"sessionId": "s"},
        {"sessionId": ""},
        None,
    ]
    assert SessionNotFound("s", data={"uri": "x"}).data == {"uri": "x"}
    assert str(SessionNotFound("s")) == 'Session not found (-32002): "s"'


def test_a_refusal_of_servers_is_known_by_the_capability_of_the_first() -> None:
    told = [McpServersRefused(refused, "session/new") for refused in ([HTTP, SSE], [TWIN])]
    assert [(each.capability, each.method, each.field, each.reason) for each in told] == [
        ("mcp.http", "session/new", "mcpServers", "not advertised"),
        ("mcp.stdio", "session/new", "mcpServers", "another has this name"),
    ]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_that_is_to_be_sent_fits_every_version(error: RequestError) -> None:
    packages: list[Any] = [v1, v1_unstable, v2, v2_unstable]
    for package in packages:
        sent = error.as_error(package)
        assert isinstance(sent, package.Error)
        assert ("data" in parsed(encode(sent))) == (error.data is not None)
        got = error_from(sent)
        assert (got.code, got.message, got.data) == (error.code, error.message, error.data)


def test_the_data_of_an_error_is_not_shown() -> None:
    error = error_from(v1.Error(code=-32000, message="log in", data={"token": "hunter2"}))
    assert "hunter2" not in f"{error} {error!r}"


def issue(*path: object, message: object = "Field required") -> dict[str, object]:
    return {"path": list(path), "rule": "missing", "message": message, "branch": None}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"issues": [issue("mcpServers", 0, "url")]}, ": mcpServers[0].url: Field required"),
        ({"issues": [issue("a"), issue("b")]}, ": a: Field required; b: Field required"),
        ({"issues": [issue("a")] * 3}, ": a: Field required; a: Field required; a: Field required"),
        ({"issues": [issue("a")] * 5}, ": a: Field required; a: Field required; a: Field required; 2 more"),
        ({"issues": [issue(), issue("x", {}), issue("x", message=5), 7]}, ": Field required"),
        ({"issues": [issue("a", message="two\nlines")]}, r": a: two\nlines"),
        ({"issues": {"a": "hunter2"}}, ""),
        ({"token": "hunter2"}, ""),
        (["hunter2"], ""),
        (None, ""),
    ],
)
def test_an_error_message_names_affected_fields_but_no_other_data(data: Any, told: str) -> None:
    failed = RequestFailed("session/new", -32602, "Invalid params", data)

    assert str(failed) == f"session/new: Invalid params (-32602){told}"
    assert str(error_from(failed)) == f"Invalid params (-32602){told}"
    assert failed.data == data
