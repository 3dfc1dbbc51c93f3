"""Third-party programs with ours: every step has the expected outcome, or a documented difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio
import pytest

from tests.programs.differences import DIFFERENCES
from tests.programs.page import PAGE, difference_of, page
from tests.programs.pairs import PAIRS, Cell, Pair, play
from tests.programs.steps import STEPS, Step

NAMED = {(pair, step.name) for pair in PAIRS for step in STEPS if difference_of(pair, step.name)}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_step_has_its_expected_result_or_a_named_difference(
    cells: Callable[[Pair], Mapping[str, Cell]], pair: Pair, step: Step
) -> None:
    cell = cells(pair)[step.name]
    difference = difference_of(pair, step.name)
    if difference is None:
        assert cell.is_right or not cell.is_offered, cell.facts
    else:
        assert not cell.is_right, f"{difference.who} no longer differs: {cell.facts}"
        assert {name: cell.facts.get(name) for name in difference.shown_by} == difference.shown_by


def test_every_named_difference_occurs() -> None:
    assert len(NAMED) >= len(DIFFERENCES)
    assert all(any(each == difference_of(*of) for of in NAMED) for each in DIFFERENCES)


def test_our_own_programs_support_every_step(cells: Callable[[Pair], Mapping[str, Cell]]) -> None:
    for pair in PAIRS:
        if pair.agent == "our agent":
            missing = [name for name, cell in cells(pair).items() if not cell.is_offered]
            assert missing == ([] if pair.version == 1 else ["a tool over sse"])


def test_our_client_has_the_same_results_on_trio(
    cells: Callable[[Pair], Mapping[str, Cell]], urls: dict[str, str]
) -> None:
    pair = next(each for each in PAIRS if str(each) == "our client → TypeScript agent, v2")
    on_trio = anyio.run(play, pair, urls, backend="trio")
    assert {name: cell.is_right for name, cell in on_trio.items()} == {
        name: cell.is_right for name, cell in cells(pair).items()
    }


def test_the_page_shows_the_current_results(
    cells: Callable[[Pair], Mapping[str, Cell]], pytestconfig: pytest.Config
) -> None:
    now = page({pair: cells(pair) for pair in PAIRS})
    if pytestconfig.getoption("--write-page"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "`nox -s programs -- --write-page` writes it down"
