"""`mcp-launch convert`, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_launch.config import FORMATS
from tests.mcp_launch.support import SECRET, run_python

SAMPLES = Path(__file__).parent / "samples"


def test_a_file_is_printed_as_another_client_writes_it(tmp_path: Path) -> None:
    file = tmp_path / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(b"\xef\xbb\xbf" + (SAMPLES / "vscode_mcp.json").read_bytes().replace(b"\n", b"\r\n"))

    done = run_python("-m", "mcp_launch", "convert", str(file), "--to", "claude-code")

    assert done.returncode == 0
    assert json.loads(done.stdout)["mcpServers"]["local"]["env"] == {"KEY": "${LOCAL_KEY}", "PORT": "8080"}
    warnings = done.stderr.splitlines()
    assert warnings[0] == f"{file}:1:1: warning: Claude Code does not support inputs; it was omitted [not_said]"
    assert warnings[1].startswith(f"{file}:15:34: warning: github: Claude Code does not replace ${{input:github-key}}")
    assert all(": warning: " in each for each in warnings)


def test_secrets_are_kept_in_place_and_are_in_no_warning() -> None:
    config = {"mcpServers": {"é": {"command": "c", "env": {"K": SECRET}, "oops": SECRET, "cwd": SECRET}}}

    done = run_python("-m", "mcp_launch", "convert", "-", "--from", "gemini", "--to", "acp", stdin=json.dumps(config))

    assert json.loads(done.stdout) == [
        {"name": "é", "command": "c", "args": [], "env": [{"name": "K", "value": SECRET}]}
    ]
    assert SECRET not in done.stderr
    assert len(done.stderr.splitlines()) == 3


def test_invalid_input_exits_2() -> None:
    for options, says in (
        (("--to", "emacs"), "unknown format 'emacs'; use one of acp, "),
        (("--to", "zed", "--from", "emacs"), "unknown format 'emacs'"),
        (("--to", "zed"), "standard input:1:1: contains no mcpServers"),
    ):
        done = run_python("-m", "mcp_launch", "convert", "-", *options, stdin="{}")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"mcp-launch: {says}")


def test_a_missing_format_lists_all_formats() -> None:
    done = run_python("-m", "mcp_launch", "convert", str(SAMPLES / "claude.json"))

    assert (done.returncode, done.stdout) == (2, "")
    assert f"Missing option '--to'. One of {', '.join(FORMATS)}." in " ".join(done.stderr.split())


def test_a_project_of_claude_code_is_named_as_the_workspace() -> None:
    sample = (str(SAMPLES / "claude.json"), "--from", "claude-code", "--to", "cursor")

    done = run_python("-m", "mcp_launch", "convert", *sample, "--workspace", "/home/ada/shop")

    assert list(json.loads(done.stdout)["mcpServers"]) == ["shop", "both"]
    assert "everywhere: Cursor does not support disabled servers; it was omitted [left_out]" in done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude_desktop_config.json", '{"mcpServers": {"web": {"url": "https://h.example/mcp"}}}'),
        ("goose/config.yaml", "extensions: {web: {type: streamable_http, uri: https://h.example/mcp}}"),
    ],
)
def test_an_entry_that_the_old_client_refuses_is_not_reported_as_lost(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)

    done = run_python("-m", "mcp_launch", "convert", str(file), "--to", "claude-code")

    assert json.loads(done.stdout)["mcpServers"] == {"web": {"type": "http", "url": "https://h.example/mcp"}}
    assert done.stderr == ""
