"""Code of users of `mcp_launch`: checkers accept all lines except those marked as refused."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, assert_type

import mcp
import mcp_types
from mcp.server import MCPServer, Server
from mcp_types import CallToolResult, Tool

import mcp_launch
from acp_bindings import decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup.capabilities import AgentCapability
from mcp_launch import (
    Budgets,
    Catalogue,
    CatalogueEntry,
    Fleet,
    LaunchedServer,
    LaunchError,
    LaunchFailure,
    LocalServer,
    NoTransport,
    UnknownTool,
    UnusableInput,
    capabilities,
    launch,
    open_session,
    serve_local,
    to_acp,
    to_mcp,
    tool_call_update,
)


def names() -> None:
    print(mcp_launch.launch_all)  # refused
    from mcp_launch import launch_all  # refused

    # What could not be imported is unknown, which only pyright goes on to refuse.
    print(launch_all)  # refused by pyright


async def a_fleet(raw: str) -> None:
    request = decode(v1.NewSessionRequest, raw)
    async with mcp_launch.launch(request.mcp_servers, cwd=request.cwd) as fleet:
        assert_type(fleet, Fleet)
        assert_type(fleet["filesystem"], LaunchedServer)
        assert_type(fleet["filesystem"].session, mcp.Client)
        assert_type(fleet.failures, list[LaunchFailure])
        print(fleet[0])  # refused
        for server in fleet:
            assert_type(server, LaunchedServer)
            await one_of(server)
    with launch([], cwd="/"):  # refused
        pass


async def one_of(server: LaunchedServer) -> None:
    assert_type(server.transport, Literal["stdio", "http", "sse"] | None)
    assert_type(server.tools, list[Tool])
    print(server.failure.code)  # refused
    if server.failure is not None:
        assert_type(server.failure, LaunchFailure)
        assert_type(server.failure.facts, dict[str, Any])
        if server.failure.code == "timeout" and server.failure.stage == "handshake":
            print(server.failure.elapsed + 1)
        # ty has no rule against comparing what is never equal.
        print(server.failure.code == "timedout")  # refused by mypy, pyright
    result = await server.session.call_tool("greet", {"name": "Ada"})
    print(result.content)
    await server.session.call_tool(1)  # refused
    server.name = "other"  # refused


async def launching(spec: Any, budgets: Budgets, folder: Path) -> None:
    async with launch([spec, {"name": "s"}, v2.McpServerStdio(name="s", command="/s")], cwd=folder, timeout=5):
        pass
    async with launch(None, cwd="/", budgets=budgets, lists=()):
        pass
    launch([])  # refused
    launch([], cwd="/", timeout="5")  # refused
    Budgets(connect=1, handshake=2.5)
    Budgets(1.0)  # refused
    budgets.call = 5  # refused


async def a_session(server: v1.McpServer) -> None:
    block: AbstractAsyncContextManager[mcp.Client] = open_session(server, cwd="/", timeout=3)
    async with block as client:
        assert_type(client, mcp.Client)
        print((await client.list_tools()).tools)
        await client.list_tool()  # refused
    async with open_session({"name": "s", "command": "/s", "args": [], "env": []}, cwd="/") as client:
        assert_type(client, mcp.Client)
    open_session(server, cwd=5)  # refused


async def reports(fleet: Fleet) -> None:
    for entry in fleet.report["servers"]:
        assert_type(entry["name"], str)
        assert_type(list(entry["seconds"].values()), list[float])
        if entry["failure"] is not None:
            assert_type(entry["failure"]["message"], str)
    print(fleet.report["server"])  # refused


async def failures(server: v1.McpServer) -> str:
    try:
        async with open_session(server, cwd="/"):
            return "works"
    except LaunchFailure as failure:
        assert_type(failure.message, str)
        error: LaunchError = failure
        return str(error)
    except UnusableInput as unusable:
        print(unusable.code)  # refused
        return str(unusable)


async def tools_of_all(fleet: Fleet) -> CallToolResult | None:
    catalogue = Catalogue((server.name, server.tools) for server in fleet)
    for entry in catalogue:
        assert_type(entry, CatalogueEntry)
        assert_type(entry.tool, Tool)
        entry.name = "other"  # refused
    try:
        entry = catalogue["files__read"]
    except UnknownTool as unknown:
        assert_type(unknown.similar, list[str])
        return None
    return await fleet[entry.server].session.call_tool(entry.tool.name, {})


def what_to_advertise() -> None:
    assert_type(capabilities(v1.McpCapabilities), v1.McpCapabilities)
    assert_type(capabilities(v2_unstable.McpCapabilities, transports={"stdio"}), v2_unstable.McpCapabilities)
    assert_type(capabilities(), frozenset[AgentCapability])
    capabilities(v1.McpCapabilities, transports=["http", "sse"])
    capabilities(v1.McpCapabilities, transports=["acp"])  # refused
    capabilities(v1.PromptCapabilities)  # refused


def content_to_acp(result: CallToolResult, prompt: mcp_types.GetPromptResult) -> None:
    for block in result.content:
        assert_type(to_acp(v2.TextContent, block), v2.TextContent)
        there: v1.ContentBlock = to_acp(v1.ContentBlock, block)
        print(there)
    to_acp(v1.ContentBlock, prompt.messages[0].content)
    to_acp(v1.ContentBlock, prompt)  # refused
    update = tool_call_update(v1.SessionToolCallUpdate, "call_1", result)
    assert_type(update, v1.SessionToolCallUpdate)
    update.title = "Look it up"
    v1.SessionNotification(session_id="s", update=update)
    assert_type(tool_call_update(v2.ToolCallUpdate, "call_1", result), v2.ToolCallUpdate)
    tool_call_update(v1.ToolCall, "call_1", result)  # refused


def content_to_mcp(block: v1.ContentBlock, image: v2.ImageContent, other: v1_unstable.ResourceLink) -> None:
    assert_type(to_mcp(image), mcp_types.ImageContent)
    assert_type(to_mcp(other), mcp_types.ResourceLink)
    there: mcp_types.ContentBlock = to_mcp(block)
    print(there)
    to_mcp(there)  # refused


async def an_own_server(server: MCPServer, low: Server[None], agent: v1.InitializeResponse) -> None:
    async with serve_local(server, agent=agent) as local:
        assert_type(local, LocalServer)
        assert_type(local.transport, Literal["http", "stdio"])
        assert_type(local.spec(v1.McpServer), v1.McpServerHttp | v1.McpServerSse | v1.McpServerStdio)
        assert_type(local.spec(v2.McpServerHttp), v2.McpServerHttp)
        request = v1.NewSessionRequest(cwd="/", mcp_servers=[local.spec(v1.McpServer)])
        print(request, local.token)  # refused
    async with serve_local(low, transport="stdio"), serve_local(low, agent=v2_unstable.AgentCapabilities()):
        pass
    serve_local(server, transport="sse")  # refused
    serve_local("http://127.0.0.1/mcp", transport="http")  # refused
    assert_type(NoTransport(["acp"]).advertised, list[str])
