"""Content is converted between MCP and ACP and back without loss, or with a clear error."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any, cast

import mcp_types as mcp
import pytest

from acp_bindings import decode, encode, v1, v1_unstable, v2, v2_unstable
from mcp_launch import ContentError, to_acp, to_mcp, tool_call_update
from mcp_launch.content import KEPT
from tests.acp_bindings.exact_json import Json, is_array, is_object
from tests.acp_bindings.instances import TEXTS, URIS, Instances
from tests.acp_bindings.schemas import load
from tests.mcp_launch.support import run_python

PACKAGES: dict[str, Any] = {"v1": v1, "v1_unstable": v1_unstable, "v2": v2, "v2_unstable": v2_unstable}
EVERY_PACKAGE = pytest.mark.parametrize("package", PACKAGES)
SIZES = [0, 1, -1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30]
META: dict[str, Any] = {"a": None, "b": {"c": [1, None, {"d": "é"}]}, "example.com/x": True}


@EVERY_PACKAGE
def test_content_from_mcp_survives_a_round_trip(package: str) -> None:
    random = Random(package)
    for _ in range(1500):
        block = any_block(random)
        there = to_acp(PACKAGES[package].ContentBlock, block)
        # What was made can be sent: the strict reader takes what is written.
        assert decode(PACKAGES[package].ContentBlock, encode(there), strict=True) == there
        assert to_mcp(there) == block


@EVERY_PACKAGE
def test_content_from_acp_survives_a_round_trip_except_nulls(package: str) -> None:
    type_, crossed = PACKAGES[package].ContentBlock, 0
    for instance in Instances(load(package)).series("ContentBlock", 400):
        block: Any = decode(type_, instance)
        if block.type not in ("text", "image", "audio", "resource", "resource_link"):
            with pytest.raises(ContentError, match="MCP has no content of type"):
                to_mcp(block)
            continue
        crossed += 1
        back: Any = to_acp(type_, cast("Any", to_mcp(block)))
        assert without_nulls(decode(Any, encode(back))) == without_nulls(decode(Any, encode(block)))
    assert crossed > 50


def test_common_content_has_the_same_json() -> None:
    annotations = mcp.Annotations(audience=["user"], priority=0.5, last_modified="2026-01-01T00:00:00Z")
    link = mcp.ResourceLink(name="n", title="t", uri="file:///a b", size=3, annotations=annotations, _meta=META)

    assert to_acp(v1.ContentBlock, link) == v1.ResourceLink(
        name="n",
        title="t",
        uri="file:///a b",
        size=3,
        annotations=v1.Annotations(audience=["user"], priority=0.5, last_modified="2026-01-01T00:00:00Z"),
        meta=META,
    )
    blob = v2.EmbeddedResource(resource=v2.BlobResourceContents(uri="x:", blob="AAAA", mime_type="a/b", meta={}))
    assert to_mcp(blob) == mcp.EmbeddedResource(
        resource=mcp.BlobResourceContents(uri="x:", blob="AAAA", mime_type="a/b", _meta={})
    )


def test_icons_survive_in_both_versions() -> None:
    link = mcp.ResourceLink(name="n", uri="x:", icons=[mcp.Icon(src="https://example.com/i.png", theme="dark")])

    assert to_acp(v2.ResourceLink, link).icons == [v2.Icon(src="https://example.com/i.png", theme="dark")]
    assert to_acp(v1.ResourceLink, link).model_extra == {
        "icons": [{"src": "https://example.com/i.png", "theme": "dark"}]
    }
    assert to_mcp(to_acp(v1.ResourceLink, link)) == link


def test_fields_unknown_to_mcp_are_preserved_in_meta() -> None:
    image = v1.ImageContent(
        data="AAAA",
        mime_type="image/png",
        uri="file:///i.png",
        annotations=v1.Annotations(priority=7, meta={"why": "urgent"}),
        meta={"mine": 1},
    )

    there = to_mcp(image)

    assert there == mcp.ImageContent(
        data="AAAA",
        mime_type="image/png",
        annotations=mcp.Annotations(),
        _meta={
            "mine": 1,
            KEPT: {"/uri": "file:///i.png", "/annotations/priority": 7, "/annotations/_meta": {"why": "urgent"}},
        },
    )
    assert to_acp(v1.ImageContent, there) == image


def test_values_rejected_by_acp_are_preserved_in_meta() -> None:
    link = mcp.ResourceLink(name="n", uri="x:", size=-1)

    assert to_acp(v1.ContentBlock, link) == v1.ResourceLink(name="n", uri="x:", size=-1)
    assert to_acp(v2.ContentBlock, link) == v2.ResourceLink(
        name="n", uri="x:", meta={"acp-bindings/kept": {"/size": -1}}
    )
    assert to_mcp(v2.ResourceLink(name="n", uri="x:", meta={KEPT: {"/size": -1}})) == link


def test_open_enum_values_of_v2_are_preserved() -> None:
    block = decode(
        v2.ContentBlock,
        {
            "type": "resource_link",
            "name": "n",
            "uri": "x:",
            "icons": [{"src": "a:"}, {"src": "b:", "theme": "sepia", "a/b~1": 1}],
            "annotations": {"audience": ["user", "critic"]},
            "mime_type": "not mimeType",
        },
    )

    there = to_mcp(block)

    assert isinstance(there, mcp.ResourceLink)
    assert (there.mime_type, there.icons) == (None, [mcp.Icon(src="a:"), mcp.Icon(src="b:")])
    assert there.meta == {
        KEPT: {
            "/icons/1/theme": "sepia",
            "/icons/1/a~1b~01": 1,
            "/annotations/audience": ["user", "critic"],
            "/mime_type": "not mimeType",
        }
    }
    assert to_acp(v2.ContentBlock, there) == block


def test_values_are_not_coerced() -> None:
    block = decode(v2.ContentBlock, {"type": "tool_result", "toolUseId": "1", "isError": "yes"})

    assert to_mcp(block) == mcp.ToolResultContent(tool_use_id="1", _meta={KEPT: {"/isError": "yes"}})


@pytest.mark.parametrize(
    "kept",
    [
        *(5, [], {}, {"": 1}, {"uri": 1}, {"/text": "other"}, {"/text/0": "x"}, {"/annotations/x": 1}, {"/no/such": 1}),
        *({"/_meta": {}}, {"/uri": "x", "/text": "other"}),
    ],
)
def test_a_servers_own_preserved_field_has_no_effect(kept: Any) -> None:
    block = mcp.TextContent(text="mine", _meta={KEPT: kept})

    there = to_acp(v1.TextContent, block)

    if kept != {"/_meta": {}}:
        assert there == v1.TextContent(text="mine", meta={KEPT: kept})
        assert to_mcp(there) == block


def test_null_means_omitted() -> None:
    block = decode(v1.ContentBlock, {"type": "text", "text": "x", "annotations": None, "_meta": None})

    assert to_acp(v1.ContentBlock, to_mcp(block)) == v1.TextContent(text="x")


@pytest.mark.parametrize(
    "block",
    [
        mcp.ToolUseContent(name="n", id="1", input={"a": None}),
        mcp.ToolResultContent(
            tool_use_id="1",
            content=[
                mcp.TextContent(text="x"),
                mcp.EmbeddedResource(resource=mcp.TextResourceContents(uri="x:", text="y", _meta=META)),
            ],
            structured_content={"a": [None]},
            is_error=True,
        ),
    ],
    ids=lambda block: block.type,
)
def test_unknown_content_survives_in_v2_and_fails_in_v1(
    block: mcp.ToolUseContent | mcp.ToolResultContent,
) -> None:
    there = to_acp(v2.ContentBlock, block)

    assert isinstance(there, v2.OtherContentBlock)
    assert to_mcp(there) == block
    with pytest.raises(ContentError) as caught:
        to_acp(v1.ContentBlock, block)
    assert str(caught.value) == (
        f"ACP cannot express a block of type \"{block.type}\": type: '{block.type}' is not one of 'text', 'image', "
        "'audio', 'resource_link', 'resource'"
    )


@pytest.mark.parametrize(
    "convert",
    [
        lambda: to_acp(v1.TextContent, mcp.ImageContent(data="", mime_type="")),
        lambda: to_acp(v1.ContentBlock, mcp.TextContent(text="\ud800")),
        lambda: to_acp(v1.ContentBlock, mcp.TextContent(text="", _meta={"x": math.nan})),
        lambda: to_acp(v1.ContentBlock, mcp.TextContent(text="", _meta={"x": object()})),
        lambda: to_mcp(v1.TextContent(text="", meta={"x": math.nan})),
        lambda: to_mcp(v2.OtherContentBlock(type="_mine")),
        lambda: to_mcp(v2.OtherContentBlock(type="tool_use")),
        lambda: to_mcp(decode(v2.ContentBlock, {"type": "tool_result", "toolUseId": "1", "content": [5]})),
        lambda: to_mcp(decode(v2.ContentBlock, {"type": "tool_result", "toolUseId": "1", "content": [[]]})),
        lambda: tool_call_update(v1.ToolCallUpdate, "1", mcp.CallToolResult(content=[], result_type="task")),
    ],
)
def test_content_that_cannot_be_expressed_is_an_error(convert: Callable[[], Any]) -> None:
    with pytest.raises(ContentError) as caught:
        convert()

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_content_errors_do_not_show_the_content() -> None:
    with pytest.raises(ContentError) as caught:
        to_mcp(decode(v2.ContentBlock, {"type": "tool_use", "name": {"hunter2": "hunter2"}}))

    assert "name: Input should be a valid string" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@EVERY_PACKAGE
def test_a_result_becomes_the_update_of_its_tool_call(package: str) -> None:
    protocol = PACKAGES[package]
    result = mcp.CallToolResult(
        content=[
            mcp.TextContent(text="found 1", annotations=mcp.Annotations(audience=["assistant"])),
            mcp.ResourceLink(name="n", uri="x:", size=2**70),
        ],
        structured_content={"count": 1, "next": None},
        _meta={"io.example/cost": 1},
    )

    update = tool_call_update(protocol.SessionToolCallUpdate, "call_1", result)

    text = protocol.TextContent(text="found 1", annotations=protocol.Annotations(audience=["assistant"]))
    link = protocol.ResourceLink(name="n", uri="x:", meta={KEPT: {"/size": 2**70}})
    assert update == protocol.SessionToolCallUpdate(
        tool_call_id="call_1",
        status="completed",
        content=[protocol.Content(content=text), protocol.Content(content=link)],
        raw_output={"count": 1, "next": None},
        meta={"io.example/cost": 1},
    )
    assert decode(protocol.SessionUpdate, encode(update), strict=True) == update


def test_an_error_result_becomes_a_failed_update() -> None:
    result = mcp.CallToolResult(content=[], is_error=True)

    update = tool_call_update(v1.ToolCallUpdate, "call_1", result)

    assert encode(update) == b'{"toolCallId":"call_1","status":"failed","content":[]}'


def test_importing_content_does_not_import_the_sdk() -> None:
    names = "from mcp_launch import Catalogue, to_acp, to_mcp, tool_call_update"
    script = f"import sys; {names}; print(sorted({{'mcp', 'mcp_types', 'anyio'}} & sys.modules.keys()))"
    done = run_python("-c", script)

    assert (done.stderr, done.stdout.strip()) == ("", "[]")


def any_block(random: Random) -> Any:
    """Return a random block of MCP content, with unusual text in every string."""

    def text() -> str:
        return random.choice(TEXTS)

    def maybe(value: Any) -> Any:
        return random.choice([value, None])

    def meta() -> Any:
        return random.choice([None, {}, META, {text(): text()}])

    annotations = random.choice(
        [
            None,
            mcp.Annotations(),
            mcp.Annotations(
                audience=random.choice([None, [], ["user"], ["assistant", "user"]]),
                priority=random.choice([None, 0, 0.0, 0.1, 1]),
                last_modified=maybe(text()),
            ),
        ]
    )
    uri, kind = random.choice(URIS + TEXTS), maybe(text())
    match random.choice(["text", "image", "audio", "resource_link", "resource"]):
        case "text":
            return mcp.TextContent(text=text(), annotations=annotations, _meta=meta())
        case "image":
            return mcp.ImageContent(data=text(), mime_type=text(), annotations=annotations, _meta=meta())
        case "audio":
            return mcp.AudioContent(data=text(), mime_type=text(), annotations=annotations, _meta=meta())
        case "resource_link":
            icon = mcp.Icon(
                src=uri, mime_type=kind, sizes=maybe([text()]), theme=random.choice([None, "light", "dark"])
            )
            return mcp.ResourceLink(
                name=text(),
                title=maybe(text()),
                uri=uri,
                description=maybe(text()),
                mime_type=kind,
                size=maybe(random.choice(SIZES)),
                icons=random.choice([None, [], [icon]]),
                annotations=annotations,
                _meta=meta(),
            )
        case _:
            contents = random.choice(
                [
                    mcp.TextResourceContents(uri=uri, text=text(), mime_type=kind, _meta=meta()),
                    mcp.BlobResourceContents(uri=uri, blob=text(), mime_type=kind, _meta=meta()),
                ]
            )
            return mcp.EmbeddedResource(resource=contents, annotations=annotations, _meta=meta())


def without_nulls(value: Json) -> Json:
    """Return a block's JSON without null members and without an empty `_meta`."""
    if is_object(value):
        return {
            name: without_nulls(each)
            for name, each in value.items()
            if each is not None and not (name == "_meta" and each == {})
        }
    return [without_nulls(each) for each in value] if is_array(value) else value
