"""ACP v1 unstable: session_types. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Any, Literal, TypeAlias

from acp_bindings._model import Extensible
from acp_bindings._types import Lenient, LenientList, Tagged, UInt32, UInt64

from .common import TerminalId, ToolCallId
from .content_block import ContentBlock


class Content(Extensible):
    """Standard content block (text, images, resources)."""

    type: Literal["content"] = "content"
    content: ContentBlock
    """The actual content block."""


class Diff(Extensible):
    """A diff representing file modifications.

    Shows changes to files in a format suitable for display in the client UI.

    See protocol docs: [Content](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#content)
    """

    type: Literal["diff"] = "diff"
    path: str
    """The absolute file path being modified."""

    old_text: Lenient[str | None] = None
    """The original content (omitted or `null` for new files)."""

    new_text: str
    """The new content after modification."""


SessionModeId: TypeAlias = str
"""Unique identifier for a Session Mode."""


class Terminal(Extensible):
    """Embed a terminal created with `terminal/create` by its id.

    The terminal must be added before calling `terminal/release`.

    See protocol docs: [Terminal](https://agentclientprotocol.com/protocol/v1/draft/terminals)
    """

    type: Literal["terminal"] = "terminal"
    terminal_id: TerminalId
    """Identifier of the terminal instance to embed in the content stream."""


ToolCallContent: TypeAlias = Annotated[Content | Diff | Terminal, Tagged("type")]
"""Content produced by a tool call.

Tool calls can produce different types of content including standard content blocks (text, images) or file diffs.

See protocol docs: [Content](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#content)
"""


class ToolCallLocation(Extensible):
    """A file location being accessed or modified by a tool.

    Enables clients to implement "follow-along" features that track which files the agent is working with in real-time.

    See protocol docs: [Following the
    Agent](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#following-the-agent)
    """

    path: str
    """The absolute file path being accessed or modified."""

    line: Lenient[UInt32 | None] = None
    """Optional 1-based line number within the file."""


ToolCallStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]
"""Execution status of a tool call.

Tool calls progress through different statuses during their lifecycle.

See protocol docs: [Status](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#status)

- `pending`: The tool call hasn't started running yet because the input is either streaming or we're awaiting approval.
- `in_progress`: The tool call is currently running.
- `completed`: The tool call completed successfully.
- `failed`: The tool call failed with an error.
"""


ToolKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
"""Categories of tools that can be invoked.

Tool kinds help clients choose appropriate icons and optimize how they display tool execution progress.

See protocol docs: [Creating](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#creating)

- `read`: Reading files or data.
- `edit`: Modifying files or content.
- `delete`: Removing files or data.
- `move`: Moving or renaming files.
- `search`: Searching for information.
- `execute`: Running commands or code.
- `think`: Internal reasoning or planning.
- `fetch`: Retrieving external data.
- `switch_mode`: Switching the current session mode.
- `other`: Other tool types (default).
"""


class ToolCallUpdate(Extensible):
    """An update to an existing tool call.

    Used to report progress and results as tools execute. All fields except the tool call ID are optional - only changed
    fields need to be included.

    See protocol docs: [Updating](https://agentclientprotocol.com/protocol/v1/draft/tool-calls#updating)
    """

    tool_call_id: ToolCallId
    """The ID of the tool call being updated."""

    kind: Lenient[ToolKind | None] = None
    """Update the tool kind."""

    status: Lenient[ToolCallStatus | None] = None
    """Update the execution status."""

    title: Lenient[str | None] = None
    """Update the human-readable title."""

    name: Lenient[str | None] = None
    """Update the programmatic name of the tool being invoked.

    This field is optional. Omitting it or sending `null` both mean that the existing name is left unchanged.
    """

    content: LenientList[list[ToolCallContent] | None] = None
    """Replace the content collection."""

    locations: LenientList[list[ToolCallLocation] | None] = None
    """Replace the locations collection."""

    raw_input: Any = None
    """Update the raw input."""

    raw_output: Any = None
    """Update the raw output."""


class Usage(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Token usage information for a prompt turn.
    """

    total_tokens: UInt64
    """Sum of all token types across session."""

    input_tokens: UInt64
    """Total input tokens across all turns."""

    output_tokens: UInt64
    """Total output tokens across all turns."""

    thought_tokens: Lenient[UInt64 | None] = None
    """Total thought/reasoning tokens."""

    cached_read_tokens: Lenient[UInt64 | None] = None
    """Total cache read tokens."""

    cached_write_tokens: Lenient[UInt64 | None] = None
    """Total cache write tokens."""
