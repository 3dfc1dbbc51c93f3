"""The config formats of all clients. Each module is imported when one of its formats is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from mcp_launch.config._formats.format import Format

_MODULES = {
    "acp": "acp",
    "claude-desktop": "claude",
    "claude-code": "claude",
    "vscode": "editors",
    "cursor": "editors",
    "windsurf": "editors",
    "zed": "editors",
    "gemini": "agents",
    "goose": "agents",
}
FORMATS = tuple(_MODULES)
"""The names of all formats."""


def format_called(name: str) -> Format:
    """Return the format with this name.

    Raises:
        UnusableInput: the name is unknown.
    """
    if name not in FORMATS:
        raise UnusableInput(f"unknown format {name!r}; use one of {', '.join(FORMATS)}")
    formats: tuple[Format, ...] = importlib.import_module(f"{__name__}.{_MODULES[name]}").FORMATS
    return next(each for each in formats if each.name == name)
