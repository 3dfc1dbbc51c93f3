"""The sessions of nox: those that run the pipeline install the package, and a stalled npm is stopped."""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.codegen import publishing

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


class StoppedError(Exception):
    """The session ended with an error."""


class Session:
    def log(self, message: str) -> None:
        pass

    def error(self, message: str) -> NoReturn:
        raise StoppedError(message)


@pytest.fixture(scope="module")
def noxfile() -> Any:
    """The module noxfile."""
    spec = importlib.util.spec_from_file_location("noxfile", NOXFILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the path."""
    folder = publishing.write(tmp_path / "bin", {})
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


def test_a_stalled_npm_is_stopped_with_advice(
    noxfile: Any, tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing.install_hanging_npm(bin_folder)
    monkeypatch.setattr(noxfile, "STALLED_AFTER", 0.5)

    with pytest.raises(StoppedError, match=r"^npm made no progress for 0\.5 s .*`npm config get registry`"):
        noxfile.npm_install(Session(), str(tmp_path))


def test_a_failed_npm_is_reported_with_its_output(noxfile: Any, tmp_path: Path, bin_folder: Path) -> None:
    publishing.install_npm(bin_folder, status=3, complaint="npm error code ETARGET")

    with pytest.raises(StoppedError, match=r"exit status 3:\nnpm error code ETARGET$"):
        noxfile.npm_install(Session(), str(tmp_path))


def test_an_npm_that_succeeds_raises_nothing(noxfile: Any, tmp_path: Path, bin_folder: Path) -> None:
    publishing.install_npm(bin_folder, report="added 1 package")

    noxfile.npm_install(Session(), str(tmp_path))
