"""What a type checker must accept, and, by `pyright: ignore` that must not be superfluous, what it must refuse."""

from typing import assert_type

from acp_bindings import decode, encode, v1, v2


def constructing() -> None:
    v1.NewSessionRequest(cwd="/", mcp_servers=[])
    v1.NewSessionRequest(cwd="/", mcp_servers=[v1.McpServerHttp(name="h", url="u", headers=[])])
    v1.NewSessionRequest(cwd="/")  # pyright: ignore[reportCallIssue]
    v1.NewSessionRequest(cwd=1, mcp_servers=[])  # pyright: ignore[reportArgumentType]
    v1.NewSessionRequest(cwdd="/", mcp_servers=[])  # pyright: ignore[reportCallIssue]
    v1.NewSessionRequest(cwd="/", mcpServers=[])  # pyright: ignore[reportCallIssue]
    v1.PlanEntry(content="c", priority="urgent", status="pending")  # pyright: ignore[reportArgumentType]
    v2.PlanEntry(content="c", priority="urgent", status="pending")


def reading() -> None:
    request = decode(v1.NewSessionRequest, b"")
    assert_type(request, v1.NewSessionRequest)
    assert_type(request.cwd, str)
    assert_type(request.additional_directories, list[str])
    assert_type(request.mcp_servers, list[v1.McpServerHttp | v1.McpServerSse | v1.McpServerStdio])
    print(request.cvd)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
    assert_type(encode(request), bytes)


def matching(update: v1.SessionUpdate) -> str:
    match update:
        case v1.ToolCall(title=title):
            return title
        case v1.UserMessageChunk(content=v1.TextContent(text=text)):
            return text
        case v1.OtherSessionUpdate():
            return update.session_update
        case _:
            return ""


def telling_apart(server: v1.McpServer) -> str:
    if server.type == "stdio":
        assert_type(server, v1.McpServerStdio)
        return server.command
    return server.url


def choosing(content: v2.ContentBlock) -> str | None:
    if isinstance(content, v2.TextContent):
        return content.text
    return None
