"""Convert content between ACP and MCP. What the other protocol cannot express is preserved in `_meta`."""

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
"""The field of `_meta` with what the other protocol cannot express, by JSON pointers into the block."""


class ContentError(LaunchError):
    """The other protocol cannot express a block of content, even with the help of `_meta`."""


class Unfit(Exception):  # noqa: N818 - not an error yet
    """A block was not valid for the other protocol: paths into its JSON, and why."""

    def __init__(self, issues: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
        self.issues = list(issues)
        super().__init__("; ".join(f"{'.'.join(map(str, path)) or 'the block'}: {why}" for path, why in self.issues))


def fitted(data: dict[str, Any], read: Callable[[dict[str, Any]], T], *, into: str) -> T:
    """Return what *read* returns for a block, with the fields that it rejects preserved in `_meta`.

    Raises:
        ContentError: *read* rejects the block also without these fields.
    """
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
    """Return the block with the fields preserved in `_meta` restored, or the block itself if that is not possible."""
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
    """Remove a field from the block and return its pointer and value; None if there is no such field."""
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
    """Convert a block of MCP content to ACP: `to_acp(v1.ContentBlock, block)`.

    Args:
        type_: `ContentBlock` of the peer's protocol package, or one of its classes.
        block: a block of a tool's result, of a prompt or of a sampling message.

    Raises:
        ContentError: *type_* does not have such content, or the block is not valid JSON.
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
    """Convert a block of ACP content, of any protocol version, to MCP.

    Raises:
        ContentError: MCP does not have such content, or the block cannot be written as JSON.
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
    """Return the update that reports the result of a tool call to an ACP client.

    Its status is `completed` or `failed`, and it has all content of the result. `raw_output` is the structured result,
    if there is one, and `_meta` is that of the result. Set further fields on it as needed.

    Args:
        type_: `SessionToolCallUpdate` or `ToolCallUpdate` of the client's protocol package.
        tool_call_id: the id of the call in ACP.
        result: the result of the MCP server.

    Raises:
        ContentError: the result is not final, or ACP cannot express it.
    """
    if result.result_type != "complete":
        raise ContentError(f'a result of type "{result.result_type}" does not say how a tool call ended')
    fields: dict[str, Any] = {
        "tool_call_id": tool_call_id,
        "status": "failed" if result.is_error else "completed",
        "content": [fitted(_mcp_json(block), partial(_read_item, type_), into="ACP") for block in result.content],
        "raw_output": result.structured_content,
        "meta": result.meta,
    }
    return type_(**{name: value for name, value in fields.items() if value is not None})


def _read_acp(type_: Any, data: dict[str, Any]) -> Any:
    try:
        return decode(type_, data, strict=True)
    except DecodeError as error:
        raise Unfit((issue.path, issue.message) for issue in error.issues) from None


def _read_item(type_: Any, data: dict[str, Any]) -> Any:
    """Read one item of the content of a tool call."""
    try:
        update = decode(type_, {"toolCallId": "", "content": [{"type": "content", "content": data}]}, strict=True)
    except DecodeError as error:
        raise Unfit((issue.path[3:], issue.message) for issue in error.issues) from None
    return update.content[0]


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
    """Read a block, treating unknown fields, which the SDK's models would drop, as issues."""
    try:
        return class_.model_validate(data, strict=True, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        issues = [(each["loc"], each["msg"]) for each in error.errors()]
    resource = data.get("resource")
    if isinstance(resource, dict):
        # Both variants of a resource report issues under their names; only one of them matters.
        meant = "TextResourceContents" if "text" in resource else "BlobResourceContents"
        issues = [
            (("resource", *path[2:]) if path[0] == "resource" else path, why)
            for path, why in issues
            if path[0] != "resource" or path[1] == meant
        ]
    raise Unfit(issues)
