"""ACP v1: session_update. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Lenient, LenientList, Number, Omittable, Tagged, UInt64, Unlike

from .common import SessionId, ToolCallId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import SessionModeId, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind

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

    See protocol docs: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
    """

    session_update: Literal["current_mode_update"] = "current_mode_update"
    current_mode_id: SessionModeId
    """The ID of the current mode."""


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
            "session_info_update",
            "tool_call",
            "tool_call_update",
            "usage_update",
            "user_message_chunk",
        ),
    ]


PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"]
"""Priority levels for plan entries.

Used to indicate the relative importance or urgency of different tasks in the execution plan.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries)

- `high`: High priority task - critical to the overall goal.
- `medium`: Medium priority task - important but not critical.
- `low`: Low priority task - nice to have but not essential.
"""


PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
"""Status of a plan entry in the execution flow.

Tracks the lifecycle of each task from planning through completion.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries)

- `pending`: The task has not started yet.
- `in_progress`: The task is currently being worked on.
- `completed`: The task has been successfully completed.
"""


class PlanEntry(Extensible):
    """A single entry in the execution plan.

    Represents a task or goal that the assistant intends to accomplish as part of fulfilling the user's request.
    See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries)
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

    See protocol docs: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan)
    """

    session_update: Literal["plan"] = "plan"
    entries: LenientList[list[PlanEntry]]
    """The list of tasks to be accomplished.

    When updating a plan, the agent must send a complete list of all entries with their current status. The client
    replaces the entire plan with each update.
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


class SessionToolCallUpdate(ToolCallUpdate):
    """Update on the status or results of a tool call."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


class ToolCall(Extensible):
    """Represents a tool call that the language model has requested.

    Tool calls are actions that the agent executes on behalf of the language model, such as reading files, executing
    code, or fetching data from external sources.

    See protocol docs: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls)
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
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | OtherSessionUpdate,
    Tagged("sessionUpdate"),
]
"""Different types of updates that can be sent during session processing.

These updates provide real-time feedback about the agent's progress.

See protocol docs: [Agent Reports
Output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output)
"""


class SessionNotification(Extensible):
    """Notification containing a session update from the agent.

    Used to stream real-time progress and results during prompt processing.

    See protocol docs: [Agent Reports
    Output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output)
    """

    session_id: SessionId
    """The ID of the session this update pertains to."""

    update: SessionUpdate
    """The actual update content."""
