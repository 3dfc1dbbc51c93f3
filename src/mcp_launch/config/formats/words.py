"""The names and rules in which map formats differ from each other, as class attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp_launch.config.formats.format import Format
from mcp_launch.config.references import Text

__all__ = ["MEMBERS", "Words", "ends_in_sse"]

MEMBERS = frozenset({"command", "args", "env", "url", "headers"})
"""Those in which most clients replace references."""


class Words(Format):
    """The names of members, and which of them a client has."""

    command: str = "command"
    env: str = "env"
    urls: Mapping[str, str] = {"url": "http"}
    """The members that hold a URL, each with its transport where there is no type; the first that is present counts."""
    types: Mapping[str, str] = {}
    """What is written as `type` for each transport; those not here are written without a type."""
    transports: tuple[str, ...] = ("stdio", "http", "sse")
    """The transports that this client has."""
    needs_type: bool = False
    """Whether a server without a type is a program, even if it has a URL."""
    guesses_sse: bool = False
    """Whether a URL that ends in /sse means SSE where there is no type."""
    cwd: str | None = None
    """The member with the directory of one server."""
    timeout: tuple[str, float] | None = None
    """The member with the timeout, and its unit in seconds."""
    disabled: tuple[str, bool] | None = None
    """The member that disables a server, and its value when it does."""
    disables_apart: bool = False
    """Whether another part of the file says which servers are not to be started."""
    others: frozenset[str] = frozenset()
    """Further members that this client knows."""
    unread: frozenset[str] = frozenset()
    """Members that this client knows and that are not read here, so that the server may run in another way."""
    expands: frozenset[str] = MEMBERS
    """The members in which references are replaced."""
    keeps: tuple[str, ...] = ()
    """Members of the file itself that are kept when it is written."""

    def known(self) -> set[str]:
        """Every member that this client knows in a server."""
        optional = [self.cwd, self.timeout and self.timeout[0], self.disabled and self.disabled[0]]
        fixed = {self.command, "args", self.env, *self.urls, "headers", "type", "transport"}
        return {*fixed, *self.others, *self.unread, *(each for each in optional if each)}

    def guess(self, member: str, url: Any) -> str:
        """The transport of a URL without a type."""
        return "sse" if self.guesses_sse and ends_in_sse(url) else self.urls[member]


def ends_in_sse(url: Any) -> bool:
    """Whether the path of a URL ends in /sse, as with most servers that speak SSE."""
    text = url.written() if isinstance(url, Text) else url
    try:
        return isinstance(text, str) and urlsplit(text).path.rstrip("/").endswith("/sse")
    except ValueError:
        return False
