"""A client that only writes and reads lines, for agents that break the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings._json import members_of
from acp_bindings.check import Check, Found
from acp_bindings.play import Play, Replay

CAPABILITIES: dict[int, dict[str, Any]] = {
    1: {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "elicitation": {"form": {}, "url": {}},
        "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    },
    2: {"elicitation": {"form": {}, "url": {}}},
}
YES: dict[str, Any] = {
    "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "allow"}},
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "fs/read_text_file": {"content": "text"},
    "fs/write_text_file": {},
    "terminal/create": {"terminalId": "t1"},
    "terminal/wait_for_exit": {"exitCode": 0},
    "terminal/output": {"output": "Hello\n", "truncated": False, "exitStatus": {"exitCode": 0}},
    "terminal/kill": {},
    "terminal/release": {},
}
"""The responses to the requests of the agent."""


class Raw:
    """One conversation, line by line."""

    def __init__(self, version: int, source: Any, sink: Any) -> None:
        self.version = version
        self.recording: list[bytes] = []
        self.said: list[bytes] = []
        """The lines of the agent."""
        self.silent: set[str] = set()
        """The methods of the agent that get no response."""
        self._source, self._sink = source, sink
        self.ids = 0
        self._terminals = 0
        self._rest = b""
        self._lines: list[bytes] = []

    async def send(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.recording.append(json.dumps({"from": "client", "message": line.decode()}).encode())
        await self._sink.send(line + b"\n")

    async def request(self, method: str, **params: Any) -> int:
        self.ids += 1
        await self.send(id=self.ids, method=method, params=params)
        return self.ids

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request, and return the response."""
        id_ = await self.request(method, **params)
        while True:
            if (message := await self.hear()).get("id") == id_ and "method" not in message:
                return message

    async def hear(self) -> dict[str, Any]:
        """Return the next message of the agent, after answering it. Lines that are not messages are skipped."""
        while True:
            line = await self._line()
            self.said.append(line)
            try:
                message: Any = json.loads(line)
                self.recording.append(json.dumps({"from": "agent", "message": line.decode()}).encode())
            except ValueError:
                self.recording.append(line)
                continue
            if found := members_of(message):
                await self._answer(found)
                return found

    async def hear_all(self) -> None:
        """Close the input, and read to the end."""
        await self._sink.aclose()
        try:
            while True:
                await self.hear()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            pass

    async def initialize(self) -> dict[str, Any]:
        if self.version == 1:
            params: Any = {"clientCapabilities": CAPABILITIES[1], "clientInfo": {"name": "raw", "version": "1"}}
        else:
            params = {"capabilities": CAPABILITIES[2], "info": {"name": "raw", "version": "1"}}
        response: dict[str, Any] = await self.ask("initialize", protocolVersion=self.version, **params)
        return response

    async def new_session(self, cwd: str = "/tmp") -> str:
        response = await self.ask("session/new", cwd=cwd, mcpServers=[])
        id_: str = response["result"].get("sessionId", "")
        return id_

    async def load(self, session: str) -> Any:
        load: dict[str, Any] = {"sessionId": session, "cwd": "/tmp", "mcpServers": []}
        if self.version == 1:
            return await self.ask("session/load", **load)
        return await self.ask("session/resume", **load, replayFrom={"type": "start"})

    async def prompt(self, session: str, text: str) -> int:
        return await self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    async def turn(self, session: str, text: str) -> Any:
        """Send a prompt, and return the line that ends the turn."""
        return await self.end_of(await self.prompt(session, text))

    async def end_of(self, id_: int) -> Any:
        """Return the line that ends the turn of a prompt."""
        while True:
            message = await self.hear()
            is_response = message.get("id") == id_ and "method" not in message
            update = message.get("params", {}).get("update", {})
            if update.get("state") == "idle" or (is_response and (self.version == 1 or "error" in message)):
                return message

    def findings(self) -> list[Found]:
        return list(Check(self.recording))

    async def _line(self) -> bytes:
        while not self._lines:
            try:
                chunk = await self._source.receive()
            except anyio.EndOfStream:
                if not self._rest:
                    raise
                chunk = b"\n"
            *self._lines, self._rest = (self._rest + chunk).split(b"\n")
        return self._lines.pop(0)

    async def _answer(self, message: dict[str, Any]) -> None:
        method, id_ = message.get("method"), message.get("id")
        if method is None or id_ is None or method in self.silent:
            return
        if method in YES:
            result = YES[method]
            if method == "terminal/create":
                self._terminals += 1
                result = {"terminalId": f"t{self._terminals}"}
            if method == "session/request_permission":
                result = {"outcome": {"outcome": "selected", "optionId": message["params"]["options"][0]["optionId"]}}
            await self.send(id=id_, result=result)
        else:
            await self.send(id=id_, error={"code": -32601, "message": "Method not found"})


@asynccontextmanager
async def raw_client(agent: Play | Replay, version: int) -> AsyncGenerator[Raw]:
    """Connect a raw client to *agent*."""
    to_agent, from_client = anyio.create_memory_object_stream[bytes](1000)
    to_client, from_agent = anyio.create_memory_object_stream[bytes](1_000_000)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve_over, BufferedByteReceiveStream(from_client), to_client)
        with from_agent, to_agent:
            yield Raw(version, BufferedByteReceiveStream(from_agent), to_agent)
        tasks.cancel_scope.cancel()


def messages_in(recording: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the messages of a recording."""
    return [json.loads(json.loads(line)["message"]) for line in recording]
