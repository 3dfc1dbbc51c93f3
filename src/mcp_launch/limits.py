"""How much a server may send, so that no message fills the memory or holds up the others."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mcp_launch.failures import UnusableInput

__all__ = ["DEEPEST", "Limits", "allow_more", "megabytes"]

DEEPEST = 200
"""Levels of nesting in a message. The JSON parser has this limit, and it cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one message of a server, and of all pages of a list together.

    A response beyond a limit fails its request with the code `invalid_response`. Any other message beyond a limit is
    dropped with a warning, and a list is cut with a warning. The defaults are for a hostile server: less than 700 MB
    of memory for any message. The tools of GitHub's whole REST API, 1,223 with all schemas, need 12 MB and 0.9 million
    values.

    Raises:
        UnusableInput: one of them is not a positive integer.
    """

    bytes: int = 64 * 1024 * 1024
    """Bytes, after decompression."""
    values: int = 2_000_000
    """JSON values, where the keys of objects count too, and an empty array or object counts twice."""
    items: int = 20_000
    """Items of arrays that MCP itself defines, such as tools, resources or content blocks. Arrays in schemas,
    structured content and metadata do not count."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            if type(value) is not int or value < 1:
                raise UnusableInput(f"Limits.{each.name} must be a positive integer, not {value!r}")


def allow_more(limit: str) -> str:
    """Return how to raise a limit, as the end of a message."""
    return f"Options(limits=Limits({limit}=…)) allows more"


def megabytes(size: int) -> str:
    """Return a number of bytes as text."""
    return f"{size / (1 << 20):g} MB" if size >= 1 << 20 else f"{size:,} bytes"
