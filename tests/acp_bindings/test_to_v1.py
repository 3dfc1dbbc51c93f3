"""Updates of all versions in the classes of v1."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_bindings import decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings._to_v1 import to_v1
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.schemas import load

PACKAGES: dict[str, Any] = {"v1_unstable": v1_unstable, "v2": v2, "v2_unstable": v2_unstable}
ALIKE = {"agent_message_chunk", "session_info_update", "tool_call", "tool_call_update", "usage_update"}
"""Updates that v1 always has, unless their content is newer."""


def in_v1(package: Any, **update: Any) -> Any:
    return to_v1(decode(package.SessionUpdate, update))


@pytest.mark.parametrize("name", PACKAGES)
def test_every_update_is_converted_to_v1_or_returned_unchanged(name: str) -> None:
    instances, package = Instances(load(name)), PACKAGES[name]
    kinds = set[str]()
    for instance in instances.series("SessionUpdate", 500, seed=11):
        update = decode(package.SessionUpdate, json.dumps(instance))
        before = encode(update)
        made = to_v1(update)
        assert encode(update) == before
        if type(made).__module__ == "acp_bindings.v1.session_update":
            kinds.add(made.session_update)
            assert decode(v1.SessionUpdate, encode(made)) == made
        else:
            assert made is update
            assert update.session_update not in ALIKE or "Other" in type(update.content).__name__
    assert kinds >= {"agent_message_chunk", "tool_call_update", "plan" if "2" in name else "tool_call"}


@pytest.mark.parametrize("name", PACKAGES)
def test_only_updates_missing_in_v1_are_returned_unchanged(name: str) -> None:
    package = PACKAGES[name]
    simple: dict[str, dict[str, Any]] = {
        "agent_message_chunk": {"content": {"type": "text", "text": "x"}, "messageId": "m"},
        "agent_thought_chunk": {
            "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            "messageId": "m",
        },
        "user_message_chunk": {"content": {"type": "text", "text": "x", "_meta": {"a": 1}}, "messageId": "m"},
        "tool_call_update": {"toolCallId": "c", "status": "completed"},
        "available_commands_update": {"availableCommands": []},
        "config_option_update": {"configOptions": []},
        "session_info_update": {"title": "T"},
        "usage_update": {"used": 1, "size": 2},
        "notice": {"severity": "info", "title": "T"},
    }
    for kind, update in simple.items():
        made = in_v1(package, sessionUpdate=kind, **update)
        assert (type(made).__module__, made.session_update) == ("acp_bindings.v1.session_update", kind)
        assert json.loads(encode(made)) == {"sessionUpdate": kind, **update}
    newer = in_v1(package, sessionUpdate="_acme", anything=1)
    assert type(newer) is package.OtherSessionUpdate


def test_an_update_of_v1_is_returned_as_it_is() -> None:
    update = v1.AgentMessageChunk(content=v1.TextContent(text="x"))
    assert to_v1(update) is update


def test_a_converted_chunk_equals_one_that_was_read() -> None:
    said = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "x"}}
    assert in_v1(v2, **said) == decode(v1.SessionUpdate, said)
    assert repr(in_v1(v2, **said)) == repr(decode(v1.SessionUpdate, said))
    without = {name: value for name, value in said.items() if name != "messageId"}
    assert in_v1(v1_unstable, **without) == decode(v1.SessionUpdate, without)
    assert in_v1(v2, **said).model_copy(update={"message_id": None}).message_id is None


def test_content_that_v1_does_not_have_stays_as_it_is() -> None:
    update = decode(
        v2.SessionUpdate, {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "_new"}}
    )
    assert to_v1(update) is update


def test_a_tool_call_of_v2_is_converted_to_v1() -> None:
    diff = {
        "type": "diff",
        "changes": [{"operation": "add", "path": "/a"}],
        "patch": {"format": "git_patch", "text": "+x"},
    }
    bare = {"type": "diff", "changes": [{"operation": "delete", "path": "/a"}]}
    made = in_v1(
        v2,
        sessionUpdate="tool_call_update",
        toolCallId="c",
        status="cancelled",
        kind="_new",
        title=None,
        content=[diff, bare, {"type": "terminal", "terminalId": "t"}, {"type": "_new"}],
        locations=[{"path": "/a", "line": 3}],
    )
    assert made == v1.SessionToolCallUpdate(
        tool_call_id="c",
        status="failed",
        kind="other",
        title="",
        content=[
            decode(
                v1.Content, {"type": "content", "content": {"type": "text", "text": "+x"}, "changes": diff["changes"]}
            ),
            decode(
                v1.Content,
                {"type": "content", "content": {"type": "text", "text": "delete /a"}, "changes": bare["changes"]},
            ),
            v1.Terminal(terminal_id="t"),
        ],
        locations=[v1.ToolCallLocation(path="/a", line=3)],
    )
    assert in_v1(v2, sessionUpdate="tool_call_update", toolCallId="c", kind="edit").kind == "edit"


def test_a_plan_of_v2_keeps_its_id_and_the_entries_that_v1_can_express() -> None:
    entries = [
        {"content": "a", "priority": "_top", "status": "pending"},
        {"content": "b", "priority": "low", "status": "cancelled"},
        {"content": "c", "priority": "low", "status": "pending"},
    ]
    made = in_v1(v2, sessionUpdate="plan_update", plan={"type": "items", "planId": "p", "entries": entries})
    assert made.entries == [
        v1.PlanEntry(content="a", priority="medium", status="pending"),
        v1.PlanEntry(content="c", priority="low", status="pending"),
    ]
    assert made.model_extra == {"planId": "p"}


def test_commands_and_options_of_v2_are_converted_to_v1() -> None:
    command = {"type": "command", "name": "test", "description": "Run", "input": {"type": "text", "hint": "which"}}
    made = in_v1(v2, sessionUpdate="available_commands_update", availableCommands=[command])
    wanted = v1.AvailableCommand(name="test", description="Run", input=v1.UnstructuredCommandInput(hint="which"))
    assert made.available_commands == [wanted]
    groups = [{"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}]
    option = {"type": "select", "configId": "model", "name": "Model", "currentValue": "a", "options": groups}
    made = in_v1(
        v2, sessionUpdate="config_option_update", configOptions=[option, {"type": "_new", "configId": "x", "name": "X"}]
    )
    assert [(each.id, each.options[0].group) for each in made.config_options] == [("model", "g")]
