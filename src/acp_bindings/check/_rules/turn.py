"""Rules for turns: their beginning, their end, and what may be sent between them."""

from __future__ import annotations

from collections.abc import Iterator

from acp_bindings.check._observed import PROMPT, UPDATE, ObservedMessage
from acp_bindings.check._rules.rule import remark, rule, rules, whole
from acp_bindings.check._turn_order import OF_TURNS, text_in
from acp_bindings.setup.errors import Remark


@rule("turn.update-after-end", "warning", on=[UPDATE])
def update_after_end(observed: ObservedMessage) -> Iterator[Remark]:
    """An update of a turn of v1 is sent after the response to its prompt."""
    if observed.version == 1 and (session := observed.session):
        is_late = session.turns.is_over and not session.turns.was_late and session.replay is None
        if is_late and observed.update.get("sessionUpdate") in OF_TURNS and session.phase == "open":
            message = "the turn has ended with the response to its prompt; send this before the response"
            yield remark(observed, "turn.update-after-end", message, "update")


@rule("turn.prompt-in-turn", "info", on=[PROMPT])
def prompt_in_turn(observed: ObservedMessage) -> Iterator[Remark]:
    """A prompt of v1 is sent although the one before in the session has no response yet."""
    if (
        observed.kind == "request"
        and observed.version == 1
        and observed.session_id is not None
        and (open_ := observed.before.prompts(observed.session_id))
    ):
        message = (
            f"the prompt of line {open_[0].line} has no response yet; some agents queue this one, others refuse it"
        )
        yield whole(observed, "turn.prompt-in-turn", message)


@rules(
    {
        "warning": {
            "turn.cancelled-without-cancel": "A turn ends with `cancelled`, but neither the client nor the user has "
            "cancelled it.",
        },
        "info": {
            "turn.not-cancelled": "A turn ends with another stop reason than `cancelled` after it was cancelled.",
        },
    },
    on=[PROMPT, UPDATE],
)
def end(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield what is wrong with the stop reason of a turn, in the response to the prompt or in the state of v2."""
    before, session, prompt = observed.before, observed.session, observed.request
    if session is None or session.phase == "closed":
        return
    turns = session.turns
    if observed.version == 1:
        if observed.kind != "response" or prompt is None or prompt.withdrawn:
            return
        path, body, began = list[str](), observed.members, prompt.line
    else:
        path, body, began = ["update"], observed.update, turns.began
        if body.get("state") != "idle" or turns.state == "idle":
            return
    cancelled = before.cancelled_after(session.id, began)
    # Some agents cancel a turn when the client sends the next prompt.
    is_replaced = observed.version == 1 and len(turns.open_prompts) > 1
    is_ending = before.has_left or before.is_closing(session.id)
    is_excused = turns.refused or is_replaced or is_ending or session.replay is not None
    for reason in text_in(body, "stopReason"):
        if cancelled and reason != "cancelled":
            message = (
                f"the client cancelled the turn in line {cancelled}; the stop reason should be cancelled, unless the "
                "turn had ended by then"
            )
            yield remark(observed, "turn.not-cancelled", message, *path, "stopReason")
        elif not cancelled and reason == "cancelled" and not is_excused:
            message = (
                "the client has not sent session/cancel; use the stop reason that applies, unless the client had "
                "disconnected"
            )
            yield remark(observed, "turn.cancelled-without-cancel", message, *path, "stopReason")
