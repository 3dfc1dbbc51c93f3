"""The conversation in the docs is what the example programs say today, and nothing is wrong with it."""

from __future__ import annotations

import pytest

from acp_bindings.check import Check
from tests.docs.conversation import PAGE, RECORD, page, talk

SECRETS = ('Welcome aboard"', "library-card", "tick-tock")


def test_the_conversation_in_the_docs_is_that_of_the_programs() -> None:
    shown, record = talk()

    assert RECORD.read_text(encoding="utf-8") == record
    assert PAGE.read_text(encoding="utf-8") == page(shown, record)


def test_the_check_of_the_conversation_only_reports_sse_as_deprecated() -> None:
    with RECORD.open("rb") as lines:
        found = {each.rule for each in Check(lines)}

    assert found == {"capability.sse-deprecated"}


@pytest.mark.parametrize("secret", SECRETS)
def test_the_conversation_contains_no_secrets(secret: str) -> None:
    assert secret not in RECORD.read_text(encoding="utf-8")
