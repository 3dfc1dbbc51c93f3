"""The folded state of a session, from updates of both versions."""

from __future__ import annotations

import json
from threading import Thread
from typing import Any

import pytest

from acp_bindings import decode, encode, v1, v1_unstable, v2
from acp_bindings.client import Message, SessionState, Usage
from acp_bindings.client._state import Folding
from tests.acp_bindings.client.support import chunk


def folded(package: Any, *updates: dict[str, Any]) -> SessionState:
    folding = Folding(package)
    for update in updates:
        for each in folding.in_v1(decode(package.SessionUpdate, update)):
            folding.take(each)
    return folding.state


def text(text: str) -> v1.TextContent:
    return v1.TextContent(text=text)


def content(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


@pytest.mark.parametrize("package", [v1, v2])
def test_chunks_of_a_message_are_joined(package: Any) -> None:
    state = folded(package, *(chunk("agent_message", each, "m1") for each in ("Hel", "lo", "!")))
    assert state == SessionState(entries=(Message("agent", (text("Hello!"),), "m1"),))
    assert state.messages[0].text == "Hello!"


@pytest.mark.parametrize("package", [v1, v2])
def test_chunks_of_messages_with_ids_may_be_interleaved(package: Any) -> None:
    said = [("a", "m1"), ("x", "m2"), ("b", "m1"), ("y", "m2")]
    state = folded(package, *(chunk("agent_message", each, id_) for each, id_ in said))
    assert [(each.message_id, each.text) for each in state.messages] == [("m1", "ab"), ("m2", "xy")]


def test_without_ids_another_role_or_a_tool_call_ends_a_message() -> None:
    state = folded(
        v1,
        chunk("user_message", "Do "),
        chunk("user_message", "it"),
        chunk("agent_thought", "Hm"),
        chunk("agent_message", "I "),
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        chunk("agent_message", "will"),
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Work"},
        chunk("agent_message", "Done"),
    )
    shown = [each.text if isinstance(each, Message) else each.title for each in state.entries]
    assert shown == ["Do it", "Hm", "I will", "Work", "Done"]
    assert [each.text for each in state.messages] == ["Do it", "I will", "Done"]
    assert [each.text for each in state.thoughts] == ["Hm"]


@pytest.mark.parametrize(("package", "ids"), [(v1, (None, None)), (v1, ("m1", "m2")), (v2, ("m1", "m2"))])
def test_an_empty_chunk_does_not_begin_a_message(package: Any, ids: tuple[str | None, str | None]) -> None:
    # Qwen Code sends one after each response of its model, for the usage in its `_meta`.
    said = [("agent_message", "Hi", ids[0]), ("agent_thought", "", ids[1]), ("agent_message", "!", ids[0])]
    state = folded(package, *(chunk(*each) for each in said))
    assert [(each.role, each.text) for each in state.entries if isinstance(each, Message)] == [("agent", "Hi!")]


def test_other_content_stays_between_text() -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    state = folded(
        v1,
        chunk("agent_message", "a"),
        {"sessionUpdate": "agent_message_chunk", "content": image},
        chunk("agent_message", "b"),
        chunk("agent_message", "c"),
    )
    assert state.messages[0].content == (text("a"), v1.ImageContent(data="aGk=", mime_type="image/png"), text("bc"))
    assert state.messages[0].text == "abc"


def test_text_with_annotations_is_not_joined() -> None:
    noted = {"type": "text", "text": "b", "annotations": {"priority": 1.0}}
    state = folded(v1, chunk("agent_message", "a"), {"sessionUpdate": "agent_message_chunk", "content": noted})
    assert len(state.messages[0].content) == 2


def test_a_tool_call_has_all_its_updates_merged() -> None:
    state = folded(
        v1,
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read", "kind": "read", "status": "pending"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress", "title": None},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": [content("x")], "rawOutput": {"a": 1}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"},
    )
    assert state.tool_calls == (
        v1.ToolCall(
            tool_call_id="c1",
            title="Read",
            kind="read",
            status="completed",
            content=[v1.Content(content=text("x"))],
            raw_output={"a": 1},
        ),
    )
    assert state.tool_call("c1") == state.tool_calls[0]
    assert state.tool_call("c2") is None


def test_the_newest_tool_call_is_found_without_a_look_at_the_others() -> None:
    without_id = v1.ToolCall.model_construct()
    call = v1.ToolCall(tool_call_id="c1", title="")
    assert SessionState(entries=(without_id, call, Message("agent", ()))).tool_call("c1") is call


def test_an_update_of_an_unknown_tool_call_creates_it() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    (call,) = folded(v1, update).tool_calls
    assert call == v1.ToolCall(tool_call_id="c1", title="", status="completed")
    assert repr(call).startswith("ToolCall(session_update='tool_call', title='', ")


def test_a_tool_call_of_v2_is_created_changed_cleared_and_appended_to() -> None:
    folding = Folding(v2)
    given: list[Any] = []

    def take(**update: Any) -> None:
        for each in folding.in_v1(decode(v2.SessionUpdate, {"toolCallId": "c1", **update})):
            folding.take(each)
            given.append(each)

    take(sessionUpdate="tool_call_update", title="Run", kind="_new", status="paused")
    take(sessionUpdate="tool_call_content_chunk", content=content("a"))
    take(sessionUpdate="tool_call_content_chunk", content=content("b"))
    assert given == [
        v1.ToolCall(tool_call_id="c1", title="Run", kind="other", status="in_progress"),
        v1.SessionToolCallUpdate(tool_call_id="c1", content=[v1.Content(content=text("a"))]),
        v1.SessionToolCallUpdate(tool_call_id="c1", content=[v1.Content(content=text(each)) for each in "ab"]),
    ]
    take(sessionUpdate="tool_call_update", status="cancelled", content=None, title=None)
    assert folding.state.tool_calls == (
        v1.ToolCall(tool_call_id="c1", title="", kind="other", status="failed", content=[]),
    )


def test_output_of_a_tool_call_is_not_checked_again_when_more_is_appended() -> None:
    folding = Folding(v2)
    more = v2.ToolCallContentChunk(tool_call_id="c1", content=v2.Content(content=v2.TextContent(text="a")))
    folding.take(*folding.in_v1(more))
    unchecked: Any = object()
    folding.state.tool_calls[0].content.append(unchecked)
    folding.take(*folding.in_v1(more))
    assert [type(each) for each in folding.state.tool_calls[0].content] == [v1.Content, object, v1.Content]


def test_a_message_of_v2_is_created_and_replaced_as_a_whole() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    folding = Folding(v2)
    first = folding.in_v1(
        decode(v2.SessionUpdate, {"sessionUpdate": "agent_message", "messageId": "m1", "content": blocks})
    )
    assert first == [v1.AgentMessageChunk(content=text(each), message_id="m1") for each in "ab"]
    for each in first:
        folding.take(each)
    assert folding.state.messages[0].text == "ab"
    replaced = decode(v2.SessionUpdate, {"sessionUpdate": "agent_message", "messageId": "m1", "content": blocks[:1]})
    assert folding.in_v1(replaced) == [replaced]
    folding.take(replaced)
    assert folding.state.messages[0].text == "a"
    folding.take(decode(v2.SessionUpdate, {"sessionUpdate": "agent_message", "messageId": "m1"}))
    assert folding.state.messages[0].text == "a"
    folding.take(decode(v2.SessionUpdate, chunk("agent_message", "c", "m1")))
    folding.take(decode(v2.SessionUpdate, {"sessionUpdate": "agent_message", "messageId": "m1", "content": None}))
    assert folding.state.messages[0].text == ""


def test_plan_commands_title_and_mode_are_replaced() -> None:
    state = folded(
        v1,
        {"sessionUpdate": "plan", "entries": [{"content": "x", "priority": "low", "status": "pending"}]},
        {"sessionUpdate": "plan", "entries": [{"content": "y", "priority": "low", "status": "completed"}]},
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": "A"}]},
        {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionUpdate": "session_info_update", "title": None},
        {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
    )
    assert state == SessionState(
        plan=(v1.PlanEntry(content="y", priority="low", status="completed"),),
        commands=(v1.AvailableCommand(name="a", description="A"),),
        updated_at="2026-01-01T00:00:00Z",
        mode="code",
    )


def test_plans_of_v2_are_stored_by_id() -> None:
    def plan(id_: str, *contents: str) -> dict[str, Any]:
        entries = [{"content": each, "priority": "_urgent", "status": "pending"} for each in contents]
        return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": id_, "entries": entries}}

    state = folded(v2, plan("p1", "a"), plan("p2", "b"), plan("p1", "c", "d"))
    assert [(each.content, each.priority) for each in state.plan] == [("c", "medium"), ("d", "medium"), ("b", "medium")]


def test_a_state_is_written_as_json() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "T", "rawInput": None}
    state = folded(v1, chunk("agent_message", "a"), call, {"sessionUpdate": "usage_update", "used": 1, "size": 9})
    written = json.loads(encode(state))
    message = {"role": "agent", "content": [{"type": "text", "text": "a"}], "message_id": None}
    assert written["entries"] == [message, call]
    assert written["usage"] == {"used": 1, "size": 9, "cost": None, "tokens": {}}


@pytest.mark.parametrize("package", [v1, v2])
def test_the_last_hundred_notices_are_stored(package: Any) -> None:
    notice = {"sessionUpdate": "notice", "severity": "warning"}
    state = folded(
        package,
        chunk("agent_message", "a", "m1"),
        *({**notice, "title": str(number)} for number in range(105)),
        chunk("agent_message", "b", "m1"),
    )
    assert state.notices == tuple(v1.Notice(severity="warning", title=str(number)) for number in range(5, 105))
    assert [each.text for each in state.messages] == ["ab"]


@pytest.mark.parametrize(
    ("package", "kind"),
    [
        *((v1, kind) for kind in ("agent_message", "plan", "tool_call_content_chunk")),
        *((v2, kind) for kind in ("current_mode_update", "plan", "tool_call")),
    ],
)
def test_updates_of_another_version_are_not_an_error(package: Any, kind: str) -> None:
    folded(package, {"sessionUpdate": kind, "toolCallId": "c1", "message_id": [], "planId": [], "entries": []})
    folded(package, {"sessionUpdate": kind, "entries": []})


@pytest.mark.parametrize("package", [v1, v2])
def test_unknown_fields_with_the_names_of_attributes_are_not_an_error(package: Any) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "tool_call_id": 1, "raw_input": 2}
    state = folded(package, {**update, "rawInput": "a"}, {**update, "title": "T"})
    assert [(each.title, each.raw_input) for each in state.tool_calls] == [("T", "a")]


@pytest.mark.parametrize("package", [v1, v2])
def test_usage_keeps_the_cost_until_it_changes(package: Any) -> None:
    cost = {"amount": 0.5, "currency": "USD"}
    first = {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": cost}
    state = folded(package, first, {"sessionUpdate": "usage_update", "used": 20, "size": 100})
    assert state.usage == Usage(used=20, size=100, cost=v1.Cost(amount=0.5, currency="USD"))


@pytest.mark.parametrize("package", [v1, v1_unstable])
def test_tokens_of_all_turns_are_summed(package: Any) -> None:
    usage = {"totalTokens": 5, "inputTokens": 3, "outputTokens": 2, "thoughtTokens": None}
    folding = Folding(package)
    for _ in range(2):
        folding.add_tokens(decode(package.PromptResponse, {"stopReason": "end_turn", "usage": usage}))
    assert folding.state.usage.tokens == {"total_tokens": 10, "input_tokens": 6, "output_tokens": 4}


def test_a_snapshot_does_not_change_and_equals_one_of_the_same_updates() -> None:
    folding, again = Folding(v1), Folding(v1)
    updates = [
        chunk("agent_message", "a"),
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "T"},
        chunk("agent_message", "b"),
    ]
    for update in updates:
        folding.take(decode(v1.SessionUpdate, update))
        _ = folding.state
    for update in updates:
        again.take(decode(v1.SessionUpdate, update))
    before = folding.state
    assert before == again.state
    assert before is folding.state
    folding.take(
        decode(v1.SessionUpdate, {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"})
    )
    folding.take(decode(v1.SessionUpdate, chunk("agent_message", "c")))
    assert before == again.state != folding.state
    assert [each.text for each in folding.state.messages] == ["a", "bc"]
    assert folding.state.tool_calls[0].status == "failed"


@pytest.mark.parametrize(("package", "id_"), [(v1, None), (v1, "u1"), (v2, "u1")])
def test_a_prompt_is_replaced_by_its_echo(package: Any, id_: str | None) -> None:
    folding = Folding(package)
    folding.say([text("Hi")])
    assert folding.state.messages == (Message("user", (text("Hi"),)),)
    for part in ("H", "i"):
        for each in folding.in_v1(decode(package.SessionUpdate, chunk("user_message", part, id_))):
            folding.take(each)
    assert folding.state.messages == (Message("user", (text("Hi"),), id_),)


def test_a_message_of_the_user_after_the_turn_is_not_the_echo_of_its_prompt() -> None:
    folding = Folding(v1)
    folding.say([text("Hi")])
    folding.end_prompt()
    folding.take(decode(v1.SessionUpdate, chunk("user_message", "From elsewhere")))
    assert [each.text for each in folding.state.messages] == ["Hi", "From elsewhere"]


def test_snapshots_before_and_between_updates_of_a_tool_call_do_not_change() -> None:
    folding, begin = Folding(v1), v1.ToolCall(tool_call_id="c1", title="T")
    folding.take(begin)
    snapshots = [folding.state]
    statuses: list[Any] = ["pending", "in_progress", "completed"]
    for status in statuses:
        folding.take(v1.SessionToolCallUpdate(tool_call_id="c1", status=status))
        folding.take(v1.SessionToolCallUpdate(tool_call_id="c1", title=status))
        snapshots.append(folding.state)
    assert begin == v1.ToolCall(tool_call_id="c1", title="T")
    assert [each.tool_calls[0] for each in snapshots] == [
        begin,
        *(v1.ToolCall(tool_call_id="c1", title=each, status=each) for each in statuses),
    ]


def test_an_update_that_arrives_while_another_thread_looks_at_the_state_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folding = Folding(v1)
    one, other = (decode(v1.SessionUpdate, chunk("agent_message", each)) for each in ("a", "b"))
    folding.take(one)
    loop = Thread(target=folding.take, args=(other,))

    def joined(parts: list[str]) -> list[v1.TextContent]:
        whole = text("".join(parts))
        monkeypatch.undo()
        loop.start()
        loop.join(0.1)  # it waits for the end of the look
        return [whole]

    monkeypatch.setattr("acp_bindings.client._state._joined", joined)
    _ = folding.state
    loop.join()
    assert folding.state.messages[0].text == "ab"
