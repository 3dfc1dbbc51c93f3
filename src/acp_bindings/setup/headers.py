"""Which headers of a request to an MCP server belong to the transport, whatever its entry in `mcpServers` says."""

from __future__ import annotations

__all__ = ["is_owned"]

_OWNED = frozenset(
    (
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    )
)


def is_owned(name: str) -> bool:
    """Whether the transport writes the header *name*, so that an entry has no say in it (v2 `McpServerHttp.headers`).

    Those of HTTP itself, and those that MCP's Streamable HTTP transport defines.
    """
    lowered = name.lower()
    return lowered in _OWNED or lowered.startswith("mcp-param-")
