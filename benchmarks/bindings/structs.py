"""The same objects as hand-written msgspec structs: what typed reading costs where nothing is kept or excused.

Unknown members are lost, a bad value anywhere fails the message, and a server without a tag cannot be told from the
others by msgspec, so that all kinds of servers are one struct here.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field


class Object(Struct, rename="camel", omit_defaults=True, kw_only=True):
    meta: dict[str, Any] | UnsetType | None = field(default=UNSET, name="_meta")


class Annotations(Object, kw_only=True):
    audience: list[str] | UnsetType | None = UNSET
    last_modified: str | UnsetType | None = UNSET
    priority: float | UnsetType | None = UNSET


class TextContent(Object, tag_field="type", tag="text", kw_only=True):
    annotations: Annotations | UnsetType | None = UNSET
    text: str


class ImageContent(Object, tag_field="type", tag="image", kw_only=True):
    annotations: Annotations | UnsetType | None = UNSET
    data: str
    mime_type: str
    uri: str | UnsetType | None = UNSET


class AudioContent(Object, tag_field="type", tag="audio", kw_only=True):
    annotations: Annotations | UnsetType | None = UNSET
    data: str
    mime_type: str


class ResourceLink(Object, tag_field="type", tag="resource_link", kw_only=True):
    annotations: Annotations | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    mime_type: str | UnsetType | None = UNSET
    name: str
    size: int | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    uri: str


class ResourceContents(Object, kw_only=True):
    mime_type: str | UnsetType | None = UNSET
    text: str | UnsetType = UNSET
    blob: str | UnsetType = UNSET
    uri: str


class EmbeddedResource(Object, tag_field="type", tag="resource", kw_only=True):
    annotations: Annotations | UnsetType | None = UNSET
    resource: ResourceContents


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class Content(Object, tag_field="type", tag="content", kw_only=True):
    content: ContentBlock


class Diff(Object, tag_field="type", tag="diff", kw_only=True):
    path: str
    old_text: str | UnsetType | None = UNSET
    new_text: str


class Terminal(Object, tag_field="type", tag="terminal", kw_only=True):
    terminal_id: str


ToolCallContent = Content | Diff | Terminal


class ToolCallLocation(Object, kw_only=True):
    path: str
    line: int | UnsetType | None = UNSET


class AgentMessageChunk(Object, tag_field="sessionUpdate", tag="agent_message_chunk", kw_only=True):
    content: ContentBlock
    message_id: str | UnsetType | None = UNSET


class AgentThoughtChunk(Object, tag_field="sessionUpdate", tag="agent_thought_chunk", kw_only=True):
    content: ContentBlock
    message_id: str | UnsetType | None = UNSET


class UserMessageChunk(Object, tag_field="sessionUpdate", tag="user_message_chunk", kw_only=True):
    content: ContentBlock
    message_id: str | UnsetType | None = UNSET


class ToolCall(Object, tag_field="sessionUpdate", tag="tool_call", kw_only=True):
    tool_call_id: str
    title: str
    name: str | UnsetType | None = UNSET
    kind: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    content: list[ToolCallContent] = []
    locations: list[ToolCallLocation] = []
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCallUpdate(Object, tag_field="sessionUpdate", tag="tool_call_update", kw_only=True):
    tool_call_id: str
    kind: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    content: list[ToolCallContent] | UnsetType | None = UNSET
    locations: list[ToolCallLocation] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class PlanEntry(Object, kw_only=True):
    content: str
    priority: str
    status: str


class Plan(Object, tag_field="sessionUpdate", tag="plan", kw_only=True):
    entries: list[PlanEntry]


class CommandInput(Object, kw_only=True):
    hint: str


class AvailableCommand(Object, kw_only=True):
    name: str
    description: str
    input: CommandInput | UnsetType | None = UNSET


class AvailableCommandsUpdate(Object, tag_field="sessionUpdate", tag="available_commands_update", kw_only=True):
    available_commands: list[AvailableCommand]


class CurrentModeUpdate(Object, tag_field="sessionUpdate", tag="current_mode_update", kw_only=True):
    current_mode_id: str


class SessionNotification(Object, kw_only=True):
    session_id: str
    update: (
        UserMessageChunk
        | AgentMessageChunk
        | AgentThoughtChunk
        | ToolCall
        | ToolCallUpdate
        | Plan
        | AvailableCommandsUpdate
        | CurrentModeUpdate
    )


class SessionUpdateLine(Object, kw_only=True):
    jsonrpc: str
    method: str
    params: SessionNotification


class Pair(Object, kw_only=True):
    name: str
    value: str


class McpServer(Object, kw_only=True):
    type: str = "stdio"
    name: str
    url: str | UnsetType = UNSET
    headers: list[Pair] = []
    command: str | UnsetType = UNSET
    args: list[str] = []
    env: list[Pair] = []


class NewSessionRequest(Object, kw_only=True):
    cwd: str
    additional_directories: list[str] = []
    mcp_servers: list[McpServer]


class PromptCapabilities(Object, kw_only=True):
    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class McpCapabilities(Object, kw_only=True):
    http: bool = False
    sse: bool = False


class SessionCapabilities(Object, kw_only=True):
    list: dict[str, Any] | UnsetType | None = UNSET
    delete: dict[str, Any] | UnsetType | None = UNSET
    additional_directories: dict[str, Any] | UnsetType | None = UNSET
    resume: dict[str, Any] | UnsetType | None = UNSET
    close: dict[str, Any] | UnsetType | None = UNSET


class AgentAuthCapabilities(Object, kw_only=True):
    logout: dict[str, Any] | UnsetType | None = UNSET


class AgentCapabilities(Object, kw_only=True):
    load_session: bool = False
    prompt_capabilities: PromptCapabilities = field(default_factory=PromptCapabilities)
    mcp_capabilities: McpCapabilities = field(default_factory=McpCapabilities)
    session_capabilities: SessionCapabilities = field(default_factory=SessionCapabilities)
    auth: AgentAuthCapabilities = field(default_factory=AgentAuthCapabilities)


class Implementation(Object, kw_only=True):
    name: str
    title: str | UnsetType | None = UNSET
    version: str


class InitializeResponse(Object, kw_only=True):
    protocol_version: int
    agent_capabilities: AgentCapabilities = field(default_factory=AgentCapabilities)
    auth_methods: list[dict[str, Any]] = []
    agent_info: Implementation | UnsetType | None = UNSET
