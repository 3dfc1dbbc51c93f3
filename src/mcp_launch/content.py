"""What the other protocol has no place for in a block travels in its `_meta`, and returns from there."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, overload

from pydantic import BaseModel, ValidationError

from acp_bindings import DecodeError, EncodeError, decode, encode
from mcp_launch.failures import LaunchError

__all__ = ["KEPT", "ContentError", "Unfit", "fitted", "to_acp", "to_mcp", "tool_call_update"]


T = TypeVar("T")

KEPT = "acp-bindings/kept"
"""The member of `_meta` that holds what the other protocol has no place for, by JSON pointers into the block."""


class ContentError(LaunchError):
    """A block of content that the other protocol cannot express, also not with the help of `_meta`."""


class Unfit(Exception):  # noqa: N818 - no error yet: what is in the way may be kept elsewhere
    """What a block could not be read for: paths into its JSON, and why."""

    def __init__(self, issues: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
        self.issues = list(issues)
        super().__init__("; ".join(f"{'.'.join(map(str, path)) or 'the block'}: {why}" for path, why in self.issues))


def fitted(data: dict[str, Any], read: Callable[[dict[str, Any]], T], *, into: str) -> T:
    """What *read* makes of a block, with the members that it refuses kept in `_meta`."""
    kind, data = data["type"], _restored(data)
    kept: dict[str, Any] = {}
    first: Unfit | None = None
    while True:
        if kept and data.get("_meta") == {}:
            kept["/_meta"] = data.pop("_meta")
        try:
            return read({**data, "_meta": {**(data.get("_meta") or {}), KEPT: kept}} if kept else data)
        except Unfit as unfit:
            first = first or unfit
            taken = [_take(data, path) for path, _ in unfit.issues]
            kept.update(each for each in taken if each)
            if not any(taken):
                raise ContentError(f'{into} cannot express a block of type "{kind}": {first}') from None


def _restored(data: dict[str, Any]) -> dict[str, Any]:
    """The block with what was kept in `_meta` back in its place; as it is, if that is not of our making."""
    meta: dict[str, Any] = data.get("_meta") or {}
    kept = meta.get(KEPT)
    if not kept or not isinstance(kept, dict):
        return data
    whole = copy.deepcopy(data)
    del whole["_meta"][KEPT]
    if not whole["_meta"]:
        del whole["_meta"]
    try:
        for pointer, value in cast("dict[str, Any]", kept).items():
            _put(whole, pointer, value)
    except (LookupError, TypeError, ValueError):
        return data
    return whole


def _put(data: dict[str, Any], pointer: str, value: Any) -> None:
    start, *steps, name = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/"))
    here: Any = data
    for step in steps:
        here = here[int(step) if isinstance(here, list) else step]
    if start or name in here:
        raise ValueError(pointer)
    here[name] = value


def _take(data: dict[str, Any], path: tuple[str | int, ...]) -> tuple[str, Any] | None:
    """Take the member that is meant out of the block: its pointer and its value, or None if it is not there."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    holder: Any = data
    try:
        for step in path[:-1]:
            holder = holder[step]
        value = holder.pop(path[-1])
    except (LookupError, TypeError, AttributeError):
        return None
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path), value


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
