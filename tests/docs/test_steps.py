"""The steps of the tutorial build the program in the examples."""

from __future__ import annotations

import ast

from tests.docs.embed import ROOT
from tests.docs.steps import program

TUTORIAL = ROOT / "docs" / "tutorial.md"
PROGRAM = ROOT / "examples" / "tools_agent.py"


def parts(source: str) -> set[str]:
    """Return the statements of a program and of its classes, regardless of order."""
    found: set[str] = set()
    for statement in ast.parse(source).body:
        inside = statement.body if isinstance(statement, ast.ClassDef) else [statement]
        found |= {ast.unparse(each) for each in inside}
    return found


def test_the_steps_of_the_tutorial_build_the_example() -> None:
    built = parts(program(TUTORIAL.read_text(encoding="utf-8")))
    whole = PROGRAM.read_text(encoding="utf-8")

    assert parts(whole) - built == {repr(ast.get_docstring(ast.parse(whole)))}
    assert built <= parts(whole)


def test_the_program_of_the_tutorial_has_sixty_lines() -> None:
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) == 60
