"""The words of a format that is a map from names to servers, which all are but ACP's; how one differs is data."""

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
    """What members are called, and which of them there are."""

    command: str = "command"
    env: str = "env"
    urls: Mapping[str, str] = {"url": "http"}
    """The members that hold a URL, the first that is there counts, and the transport each means where none is said."""
    types: Mapping[str, str] = {}
    """What is written as `type` for each transport; nothing for those left out."""
    transports: tuple[str, ...] = ("stdio", "http", "sse")
    """Those that this client has."""
    needs_type: bool = False
    """A server of which no type is said is a program, also where it has a URL."""
    guesses_sse: bool = False
    """Where no type is said, a URL that ends in /sse is one of SSE."""
    cwd: str | None = None
    """The member that has the directory of one server."""
    timeout: tuple[str, float] | None = None
    """The member, and how many seconds one of its unit is."""
    disabled: tuple[str, bool] | None = None
    """The member, and its value in a server that is not to be started."""
    disables_apart: bool = False
    """It is said elsewhere in the file which servers are not to be started."""
    writes_enabled: bool = False
    """It is also written of a server that is to be started."""
    others: frozenset[str] = frozenset()
    """Further members that this client knows."""
    unread: frozenset[str] = frozenset()
    """Those of them without which the server may not run as it does there."""
    expands: frozenset[str] = MEMBERS
    """The members in which references are replaced."""
    keeps: tuple[str, ...] = ()
    """The members of a file that belong to all its servers."""

    def known(self) -> set[str]:
        """Every member that this client knows in a server."""
        optional = [self.cwd, self.timeout and self.timeout[0], self.disabled and self.disabled[0]]
        fixed = {self.command, "args", self.env, *self.urls, "headers", "type", "transport"}
        return {*fixed, *self.others, *self.unread, *(each for each in optional if each)}

    def guess(self, member: str, url: Any) -> str:
        """The transport of a URL of which no type is said."""
        return "sse" if self.guesses_sse and ends_in_sse(url) else self.urls[member]


def ends_in_sse(url: Any) -> bool:
    """Whether a URL is most likely one of SSE."""
    text = url.written() if isinstance(url, Text) else url
    try:
        return isinstance(text, str) and urlsplit(text).path.rstrip("/").endswith("/sse")
    except ValueError:
        return False
