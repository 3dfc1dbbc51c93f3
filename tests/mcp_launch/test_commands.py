"""Which file a command means, and what is said of one that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_launch.command import CommandError, resolve_command


def test_an_absolute_command_is_taken_as_it_is(tmp_path: Path) -> None:
    program = _program(tmp_path / "program")

    assert resolve_command(program, cwd="/", env={}) == (program, None)


def test_a_bare_command_is_searched_on_the_path_of_the_child(tmp_path: Path) -> None:
    program = _program(tmp_path / "program")

    path, warning = resolve_command("program", cwd="/", env={"PATH": str(tmp_path)})

    assert path == program
    assert warning is not None
    assert "ACP wants an absolute path" in warning


def test_a_relative_command_is_relative_to_the_session(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = _program(tmp_path / "bin" / "program")

    path, warning = resolve_command("bin/program", cwd=str(tmp_path), env={})

    assert path == program
    assert warning is not None


@pytest.mark.parametrize(("command", "hint"), [("npx", "Node.js"), ("uvx", "uv"), ("thing", "is it installed")])
def test_a_command_that_is_not_on_path_hints_at_what_to_install(command: str, hint: str) -> None:
    with pytest.raises(CommandError, match=hint) as raised:
        resolve_command(command, cwd="/", env={"PATH": "/nowhere"})

    assert raised.value.code == "command_not_found"


def _program(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)
