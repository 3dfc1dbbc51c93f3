"""Requirements for the generated types of sessions, in JSON and in Python."""

import traceback
from typing import Any, get_args

import pytest

from acp_bindings import DecodeError, decode, encode, v1, v2
from tests.acp_bindings.setup.peers import FIRST, SECOND, issues

SECRET = "hunter2-hunter2"
PAIRS = [{"name": "TOKEN", "value": SECRET}]


@pytest.mark.requirement("R47")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_the_response_to_session_new_requires_an_id(protocol: Any) -> None:
    assert issues(protocol.NewSessionResponse, {}) == {("sessionId",)}
    assert issues(protocol.NewSessionResponse, {"sessionId": 5}) == {("sessionId",)}
    assert decode(protocol.NewSessionResponse, {"sessionId": ""}).session_id == ""


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("protocol", FIRST)
def test_modes_are_of_v1_and_lenient(protocol: Any) -> None:
    modes: Any = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]}
    read = decode(protocol.NewSessionResponse, {"sessionId": "s", "modes": modes}).modes
    assert [each.id for each in read.available_modes] == ["ask"]
    assert decode(protocol.NewSessionResponse, {"sessionId": "s", "modes": {"currentModeId": "ask"}}).modes is None


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("protocol", SECOND)
def test_v2_does_not_have_modes(protocol: Any) -> None:
    assert "modes" not in protocol.NewSessionResponse.model_fields
    assert "session/set_mode" not in protocol.METHODS


@pytest.mark.requirement("R49", "R68")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_a_session_id_is_a_string_that_is_preserved(protocol: Any) -> None:
    assert protocol.SessionId is str
    for id_ in ("Sess_1 ", "", "0B0E7D9C", "session-é"):
        assert decode(protocol.CloseSessionRequest, {"sessionId": id_}).session_id == id_
    for method in ("session/prompt", "session/cancel", "session/resume", "session/close"):
        known = protocol.METHODS[method]
        assert "session_id" in (known.request or known.notification).params.model_fields


@pytest.mark.requirement("R53", "R56", "R63", "R64", "R67")
@pytest.mark.parametrize("protocol", FIRST)
def test_a_load_requires_and_writes_id_directory_and_servers(protocol: Any) -> None:
    assert issues(protocol.LoadSessionRequest, {}) == {("cwd",), ("mcpServers",), ("sessionId",)}
    request = protocol.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[])
    assert decode(dict[str, Any], encode(request)) == {"sessionId": "s", "cwd": "/", "mcpServers": []}
    assert decode(protocol.LoadSessionRequest, encode(request)) == request


@pytest.mark.requirement("R53")
@pytest.mark.parametrize("protocol", SECOND)
def test_v2_does_not_have_session_load(protocol: Any) -> None:
    assert "session/load" not in protocol.METHODS
    assert not hasattr(protocol, "LoadSessionRequest")


@pytest.mark.requirement("R45", "R66")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_a_new_session_requires_a_directory_and_in_v1_servers(protocol: Any) -> None:
    wanted = {("cwd",), ("mcpServers",)} if protocol in FIRST else {("cwd",)}
    assert issues(protocol.NewSessionRequest, {}) == wanted
    assert decode(protocol.NewSessionRequest, {"cwd": "/", "mcpServers": None}).mcp_servers == []


@pytest.mark.requirement("R59")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_an_update_is_a_notification(protocol: Any) -> None:
    update = protocol.METHODS["session/update"]
    assert update.request is None
    assert update.notification.side == "client"


@pytest.mark.requirement("R61")
@pytest.mark.parametrize("protocol", FIRST)
def test_the_response_to_a_load_may_be_null(protocol: Any) -> None:
    empty = protocol.LoadSessionResponse()
    assert decode(protocol.LoadSessionResponse, None) == decode(protocol.LoadSessionResponse, b"null") == empty
    assert decode(protocol.LoadSessionResponse, {}) == empty
    assert encode(empty) == b"{}"


@pytest.mark.requirement("R98")
def test_the_response_to_a_load_may_have_modes_and_unknown_fields() -> None:
    raw: Any = {"modes": {"currentModeId": "ask", "availableModes": []}, "models": {"currentModelId": "opus"}}
    response = decode(v1.LoadSessionResponse, raw)
    assert response.modes is not None
    assert response.modes.current_mode_id == "ask"
    assert decode(dict[str, Any], encode(response)) == raw


@pytest.mark.requirement("R65")
@pytest.mark.parametrize("meta", [None, {}, {"cwd": "/elsewhere", "mcpServers": 5, "a": {"b": [None]}}])
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_meta_is_opaque(protocol: Any, meta: Any) -> None:
    raw: dict[str, Any] = {"cwd": "/", "mcpServers": [], "_meta": meta}
    request = decode(protocol.NewSessionRequest, raw)
    assert (request.cwd, request.mcp_servers, request.meta) == ("/", [], meta)
    assert decode(dict[str, Any], encode(request)) == raw


@pytest.mark.requirement("R76", "R77", "R80", "R84")
@pytest.mark.parametrize("protocol", FIRST)
def test_in_v1_lists_of_a_server_are_required_but_nullable(protocol: Any) -> None:
    stdio: Any = {"name": "s", "command": "/s"}
    assert issues(protocol.McpServer, stdio) == {("args",), ("env",)}
    assert decode(protocol.McpServer, stdio | {"args": None, "env": None}).env == []
    for type_ in ("http", "sse"):
        remote: Any = {"type": type_, "name": "h", "url": "https://h"}
        assert issues(protocol.McpServer, remote) == {("headers",)}
        assert decode(protocol.McpServer, remote | {"headers": None}).headers == []


@pytest.mark.requirement("R76", "R77", "R80", "D3")
@pytest.mark.parametrize("protocol", SECOND)
def test_in_v2_the_lists_of_a_server_may_be_left_out(protocol: Any) -> None:
    stdio: Any = {"type": "stdio", "name": "s", "command": "/s"}
    http: Any = {"type": "http", "name": "h", "url": "https://h"}
    for said in ({}, {"args": None, "env": None}):
        read = decode(protocol.McpServer, stdio | said)
        assert (read.args, read.env) == ([], [])
    assert (
        decode(protocol.McpServer, http).headers == decode(protocol.McpServer, http | {"headers": None}).headers == []
    )
    assert decode(dict[str, Any], encode(decode(protocol.McpServer, http))) == http


@pytest.mark.requirement("R46", "R73", "D2")
@pytest.mark.parametrize("protocol", FIRST)
def test_in_v1_a_server_without_a_type_is_stdio_and_a_type_that_is_known_decides(protocol: Any) -> None:
    stdio: Any = {"name": "s", "command": "/s", "args": [], "env": []}
    for said in ({}, {"type": "stdio"}):
        read = decode(protocol.McpServer, stdio | said)
        assert type(read) is protocol.McpServerStdio
    assert decode(dict[str, Any], encode(protocol.McpServerStdio(name="s", command="/s", args=[], env=[]))) == stdio
    for type_ in ("http", "sse"):
        assert issues(protocol.McpServer, stdio | {"type": type_}) == {("url",), ("headers",)}


@pytest.mark.requirement("R46", "D2")
@pytest.mark.parametrize("protocol", SECOND)
def test_in_v2_a_server_has_a_type(protocol: Any) -> None:
    assert issues(protocol.McpServer, {"name": "s", "command": "/s"}) == {("type",)}
    written = encode(protocol.McpServerStdio(name="s", command="/s"))
    assert decode(dict[str, Any], written) == {"type": "stdio", "name": "s", "command": "/s"}


@pytest.mark.requirement("R74")
@pytest.mark.parametrize("name", ["my server", "a.b", "Dateien für Ü", "工具", "a/b", "x" * 300])
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_a_server_name_may_be_any_string(protocol: Any, name: str) -> None:
    raw: Any = {"type": "stdio", "name": name, "command": "/s", "args": [], "env": []}
    assert decode(protocol.McpServer, raw).name == name


@pytest.mark.requirement("R78", "R81")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_a_pair_has_a_name_and_a_value(protocol: Any) -> None:
    for type_ in (protocol.EnvVariable, protocol.HttpHeader):
        assert issues(type_, {}) == {("name",), ("value",)}
        assert issues(type_, {"name": "A", "value": 1}) == {("value",)}


@pytest.mark.requirement("R81")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_headers_keep_their_order_and_their_repeats(protocol: Any) -> None:
    pairs = [{"name": name, "value": "v"} for name in ("B", "a", "A", "B")]
    raw = {"type": "http", "name": "h", "url": "https://h", "headers": pairs}
    assert decode(dict[str, Any], encode(decode(protocol.McpServer, raw))) == raw


@pytest.mark.requirement("R84")
def test_sse_servers_exist_only_in_v1() -> None:
    kinds = [{each.__name__ for each in get_args(get_args(protocol.McpServer)[0])} for protocol in (v1, v2)]
    assert "McpServerSse" in kinds[0]
    assert "McpServerSse" not in kinds[1]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_requests_do_not_show_their_secrets(protocol: Any) -> None:
    servers = [
        {"type": "stdio", "name": "s", "command": "/s", "args": [], "env": PAIRS},
        {"type": "http", "name": "h", "url": "https://h", "headers": PAIRS},
        {"type": "sse", "name": "o", "url": "https://o", "headers": PAIRS},
    ]
    request = decode(protocol.NewSessionRequest, {"cwd": "/", "mcpServers": servers})
    assert len(request.mcp_servers) == 3
    assert SECRET not in repr(request) + str(request)


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("protocol", [*FIRST, *SECOND])
def test_errors_about_servers_do_not_show_secrets(protocol: Any) -> None:
    wrongs: list[Any] = [
        {"type": "stdio", "name": "s", "args": [], "env": PAIRS},
        {"type": "stdio", "name": "s", "command": "/s", "args": [], "env": {"TOKEN": SECRET}},
        {"type": "http", "name": "h", "url": "https://h", "headers": [{"name": "TOKEN", "value": [SECRET]}]},
    ]
    for wrong in wrongs:
        with pytest.raises(DecodeError) as raised:
            decode(protocol.NewSessionRequest, {"cwd": "/", "mcpServers": [wrong]}, strict=True)
        shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value.issues)
        assert SECRET not in shown
