"""Content converted between MCP and ACP, both ways, with nothing lost.

The two protocols mean their content blocks to be the same, and nearly are. What the other one has no place for, such as
the `uri` of an image in ACP or the size of -1 that ACP refuses, travels in the block's `_meta` and returns to its place
on the way back. A kind of block that the other one does not know is an error, except in v2, which keeps every kind.

`null` says the same as an omitted member in both protocols, and MCP does not write it: it comes back as omitted.
"""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ValidationError

from acp_bindings import DecodeError, EncodeError, decode, encode
from mcp_launch.agents.kept import ContentError, Unfit, fitted

if TYPE_CHECKING:
    import mcp_types
    from typing_extensions import TypeForm

    from acp_bindings import v1, v1_unstable, v2, v2_unstable

    McpBlock: TypeAlias = mcp_types.ContentBlock | mcp_types.ToolUseContent | mcp_types.ToolResultContent
    AcpBlock: TypeAlias = v1.ContentBlock | v1_unstable.ContentBlock | v2.ContentBlock | v2_unstable.ContentBlock
    _Text: TypeAlias = v1.TextContent | v1_unstable.TextContent | v2.TextContent | v2_unstable.TextContent
    _Image: TypeAlias = v1.ImageContent | v1_unstable.ImageContent | v2.ImageContent | v2_unstable.ImageContent
    _Audio: TypeAlias = v1.AudioContent | v1_unstable.AudioContent | v2.AudioContent | v2_unstable.AudioContent
    _Link: TypeAlias = v1.ResourceLink | v1_unstable.ResourceLink | v2.ResourceLink | v2_unstable.ResourceLink
    _Resource: TypeAlias = (
        v1.EmbeddedResource | v1_unstable.EmbeddedResource | v2.EmbeddedResource | v2_unstable.EmbeddedResource
    )
    _Other: TypeAlias = v2.OtherContentBlock | v2_unstable.OtherContentBlock

__all__ = ["to_acp", "to_mcp", "tool_call_update"]

T = TypeVar("T")
Update = TypeVar(
    "Update", bound="v1.ToolCallUpdate | v1_unstable.ToolCallUpdate | v2.ToolCallUpdate | v2_unstable.ToolCallUpdate"
)


@overload
def to_acp(type_: type[T], block: McpBlock) -> T: ...
@overload
def to_acp(type_: TypeForm[T], block: McpBlock) -> T: ...
def to_acp(type_: Any, block: McpBlock) -> Any:
    """A block of MCP content as ACP content: `to_acp(v1.ContentBlock, block)`.

    Args:
        type_: `ContentBlock` of the protocol package that the peer speaks, or one class of it.
        block: a block of a tool's result, of a prompt or of a sampling message.

    Raises:
        ContentError: *type_* has no such content, or the block holds what is no JSON.
    """
    return fitted(_mcp_json(block), partial(_read_acp, type_), into="ACP")


@overload
def to_mcp(block: _Text) -> mcp_types.TextContent: ...
@overload
def to_mcp(block: _Image) -> mcp_types.ImageContent: ...
@overload
def to_mcp(block: _Audio) -> mcp_types.AudioContent: ...
@overload
def to_mcp(block: _Link) -> mcp_types.ResourceLink: ...
@overload
def to_mcp(block: _Resource) -> mcp_types.EmbeddedResource: ...
@overload
def to_mcp(block: _Other) -> mcp_types.ToolUseContent | mcp_types.ToolResultContent: ...
def to_mcp(block: AcpBlock) -> Any:
    """A block of ACP content, of any protocol version, as MCP content.

    Raises:
        ContentError: MCP has no such content, or the block holds what is no JSON.
    """
    try:
        data = json.loads(encode(block))
    except EncodeError as error:
        raise ContentError(f'a block of type "{block.type}" cannot be written as JSON: {error}') from None
    class_ = _mcp_classes().get(block.type)
    if class_ is None:
        raise ContentError(f'MCP has no content of type "{block.type}"')
    return fitted(data, partial(_read_mcp, class_), into="MCP")


def tool_call_update(type_: type[Update], tool_call_id: str, result: mcp_types.CallToolResult) -> Update:
    """The update that tells an ACP client how a tool call went.

    It is `completed` or `failed`, with all content of the result; its `raw_output` is the structured result, where
    there is one, and its `_meta` that of the result. What else the update should say can be set on it.

    Args:
        type_: `SessionToolCallUpdate` of the protocol package that the client speaks, or its `ToolCallUpdate`.
        tool_call_id: the call's id in ACP.
        result: what the MCP server answered.

    Raises:
        ContentError: the result is not final, or cannot be expressed.
    """
    if result.result_type != "complete":
        raise ContentError(f'a result of type "{result.result_type}" does not say how a tool call ended')
    said: dict[str, Any] = {
        "tool_call_id": tool_call_id,
        "status": "failed" if result.is_error else "completed",
        "content": [fitted(_mcp_json(block), partial(_read_item, type_), into="ACP") for block in result.content],
        "raw_output": result.structured_content,
        "meta": result.meta,
    }
    return type_(**{name: value for name, value in said.items() if value is not None})


def _read_acp(type_: Any, data: dict[str, Any]) -> Any:
    try:
        return decode(type_, data, strict=True)
    except DecodeError as error:
        raise Unfit((issue.path, issue.message) for issue in error.issues) from None


def _read_item(type_: Any, data: dict[str, Any]) -> Any:
    """One item of the content of a tool call."""
    try:
        alone = decode(type_, {"toolCallId": "", "content": [{"type": "content", "content": data}]}, strict=True)
    except DecodeError as error:
        raise Unfit((issue.path[3:], issue.message) for issue in error.issues) from None
    return alone.content[0]


def _mcp_json(block: McpBlock) -> dict[str, Any]:
    return block.model_dump(by_alias=True, exclude_none=True)


@cache
def _mcp_classes() -> dict[str, type[BaseModel]]:
    # Imported late: it takes a tenth of a second.
    import mcp_types as mcp  # noqa: PLC0415

    classes: tuple[type[BaseModel], ...] = (
        mcp.TextContent,
        mcp.ImageContent,
        mcp.AudioContent,
        mcp.ResourceLink,
        mcp.EmbeddedResource,
        mcp.ToolUseContent,
        mcp.ToolResultContent,
    )
    return {class_.model_fields["type"].default: class_ for class_ in classes}


def _read_mcp(class_: type[BaseModel], data: dict[str, Any]) -> Any:
    """The SDK's models drop what they do not know; here that is an issue like any other."""
    try:
        return class_.model_validate(data, strict=True, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        issues = [(each["loc"], each["msg"]) for each in error.errors()]
    resource = data.get("resource")
    if isinstance(resource, dict):
        # Each alternative of a resource complains, under its own name, and only one is meant.
        meant = "TextResourceContents" if "text" in resource else "BlobResourceContents"
        issues = [
            (("resource", *path[2:]) if path[0] == "resource" else path, why)
            for path, why in issues
            if path[0] != "resource" or path[1] == meant
        ]
    raise Unfit(issues)
