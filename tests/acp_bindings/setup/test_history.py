"""The conversation as an agent stores and replays it, in all versions."""

from typing import Any

import pytest

from acp_bindings import decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup._history import History
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import load_session, resume_session
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup.errors import InvalidParams, Remark
from tests.acp_bindings.setup.agents import ABLE
from tests.acp_bindings.setup.peers import PACKAGES

RECORD = SessionRecord(session_id="s", cwd="/", prompted=True)


def said(protocol: Any, kind: str, text: str, message_id: str | None = "m", **more: Any) -> Any:
    ids = {} if message_id is None else {"message_id": message_id}
    return getattr(protocol, kind)(content=protocol.TextContent(text=text), **ids, **more)


def texts(protocol: Any, history: list[Any]) -> list[tuple[str, str]]:
    updates: list[Any] = [each.update for each in History(protocol, history).replay("s")]
    return [(each.session_update, each.content.text) for each in updates if isinstance(each, protocol.ContentChunk)]


@pytest.mark.requirement("R57", "R58", "R59")
@pytest.mark.parametrize("name", PACKAGES)
def test_a_history_is_replayed_whole_and_in_its_order(name: str) -> None:
    protocol: Any = PACKAGES[name]
    prompt = protocol.PromptRequest(
        session_id="s", prompt=[protocol.TextContent(text="Look"), protocol.ResourceLink(name="a", uri="file:///a")]
    )
    history: list[Any] = [
        *History(protocol).add_prompt(prompt, message_id="m1"),
        said(protocol, "AgentThoughtChunk", "Hm", "m2"),
        protocol.SessionToolCallUpdate(tool_call_id="t", title="read"),
        said(protocol, "AgentMessageChunk", "Done", "m3"),
    ]
    notifications: list[Any] = list(History(protocol, history).replay("s"))
    assert [each.update for each in notifications[:5]] == history
    assert all(each.session_id == "s" for each in notifications)
    client: ReplayCollector[Any] = ReplayCollector()
    client.expect(load_session(ABLE[name], RECORD))
    for each in notifications:
        assert protocol.METHODS.notification_with(each).method == "session/update"
        client.receive(decode(protocol.METHODS["session/update"].notification.params, encode(each)))
    assert [each.update for each in client.opened("s")][:5] == history


@pytest.mark.parametrize("name", ["v2", "v2_unstable"])
def test_in_v2_even_an_empty_replay_ends_with_the_state(name: str) -> None:
    protocol: Any = PACKAGES[name]
    (state,) = History(protocol).replay("s")
    assert state == protocol.UpdateSessionNotification(session_id="s", update=protocol.SessionStateUpdateIdle())
    assert list(History(PACKAGES[name.replace("2", "1")]).replay("s")) == []
    running = protocol.SessionStateUpdateRunning()
    assert [each.update for each in History(protocol).replay("s", state=running)] == [running]


@pytest.mark.requirement("R57")
@pytest.mark.parametrize("name", PACKAGES)
def test_chunks_of_one_message_are_merged(name: str) -> None:
    protocol: Any = PACKAGES[name]
    history = [
        said(protocol, "AgentThoughtChunk", "Let "),
        said(protocol, "AgentThoughtChunk", "me"),
        said(protocol, "AgentMessageChunk", "He"),
        said(protocol, "AgentMessageChunk", "ll"),
        said(protocol, "AgentMessageChunk", "o"),
    ]
    before = [encode(each) for each in history]
    assert texts(protocol, history) == [("agent_thought_chunk", "Let me"), ("agent_message_chunk", "Hello")]
    assert [encode(each) for each in history] == before


def test_chunks_without_an_id_are_one_message() -> None:
    history = [said(v1, "AgentMessageChunk", text, None) for text in ("a", "b")]
    assert texts(v1, history) == [("agent_message_chunk", "ab")]


@pytest.mark.parametrize("protocol", [v1, v1_unstable])
def test_an_id_that_a_message_has_not_is_left_out(protocol: Any) -> None:
    (chunk,) = History(protocol).add_prompt(
        protocol.PromptRequest(session_id="s", prompt=[protocol.TextContent(text="x")])
    )
    assert b"messageId" not in encode(chunk)


@pytest.mark.requirement("R57")
def test_chunks_with_more_than_text_are_not_merged() -> None:
    note = v1.Annotations(priority=1.0)
    history: list[Any] = [
        said(v1, "AgentMessageChunk", "a", "m1"),
        said(v1, "AgentMessageChunk", "b", "m2"),
        said(v1, "AgentMessageChunk", "c", "m2", meta={"k": 1}),
        said(v1, "AgentMessageChunk", "d", "m2"),
        v1.AgentMessageChunk(content=v1.TextContent(text="e", annotations=note), message_id="m2"),
        v1.AgentMessageChunk(content=v1.ImageContent(data="", mime_type="image/png"), message_id="m2"),
        said(v1, "AgentMessageChunk", "f", "m2"),
        decode(v1.SessionUpdate, {"sessionUpdate": "agent_message_chunk", "messageId": "m2", "future": 1,
                                  "content": {"type": "text", "text": "g"}}),
        said(v1, "UserMessageChunk", "h", "m3"),
        said(v1, "UserMessageChunk", "i", "m3"),
        v1.OtherSessionUpdate(session_update="_mine"),
    ]  # fmt: skip
    assert [each.update for each in History(v1, history).replay("s")] == history


def test_momentary_updates_are_not_history() -> None:
    moment: list[Any] = [
        v1.CurrentModeUpdate(current_mode_id="code"),
        v1.AvailableCommandsUpdate(available_commands=[]),
        v1.ConfigOptionUpdate(config_options=[]),
        v1.Notice(severity="info", title="t"),
        v2.SessionStateUpdateRunning(),
    ]
    history = History(v1, moment)
    assert not any(map(history.add, moment))
    assert history.updates == list(history.replay("s")) == []
    kept: list[Any] = [v1.Plan(entries=[]), v1.SessionInfoUpdate(title="t")]
    assert all(map(history.add, kept))
    assert history.updates == kept


@pytest.mark.requirement("X1", "X12")
@pytest.mark.parametrize("name", PACKAGES)
def test_only_a_load_requests_the_history(name: str) -> None:
    assert History.is_requested(load_session(ABLE[name], RECORD))
    assert not History.is_requested(resume_session(ABLE[name], RECORD))


@pytest.mark.requirement("X12")
@pytest.mark.parametrize("protocol", [v2, v2_unstable])
def test_a_replay_from_another_place_is_refused(protocol: Any) -> None:
    raw = {"sessionId": "s", "cwd": "/", "replayFrom": {"type": "_message", "messageId": "m"}}
    with pytest.raises(InvalidParams, match='replayFrom: "_message" is not supported; "start" is') as raised:
        History.is_requested(decode(protocol.ResumeSessionRequest, raw))
    assert (raised.value.code, raised.value.data) == (-32602, {"type": "_message"})
    assert not History.is_requested(decode(protocol.ResumeSessionRequest, raw | {"replayFrom": None}))


@pytest.mark.parametrize("name", PACKAGES)
def test_a_stored_history_is_read_back_equal(name: str) -> None:
    protocol: Any = PACKAGES[name]
    history = [said(protocol, "UserMessageChunk", "a\nb\u2028c"), said(protocol, "AgentMessageChunk", "Hi")]
    lines = [History.line(each) for each in history]
    assert all(each.count(b"\n") == 1 for each in lines)
    assert History.read(protocol, lines).updates == history
    assert History.read(protocol, [each.decode() for each in lines]).updates == history


@pytest.mark.requirement("R97")
def test_invalid_lines_are_skipped_with_a_remark() -> None:
    good = History.line(said(v1, "UserMessageChunk", "Hello"))
    remarks: list[Remark] = []
    lines = [b"\n", good, b"garbage\n", b"[]\n", b'{"sessionUpdate": "plan"}\n', b"  ", good, good[:20]]
    assert len(History.read(v1, lines, remarks=remarks).updates) == len(History.read(v1, lines).updates) == 2
    assert [(each.rule, each.facts) for each in remarks] == [
        ("malformed-line", {"line": number}) for number in (3, 4, 5, 8)
    ]
    assert str(remarks[2]).startswith("line 5 is skipped because it is not an update: entries: Field required")
