"""The locations of the config files of all clients on Linux, macOS and Windows.

Source: the documentation named by the class of each format. Files of a project are in its directory, those of the user
in the home directory or in the settings directory of the system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

PROJECT = {
    "claude-code": (".mcp.json",),
    "vscode": (".vscode/mcp.json",),
    "cursor": (".cursor/mcp.json",),
    "zed": (".zed/settings.json",),
    "gemini": (".gemini/settings.json",),
    "codex": (".codex/config.toml",),
    "opencode": (".opencode/opencode.json", ".opencode/opencode.jsonc", "opencode.json", "opencode.jsonc"),
}
"""Paths in the project directory."""

USER = {
    "claude-code": ("{claude}/.claude.json",),
    "cursor": ("{home}/.cursor/mcp.json",),
    "windsurf": ("{home}/.codeium/windsurf/mcp_config.json", "{home}/.codeium/mcp_config.json"),
    "gemini": ("{gemini}/.gemini/settings.json",),
    "opencode": ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
    "claude-desktop": ("{settings}/Claude/claude_desktop_config.json",),
    "vscode": ("{settings}/Code/User/mcp.json",),
    "zed": ("{zed}/settings.json",),
    "goose": ("{goose}/config.yaml",),
    "codex": ("{codex}/config.toml",),
}
"""Paths of the user, in directories that depend on the system."""


class Candidate(NamedTuple):
    """A file that may contain servers of a client."""

    path: Path
    format: str
    """Its name in `FORMATS`."""
    scope: Literal["project", "user"] = "user"
    """The owner. A file of a project may come from a stranger: ask the user before you start its servers."""


def discover(
    *,
    directory: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    platform: str = sys.platform,
) -> list[Candidate]:
    """Return the existing files of all clients: those of the project in *directory*, if given, then the user's."""
    found = places(directory, os.environ if env is None else env, platform)
    return [each for each in found if os.path.isfile(each.path)]


def places(
    directory: str | os.PathLike[str] | None, variables: Mapping[str, str], platform: str
) -> Iterator[Candidate]:
    if directory is not None:
        for name, files in PROJECT.items():
            for below in files:
                yield Candidate(path=Path(directory, below), format=name, scope="project")
    home = variables.get("USERPROFILE" if platform == "win32" else "HOME") or str(Path.home())
    config = variables.get("XDG_CONFIG_HOME") or f"{home}/.config"
    appdata = variables.get("APPDATA") or f"{home}/AppData/Roaming"
    settings, zed, goose = {
        "darwin": (f"{home}/Library/Application Support", f"{home}/.config/zed", f"{config}/goose"),
        "win32": (appdata, f"{appdata}/Zed", f"{appdata}/Block/goose/config"),
    }.get(platform, (config, f"{config}/zed", f"{config}/goose"))
    folders = {
        "home": home,
        "config": config,
        "settings": settings,
        "zed": zed,
        "claude": variables.get("CLAUDE_CONFIG_DIR") or home,
        "codex": variables.get("CODEX_HOME") or f"{home}/.codex",
        "gemini": variables.get("GEMINI_CLI_HOME") or home,
        "goose": f"{root}/config" if (root := variables.get("GOOSE_PATH_ROOT")) else goose,
    }
    for name, files in USER.items():
        for file in files:
            yield Candidate(path=Path(file.format(**folders)), format=name)
    if platform == "win32":
        # It is installed as a package, which has its own %APPDATA%.
        local = variables.get("LOCALAPPDATA") or f"{home}/AppData/Local"
        packaged = Path(local, "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json")
        yield Candidate(path=packaged, format="claude-desktop")
    if own := variables.get("OPENCODE_CONFIG"):
        yield Candidate(path=Path(own), format="opencode")
