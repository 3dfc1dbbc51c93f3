"""The programs of the tutorial are the examples."""

from __future__ import annotations

from tests.docs.embed import ROOT
from tests.docs.steps import STEP, program

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_the_tutorial_begins_with_the_smallest_example() -> None:
    hello = (ROOT / "examples" / "hello_agent.py").read_text(encoding="utf-8")

    assert STEP.findall(TUTORIAL)[0] == hello
    assert len([line for line in hello.splitlines() if line]) <= 10


def test_the_tutorial_ends_with_the_example_that_calls_tools() -> None:
    tools = (ROOT / "examples" / "tools_agent.py").read_text(encoding="utf-8")

    assert program(TUTORIAL) == tools
    assert len(tools.splitlines()) <= 25
