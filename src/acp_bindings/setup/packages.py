"""What a function gives that is handed a protocol package, to type checkers: the types of that very package.

They look at what the module holds: `read_history(v1, …)` is a list of `v1.SessionUpdate`. For annotations alone.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeVar

__all__ = ["HasChunks", "HasServers", "HasUpdates", "T", "TakesServers", "Tells"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class HasChunks(Protocol[T_co]):
    """A package whose chunks of the user's message are `T_co`."""

    @property
    def UserMessageChunk(self) -> type[T_co]: ...  # noqa: N802, D102


class HasServers(Protocol[T]):
    """A package whose request for a session is `T`."""

    @property
    def NewSessionRequest(self) -> type[TakesServers[T]]: ...  # noqa: N802, D102


class TakesServers(Protocol[T]):
    """A request with MCP servers that are `T`."""

    @property
    def mcp_servers(self) -> list[T]: ...  # noqa: D102


class _HasUpdates1(Protocol[T_co]):
    @property
    def SessionNotification(self) -> type[T_co]: ...  # noqa: N802


class _HasUpdates2(Protocol[T_co]):
    @property
    def UpdateSessionNotification(self) -> type[T_co]: ...  # noqa: N802


HasUpdates: TypeAlias = _HasUpdates1[T] | _HasUpdates2[T]
"""A package whose params of `session/update` are `T`: v1 and v2 call them otherwise."""


class Tells(Protocol[T_co]):
    """The params of `session/update`, with an update that is `T_co`."""

    @property
    def update(self) -> T_co: ...  # noqa: D102
