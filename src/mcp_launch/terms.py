"""What is the same for every server of one launch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio

from mcp_launch.budgets import Budgets
from mcp_launch.shapes import TransportName

__all__ = ["EVERYTHING", "TOOLS", "Listing", "Terms", "Transports"]

Listing: TypeAlias = Literal["tools", "resources", "prompts"]
TOOLS: tuple[Listing, ...] = ("tools",)
EVERYTHING: tuple[Listing, ...] = ("tools", "resources", "prompts")

Transports: TypeAlias = Collection[TransportName]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The part of a launch that every server needs to know."""

    cwd: str
    """The session's working directory, absolute."""
    budgets: Budgets
    lists: Collection[Listing]
    """What is listed before a server counts as ready."""
    transports: Transports | None
    """Those that the agent advertised; None for all."""
    importing: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the server that imports the SDK for all."""
