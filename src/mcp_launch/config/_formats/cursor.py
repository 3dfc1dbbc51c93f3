"""Cursor: `.cursor/mcp.json` of a project and `~/.cursor/mcp.json`, plain JSON.

`${env:VAR}`, `${workspaceFolder}`, `${userHome}` and their like are replaced in command, args, env, url and headers. It
tries Streamable HTTP before SSE. Source: "Model Context Protocol" of its documentation.
"""

from __future__ import annotations

from mcp_launch.config import _references as variables
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.failures import Phrases


class Cursor(MapFormat):
    """A map format in which only stdio servers have a type."""

    name = "cursor"
    title = "Cursor"
    syntax = variables.CURSOR
    types = {"stdio": "stdio"}  # noqa: RUF012 - a Mapping is not written to
    guesses_sse = True
    phrases = Phrases(needs='a "command" or a "url"', urls=(("http", "url"), ("sse", "url")))
    others = frozenset({"auth"})
    unread = frozenset({"envFile"})


FORMAT = Cursor()
