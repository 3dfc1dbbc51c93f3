"""Types for annotations: each is the union of the types of one name in all protocol packages. No package is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from acp_bindings import v1, v2
    from acp_bindings import v1_unstable as v1u
    from acp_bindings import v2_unstable as v2u

    AgentCapabilities: TypeAlias = (
        v1.AgentCapabilities | v1u.AgentCapabilities | v2.AgentCapabilities | v2u.AgentCapabilities
    )
    ClientCapabilities: TypeAlias = (
        v1.ClientCapabilities | v1u.ClientCapabilities | v2.ClientCapabilities | v2u.ClientCapabilities
    )
    Implementation: TypeAlias = v1.Implementation | v1u.Implementation | v2.Implementation | v2u.Implementation
    AuthMethod: TypeAlias = v1.AuthMethod | v1u.AuthMethod | v2.AuthMethod | v2u.AuthMethod
    InitializeRequest: TypeAlias = (
        v1.InitializeRequest | v1u.InitializeRequest | v2.InitializeRequest | v2u.InitializeRequest
    )
    InitializeResponse: TypeAlias = (
        v1.InitializeResponse | v1u.InitializeResponse | v2.InitializeResponse | v2u.InitializeResponse
    )
    LoginRequest: TypeAlias = (
        v1.AuthenticateRequest | v1u.AuthenticateRequest | v2.LoginAuthRequest | v2u.LoginAuthRequest
    )
    LogoutRequest: TypeAlias = v1.LogoutRequest | v1u.LogoutRequest | v2.LogoutAuthRequest | v2u.LogoutAuthRequest

    McpServer: TypeAlias = v1.McpServer | v1u.McpServer | v2.McpServer | v2u.McpServer
    """An MCP server of any protocol package."""

    McpServerLike: TypeAlias = McpServer | Mapping[str, Any]
    """An MCP server, as a model or as JSON."""

    NewSessionRequest: TypeAlias = (
        v1.NewSessionRequest | v1u.NewSessionRequest | v2.NewSessionRequest | v2u.NewSessionRequest
    )
    LoadSessionRequest: TypeAlias = (
        v1.LoadSessionRequest | v1u.LoadSessionRequest | v2.ResumeSessionRequest | v2u.ResumeSessionRequest
    )
    """A request for a session with its history; in v2 that is `session/resume` with `replayFrom`."""

    ResumeSessionRequest: TypeAlias = (
        v1.ResumeSessionRequest | v1u.ResumeSessionRequest | v2.ResumeSessionRequest | v2u.ResumeSessionRequest
    )
    ForkSessionRequest: TypeAlias = v1u.ForkSessionRequest | v2u.ForkSessionRequest
    CloseSessionRequest: TypeAlias = (
        v1.CloseSessionRequest | v1u.CloseSessionRequest | v2.CloseSessionRequest | v2u.CloseSessionRequest
    )
    DeleteSessionRequest: TypeAlias = (
        v1.DeleteSessionRequest | v1u.DeleteSessionRequest | v2.DeleteSessionRequest | v2u.DeleteSessionRequest
    )
    ListSessionsRequest: TypeAlias = (
        v1.ListSessionsRequest | v1u.ListSessionsRequest | v2.ListSessionsRequest | v2u.ListSessionsRequest
    )
    SessionInfo: TypeAlias = v1.SessionInfo | v1u.SessionInfo | v2.SessionInfo | v2u.SessionInfo
    PromptRequest: TypeAlias = v1.PromptRequest | v1u.PromptRequest | v2.PromptRequest | v2u.PromptRequest
    SessionUpdate: TypeAlias = v1.SessionUpdate | v1u.SessionUpdate | v2.SessionUpdate | v2u.SessionUpdate
    UserMessageChunk: TypeAlias = (
        v1.UserMessageChunk | v1u.UserMessageChunk | v2.UserMessageChunk | v2u.UserMessageChunk
    )
    SessionNotification: TypeAlias = (
        v1.SessionNotification | v1u.SessionNotification | v2.UpdateSessionNotification | v2u.UpdateSessionNotification
    )
    """The params of `session/update`."""


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class HasServers(Protocol[T]):
    """A package whose `NewSessionRequest` takes MCP servers of type `T`."""

    @property
    def NewSessionRequest(self) -> type[TakesServers[T]]: ...  # noqa: N802, D102


class TakesServers(Protocol[T]):
    """A request with MCP servers of type `T`."""

    @property
    def mcp_servers(self) -> list[T]: ...  # noqa: D102


class _HasUpdates1(Protocol[T_co]):
    @property
    def SessionNotification(self) -> type[T_co]: ...  # noqa: N802


class _HasUpdates2(Protocol[T_co]):
    @property
    def UpdateSessionNotification(self) -> type[T_co]: ...  # noqa: N802


HasUpdates: TypeAlias = _HasUpdates1[T] | _HasUpdates2[T]
"""A package whose params of `session/update` are of type `T`."""
