"""Where each client keeps its file, on Linux, macOS and Windows.

Source: the documentation that each module of a format names. A project's files are in its directory, the user's in the
home directory or where the system keeps settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

PROJECT = {
    "claude-code": ".mcp.json",
    "vscode": ".vscode/mcp.json",
    "cursor": ".cursor/mcp.json",
    "zed": ".zed/settings.json",
    "gemini": ".gemini/settings.json",
}
"""Below the directory of a project."""

USER = {
    "claude-code": (".claude.json",),
    "cursor": (".cursor/mcp.json",),
    "windsurf": (".codeium/windsurf/mcp_config.json", ".codeium/mcp_config.json"),
    "gemini": (".gemini/settings.json",),
}
"""Below the home directory, on every system."""

SYSTEM = {
    "linux": {
        "claude-desktop": "{config}/Claude/claude_desktop_config.json",
        "vscode": "{config}/Code/User/mcp.json",
        "zed": "{config}/zed/settings.json",
        "goose": "{config}/goose/config.yaml",
    },
    "darwin": {
        "claude-desktop": "{home}/Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "{home}/Library/Application Support/Code/User/mcp.json",
        "zed": "{home}/.config/zed/settings.json",
        "goose": "{home}/.config/goose/config.yaml",
    },
    "win32": {
        "claude-desktop": "{appdata}/Claude/claude_desktop_config.json",
        "vscode": "{appdata}/Code/User/mcp.json",
        "zed": "{appdata}/Zed/settings.json",
        "goose": "{appdata}/Block/goose/config/config.yaml",
    },
}
"""Where the system keeps settings."""


class Candidate(NamedTuple):
    """A file in which a client may have servers."""

    path: Path
    format: str
    """Its name in `FORMATS`."""
    scope: Literal["project", "user"] = "user"
    """Whose it is. A file of a project comes with it, perhaps from a stranger: ask before you start what it says."""


def discover(
    *,
    directory: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    platform: str = sys.platform,
) -> list[Candidate]:
    """The files of all clients that exist: first those of the project in `directory`, if given, then the user's."""
    return [each for each in places(directory=directory, env=env, platform=platform) if _is_file(each.path)]


def places(
    *,
    directory: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    platform: str = sys.platform,
) -> Iterator[Candidate]:
    """Every place where such a file may be."""
    variables = os.environ if env is None else env
    if directory is not None:
        for name, below in PROJECT.items():
            yield Candidate(path=Path(directory, below), format=name, scope="project")
    home = variables.get("USERPROFILE" if platform == "win32" else "HOME") or str(Path.home())
    for name, files in USER.items():
        for below in files:
            yield Candidate(path=Path(home, below), format=name)
    roots = {
        "home": home,
        "config": variables.get("XDG_CONFIG_HOME") or f"{home}/.config",
        "appdata": variables.get("APPDATA") or f"{home}/AppData/Roaming",
    }
    for name, pattern in SYSTEM.get(platform, SYSTEM["linux"]).items():
        yield Candidate(path=Path(pattern.format(**roots)), format=name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
