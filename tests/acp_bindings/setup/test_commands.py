"""Resolving commands on this system, with real files on a real PATH."""

import os
import sys
from pathlib import Path

import pytest

from acp_bindings.setup._paths import CommandNotFound, resolve_command

EXTENSION = ".CMD" if sys.platform == "win32" else ""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A directory with a program and a file that is not a program."""
    made = tmp_path / "tools"
    made.mkdir()
    program = made / f"serve{EXTENSION}"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (made / "notes").write_text("")
    (made / "notes").chmod(0o644)
    return made


@pytest.mark.requirement("R75")
def test_a_name_is_looked_up_on_path(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    assert resolve_command("serve") == str(tools / f"serve{EXTENSION}")


@pytest.mark.requirement("R75")
def test_another_path_may_be_given_even_a_relative_one(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.parent)
    for path in (str(tools), "tools"):
        assert resolve_command("serve", path=path) == str(tools / f"serve{EXTENSION}")


@pytest.mark.requirement("R75")
def test_a_path_begins_at_the_directory_that_is_given(tools: Path) -> None:
    assert resolve_command(f"./serve{EXTENSION}", cwd=tools) == str(tools / f"serve{EXTENSION}")
    assert resolve_command(f"../tools/serve{EXTENSION}", cwd=tools) == str(tools / f"serve{EXTENSION}")


@pytest.mark.requirement("R75")
def test_home_is_the_users(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tools))
    monkeypatch.setenv("USERPROFILE", str(tools))
    assert resolve_command(f"~/serve{EXTENSION}") == str(tools / f"serve{EXTENSION}")


def test_an_absolute_path_is_returned_unchanged(tools: Path) -> None:
    (tools / "linked").symlink_to(tools / f"serve{EXTENSION}")
    assert resolve_command(str(tools / "linked")) == str(tools / "linked")


@pytest.mark.requirement("R75")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "it is not the name of a program"),
        ("a\0b", "it is not the name of a program"),
        ("no-such-server", "not found on PATH; is it installed?"),
        ("npx -y files", 'not found on PATH; it is one path, and its arguments belong in "args"'),
        ("./serve", "it is a relative path; pass cwd=, or an absolute path"),
        ("{tools}/none", "the file does not exist"),
        ("{tools}/serve -v", 'the file does not exist; it is one path, and its arguments belong in "args"'),
        ("{tools}/notes", "it is not executable; try chmod +x"),
        ("{tools}", "it is a directory"),
    ],
)
def test_a_command_that_cannot_be_run_is_not_found(command: str, reason: str, tools: Path) -> None:
    with pytest.raises(CommandNotFound) as raised:
        resolve_command(command.format(tools=tools), path=str(tools))
    assert raised.value.reason == reason
    assert "\0" not in str(raised.value)
