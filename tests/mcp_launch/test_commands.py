"""The file that a command means, and the errors for commands that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_launch._executable import CommandError, resolve_command


@pytest.mark.requirement("R75")
@pytest.mark.parametrize("strict", [False, True])
def test_an_absolute_command_is_used_unchanged(*, strict: bool, tmp_path: Path) -> None:
    program = _program(tmp_path / "program")

    assert resolve_command(program, cwd="/", env={}, strict=strict) == (program, None)


@pytest.mark.requirement("R75", "D4")
def test_a_bare_command_is_searched_on_the_path_of_the_child(tmp_path: Path) -> None:
    program = _program(tmp_path / "program")

    path, warning = resolve_command("program", cwd="/", env={"PATH": str(tmp_path)})

    assert path == program
    assert warning is not None
    assert "ACP requires an absolute path" in warning


@pytest.mark.requirement("R51", "R75")
def test_a_relative_command_is_relative_to_the_session(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = _program(tmp_path / "bin" / "program")

    path, warning = resolve_command("bin/program", cwd=str(tmp_path), env={})

    assert path == program
    assert warning is not None


@pytest.mark.parametrize(("command", "hint"), [("npx", "Node.js"), ("uvx", "uv"), ("thing", "is it installed")])
def test_a_command_missing_on_path_is_reported_with_what_to_install(command: str, hint: str) -> None:
    with pytest.raises(CommandError, match=hint) as raised:
        resolve_command(command, cwd="/", env={"PATH": "/nowhere"})

    assert raised.value.code == "command_not_found"


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("thing ", "it ends with whitespace"),
        ("/no/thing\n", "it ends with whitespace"),
        ("thing\u200b", "contains the invisible character U\\+200B"),
        ("thing --fast ", 'put arguments in "args"'),
    ],
)
def test_invisible_characters_in_a_command_are_reported(command: str, hint: str) -> None:
    with pytest.raises(CommandError, match=hint):
        resolve_command(command, cwd="/", env={"PATH": "/nowhere"})


def test_a_relative_entry_of_path_is_relative_to_the_session(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = _program(tmp_path / "bin" / "program")

    path, _ = resolve_command("program", cwd=str(tmp_path), env={"PATH": "bin"})

    assert path == program


@pytest.mark.requirement("R75", "D4")
@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("program", 'write "{}/bin/program"'),
        ("bin/program", 'write "{}/bin/program"'),
        ("./bin/program", 'write "{}/./bin/program"'),
        ("npx", "is Node.js installed?"),
        ("bin/gone", '"{}/bin/gone" does not exist either'),
        ("program --stdio", 'write "command": "program", "args": ["--stdio"]'),
    ],
)
def test_strict_rejects_other_commands_with_advice(command: str, instead: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _program(tmp_path / "bin" / "program")

    with pytest.raises(CommandError) as raised:
        resolve_command(command, cwd=str(tmp_path), env={"PATH": str(tmp_path / "bin")}, strict=True)

    assert (raised.value.stage, raised.value.code) == ("spec", "invalid_spec")
    assert str(raised.value).startswith(f'the command must be an absolute path, not "{command}"; ')
    assert str(raised.value).endswith(instead.format(tmp_path))


def _program(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)
