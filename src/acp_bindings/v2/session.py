"""ACP v2 draft: session. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import AnsweredBy, Extensible, Model, Response
from acp_bindings._types import Lenient, LenientList, NullAsEmpty, Secret, SkipInvalid, Tagged, Unlike

from .common import AbsolutePath, EnvVariable, SessionConfigId, SessionConfigValueId, SessionId, TerminalId, ToolCallId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import AvailableCommand, MessageId, ToolCallUpdate


class CancelSessionNotification(Extensible):
    """Notification to cancel a session's foreground work and its prompts not yet inserted.

    See protocol docs: [Cancellation](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#cancellation)
    """

    session_id: SessionId
    """The ID of the session to cancel operations for."""


class CancelledPermissionOutcome(Extensible):
    """The request was not approved and no option was selected."""

    outcome: Literal["cancelled"] = "cancelled"


class CloseSessionRequest(Extensible, AnsweredBy["CloseSessionResponse"]):
    """Request parameters for closing an active session.

    The Agent MUST cancel any ongoing work related to the session as if `session/cancel` was called, then free the
    resources associated with the session. Unlike `session/cancel`, closing also stops the session's background work.
    After the close response, the Agent sends no other messages for the session on that connection.

    Closing a session that does not exist or is not active SHOULD succeed, and Clients SHOULD treat a `-32002` response
    as a successful close.

    When closing cancels active foreground work, the Agent MUST send the final updates for that work and the idle
    `state_update` with `stopReason: "cancelled"` before responding successfully to `session/close`. Closing an idle
    session does not itself require another idle update.

    Closing also cancels pending `session/prompt` requests whose messages have not been inserted, including held
    prompts. If closing prevents a prompt's user message from being inserted, the Agent MUST answer that request with
    `-32800` (Request Cancelled). If the message has already been inserted, the Agent MUST respond successfully with its
    `messageId`. Prompt responses need not precede the close response.
    """

    session_id: SessionId
    """The ID of the session to close."""


class CloseSessionResponse(Response):
    """Response from closing a session."""


class CommandPermissionSubject(Extensible):
    """Permission request details for a command."""

    type: Literal["command"] = "command"
    command: str
    """The command that would be run if permission is granted."""

    cwd: AbsolutePath
    """The absolute working directory for the command."""

    tool_call_id: Lenient[ToolCallId | None] = None
    """The associated tool call, when known. Omitted and `null` are equivalent."""

    terminal_id: Lenient[TerminalId | None] = None
    """The associated terminal, when already known. Omitted and `null` are equivalent."""


class DeleteSessionRequest(Extensible, AnsweredBy["DeleteSessionResponse"]):
    """Request parameters for deleting an existing session from `session/list`.

    Only available if the Agent supports the `session.delete` capability.
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


class McpServerHttp(Extensible):
    """HTTP transport configuration for MCP."""

    type: Literal["http"] = "http"
    name: str
    """Human-readable name identifying this MCP server."""

    url: str
    """URL to the MCP server."""

    headers: NullAsEmpty[list[HttpHeader]] = []
    """HTTP headers to set when making requests to the MCP server.

    Headers the MCP transport defines are owned by the transport, and Agents use the transport's values for them.
    """


class McpServerStdio(Extensible):
    """Stdio transport configuration for MCP."""

    type: Literal["stdio"] = "stdio"
    name: str
    """Human-readable name identifying this MCP server."""

    command: AbsolutePath
    """Absolute path to the MCP server executable."""

    args: NullAsEmpty[list[str]] = []
    """Command-line arguments to pass to the MCP server."""

    env: NullAsEmpty[list[EnvVariable]] = []
    """Environment variables to set when launching the MCP server.

    Names SHOULD be unique. Agents MAY reject duplicates with `-32602`, and otherwise the last entry wins.
    """


class NewSessionResponse(Response):
    """Response from creating a new session.

    New sessions default to `idle` until a state update reports otherwise. Updates may arrive before or after this
    response. Clients MUST NOT overwrite an already-reported state when the response arrives.

    See protocol docs: [Creating a
    Session](https://agentclientprotocol.com/protocol/v2/session-setup#creating-a-session)
    """

    session_id: SessionId
    """Unique identifier for the created session.

    Used in all subsequent requests for this conversation.
    """

    config_options: LenientList[list[SessionConfigOption]] = []
    """Initial session configuration options.

    Optional. Omitted or empty means no config options are advertised. Senders MUST use an array, not `null`. Receivers
    treat `null` like omission. Later `config_option_update` notifications replace this list.
    """

    available_commands: LenientList[list[AvailableCommand]] = []
    """Initial commands the agent can execute in this session.

    Optional. Omitted or empty means no initial commands are advertised. Senders MUST use an array, not `null`.
    Receivers treat `null` like omission. Later `available_commands_update` notifications replace this list.
    """


class OtherMcpServer(Model):
    """Custom or future MCP server transport configuration.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this transport should preserve the raw payload when storing, replaying, proxying,
    or forwarding session setup data. Agents MUST reject a request with a transport they do not support with `-32602`.
    """

    type: Annotated[str, Unlike("http", "stdio")]


McpServer: TypeAlias = Annotated[McpServerHttp | McpServerStdio | OtherMcpServer, Tagged("type")]
"""Configuration for connecting to an MCP (Model Context Protocol) server.

MCP servers provide tools and context that the agent can use when processing prompts.

See protocol docs: [MCP Servers](https://agentclientprotocol.com/protocol/v2/session-setup#mcp-servers)
"""


class NewSessionRequest(Extensible, AnsweredBy["NewSessionResponse"]):
    """Request parameters for creating a new session.

    See protocol docs: [Creating a
    Session](https://agentclientprotocol.com/protocol/v2/session-setup#creating-a-session)
    """

    cwd: AbsolutePath
    """The working directory for this session. Must be an absolute path."""

    additional_directories: NullAsEmpty[list[AbsolutePath]] = []
    """Additional workspace roots for this session. Each path must be absolute.

    These expand the session's workspace scope without changing `cwd`, which remains the base for relative paths. When
    omitted or empty, no additional roots are activated for the new session.
    """

    mcp_servers: NullAsEmpty[list[McpServer]] = []
    """List of MCP (Model Context Protocol) servers the agent should connect to."""


class OtherReplayFrom(Model):
    """Custom or future replay cursor.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Intermediaries SHOULD preserve the raw payload when storing, replaying, proxying, or forwarding requests. Agents
    that do not support this cursor MUST reject the request with `-32602` (Invalid params), rather than substituting
    another cursor or resuming without replay.
    """

    type: Annotated[str, Unlike("start")]


class OtherRequestPermissionOutcome(Model):
    """Custom or future permission outcome.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Agents that do not understand this outcome MUST NOT treat it as approval. They should preserve the raw payload when
    storing, replaying, proxying, or forwarding permission responses, and otherwise fail or decline the permission
    request according to policy.
    """

    outcome: Annotated[str, Unlike("cancelled", "selected")]


class OtherRequestPermissionSubject(Model):
    """Custom or future permission subject.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this subject type should preserve the raw payload when storing, replaying, proxying,
    or forwarding permission requests, and otherwise display a generic permission prompt or decline it according to
    policy.
    """

    type: Annotated[str, Unlike("command", "tool_call")]


class OtherSetSessionConfigOptionRequest(Extensible, AnsweredBy["SetSessionConfigOptionResponse"]):
    """Custom or future session configuration option value payload.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Agents MUST reject a `session/set_config_option` request with a value type they do not support with `-32602`.
    """

    type: Annotated[str, Unlike("boolean", "id")]
    session_id: SessionId
    """The ID of the session to set the configuration option for."""

    config_id: SessionConfigId
    """The ID of the configuration option to set."""

    value: Any
    """Raw value payload for the custom or future value type."""


PermissionOptionId: TypeAlias = str
"""Unique identifier for a permission option."""


PermissionOptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
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
    """Identifier for this permission option. MUST be unique within the request."""

    name: str
    """Human-readable label to display to the user."""

    kind: PermissionOptionKind
    """Hint about the nature of this permission option."""


class PromptRequest(Extensible, AnsweredBy["PromptResponse"]):
    """Request parameters for sending a user prompt to the agent.

    Contains the user's message and any additional context.

    See protocol docs: [User Message](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#1-user-message)
    """

    session_id: SessionId
    """The ID of the session to send this user message to."""

    prompt: Annotated[list[ContentBlock], Field(min_length=1)]
    """The blocks of content that compose the user's message.

    As a baseline, the Agent MUST support `text` and `resource_link` content blocks, while other variants are optionally
    enabled via `PromptCapabilities`.

    The Client MUST adapt its interface according to `PromptCapabilities`.

    The client MAY include referenced pieces of context as either `resource` or `resource_link` content blocks.

    When available, `resource` is preferred as it avoids extra round-trips and allows the message to include pieces of
    context from sources the agent may not have access to.

    Clients MUST NOT send an empty array. Agents MAY reject one with `-32602` without inserting it.
    """


class PromptResponse(Response):
    """Response acknowledging that a user prompt was inserted into the ACP conversation.

    This response does not indicate that the prompt was merely received or held, nor that the agent has finished
    processing it. Processing and completion are reported through `state_update` session updates.

    Insertion is the logical addition of a user message with a message ID and a position relative to other messages in
    the ACP conversation.

    See protocol docs: [Prompt Accepted](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#2-prompt-accepted)
    """

    message_id: MessageId
    """Identifies the user message inserted into the ACP conversation.

    Required and non-null. Omission and explicit `null` are both invalid.

    The corresponding user-message session update carries this same identifier and may arrive before or after this
    response. Agents must echo the message during the live session, but are not required to retain it. If retained and
    replayed, the message keeps this identifier.
    """


class ReplayFromStart(Extensible):
    """Inclusive replay cursor requesting replay from the start of retained conversation history."""

    type: Literal["start"] = "start"


ReplayFrom: TypeAlias = Annotated[ReplayFromStart | OtherReplayFrom, Tagged("type")]
"""Inclusive cursor describing where replayed session history should begin.

Replay includes the position identified by the cursor.
"""


class ResumeSessionRequest(Extensible, AnsweredBy["ResumeSessionResponse"]):
    """Request parameters for resuming an existing session.

    Resumes an existing session and optionally replays retained conversation history according to `replayFrom`.
    """

    session_id: SessionId
    """The ID of the session to resume."""

    cwd: AbsolutePath
    """The working directory for this session. Must be an absolute path.

    Clients MUST send the session's working directory. Agents MAY reject a different directory with `-32602`, and MAY
    normalize paths when comparing.
    """

    additional_directories: NullAsEmpty[list[AbsolutePath]] = []
    """Additional workspace roots to activate for this session. Each path must be absolute.

    When omitted or empty, no additional roots are activated. When non-empty, this is the complete resulting
    additional-root list for the resumed session. It may differ from any previously used or reported list as long as the
    request `cwd` matches the session's `cwd`.
    """

    mcp_servers: NullAsEmpty[list[McpServer]] = []
    """List of MCP servers to connect to for this session.

    The complete set of Client-provided servers. Omitted and `[]` mean none. Agents SHOULD NOT restore servers from
    earlier requests.
    """

    replay_from: ReplayFrom | None = None
    """Inclusive cursor describing where conversation replay should begin.

    Optional. Omitted and `null` are equivalent and mean the Agent should resume without replaying previous conversation
    history. Replay cursors are inclusive: replay includes the position identified by the cursor. Supplying `{ "type":
    "start" }` means the Agent should replay all retained conversation history before responding.

    Agents MUST reject unsupported cursor types or malformed cursor values with `-32602` (Invalid params), rather than
    substituting another cursor or resuming without replay.
    """


class ResumeSessionResponse(Response):
    """Response from resuming an existing session.

    The agent MUST send a current `state_update` after any requested history replay and before this response, even
    without replay. The update reports foreground state after resuming. The response alone does not imply `idle`.

    See protocol docs: [Current-State
    Synchronization](https://agentclientprotocol.com/protocol/v2/session-setup#current-state-synchronization)
    """

    config_options: LenientList[list[SessionConfigOption]] = []
    """Initial session configuration options.

    Optional. Omitted or empty means no config options are advertised. Senders MUST use an array, not `null`. Receivers
    treat `null` like omission. Later `config_option_update` notifications replace this list.
    """

    available_commands: LenientList[list[AvailableCommand]] = []
    """Initial commands the agent can execute in this session.

    Optional. Omitted or empty means no initial commands are advertised. Senders MUST use an array, not `null`.
    Receivers treat `null` like omission. Later `available_commands_update` notifications replace this list.
    """


class SelectedPermissionOutcome(Extensible):
    """The user selected one of the provided options."""

    outcome: Literal["selected"] = "selected"
    option_id: PermissionOptionId
    """The ID of the option the user selected."""


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome | OtherRequestPermissionOutcome, Tagged("outcome")
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

    cwd: AbsolutePath
    """The working directory for this session. Must be an absolute path."""

    additional_directories: NullAsEmpty[list[AbsolutePath]] = []
    """Additional workspace roots reported for this session. Each path must be absolute.

    When present, this is the complete ordered additional-root list reported by the Agent. Omitted and empty values are
    equivalent: the response reports no additional roots.
    """

    title: Lenient[str | None] = None
    """Human-readable title for the session.

    Omitted and `null` are equivalent and mean no title is provided.
    """

    updated_at: Lenient[str | None] = None
    """RFC 3339 timestamp of last activity.

    Omitted and `null` are equivalent and mean the last activity time is not reported.
    """


SessionListCursor: TypeAlias = str
"""An opaque cursor used to paginate `session/list` results."""


class ListSessionsRequest(Extensible, AnsweredBy["ListSessionsResponse"]):
    """Request parameters for listing existing sessions."""

    cwd: AbsolutePath | None = None
    """Filter sessions by working directory. Must be an absolute path.

    Only sessions whose `cwd` is this same directory match. Subdirectories and `additionalDirectories` don't. Agents MAY
    normalize paths when comparing.

    Omitted and `null` are equivalent and mean sessions are not filtered by working directory.
    """

    cursor: SessionListCursor | None = None
    """Opaque cursor token from a previous response's nextCursor field for cursor-based pagination.

    Omitted and `null` are equivalent and mean the first page is requested.
    """


class ListSessionsResponse(Response):
    """Response from listing sessions."""

    sessions: LenientList[list[SessionInfo]]
    """Array of session information objects."""

    next_cursor: SessionListCursor | None = None
    """Opaque cursor token.

    If present, pass this in the next request's cursor parameter to fetch the next page. Omitted and `null` are
    equivalent and mean there are no more results. An empty string is a valid cursor, not the end of results.
    """


class SetSessionConfigOptionRequestBoolean(Extensible, AnsweredBy["SetSessionConfigOptionResponse"]):
    """A boolean value (`type: "boolean"`)."""

    type: Literal["boolean"] = "boolean"
    session_id: SessionId
    """The ID of the session to set the configuration option for."""

    config_id: SessionConfigId
    """The ID of the configuration option to set."""

    value: bool
    """The boolean value."""


class SetSessionConfigOptionRequestId(Extensible, AnsweredBy["SetSessionConfigOptionResponse"]):
    """A `SessionConfigValueId` string value (`type: "id"`)."""

    type: Literal["id"] = "id"
    session_id: SessionId
    """The ID of the session to set the configuration option for."""

    config_id: SessionConfigId
    """The ID of the configuration option to set."""

    value: SessionConfigValueId
    """The value ID."""


SetSessionConfigOptionRequest: TypeAlias = Annotated[
    SetSessionConfigOptionRequestId | SetSessionConfigOptionRequestBoolean | OtherSetSessionConfigOptionRequest,
    Tagged("type"),
]
"""Request parameters for setting a session configuration option.

Agents MUST support this method for any session where they advertise config options. Agents MUST reject an unknown
`configId` or invalid value with `-32602` and leave the configuration unchanged.

See protocol docs: [Session Config
Options](https://agentclientprotocol.com/protocol/v2/session-config-options#setting-a-config-option)
"""


class SetSessionConfigOptionResponse(Response):
    """Response to `session/set_config_option` method."""

    config_options: SkipInvalid[list[SessionConfigOption]]
    """The full set of configuration options and their current values."""


class ToolCallPermissionSubject(Extensible):
    """Permission request details for a tool call."""

    type: Literal["tool_call"] = "tool_call"
    tool_call: ToolCallUpdate
    """Details about the tool call requiring permission.

    Clients apply this to their stored tool call exactly like a `tool_call_update` notification, in the order it was
    received, before showing the prompt. A first-seen `toolCallId` creates the tool call.
    """


RequestPermissionSubject: TypeAlias = Annotated[
    ToolCallPermissionSubject | CommandPermissionSubject | OtherRequestPermissionSubject, Tagged("type")
]
"""The operation requiring permission."""


class RequestPermissionRequest(Extensible, AnsweredBy["RequestPermissionResponse"]):
    """Request for user permission to proceed with an operation.

    Sent when the agent needs authorization before performing a sensitive operation.

    See protocol docs: [Requesting
    Permission](https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission)
    """

    session_id: SessionId
    """The session ID for this request."""

    title: str
    """Human-readable title for the permission prompt.

    This title is specific to the permission prompt and does not update any subject's displayed title.
    """

    description: Lenient[str | None] = None
    """Optional human-readable explanation of why permission is needed.

    This text is specific to the permission prompt and does not update any subject's displayed content. Omitted and
    `null` are equivalent and mean no separate permission description was provided.
    """

    subject: RequestPermissionSubject | None = None
    """Optional structured context about the operation requiring permission.

    Omitted and `null` are equivalent and mean no structured subject was provided.
    """

    options: Annotated[list[PermissionOption], Field(min_length=1)]
    """Available permission options for the user to choose from. Must contain at least one option."""
