"""ACP v2 unstable draft: session_types. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import FirstMatch, Int32, Lenient, LenientList, SkipInvalid, Tagged, UInt64, Unlike, When

from .common import AbsolutePath, ProtocolVersion, SessionId, TerminalId, ToolCallId
from .content_block import ContentBlock
from .diff_change import DiffChange


class BackgroundSubagent(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    A listed subagent session associated with this session through `subagent_update`.
    """

    type: Literal["subagent"] = "subagent"
    session_id: SessionId
    """The ID of the listed session."""


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


class Content(Extensible):
    """Standard content block (text, images, resources)."""

    type: Literal["content"] = "content"
    content: ContentBlock
    """The actual content block."""


DiffPatchFormat: TypeAlias = Literal["git_patch"] | str
"""Text patch format used by `DiffPatch`.

- `git_patch`: One or more `diff --git` sections in Git's `--patch` (`-p`) text format. Unlike Git, which writes paths
  relative to the repository root, every path MUST be absolute, including in `rename from`, `rename to`, `copy from`,
  and `copy to` lines, and MUST NOT have a prefix such as Git's default `a/` and `b/`. Otherwise paths follow Git:
  `/dev/null` names the missing side of an added or deleted file in the `---` and `+++` lines, and paths with unusual
  characters are quoted as Git quotes them. Each path, once unquoted, is the same native absolute path string as the
  matching `changes` entry. Surrounding commit metadata and email envelopes MUST NOT be included.
"""


class DiffPatch(Extensible):
    """Renderable patch text and its format."""

    format: DiffPatchFormat
    """Patch format. The only ACP-defined value is `git_patch`."""

    text: str
    """Patch text in the format named by `format`."""


class Diff(Extensible):
    """File changes produced by a tool call.

    `changes` is authoritative for affected absolute paths and operations. `patch` optionally carries renderable text
    for some or all of those changes and MUST be consistent with `changes`. Agents SHOULD provide `patch` whenever
    feasible. Clients MUST handle diffs where `patch` is omitted or `null`.

    See protocol docs: [Content](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#content)
    """

    type: Literal["diff"] = "diff"
    changes: SkipInvalid[list[DiffChange]]
    """Structured file changes described by this diff.

    Clients can use this field without parsing patch text to determine affected paths.
    """

    patch: Lenient[DiffPatch | None] = None
    """Renderable patch text for some or all of the structured changes.

    Agents SHOULD provide patch text whenever feasible. Omitted and `null` are equivalent and mean no renderable patch
    text was provided.
    """


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


MessageId: TypeAlias = str
"""Identifier for a message, unique among messages of the same type within a session.

Each message type, such as user messages, agent messages, and agent thoughts, has its own ID space: messages of
different types may share an ID and remain distinct messages.
"""


class OtherAvailableCommand(Model):
    """Custom or future command kind.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this command type should preserve the raw payload when storing, replaying, proxying,
    or forwarding command metadata, and otherwise ignore the command or display it as a plain command using its `name`
    and `description`.
    """

    type: Annotated[str, Unlike("command")]
    name: str
    """Command name without the leading `/`. MUST NOT contain whitespace and MUST be unique within the command list."""

    description: str
    """Human-readable description of what the command does."""


class OtherAvailableCommandInput(Model):
    """Custom or future command input specification.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this input type should preserve the raw payload when storing, replaying, proxying, or
    forwarding command metadata, and otherwise ignore the input specification or display the command without structured
    input.
    """

    type: Annotated[str, Unlike("text")]


class OtherBackgroundWork(Model):
    """Custom or future background work.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    An unknown item still means background work is running, even when the Client cannot show what it is.
    """

    type: Annotated[str, Unlike("subagent", "terminal", "tool_call")]


BackgroundWork: TypeAlias = Annotated[
    BackgroundTerminal | BackgroundToolCall | BackgroundSubagent | OtherBackgroundWork, Tagged("type")
]
"""One piece of work running independently of the session's foreground work.

Items reference entities the Client already tracks. The Agent MUST announce each item before the first snapshot that
lists it, and MUST report a terminal's `exitStatus` or a tool call's final status before the snapshot that removes it.
Each piece of work is listed once: process-backed work is listed as its terminal, not also as its tool call.

See protocol docs: [Background Work](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work)
"""


class OtherStateUpdate(Model):
    """Custom or future session state.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Unless the Client advertised support for this state, Agents MUST still report the standard states. Clients MUST NOT
    treat an unrecognized state as `idle` or present the previous state as confirmed, and show a generic busy state
    until a known state arrives.
    """

    state: Annotated[str, Unlike("idle", "requires_action", "running", "unknown")]


class OtherToolCallContent(Model):
    """Custom or future tool call content.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this content type should preserve the raw payload when storing, replaying,
    proxying, or forwarding tool call output, and otherwise ignore it or display it generically.
    """

    type: Annotated[str, Unlike("content", "diff", "terminal")]


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

    See protocol docs: [Background
    Work](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work)
    """


class RunningStateUpdate(Extensible):
    """Foreground work is in progress."""

    state: Literal["running"] = "running"
    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background
    Work](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work)
    """


class SessionNotFoundErrorData(Extensible):
    """Data for the `-32002` (Resource not found) error when a session-scoped request names a session that does not
    exist or is not active.

    See protocol docs: [Unknown Sessions](https://agentclientprotocol.com/protocol/v2/draft/error#unknown-sessions)
    """

    session_id: SessionId
    """The session ID from the request."""


class Terminal(Extensible):
    """A display-only reference to an agent-owned terminal.

    Terminal state and output are delivered separately through `terminal_update` and `terminal_output_chunk` session
    updates.
    """

    type: Literal["terminal"] = "terminal"
    terminal_id: TerminalId
    """The ID of the terminal to display."""


class TextCommandInput(Extensible):
    """All text that was typed after the command name is provided as input."""

    type: Literal["text"] = "text"
    hint: str
    """A hint to display when the input hasn't been provided yet."""


AvailableCommandInput: TypeAlias = Annotated[TextCommandInput | OtherAvailableCommandInput, Tagged("type")]
"""The input specification for a command."""


class Command(Extensible):
    """A slash command the user can invoke by including it in a prompt.

    The `type` discriminator value is `command`.
    """

    type: Literal["command"] = "command"
    name: str
    """Command name without the leading `/` (e.g., `create_plan`, `research_codebase`).

    MUST NOT contain whitespace and MUST be unique within the command list.
    """

    description: str
    """Human-readable description of what the command does."""

    input: Lenient[AvailableCommandInput | None] = None
    """Input for the command if required.

    Omitted and `null` are equivalent and mean the command takes no input.
    """


AvailableCommand: TypeAlias = Annotated[Command | OtherAvailableCommand, Tagged("type")]
"""A command the agent advertises to the client.

The `type` field acts as the discriminator in the serialized JSON form.
"""


class ToolCallCancelCapabilities(Extensible):
    """Capability to cancel a tool call with `tool_call/cancel`.

    Supplying `{}` advertises support. An omitted or `null` `cancel` does not.
    """


class ToolCallCapabilities(Extensible):
    """Client-initiated controls a tool call currently supports.

    A malformed value falls back to no controls, so the Client never sends a request the Agent did not advertise.

    See protocol docs: [Cancelling Tool
    Calls](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#cancelling-tool-calls)
    """

    cancel: Lenient[ToolCallCancelCapabilities | None] = None
    """Permits the Client to cancel this tool call with `tool_call/cancel`.

    Omitted and `null` are equivalent and mean unsupported. An object (including `{}`) means supported. Agents SHOULD
    stop advertising it once the tool call reaches a final status.
    """


ToolCallContent: TypeAlias = Annotated[Content | Diff | Terminal | OtherToolCallContent, Tagged("type")]
"""Content produced by a tool call.

Tool calls can produce different types of content including standard content blocks (text, images), file diffs, or
display-only terminals.

See protocol docs: [Content](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#content)
"""


class ToolCallLocation(Extensible):
    """A file location being accessed or modified by a tool.

    Enables clients to implement "follow-along" features that track which files the agent is working with in real-time.

    See protocol docs: [Following the
    Agent](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#following-the-agent)
    """

    path: AbsolutePath
    """The absolute file path being accessed or modified."""

    line: Lenient[Annotated[int | None, Field(ge=1, le=4294967295)]] = None
    """Optional 1-based line number within the file.

    Omitted and `null` are equivalent and mean no specific line. `0` is invalid.
    """


ToolCallStatus: TypeAlias = Literal["pending", "in_progress", "paused", "completed", "failed", "cancelled"] | str
"""Execution status of a tool call.

Tool calls progress through different statuses during their lifecycle.

See protocol docs: [Status](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#status)

- `pending`: The tool call hasn't started running yet, for example because its input is streaming, it is awaiting
  approval, or it is scheduled to run later.
- `in_progress`: The tool call is currently running.
- `paused`: The tool call has started, is not running now, and will not continue until something resumes it. It may
  return to `in_progress` any number of times.
- `completed`: The tool call completed successfully.
- `failed`: The tool call failed with an error.
- `cancelled`: The tool call was cancelled before it completed.
"""


ToolKind: TypeAlias = (
    Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] | str
)
"""Categories of tools that can be invoked.

Tool kinds help clients choose appropriate icons and optimize how they display tool execution progress.

See protocol docs: [Reporting](https://agentclientprotocol.com/protocol/v2/draft/tool-calls#reporting)

- `read`: Reading files or data.
- `edit`: Modifying files or content.
- `delete`: Removing files or data.
- `move`: Moving or renaming files.
- `search`: Searching for information.
- `execute`: Running commands or code.
- `think`: Internal reasoning or planning.
- `fetch`: Retrieving external data.
- `switch_mode`: Changing the session's mode, a [config
  option](https://agentclientprotocol.com/protocol/v2/draft/session-config-options) with the `mode` category.
- `other`: Other tool types (default).
"""


class ToolCallUpdate(Extensible):
    """Represents an upsert for a tool call that the language model has requested.

    Tool calls are actions that the agent executes on behalf of the language model, such as reading files, executing
    code, or fetching data from external sources.

    Only `toolCallId` is required. Other fields have patch semantics: omitted fields leave the existing tool call value
    unchanged, `null` clears or unsets the value, and concrete values replace the previous value. For collection fields,
    concrete arrays replace the previous collection, and both `null` and `[]` clear the collection. A concrete `_meta`
    object instead patches the stored metadata by top-level key. When a client receives a tool call ID it has not seen
    before, omitted fields start at their protocol defaults.

    See protocol docs: [Tool Calls](https://agentclientprotocol.com/protocol/v2/draft/tool-calls)
    """

    tool_call_id: ToolCallId
    """Unique identifier for this tool call within the session."""

    name: Lenient[str | None] = None
    """Programmatic name of the tool being invoked.

    This field is optional and has patch semantics. Omission means no change, `null` clears the name, and a string
    replaces it. For a tool call ID the client has not seen before, omission or `null` means that no tool name is
    available.
    """

    title: Lenient[str | None] = None
    """Human-readable title describing what the tool is doing.

    Omission leaves the title unchanged, `null` unsets it, and a string replaces it. A new tool call starts without a
    title.
    """

    kind: Lenient[ToolKind | None] = None
    """The category of tool being invoked. Helps clients choose appropriate icons and UI treatment.

    Omission leaves the kind unchanged, `null` resets it to `other`, and a value replaces it. A new tool call starts as
    `other`.
    """

    status: Lenient[ToolCallStatus | None] = None
    """Current execution status of the tool call.

    Omission leaves the status unchanged, `null` resets it to `pending`, and a value replaces it. A new tool call starts
    as `pending`.
    """

    content: LenientList[list[ToolCallContent] | None] = None
    """Content produced by the tool call."""

    locations: LenientList[list[ToolCallLocation] | None] = None
    """File locations affected by this tool call. Enables "follow-along" features in clients."""

    raw_input: Any = None
    """Raw input parameters sent to the tool."""

    raw_output: Any = None
    """Raw output returned by the tool."""

    capabilities: Lenient[ToolCallCapabilities | None] = None
    """Client-initiated controls this tool call currently supports, such as cancellation.

    Omission leaves the capabilities unchanged, `null` clears them, and an object replaces the whole previous value. A
    new tool call starts with none.
    """


class UnknownStateUpdate(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    The Agent cannot currently determine foreground activity.

    Report this when activity becomes unobservable, not merely because the session has been quiet. The Client MUST stop
    presenting the previous state as confirmed current activity, but may retain it as last known. A later state replaces
    this snapshot normally.

    This is not a task outcome or session closure. It does not cancel work, resolve pending requests, or revoke
    capabilities. Capabilities are updated separately.
    """

    state: Literal["unknown"] = "unknown"
    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background
    Work](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work)
    """


class UnsupportedProtocolVersionErrorData(Extensible):
    """Data for the `-32022` (Unsupported protocol version) error.

    See protocol docs: [Version
    Negotiation](https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation)
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


class Usage(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Token usage for the foreground work that just completed, not cumulative for the session.
    """

    total_tokens: UInt64
    """Sum of all token types for the completed work."""

    input_tokens: UInt64
    """Input tokens for the completed work."""

    output_tokens: UInt64
    """Output tokens for the completed work."""

    thought_tokens: Lenient[UInt64 | None] = None
    """Thought/reasoning tokens for the completed work.

    Omitted and `null` are equivalent and mean the count is not reported.
    """

    cached_read_tokens: Lenient[UInt64 | None] = None
    """Cache read tokens for the completed work.

    Omitted and `null` are equivalent and mean the count is not reported.
    """

    cached_write_tokens: Lenient[UInt64 | None] = None
    """Cache write tokens for the completed work.

    Omitted and `null` are equivalent and mean the count is not reported.
    """


class IdleStateUpdate(Extensible):
    """No foreground work is active. Background activity may continue.

    Agents SHOULD include a `stopReason` when the idle transition ends foreground work. An idle update that does not end
    foreground work need not include one. Receivers treat an omitted, `null`, or malformed `stopReason` as the agent not
    reporting one. Repeated or resume snapshots may carry the last stop reason for context. They MUST NOT be counted as
    new completions, cancellations, or additional usage.
    """

    state: Literal["idle"] = "idle"
    usage: Lenient[Usage | None] = None
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Token usage for completed foreground work.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting token usage for this state update.
    """

    background: Lenient[list[BackgroundWork] | None] = None
    """Work running independently of foreground work, as a complete snapshot.

    Optional. Omitted and `null` are equivalent and mean the Agent is not reporting background work, not that nothing is
    running. `[]` means no background work is running. An Agent that reports background work MUST include it on every
    state update for the session. A malformed list is treated as not reported.

    See protocol docs: [Background
    Work](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#background-work)
    """

    stop_reason: Lenient[
        Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"] | str | None
    ] = None
    """Why foreground work stopped. The value selects one of this type's variants, which may add fields of their own.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting a stop reason; a malformed value is
    treated the same way.

    See protocol docs: [Stop Reasons](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#stop-reasons)
    """

    error: Lenient[Annotated[Error | None, When("stop_reason", "error")]] = None
    """The failure, as a JSON-RPC error object.

    Optional. Omitted and `null` are equivalent and mean the agent is not reporting failure details. Agents SHOULD
    include it.
    """


StateUpdate: TypeAlias = Annotated[
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate | OtherStateUpdate,
    Tagged("state"),
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

See protocol docs: [Session States](https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#session-states)
"""
