"""Where Claude Code keeps its sessions, and what is read there, against what claude-code-acp 0.16.0 does."""

import json
import os
from typing import Any

import pytest

from acp_bindings import encode, v1, v2
from acp_bindings.setup.claude_code import candidate_paths, encode_project_path, read_transcript
from acp_bindings.setup.history import replay
from acp_bindings.setup.remarks import Remark

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
def test_r94_the_name_of_a_project_is_made_as_the_adapter_makes_it(cwd: str, name: str) -> None:
    assert encode_project_path(cwd) == name


def test_r93_r101_a_session_is_looked_for_by_its_id_to_the_letter_and_by_its_cwd() -> None:
    assert candidate_paths(SESSION, "/home/me/app", config_dir="/conf") == [
        os.path.join("/conf", "projects", "-home-me-app", f"{SESSION}.jsonl"),
        os.path.join("/conf", "projects", "*", f"{SESSION}.jsonl"),
    ]


def test_r93_what_claude_code_itself_makes_of_a_path_is_a_candidate_too() -> None:
    names = [path.split(os.sep)[-2] for path in candidate_paths("s", "/my.app", config_dir="/conf")]
    assert names == ["-my.app", "-my-app", "*"]
    names = [path.split(os.sep)[-2] for path in candidate_paths("s", "C:\\app", config_dir="/conf")]
    assert names == ["C-app", "C--app", "*"]


def test_r93_the_directory_is_the_one_of_the_environment_or_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("name", PACKAGES)
def test_r57_r97_a_transcript_is_replayed_line_by_line(name: str) -> None:
    protocol = PACKAGES[name]
    remarks: list[Remark] = []
    history = read_transcript(protocol, TRANSCRIPT, session_id=SESSION, remarks=remarks)
    updates = [json.loads(encode(each.update)) for each in replay(protocol, SESSION, history)]
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
    assert [(each.rule, each.facts) for each in remarks] == [("malformed-line", {"line": 8})]


def test_r97_without_a_session_all_of_the_file_is_read() -> None:
    assert len(read_transcript(v1, TRANSCRIPT)) == len(read_transcript(v1, TRANSCRIPT, session_id=SESSION)) + 1
    assert len(read_transcript(v1, [each.encode() for each in TRANSCRIPT])) == len(read_transcript(v1, TRANSCRIPT))


def test_r97_pieces_of_one_message_of_claude_have_its_id() -> None:
    message = {"role": "assistant", "id": "msg_1", "content": "Hi"}
    (update,) = read_transcript(v2, [line("assistant", "", message=message)])
    assert isinstance(update, v2.AgentMessageChunk)
    assert update.message_id == "msg_1"
