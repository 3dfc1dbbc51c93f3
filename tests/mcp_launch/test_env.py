"""What a process inherits, and which file a command means."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_launch.env import CommandError, child_environment, resolve_command

PARENT = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LANG": "C",
    "LC_ALL": "C.UTF-8",
    "https_proxy": "http://proxy",
    "SSL_CERT_FILE": "/certs",
    "TMPDIR": "/scratch",
    "AWS_SECRET_ACCESS_KEY": "x",
    "TERM": "() { :; }",
}


def test_a_child_inherits_what_it_needs_and_no_keys() -> None:
    inherited = {key: value for key, value in PARENT.items() if key not in ("AWS_SECRET_ACCESS_KEY", "TERM")}

    assert child_environment(parent=PARENT) == inherited


def test_its_own_environment_wins_and_of_duplicates_the_last() -> None:
    environment = child_environment([("PATH", "/opt"), ("K", "first"), ("K", "last")], parent=PARENT)

    assert (environment["PATH"], environment["K"]) == ("/opt", "last")


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
