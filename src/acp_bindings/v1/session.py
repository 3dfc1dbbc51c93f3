"""ACP v1: session. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import AnsweredBy, Extensible, Model, Response
from acp_bindings._types import Implied, Lenient, LenientList, NullAsEmpty, Secret, Tagged

from .common import EnvVariable, SessionConfigId, SessionConfigValueId, SessionId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import SessionModeId, ToolCallUpdate


class CancelNotification(Extensible):
    """Notification to cancel ongoing operations for a session.

    See protocol docs: [Cancellation](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation)
    """

    session_id: SessionId
    """The ID of the session to cancel operations for."""


class CloseSessionRequest(Extensible, AnsweredBy["CloseSessionResponse"]):
    """Request parameters for closing an active session.

    If supported, the agent **must** cancel any ongoing work related to the session (treat it as if `session/cancel` was
    called) and then free up any resources associated with the session.

    Only available if the Agent supports the `sessionCapabilities.close` capability.
    """

    session_id: SessionId
    """The ID of the session to close."""


class CloseSessionResponse(Response):
    """Response from closing a session."""


class DeleteSessionRequest(Extensible, AnsweredBy["DeleteSessionResponse"]):
    """Request parameters for deleting an existing session from `session/list`.

    Only available if the Agent supports the `sessionCapabilities.delete` capability.
    """

    session_id: SessionId
    """The ID of the session to delete."""


class DeleteSessionResponse(Response):
    """Response from deleting a session."""


class HttpHeader(Extensible):
    """An HTTP header to set when making requests to the MCP server."""

    name: str
    """The name of the HTTP header."""

    value: Secret[str]
    """The value to set for the HTTP header."""


class ListSessionsRequest(Extensible, AnsweredBy["ListSessionsResponse"]):
    """Request parameters for listing existing sessions.

    Only available if the Agent supports the `sessionCapabilities.list` capability.
    """

    cwd: str | None = None
    """Filter sessions by working directory. Must be an absolute path."""

    cursor: str | None = None
    """Opaque cursor token from a previous response's nextCursor field for cursor-based pagination."""


class McpServerHttp(Extensible):
    """HTTP transport configuration for MCP."""

    type: Literal["http"] = "http"
    name: str
    """Human-readable name identifying this MCP server."""

    url: str
    """URL to the MCP server."""

    headers: NullAsEmpty[list[HttpHeader]]
    """HTTP headers to set when making requests to the MCP server."""


class McpServerSse(Extensible):
    """SSE transport configuration for MCP."""

    type: Literal["sse"] = "sse"
    name: str
    """Human-readable name identifying this MCP server."""

    url: str
    """URL to the MCP server."""

    headers: NullAsEmpty[list[HttpHeader]]
    """HTTP headers to set when making requests to the MCP server."""


class McpServerStdio(Extensible):
    """Stdio transport configuration for MCP."""

    type: Annotated[Literal["stdio"], Implied("http", "sse")] = "stdio"
    name: str
    """Human-readable name identifying this MCP server."""

    command: str
    """Absolute path to the MCP server executable."""

    args: NullAsEmpty[list[str]]
    """Command-line arguments to pass to the MCP server."""

    env: NullAsEmpty[list[EnvVariable]]
    """Environment variables to set when launching the MCP server."""


McpServer: TypeAlias = Annotated[McpServerHttp | McpServerSse | McpServerStdio, Tagged("type")]
"""Configuration for connecting to an MCP (Model Context Protocol) server.

MCP servers provide tools and context that the agent can use when processing prompts.

See protocol docs: [MCP Servers](https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers)
"""


class LoadSessionRequest(Extensible, AnsweredBy["LoadSessionResponse"]):
    """Request parameters for loading an existing session.

    Only available if the Agent supports the `loadSession` capability.

    See protocol docs: [Loading Sessions](https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions)
    """

    mcp_servers: NullAsEmpty[list[McpServer]]
    """List of MCP servers to connect to for this session."""

    cwd: str
    """The working directory for this session. Must be an absolute path."""

    additional_directories: NullAsEmpty[list[str]] = []
    """Additional workspace roots to activate for this session. Each path must be absolute.

    When omitted or empty, no additional roots are activated. When non-empty, this is the complete resulting
    additional-root list for the loaded session. It may differ from any previously used or reported list as long as the
    request `cwd` matches the session's `cwd`.
    """

    session_id: SessionId
    """The ID of the session to load."""


class NewSessionRequest(Extensible, AnsweredBy["NewSessionResponse"]):
    """Request parameters for creating a new session.

    See protocol docs: [Creating a
    Session](https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session)
    """

    cwd: str
    """The working directory for this session. Must be an absolute path."""

    additional_directories: NullAsEmpty[list[str]] = []
    """Additional workspace roots for this session. Each path must be absolute.

    These expand the session's filesystem scope without changing `cwd`, which remains the base for relative paths. When
    omitted or empty, no additional roots are activated for the new session.
    """

    mcp_servers: NullAsEmpty[list[McpServer]]
    """List of MCP (Model Context Protocol) servers the agent should connect to."""


PermissionOptionId: TypeAlias = str
"""Unique identifier for a permission option."""


PermissionOptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
"""The type of permission option being presented to the user.

Helps clients choose appropriate icons and UI treatment.

- `allow_once`: Allow this operation only this time.
- `allow_always`: Allow this operation and remember the choice.
- `reject_once`: Reject this operation only this time.
- `reject_always`: Reject this operation and remember the choice.
"""


class PermissionOption(Extensible):
    """An option presented to the user when requesting permission."""

    option_id: PermissionOptionId
    """Unique identifier for this permission option."""

    name: str
    """Human-readable label to display to the user."""

    kind: PermissionOptionKind
    """Hint about the nature of this permission option."""


class PromptRequest(Extensible, AnsweredBy["PromptResponse"]):
    """Request parameters for sending a user prompt to the agent.

    Contains the user's message and any additional context.

    See protocol docs: [User Message](https://agentclientprotocol.com/protocol/v1/prompt-turn#1-user-message)
    """

    session_id: SessionId
    """The ID of the session to send this user message to."""

    prompt: list[ContentBlock]
    """The blocks of content that compose the user's message.

    As a baseline, the Agent MUST support `text` and `resource_link` content blocks, while other variants are optionally
    enabled via `PromptCapabilities`.

    The Client MUST adapt its interface according to `PromptCapabilities`.

    The client MAY include referenced pieces of context as either `resource` or `resource_link` content blocks.

    When available, `resource` is preferred as it avoids extra round-trips and allows the message to include pieces of
    context from sources the agent may not have access to.
    """


class RequestPermissionOutcomeCancelled(Model):
    """The prompt turn was cancelled before the user responded.

    When a client sends a `session/cancel` notification to cancel an ongoing prompt turn, it MUST respond to all pending
    `session/request_permission` requests with this `cancelled` outcome.

    See protocol docs: [Cancellation](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation)
    """

    outcome: Literal["cancelled"] = "cancelled"


class RequestPermissionRequest(Extensible, AnsweredBy["RequestPermissionResponse"]):
    """Request for user permission to execute a tool call.

    Sent when the agent needs authorization before performing a sensitive operation.

    See protocol docs: [Requesting
    Permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission)
    """

    session_id: SessionId
    """The session ID for this request."""

    tool_call: ToolCallUpdate
    """Details about the tool call requiring permission."""

    options: list[PermissionOption]
    """Available permission options for the user to choose from."""


class ResumeSessionRequest(Extensible, AnsweredBy["ResumeSessionResponse"]):
    """Request parameters for resuming an existing session.

    Resumes an existing session without returning previous messages (unlike `session/load`). This is useful for agents
    that can resume sessions but don't implement full session loading.

    Only available if the Agent supports the `sessionCapabilities.resume` capability.
    """

    session_id: SessionId
    """The ID of the session to resume."""

    cwd: str
    """The working directory for this session. Must be an absolute path."""

    additional_directories: NullAsEmpty[list[str]] = []
    """Additional workspace roots to activate for this session. Each path must be absolute.

    When omitted or empty, no additional roots are activated. When non-empty, this is the complete resulting
    additional-root list for the resumed session. It may differ from any previously used or reported list as long as the
    request `cwd` matches the session's `cwd`.
    """

    mcp_servers: NullAsEmpty[list[McpServer]] = []
    """List of MCP servers to connect to for this session."""


class SelectedPermissionOutcome(Extensible):
    """The user selected one of the provided options."""

    outcome: Literal["selected"] = "selected"
    option_id: PermissionOptionId
    """The ID of the option the user selected."""


RequestPermissionOutcome: TypeAlias = Annotated[
    RequestPermissionOutcomeCancelled | SelectedPermissionOutcome, Tagged("outcome")
]
"""The outcome of a permission request."""


class RequestPermissionResponse(Response):
    """Response to a permission request."""

    outcome: RequestPermissionOutcome
    """The user's decision on the permission request."""


class SessionInfo(Extensible):
    """Information about a session returned by session/list."""

    session_id: SessionId
    """Unique identifier for the session."""

    cwd: str
    """The working directory for this session. Must be an absolute path."""

    additional_directories: LenientList[list[str]] = []
    """Additional workspace roots reported for this session. Each path must be absolute.

    When present, this is the complete ordered additional-root list reported by the Agent. Omitted and empty values are
    equivalent: the response reports no additional roots.
    """

    title: Lenient[str | None] = None
    """Human-readable title for the session."""

    updated_at: Lenient[str | None] = None
    """ISO 8601 timestamp of last activity."""


class ListSessionsResponse(Response):
    """Response from listing sessions."""

    sessions: LenientList[list[SessionInfo]]
    """Array of session information objects."""

    next_cursor: Lenient[str | None] = None
    """Opaque cursor token.

    If present, pass this in the next request's cursor parameter to fetch the next page. If absent, there are no more
    results.
    """


class SessionMode(Extensible):
    """A mode the agent can operate in.

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
    """

    id: SessionModeId
    """Stable identifier used to refer to this protocol object in later messages."""

    name: str
    """Human-readable name shown for this protocol object."""

    description: Lenient[str | None] = None
    """Optional human-readable details shown with this protocol object."""


class SessionModeState(Extensible):
    """The set of modes and the one currently active."""

    current_mode_id: SessionModeId
    """The current mode the Agent is in."""

    available_modes: LenientList[list[SessionMode]]
    """The set of modes that the Agent can operate in."""


class LoadSessionResponse(Response):
    """Response from loading an existing session."""

    modes: Lenient[SessionModeState | None] = None
    """Initial mode state if supported by the Agent.

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
    """

    config_options: LenientList[list[SessionConfigOption] | None] = None
    """Initial session configuration options if supported by the Agent."""


class NewSessionResponse(Response):
    """Response from creating a new session.

    See protocol docs: [Creating a
    Session](https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session)
    """

    session_id: SessionId
    """Unique identifier for the created session.

    Used in all subsequent requests for this conversation.
    """

    modes: Lenient[SessionModeState | None] = None
    """Initial mode state if supported by the Agent.

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
    """

    config_options: LenientList[list[SessionConfigOption] | None] = None
    """Initial session configuration options if supported by the Agent."""


class ResumeSessionResponse(Response):
    """Response from resuming an existing session."""

    modes: Lenient[SessionModeState | None] = None
    """Initial mode state if supported by the Agent.

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
    """

    config_options: LenientList[list[SessionConfigOption] | None] = None
    """Initial session configuration options if supported by the Agent."""


class SetSessionConfigOptionRequestBoolean(Extensible, AnsweredBy["SetSessionConfigOptionResponse"]):
    """A boolean value (`type: "boolean"`)."""

    type: Literal["boolean"] = "boolean"
    session_id: SessionId
    """The ID of the session to set the configuration option for."""

    config_id: SessionConfigId
    """The ID of the configuration option to set."""

    value: bool
    """The boolean value."""


class SetSessionConfigOptionRequestValueId(Extensible, AnsweredBy["SetSessionConfigOptionResponse"]):
    """A `SessionConfigValueId` string value.

    This is the default when `type` is absent on the wire. Unknown `type` values with string payloads also gracefully
    deserialize into this variant.
    """

    type: Annotated[Literal["value_id"], Implied("boolean")] = "value_id"
    session_id: SessionId
    """The ID of the session to set the configuration option for."""

    config_id: SessionConfigId
    """The ID of the configuration option to set."""

    value: SessionConfigValueId
    """The value ID."""


SetSessionConfigOptionRequest: TypeAlias = Annotated[
    SetSessionConfigOptionRequestBoolean | SetSessionConfigOptionRequestValueId, Tagged("type")
]
"""Request parameters for setting a session configuration option."""


class SetSessionConfigOptionResponse(Response):
    """Response to `session/set_config_option` method."""

    config_options: LenientList[list[SessionConfigOption]]
    """The full set of configuration options and their current values."""


class SetSessionModeRequest(Extensible, AnsweredBy["SetSessionModeResponse"]):
    """Request parameters for setting a session mode."""

    session_id: SessionId
    """The ID of the session to set the mode for."""

    mode_id: SessionModeId
    """The ID of the mode to set."""


class SetSessionModeResponse(Response):
    """Response to `session/set_mode` method."""


StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
"""Reasons why an agent stops processing a prompt turn.

See protocol docs: [Stop Reasons](https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons)

- `end_turn`: The turn ended successfully.
- `max_tokens`: The turn ended because the agent reached the maximum number of tokens.
- `max_turn_requests`: The turn ended because the agent reached the maximum number of allowed agent requests between
  user turns.
- `refusal`: The turn ended because the agent refused to continue. The user prompt and everything that comes after it
  won't be included in the next prompt, so this should be reflected in the UI.
- `cancelled`: The turn was cancelled by the client via `session/cancel`. This stop reason MUST be returned when the
  client sends a `session/cancel` notification, even if the cancellation causes exceptions in underlying operations.
  Agents should catch these exceptions and return this semantically meaningful response to confirm successful
  cancellation.
"""


class PromptResponse(Response):
    """Response from processing a user prompt.

    See protocol docs: [Check for
    Completion](https://agentclientprotocol.com/protocol/v1/prompt-turn#4-check-for-completion)
    """

    stop_reason: StopReason
    """Indicates why the agent stopped processing the turn."""
