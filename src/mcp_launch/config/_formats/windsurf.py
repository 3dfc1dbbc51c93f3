"""Windsurf: `~/.codeium/windsurf/mcp_config.json`, plain JSON; a URL is `serverUrl`, or `url`.

`${env:VAR}` is replaced in command, args, env, URL and headers, `${file:path}` by what a file holds. Source: "Cascade
MCP Integration" of its documentation.
"""

from __future__ import annotations

from mcp_launch.config import _references as variables
from mcp_launch.config._formats.format import MEMBERS
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.failures import Phrases


class Windsurf(MapFormat):
    """A map format with a name of its own for URLs."""

    name = "windsurf"
    title = "Windsurf"
    syntax = variables.WINDSURF
    urls = {"serverUrl": "http", "url": "http"}  # noqa: RUF012 - a Mapping is not written to
    guesses_sse = True
    phrases = Phrases(needs='a "command" or a "serverUrl"', urls=(("http", "serverUrl"), ("sse", "serverUrl")))
    disabled = ("disabled", True)
    others = frozenset({"disabledTools", "alwaysAllow", "registry"})
    expands = frozenset({*MEMBERS, "serverUrl"})


FORMAT = Windsurf()
