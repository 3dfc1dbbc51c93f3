"""Detects the format of a config file by its path and by its content."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acp_bindings._lazy import closest
from mcp_launch._json_values import as_members
from mcp_launch.config._locations import PROJECT, places

FILES: Mapping[str, tuple[str, ...]] = {
    "claude-desktop": ("claude_desktop_config.json",),
    "claude-code": (".mcp.json", ".claude.json", "managed-mcp.json"),
    "vscode": (".vscode/mcp.json", "code/user/mcp.json", ".vscode/settings.json", "code/user/settings.json"),
    "cursor": (".cursor/mcp.json",),
    "windsurf": ("windsurf/mcp_config.json", ".codeium/mcp_config.json", "mcp_config.json"),
    "zed": ("zed/settings.json", ".zed/settings.json"),
    "gemini": (".gemini/settings.json", "gemini-extension.json"),
    "goose": ("goose/config.yaml", "goose/config/config.yaml"),
    "codex": (".codex/config.toml",),
    "opencode": ("opencode.json", "opencode.jsonc"),
    "registry": ("server.json",),
}
"""The endings of the paths of each client's files."""
PROJECT_FILES = (*(file for files in PROJECT.values() for file in files), ".vscode/settings.json")
"""The files in a project directory."""
HOLDERS = ("mcpServers", "servers", "context_servers", "mcp_servers")
"""The members that contain a map of servers, except those of Goose and OpenCode, which others use differently."""


def format_of_path(path: str) -> str | None:
    """Return the name of the format that belongs to a path, if any."""
    return next((name for name, endings in FILES.items() if any(_ends_in(path, ending) for ending in endings)), None)


def format_of_shape(value: Any) -> str | None:
    """Return the name of the first format that the value fits, if any."""
    if shapes := shapes_of(value):
        return shapes[0]
    members = as_members(value)
    if "mcpServers" not in members:
        return None
    if "cwd" in members or not isinstance(members["mcpServers"], dict):
        return "acp"
    if any("serverUrl" in server for server in _servers(value)):
        return "windsurf"
    # Most clients write this; Claude Code supports most of it.
    return "claude-code"


def shapes_of(value: Any) -> list[str]:
    """Return the names of the formats whose distinctive shape the value has."""
    members = as_members(value)
    in_mcp = as_members(members.get("mcp"))
    of_opencode = [*in_mcp.values(), *as_members(in_mcp.get("servers")).values()]
    is_opencode = any(as_members(each).get("type") in ("local", "remote") for each in of_opencode)
    fits = {
        "acp": isinstance(value, list) or "method" in members or isinstance(members.get("mcpServers"), list),
        "claude-code": any("mcpServers" in as_members(each) for each in as_members(members.get("projects")).values()),
        "vscode": isinstance(members.get("servers"), dict)
        or (isinstance(in_mcp.get("servers"), dict) and not is_opencode),
        "zed": isinstance(members.get("context_servers"), dict),
        "gemini": any("httpUrl" in server for server in _servers(value)),
        # Other clients have settings with this name that do not contain maps.
        "goose": any(isinstance(each, dict) for each in as_members(members.get("extensions")).values()),
        "opencode": str(members.get("$schema")).startswith("https://opencode.ai/") or is_opencode,
        "registry": any(isinstance(described(value).get(member), list) for member in ("packages", "remotes")),
    }
    return [name for name, is_fitting in fits.items() if is_fitting]


def described(value: Any) -> dict[str, Any]:
    """Return the members of a `server.json`, or of the response of the registry, which contains one as `server`."""
    members = as_members(value)
    return as_members(members["server"]) if isinstance(members.get("server"), dict) else members


def project_of(source: str, variables: Mapping[str, str]) -> str | None:
    """Return the directory of the project that the file belongs to; None for a file of the user."""
    of_user = (os.path.abspath(each.path) for each in places(None, variables, sys.platform))
    return None if os.path.abspath(source) in of_user else project_above(source)


def project_above(source: str) -> str | None:
    """Return the directory above a file whose path is that of a project's file, even if it is the user's."""
    below = next((file for file in PROJECT_FILES if _ends_in(source, file)), None)
    return None if below is None else str(Path(os.path.abspath(source)).parents[below.count("/")])


def meant_by(value: Any, wanted: str) -> str:
    """Return a hint about a missing member: its name is misspelled, or a server is outside of it."""
    if is_server(value):
        return "; is it a server? Put it there, in a map of servers by name"
    members = {member.lower(): member for member in as_members(value)}
    if near := closest(wanted.lower(), sorted(members), cutoff=0.8):
        return f'; is "{members[near]}" meant to be {wanted}?'
    # Only if all are servers: settings may contain a map that looks like one.
    maps = [name for name, member in as_members(value).items() if as_members(member)]
    if maps and all(is_server(value[name]) for name in maps):
        return f'; is "{maps[0]}" a server? Put it there'
    return ""


def _ends_in(path: str, ending: str) -> bool:
    """Return True if a path of any system ends in these names."""
    return f"/{path}".replace("\\", "/").lower().endswith(f"/{ending}")


def is_server(value: Any) -> bool:
    return not as_members(value).keys().isdisjoint(("command", "cmd", "url", "httpUrl", "serverUrl"))


def _servers(value: Any) -> list[dict[str, Any]]:
    return [as_members(server) for server in as_members(as_members(value).get("mcpServers")).values()]
