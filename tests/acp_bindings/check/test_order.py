"""Rules about the order of messages, and about what their ids refer to."""

import pytest

from acp_bindings import v1, v2
from tests.acp_bindings.check.conversations import call, check
from tests.acp_bindings.check.orders import ORDERS, S1, Case

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
