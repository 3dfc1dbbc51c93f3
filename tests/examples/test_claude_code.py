"""The location and format of Claude Code's sessions, compared with the behavior of claude-code-acp 0.16.0."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import encode, v1, v2
from acp_bindings.setup._history import History
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import load_session
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup.errors import Remark, SessionNotFound
from examples.claude_code import candidate_paths, encode_project_path, read_transcript
from tests.acp_bindings.setup.agents import ABLE

PACKAGES: dict[str, Any] = {"v1": v1, "v2": v2}
SESSION = "0b0e7d9c-6c3f-4b53-9d6f-2a1d3f0a4c11"


def line(role: str, content: Any, **more: Any) -> str:
    entry: dict[str, Any] = {
        "type": role,
        "sessionId": SESSION,
        "uuid": "u",
        "message": {"role": role, "content": content},
    }
    return json.dumps(entry | more)


@pytest.mark.requirement("R94")
@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/Users/test", "-Users-test"),
        ("/", "-"),
        ("/a/", "-a-"),
        ("/my.app/v1 x_y", "-my.app-v1 x_y"),
        (".", "."),
        ("a\\b:c", "a\\b:c"),
        ("C:\\Users\\test", "C-Users-test"),
        ("c:/Users/test", "c-Users-test"),
        ("C:Users", "C:Users"),
        ("", ""),
    ],
)
def test_the_name_of_a_project_is_made_as_the_adapter_makes_it(cwd: str, name: str) -> None:
    assert encode_project_path(cwd) == name


@pytest.mark.requirement("R93", "R101")
def test_a_session_is_looked_for_by_its_id_to_the_letter_and_by_its_cwd() -> None:
    assert candidate_paths(SESSION, "/home/me/app", config_dir="/conf") == [
        os.path.join("/conf", "projects", "-home-me-app", f"{SESSION}.jsonl"),
        os.path.join("/conf", "projects", "*", f"{SESSION}.jsonl"),
    ]


@pytest.mark.requirement("R93")
def test_the_directory_name_made_by_claude_code_is_a_candidate_too() -> None:
    names = [path.split(os.sep)[-2] for path in candidate_paths("s", "/my.app", config_dir="/conf")]
    assert names == ["-my.app", "-my-app", "*"]
    names = [path.split(os.sep)[-2] for path in candidate_paths("s", "C:\\app", config_dir="/conf")]
    assert names == ["C-app", "C--app", "*"]


@pytest.mark.requirement("R93")
def test_the_directory_comes_from_the_environment_or_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/conf")
    assert candidate_paths("s", "/a")[0] == os.path.join("/conf", "projects", "-a", "s.jsonl")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    home = os.path.join(os.path.expanduser("~"), ".claude")
    assert candidate_paths("s", "/a")[0] == os.path.join(home, "projects", "-a", "s.jsonl")


TRANSCRIPT = [
    line("summary", "x"),
    line("user", "Read it"),
    line("user", "for the model alone", isMeta=True),
    line("assistant", [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I "}]),
    line("assistant", [{"type": "text", "text": "read"}]),
    line("assistant", [{"type": "text", "text": "as a sub-agent"}], isSidechain=True),
    line("assistant", [{"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "/a"}}]),
    "{torn",
    "",
    line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "text of a"}]),
    line("user", [{"type": "tool_result", "tool_use_id": "t", "content": [], "is_error": True}]),
    line("user", "of another session", sessionId="other"),
    line("user", [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]),
    line("user", [{"type": "unheard of"}, 5, None]),
    line("user", None),
    line("system", "x", message=5),
    "[]",
]


@pytest.mark.requirement("R57", "R97")
@pytest.mark.parametrize("name", PACKAGES)
def test_a_transcript_is_replayed_line_by_line(name: str) -> None:
    protocol = PACKAGES[name]
    remarks: list[Remark] = []
    history = read_transcript(protocol, TRANSCRIPT, session_id=SESSION, remarks=remarks)
    updates = [json.loads(encode(each.update)) for each in History(protocol, history).replay(SESSION)]
    told = [(each["sessionUpdate"], each.get("content", {}).get("text", each.get("status"))) for each in updates]
    assert told[:7] == [
        ("user_message_chunk", "Read it"),
        ("agent_thought_chunk", "Hm"),
        ("agent_message_chunk", "I read"),
        ("tool_call" if name == "v1" else "tool_call_update", "pending"),
        ("tool_call_update", "completed"),
        ("tool_call_update", "failed"),
        ("user_message_chunk", None),
    ]
    assert len(told) == (7 if name == "v1" else 8)
    told = "line 8 is skipped, because it is not JSON"
    assert remarks == [Remark((), "malformed-line", told, facts={"line": 8})]


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_all_content_of_a_line_is_in_its_update(package: Any) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    lines = [
        line("user", [{"type": "text", "text": "See"}, image]),
        line("assistant", [{"type": "thinking", "thinking": "Hm"}, image]),
        line("assistant", [{"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "/a"}}]),
        line("user", [{"type": "tool_result", "tool_use_id": "t", "content": [1], "is_error": True}]),
    ]
    seen = package.ImageContent(data="AA==", mime_type="image/png")
    called: dict[str, Any] = {"title": "Read", "status": "pending", "raw_input": {"path": "/a"}}
    first = v1.ToolCall if package is v1 else v2.SessionToolCallUpdate

    assert read_transcript(package, lines) == [
        package.UserMessageChunk(content=package.TextContent(text="See"), message_id="u"),
        package.UserMessageChunk(content=seen, message_id="u"),
        package.AgentThoughtChunk(content=package.TextContent(text="Hm"), message_id="u"),
        package.AgentMessageChunk(content=seen, message_id="u"),
        first(tool_call_id="t", **called),
        package.SessionToolCallUpdate(tool_call_id="t", status="failed", raw_output=[1]),
    ]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "text", "text": 5},
        {"type": "thinking", "thinking": 5},
        {"type": "image", "source": {"type": "url", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "source": {"type": "base64", "media_type": 5, "data": "AA=="}},
        {"type": "tool_use", "id": 5, "name": "Read", "input": {}},
        {"type": "tool_use", "id": "t", "name": "Read"},
        {"type": "tool_result", "tool_use_id": "t"},
    ],
)
def test_a_block_that_is_not_as_claude_code_writes_it_is_left_out(odd: dict[str, Any]) -> None:
    assert read_transcript(v2, [line("assistant", [odd])]) == []


@pytest.mark.requirement("R97")
def test_the_whole_file_is_read_without_a_session_id() -> None:
    assert len(read_transcript(v1, TRANSCRIPT)) == len(read_transcript(v1, TRANSCRIPT, session_id=SESSION)) + 1
    assert len(read_transcript(v1, [each.encode() for each in TRANSCRIPT])) == len(read_transcript(v1, TRANSCRIPT))


@pytest.mark.requirement("R97")
def test_chunks_of_one_message_have_its_id() -> None:
    message = {"role": "assistant", "id": "msg_1", "content": "Hi"}
    (update,) = read_transcript(v2, [line("assistant", "", message=message)])
    assert isinstance(update, v2.AgentMessageChunk)
    assert update.message_id == "msg_1"


def test_messages_without_an_id_are_distinguished_by_their_lines() -> None:
    history = read_transcript(v2, [line("assistant", each, uuid=None) for each in ("One", "Two")])
    assert [each.message_id for each in history if isinstance(each, v2.AgentMessageChunk)] == ["line-1", "line-2"]


def load(request: v1.LoadSessionRequest, config_dir: Path) -> Iterator[v1.SessionNotification | v1.LoadSessionResponse]:
    """Yield what an adapter of Claude Code sends for a load. The response is last."""
    (path, *_) = candidate_paths(request.session_id, request.cwd, config_dir=config_dir)
    if not os.path.exists(path):
        raise SessionNotFound(request.session_id)
    with open(path, "rb") as file:
        history = read_transcript(v1, file, session_id=request.session_id)
    for notification in History(v1, history).replay(request.session_id):
        assert isinstance(notification, v1.SessionNotification)
        yield notification
    yield v1.LoadSessionResponse(modes=v1.SessionModeState(current_mode_id="ask", available_modes=[]))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """The folder in which Claude Code stores one session of `/home/me/app`."""
    (tmp_path / "projects" / "-home-me-app").mkdir(parents=True)
    path = tmp_path / "projects" / "-home-me-app" / f"{SESSION}.jsonl"
    path.write_text("\n".join([line("user", "Hello"), line("assistant", "Hi")]), encoding="utf-8")
    return tmp_path


@pytest.mark.requirement("R57", "R60", "R92", "R96", "R97", "R98")
def test_a_session_of_claude_code_is_loaded_from_its_file(stored: Path) -> None:
    request = load_session(ABLE["v1"], SessionRecord(session_id=SESSION, cwd="/home/me/app", prompted=True))
    assert isinstance(request, v1.LoadSessionRequest)
    updates: ReplayCollector[v1.SessionNotification] = ReplayCollector()
    updates.expect(request)
    *notifications, answer = load(request, stored)
    for notification in notifications:
        assert isinstance(notification, v1.SessionNotification)
        updates.receive(notification)
    assert isinstance(answer, v1.LoadSessionResponse)
    history: list[Any] = [each.update for each in updates.opened(SESSION)]
    assert [(each.session_update, each.content.text) for each in history] == [
        ("user_message_chunk", "Hello"),
        ("agent_message_chunk", "Hi"),
    ]


@pytest.mark.requirement("R99", "R101")
@pytest.mark.parametrize(
    ("session_id", "cwd"),
    [
        (SESSION, "/home/me"),
        (SESSION, "/home/me/app/"),
        (SESSION.upper(), "/home/me/app"),
        (f"session-{SESSION}", "/home/me/app"),
    ],
)
def test_another_cwd_or_another_spelling_of_the_id_finds_nothing(session_id: str, cwd: str, stored: Path) -> None:
    request = v1.LoadSessionRequest(session_id=session_id, cwd=cwd, mcp_servers=[])
    with pytest.raises(SessionNotFound):
        list(load(request, stored))


@pytest.mark.requirement("R102")
def test_a_session_without_a_prompt_has_no_file(tmp_path: Path) -> None:
    record = SessionRecord.of(v1.NewSessionRequest(cwd="/home/me/app", mcp_servers=[]), SESSION)
    assert [each.rule for each in record.load_remarks()] == ["load-before-prompt"]
    request = load_session(ABLE["v1"], record)
    assert isinstance(request, v1.LoadSessionRequest)
    with pytest.raises(SessionNotFound):
        list(load(request, tmp_path))
