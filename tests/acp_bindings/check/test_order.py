"""Rules about the order of messages, and about what their ids refer to."""

import pytest

from tests.acp_bindings.check.conversations import check, rules
from tests.acp_bindings.check.orders import ORDERS, Case

NAMES = [f"{each.rule}-{number}" for number, each in enumerate(ORDERS)]


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_a_conversation_out_of_order_has_one_finding(case: Case) -> None:
    assert [each.rule for each in check(*case.broken)] == [case.rule]


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_its_valid_neighbour_has_none(case: Case) -> None:
    assert check(*case.valid) == []


@pytest.mark.parametrize("case", ORDERS, ids=NAMES)
def test_a_recording_without_its_beginning_is_not_reported_for_what_it_lacks(case: Case) -> None:
    assert "lifecycle.no-session" not in rules(*case.valid[4:], *case.valid[4:])
