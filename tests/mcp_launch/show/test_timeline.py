"""The stages of a server on the scale of its report."""

from __future__ import annotations

import pytest

from mcp_launch._command.show.html import spans, ticks
from tests.mcp_launch.show.reports import failed


def test_stages_that_were_rounded_up_leave_no_time_below_zero() -> None:
    server = failed(stage="list", seconds={"spawn": 0.001, "handshake": 0.001}, elapsed=0.001)

    assert [span.seconds for span in spans(server)] == [0.001, 0.001, 0.0]


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        (0.0, [0.0]),
        (1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (1.5, [0.0, 0.5, 1.0, 1.5]),
        (30.2, [0.0, 10.0, 20.0, 30.0]),
        (0.007, [0.0, 0.002, 0.004, 0.006]),
    ],
)
def test_the_ticks_are_round(longest: float, expected: list[float]) -> None:
    assert ticks(longest) == expected


def test_every_scale_has_a_few_ticks() -> None:
    for number in range(1, 4000):
        longest = 1.01**number / 1e6
        found = ticks(longest)
        assert 2 <= len(found) <= 7, longest
        assert found[-1] <= longest * (1 + 1e-9)
