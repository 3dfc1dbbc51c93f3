"""server-everything, which exercises all features of clients, over all three transports."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    ListRootsResult,
    LoggingMessageNotificationParams,
    PromptReference,
    ResourceLink,
    ResourceUpdatedNotification,
    Root,
    TextContent,
    TextResourceContents,
)

import mcp_launch
from mcp_launch import Options

pytestmark = [
    pytest.mark.anyio,
    # The SDK (2.3) leaves an event stream as soon as it has its answer, and httpx2's generators unfinished: trio warns.
    # The sockets are closed all the same, which is tested.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <async_generator:pytest.PytestUnraisableExceptionWarning"),
]

PNG = b"\x89PNG\r\n\x1a\n"


async def test_the_offer_of_the_server_is_listed(everything: dict[str, Any], tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.launch([everything], cwd=tmp_path) as fleet:
            [server] = fleet
            [told] = fleet.report["servers"]
            resources = await server.session.list_resources()
            templates = await server.session.list_resource_templates()
            prompts = await server.session.list_prompts()

    assert told["failure"] is None
    assert told["protocol_version"] == "2025-11-25"
    assert told["server"] == {"name": "mcp-servers/everything", "version": "2.0.0"}
    assert {"echo", "get-sum", "get-tiny-image", "get-structured-content"} <= {tool.name for tool in server.tools}
    assert "demo://resource/static/document/features.md" in {resource.uri for resource in resources.resources}
    assert "demo://resource/dynamic/text/{resourceId}" in {each.uri_template for each in templates.resource_templates}
    assert {"simple-prompt", "args-prompt"} <= {prompt.name for prompt in prompts.prompts}
    assert server.state == "closed"


async def test_tools_of_every_kind_are_called(everything: dict[str, Any], tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path) as session:
            echoed = await session.call_tool("echo", {"message": "naïve 🙂"})
            added = await session.call_tool("get-sum", {"a": 2, "b": 3})
            weather = await session.call_tool("get-structured-content", {"location": "Chicago"})
            wrong = await session.call_tool("get-sum", {"a": "two"})

    assert echoed.content == [TextContent(text="Echo: naïve 🙂")]
    assert added.content == [TextContent(text="The sum of 2 and 3 is 5.")]
    assert set(weather.structured_content or ()) == {"temperature", "conditions", "humidity"}
    assert wrong.is_error


async def test_images_links_and_resources_arrive_whole(everything: dict[str, Any], tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path) as session:
            image = (await session.call_tool("get-tiny-image", {})).content[1]
            links = (await session.call_tool("get-resource-links", {"count": 2})).content[1:]
            arguments = {"resourceType": "Blob", "resourceId": 7}
            blob = (await session.call_tool("get-resource-reference", arguments)).content[1]
            arguments = {"name": "hello.gz", "data": "data:text/plain,hello"}
            [made] = (await session.call_tool("gzip-file-as-resource", arguments)).content
            assert isinstance(made, ResourceLink)
            [packed] = (await session.read_resource(made.uri)).contents
            [text] = (await session.read_resource("demo://resource/dynamic/text/3")).contents

    assert isinstance(image, ImageContent)
    assert base64.b64decode(image.data).startswith(PNG)
    assert [type(link) for link in links] == [ResourceLink, ResourceLink]
    assert isinstance(blob, EmbeddedResource)
    assert isinstance(blob.resource, BlobResourceContents)
    assert b"Resource 7" in base64.b64decode(blob.resource.blob)
    assert isinstance(packed, BlobResourceContents)
    assert gzip.decompress(base64.b64decode(packed.blob)) == b"hello"
    assert isinstance(text, TextResourceContents)
    assert "Resource 3" in text.text


async def test_prompts_are_filled_and_completed(everything: dict[str, Any], tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path) as session:
            prompt = await session.get_prompt("args-prompt", {"city": "Berlin"})
            department = PromptReference(name="completable-prompt")
            completed = await session.complete(department, {"name": "department", "value": "E"})

    assert [message.content for message in prompt.messages] == [TextContent(text="What's weather in Berlin?")]
    assert completed.completion.values == ["Engineering"]


async def test_the_server_may_use_sampling(everything: dict[str, Any], tmp_path: Path) -> None:
    asked: list[CreateMessageRequestParams] = []

    async def sample(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        asked.append(params)
        return CreateMessageResult(role="assistant", content=TextContent(text="forty-two"), model="small-1")

    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path, options=Options(sampling=sample)) as session:
            answer = await session.call_tool("trigger-sampling-request", {"prompt": "six times seven", "maxTokens": 9})

    [params] = asked
    assert params.max_tokens == 9
    assert params.system_prompt == "You are a helpful test server."
    [said] = answer.content
    assert isinstance(said, TextContent)
    assert "forty-two" in said.text
    assert "small-1" in said.text


async def test_the_server_may_use_elicitation(everything: dict[str, Any], tmp_path: Path) -> None:
    asked: list[ElicitRequestParams] = []

    async def elicit(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params)
        if isinstance(params, ElicitRequestURLParams):
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"name": "Ada", "check": True, "integer": 7})

    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path, options=Options(elicitation=elicit)) as session:
            form = await session.call_tool("trigger-elicitation-request", {})
            page = await session.call_tool("trigger-url-elicitation", {"url": "https://example.com/pay"})

    assert [type(params) for params in asked] == [ElicitRequestFormParams, ElicitRequestURLParams]
    assert "- Name: Ada" in _text(form)
    assert "- Agreed to terms: true" in _text(form)
    assert "User declined to open the URL" in _text(page)


async def test_the_server_may_request_roots(everything: dict[str, Any], tmp_path: Path) -> None:
    async def roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=tmp_path.as_uri(), name="project")])  # type: ignore[arg-type]

    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path, options=Options(roots=roots)) as session:
            answer = await session.call_tool("get-roots-list", {})

    assert "1. project" in _text(answer)
    assert tmp_path.as_uri() in _text(answer)


async def test_tools_that_need_a_callback_are_not_offered_without_one(
    everything: dict[str, Any], tmp_path: Path
) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.launch([everything], cwd=tmp_path) as fleet:
            names = {tool.name for tool in fleet["everything"].tools}

    assert names.isdisjoint({"trigger-sampling-request", "trigger-elicitation-request", "get-roots-list"})


# The way of servers of the older era, as this is one.
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_logs_progress_and_updates_are_heard(everything: dict[str, Any], tmp_path: Path) -> None:
    logged: list[object] = []
    steps: list[tuple[float, float | None]] = []
    updated = anyio.Event()
    subject = "demo://resource/dynamic/text/1"

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def hear(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            updated.set()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    options = Options(logging=log, message=hear)
    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path, options=options) as session:
            arguments = {"duration": 0.2, "steps": 4}
            await session.call_tool("trigger-long-running-operation", arguments, progress_callback=note)
            await session.subscribe_resource(subject)  # pyright: ignore[reportDeprecated]
            await session.call_tool("toggle-subscriber-updates", {})
            await updated.wait()
            await session.call_tool("toggle-subscriber-updates", {})

    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert any(f"Received Subscribe Resource request for URI: {subject}" in str(each) for each in logged)


async def test_an_abandoned_call_leaves_the_session_usable(everything: dict[str, Any], tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with mcp_launch.open_session(everything, cwd=tmp_path) as session:
            with anyio.move_on_after(0.3) as scope:
                await session.call_tool("trigger-long-running-operation", {"duration": 25, "steps": 1})
            echoed = await session.call_tool("echo", {"message": "still here"})

    assert scope.cancelled_caught
    assert echoed.content == [TextContent(text="Echo: still here")]


async def test_the_server_can_be_closed_during_calls(everything: dict[str, Any], tmp_path: Path) -> None:
    ended: list[BaseException] = []

    async def call(session: Any) -> None:
        try:
            await session.call_tool("trigger-long-running-operation", {"duration": 25, "steps": 1})
        except MCPError as error:
            ended.append(error)

    with anyio.fail_after(15):
        async with (
            anyio.create_task_group() as calls,
            mcp_launch.open_session(everything, cwd=tmp_path) as session,
        ):
            for _ in range(3):
                calls.start_soon(call, session)
            await session.call_tool("echo", {"message": "meanwhile"})

    assert len(ended) == 3


def _text(result: Any) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
