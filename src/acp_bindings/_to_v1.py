"""Converts session updates of all versions to v1, whose classes programs use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings._json import members_of
from acp_bindings._models.base import Model
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError

if TYPE_CHECKING:
    from acp_bindings.setup.unions import SessionUpdate


def to_v1(update: SessionUpdate) -> SessionUpdate:
    """Return *update* as an object of `v1`.

    An update that v1 does not have is returned unchanged, such as the output of a terminal of v2, or a variant that is
    newer than the schema. So are replacements of a whole message and content that is appended to a tool call, because
    v1 only has them in another form.

    - A tool call of v2 is always a `v1.SessionToolCallUpdate`, because the update does not show whether the tool call
      is new. A status or kind that v1 does not have becomes the closest one, and a diff becomes text, which keeps its
      changes in `model_extra["changes"]`.
    - A plan of v2 keeps its id in `model_extra["planId"]`. Entries that v1 cannot express are left out.
    """
    kind = type(update)
    if kind.__module__ in _OF_V1:
        return update
    chunk = _CHUNKS.get(kind.__name__)
    if chunk is not None and (plain := _plain_chunk(chunk, update)) is not None:
        return plain
    reword = _REWORD.get(update.session_update)
    if reword is None and update.session_update not in _ALIKE:
        return update
    said: dict[str, Any] = from_json(encode(update))
    if reword is not None:
        reword(said)
    try:
        found: SessionUpdate = decode(v1.SessionUpdate, said)
    except DecodeError:
        return update
    return update if isinstance(found, v1.OtherSessionUpdate) else found


_OF_V1 = frozenset({"acp_bindings.v1.session_update"})

_CHUNKS: Mapping[str, type[Model]] = {
    each.__name__: each for each in (v1.AgentMessageChunk, v1.AgentThoughtChunk, v1.UserMessageChunk)
}

_ALIKE = frozenset(
    {
        "agent_message_chunk",
        "agent_thought_chunk",
        "compaction_summary_chunk",
        "compaction_update",
        "current_mode_update",
        "notice",
        "plan",
        "session_info_update",
        "tool_call",
        "usage_update",
        "user_message_chunk",
    }
)
"""Updates with the same JSON in all versions that have them."""

_PLAIN_CHUNK = frozenset({"session_update", "content", "message_id"})
_PLAIN_TEXT = frozenset({"type", "text"})


def _plain_chunk(kind: type[Model], update: Any) -> SessionUpdate | None:
    """Return a chunk of plain text as an object of *kind*; None if it contains anything else.

    Most updates are such chunks, and this takes a tenth of the time of writing and reading them.
    """
    content, said = update.content, update.__pydantic_fields_set__
    if (
        content.type != "text"
        or not content.__pydantic_fields_set__ <= _PLAIN_TEXT
        or not said <= _PLAIN_CHUNK
        or update.__pydantic_extra__
        or content.__pydantic_extra__
    ):
        return None
    text = {"meta": None, "type": "text", "annotations": None, "text": content.text}
    chunk = {
        "meta": None,
        "content": made(v1.TextContent, text, {"type", "text"}),
        "message_id": update.message_id,
        "session_update": update.session_update,
    }
    return cast("SessionUpdate", made(kind, chunk, {*said, "session_update"}))


def made(kind: type[Model], values: dict[str, Any], said: set[str]) -> Model:
    """Return an object with valid *values* for all fields, like `model_construct`, but in a tenth of its time."""
    model = kind.__new__(kind)
    object.__setattr__(model, "__dict__", values)
    object.__setattr__(model, "__pydantic_fields_set__", said)
    object.__setattr__(model, "__pydantic_extra__", {})
    object.__setattr__(model, "__pydantic_private__", None)
    return model


def _tool_call(said: dict[str, Any]) -> None:
    """Reword a tool call. `null` clears a field in v2, and leaves it unchanged in v1."""
    defaults: dict[str, Any] = {
        "kind": "other",
        "status": "pending",
        "title": "",
        "name": "",
        "content": [],
        "locations": [],
    }
    for name, default in defaults.items():
        if name in said and said[name] is None:
            said[name] = default
    if "status" in said:
        said["status"] = {"paused": "in_progress", "cancelled": "failed"}.get(said["status"], said["status"])
    if "kind" in said and said["kind"] not in get_args(v1.ToolKind):
        said["kind"] = "other"
    if "content" in said:
        said["content"] = [_tool_call_content(each) for each in said["content"]]


def _tool_call_content(said: dict[str, Any]) -> dict[str, Any]:
    if said.get("type") != "diff":
        return said
    patch: dict[str, Any] = said.get("patch") or {}
    changes: list[dict[str, Any]] = said.get("changes") or []
    text = patch.get("text") or "\n".join(f"{each.get('operation')} {each.get('path', '')}" for each in changes)
    return {"type": "content", "content": {"type": "text", "text": text}, "changes": changes}


def _plan(said: dict[str, Any]) -> None:
    plan: dict[str, Any] = said["plan"]
    if plan["type"] != "items":
        return
    del said["plan"]
    said |= {"sessionUpdate": "plan", "planId": plan["planId"], "entries": plan["entries"]}
    for entry in said["entries"]:
        if entry["priority"] not in get_args(v1.PlanEntryPriority):
            entry["priority"] = "medium"


def _commands(said: dict[str, Any]) -> None:
    for command in said["availableCommands"]:
        command.pop("type", None)
        if "input" in command:
            hint = members_of(command.pop("input")).get("hint")
            if isinstance(hint, str):
                command["input"] = {"hint": hint}


def _options(said: dict[str, Any]) -> None:
    for option in said["configOptions"]:
        option["id"] = option.pop("configId", option.get("id"))
        if option["type"] == "select":
            for group in option["options"]:
                if "groupId" in group:
                    group["group"] = group.pop("groupId")


_REWORD: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "available_commands_update": _commands,
    "config_option_update": _options,
    "plan_update": _plan,
    "tool_call_update": _tool_call,
}
