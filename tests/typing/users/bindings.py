"""Code of users of `acp_bindings`: checkers accept all lines except those marked as refused."""

from collections.abc import Mapping
from typing import Any, Literal, assert_never, assert_type

import acp_bindings
from acp_bindings import AcpError, DecodeError, EncodeError, Issue, decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.v1 import McpServer, McpServerStdio, NewSessionRequest
from acp_bindings.v2_unstable import session as v2_session

AnyServer = v1.McpServerHttp | v1.McpServerSse | v1.McpServerStdio


def names() -> None:
    request: type[v1.NewSessionRequest] = NewSessionRequest
    request = acp_bindings.v1.NewSessionRequest
    assert_type(request(cwd="/", mcp_servers=[]), NewSessionRequest)
    assert_type(v2_session.NewSessionRequest(cwd="/"), v2_unstable.NewSessionRequest)
    v1_unstable.NewSessionRequest(cwd="/", mcp_servers=[])
    print(v1.NewSesionRequest)  # refused
    from acp_bindings import v3  # refused
    from acp_bindings.v1 import NewSesionRequest  # refused

    # What could not be imported is unknown, which only pyright goes on to refuse.
    print(v3, NewSesionRequest)  # refused by pyright
    wrong: v1.NewSessionRequest = v2.NewSessionRequest(cwd="/")  # refused
    print(wrong)


def constructing(server: McpServer, meta: dict[str, Any], anything: Any) -> None:
    v1.NewSessionRequest(cwd="/", mcp_servers=[server], additional_directories=["/more"], meta=meta)
    v1.NewSessionRequest(cwd="/", mcp_servers=[v1.McpServerHttp(name="h", url="u", headers=[])])
    v1.NewSessionRequest(cwd="/")  # refused
    v1.NewSessionRequest("/", [])  # refused
    v1.NewSessionRequest(cwd=1, mcp_servers=[])  # refused
    v1.NewSessionRequest(cwd="/", mcp_servers=None)  # refused
    v1.NewSessionRequest(cwd="/", mcp_servers=[{"name": "s", "command": "/s", "args": [], "env": []}])  # refused
    v1.NewSessionRequest(cwd="/", mcp_servers=[v2.McpServerStdio(name="s", command="/s")])  # refused
    v1.NewSessionRequest(cwd="/", mcpServers=[])  # refused
    v1.NewSessionRequest(cwd="/", mcp_servers=[], additional_directories=None)  # refused
    v1.NewSessionRequest(cwd="/", mcp_servers=[], _meta=meta)  # refused
    v1.InitializeRequest(protocol_version=1)
    v1.InitializeRequest(protocol_version=1.0)  # refused
    v1.ToolCallUpdate(tool_call_id="t", raw_input=anything, raw_output=[1, {"a": None}])
    v1.SetSessionConfigOptionRequest(session_id="s", config_id="c", value="v")  # refused


def tags() -> None:
    v1.TextContent(text="t")
    v1.TextContent(type="text", text="t")
    v1.TextContent(type="image", text="t")  # refused
    v1.McpServerStdio(name="s", command="/s", args=[], env=[], type="http")  # refused
    block = v1.TextContent(text="t")
    assert_type(block.type, Literal["text"])
    block.type = "image"  # refused


def enumerations(text: str) -> None:
    v1.PlanEntry(content="c", priority="urgent", status="pending")  # refused
    v1.PlanEntry(content="c", priority=text, status="pending")  # refused
    v2.PlanEntry(content="c", priority=text, status="pending")
    kind: v1.ToolKind = "edit"
    v1.ToolCall(tool_call_id="t", title="T", kind=kind)


def what_is_newer(payload: dict[str, Any]) -> None:
    """Values that the schema does not define have no field names: pass them as a dict, which is not checked."""
    v1.OtherSessionUpdate(session_update="_mine", **payload)
    v1.OtherSessionUpdate(**payload)
    v1.OtherSessionUpdate()  # refused
    v1.OtherSessionUpdate(session_update="_mine", progress=5)  # refused
    v2.OtherMcpServer(type="_mine", **payload)
    v2.NewSessionRequest(cwd="/", mcp_servers=[v2.OtherMcpServer(type="_mine")])


def nothing_and_null() -> None:
    """Omitted, null and value: None is a valid argument if the protocol allows null, or defines it as omitted."""
    v1.SessionInfoUpdate(title=None)
    v1.ToolCall(tool_call_id="t", title="T", kind=None, status=None)
    v1.ToolCall(tool_call_id="t", title=None)  # refused
    v1.ToolCall(tool_call_id="t", title="T", locations=None)  # refused
    v2.ToolCallUpdate(tool_call_id="t", title=None, kind=None, content=None)
    update = v1.SessionInfoUpdate(title="t")
    update.title = None
    update.titel = "t"  # refused
    del update.title


def changing(request: NewSessionRequest) -> None:
    request.cwd = None  # refused
    request.mcp_servers.append(v1.McpServerSse(name="s", url="u", headers=[]))
    request.mcp_servers.append({"name": "s"})  # refused
    request.additional_directories = ("/a",)  # refused
    assert_type(request.model_copy(update={"cwd": "/"}), NewSessionRequest)


def reading(raw: str, message: Mapping[str, Any]) -> None:
    request = decode(v1.NewSessionRequest, raw)
    assert_type(request, v1.NewSessionRequest)
    assert_type(decode(v1.NewSessionRequest, raw.encode(), strict=True), v1.NewSessionRequest)
    assert_type(request.cwd, str)
    assert_type(request.meta, dict[str, Any] | None)
    assert_type(request.mcp_servers, list[AnyServer])
    assert_type(decode(v1.InitializeResponse, raw).agent_capabilities.mcp_capabilities.http, bool)
    print(request.mcpServers)  # refused
    decode(v1.NewSessionRequest, raw, True)  # refused
    other: v1.LoadSessionRequest = decode(v1.NewSessionRequest, raw)  # refused
    print(other)


def reading_unions(raw: str) -> None:
    """Unions, aliases and combinations of them can be read like classes."""
    server = decode(v1.McpServer, raw)
    assert_type(server, AnyServer)
    assert_type(decode(McpServer, raw), AnyServer)
    assert_type(decode(list[v1.McpServer], raw), list[AnyServer])
    assert_type(decode(v1.McpServer | None, raw), AnyServer | None)
    assert_type(decode(v1.SessionId, raw), str)
    assert_type(decode(v1.StopReason, raw) == "end_turn", bool)
    print(server.name)
    print(server.command)  # refused
    stdio: McpServerStdio = decode(v1.McpServer, raw)  # refused
    print(stdio)
    decode(5, raw)  # refused


def writing(request: NewSessionRequest) -> None:
    assert_type(encode(request), bytes)
    text: str = encode(request)  # refused
    print(text)


def errors(raw: str) -> tuple[Issue, ...]:
    try:
        decode(v1.SessionNotification, raw)
    except DecodeError as error:
        assert_type(error.issues[0].path, tuple[str | int, ...])
        assert_type(error.issues[0].branch, str | None)
        print(error.issue)  # refused
        error.issues[0].rule = "missing"  # refused
        base: AcpError | ValueError = error
        print(base)
        return error.issues
    except EncodeError as error:
        return error.issues
    return ()


def by_tag(server: McpServer) -> str:
    if server.type == "stdio":
        assert_type(server, McpServerStdio)
        print(server.url)  # refused
        return server.command
    print(server.command)  # refused
    return server.url


def by_class(server: McpServer) -> str:
    if isinstance(server, v1.McpServerStdio):
        return server.command
    # To ty a class derived from two of them may still be both, so that it knows the rest by another name.
    rest: v1.McpServerHttp | v1.McpServerSse = server
    print(server.command)  # refused
    return rest.url


def by_pattern(server: McpServer) -> str:
    match server:
        case v1.McpServerStdio(command=command, env=env):
            assert_type(env, list[v1.EnvVariable])
            return command
        case v1.McpServerHttp(url=url, headers=[v1.HttpHeader(name=name), *_]):
            assert_type(name, str)
            return url
        case v1.McpServerHttp(url=url) | v1.McpServerSse(url=url):
            assert_type(url, str)
            return url
        case _:
            assert_never(server)


def by_pattern_with_a_gap(server: McpServer) -> str:
    match server:
        case v1.McpServerStdio(command=command):
            return command
        case v1.McpServerHttp(url=url):
            return url
        case _:
            assert_never(server)  # refused


def by_literal(reason: v1.StopReason) -> bool:
    match reason:
        case "end_turn":
            return True
        case "max_tokens" | "max_turn_requests" | "refusal" | "cancelled":
            return False
        case _:
            assert_never(reason)


def by_open_literal(priority: v2.PlanEntryPriority) -> bool:
    match priority:
        case "high" | "medium" | "low":
            return True
        case _:
            other: str = priority
            never: Literal["high"] = priority  # refused
            print(never)
            return other == "highest"


def by_open_union(update: v1.SessionUpdate) -> str:
    match update:
        case v1.ToolCall(title=title):
            return title
        case v1.UserMessageChunk(content=v1.TextContent(text=text)):
            return text
        case v1.OtherSessionUpdate(session_update=kind):
            print(update.model_extra)
            assert_type(kind, str)
            return kind
        case _:
            return update.session_update


def derived(tagged: v1.UserMessageChunk, bare: v1.ContentChunk) -> None:
    """Use a variant that adds a discriminator to a payload as that payload, which is not possible vice versa."""
    chunk: v1.ContentChunk = tagged
    print(chunk)
    v1.SessionNotification(session_id="s", update=tagged)
    v1.SessionNotification(session_id="s", update=bare)  # refused


class Tagged(v1.NewSessionRequest):
    """A user's own fields are constructor arguments as well."""

    label: str


def own_members() -> None:
    assert_type(decode(Tagged, b"{}").label, str)
    Tagged(cwd="/", mcp_servers=[], label="mine")
    Tagged(cwd="/", mcp_servers=[])  # refused
