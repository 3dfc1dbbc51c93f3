"""A program that a page builds step by step, in blocks that are marked `python step`.

A definition in a later step replaces the one with the same name, also in classes. Other code is added.
"""

from __future__ import annotations

import ast
import re

__all__ = ["program"]

STEP = re.compile(r"^```python step\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page: str) -> str:
    """Return the program after all steps of a page."""
    first, *others = [ast.parse(block) for block in STEP.findall(page)]
    for each in others:
        first.body = _with(first.body, each.body)
    return ast.unparse(first) + "\n"


def _with(body: list[ast.stmt], new: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a module or class with new ones: imports first, the rest before the final call."""
    by_name = {_name(statement): statement for statement in body}
    added: list[ast.stmt] = []
    for statement in new:
        old = by_name.get(_name(statement))
        if old is None:
            added.append(statement)
        elif isinstance(old, ast.ClassDef) and isinstance(statement, ast.ClassDef):
            old.body = _with(old.body, statement.body)
        else:
            body[body.index(old)] = statement
    imports = [each for each in added if isinstance(each, ast.Import | ast.ImportFrom)]
    rest = [each for each in added if each not in imports]
    end = [each for each in body if isinstance(each, ast.Expr)]
    return [*imports, *(each for each in body if each not in end), *rest, *end]


def _name(statement: ast.stmt) -> str:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return statement.name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ast.unparse(statement)
