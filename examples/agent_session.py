"""One session of the agent while it is open: its MCP servers, the prompt being answered, what the client is told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import anyio
from agent_store import Store
from anyio.abc import TaskStatus
from pydantic_core import from_json

import mcp_launch
from acp_bindings import decode, encode, v1
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.jsonrpc import INVALID_REQUEST, ProtocolPackage
from acp_bindings.setup import ClientPeer, RequestError, Roots

if TYPE_CHECKING:
    from acp_bindings.setup.unions import SessionUpdate


class Session:
    """A conversation with a client, written in v1 and told in the words of whichever version is spoken."""

    fleet: mcp_launch.Fleet

    def __init__(self, info: v1.SessionInfo, *, client: ClientPeer, connection: Connection, store: Store) -> None:
        self.info = info
        self.client = client
        self.connection = connection
        self.roots = Roots(info.cwd, *info.additional_directories)
        self._store = store
        self.prompt: anyio.CancelScope | None = None
        """What `cancel` ends; there while a prompt is being answered."""
        self._idle = anyio.Event()
        self._closing, self._closed = anyio.Event(), anyio.Event()

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.session_id

    async def run(self, servers: Iterable[object], *, task_status: TaskStatus[None]) -> None:
        """Keep its MCP servers, which are its own, until it is closed; it is started when each works or has failed."""
        try:
            async with mcp_launch.launch(servers, cwd=self.info.cwd) as self.fleet:
                task_status.started()
                await self._closing.wait()
                if self.prompt:
                    await self._idle.wait()
        finally:
            self._closed.set()

    async def close(self) -> None:
        """Cancel what is being done, and free what it holds."""
        self.cancel()
        self._closing.set()
        await self._closed.wait()

    def cancel(self) -> None:
        """Cancel the prompt that is being answered, if one is."""
        if self.prompt:
            self.prompt.cancel()

    def begin(self, *said: SessionUpdate) -> None:
        """Take a prompt and write it to the history; there is one at a time, until `end`."""
        if self.prompt or self._closing.is_set():
            raise RequestError(INVALID_REQUEST, "the session is busy with another prompt; cancel it, or wait")
        self.keep(*said)
        self.prompt, self._idle = anyio.CancelScope(), anyio.Event()

    def end(self) -> None:
        """The prompt is answered, and the client was told so."""
        self.prompt = None
        self._idle.set()

    def keep(self, *updates: SessionUpdate) -> None:
        """Write to the history."""
        self._store.append(self.info, *updates)

    async def tell(self, update: SessionUpdate) -> None:
        """Keep an update, and send it; a client that has gone will find it in the history."""
        self.keep(update)
        await self.send(update)

    async def send(self, update: SessionUpdate, *, after_response: bool = False) -> None:
        """Send an update that is for the moment."""
        wire: Any = self.connection.protocol
        type_: Any = wire.METHODS["session/update"].notification.params
        said = in_words_of(self.connection.protocol, update)
        with contextlib.suppress(ConnectionClosed):
            await self.connection.notify(type_(session_id=self.id, update=said), after_response=after_response)

    async def tell_failures(self, *, after_response: bool = False) -> None:
        """Tell of the MCP servers that do not work, in a way that the client knows."""
        for failure in self.fleet.failures:
            text = f"MCP server {failure}"
            if self.client.supports("notices"):
                update: SessionUpdate = v1.Notice(severity="warning", title=text)
            else:
                update = v1.AgentMessageChunk(content=v1.TextContent(text=f"{text}\n"))
            await self.send(update, after_response=after_response)


def in_words_of(protocol: ProtocolPackage, update: SessionUpdate) -> SessionUpdate:
    """What is said in v1 as *protocol* has it; v2 has no `tool_call`, since the first update makes one."""
    said: dict[str, Any] = from_json(encode(update))
    if not hasattr(protocol, "ToolCall") and said["sessionUpdate"] == "tool_call":
        said["sessionUpdate"] = "tool_call_update"
    wire: Any = protocol
    found: SessionUpdate = decode(wire.SessionUpdate, said)
    return found
