"""Requirements for the generated types of sessions, in JSON and in Python."""

import traceback
from typing import Any, get_args

import pytest

from acp_bindings import DecodeError, decode, encode, v1, v2
from tests.acp_bindings.setup.peers import FIRST, SECOND, issues

ALL = [*FIRST, *SECOND]
SECRET = "hunter2-hunter2"
PAIRS = [{"name": "TOKEN", "value": SECRET}]
STDIO: dict[str, Any] = {"name": "s", "command": "/s"}
STDIO_V2 = {"type": "stdio"} | STDIO
WHOLE: dict[str, Any] = STDIO | {"args": [], "env": []}
WHOLE_V2: dict[str, Any] = STDIO_V2 | WHOLE
HTTP: dict[str, Any] = {"type": "http", "name": "h", "url": "https://h"}
SSE = HTTP | {"type": "sse"}
MODES: Any = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]}


@pytest.mark.requirement(
    "R45", "R46", "R47", "R53", "R56", "R63", "R66", "R73", "R76", "R77", "R78", "R80", "R81", "R84"
)
@pytest.mark.parametrize(
    ("protocols", "type_", "raw", "wrong"),
    [
        (ALL, "NewSessionResponse", {}, "sessionId"),
        (ALL, "NewSessionResponse", {"sessionId": 5}, "sessionId"),
        (FIRST, "NewSessionRequest", {}, "cwd mcpServers"),
        (SECOND, "NewSessionRequest", {}, "cwd"),
        (FIRST, "LoadSessionRequest", {}, "cwd mcpServers sessionId"),
        (FIRST, "McpServer", STDIO, "args env"),
        (SECOND, "McpServer", STDIO, "type"),
        (FIRST, "McpServer", HTTP, "headers"),
        (FIRST, "McpServer", SSE, "headers"),
        (FIRST, "McpServer", WHOLE | {"type": "http"}, "url headers"),
        (FIRST, "McpServer", WHOLE | {"type": "sse"}, "url headers"),
        *((ALL, type_, {}, "name value") for type_ in ("EnvVariable", "HttpHeader")),
        *((ALL, type_, {"name": "A", "value": 1}, "value") for type_ in ("EnvVariable", "HttpHeader")),
    ],
)
def test_missing_and_invalid_fields_are_refused(protocols: list[Any], type_: str, raw: Any, wrong: str) -> None:
    for protocol in protocols:
        assert issues(getattr(protocol, type_), raw) == {(each,) for each in wrong.split()}


@pytest.mark.requirement("R45", "R47", "R49", "R66", "R68", "R73", "R74", "R76", "R77", "R80", "R84", "D2", "D3")
@pytest.mark.parametrize(
    ("protocols", "type_", "raw", "expected"),
    [
        (ALL, "NewSessionResponse", {"sessionId": ""}, {"session_id": ""}),
        *(
            (ALL, "CloseSessionRequest", {"sessionId": id_}, {"session_id": id_})
            for id_ in ("Sess_1 ", "", "session-é")
        ),
        (ALL, "NewSessionRequest", {"cwd": "/", "mcpServers": None}, {"mcp_servers": []}),
        (FIRST, "McpServer", STDIO | {"args": None, "env": None}, {"args": [], "env": []}),
        (FIRST, "McpServer", WHOLE_V2, {"command": "/s"}),
        (FIRST, "McpServer", SSE | {"headers": None}, {"headers": []}),
        (ALL, "McpServer", HTTP | {"headers": None}, {"headers": []}),
        (SECOND, "McpServer", HTTP, {"headers": []}),
        (SECOND, "McpServer", STDIO_V2, {"args": [], "env": []}),
        (SECOND, "McpServer", STDIO_V2 | {"args": None, "env": None}, {"args": [], "env": []}),
        *(
            (ALL, "McpServer", WHOLE_V2 | {"name": name}, {"name": name})
            for name in ("my server", "a.b", "Dateien für Ü", "工具", "a/b", "x" * 300)
        ),
    ],
)
def test_values_are_read_as_they_are_and_null_as_the_default(
    protocols: list[Any], type_: str, raw: Any, expected: dict[str, Any]
) -> None:
    for protocol in protocols:
        read = decode(getattr(protocol, type_), raw)
        assert {name: getattr(read, name) for name in expected} == expected


@pytest.mark.requirement("R46", "R53", "R56", "R63", "R64", "R65", "R67", "R73", "R76", "R81", "R98", "D2")
@pytest.mark.parametrize(
    ("protocols", "type_", "raw"),
    [
        (FIRST, "LoadSessionRequest", {"sessionId": "s", "cwd": "/", "mcpServers": []}),
        (FIRST, "LoadSessionResponse", {"modes": MODES | {"availableModes": []}, "models": {"currentModelId": "opus"}}),
        *(
            (ALL, "NewSessionRequest", {"cwd": "/", "mcpServers": [], "_meta": meta})
            for meta in (None, {}, {"cwd": "/elsewhere", "mcpServers": 5})
        ),
        (FIRST, "McpServer", WHOLE),
        (SECOND, "McpServer", STDIO_V2),
        (SECOND, "McpServer", HTTP),
        (ALL, "McpServer", HTTP | {"headers": [{"name": name, "value": "v"} for name in ("B", "a", "A", "B")]}),
    ],
)
def test_messages_are_written_as_they_were_read(protocols: list[Any], type_: str, raw: Any) -> None:
    for protocol in protocols:
        kind: Any = getattr(protocol, type_)
        read = decode(kind, raw)
        assert decode(dict[str, Any], encode(read)) == raw
        assert decode(kind, encode(read)) == read


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("protocol", FIRST)
def test_modes_are_lenient_in_v1(protocol: Any) -> None:
    read = decode(protocol.NewSessionResponse, {"sessionId": "s", "modes": MODES}).modes
    assert [each.id for each in read.available_modes] == ["ask"]
    assert decode(protocol.NewSessionResponse, {"sessionId": "s", "modes": {"currentModeId": "ask"}}).modes is None


@pytest.mark.requirement("R48", "R53")
@pytest.mark.parametrize("protocol", SECOND)
def test_v2_has_neither_modes_nor_session_load(protocol: Any) -> None:
    assert "modes" not in protocol.NewSessionResponse.model_fields
    assert not {"session/set_mode", "session/load"} & protocol.METHODS.keys()
    assert not hasattr(protocol, "LoadSessionRequest")


@pytest.mark.requirement("R49", "R59", "R68")
@pytest.mark.parametrize("protocol", ALL)
def test_messages_of_a_session_have_its_id_and_updates_are_notifications(protocol: Any) -> None:
    assert protocol.SessionId is str
    for method in ("session/prompt", "session/cancel", "session/resume", "session/close"):
        known = protocol.METHODS[method]
        assert "session_id" in (known.request or known.notification).params.model_fields
    update = protocol.METHODS["session/update"]
    assert (update.request, update.notification.side) == (None, "client")


@pytest.mark.requirement("R61")
@pytest.mark.parametrize("protocol", FIRST)
def test_the_response_to_a_load_may_be_null(protocol: Any) -> None:
    empty = protocol.LoadSessionResponse()
    nothing: list[Any] = [None, b"null", {}]
    assert [decode(protocol.LoadSessionResponse, each) for each in nothing] == [empty] * 3
    assert encode(empty) == b"{}"


@pytest.mark.requirement("R84")
def test_sse_servers_exist_only_in_v1() -> None:
    kinds = [{each.__name__ for each in get_args(get_args(protocol.McpServer)[0])} for protocol in (v1, v2)]
    assert ["McpServerSse" in each for each in kinds] == [True, False]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("protocol", ALL)
def test_requests_do_not_show_their_secrets(protocol: Any) -> None:
    servers = [WHOLE_V2 | {"env": PAIRS}, HTTP | {"headers": PAIRS}, SSE | {"headers": PAIRS}]
    request = decode(protocol.NewSessionRequest, {"cwd": "/", "mcpServers": servers})
    assert len(request.mcp_servers) == 3
    assert SECRET not in repr(request) + str(request)


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("protocol", ALL)
@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "stdio", "name": "s", "args": ["x"], "env": PAIRS},
        WHOLE_V2 | {"env": {"TOKEN": SECRET}},
        HTTP | {"headers": [{"name": "TOKEN", "value": [SECRET]}]},
    ],
)
def test_errors_about_servers_do_not_show_secrets(protocol: Any, wrong: Any) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(protocol.NewSessionRequest, {"cwd": "/", "mcpServers": [wrong]}, strict=True)
    assert SECRET not in "".join(traceback.format_exception(raised.value)) + repr(raised.value.issues)
