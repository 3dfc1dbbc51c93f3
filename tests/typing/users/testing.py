"""Code of users of `mcp_launch.testing`: checkers accept all lines except those marked as refused."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import assert_type

import mcp
import pytest
from mcp.server import MCPServer
from mcp_types import CallToolResult, ListToolsResult, ReadResourceResult

import mcp_launch.testing
from acp_bindings import v1
from mcp_launch import Options
from mcp_launch.testing import McpServerFixture, McpServerWarning, McpSession

server = MCPServer("mine")


def test_plain(mcp_server: McpServerFixture, tmp_path: Path) -> None:
    session = mcp_server("greeter")
    assert_type(session, McpSession)
    assert_type(session.call_tool("greet", {"name": "Ada"}), CallToolResult)
    assert_type(session.list_tools().tools, list[mcp.Tool])
    assert_type(session.read_resource("memo://today"), ReadResourceResult)
    assert_type(session.client, mcp.Client)
    assert_type(session.run(session.client.list_tools), ListToolsResult)
    session.call_tool("greet", ["Ada"])  # refused
    session.run(session.list_tools)  # refused
    session.sing()  # refused
    mcp_server(command=["python", tmp_path / "server.py"], env={"KEY": "value"}, cwd=tmp_path, timeout=5)
    mcp_server(server, options=Options(log_level="debug"))
    mcp_server({"name": "mine", "command": "/bin/mine"})
    mcp_server(v1.McpServerStdio(name="mine", command="/bin/mine", args=[], env=[]))
    mcp_server(5)  # refused
    with pytest.warns(McpServerWarning):
        mcp_launch.testing.warn()  # refused


@pytest.fixture
async def greeter(mcp_server: McpServerFixture) -> AsyncGenerator[mcp.Client]:
    async with mcp_server.open("greeter", timeout=5) as session:
        assert_type(session, mcp.Client)
        yield session
    with mcp_server.open("greeter"):  # refused
        pass


@pytest.fixture(scope="session")
def everywhere(session_mcp_server: McpServerFixture) -> McpSession:
    return session_mcp_server("greeter")


async def test_async(greeter: mcp.Client) -> None:
    assert_type(await greeter.call_tool("greet", {"name": "Ada"}), CallToolResult)
