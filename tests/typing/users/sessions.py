"""Code of users of `acp_bindings.setup` for sessions: checkers accept all lines except those marked as refused."""

from pathlib import Path
from typing import Any, Literal, assert_type

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.connection import Connection
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import (
    AgentPeer,
    History,
    NotAbsolute,
    Remark,
    ReplayCollector,
    Roots,
    SessionRecord,
    Update,
    list_sessions,
    load_session,
    new_session,
    require_absolute,
    resolve_command,
    servers_for,
    servers_remarks,
)

AnyServer = v1.McpServerHttp | v1.McpServerSse | v1.McpServerStdio
AnyNew = v1.NewSessionRequest | v1_unstable.NewSessionRequest | v2.NewSessionRequest | v2_unstable.NewSessionRequest


def asking(agent: AgentPeer, server: v1.McpServer, other: v2.McpServer, raw: dict[str, Any]) -> None:
    request = new_session(agent, cwd="/", mcp_servers=[server, other, raw], additional_directories=["/a", Path("/b")])
    assert_type(request, AnyNew)
    if isinstance(request, v1.NewSessionRequest):
        assert_type(request.mcp_servers, list[AnyServer])
    new_session(agent, cwd=Path("/"), mcp_servers=servers_for(agent.protocol, [raw]), flavour="windows", meta=raw)
    new_session(agent, cwd="/", assume={"mcp.http"})
    new_session(agent, cwd="/", mcp_servers=[5])  # refused
    new_session(agent, cwd="/", flavour="dos")  # refused
    list_sessions(agent, cursor=5)  # refused
    assert_type(servers_for(v1, [server]), list[AnyServer])
    v2.NewSessionRequest(cwd="/", mcp_servers=servers_for(v2, [server]))


async def asking_one_version(agent: AgentPeer, connection: Connection) -> str | None:
    """The class of the request, once known, determines the class and the fields of the response."""
    request = new_session(agent, cwd="/")
    if not isinstance(request, v1.NewSessionRequest):
        return None
    answer = await connection.request(request)
    assert_type(answer, v1.NewSessionResponse)
    print(answer.replay_from)  # refused
    return answer.modes.current_mode_id if answer.modes else None


def coming_back(agent: AgentPeer, record: SessionRecord, info: v1.SessionInfo) -> str | None:
    load_session(agent, record, mcp_servers=[])
    load_session(agent, "sess_1")  # refused
    record.cwd = "/"  # refused
    SessionRecord("s", "/")  # refused
    assert_type(SessionRecord.from_json("{}").to_json(), dict[str, Any])
    assert_type(record.load_remarks(listed=[info]), list[Remark])
    SessionRecord.of_listed(info)  # refused
    match load_session(agent, record):
        case v1.LoadSessionRequest(cwd=cwd):
            return cwd
        case v2.ResumeSessionRequest(replay_from=start):
            return start.type if start else None
        case other:
            return other.session_id


def collecting(agent: AgentPeer, record: SessionRecord, notification: v1.SessionNotification) -> None:
    updates: ReplayCollector[v1.SessionNotification] = ReplayCollector(keep=10)
    updates.expect(load_session(agent, record))
    updates.expect(new_session(agent, cwd="/"))  # refused
    assert_type(updates.receive(notification), list[Update[v1.SessionNotification]])
    assert_type(updates.opened("s"), tuple[v1.SessionNotification, ...])
    updates.receive(v2.UpdateSessionNotification(session_id="s", update=v2.SessionStateUpdateIdle()))  # refused
    both: ReplayCollector[v1.SessionNotification | v2.UpdateSessionNotification] = ReplayCollector()
    both.receive(notification)
    strange: ReplayCollector[str] = ReplayCollector()  # refused
    print(strange)


def replaying(prompt: v1.PromptRequest, remarks: list[Remark]) -> None:
    history = History.read(v1, ["{}"], remarks=remarks)
    assert_type(history, History[v1.SessionNotification])
    history.add_prompt(prompt)
    history.add(v1.AgentMessageChunk(content=v1.TextContent(text="Hi")))
    for notification in history.replay("s"):
        assert_type(notification.session_id, str)
    assert_type(next(history.replay("s")), v1.SessionNotification)
    history.add(prompt)  # refused


def replaying_v2(prompt: v2.PromptRequest) -> None:
    """The params of `session/update` have another name in v2."""
    history = History(v2)
    history.add_prompt(prompt, message_id="m")
    assert_type(next(history.replay("s")), v2.UpdateSessionNotification)


def replaying_either(protocol: ProtocolPackage, prompt: v1.PromptRequest | v2.PromptRequest) -> None:
    """Use the history of a package that is only known at run time, which has the types of all packages."""
    chunk = History(protocol).add_prompt(prompt, message_id="m")[0]
    if isinstance(chunk, v1.UserMessageChunk):
        assert_type(chunk.message_id, str | None)
    for notification in History.read(protocol, ["{}"]).replay("s"):
        assert_type(notification.session_id, str)
    servers: list[v1.McpServer] = servers_for(protocol, [])  # refused
    print(servers)


def paths(remark: Remark) -> None:
    assert_type(require_absolute(Path("/")), str)
    assert_type(resolve_command("npx", cwd="/"), str)
    assert_type(Roots("/", Path("/a")).resolve("b"), Path)
    assert_type(remark.severity, Literal["error", "warning", "info"])
    servers_remarks([{"name": "s"}], version=2, flavour="posix")
    try:
        require_absolute(b"/")  # refused
    except NotAbsolute as error:
        assert_type(error.path, str)
