"""Rules for tool calls and plans, which later messages refer to by their ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_bindings._json import items_of
from acp_bindings.check._observed import PERMISSION, PROMPT, UPDATE, ObservedMessage
from acp_bindings.check._rules.rule import remark, rule, rules, whole
from acp_bindings.check._turn_order import text_in
from acp_bindings.setup.errors import Remark


@rules(
    {
        "error": {"tool-call.unknown": "A message names a tool call that has not begun."},
        "warning": {"tool-call.begun-twice": "A tool call of v1 begins twice."},
    },
    on=[UPDATE, PERMISSION, "tool_call/cancel", "elicitation/create"],
)
def reference(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the tool calls that do not exist, and those that exist already."""
    if (session := observed.session) is None or not session.turns.is_known or observed.kind == "response":
        return
    known = session.turns.tool_calls
    if observed.method == UPDATE:
        update, kind = observed.update, observed.update.get("sessionUpdate")
        if session.turns.begins_again(update):
            # In a session that was loaded, this is history, for which there is another rule.
            if session.replay is None and not session.turns.reopened:
                message = "this tool call has begun before; send tool_call_update, or use another id"
                yield remark(observed, "tool-call.begun-twice", message, "update", "toolCallId")
        elif kind == _UPDATING.get(observed.version):
            yield from _unknown(observed, known, update, "update")
        elif kind == "state_update":
            for index, each in enumerate(items_of(update.get("background"))):
                yield from _unknown(observed, known, each, "update", "background", index)
    elif observed.method != PERMISSION:
        yield from _unknown(observed, known, observed.members)
    elif observed.version > 1:
        yield from _unknown(observed, known, observed.members.get("subject"), "subject")


_UPDATING = {1: "tool_call_update", 2: "tool_call_content_chunk"}
"""The update that requires a tool call. In v2, `tool_call_update` begins one."""


def _unknown(observed: ObservedMessage, known: dict[str, bool], value: Any, *path: str | int) -> Iterator[Remark]:
    if text_in(value, "toolCallId") - known.keys():
        begin = "tool_call" if observed.version == 1 else "tool_call_update"
        message = f"no {begin} in this session has begun this tool call"
        yield remark(observed, "tool-call.unknown", message, *path, "toolCallId")


@rule("tool-call.unfinished", "warning", on=[PROMPT])
def unfinished(observed: ObservedMessage) -> Iterator[Remark]:
    """A turn of v1 ends, but one of its tool calls is neither completed nor failed."""
    session, request = observed.session, observed.request
    if session is None or request is None:
        return
    if observed.kind != "response" or observed.version > 1 or len(observed.before.prompts(session.id)) > 1:
        return
    cancelled = observed.before.cancelled_after(session.id, request.line) or request.withdrawn
    if observed.members.get("stopReason") != "cancelled" and not cancelled and (open_ := session.turns.unfinished):
        which = f"{len(open_)} tool calls have" if len(open_) > 1 else "a tool call has"
        message = f"{which} not ended ({', '.join([*open_][:3])}); send tool_call_update with completed or failed"
        yield whole(observed, "tool-call.unfinished", message)


@rule("turn.unknown-plan", "warning", on=[UPDATE])
def plan(observed: ObservedMessage) -> Iterator[Remark]:
    """A plan that does not exist is removed."""
    turns = observed.session.turns if observed.session else None
    if turns is None or not turns.is_known or observed.update.get("sessionUpdate") != "plan_removed":
        return
    if text_in(observed.update, "planId") - turns.plans:
        message = "no plan_update in this session has created this plan, or it was removed already"
        yield remark(observed, "turn.unknown-plan", message, "update", "planId")
