"""One module for each client's format: how a file of it is read and written. A module is loaded when it is needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from mcp_launch.config._formats.format import Format


FORMATS = ("acp", "claude-desktop", "claude-code", "vscode", "cursor", "windsurf", "zed", "gemini", "goose")
"""The name of every format, as it is typed."""


def format_called(name: str) -> Format:
    """The format of this name.

    Raises:
        UnusableInput: there is none.
    """
    if name not in FORMATS:
        raise UnusableInput(f"there is no format {name!r}; they are {', '.join(FORMATS)}")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    found: Format = module.FORMAT
    return found
