"""Rules about the order of messages, and about what their ids refer to."""

import pytest

from acp_bindings import v1, v2
from tests.acp_bindings.check.conversations import (
    AGENT,
    Message,
    call,
    check,
    error,
    load,
    new,
    opening,
    prompt,
    result,
    rules,
    update,
)
from tests.acp_bindings.check.orders import (
    ACCEPTED,
    ALLOW,
    ASKED,
    BEGUN,
    CANCEL,
    CANCELLED,
    DONE,
    ECHO,
    ENDED,
    ORDERS,
    REJECT,
    RUNNING,
    S1,
    SHOWN,
    STOPPED,
    V1,
    V2,
    Case,
    chosen,
    question,
    said,
)

NAMES = [f"{each.rule}-{number}" for number, each in enumerate(ORDERS)]


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_a_conversation_out_of_order_has_one_finding(case: Case) -> None:
    assert [each.rule for each in check(*case.broken)] == [case.rule]


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_its_valid_neighbour_has_none(case: Case) -> None:
    assert check(*case.valid) == []


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_a_recording_that_begins_late_is_not_reported_for_what_it_lacks(case: Case) -> None:
    protocol = v1 if case.valid[0]["params"]["protocolVersion"] == 1 else v2
    found = check(*case.valid[4:], call("session/cancel", S1), protocol=protocol)
    assert [each.rule for each in found if each.rule != "lifecycle.unasked"] == []


TWICE = [*V1, ASKED, prompt(3)[0]]
BUSY = error(3, -32600)
QUEUED = prompt(3)[1:]


@pytest.mark.parametrize(
    "rest",
    [
        [BUSY, update(AGENT, "hi"), ENDED],
        [BEGUN, BUSY, DONE, ENDED],
        [ENDED, *QUEUED],
        [CANCELLED, *QUEUED],
    ],
    ids=["refused", "refused in a tool call", "queued", "in place of the first"],
)
def test_a_second_prompt_does_not_end_the_turn(rest: list[Message]) -> None:
    assert rules(*TWICE, *rest) == ["turn.prompt-in-turn"]


def test_the_first_turn_goes_on_if_a_second_prompt_is_cancelled_before_it() -> None:
    late = update(AGENT, "late")
    withdrawn = [*TWICE, CANCEL, result(3, {"stopReason": "cancelled"}), update(AGENT, "hi"), CANCELLED]
    assert rules(*withdrawn) == ["turn.prompt-in-turn"]
    assert rules(*withdrawn, late) == ["turn.prompt-in-turn", "turn.update-after-end"]


ITS_OWN = {"terminal_info": {"terminal_id": "t1"}}
OWN_TERMINAL = [
    *(*new(), ASKED),
    said("tool_call", toolCallId="t", title="T", content=[{"type": "terminal", "terminalId": "t1"}], _meta=ITS_OWN),
    *(SHOWN, DONE, ENDED),
]


def test_a_terminal_of_the_agent_itself_may_be_shown_by_a_client_that_can() -> None:
    can = opening(client={"_meta": {"terminal_output": True}})
    assert rules(*can, *OWN_TERMINAL) == []
    assert rules(*can, *new(), BEGUN, SHOWN) == ["terminal.unknown"]
    assert rules(*can, *new(), said("tool_call", toolCallId="t", title="T", _meta=ITS_OWN), SHOWN) == []
    assert rules(*opening(), *OWN_TERMINAL) == ["terminal.unknown"]
    assert rules(*OWN_TERMINAL, protocol=v1) == []  # what the client can is not recorded


def test_a_second_prompt_does_not_undo_what_the_user_has_refused() -> None:
    refused = [*V1, ASKED, BEGUN, question(ALLOW, REJECT), chosen("no")]
    assert rules(*refused, prompt(3)[0], BUSY, CANCELLED) == ["turn.prompt-in-turn"]


def test_a_turn_with_a_refused_prompt_still_ends() -> None:
    late = [update(AGENT, "late"), update(AGENT, "later")]
    assert rules(*TWICE, BUSY, ENDED, *late) == ["turn.prompt-in-turn", "turn.update-after-end"]
    assert rules(*TWICE, BUSY, CANCELLED) == ["turn.prompt-in-turn", "turn.cancelled-without-cancel"]
    assert rules(*TWICE, BEGUN, BUSY, ENDED) == ["turn.prompt-in-turn", "tool-call.unfinished"]


@pytest.mark.parametrize("between", [prompt(3), load(5)], ids=["answered later", "loaded again"])
def test_a_prompt_that_was_never_answered_does_not_keep_the_turn_open(between: list[Message]) -> None:
    cancelled = result(4, {"stopReason": "cancelled"})
    assert "turn.cancelled-without-cancel" in rules(*V1, ASKED, *between, prompt(4)[0], cancelled)


LEFT = {"time": "2026-11-27T11:45:49.123456Z", "closed": {"from": "client"}}


@pytest.mark.parametrize(
    "turn", [[*V1, ASKED, CANCELLED], [*V2, ASKED, ACCEPTED, ECHO, RUNNING, STOPPED]], ids=["v1", "v2"]
)
def test_a_client_that_disconnects_cancels_the_turn(turn: list[Message]) -> None:
    assert rules(*turn[:-1], LEFT, turn[-1]) == []
    assert rules(*turn, LEFT) == ["turn.cancelled-without-cancel"]
    assert "turn.cancelled-without-cancel" in rules(*turn[:-1], LEFT, *turn)  # on the next connection
