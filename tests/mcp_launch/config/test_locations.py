"""The locations of each client's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_launch.config import FORMATS, discover
from mcp_launch.config._detection import format_of_path
from mcp_launch.config._locations import Candidate, places


def test_files_that_are_there_are_found_the_projects_first(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    there = [
        Candidate(path=project / ".vscode" / "mcp.json", format="vscode", scope="project"),
        Candidate(path=home / ".cursor" / "mcp.json", format="cursor", scope="user"),
        Candidate(path=home / ".config" / "goose" / "config.yaml", format="goose", scope="user"),
    ]
    for each in there:
        each.path.parent.mkdir(parents=True)
        each.path.write_text("{}")
    (project / ".mcp.json").mkdir()

    found = discover(directory=project, env={"HOME": str(home)}, platform="linux")

    assert found == there
    assert found[:-1] == discover(directory=project, env={"USERPROFILE": str(home)}, platform="win32")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_location_of_every_client_determines_its_format(platform: str) -> None:
    env = {"HOME": "/home/ada", "USERPROFILE": "C:/Users/ada", "APPDATA": "C:/Users/ada/AppData/Roaming"}
    found = list(places("/p", env, platform))

    assert {each.format for each in found} == set(FORMATS) - {"acp", "registry"}
    for each in found:
        assert format_of_path(str(each.path)) == each.format


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/etc/claude-code/managed-mcp.json", "claude-code"),
        ("/h/.config/Code/User/settings.json", "vscode"),
        ("/p/.vscode/settings.json", "vscode"),
        ("gemini-extension.json", "gemini"),
        ("mcp_config.json", "windsurf"),
        (r"C:\Users\Ada\.Cursor\mcp.json", "cursor"),
        ("/p/settings.json", None),
        ("my.mcp.json", None),
    ],
)
def test_a_path_determines_its_client(path: str, name: str | None) -> None:
    assert format_of_path(path) == name


PACKAGED = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"


@pytest.mark.parametrize(
    ("platform", "env", "path"),
    [
        ("linux", {}, str(Path.home() / ".claude.json")),
        ("linux", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("linux", {"GEMINI_CLI_HOME": "/g"}, "/g/.gemini/settings.json"),
        ("linux", {"GOOSE_PATH_ROOT": "/g"}, "/g/config/config.yaml"),
        ("linux", {"OPENCODE_CONFIG": "/o/my.json"}, "/o/my.json"),
        ("linux", {"HOME": "/h"}, "/h/.config/Claude/claude_desktop_config.json"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"),
        ("darwin", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.jsonc"),
        ("darwin", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/goose/config.yaml"),
        ("darwin", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/h/.config/zed/settings.json"),
        ("win32", {"USERPROFILE": "/u"}, "/u/.config/opencode/opencode.json"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"USERPROFILE": "/u", "APPDATA": "/a"}, "/a/Claude/claude_desktop_config.json"),
        ("win32", {"USERPROFILE": "/u"}, "/u/AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", {"USERPROFILE": "/u"}, f"/u/AppData/Local/{PACKAGED}/claude_desktop_config.json"),
        ("win32", {"USERPROFILE": "/u", "LOCALAPPDATA": "/l"}, f"/l/{PACKAGED}/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_own_place_for_settings(platform: str, env: dict[str, str], path: str) -> None:
    assert Path(path) in {each.path for each in places(None, env, platform)}
