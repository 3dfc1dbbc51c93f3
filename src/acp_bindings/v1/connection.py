"""ACP v1: connection. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import AnsweredBy, Extensible, Model, Response
from acp_bindings._types import Implied, Lenient, LenientList, NullAsEmpty, Secret, Tagged, UInt16

from .common import RequestId


class AuthCapabilities(Extensible):
    """Authentication capabilities supported by the client.

    Advertised during initialization to inform the agent which authentication method types the client can handle. This
    governs opt-in types that require additional client-side support.
    """

    terminal: Lenient[bool] = False
    """Whether the client supports `terminal` authentication methods.

    The client should set this to `true` only when it can reproduce the configured agent invocation in an interactive
    terminal. When `true`, the agent may include `terminal` entries in its authentication methods.
    """


AuthMethodId: TypeAlias = str
"""Typed identifier used for auth method values on the wire."""


class AuthMethodAgent(Extensible):
    """Agent handles authentication itself through `authenticate`.

    This is the default authentication method type.
    """

    type: Annotated[Literal["agent"], Implied("terminal")] = "agent"
    id: AuthMethodId
    """Unique identifier for this authentication method."""

    name: str
    """Human-readable name of the authentication method."""

    description: Lenient[str | None] = None
    """Optional human-readable description of this authentication method."""


class AuthMethodTerminal(Extensible):
    """Terminal-based authentication method.

    The client runs the configured agent program as a separate interactive process for the user to authenticate via a
    TUI. Agents MUST advertise this method only when the client enabled its terminal authentication capability. A zero
    exit status signals success. Any other termination signals failure. The client MUST NOT pass this method to
    `authenticate`.
    """

    type: Literal["terminal"] = "terminal"
    id: AuthMethodId
    """Unique identifier for this authentication method."""

    name: str
    """Human-readable name of the authentication method."""

    description: Lenient[str | None] = None
    """Optional human-readable description of this authentication method."""

    args: NullAsEmpty[list[str]] = []
    """Additional arguments to append to the configured agent invocation for terminal auth."""

    env: NullAsEmpty[Secret[dict[str, str]]] = {}
    """Additional environment variables to set on the configured agent invocation for terminal auth.

    These values override same-named variables in the base launch configuration.
    """


AuthMethod: TypeAlias = Annotated[AuthMethodTerminal | AuthMethodAgent, Tagged("type")]
"""Describes an available authentication method.

The `type` field acts as the discriminator in the serialized JSON form. When no `type` is present, the method is treated
as `agent`.
"""


class AuthenticateRequest(Extensible, AnsweredBy["AuthenticateResponse"]):
    """Request parameters for the authenticate method.

    Specifies which authentication method to use.
    """

    method_id: AuthMethodId
    """The ID of the authentication method to use. Must be one of the methods advertised in the initialize response."""


class AuthenticateResponse(Response):
    """Response to the `authenticate` method."""


class BooleanConfigOptionCapabilities(Extensible):
    """Capabilities for boolean session configuration options.

    Supplying `{}` means the client supports boolean session configuration options.
    """


class CancelRequestNotification(Extensible):
    """Notification to cancel an ongoing request.

    See protocol docs: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation)
    """

    request_id: RequestId
    """The ID of the request to cancel."""


class CompactionCapabilities(Model):
    """Client support for ID-addressed context compaction updates."""


class ElicitationFormCapabilities(Extensible):
    """Form-based elicitation capabilities.

    Supplying `{}` means the client supports form-based elicitation.
    """


class ElicitationUrlCapabilities(Extensible):
    """URL-based elicitation capabilities.

    Supplying `{}` means the client supports URL-based elicitation.
    """


class ElicitationCapabilities(Extensible):
    """Elicitation capabilities supported by the client."""

    form: Lenient[ElicitationFormCapabilities | None] = None
    """Whether the client supports form-based elicitation.

    Optional. Omitted and `null` are equivalent and mean form support is not advertised. Supplying `{}` explicitly
    advertises form support.
    """

    url: Lenient[ElicitationUrlCapabilities | None] = None
    """Whether the client supports URL-based elicitation.

    Optional. Omitted or `null` both mean the client does not advertise support. Supplying `{}` means the client
    supports URL-based elicitation.
    """


class FileSystemCapabilities(Extensible):
    """File system capabilities that a client may support.

    See protocol docs: [FileSystem](https://agentclientprotocol.com/protocol/v1/initialization#filesystem)
    """

    read_text_file: Lenient[bool] = False
    """Whether the Client supports `fs/read_text_file` requests."""

    write_text_file: Lenient[bool] = False
    """Whether the Client supports `fs/write_text_file` requests."""


class Implementation(Extensible):
    """Metadata about the implementation of the client or agent.

    Describes the name and version of an ACP implementation, with an optional title for UI representation.
    """

    name: str
    """Intended for programmatic or logical use, but can be used as a display name fallback if title isn't present."""

    title: Lenient[str | None] = None
    """Intended for UI and end-user contexts and optimized to be human-readable and easily understood.

    If not provided, the name should be used for display.
    """

    version: str
    """Version of the implementation.

    Can be displayed to the user or used for debugging or metrics purposes. (e.g. "1.0.0").
    """


class LogoutCapabilities(Extensible):
    """Logout capabilities supported by the agent.

    Supplying `{}` means the agent supports the logout method.
    """


class AgentAuthCapabilities(Extensible):
    """Authentication-related capabilities supported by the agent."""

    logout: Lenient[LogoutCapabilities | None] = None
    """Whether the agent supports the logout method.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    the logout method.
    """


class LogoutRequest(Extensible, AnsweredBy["LogoutResponse"]):
    """Request parameters for the logout method.

    Terminates the current authenticated session.
    """


class LogoutResponse(Response):
    """Response to the `logout` method."""


class McpCapabilities(Extensible):
    """MCP capabilities supported by the agent."""

    http: Lenient[bool] = False
    """Agent supports `http` MCP servers."""

    sse: Lenient[bool] = False
    """Agent supports `sse` MCP servers."""


class NoticeCapabilities(Model):
    """Client support for presenting live notices to the user."""


class PromptCapabilities(Extensible):
    """Prompt capabilities supported by the agent in `session/prompt` requests.

    Baseline agent functionality requires support for `text` and `resource_link` content blocks in prompt requests.

    Other variants must be explicitly opted in to. Capabilities for different types of content in prompt requests.

    Indicates which content types beyond the baseline (text and resource links) the agent can process.

    See protocol docs: [Prompt
    Capabilities](https://agentclientprotocol.com/protocol/v1/initialization#prompt-capabilities)
    """

    image: Lenient[bool] = False
    """Agent supports `image` content blocks."""

    audio: Lenient[bool] = False
    """Agent supports `audio` content blocks."""

    embedded_context: Lenient[bool] = False
    """Agent supports embedded context in `session/prompt` requests.

    When enabled, the Client is allowed to include `resource` content blocks in prompt requests for pieces of context
    that are referenced in the message.
    """


ProtocolVersion: TypeAlias = UInt16
"""Protocol version identifier.

This version is only bumped for breaking changes. Non-breaking changes should be introduced via capabilities.
"""


class SessionAdditionalDirectoriesCapabilities(Extensible):
    """Capabilities for additional session directories support.

    Supplying `{}` means the agent supports the `additionalDirectories` field on supported session lifecycle requests.
    Agents that also support `session/list` may return `SessionInfo.additionalDirectories` to report the complete
    ordered additional-root list associated with a listed session.
    """


class SessionCloseCapabilities(Extensible):
    """Capabilities for the `session/close` method.

    Supplying `{}` means the agent supports closing sessions.
    """


class SessionConfigOptionsCapabilities(Extensible):
    """Session configuration option capabilities supported by the client."""

    boolean: Lenient[BooleanConfigOptionCapabilities | None] = None
    """Whether the client supports boolean session configuration options.

    Optional. Omitted or `null` both mean the client does not advertise support. Supplying `{}` means agents may include
    `type: "boolean"` entries in `configOptions`, and the client may send `session/set_config_option` requests with
    `type: "boolean"` and a boolean `value`.
    """


class ClientSessionCapabilities(Extensible):
    """Session-related capabilities supported by the client."""

    compaction: Lenient[CompactionCapabilities | None] = None
    """Support for ID-addressed context compaction updates.

    Omitted or `null` means unsupported. `{}` advertises the complete compaction contract.
    """

    config_options: Lenient[SessionConfigOptionsCapabilities | None] = None
    """Config option capabilities supported by the client.

    Omitted or `null` both mean the client does not advertise support for any config option extensions.
    """

    notices: Lenient[NoticeCapabilities | None] = None
    """Support for live user-facing `notice` session updates.

    Optional. Omitted or `null` both mean the client does not advertise support. Supplying `{}` means the client can
    present notices to the user.
    """


class ClientCapabilities(Extensible):
    """Capabilities supported by the client.

    Advertised during initialization to inform the agent about available features and methods.

    See protocol docs: [Client
    Capabilities](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities)
    """

    fs: Lenient[FileSystemCapabilities] = Field(default_factory=FileSystemCapabilities)
    """File system capabilities supported by the client. Determines which file operations the agent can request."""

    terminal: Lenient[bool] = False
    """Whether the Client support all `terminal/*` methods."""

    session: Lenient[ClientSessionCapabilities | None] = None
    """Session-related capabilities supported by the client.

    Optional. Omitted or `null` both mean the client does not advertise any session-related extensions.
    """

    auth: Lenient[AuthCapabilities] = Field(default_factory=AuthCapabilities)
    """Authentication capabilities supported by the client.

    Determines which authentication method types the agent may include in its `InitializeResponse`.
    """

    elicitation: Lenient[ElicitationCapabilities | None] = None
    """Elicitation capabilities supported by the client. Determines which elicitation modes the agent may use.

    Optional. Omitted or `null` both mean the client does not advertise elicitation support.
    """


class InitializeRequest(Extensible, AnsweredBy["InitializeResponse"]):
    """Request parameters for the initialize method.

    Sent by the client to establish connection and negotiate capabilities.

    See protocol docs: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
    """

    protocol_version: ProtocolVersion
    """The latest protocol version supported by the client."""

    client_capabilities: Lenient[ClientCapabilities] = Field(default_factory=ClientCapabilities)
    """Capabilities supported by the client."""

    client_info: Lenient[Implementation | None] = None
    """Information about the Client name and version sent to the Agent.

    Note: in future versions of the protocol, this will be required.
    """


class SessionDeleteCapabilities(Extensible):
    """Capabilities for the `session/delete` method.

    Supplying `{}` means the agent supports deleting sessions from `session/list`.
    """


class SessionListCapabilities(Extensible):
    """Capabilities for the `session/list` method.

    Supplying `{}` means the agent supports listing sessions.
    """


class SessionResumeCapabilities(Extensible):
    """Capabilities for the `session/resume` method.

    Supplying `{}` means the agent supports resuming sessions.
    """


class SessionCapabilities(Extensible):
    """Session capabilities supported by the agent.

    As a baseline, all Agents **MUST** support `session/new`, `session/prompt`, `session/cancel`, and `session/update`.

    Optionally, they **MAY** support other session methods and notifications by specifying additional capabilities.

    Note: `session/load` is still handled by the top-level `loadSession` capability. This will be unified in future
    versions of the protocol.

    See protocol docs: [Session
    Capabilities](https://agentclientprotocol.com/protocol/v1/initialization#session-capabilities)
    """

    list: Lenient[SessionListCapabilities | None] = None
    """Whether the agent supports `session/list`.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    listing sessions.
    """

    delete: Lenient[SessionDeleteCapabilities | None] = None
    """Whether the agent supports `session/delete`.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    deleting sessions from `session/list`.
    """

    additional_directories: Lenient[SessionAdditionalDirectoriesCapabilities | None] = None
    """Whether the agent supports `additionalDirectories` on supported session lifecycle requests.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    `additionalDirectories` on supported session lifecycle requests.

    Agents that also support `session/list` may return `SessionInfo.additionalDirectories` to report the complete
    ordered additional-root list associated with a listed session.
    """

    resume: Lenient[SessionResumeCapabilities | None] = None
    """Whether the agent supports `session/resume`.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    resuming sessions.
    """

    close: Lenient[SessionCloseCapabilities | None] = None
    """Whether the agent supports `session/close`.

    Optional. Omitted or `null` both mean the agent does not advertise support. Supplying `{}` means the agent supports
    closing sessions.
    """


class AgentCapabilities(Extensible):
    """Capabilities supported by the agent.

    Advertised during initialization to inform the client about available features and content types.

    See protocol docs: [Agent
    Capabilities](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities)
    """

    load_session: Lenient[bool] = False
    """Whether the agent supports `session/load`."""

    prompt_capabilities: Lenient[PromptCapabilities] = Field(default_factory=PromptCapabilities)
    """Prompt capabilities supported by the agent."""

    mcp_capabilities: Lenient[McpCapabilities] = Field(default_factory=McpCapabilities)
    """MCP capabilities supported by the agent."""

    session_capabilities: Lenient[SessionCapabilities] = Field(default_factory=SessionCapabilities)
    """Session lifecycle and prompt capabilities advertised by the agent."""

    auth: Lenient[AgentAuthCapabilities] = Field(default_factory=AgentAuthCapabilities)
    """Authentication-related capabilities supported by the agent."""


class InitializeResponse(Response):
    """Response to the `initialize` method.

    Contains the negotiated protocol version and agent capabilities.

    See protocol docs: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
    """

    protocol_version: ProtocolVersion
    """The protocol version the client specified if supported by the agent, or the latest protocol version supported by
    the agent.

    The client should disconnect, if it doesn't support this version.
    """

    agent_capabilities: Lenient[AgentCapabilities] = Field(default_factory=AgentCapabilities)
    """Capabilities supported by the agent."""

    auth_methods: LenientList[list[AuthMethod]] = []
    """Authentication methods supported by the agent."""

    agent_info: Lenient[Implementation | None] = None
    """Information about the Agent name and version sent to the Client.

    Note: in future versions of the protocol, this will be required.
    """
