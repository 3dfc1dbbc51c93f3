"""Recognises a process that listens on a port instead of its standard input, by the URL or port that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_launch.wording import Wording

__all__ = ["explain_silence"]


def explain_silence(lines: Iterable[str], wording: Wording) -> str | None:
    """What to try when a process sends no message, if one of its lines says that it listens on a URL or port."""
    for line in lines:
        if found := _LISTENS.search(line):
            scheme, place, port = found.groups(default="")
            where = f"on port {port}" if port else f"at {scheme}{place.rstrip('.,;:!')}"
            form = wording.given("sse" if where.endswith("/sse") else "http")
            return f"it listens {where}; if it speaks MCP there, give that as {form}"
    return None


_LISTENS = re.compile(
    r"(https?://)(?:[^\s/@]*@)?"
    r"((?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])(?![\w.-]*\w)(?::\d+)?(?:/[^\s\"'<>()?#\x1b]*)?)"
    r"|\blistening (?:on|at) (?:port |[\w.*\[\]:]*:)(\d+)\b",
    re.IGNORECASE,
)
"""A URL of this machine, without user-info and query, or a port."""
