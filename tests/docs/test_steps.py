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


def test_a_step_replaces_definitions_with_the_same_name() -> None:
    page = """
```python step
import sys

WHO = "me"

class Agent:
    def one(self): return 1
    def two(self): return 2

print(Agent())
```

Then:

```python step
import os

WHO = "you"

class Agent:
    def two(self): return "two"
    def three(self): return 3

def new(): pass
```
"""

    assert program(page) == (
        "import os\nimport sys\nWHO = 'you'\n\nclass Agent:\n\n    def one(self):\n        return 1\n\n"
        "    def two(self):\n        return 'two'\n\n    def three(self):\n        return 3\n\n"
        "def new():\n    pass\nprint(Agent())\n"
    )
