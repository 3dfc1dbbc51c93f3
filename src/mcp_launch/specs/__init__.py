"""The specification of a server, in one shape for all protocol versions: a process, or a URL."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

from acp_bindings._redact import Redactor, shown_url
from mcp_launch.processes.env import inherited_proxies
from mcp_launch.shapes import TransportName

__all__ = ["HttpServer", "Pairs", "ServerSpec", "SseServer", "StdioServer"]

Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class StdioServer:
    """A process that speaks MCP on its standard input and output."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Pairs = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What else is to be hidden, as the options say."""

    transport: ClassVar[TransportName] = "stdio"

    @cached_property
    def redactor(self) -> Redactor:
        """Removes the secrets of this server, and those in the proxies that it inherits."""
        return Redactor([*(value for _, value in self.env), *self.secrets], urls=inherited_proxies())

    @property
    def target(self) -> str:
        """What is started or connected to, without secrets."""
        return self.command


@dataclass(frozen=True, kw_only=True)
class HttpServer:
    """A URL that speaks MCP's Streamable HTTP transport."""

    name: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What else is to be hidden, as the options say."""

    transport: ClassVar[TransportName] = "http"

    @cached_property
    def redactor(self) -> Redactor:
        """Removes the secrets of this server."""
        return Redactor([*(value for _, value in self.headers), *self.secrets], urls=[self.url])

    @property
    def target(self) -> str:
        """What is started or connected to, without secrets."""
        shown = shown_url(self.url)
        # Not by all secrets, of which the value of a header may be a usual word.
        return Redactor(self.secrets)(shown) if self.secrets else shown


@dataclass(frozen=True, kw_only=True)
class SseServer(HttpServer):
    """A URL that speaks MCP's deprecated SSE transport."""

    transport: ClassVar[TransportName] = "sse"


ServerSpec: TypeAlias = StdioServer | HttpServer | SseServer
