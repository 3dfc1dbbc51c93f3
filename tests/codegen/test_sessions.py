"""The sessions of nox that run the pipeline install the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

NOXFILE = Path(__file__).parents[2] / "noxfile.py"
SESSIONS = {
    each.name: ast.unparse(each)
    for each in ast.parse(NOXFILE.read_text(encoding="utf-8")).body
    if isinstance(each, ast.FunctionDef) and any("nox.session" in ast.unparse(mark) for mark in each.decorator_list)
}
PIPELINE = [name for name, code in SESSIONS.items() if "'codegen" in code or "'tests.codegen" in code]


def test_the_sessions_of_the_pipeline_are_found() -> None:
    assert {"drift", "generate", "history", "update_schema", "watch_schema"} <= set(PIPELINE)


@pytest.mark.parametrize("name", PIPELINE)
def test_a_session_of_the_pipeline_installs_the_package(name: str) -> None:
    installed = [line for line in SESSIONS[name].splitlines() if "session.install(" in line]
    assert any(what in line for line in installed for what in ("'.'", "EXTRA", "[launch]")), installed
