"""The completion of command lines in shells."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp_launch.explore.here import Command
from tests.mcp_launch.test_command import COMMAND, ENV, run


def completed(*words: str) -> list[str]:
    """Return the completions of the last of these words."""
    done = run(
        _MCP_LAUNCH_COMPLETE="complete_bash",
        COMP_WORDS=shlex.join(["mcp-launch", *words]),
        COMP_CWORD=str(len(words)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_names_of_servers_are_completed_from_the_file_that_was_typed(file: str) -> None:
    assert completed("check", file, "--only", "o") == ["odd"]
    assert completed("tools", file, "--only", "") == ["odd", "gone"]
    assert completed("call", file, "g") == ["gone"]
    assert completed("shell", file, "") == ["odd", "gone"]


@pytest.mark.parametrize(
    ("servers", "words", "says"),
    [
        ([], ("tool",), "no servers were found"),
        ([], ("server", "tool"), "no servers were found"),
        ([{"command": "/a"}, {"command": "/b"}], ("tool",), "the 2 servers have no names; add names to select one"),
        ([{"command": "/a"}, {"name": "b"}], ("tool",), "specify the server after the file; choose from b"),
    ],
)
def test_servers_without_names_cannot_be_selected(
    servers: list[dict[str, str]], words: tuple[str, ...], says: str, tmp_path: Path, command: Command
) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps(servers))

    done = command("call", str(file), *words)

    assert (done.status, done.err) == (2, f"mcp-launch: {says}\n")
    assert completed("call", str(file), "") == [each["name"] for each in servers if "name" in each]


@pytest.mark.parametrize(
    "words", [("call", "/no/such", "o"), ("call", "https://h/", "o"), ("call", "-", "o"), ("call", "o")]
)
def test_unknown_names_are_left_to_the_completion_of_the_shell(words: tuple[str, ...]) -> None:
    assert completed(*words) == []


def test_only_one_server_name_is_completed(file: str) -> None:
    assert completed("call", file, "odd", "") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_installed_completion_works_in_a_real_shell(tmp_path: Path, file: str) -> None:
    program = tmp_path / "bin" / "mcp-launch"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m mcp_launch "$@"\n')
    program.chmod(0o755)
    env = {**ENV, "HOME": str(tmp_path), "PATH": f"{program.parent}:{ENV['PATH']}"}

    # Through a shell, which is how it knows for which one.
    bash = ["bash", "--norc", "-c", '"$@"; exit', "bash"]
    installed = subprocess.run([*bash, *COMMAND, "--install-completion"], env=env, capture_output=True, check=False)
    script = tmp_path / ".bash_completions" / "mcp-launch.sh"
    assert (installed.returncode, script.exists()) == (0, True)
    assert str(script) in (tmp_path / ".bashrc").read_text()

    def offered(*words: str) -> list[str]:
        typed = f"""
            . {script}
            COMP_WORDS=(mcp-launch {shlex.join(words)})
            COMP_CWORD={len(words)}
            _mcp_launch_completion mcp-launch
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return subprocess.run(
            ["bash", "--norc", "-c", typed], env=env, capture_output=True, text=True, check=True
        ).stdout.split()

    assert offered("sh") == ["shell"]
    assert offered("shell", file, "") == ["odd", "gone"]
    assert offered("tools", "--verb") == ["--verbose"]
