"""ACP v2 unstable draft: connection. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import AnsweredBy, Extensible, Model, Response
from acp_bindings._types import Lenient, LenientList, NullAsEmpty, Tagged, Unlike

from .common import AuthMethodId, EnvVariable, ProtocolVersion, RequestId


class AuthMethodAgent(Extensible):
    """Agent handles authentication itself through `auth/login`.

    The `type` discriminator value is `agent`.
    """

    type: Literal["agent"] = "agent"
    method_id: AuthMethodId
    """Unique identifier for this authentication method."""

    name: str
    """Human-readable name of the authentication method."""

    description: Lenient[str | None] = None
    """Optional human-readable description of this authentication method.

    Omitted and `null` are equivalent and mean no description is provided.
    """


class AuthMethodTerminal(Extensible):
    """Terminal-based authentication method.

    The client runs the configured agent program as a separate interactive process for the user to authenticate via a
    TUI. Agents MUST advertise this method only when the client enabled its terminal authentication capability. A zero
    exit status signals success. Any other termination signals failure. The client MUST NOT pass this method to
    `auth/login`.
    """

    type: Literal["terminal"] = "terminal"
    method_id: AuthMethodId
    """Unique identifier for this authentication method."""

    name: str
    """Human-readable name of the authentication method."""

    description: Lenient[str | None] = None
    """Optional human-readable description of this authentication method.

    Omitted and `null` are equivalent and mean no description is provided.
    """

    args: NullAsEmpty[list[str]] = []
    """Additional arguments to append to the configured agent invocation for terminal auth."""

    env: NullAsEmpty[list[EnvVariable]] = []
    """Additional environment variables to set on the configured agent invocation for terminal auth.

    Names MUST be unique. These values override same-named variables in the base launch configuration.
    """


class AuthStatusCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Auth status capabilities supported by the agent.

    Supplying `{}` means the agent supports the `auth/status` method.
    """


class AgentAuthCapabilities(Extensible):
    """Authentication-related extension capabilities supported by the agent.

    This object does not advertise support for `auth/login` or `auth/logout`. Those methods are advertised by a
    non-empty `authMethods` list in the `initialize` response.
    """

    status: Lenient[AuthStatusCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports the `auth/status` method.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports the `auth/status` method.
    """


class CancelRequestNotification(Extensible):
    """Notification to cancel an ongoing request.

    See protocol docs: [Cancellation](https://agentclientprotocol.com/protocol/v2/draft/cancellation)
    """

    request_id: RequestId
    """The ID of the request to cancel: a request that the sender of this notification issued.

    Receivers match it only against requests they received from that sender.
    """


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

    Optional. Omitted and `null` are equivalent and mean the client does not advertise support. Supplying `{}` means the
    client supports URL-based elicitation.
    """


class Implementation(Extensible):
    """Metadata about the implementation of the client or agent.

    Describes the name and version of an ACP implementation, with an optional title for UI representation.
    """

    name: str
    """Intended for programmatic or logical use, but can be used as a display name fallback if title isn't present."""

    title: Lenient[str | None] = None
    """Intended for UI and end-user contexts and optimized to be human-readable and easily understood.

    If not provided, the name should be used for display.

    Omitted and `null` are equivalent and mean the `name` is used for display.
    """

    version: str
    """Version of the implementation.

    Can be displayed to the user or used for debugging or metrics purposes. (e.g. "1.0.0").
    """


class McpAcpCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for ACP MCP server transports.

    Supplying `{}` means the agent supports ACP MCP server transports.
    """


class McpHttpCapabilities(Extensible):
    """Capabilities for HTTP MCP server transports.

    Supplying `{}` means the agent supports HTTP MCP server transports.
    """


class McpStdioCapabilities(Extensible):
    """Capabilities for stdio MCP server transports.

    Supplying `{}` means the agent supports stdio MCP server transports.
    """


class McpCapabilities(Extensible):
    """MCP capabilities supported by the agent for session lifecycle requests."""

    stdio: Lenient[McpStdioCapabilities | None] = None
    """Agent supports `stdio` MCP servers.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports stdio MCP server transports.
    """

    http: Lenient[McpHttpCapabilities | None] = None
    """Agent supports `http` MCP servers.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports HTTP MCP server transports.
    """

    acp: Lenient[McpAcpCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Agent supports `acp` MCP servers.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports ACP MCP server transports.
    """


class OtherAuthMethod(Model):
    """Custom or future authentication method.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this method type should preserve the raw payload when storing, replaying, proxying,
    or forwarding initialization data, and otherwise ignore the method or display it generically.
    """

    type: Annotated[str, Unlike("agent", "terminal")]
    method_id: AuthMethodId
    """Unique identifier for this authentication method."""

    name: str
    """Human-readable name of the authentication method."""


AuthMethod: TypeAlias = Annotated[AuthMethodTerminal | AuthMethodAgent | OtherAuthMethod, Tagged("type")]
"""Describes an available authentication method.

The `type` field acts as the discriminator in the serialized JSON form.
"""


class PromptAudioCapabilities(Extensible):
    """Capabilities for audio content in prompt requests.

    Supplying `{}` means the agent supports audio content in prompts.
    """


class PromptEmbeddedContextCapabilities(Extensible):
    """Capabilities for embedded context in prompt requests.

    Supplying `{}` means the agent supports embedded context in prompts.
    """


class PromptImageCapabilities(Extensible):
    """Capabilities for image content in prompt requests.

    Supplying `{}` means the agent supports image content in prompts.
    """


class PromptCapabilities(Extensible):
    """Prompt capabilities supported by the agent in `session/prompt` requests.

    Baseline agent functionality requires support for `text` and `resource_link` content blocks in prompt requests.

    Other variants must be explicitly opted in to. Capabilities for different types of content in prompt requests.

    Indicates which content types beyond the baseline (text and resource links) the agent can process.

    See protocol docs: [Session Prompt
    Capabilities](https://agentclientprotocol.com/protocol/v2/draft/initialization#session-prompt-capabilities)
    """

    image: Lenient[PromptImageCapabilities | None] = None
    """Agent supports `image` content blocks.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports image content in prompts.
    """

    audio: Lenient[PromptAudioCapabilities | None] = None
    """Agent supports `audio` content blocks.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports audio content in prompts.
    """

    embedded_context: Lenient[PromptEmbeddedContextCapabilities | None] = None
    """Agent supports embedded context in `session/prompt` requests.

    When enabled, the Client is allowed to include `resource` content blocks in prompt requests for pieces of context
    that are referenced in the message.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports embedded context in prompts.
    """


class ProvidersCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Provider configuration capabilities supported by the agent.

    Supplying `{}` means the agent supports provider configuration methods.
    """


class SessionAdditionalDirectoriesCapabilities(Extensible):
    """Capabilities for additional session directories support.

    Supplying `{}` means the agent supports the `additionalDirectories` field on supported session lifecycle requests.
    Agents may return `SessionInfo.additionalDirectories` in `session/list` to report the complete ordered
    additional-root list associated with a listed session.
    """


class SessionArchiveCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for `session/archive` and `session/unarchive`.

    Supplying `{}` means the agent supports both methods, the `archived` filter on `session/list`, and
    `SessionInfo.archived`.
    """


class SessionDeleteCapabilities(Extensible):
    """Capabilities for the `session/delete` method.

    Supplying `{}` means the agent supports deleting sessions from `session/list`.
    """


class SessionForkCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for the `session/fork` method.

    Supplying `{}` means the agent supports forking sessions.
    """


class SessionStatusCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for the `session/status` method.

    Supplying `{}` means the agent supports checking session status.
    """


class SessionSystemPromptOverrideCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for the `override` system prompt mode.

    Supplying `{}` means the agent supports replacing its built-in default instructions with the client-provided system
    prompt.
    """


class SessionSystemPromptModeCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    System prompt delivery modes the agent supports in addition to `append`.

    `append` has no entry because every agent advertising `session.systemPrompt` supports it.
    """

    override: Lenient[SessionSystemPromptOverrideCapabilities | None] = None
    """Whether the agent supports `override` mode.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports replacing its built-in default instructions with the client-provided system prompt.
    """


class SessionSystemPromptCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for client-provided system prompts.

    Supplying `{}` means the agent supports `systemPrompt` on session lifecycle requests in `append` mode.
    """

    mode: Lenient[SessionSystemPromptModeCapabilities | None] = None
    """Delivery modes the agent supports in addition to `append`.

    Optional. Omitted and `null` are equivalent and mean the agent supports only `append`.
    """


class SessionTitleCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capabilities for Client-set session titles.

    Supplying `{}` means the agent supports `session/set_title`. Agents report titles through `session/list` and
    `session_info_update` without this capability.
    """


class SessionCapabilities(Extensible):
    """Session capabilities supported by the agent.

    Supplying `{}` means the agent supports the baseline session methods: `session/new`, `session/list`,
    `session/resume`, `session/close`, `session/prompt`, `session/cancel`, and `session/update`.

    Agents that support sessions **MAY** support additional session methods, prompt content types, and MCP transports by
    specifying additional capabilities.

    See protocol docs: [Session
    Capabilities](https://agentclientprotocol.com/protocol/v2/draft/initialization#session-capabilities)
    """

    prompt: Lenient[PromptCapabilities | None] = None
    """Prompt capabilities supported by the agent in `session/prompt` requests.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise any prompt extensions beyond the
    baseline text and resource-link content required by `session/prompt`.
    """

    mcp: Lenient[McpCapabilities | None] = None
    """MCP capabilities supported by the agent for session lifecycle requests.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise MCP server transport support for
    sessions.
    """

    delete: Lenient[SessionDeleteCapabilities | None] = None
    """Whether the agent supports `session/delete`.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports deleting sessions from `session/list`.
    """

    additional_directories: Lenient[SessionAdditionalDirectoriesCapabilities | None] = None
    """Whether the agent supports `additionalDirectories` on supported session lifecycle requests.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports `additionalDirectories` on supported session lifecycle requests.

    Agents may return `SessionInfo.additionalDirectories` to report the complete ordered additional-root list associated
    with a listed session.
    """

    system_prompt: Lenient[SessionSystemPromptCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports `systemPrompt` on session lifecycle requests.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports `systemPrompt` in `append` mode.
    """

    fork: Lenient[SessionForkCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports `session/fork`.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports forking sessions.
    """

    archive: Lenient[SessionArchiveCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports `session/archive` and `session/unarchive`.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports both methods, the `archived` filter on `session/list`, and `SessionInfo.archived`.
    """

    status: Lenient[SessionStatusCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports `session/status`.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports checking session status.
    """

    title: Lenient[SessionTitleCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Whether the agent supports `session/set_title`.

    Agents report titles through `session/list` and `session_info_update` without this capability. It only advertises
    that Clients can set titles.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports setting session titles.
    """


class AgentCapabilities(Extensible):
    """Capabilities supported by the agent.

    Advertised during initialization to inform the client about available features and content types.

    See protocol docs: [Agent
    Capabilities](https://agentclientprotocol.com/protocol/v2/draft/initialization#agent-capabilities)
    """

    session: Lenient[SessionCapabilities | None] = None
    """Session capabilities supported by the agent.

    Optional. Omitted and `null` are equivalent and mean the agent does not support the `session/*` methods. Supplying
    `{}` means the agent supports the baseline session methods: `session/new`, `session/list`, `session/resume`,
    `session/close`, `session/prompt`, `session/cancel`, and `session/update`.
    """

    auth: Lenient[AgentAuthCapabilities | None] = None
    """Authentication-related extension capabilities supported by the agent.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise any authentication-related
    extensions. This field does not advertise support for `auth/login` or `auth/logout`. Those methods are advertised by
    a non-empty `authMethods` list in the `initialize` response.
    """

    providers: Lenient[ProvidersCapabilities | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Provider configuration capabilities supported by the agent.

    Optional. Omitted and `null` are equivalent and mean the agent does not advertise support. Supplying `{}` means the
    agent supports provider configuration methods.
    """


class InitializeResponse(Response):
    """Response to the `initialize` method.

    Contains the negotiated protocol version and agent capabilities.

    See protocol docs: [Initialization](https://agentclientprotocol.com/protocol/v2/draft/initialization)
    """

    protocol_version: ProtocolVersion
    """The highest protocol version supported by the agent that is at or below the version requested by the client.

    If no such version exists, initialization fails with error code -32022.

    The client must check that it supports this version and should disconnect if it does not.
    """

    info: Implementation
    """Information about the implementation sending this initialize response."""

    capabilities: Lenient[AgentCapabilities] = Field(default_factory=AgentCapabilities)
    """Capabilities supported by the agent."""

    auth_methods: LenientList[list[AuthMethod]] = []
    """Authentication methods supported by the agent.

    Optional. Omitted or empty means the agent does not advertise the `auth/login` and `auth/logout` methods. Supplying
    one or more methods means the agent MUST support both `auth/login` and `auth/logout`.
    """


class TerminalAuthCapabilities(Extensible):
    """Capabilities for terminal authentication methods.

    Supplying `{}` means the client can reproduce the configured agent invocation in an interactive terminal and
    supports terminal authentication methods.
    """


class ClientAuthCapabilities(Extensible):
    """Authentication capabilities supported by the client.

    Advertised during initialization to inform the agent which authentication method types the client can handle. This
    governs opt-in types that require additional client-side support.
    """

    terminal: Lenient[TerminalAuthCapabilities | None] = None
    """Whether the client supports `terminal` authentication methods.

    Optional. Omitted and `null` are equivalent and mean the client does not advertise support. The client should supply
    `{}` only when it can reproduce the configured agent invocation in an interactive terminal. Supplying `{}` means the
    agent may include `terminal` entries in its authentication methods.
    """


class ClientCapabilities(Extensible):
    """Capabilities supported by the client.

    Advertised during initialization to inform the agent about available features and methods.

    See protocol docs: [Client
    Capabilities](https://agentclientprotocol.com/protocol/v2/draft/initialization#client-capabilities)
    """

    auth: Lenient[ClientAuthCapabilities | None] = None
    """Authentication capabilities supported by the client.

    Determines which authentication method types the agent may include in its `InitializeResponse`.

    Optional. Omitted and `null` are equivalent and mean the client does not advertise any authentication-method
    extensions.
    """

    elicitation: Lenient[ElicitationCapabilities | None] = None
    """Elicitation capabilities supported by the client. Determines which elicitation modes the agent may use.

    Optional. Omitted and `null` are equivalent and mean the client does not advertise elicitation support.
    """


class InitializeRequest(Extensible, AnsweredBy["InitializeResponse"]):
    """Request parameters for the initialize method.

    Sent by the client to establish connection and negotiate capabilities.

    See protocol docs: [Initialization](https://agentclientprotocol.com/protocol/v2/draft/initialization)
    """

    protocol_version: ProtocolVersion
    """The latest protocol version supported by the client."""

    info: Implementation
    """Information about the implementation sending this initialize request."""

    capabilities: Lenient[ClientCapabilities] = Field(default_factory=ClientCapabilities)
    """Capabilities supported by the client."""
