"""ACP v1 unstable: session_update. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Int32, Lenient, LenientList, Number, Omittable, Tagged, UInt64, Unlike, When

from .common import SessionId, ToolCallId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import (
    SessionModeId,
    ToolCallContent,
    ToolCallLocation,
    ToolCallStatus,
    ToolCallUpdate,
    ToolKind,
    Usage,
)

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

    A first-seen ID creates an in-progress compaction. Chunks append in receive order. Agents MUST only send this update
    when the Client advertised the `session.compaction` Client capability.
    """

    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: CompactionId
    """ID of the compaction whose summary receives this content."""

    content: ContentBlock
    """One content block to append."""


class CompactionUpdate(Extensible):
    """A context compaction upsert.

    The first notification fixes the compaction's timeline position. Later updates with the same ID patch that entity in
    place. Agents MUST only send this update when the Client advertised the `session.compaction` Client capability.

    `summary`, `error`, and `_meta` have patch semantics: omission leaves the stored value unchanged, `null` clears it,
    and a concrete value replaces it. `summary: []` also clears the summary.
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
    config_options: LenientList[list[SessionConfigOption]]
    """The full set of configuration options and their current values."""


class Cost(Extensible):
    """Cost information for a session."""

    amount: Number
    """Total cumulative cost for session."""

    currency: str
    """Unit of `amount`: an ISO 4217 currency code (e.g., "USD", "EUR") for money, or another unit such as "credits"."""


class CurrentModeUpdate(Extensible):
    """The current mode of the session has changed.

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/draft/session-modes)
    """

    session_update: Literal["current_mode_update"] = "current_mode_update"
    current_mode_id: SessionModeId
    """The ID of the current mode."""


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
- `-32002`: **Resource not found**: A given resource, such as a session or file, was not found.
"""


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

    data: Any = None
    """Optional primitive or structured value that contains additional information about the error.

    This may include debugging information or context-specific details.
    """


class ErrorStopReason(Model):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Details of a failure that ended a child's foreground work.
    """

    error: Lenient[Error | None] = None
    """The failure, as a JSON-RPC error object.

    Optional. Omitted or `null` both mean the agent is not reporting failure details. Agents SHOULD include it.
    """


class IdleStateUpdate(Extensible):
    """The child is ready to process another prompt.

    An omitted, `null`, or malformed `stopReason` means not reported.
    """

    state: Literal["idle"] = "idle"
    usage: Lenient[Usage | None] = None
    """**UNSTABLE** Token usage for completed foreground work.

    Optional. Omitted or `null` means not reported.
    """

    stop_reason: Lenient[
        Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"] | str | None
    ] = None
    """Why foreground work stopped. The value selects one of this type's variants, which may add fields of their own.

    Optional. Omitted or `null` both mean the agent is not reporting a stop reason; a malformed value is treated the
    same way.

    See protocol docs: [Current work state](https://agentclientprotocol.com/rfds/subagents#current-work-state)
    """

    error: Lenient[Annotated[Error | None, When("stop_reason", "error")]] = None
    """The failure, as a JSON-RPC error object.

    Optional. Omitted or `null` both mean the agent is not reporting failure details. Agents SHOULD include it.
    """


MessageId: TypeAlias = str
"""Unique identifier for a message within a session."""


class ContentChunk(Extensible):
    """A streamed item of content."""

    content: ContentBlock
    """A single item of content."""

    message_id: Lenient[MessageId | None] = None
    """A unique identifier for the message this chunk belongs to.

    All chunks belonging to the same message share the same `messageId`. A change in `messageId` indicates a new message
    has started.
    """


class AgentMessageChunk(ContentChunk):
    """A chunk of the agent's response being streamed."""

    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(ContentChunk):
    """A chunk of the agent's internal reasoning being streamed."""

    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


NoticeSeverity: TypeAlias = Literal["info", "warning", "error"] | str
"""Severity hint for a session notice.

- `info`: Informational notice.
- `warning`: Warning notice.
- `error`: Error notice.
"""


class Notice(Extensible):
    """Fire-and-forget information for the user.

    Notices are live events rather than session history. Agents must not rely on a notice being received, displayed, or
    seen by the user. Agents MUST only send notices when the Client advertised the `session.notices` Client capability.
    Otherwise, Agents may use an agent message when the information should still be surfaced to the user.

    See RFD: [Session Notices](https://agentclientprotocol.com/rfds/session-notices)
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


class OtherPlanUpdateContent(Model):
    """Something newer than this schema, kept as it came."""

    type: Annotated[str, Unlike("file", "items", "markdown")]


class OtherSessionUpdate(Model):
    """Something newer than this schema, kept as it came."""

    session_update: Annotated[
        str,
        Unlike(
            "agent_message_chunk",
            "agent_thought_chunk",
            "available_commands_update",
            "compaction_summary_chunk",
            "compaction_update",
            "config_option_update",
            "current_mode_update",
            "notice",
            "plan",
            "plan_removed",
            "plan_update",
            "session_info_update",
            "session_message",
            "session_message_chunk",
            "subagent_update",
            "tool_call",
            "tool_call_update",
            "usage_update",
            "user_message_chunk",
        ),
    ]


class OtherStateUpdate(Model):
    """Custom or future state.

    Values beginning with `_` are reserved for implementation-specific extensions. Other unknown values are reserved for
    future ACP variants.
    """

    state: Annotated[str, Unlike("idle", "requires_action", "running", "unknown")]


PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"]
"""Priority levels for plan entries.

Used to indicate the relative importance or urgency of different tasks in the execution plan.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/draft/agent-plan#plan-entries)

- `high`: High priority task - critical to the overall goal.
- `medium`: Medium priority task - important but not critical.
- `low`: Low priority task - nice to have but not essential.
"""


PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
"""Status of a plan entry in the execution flow.

Tracks the lifecycle of each task from planning through completion.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/draft/agent-plan#plan-entries)

- `pending`: The task has not started yet.
- `in_progress`: The task is currently being worked on.
- `completed`: The task has been successfully completed.
"""


class PlanEntry(Extensible):
    """A single entry in the execution plan.

    Represents a task or goal that the assistant intends to accomplish as part of fulfilling the user's request.
    See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/draft/agent-plan#plan-entries)
    """

    content: str
    """Human-readable description of what this task aims to accomplish."""

    priority: PlanEntryPriority
    """The relative importance of this task. Used to indicate which tasks are most critical to the overall goal."""

    status: PlanEntryStatus
    """Current execution status of this task."""


class Plan(Extensible):
    """An execution plan for accomplishing complex tasks.

    Plans consist of multiple entries representing individual tasks or goals. Agents report plans to clients to provide
    visibility into their execution strategy. Plans can evolve during execution as the agent discovers new requirements
    or completes tasks.

    See protocol docs: [Agent Plan](https://agentclientprotocol.com/protocol/v1/draft/agent-plan)
    """

    session_update: Literal["plan"] = "plan"
    entries: LenientList[list[PlanEntry]]
    """The list of tasks to be accomplished.

    When updating a plan, the agent must send a complete list of all entries with their current status. The client
    replaces the entire plan with each update.
    """


PlanId: TypeAlias = str
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

Unique identifier for a plan within a session.
"""


class PlanFile(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A plan represented by a file URI.
    """

    type: Literal["file"] = "file"
    plan_id: PlanId
    """The plan ID to update."""

    uri: str
    """The URI of the file containing the plan."""


class PlanItems(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A plan represented as structured entries.
    """

    type: Literal["items"] = "items"
    plan_id: PlanId
    """The plan ID to update."""

    entries: LenientList[list[PlanEntry]]
    """The list of tasks to be accomplished.

    When updating an item-based plan, the agent must send a complete list of all entries with their current status. The
    client replaces that plan with each update.
    """


class PlanMarkdown(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A plan represented as raw markdown content.
    """

    type: Literal["markdown"] = "markdown"
    plan_id: PlanId
    """The plan ID to update."""

    content: str
    """Markdown content for the plan."""


class PlanRemoved(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Removal notice for a plan identified by ID.
    """

    session_update: Literal["plan_removed"] = "plan_removed"
    plan_id: PlanId
    """The plan ID to remove."""


PlanUpdateContent: TypeAlias = Annotated[PlanItems | PlanFile | PlanMarkdown | OtherPlanUpdateContent, Tagged("type")]
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

Updated content for a plan.
"""


class PlanUpdate(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A content update for a plan identified by ID.
    """

    session_update: Literal["plan_update"] = "plan_update"
    plan: PlanUpdateContent
    """The updated plan content."""


class RequiresActionStateUpdate(Extensible):
    """Foreground work is blocked on user action."""

    state: Literal["requires_action"] = "requires_action"


class RunningStateUpdate(Extensible):
    """Foreground work is in progress."""

    state: Literal["running"] = "running"


class SessionCancelCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Capability to cancel work in a subagent session without ending that session.

    Supplying `{}` advertises support. An omitted or `null` `cancel` does not.
    """


class SessionInfoUpdate(Extensible):
    """Update to session metadata. All fields are optional to support partial updates.

    Agents send this notification to update session information like title or custom metadata. Clients can use it to
    keep session titles and state current.
    """

    session_update: Literal["session_info_update"] = "session_info_update"
    title: Lenient[str | None] = None
    """Human-readable title for the session. Set to null to clear."""

    updated_at: Lenient[str | None] = None
    """ISO 8601 timestamp of last activity. Set to null to clear."""


class SessionMessage(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    An upsert for an inter-session message.
    """

    session_update: Literal["session_message"] = "session_message"
    message_id: MessageId
    """Identifier of this message within the enclosing session's transcript."""

    sender_session_id: Lenient[SessionId | None] = None
    """The sending session.

    Omitted leaves the stored value unchanged. `null` clears it. A value replaces it.
    """

    recipient_session_id: Lenient[SessionId | None] = None
    """The receiving session.

    Omitted leaves the stored value unchanged. `null` clears it. A value replaces it.
    """

    sender_message_id: Lenient[MessageId | None] = None
    """On an incoming view, the `messageId` of the same message's outgoing view in the sender's transcript.

    Omitted leaves the stored value unchanged. `null` clears it. A value replaces it. It can arrive after the message
    starts streaming.
    """

    recipient_message_id: Lenient[MessageId | None] = None
    """On an outgoing view, the `messageId` of the same message's incoming view in the recipient's transcript.

    Omitted leaves the stored value unchanged. `null` clears it. A value replaces it. It can arrive after the message
    starts streaming.
    """

    content: LenientList[list[ContentBlock] | None] = None
    """Omitted leaves content unchanged. `null` or `[]` clears it. A non-empty array replaces all content."""


class SessionMessageChunk(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A streamed content block of an inter-session message.

    A chunk carries only content. The message's participants and references come from `session_message` upserts, which
    can arrive before, between, or after its chunks.
    """

    session_update: Literal["session_message_chunk"] = "session_message_chunk"
    message_id: MessageId
    """Identifier of this message within the enclosing session's transcript."""

    content: ContentBlock
    """A single content block appended to the message."""


class SessionToolCallUpdate(ToolCallUpdate):
    """Update on the status or results of a tool call."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


class SubagentSessionCapabilities(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Client-initiated session mutations permitted for a specific subagent session.

    A mutation requires an explicit per-child capability. Support for the method on ordinary sessions does not grant
    support on a child.
    """

    cancel: Lenient[SessionCancelCapabilities | None] = None
    """Permits the client to cancel this child's current work without ending the session.

    Omitted or `null` means unsupported. An object (including `{}`) means supported.
    """


class ToolCall(Extensible):
    """Represents a tool call that the language model has requested.

    Tool calls are actions that the agent executes on behalf of the language model, such as reading files, executing
    code, or fetching data from external sources.

    See protocol docs: [Tool Calls](https://agentclientprotocol.com/protocol/v1/draft/tool-calls)
    """

    session_update: Literal["tool_call"] = "tool_call"
    tool_call_id: ToolCallId
    """Unique identifier for this tool call within the session."""

    title: str
    """Human-readable title describing what the tool is doing."""

    name: Lenient[str | None] = None
    """Programmatic name of the tool being invoked.

    This field is optional. Omitting it or sending `null` both mean that no tool name is available.
    """

    kind: Lenient[Omittable[ToolKind | None]] = None
    """The category of tool being invoked. Helps clients choose appropriate icons and UI treatment."""

    status: Lenient[Omittable[ToolCallStatus | None]] = None
    """Current execution status of the tool call."""

    content: LenientList[list[ToolCallContent]] = []
    """Content produced by the tool call."""

    locations: LenientList[list[ToolCallLocation]] = []
    """File locations affected by this tool call. Enables "follow-along" features in clients."""

    raw_input: Any = None
    """Raw input parameters sent to the tool."""

    raw_output: Any = None
    """Raw output returned by the tool."""


class UnknownStateUpdate(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    The Agent cannot currently determine foreground activity.

    Report this when activity becomes unobservable, not merely because the child has been quiet. The Client MUST stop
    presenting the previous state as confirmed current activity, but may retain it as last known. A later state replaces
    this snapshot normally.

    This is not a task outcome or session closure. It does not cancel work, resolve pending requests, or revoke
    capabilities. Capabilities are updated separately.
    """

    state: Literal["unknown"] = "unknown"


StateUpdate: TypeAlias = Annotated[
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate | OtherStateUpdate,
    Tagged("state"),
]
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

Current foreground-work state of a reusable child session.

Each update is a whole-object snapshot. Idle does not terminate the child. The parent can message it again,
transitioning it back to running. Background activity may still emit other session updates while idle.
"""


class SubagentUpdate(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Notification that the enclosing parent session created and owns a child session.

    Later updates modify the existing association's metadata, not its ownership.

    Sent on the immediate parent session. The first update for an unknown `sessionId` announces the child and MUST be
    sent before any live child traffic or live message naming the child as sender or recipient. Parents may message and
    reuse an announced child across multiple operations. Child events are delivered automatically on the same
    connection. No child load, resume, or subscription is needed.

    Only the subagent session ID is required. Omitted patch fields keep their previous values. `null` clears them.
    Clearing capabilities disables child mutations. Clearing state leaves current activity unset/unconfirmed: it does
    not imply idle, stop work, or create an `unknown` state snapshot. A concrete state replaces the entire previous
    state object, not the session. The title and description provide the parent's display metadata for the child. They
    do not replace the content of individual messages or operations. `cwd` and `additionalDirectories` report where the
    Agent placed the child. While unset, each inherits the immediate parent's effective value.
    """

    session_update: Literal["subagent_update"] = "subagent_update"
    session_id: SessionId
    """The opaque session ID identifying the child in all ACP messages."""

    title: Lenient[str | None] = None
    """The parent's human-readable display title for this child. It need not be unique.

    Omitted means unchanged. `null` clears it. If unset, the Client chooses a fallback presentation.
    """

    description: Lenient[str | None] = None
    """The parent's human-readable description of the child's role or purpose.

    Omitted means unchanged. `null` clears it. If unset, the Client chooses a fallback presentation. This is current
    display metadata, not the history of instructions sent to the child.
    """

    capabilities: Lenient[SubagentSessionCapabilities | None] = None
    """Client-initiated session mutations permitted for this subagent session.

    Omitted means unchanged. `null` clears the capability set and disables child mutations. If never supplied, no
    session mutations are permitted. Read-only operations retain their normal protocol semantics and capability
    requirements. A concrete object replaces the whole capability set.
    """

    state: Lenient[StateUpdate | None] = None
    """Current state snapshot for the child session.

    Omitted means unchanged. `null` clears the current activity without asserting idle or sending an `unknown` snapshot.
    A concrete state replaces the previous state object wholesale. If never supplied, the current activity is
    unset/unconfirmed.
    """

    cwd: str | None = None
    """The child's working directory. Must be an absolute path.

    Optional and nullable. Omitted means unchanged. `null` clears the reported value. While unset, the child inherits
    its immediate parent's effective working directory. Clients use this value for the child's root set and as the
    default terminal working directory.
    """

    additional_directories: list[str] | None = None
    """Additional workspace roots for the child. Each path must be absolute.

    Optional and nullable. Omitted means unchanged. `null` clears the reported value. While unset, the child inherits
    its immediate parent's effective additional directories, independently of `cwd`. A concrete array replaces the whole
    list. `[]` reports no additional directories. Clients use these values for the child's root set.
    """


class UnstructuredCommandInput(Extensible):
    """All text that was typed after the command name is provided as input."""

    hint: str
    """A hint to display when the input hasn't been provided yet."""


AvailableCommandInput: TypeAlias = UnstructuredCommandInput
"""The input specification for a command."""


class AvailableCommand(Extensible):
    """Information about a command."""

    name: str
    """Command name (e.g., `create_plan`, `research_codebase`)."""

    description: str
    """Human-readable description of what the command does."""

    input: Lenient[AvailableCommandInput | None] = None
    """Input for the command if required."""


class AvailableCommandsUpdate(Extensible):
    """Available commands are ready or have changed."""

    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: LenientList[list[AvailableCommand]]
    """Commands the agent can execute."""


class UsageUpdate(Extensible):
    """Context window and cost update for a session."""

    session_update: Literal["usage_update"] = "usage_update"
    used: UInt64
    """Tokens currently in context."""

    size: UInt64
    """Total context window size in tokens."""

    cost: Lenient[Cost | None] = None
    """Cumulative session cost (optional)."""


class UserMessageChunk(ContentChunk):
    """A chunk of the user's message being streamed."""

    session_update: Literal["user_message_chunk"] = "user_message_chunk"


SessionUpdate: TypeAlias = Annotated[
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | SessionToolCallUpdate
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk
    | OtherSessionUpdate,
    Tagged("sessionUpdate"),
]
"""Different types of updates that can be sent during session processing.

These updates provide real-time feedback about the agent's progress.

See protocol docs: [Agent Reports
Output](https://agentclientprotocol.com/protocol/v1/draft/prompt-turn#3-agent-reports-output)
"""


class SessionNotification(Extensible):
    """Notification containing a session update from the agent.

    Used to stream real-time progress and results during prompt processing.

    See protocol docs: [Agent Reports
    Output](https://agentclientprotocol.com/protocol/v1/draft/prompt-turn#3-agent-reports-output)
    """

    session_id: SessionId
    """The ID of the session this update pertains to."""

    update: SessionUpdate
    """The actual update content."""
