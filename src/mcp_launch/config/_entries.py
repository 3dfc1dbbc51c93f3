"""What is read from a config file: its servers, and findings about what is odd in it.

An `Entry` has its server twice: ready to be launched, and as the file has it, with its references, from which another
file can be written. `repr` shows neither: they hold secrets.

All are named tuples: to define a dataclass takes longer than to read a small file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from mcp_launch._json_values import as_members
from mcp_launch.config._documents import Place

NOTES = frozenset({"disabled", "not_in_file", "other_project"})
"""The codes of findings that only say which servers are not started, as the file intends."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Finding(NamedTuple):
    """Something odd in a file that is no reason to stop; never quotes a value."""

    line: int
    """From 1, as the column."""
    column: int
    server: str | None
    """The name of the server that it is about, if it is about one."""
    code: str
    """An id that stays, such as `unset_variable`; docs/config.md lists them."""
    message: str

    @property
    def place(self) -> Place:
        """Where in the file."""
        return Place(self.line, self.column)

    @property
    def is_note(self) -> bool:
        """Whether the file intends it so; any other finding is a warning."""
        return self.code in NOTES


class Entry(NamedTuple):
    """One server of a config file."""

    name: str
    server: Any
    """The raw JSON of an ACP `McpServer`, as `launch` takes it, with variables replaced by their values."""
    place: Place
    """Where its name begins."""
    written: Any
    """The server as its file has it: ACP JSON, in which a text that has references is a `Text`."""
    written_cwd: Any = None
    """Its directory as the file has it."""
    disabled: bool = False
    """The file says that it is not to be started."""
    cwd: str | None = None
    """The directory to run this server in, where the format has such a member; ACP has none."""
    timeout: float | None = None
    """Seconds that one request may take, where the format has such a member."""
    extra: Mapping[str, Any] = NOTHING
    """The members that ACP does not have, as they are."""
    secrets: tuple[str, ...] = ()
    """The values of environment variables in its arguments and in the path of its URL, for `Options(secrets=…)`."""

    def __repr__(self) -> str:
        return f"Entry(name={self.name!r}, place={self.place!r}, disabled={self.disabled!r})"


class Config(NamedTuple):
    """The servers that a file asks for, in its order."""

    entries: tuple[Entry, ...]
    format: str
    source: str
    cwd: str | None = None
    """The directory of the whole session, where the file names one."""
    findings: tuple[Finding, ...] = ()
    rest: Mapping[str, Any] = NOTHING
    """What belongs to all servers, such as the `inputs` of VS Code."""

    @property
    def servers(self) -> list[Any]:
        """The raw ACP JSON of the servers that are to be launched: of all but those that are disabled."""
        return [entry.server for entry in self.entries if not entry.disabled]

    def __repr__(self) -> str:
        return f"Config(source={self.source!r}, format={self.format!r}, entries={self.entries!r})"


FILES: Mapping[str, tuple[str, ...]] = {
    "claude-desktop": ("claude_desktop_config.json",),
    "claude-code": (".mcp.json", ".claude.json", "managed-mcp.json"),
    "vscode": (".vscode/mcp.json", "code/user/mcp.json", ".vscode/settings.json", "code/user/settings.json"),
    "cursor": (".cursor/mcp.json",),
    "windsurf": ("windsurf/mcp_config.json", ".codeium/mcp_config.json", "mcp_config.json"),
    "zed": ("zed/settings.json", ".zed/settings.json"),
    "gemini": (".gemini/settings.json", "gemini-extension.json"),
    "goose": ("goose/config.yaml", "goose/config/config.yaml"),
}
"""How the path of a file ends."""

PROJECT_FILES = (
    (".vscode", "mcp.json"),
    (".vscode", "settings.json"),
    (".cursor", "mcp.json"),
    (".zed", "settings.json"),
    (".gemini", "settings.json"),
    (".mcp.json",),
)
"""The files in the directory of a project."""

HOLDERS = ("mcpServers", "servers", "context_servers")
"""The members in which clients have a map of servers, but for Goose's, which means something else to other clients."""


def format_of_path(path: str) -> str | None:
    """The name of the format, if the path tells."""
    parts = _parts_of(path)
    for name, endings in FILES.items():
        for ending in endings:
            wanted = ending.split("/")
            if parts[-len(wanted) :] == wanted:
                return name
    return None


def format_of_shape(value: Any) -> str | None:
    """The name of the format, if the value has the shape of any; the first counts."""
    if surely := next((name for name, has_shape in _SHAPES.items() if has_shape(value)), None):
        return surely
    known = as_members(value)
    if "mcpServers" not in known:
        return None
    if "cwd" in known or not isinstance(known["mcpServers"], dict):
        return "acp"
    if any("serverUrl" in server for server in _servers(value)):
        return "windsurf"
    # Most clients write this; Claude Code is the one that reads most of what they write.
    return "claude-code"


def has_shape_of(name: str, value: Any) -> bool:
    """Whether the value has a shape that only this format has."""
    return name in _SHAPES and _SHAPES[name](value)


def meant_by(value: Any, wanted: str) -> str:
    """A hint where a member is missing: that its name is misspelt, or that a server stands outside of it."""
    import difflib  # noqa: PLC0415 - for what is misspelt, and most is not

    if _is_server(value):
        return "; is it a server? Put it there, in a map of servers by name"
    members = {member.lower(): member for member in as_members(value)}
    near = difflib.get_close_matches(wanted.lower(), sorted(members), n=1, cutoff=0.8)
    if near:
        return f'; is "{members[near[0]]}" meant to be {wanted}?'
    # Only if all are servers: settings may have a map that looks like one.
    maps = [name for name, member in as_members(value).items() if as_members(member)]
    if maps and all(_is_server(value[name]) for name in maps):
        return f'; is "{maps[0]}" a server? Put it there'
    return ""


def project_of(source: str, *, home: str | None) -> str | None:
    """The directory of the project that the file belongs to; None for a file of the user, which is for all projects."""
    parts = tuple(_parts_of(source))
    for ending in PROJECT_FILES:
        if parts[-len(ending) :] == ending:
            directory = os.path.abspath(source)
            for _ in ending:
                directory = os.path.dirname(directory)
            return None if home and directory == os.path.abspath(home) else directory
    return None


def _parts_of(path: str) -> list[str]:
    """The names in a path, of any system and in lower case."""
    return path.replace("\\", "/").lower().split("/")


def _is_acp(value: Any) -> bool:
    known = as_members(value)
    return isinstance(value, list) or "method" in known or isinstance(known.get("mcpServers"), list)


def _is_claude_code(value: Any) -> bool:
    projects = as_members(as_members(value).get("projects"))
    return any("mcpServers" in as_members(project) for project in projects.values())


def _is_vscode(value: Any) -> bool:
    known = as_members(value)
    return isinstance(known.get("servers"), dict) or isinstance(as_members(known.get("mcp")).get("servers"), dict)


def _is_zed(value: Any) -> bool:
    return isinstance(as_members(value).get("context_servers"), dict)


def _is_gemini(value: Any) -> bool:
    return any("httpUrl" in server for server in _servers(value))


def _is_goose(value: Any) -> bool:
    # Other clients have settings of that name, in which there are no maps.
    return any(isinstance(each, dict) for each in as_members(as_members(value).get("extensions")).values())


def _is_server(value: Any) -> bool:
    return not as_members(value).keys().isdisjoint(("command", "cmd", "url", "httpUrl", "serverUrl"))


def _servers(value: Any) -> list[dict[str, Any]]:
    return [as_members(server) for server in as_members(as_members(value).get("mcpServers")).values()]


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "acp": _is_acp,
    "claude-code": _is_claude_code,
    "vscode": _is_vscode,
    "zed": _is_zed,
    "gemini": _is_gemini,
    "goose": _is_goose,
}
