"""ACP v2 draft: session_update. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import (
    FirstMatch,
    Int32,
    Int64,
    Lenient,
    LenientList,
    Number,
    SkipInvalid,
    Tagged,
    UInt64,
    Unlike,
    When,
)

from .common import AbsolutePath, ProtocolVersion, SessionId, TerminalId, ToolCallId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import AvailableCommand, MessageId, ToolCallContent, ToolCallUpdate


class AgentMessage(Extensible):
    """An agent message upsert.

    Only `messageId` is required. `content` has patch semantics: an omitted field leaves existing message content
    unchanged, `null` clears the value, and a concrete array replaces the previous value. For a new `messageId`, omitted
    `content` starts empty. `content` is replaced as a whole array. Send `[]` or `null` to clear it.

    Message updates and chunks are applied in the order they are received. When an `agent_message` update includes
    `content`, that array replaces any content previously accumulated for the message, including content from earlier
    chunks. Later chunks with the same `messageId` append to the current content.
    """

    session_update: Literal["agent_message"] = "agent_message"
    message_id: MessageId
    """A unique identifier for the message."""

    content: LenientList[list[ContentBlock] | None] = None
    """Complete replacement content for this message."""


class AgentThought(Extensible):
    """An agent thought or reasoning message upsert.

    Only `messageId` is required. `content` has patch semantics: an omitted field leaves existing thought content
    unchanged, `null` clears the value, and a concrete array replaces the previous value. For a new `messageId`, omitted
    `content` starts empty. `content` is replaced as a whole array. Send `[]` or `null` to clear it.

    Message updates and chunks are applied in the order they are received. When an `agent_thought` update includes
    `content`, that array replaces any content previously accumulated for the thought, including content from earlier
    chunks. Later chunks with the same `messageId` append to the current content.
    """

    session_update: Literal["agent_thought"] = "agent_thought"
    message_id: MessageId
    """A unique identifier for the thought message."""

    content: LenientList[list[ContentBlock] | None] = None
    """Complete replacement content for this thought message."""


class AvailableCommandsUpdate(Extensible):
    """Available commands are ready or have changed."""

    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: SkipInvalid[list[AvailableCommand]]
    """Commands the agent can execute."""


class BackgroundTerminal(Extensible):
    """A listed terminal running in the background."""

    type: Literal["terminal"] = "terminal"
    terminal_id: TerminalId
    """The ID of the listed terminal."""


class BackgroundToolCall(Extensible):
    """A listed tool call whose work continues in the background."""

    type: Literal["tool_call"] = "tool_call"
    tool_call_id: ToolCallId
    """The ID of the listed tool call."""


CompactionId: TypeAlias = str
"""Unique identifier for a context compaction within a session."""


CompactionStatus: TypeAlias = Literal["in_progress", "completed", "failed", "cancelled"] | str
"""Lifecycle state of a context compaction.

- `in_progress`: Compaction has started and has not finished.
- `completed`: Compaction finished successfully.
- `failed`: Compaction finished unsuccessfully.
- `cancelled`: Compaction was cancelled before it finished.
"""


class CompactionSummaryChunk(Extensible):
    """A content block appended to a compaction's summary.

    A first-seen ID creates an in-progress compaction. Chunks append in receive order.
    """

    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: CompactionId
    """ID of the compaction whose summary receives this content."""

    content: ContentBlock
    """One content block to append."""


class CompactionUpdate(Extensible):
    """A context compaction upsert.

    The first notification fixes the compaction's timeline position. Later updates with the same ID patch that entity in
    place.

    `summary`, `error`, and `_meta` have patch semantics: omission leaves the stored value unchanged, `null` clears it,
    and a concrete value replaces it. `summary: []` also clears the summary. A concrete `_meta` object patches the
    stored metadata by top-level key instead of replacing it.
    """

    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: CompactionId
    """The Agent-owned ID of this compaction, unique within the session."""

    status: CompactionStatus
    """Current lifecycle status."""

    summary: LenientList[list[ContentBlock] | None] = None
    """Complete replacement user-displayable summary content for the compaction."""

    error: Lenient[str | None] = None
    """Human-readable error details for the compaction."""


class ConfigOptionUpdate(Extensible):
    """Session configuration options have been updated."""

    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: SkipInvalid[list[SessionConfigOption]]
    """The full set of configuration options and their current values."""


class ContentChunk(Extensible):
    """A streamed item of message content."""

    message_id: MessageId
    """A unique identifier for the message this chunk belongs to.

    All chunks belonging to the same message share the same `messageId`. Chunks for different messages can interleave.
    """

    content: ContentBlock
    """A single item of content."""


class AgentMessageChunk(ContentChunk):
    """A chunk of the agent's response being streamed."""

    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(ContentChunk):
    """A chunk of the agent's internal reasoning being streamed."""

    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


class Cost(Extensible):
    """Cost information for a session."""

    amount: Number
    """Total cumulative cost for session."""

    currency: str
    """Unit of `amount`: an ISO 4217 currency code (e.g., "USD", "EUR") for money, or another unit such as "credits"."""


ErrorCode: TypeAlias = Int32
"""Predefined error codes for common JSON-RPC and ACP-specific errors.

Standard errors use the JSON-RPC 2.0 codes. ACP-specific errors use the JSON-RPC server-error range (-32000 to -32099),
and request cancellation uses -32800 from the range LSP reserves (-32899 to -32800).

- `-32700`: **Parse error**: Invalid JSON was received by the server. An error occurred on the server while parsing the
  JSON text.
- `-32600`: **Invalid request**: The JSON sent is not a valid Request object.
- `-32601`: **Method not found**: The method does not exist or is not available.
- `-32602`: **Invalid params**: Invalid method parameter(s).
- `-32603`: **Internal error**: Internal JSON-RPC error.
- `-32800`: **Request cancelled**: Execution of the method was aborted either due to a cancellation request from the
  caller or because of resource constraints or shutdown.
- `-32000`: **Authentication required**: Authentication is required before this operation can be performed.
- `-32002`: **Resource not found**: A given resource, such as a session, was not found.
- `-32022`: **Unsupported protocol version**: No protocol version supported by the Agent is at or below the requested
  version. The error data is an [`UnsupportedProtocolVersionErrorData`].
"""


NoticeSeverity: TypeAlias = Literal["info", "warning", "error"] | str
"""Severity hint for a session notice.

- `info`: Informational notice.
- `warning`: Warning notice.
- `error`: Error notice.
"""


class Notice(Extensible):
    """Fire-and-forget information for the user.

    Notices are live events rather than session history. Agents must not rely on a notice being received, displayed, or
    seen by the user. No Client capability is required, and unsupported Clients may ignore notices.

    See protocol docs: [Session Notices](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-notices)
    """

    session_update: Literal["notice"] = "notice"
    severity: NoticeSeverity
    """Presentation severity hint."""

    title: Annotated[str, Field(min_length=1)]
    """Required non-empty plain-text title that can stand alone."""

    description: Lenient[str | None] = None
    """Optional plain-text detail or guidance.

    Omitted and `null` are equivalent and mean no description was supplied.
    """


class OtherBackgroundWork(Model):
    """Custom or future background work.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    An unknown item still means background work is running, even when the Client cannot show what it is.
    """

    type: Annotated[str, Unlike("terminal", "tool_call")]


BackgroundWork: TypeAlias = Annotated[BackgroundTerminal | BackgroundToolCall | OtherBackgroundWork, Tagged("type")]
"""One piece of work running independently of the session's foreground work.

Items reference entities the Client already tracks. The Agent MUST announce each item before the first snapshot that
lists it, and MUST report a terminal's `exitStatus` or a tool call's final status before the snapshot that removes it.
Each piece of work is listed once: process-backed work is listed as its terminal, not also as its tool call.

See protocol docs: [Background Work](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work)
"""


class OtherSessionUpdate(Model):
    """Custom or future session update.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this update type should preserve the raw payload when storing, replaying, proxying,
    or forwarding session history, and otherwise ignore it or display it generically.
    """

    session_update: Annotated[
        str,
        Unlike(
            "agent_message",
            "agent_message_chunk",
            "agent_thought",
            "agent_thought_chunk",
            "available_commands_update",
            "compaction_summary_chunk",
            "compaction_update",
            "config_option_update",
            "notice",
            "plan_update",
            "session_info_update",
            "state_update",
            "terminal_output_chunk",
            "terminal_update",
            "tool_call_content_chunk",
            "tool_call_update",
            "usage_update",
            "user_message",
            "user_message_chunk",
        ),
    ]


class OtherStateUpdate(Model):
    """Custom or future session state.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Unless the Client advertised support for this state, Agents MUST still report the standard states. Clients MUST NOT
    treat an unrecognized state as `idle` or present the previous state as confirmed, and show a generic busy state
    until a known state arrives.
    """

    state: Annotated[str, Unlike("idle", "requires_action", "running")]


PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"] | str
"""Priority levels for plan entries.

Used to indicate the relative importance or urgency of different tasks in the execution plan.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries)

- `high`: High priority task - critical to the overall goal.
- `medium`: Medium priority task - important but not critical.
- `low`: Low priority task - nice to have but not essential.
"""


PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"] | str
"""Status of a plan entry in the execution flow.

Tracks the lifecycle of each task from planning through completion.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries)

- `pending`: The task has not started yet.
- `in_progress`: The task is currently being worked on.
- `completed`: The task has been successfully completed.
- `cancelled`: The task was cancelled before it completed.
"""


class PlanEntry(Extensible):
    """A single entry in the execution plan.

    Represents a task or goal that the assistant intends to accomplish as part of fulfilling the user's request.
    See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries)
    """

    content: str
    """Human-readable description of what this task aims to accomplish."""

    priority: PlanEntryPriority
    """The relative importance of this task. Used to indicate which tasks are most critical to the overall goal."""

    status: PlanEntryStatus
    """Current execution status of this task."""


PlanId: TypeAlias = str
"""Unique identifier for a plan within a session."""


class OtherPlanUpdateContent(Model):
    """Custom or future plan update content.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this content type should preserve the raw payload when storing, replaying,
    proxying, or forwarding plans, and otherwise ignore it or display it generically. It still replaces any earlier
    content for the same `planId`.
    """

    type: Annotated[str, Unlike("items")]
    plan_id: PlanId
    """The plan ID to update."""


class PlanItems(Extensible):
    """A plan represented as structured entries."""

    type: Literal["items"] = "items"
    plan_id: PlanId
    """The plan ID to update."""

    entries: SkipInvalid[list[PlanEntry]]
    """The list of tasks to be accomplished.

    When updating an item-based plan, the agent must send a complete list of all entries with their current status. The
    client replaces that plan with each update.
    """


PlanUpdateContent: TypeAlias = Annotated[PlanItems | OtherPlanUpdateContent, Tagged("type")]
"""Updated content for a plan."""


class PlanUpdate(Extensible):
    """A content update for a plan identified by ID."""

    session_update: Literal["plan_update"] = "plan_update"
    plan: PlanUpdateContent
    """The updated plan content."""


class RequiresActionStateUpdate(Extensible):
    """The foreground workflow as a whole is blocked on user action.

    Agents SHOULD report this state when foreground work cannot progress without user action. Pending permissions or
    elicitations alone do not imply this state if other foreground work can progress, or if the requests belong only to
    independent background activity. Once reported, agents MUST report `running` when progress resumes, or `idle` if the
    work ends without resuming. Responding to one request does not itself imply `running`.
    """

    state: Literal["requires_action"] = "requires_action"
    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background Work](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work)
    """


class RunningStateUpdate(Extensible):
    """Foreground work is in progress."""

    state: Literal["running"] = "running"
    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background Work](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work)
    """


class SessionInfoUpdate(Extensible):
    """Update to session metadata. All fields are optional to support partial updates.

    Agents send this notification to update session information like title or custom metadata. Clients can use it to
    keep session titles and state current.

    Omitted fields leave the existing session info unchanged. `null` clears the corresponding value. A concrete `_meta`
    object patches the stored metadata by top-level key.
    """

    session_update: Literal["session_info_update"] = "session_info_update"
    title: Lenient[str | None] = None
    """Human-readable title for the session. Set to null to clear."""

    updated_at: Lenient[str | None] = None
    """RFC 3339 timestamp of last activity. Set to null to clear."""


class SessionNotFoundErrorData(Extensible):
    """Data for the `-32002` (Resource not found) error when a session-scoped request names a session that does not
    exist or is not active.

    See protocol docs: [Unknown Sessions](https://agentclientprotocol.com/protocol/v2/error#unknown-sessions)
    """

    session_id: SessionId
    """The session ID from the request."""


class SessionStateUpdateOther(OtherStateUpdate):
    """Custom or future session state.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Unless the Client advertised support for this state, Agents MUST still report the standard states. Clients MUST NOT
    treat an unrecognized state as `idle` or present the previous state as confirmed, and show a generic busy state
    until a known state arrives.
    """

    session_update: Literal["state_update"] = "state_update"


class SessionStateUpdateRequiresAction(RequiresActionStateUpdate):
    """The foreground workflow as a whole is blocked on user action.

    Agents SHOULD report this state when foreground work cannot progress without user action. Pending permissions or
    elicitations alone do not imply this state if other foreground work can progress, or if the requests belong only to
    independent background activity. Once reported, agents MUST report `running` when progress resumes, or `idle` if the
    work ends without resuming. Responding to one request does not itself imply `running`.
    """

    session_update: Literal["state_update"] = "state_update"


class SessionStateUpdateRunning(RunningStateUpdate):
    """Foreground work is in progress."""

    session_update: Literal["state_update"] = "state_update"


class SessionToolCallUpdate(ToolCallUpdate):
    """A tool call has been created or updated."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


class TerminalCancelCapabilities(Extensible):
    """Capability to cancel a terminal with `terminal/cancel`.

    Supplying `{}` advertises support. An omitted or `null` `cancel` does not.
    """


class TerminalCapabilities(Extensible):
    """Client-initiated controls a terminal currently supports.

    A malformed value falls back to no controls, so the Client never sends a request the Agent did not advertise.

    See protocol docs: [Cancelling
    Terminals](https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-terminals)
    """

    cancel: Lenient[TerminalCancelCapabilities | None] = None
    """Permits the Client to cancel this terminal with `terminal/cancel`.

    Omitted and `null` are equivalent and mean unsupported. An object (including `{}`) means supported. Agents SHOULD
    stop advertising it once the terminal reports `exitStatus`.
    """


class TerminalExitStatus(Extensible):
    """Exit information for an agent-owned terminal.

    The presence of this object marks the terminal as exited, even when neither an exit code nor a signal is known.
    """

    exit_code: Lenient[Int64 | None] = None
    """Process exit code as the platform reports it, when known.

    Negative values are allowed, for example signed Windows exit codes. Omitted and `null` are equivalent.
    """

    signal: Lenient[str | None] = None
    """Signal that terminated the process, when known.

    Agents should use the conventional platform signal name. POSIX examples include `SIGTERM`, `SIGKILL`, and `SIGINT`.
    Other platforms may use a platform-specific name. Omitted and `null` are equivalent.
    """


class TerminalOutput(Extensible):
    """An authoritative replacement snapshot of terminal output bytes."""

    data: str
    """Base64-encoded replacement terminal output bytes."""


class TerminalOutputChunk(Extensible):
    """A chunk of bytes appended to an agent-owned terminal's output."""

    session_update: Literal["terminal_output_chunk"] = "terminal_output_chunk"
    terminal_id: TerminalId
    """The terminal receiving these bytes."""

    data: str
    """Independently base64-encoded terminal output bytes."""


class TerminalSize(Extensible):
    """The size of an agent-owned terminal in character cells."""

    cols: Annotated[int, Field(ge=1, le=65535)]
    """Number of columns."""

    rows: Annotated[int, Field(ge=1, le=65535)]
    """Number of rows."""


class TerminalUpdate(Extensible):
    """An upsert for the stored state of an agent-owned terminal.

    Only `terminalId` is required. Other fields have patch semantics: omitted fields leave the stored value unchanged,
    `null` clears it, and concrete values replace it. A concrete `_meta` object instead patches the stored metadata by
    top-level key. When the terminal ID is new, omitted fields start unknown.
    """

    session_update: Literal["terminal_update"] = "terminal_update"
    terminal_id: TerminalId
    """Unique identifier for this terminal within the session."""

    command: Lenient[str | None] = None
    """The command being run."""

    cwd: Lenient[AbsolutePath | None] = None
    """The absolute working directory of the command."""

    output: Lenient[TerminalOutput | None] = None
    """An authoritative replacement snapshot of terminal output bytes."""

    exit_status: Lenient[TerminalExitStatus | None] = None
    """Exit information. A concrete object marks the terminal as exited."""

    size: Lenient[TerminalSize | None] = None
    """The terminal size the command runs with, when known.

    Clients can render output at this size so that column layouts, progress bars, and cursor-positioned output display
    as the program wrote them.
    """

    capabilities: Lenient[TerminalCapabilities | None] = None
    """Client-initiated controls this terminal currently supports, such as cancellation.

    Omission leaves the capabilities unchanged, `null` clears them, and an object replaces the whole previous value. A
    new terminal starts with none.
    """


class ToolCallContentChunk(Extensible):
    """A streamed item of tool-call content.

    Tool-call content chunks append one `ToolCallContent` item to the current content for the matching `toolCallId`.
    Agents can send a `tool_call_update` with `content` when they need to replace the whole content collection instead.
    """

    session_update: Literal["tool_call_content_chunk"] = "tool_call_content_chunk"
    tool_call_id: ToolCallId
    """The ID of the tool call this content belongs to."""

    content: ToolCallContent
    """A single item of content produced by the tool call."""


class UnsupportedProtocolVersionErrorData(Extensible):
    """Data for the `-32022` (Unsupported protocol version) error.

    See protocol docs: [Version
    Negotiation](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation)
    """

    requested: ProtocolVersion
    """The protocol version the Client requested."""

    supported: list[ProtocolVersion]
    """The protocol versions the Agent supports."""


ErrorData: TypeAlias = Annotated[UnsupportedProtocolVersionErrorData | SessionNotFoundErrorData | Any, FirstMatch()]
"""Schema for [`Error::data`]: the shapes ACP defines, or any other value."""


class Error(Model):
    """JSON-RPC error object.

    Represents an error that occurred during method execution, following the JSON-RPC 2.0 error object specification
    with optional additional data.

    See protocol docs: [JSON-RPC Error Object](https://www.jsonrpc.org/specification#error_object)
    """

    code: ErrorCode
    """A number indicating the error type that occurred.

    This must be an integer as defined in the JSON-RPC specification.
    """

    message: str
    """A string providing a short description of the error.

    The message should be limited to a concise single sentence.
    """

    data: Lenient[ErrorData | None] = None
    """Optional primitive or structured value that contains additional information about the error.

    This may include debugging information or context-specific details.

    Omitted and `null` are equivalent and mean no additional data is provided. Some codes define a shape:
    [`UnsupportedProtocolVersionErrorData`] for `-32022`, and [`SessionNotFoundErrorData`] for `-32002` when a session
    is not found.
    """


class ErrorStopReason(Model):
    """Details of a failure that ended active work."""

    error: Lenient[Error | None] = None
    """The failure, as a JSON-RPC error object.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting failure details. Agents SHOULD
    include it.
    """


class IdleStateUpdate(Extensible):
    """No foreground work is active. Background activity may continue.

    Agents SHOULD include a `stopReason` when the idle transition ends foreground work. An idle update that does not end
    foreground work need not include one. Receivers treat an omitted, `null`, or malformed `stopReason` as the agent not
    reporting one. Repeated or resume snapshots may carry the last stop reason for context. They MUST NOT be counted as
    new completions, cancellations, or additional usage.
    """

    state: Literal["idle"] = "idle"
    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background Work](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work)
    """

    stop_reason: Lenient[
        Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"] | str | None
    ] = None
    """Why foreground work stopped. The value selects one of this type's variants, which may add fields of their own.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting a stop reason; a malformed value is
    treated the same way.

    See protocol docs: [Stop Reasons](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#stop-reasons)
    """

    error: Lenient[Annotated[Error | None, When("stop_reason", "error")]] = None
    """The failure, as a JSON-RPC error object.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting failure details. Agents SHOULD
    include it.
    """


class SessionStateUpdateIdle(IdleStateUpdate):
    """No foreground work is active. Background activity may continue.

    Agents SHOULD include a `stopReason` when the idle transition ends foreground work. An idle update that does not end
    foreground work need not include one. Receivers treat an omitted, `null`, or malformed `stopReason` as the agent not
    reporting one. Repeated or resume snapshots may carry the last stop reason for context. They MUST NOT be counted as
    new completions, cancellations, or additional usage.
    """

    session_update: Literal["state_update"] = "state_update"


SessionStateUpdate: TypeAlias = Annotated[
    SessionStateUpdateRunning | SessionStateUpdateIdle | SessionStateUpdateRequiresAction | SessionStateUpdateOther,
    Tagged("state"),
]
"""A snapshot of the session's aggregate foreground activity."""


StateUpdate: TypeAlias = Annotated[
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | OtherStateUpdate, Tagged("state")
]
"""A snapshot of the session's aggregate foreground activity.

Foreground work is the agent's active response or workflow in the session, including model processing, tool execution,
and waiting for user action needed to continue that work. It can start with a prompt or be agent-initiated, for example
to pursue an ongoing goal or follow up on a completed background task. Either way, the agent MUST report `running` when
foreground work starts, or `requires_action` if it starts blocked on user action, and `idle` when it ends. The agent
SHOULD include a stop reason on that idle update. Agent-initiated work does not require a prompt request or a synthetic
user message.

`running` may precede user-message insertion, for example during a foreground hook. It is not acknowledgment of
insertion, and rejecting a prompt does not itself end foreground work.

Background activity can continue and emit other `session/update` notifications while `idle`. Those notifications,
including a detached task's progress or completion, do not by themselves change this state. A permission request only
warrants `requires_action` when foreground work is blocked on user action.

The agent SHOULD report `requires_action` when the foreground workflow as a whole cannot progress without user action,
including permissions or elicitations. Once reported, it MUST report `running` when progress resumes, or `idle` when
work ends without resuming. If other foreground work can progress, the state remains `running`. Resolving one of several
requests does not itself change the state. Agents SHOULD ignore responses for work that has already ended rather than
use them to resume it.

A new session defaults to idle until a state update reports otherwise. Resume MUST send a current-state snapshot after
any replay and before its response. The snapshot reports foreground state after resuming. The response alone does not
imply idle. Repeated snapshots are idempotent, not additional work, completions, or usage. A repeated state may carry
updated information without another state transition. The agent MUST report `idle` when no foreground activity remains.
Completing an individual activity while other foreground work continues does not require an idle boundary. Local
commands use the same lifecycle even without model work.

See protocol docs: [Session States](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states)
"""


class UsageUpdate(Extensible):
    """Context window and cost update for a session."""

    session_update: Literal["usage_update"] = "usage_update"
    used: UInt64
    """Tokens currently in context."""

    size: UInt64
    """Total context window size in tokens."""

    cost: Lenient[Cost | None] = None
    """Cumulative session cost.

    Omitted leaves the last reported cost unchanged. `null` clears it. A value replaces it.
    """


class UserMessage(Extensible):
    """A user message upsert.

    Only `messageId` is required. `content` has patch semantics: an omitted field leaves existing message content
    unchanged, `null` clears the value, and a concrete array replaces the previous value. For a new `messageId`, omitted
    `content` starts empty. `content` is replaced as a whole array. Send `[]` or `null` to clear it.

    Message updates and chunks are applied in the order they are received. When a `user_message` update includes
    `content`, that array replaces any content previously accumulated for the message, including content from earlier
    chunks. Later chunks with the same `messageId` append to the current content.
    """

    session_update: Literal["user_message"] = "user_message"
    message_id: MessageId
    """A unique identifier for the message."""

    content: LenientList[list[ContentBlock] | None] = None
    """Complete replacement content for this message."""


class UserMessageChunk(ContentChunk):
    """A chunk of the user's message being streamed."""

    session_update: Literal["user_message_chunk"] = "user_message_chunk"


SessionUpdate: TypeAlias = Annotated[
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | SessionStateUpdate
    | ToolCallContentChunk
    | SessionToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | OtherSessionUpdate,
    Tagged("sessionUpdate"),
]
"""Different types of updates that can be sent while a session exists.

These updates report messages, progress, and other session activity.

See protocol docs: [Agent Reports
Output](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#3-agent-reports-output)
"""


class UpdateSessionNotification(Extensible):
    """Notification containing a session update from the agent.

    Agents can send session updates at any point while the session exists.

    See protocol docs: [Agent Reports
    Output](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#3-agent-reports-output)
    """

    session_id: SessionId
    """The ID of the session this update pertains to."""

    update: SessionUpdate
    """The actual update content."""
