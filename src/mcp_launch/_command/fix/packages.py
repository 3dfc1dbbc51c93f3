"""Names of packages with MCP servers, and what the clients of npm and PyPI say about a name."""

from __future__ import annotations

import shutil
import sys
from typing import Literal, NamedTuple

import anyio

from acp_bindings._lazy import closest
from mcp_launch._executable import child_environment

_PATIENCE = 20.0
"""Seconds for a client to answer."""
KNOWN: dict[Literal["npm", "PyPI"], tuple[str, ...]] = {
    "npm": (
        "@azure/mcp",
        "@browsermcp/mcp",
        "@modelcontextprotocol/server-brave-search",
        "@modelcontextprotocol/server-everything",
        "@modelcontextprotocol/server-filesystem",
        "@modelcontextprotocol/server-github",
        "@modelcontextprotocol/server-gitlab",
        "@modelcontextprotocol/server-google-maps",
        "@modelcontextprotocol/server-memory",
        "@modelcontextprotocol/server-postgres",
        "@modelcontextprotocol/server-puppeteer",
        "@modelcontextprotocol/server-redis",
        "@modelcontextprotocol/server-sequential-thinking",
        "@modelcontextprotocol/server-slack",
        "@notionhq/notion-mcp-server",
        "@playwright/mcp",
        "@sentry/mcp-server",
        "@stripe/mcp",
        "@supabase/mcp-server-supabase",
        "@upstash/context7-mcp",
        "chrome-devtools-mcp",
        "exa-mcp",
        "figma-developer-mcp",
        "firecrawl-mcp",
        "mcp-remote",
        "tavily-mcp",
    ),
    "PyPI": (
        "arxiv-mcp-server",
        "blender-mcp",
        "duckduckgo-mcp-server",
        "markitdown-mcp",
        "mcp-atlassian",
        "mcp-proxy",
        "mcp-server-fetch",
        "mcp-server-git",
        "mcp-server-sqlite",
        "mcp-server-time",
    ),
}
"""Packages that many files name. Others are not proposed: a name that is only similar may be anybody's."""


class Package(NamedTuple):
    """A package of a registry."""

    registry: Literal["npm", "PyPI"]
    name: str

    def __str__(self) -> str:
        return f"the {self.registry} package {self.name}"


def similar(name: str) -> list[Package]:
    """Return the known packages whose name is most like this one, that of the more similar registry first."""
    found = [Package(registry, near) for registry, names in KNOWN.items() if (near := _nearest(name, names))]
    return sorted(found, key=lambda each: each.name != name)


def _nearest(name: str, names: tuple[str, ...]) -> str | None:
    if near := closest(name, names, cutoff=0.84):
        return near
    # The scope may be missing or another one: `server-filesystem`, `@anthropic/server-filesystem`.
    last = {each.rpartition("/")[2]: each for each in names}
    return last.get(closest(name.rpartition("/")[2], last, cutoff=0.9) or "")


async def exists(package: Package) -> bool:
    """Return True if the registry has the package, by its client; also if there is no client to ask."""
    if package.registry == "npm":
        client, words = shutil.which("npm"), ["view", package.name, "name"]
    else:
        client, words = sys.executable, ["-m", "pip", "--disable-pip-version-check", "index", "versions", package.name]
        if pip := shutil.which("pip"):
            client, words = pip, words[2:]
    if client is None:
        return True
    with anyio.move_on_after(_PATIENCE):
        done = await anyio.run_process([client, *words], check=False, env=child_environment())
        # Without versions, npm prints nothing and succeeds.
        return (done.returncode == 0 and done.stdout.strip() != b"") or b"No module named pip" in done.stderr
    return True
