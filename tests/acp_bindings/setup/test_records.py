"""Session records: stored without secrets, and checked before a session is loaded."""

import json
import pickle
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pytest

from acp_bindings import DecodeError, decode, v1, v2
from acp_bindings.setup._records import ServersMissing, SessionRecord
from acp_bindings.setup._requests import load_session, new_session
from tests.acp_bindings.setup.agents import ABLE

SECRET = "hunter2-hunter2"
TOKEN = v1.EnvVariable(name="TOKEN", value=SECRET)
FILES = v1.McpServerStdio(name="files", command="/bin/files", args=["--key", SECRET], env=[TOKEN])
SEARCH = v1.McpServerHttp(
    name="search", url=f"https://h/?key={SECRET}", headers=[v1.HttpHeader(name="Authorization", value=SECRET)]
)
RECORD = SessionRecord(
    session_id="s", cwd="/home/me", additional_directories=("/data",), mcp_servers=(FILES, SEARCH), prompted=True
)


def listed(session_id: str = "s", cwd: str = "/home/me") -> v1.SessionInfo:
    return v1.SessionInfo(session_id=session_id, cwd=cwd)


@pytest.mark.requirement("R99")
def test_a_record_has_the_parameters_of_its_session() -> None:
    request = new_session(ABLE["v1"], cwd="/home/me", additional_directories=["/data"], mcp_servers=[FILES, SEARCH])
    assert SessionRecord.of(request, "s").after_prompt() == RECORD


@pytest.mark.requirement("R99")
def test_a_load_request_gives_back_its_record() -> None:
    assert SessionRecord.of(load_session(ABLE["v1"], RECORD)) == RECORD


def test_a_record_of_a_new_session_needs_the_id_of_the_response() -> None:
    with pytest.raises(TypeError, match="has its id in the response"):
        SessionRecord.of(new_session(ABLE["v1"], cwd="/"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"session_id": v1.NewSessionResponse(session_id="s")},
            "session_id .* must be a string, not NewSessionResponse",
        ),
        ({"cwd": PurePosixPath("/home/me")}, "cwd .* must be a string, not PurePosixPath"),
        ({"mcp_servers": "files"}, "mcp_servers .* must be a tuple"),
    ],
)
def test_invalid_values_are_refused_when_a_record_is_created(wrong: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"^{said}"):
        SessionRecord(**{"session_id": "s", "cwd": "/"} | wrong)


@pytest.mark.requirement("R99")
def test_a_record_stays_as_it_is_when_the_request_is_changed() -> None:
    request = new_session(ABLE["v1"], cwd="/", mcp_servers=[FILES.model_copy(deep=True)])
    record = SessionRecord.of(request, "s")
    assert isinstance(request, v1.NewSessionRequest)
    assert isinstance(request.mcp_servers[0], v1.McpServerStdio)
    request.mcp_servers[0].env.clear()
    assert record.mcp_servers == (FILES,)


@pytest.mark.requirement("R91", "R99")
def test_a_record_is_stored_with_only_the_names_of_its_servers() -> None:
    stored = json.dumps(RECORD.to_json())
    assert SECRET not in stored
    assert json.loads(stored) == {
        "sessionId": "s",
        "cwd": "/home/me",
        "additionalDirectories": ["/data"],
        "mcpServers": ["files", "search"],
        "prompted": True,
    }


@pytest.mark.requirement("R91")
def test_the_values_of_env_and_headers_are_not_shown() -> None:
    servers = FILES.model_copy(update={"args": []}), SEARCH.model_copy(update={"url": "https://h"})
    shown = repr(replace(RECORD, mcp_servers=servers))
    assert "files" in shown
    assert SECRET not in shown


@pytest.mark.requirement("R99")
def test_the_servers_of_a_stored_record_come_from_the_configuration() -> None:
    back = SessionRecord.from_json(json.dumps(RECORD.to_json()))
    assert back == SessionRecord.from_json(RECORD.to_json())
    assert back.mcp_servers == back.server_names == ("files", "search")
    unused = v1.McpServerStdio(name="unused", command="/x", args=[], env=[])
    assert back.with_servers([unused, SEARCH, FILES]) == RECORD
    assert back.with_servers([SEARCH]).mcp_servers == ("files", SEARCH)
    other = FILES.model_copy(update={"command": "/usr/bin/other"})
    assert RECORD.with_servers([other, SEARCH]) == RECORD


@pytest.mark.requirement("R99")
def test_servers_with_equal_or_missing_names_are_restored_correctly() -> None:
    twin = v1.McpServerStdio(name="files", command="/bin/other", args=[], env=[])
    nameless: Any = decode(v2.McpServer, {"type": "_pipe", "at": 5})
    record = replace(RECORD, mcp_servers=(FILES, nameless, twin))
    back = SessionRecord.from_json(record.to_json())
    assert back.server_names == ("files", "_pipe", "files")
    assert back.with_servers([FILES, twin, nameless]) == record
    assert back.with_servers([FILES]).mcp_servers == (FILES, "_pipe", FILES)


@pytest.mark.requirement("R99")
def test_servers_that_are_only_named_are_never_left_out() -> None:
    back = SessionRecord.from_json(RECORD.to_json()).with_servers([SEARCH])
    with pytest.raises(
        ServersMissing, match=r'session "s": the record has only the names of the MCP servers "files"'
    ) as raised:
        load_session(ABLE["v1"], back)
    assert (raised.value.session_id, raised.value.names) == ("s", ("files",))
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert load_session(ABLE["v1"], back, mcp_servers=[FILES, SEARCH]) == load_session(ABLE["v1"], RECORD)


@pytest.mark.parametrize("data", ["{}", "[]", "x", b'{"sessionId": 5, "cwd": "/"}', {"sessionId": "s"}])
def test_an_invalid_record_is_refused(data: Any) -> None:
    with pytest.raises(DecodeError, match=r"^SessionRecord: "):
        SessionRecord.from_json(data)


@pytest.mark.requirement("R99")
def test_a_listed_session_and_its_servers_make_a_record() -> None:
    info = v2.SessionInfo(session_id="s", cwd="/home/me", additional_directories=["/data"])
    assert SessionRecord.of_listed(info, mcp_servers=(FILES, SEARCH)) == RECORD


def test_a_session_equal_to_its_listing_has_no_remarks() -> None:
    assert RECORD.load_remarks() == RECORD.load_remarks(listed=[listed("other"), listed()]) == []


CWDS = [
    ("/home/me", "/home/other", "error"),
    ("/home/me", "/home/me/", "warning"),
    ("/home/me", "/home/x/../me", "warning"),
    ("/home/me", "/home/Me", "error"),
    ("C:\\Me", "c:/me", "warning"),
    ("C:\\Me", "D:\\Me", "error"),
]
PROBLEMS: list[tuple[dict[str, Any], Any, str, str, dict[str, Any]]] = [
    ({"prompted": False}, None, "sessionId load-before-prompt", "warning", {}),
    ({}, [listed("other")], "sessionId session-not-listed", "warning", {}),
    ({}, [], "sessionId session-not-listed", "warning", {}),
    *(
        ({"cwd": ours}, [listed(cwd=theirs)], "cwd cwd-mismatch", severity, {"cwd": ours, "listed": theirs})
        for ours, theirs, severity in CWDS
    ),
    *(
        ({"session_id": id_}, [listed()], "sessionId session-id-altered", "error", {"listed": "s"})
        for id_ in ("S", " s", "s\n", "session-s", "s.jsonl", "Session-S.jsonl")
    ),
]


@pytest.mark.requirement("R99", "R101", "R102")
@pytest.mark.parametrize(("changes", "listed", "told", "severity", "facts"), PROBLEMS)
def test_a_likely_problem_of_a_load_causes_a_remark(
    changes: dict[str, Any], listed: Any, told: str, severity: str, facts: dict[str, Any]
) -> None:
    record = replace(RECORD, **changes)
    (remark,) = record.load_remarks(listed=listed)
    assert (f"{remark.path[0]} {remark.rule}", remark.severity) == (told, severity)
    assert remark.facts == {"sessionId": record.session_id, **facts}


@pytest.mark.requirement("R102")
def test_a_new_record_is_not_prompted() -> None:
    fresh = SessionRecord.of(new_session(ABLE["v1"], cwd="/"), "s")
    assert [each.rule for each in fresh.load_remarks()] == ["load-before-prompt"]
    assert fresh.after_prompt().load_remarks() == []
