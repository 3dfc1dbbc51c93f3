"""Only pyproject.toml has the address of the repository, always the same one."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.docs.embed import ROOT

PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
REPOSITORY: str = tomllib.loads(PROJECT)["project"]["urls"]["Repository"]
HOST = "https://github.com/"


def committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name]


def test_pyproject_names_one_repository() -> None:
    owner_and_name = re.findall(rf"{HOST}([^/\"]+/[^/\"]+)", PROJECT)

    assert len(owner_and_name) > 1
    assert {HOST + each for each in owner_and_name} == {REPOSITORY}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a clone knows what is committed")
def test_the_repository_is_named_only_there() -> None:
    address = REPOSITORY.removeprefix("https://").encode()

    assert [path for path in committed() if path.is_file() and address in path.read_bytes()] == [
        ROOT / "pyproject.toml"
    ]
