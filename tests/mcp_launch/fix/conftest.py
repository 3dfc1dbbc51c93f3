"""A directory with programs, scripts and servers that broken files name."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.mcp_launch.explore.conftest import command
from tests.mcp_launch.fix.web import small_web
from tests.mcp_launch.support import SECRET, SERVERS

__all__ = ["command"]
PROGRAMS = ("docker", "npm", "npx", "pip", "uv", "uvx")


@pytest.fixture(scope="session")
def origin() -> Generator[str]:
    with small_web() as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, in a home directory whose programs are stand-ins."""
    bin_, home, project = tmp_path / "bin", tmp_path / "home", tmp_path / "home" / "project"
    scripts = home / "scripts"
    for each in (
        bin_,
        home / ".local" / "bin",
        project / "tools",
        scripts / "src",
        *(each / ".venv" / "bin" for each in (project, scripts)),
    ):
        each.mkdir(parents=True)
    tools = Path(__file__).with_name("tools.py")
    for name in PROGRAMS:
        _script(bin_ / name, f'exec "{sys.executable}" -S "{tools}" {name} "$@"')
    plain = f'exec "{sys.executable}" -S "{SERVERS / "plain.py"}" "$@"'
    _script(bin_ / "python3", f'exec "{sys.executable}" -S "$@"')
    for each in (project, scripts):
        _script(each / ".venv" / "bin" / "python", f'GOOD=1 exec "{sys.executable}" -S "$@"')
    _script(home / ".local" / "bin" / "deno", plain)
    _script(project / "tools" / "serve.sh", plain)
    _script(project / "tools" / "plain.sh", plain, mode=0o644)
    text = (SERVERS / "plain.py").read_text()
    (project / "tools" / "server.py").write_text(text)
    for each in (project / "tools", scripts / "src"):
        (each / "needs.py").write_text(
            f"import os\nif 'GOOD' not in os.environ: raise ModuleNotFoundError(\"No module named 'weather'\")\n{text}"
        )
    monkeypatch.setenv("PATH", os.pathsep.join([str(bin_), "/usr/bin", "/bin"]))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("WEATHER_KEY", SECRET)
    monkeypatch.setenv("TOKEN", SECRET)
    monkeypatch.chdir(tmp_path)
    return project


def _script(path: Path, text: str, *, mode: int = 0o755) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
