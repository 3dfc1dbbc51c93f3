"""ACP v2 unstable draft: session_update. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Int64, Lenient, LenientList, Number, SkipInvalid, Tagged, UInt64, Unlike

from .common import AbsolutePath, SessionId, TerminalId, ToolCallId
from .content_block import ContentBlock
from .session_config_option import SessionConfigOption
from .session_types import (
    AvailableCommand,
    IdleStateUpdate,
    MessageId,
    OtherStateUpdate,
    RequiresActionStateUpdate,
    RunningStateUpdate,
    StateUpdate,
    ToolCallContent,
    ToolCallUpdate,
    UnknownStateUpdate,
)


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

    See protocol docs: [Session
    Notices](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#session-notices)
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
            "plan_removed",
            "plan_update",
            "session_info_update",
            "session_message",
            "session_message_chunk",
            "state_update",
            "subagent_update",
            "terminal_output_chunk",
            "terminal_update",
            "tool_call_content_chunk",
            "tool_call_update",
            "usage_update",
            "user_message",
            "user_message_chunk",
        ),
    ]


PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"] | str
"""Priority levels for plan entries.

Used to indicate the relative importance or urgency of different tasks in the execution plan.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/draft/agent-plan#plan-entries)

- `high`: High priority task - critical to the overall goal.
- `medium`: Medium priority task - important but not critical.
- `low`: Low priority task - nice to have but not essential.
"""


PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"] | str
"""Status of a plan entry in the execution flow.

Tracks the lifecycle of each task from planning through completion.
See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/draft/agent-plan#plan-entries)

- `pending`: The task has not started yet.
- `in_progress`: The task is currently being worked on.
- `completed`: The task has been successfully completed.
- `cancelled`: The task was cancelled before it completed.
"""


class PlanEntry(Extensible):
    """A single entry in the execution plan.

    Represents a task or goal that the assistant intends to accomplish as part of fulfilling the user's request.
    See protocol docs: [Plan Entries](https://agentclientprotocol.com/protocol/v2/draft/agent-plan#plan-entries)
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

    type: Annotated[str, Unlike("file", "items", "markdown")]
    plan_id: PlanId
    """The plan ID to update."""


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
    """A plan represented as structured entries."""

    type: Literal["items"] = "items"
    plan_id: PlanId
    """The plan ID to update."""

    entries: SkipInvalid[list[PlanEntry]]
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
"""Updated content for a plan."""


class PlanUpdate(Extensible):
    """A content update for a plan identified by ID."""

    session_update: Literal["plan_update"] = "plan_update"
    plan: PlanUpdateContent
    """The updated plan content."""


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

    Omitted fields leave the existing session info unchanged. `null` clears the corresponding value. A concrete `_meta`
    object patches the stored metadata by top-level key.
    """

    session_update: Literal["session_info_update"] = "session_info_update"
    title: Lenient[str | None] = None
    """Human-readable title for the session. Set to null to clear."""

    updated_at: Lenient[str | None] = None
    """RFC 3339 timestamp of last activity. Set to null to clear."""


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
    """Omitted leaves content unchanged. `null` clears it. A concrete array replaces the whole content collection."""


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


class SessionStateUpdateIdle(IdleStateUpdate):
    """No foreground work is active. Background activity may continue.

    Agents SHOULD include a `stopReason` when the idle transition ends foreground work. An idle update that does not end
    foreground work need not include one. Receivers treat an omitted, `null`, or malformed `stopReason` as the agent not
    reporting one. Repeated or resume snapshots may carry the last stop reason for context. They MUST NOT be counted as
    new completions, cancellations, or additional usage.
    """

    session_update: Literal["state_update"] = "state_update"


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


class SessionStateUpdateUnknown(UnknownStateUpdate):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    The Agent cannot currently determine foreground activity.

    Report this when activity becomes unobservable, not merely because the session has been quiet. The Client MUST stop
    presenting the previous state as confirmed current activity, but may retain it as last known. A later state replaces
    this snapshot normally.

    This is not a task outcome or session closure. It does not cancel work, resolve pending requests, or revoke
    capabilities. Capabilities are updated separately.
    """

    session_update: Literal["state_update"] = "state_update"


SessionStateUpdate: TypeAlias = Annotated[
    SessionStateUpdateRunning
    | SessionStateUpdateIdle
    | SessionStateUpdateRequiresAction
    | SessionStateUpdateUnknown
    | SessionStateUpdateOther,
    Tagged("state"),
]
"""A snapshot of the session's aggregate foreground activity."""


class SessionToolCallUpdate(ToolCallUpdate):
    """A tool call has been created or updated."""

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

    Omitted and `null` are equivalent and mean unsupported. An object (including `{}`) means supported.
    """


class SubagentUpdate(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Notification that the enclosing parent session created and owns a child session.

    Later updates modify the existing association's metadata, not its ownership.

    Sent on the immediate parent session. The first update for an unknown `sessionId` announces the child and MUST be
    sent before any live request or notification bearing the child's session ID, including messages naming it as sender
    or recipient. Child events are delivered automatically. No separate child load, resume, or subscription is needed.
    Understanding this update, registering child sessions, and applying their operation restrictions are baseline v2
    requirements. No Client capability is required.

    Only `sessionId` is required. Other fields have patch semantics: omitted fields leave the stored value unchanged,
    `null` clears or unsets the value, and concrete values replace it. A concrete `_meta` object instead patches the
    stored metadata by top-level key. For `state`, `null` removes the current state report and leaves activity
    unconfirmed. It does not report idle or cancellation. A child whose capabilities are unset permits no
    Client-initiated session mutations.

    `cwd` and `additionalDirectories` report where the Agent placed the child. While unset, each inherits the immediate
    parent's effective value. The title and description provide the parent's display metadata for the child. Agents
    SHOULD mirror known child state changes in the parent's `state` using the same `StateUpdate` snapshot as the
    ordinary `state_update` notification on the child session. This reports child state, not a separate parent-owned
    lifecycle. Consumers should treat duplicate reports idempotently. Completing or cancelling work does not end the
    association: the parent may message the same child again. Individual messages and their outcomes do not change this
    association.
    """

    session_update: Literal["subagent_update"] = "subagent_update"
    session_id: SessionId
    """The opaque session ID identifying the child in all ACP messages."""

    title: Lenient[str | None] = None
    """The parent's human-readable display title for this child. It need not be unique.

    Optional and nullable. Omitted means unchanged. `null` clears it. If no title is set, the Client chooses a fallback
    presentation.
    """

    description: Lenient[str | None] = None
    """The parent's human-readable description of the child's role or purpose.

    Optional and nullable. Omitted means unchanged. `null` clears it. This is current display metadata, not the history
    of instructions sent to the child.
    """

    capabilities: Lenient[SubagentSessionCapabilities | None] = None
    """Client-initiated session mutations permitted for this subagent session.

    Read-only operations retain their normal protocol semantics and capability requirements.
    """

    state: Lenient[StateUpdate | None] = None
    """The child's current foreground state, mirrored onto its parent association.

    Optional and nullable. Omitted means unchanged. `null` removes the current report and leaves activity unconfirmed
    (not idle or cancelled). A concrete `StateUpdate` replaces the entire previous snapshot.
    """

    cwd: AbsolutePath | None = None
    """The child's working directory. Must be an absolute path.

    Optional and nullable. Omitted means unchanged. `null` clears the reported value. While unset, the child inherits
    its immediate parent's effective working directory.
    """

    additional_directories: list[AbsolutePath] | None = None
    """Additional workspace roots for the child. Each path must be absolute.

    Optional and nullable. Omitted means unchanged. `null` clears the reported value. While unset, the child inherits
    its immediate parent's effective additional directories, independently of `cwd`. A concrete array replaces the whole
    list. `[]` reports no additional directories.
    """


class TerminalCancelCapabilities(Extensible):
    """Capability to cancel a terminal with `terminal/cancel`.

    Supplying `{}` advertises support. An omitted or `null` `cancel` does not.
    """


class TerminalCapabilities(Extensible):
    """Client-initiated controls a terminal currently supports.

    A malformed value falls back to no controls, so the Client never sends a request the Agent did not advertise.

    See protocol docs: [Cancelling
    Terminals](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-terminals)
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
    | PlanRemoved
    | AvailableCommandsUpdate
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
"""Different types of updates that can be sent while a session exists.

These updates report messages, progress, and other session activity.

See protocol docs: [Agent Reports
Output](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#3-agent-reports-output)
"""


class UpdateSessionNotification(Extensible):
    """Notification containing a session update from the agent.

    Agents can send session updates at any point while the session exists.

    See protocol docs: [Agent Reports
    Output](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#3-agent-reports-output)
    """

    session_id: SessionId
    """The ID of the session this update pertains to."""

    update: SessionUpdate
    """The actual update content."""
