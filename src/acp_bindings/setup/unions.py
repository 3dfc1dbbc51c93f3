"""Types for annotations: each is the union of the types of one name in all protocol packages. No package is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from acp_bindings import v1, v1_unstable, v2, v2_unstable

    AgentCapabilities: TypeAlias = (
        v1.AgentCapabilities | v1_unstable.AgentCapabilities | v2.AgentCapabilities | v2_unstable.AgentCapabilities
    )
    ClientCapabilities: TypeAlias = (
        v1.ClientCapabilities | v1_unstable.ClientCapabilities | v2.ClientCapabilities | v2_unstable.ClientCapabilities
    )
    Implementation: TypeAlias = (
        v1.Implementation | v1_unstable.Implementation | v2.Implementation | v2_unstable.Implementation
    )
    AuthMethod: TypeAlias = v1.AuthMethod | v1_unstable.AuthMethod | v2.AuthMethod | v2_unstable.AuthMethod
    InitializeRequest: TypeAlias = (
        v1.InitializeRequest | v1_unstable.InitializeRequest | v2.InitializeRequest | v2_unstable.InitializeRequest
    )
    InitializeResponse: TypeAlias = (
        v1.InitializeResponse | v1_unstable.InitializeResponse | v2.InitializeResponse | v2_unstable.InitializeResponse
    )
    LoginRequest: TypeAlias = (
        v1.AuthenticateRequest | v1_unstable.AuthenticateRequest | v2.LoginAuthRequest | v2_unstable.LoginAuthRequest
    )
    LogoutRequest: TypeAlias = (
        v1.LogoutRequest | v1_unstable.LogoutRequest | v2.LogoutAuthRequest | v2_unstable.LogoutAuthRequest
    )

    McpServer: TypeAlias = v1.McpServer | v1_unstable.McpServer | v2.McpServer | v2_unstable.McpServer
    """An MCP server of any protocol package."""

    McpServerLike: TypeAlias = McpServer | Mapping[str, Any]
    """An MCP server, as a model or as JSON."""

    NewSessionRequest: TypeAlias = (
        v1.NewSessionRequest | v1_unstable.NewSessionRequest | v2.NewSessionRequest | v2_unstable.NewSessionRequest
    )
    LoadSessionRequest: TypeAlias = (
        v1.LoadSessionRequest
        | v1_unstable.LoadSessionRequest
        | v2.ResumeSessionRequest
        | v2_unstable.ResumeSessionRequest
    )
    """A request for a session with its history; in v2 that is `session/resume` with `replayFrom`."""

    ResumeSessionRequest: TypeAlias = (
        v1.ResumeSessionRequest
        | v1_unstable.ResumeSessionRequest
        | v2.ResumeSessionRequest
        | v2_unstable.ResumeSessionRequest
    )
    ForkSessionRequest: TypeAlias = v1_unstable.ForkSessionRequest | v2_unstable.ForkSessionRequest
    CloseSessionRequest: TypeAlias = (
        v1.CloseSessionRequest
        | v1_unstable.CloseSessionRequest
        | v2.CloseSessionRequest
        | v2_unstable.CloseSessionRequest
    )
    DeleteSessionRequest: TypeAlias = (
        v1.DeleteSessionRequest
        | v1_unstable.DeleteSessionRequest
        | v2.DeleteSessionRequest
        | v2_unstable.DeleteSessionRequest
    )
    ListSessionsRequest: TypeAlias = (
        v1.ListSessionsRequest
        | v1_unstable.ListSessionsRequest
        | v2.ListSessionsRequest
        | v2_unstable.ListSessionsRequest
    )
    SessionInfo: TypeAlias = v1.SessionInfo | v1_unstable.SessionInfo | v2.SessionInfo | v2_unstable.SessionInfo
    PromptRequest: TypeAlias = (
        v1.PromptRequest | v1_unstable.PromptRequest | v2.PromptRequest | v2_unstable.PromptRequest
    )
    SessionUpdate: TypeAlias = (
        v1.SessionUpdate | v1_unstable.SessionUpdate | v2.SessionUpdate | v2_unstable.SessionUpdate
    )
    UserMessageChunk: TypeAlias = (
        v1.UserMessageChunk | v1_unstable.UserMessageChunk | v2.UserMessageChunk | v2_unstable.UserMessageChunk
    )
    SessionNotification: TypeAlias = (
        v1.SessionNotification
        | v1_unstable.SessionNotification
        | v2.UpdateSessionNotification
        | v2_unstable.UpdateSessionNotification
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
