"""A folder for a fake npm, or no npm at all."""

import os
from pathlib import Path

import pytest

from tests.codegen import publishing


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the path."""
    folder = publishing.write(tmp_path / "bin", {})
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
