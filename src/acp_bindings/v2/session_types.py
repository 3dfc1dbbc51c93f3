"""ACP v2 draft: session_types. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Lenient, LenientList, SkipInvalid, Tagged, Unlike

from .common import AbsolutePath, TerminalId, ToolCallId
from .content_block import ContentBlock
from .diff_change import DiffChange


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

    See protocol docs: [Content](https://agentclientprotocol.com/protocol/v2/tool-calls#content)
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


class OtherToolCallContent(Model):
    """Custom or future tool call content.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Receivers that do not understand this content type should preserve the raw payload when storing, replaying,
    proxying, or forwarding tool call output, and otherwise ignore it or display it generically.
    """

    type: Annotated[str, Unlike("content", "diff", "terminal")]


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
    Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-tool-calls)
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

See protocol docs: [Content](https://agentclientprotocol.com/protocol/v2/tool-calls#content)
"""


class ToolCallLocation(Extensible):
    """A file location being accessed or modified by a tool.

    Enables clients to implement "follow-along" features that track which files the agent is working with in real-time.

    See protocol docs: [Following the Agent](https://agentclientprotocol.com/protocol/v2/tool-calls#following-the-agent)
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

See protocol docs: [Status](https://agentclientprotocol.com/protocol/v2/tool-calls#status)

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

See protocol docs: [Reporting](https://agentclientprotocol.com/protocol/v2/tool-calls#reporting)

- `read`: Reading files or data.
- `edit`: Modifying files or content.
- `delete`: Removing files or data.
- `move`: Moving or renaming files.
- `search`: Searching for information.
- `execute`: Running commands or code.
- `think`: Internal reasoning or planning.
- `fetch`: Retrieving external data.
- `switch_mode`: Changing the session's mode, a [config
  option](https://agentclientprotocol.com/protocol/v2/session-config-options) with the `mode` category.
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

    See protocol docs: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls)
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
