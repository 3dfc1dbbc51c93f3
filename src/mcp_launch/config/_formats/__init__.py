"""The config formats of all clients."""

from __future__ import annotations

from mcp_launch.config._formats.acp import Acp
from mcp_launch.config._formats.agents import Gemini, Goose
from mcp_launch.config._formats.claude import ClaudeCode, ClaudeDesktop
from mcp_launch.config._formats.coding_agents import Codex, OpenCode
from mcp_launch.config._formats.editors import Cursor, VsCode, Windsurf, Zed
from mcp_launch.config._formats.format import Format
from mcp_launch.config._formats.registry import Registry
from mcp_launch.failures import UnusableInput

_ALL: tuple[Format, ...] = (
    Acp(),
    ClaudeDesktop(),
    ClaudeCode(),
    VsCode(),
    Cursor(),
    Windsurf(),
    Zed(),
    Gemini(),
    Goose(),
    Codex(),
    OpenCode(),
    Registry(),
)
FORMATS = tuple(each.name for each in _ALL)
"""The names of all formats."""


def format_called(name: str) -> Format:
    """Return the format with this name.

    Raises:
        UnusableInput: the name is unknown.
    """
    for each in _ALL:
        if each.name == name:
            return each
    raise UnusableInput(f"unknown format {name!r}; use one of {', '.join(FORMATS)}")
