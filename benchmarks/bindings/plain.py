"""The same objects as bare pydantic models, without any rule: what pydantic-core takes for objects of these shapes.

Same members, same tags, unknown members kept; nothing is lenient, strict, bounded or hidden.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Plain(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, defer_build=True, extra="allow")

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None


class Annotations(Plain):
    audience: list[str] | None = None
    last_modified: str | None = None
    priority: float | None = None


class TextContent(Plain):
    type: Literal["text"] = "text"
    annotations: Annotations | None = None
    text: str


class ImageContent(Plain):
    type: Literal["image"] = "image"
    annotations: Annotations | None = None
    data: str
    mime_type: str
    uri: str | None = None


class AudioContent(Plain):
    type: Literal["audio"] = "audio"
    annotations: Annotations | None = None
    data: str
    mime_type: str


class ResourceLink(Plain):
    type: Literal["resource_link"] = "resource_link"
    annotations: Annotations | None = None
    description: str | None = None
    mime_type: str | None = None
    name: str
    size: int | None = None
    title: str | None = None
    uri: str


class TextResourceContents(Plain):
    mime_type: str | None = None
    text: str
    uri: str


class BlobResourceContents(Plain):
    blob: str
    mime_type: str | None = None
    uri: str


class EmbeddedResource(Plain):
    type: Literal["resource"] = "resource"
    annotations: Annotations | None = None
    resource: TextResourceContents | BlobResourceContents


ContentBlock = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource, Field(discriminator="type")
]


class Content(Plain):
    type: Literal["content"] = "content"
    content: ContentBlock


class Diff(Plain):
    type: Literal["diff"] = "diff"
    path: str
    old_text: str | None = None
    new_text: str


class Terminal(Plain):
    type: Literal["terminal"] = "terminal"
    terminal_id: str


ToolCallContent = Annotated[Content | Diff | Terminal, Field(discriminator="type")]


class ToolCallLocation(Plain):
    path: str
    line: int | None = None


class ContentChunk(Plain):
    content: ContentBlock
    message_id: str | None = None


class AgentMessageChunk(ContentChunk):
    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(ContentChunk):
    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


class UserMessageChunk(ContentChunk):
    session_update: Literal["user_message_chunk"] = "user_message_chunk"


class ToolCall(Plain):
    session_update: Literal["tool_call"] = "tool_call"
    tool_call_id: str
    title: str
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: Annotated[list[ToolCallContent], Field(default_factory=list)]
    locations: Annotated[list[ToolCallLocation], Field(default_factory=list)]
    raw_input: Any = None
    raw_output: Any = None


class ToolCallUpdate(Plain):
    session_update: Literal["tool_call_update"] = "tool_call_update"
    tool_call_id: str
    kind: str | None = None
    status: str | None = None
    title: str | None = None
    name: str | None = None
    content: list[ToolCallContent] | None = None
    locations: list[ToolCallLocation] | None = None
    raw_input: Any = None
    raw_output: Any = None


class PlanEntry(Plain):
    content: str
    priority: str
    status: str


class Plan(Plain):
    session_update: Literal["plan"] = "plan"
    entries: list[PlanEntry]


class CommandInput(Plain):
    hint: str


class AvailableCommand(Plain):
    name: str
    description: str
    input: CommandInput | None = None


class AvailableCommandsUpdate(Plain):
    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: list[AvailableCommand]


class CurrentModeUpdate(Plain):
    session_update: Literal["current_mode_update"] = "current_mode_update"
    current_mode_id: str


class ConfigChoice(Plain):
    value: str
    name: str
    description: str | None = None


class ConfigGroup(Plain):
    group: str
    name: str
    options: list[ConfigChoice]


class ConfigOption(Plain):
    id: str
    name: str
    description: str | None = None
    category: str | None = None


class ConfigSelect(ConfigOption):
    type: Literal["select"] = "select"
    current_value: str
    options: Annotated[list[ConfigChoice] | list[ConfigGroup], Field(union_mode="left_to_right")]


class ConfigBoolean(ConfigOption):
    type: Literal["boolean"] = "boolean"
    current_value: bool


class ConfigOptionUpdate(Plain):
    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: list[Annotated[ConfigSelect | ConfigBoolean, Field(discriminator="type")]]


class SessionInfoUpdate(Plain):
    session_update: Literal["session_info_update"] = "session_info_update"
    title: str | None = None
    updated_at: str | None = None


class Cost(Plain):
    amount: float
    currency: str


class UsageUpdate(Plain):
    session_update: Literal["usage_update"] = "usage_update"
    used: int
    size: int
    cost: Cost | None = None


class Notice(Plain):
    session_update: Literal["notice"] = "notice"
    severity: str
    title: str
    description: str | None = None


class CompactionUpdate(Plain):
    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: str
    status: str
    summary: list[ContentBlock] | None = None
    error: str | None = None


class CompactionSummaryChunk(Plain):
    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: str
    content: ContentBlock


class SessionNotification(Plain):
    session_id: str
    update: Annotated[
        UserMessageChunk
        | AgentMessageChunk
        | AgentThoughtChunk
        | ToolCall
        | ToolCallUpdate
        | Plan
        | AvailableCommandsUpdate
        | CurrentModeUpdate
        | ConfigOptionUpdate
        | SessionInfoUpdate
        | UsageUpdate
        | Notice
        | CompactionUpdate
        | CompactionSummaryChunk,
        Field(discriminator="session_update"),
    ]


class SessionUpdateLine(Plain):
    jsonrpc: Literal["2.0"]
    method: Literal["session/update"]
    params: SessionNotification


class Pair(Plain):
    name: str
    value: str


class McpServerHttp(Plain):
    type: Literal["http"] = "http"
    name: str
    url: str
    headers: list[Pair]


class McpServerStdio(Plain):
    name: str
    command: str
    args: list[str]
    env: list[Pair]


class NewSessionRequest(Plain):
    cwd: str
    additional_directories: Annotated[list[str], Field(default_factory=list)]
    mcp_servers: list[Annotated[McpServerHttp | McpServerStdio, Field(union_mode="left_to_right")]]


class Flags(Plain):
    pass


class PromptCapabilities(Plain):
    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class McpCapabilities(Plain):
    http: bool = False
    sse: bool = False


class SessionCapabilities(Plain):
    list: Flags | None = None
    delete: Flags | None = None
    additional_directories: Flags | None = None
    resume: Flags | None = None
    close: Flags | None = None


class AgentAuthCapabilities(Plain):
    logout: Flags | None = None


class AgentCapabilities(Plain):
    load_session: bool = False
    prompt_capabilities: PromptCapabilities = Field(default_factory=dict, validate_default=True)
    mcp_capabilities: McpCapabilities = Field(default_factory=dict, validate_default=True)
    session_capabilities: SessionCapabilities = Field(default_factory=dict, validate_default=True)
    auth: AgentAuthCapabilities = Field(default_factory=dict, validate_default=True)


class Implementation(Plain):
    name: str
    title: str | None = None
    version: str


class InitializeResponse(Plain):
    protocol_version: int
    agent_capabilities: AgentCapabilities = Field(default_factory=dict, validate_default=True)
    auth_methods: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    agent_info: Implementation | None = None
