"""A link that appears between the check of a path and the writing of the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from acp_bindings._atomic_write import atomic_write


def late_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a project and a file outside of it, to which each file is a link by the time that it is written."""
    outside, project = folder / "outside", folder / "project"
    outside.write_text("keep")
    project.mkdir()

    def after_the_check(path: str, data: bytes, **more: Any) -> None:
        os.symlink(outside, path)
        atomic_write(path, data, **more)

    monkeypatch.setattr("acp_bindings._text_files.atomic_write", after_the_check)
    return project, outside
