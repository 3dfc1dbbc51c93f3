"""Rules for permission requests and their responses."""

from __future__ import annotations

from collections.abc import Iterator

from acp_bindings._json import items_of, members_of
from acp_bindings.check._observed import PERMISSION, ObservedMessage
from acp_bindings.check._rules.rule import remark, rule, rules
from acp_bindings.check._turn_order import text_in, tool_call_of
from acp_bindings.setup.errors import Remark


@rules(
    {
        "error": {
            "permission.duplicate-option": "Two options of a permission request have the same id.",
        },
        "warning": {
            "permission.no-options": "A permission request of v1 has no options; an error in v2.",
            "permission.unknown-tool-call": "Permission is requested in v1 for a tool call that has not begun.",
        },
    },
    on=[PERMISSION],
)
def request(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield what is wrong with a permission request."""
    if observed.kind != "request":
        return
    seen: set[str] = set()
    options = items_of(observed.members.get("options"))
    for index, each in enumerate(options):
        if (ids := text_in(each, "optionId")) & seen:
            message = "an earlier option has this id, so the response does not show which one the user has chosen"
            yield remark(observed, "permission.duplicate-option", message, "options", index, "optionId")
        seen |= ids
    if not options and observed.typed is not None:
        yield remark(observed, "permission.no-options", "the user cannot choose", "options")
    turns = observed.session.turns if observed.session and observed.version == 1 else None
    if turns and turns.is_known and tool_call_of(observed.members) - turns.tool_calls.keys():
        message = "no tool_call in this session has begun this tool call, so some clients cannot show it"
        yield remark(observed, "permission.unknown-tool-call", message, "toolCall", "toolCallId")


@rule("permission.unknown-option", "error", on=[PERMISSION])
def unknown_option(observed: ObservedMessage) -> Iterator[Remark]:
    """The client chooses an option that the permission request does not have."""
    if observed.kind == "response" and observed.request:
        offered = items_of(members_of(observed.request.body).get("options"))
        ids = {id_ for each in offered for id_ in text_in(each, "optionId")}
        if text_in(observed.members.get("outcome"), "optionId") - ids:
            message = f"the request of line {observed.request.line} does not have this option"
            yield remark(observed, "permission.unknown-option", message, "outcome", "optionId")


@rule("permission.cancelled-without-cancel", "info", on=[PERMISSION])
def cancelled_without_cancel(observed: ObservedMessage) -> Iterator[Remark]:
    """The response to a permission request of v1 is `cancelled`, but the client has not cancelled the turn."""
    asked, session, before = observed.request, observed.session, observed.before
    if asked is None or session is None or observed.version > 1:
        return
    if members_of(observed.members.get("outcome")).get("outcome") != "cancelled" or asked.withdrawn:
        return
    is_running = before.prompts(session.id) and not before.is_closing(session.id)
    if is_running and not before.cancelled_after(session.id, session.turns.began):
        message = "the client has not sent session/cancel; to refuse, choose an option that rejects"
        yield remark(observed, "permission.cancelled-without-cancel", message, "outcome")
