"""Replays a recording: sends what the agent has said in it, and waits for what the client has said."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import anyio
from pydantic_core import from_json

from acp_bindings._json import members_of
from acp_bindings.check._conversation import Conversation
from acp_bindings.connection._connection import ByteSource
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.jsonrpc import INTERNAL_ERROR
from acp_bindings.play._served import Served
from acp_bindings.recordings import read_recording

_PATIENCE = 5.0
"""Seconds until a message of the client is missed, if it has sent another one."""


class _Event(NamedTuple):
    from_client: bool
    text: bytes
    message: dict[str, Any]
    """The message; empty for a line that is not one."""
    line: int
    """Its line in the recording."""


class Replay(Served):
    """An agent that says what the agent of a recording has said.

        with open("talk.ndjson", "rb") as recording:
            replay = Replay(recording)
        async with Client("editor", version="1.0").connect(replay.connected()) as agent: ...

    Each message of the agent is sent when the messages of the client before it have arrived, in any order. They are
    recognized by their methods. Responses get the ids of the requests that have arrived.
    """

    def __init__(self, recording: Iterable[bytes]) -> None:
        """Read a recording with one message on each line: one of `acp-bindings tap`, or only the messages.

        Raises:
            ValueError: it has no messages from the agent.
        """
        conversation = Conversation(None)
        self._status = 0
        self._events: list[_Event] = []
        for number, _, event, about, line in read_recording(recording):
            if event == "end":
                self._status = members_of(about).get("exitStatus") or 0
            if event is None:
                observed = conversation.hear(line, number=number)
                conversation.take(observed)
                if observed.sender is None and line.value is not None:
                    continue
                self._events.append(_Event(observed.sender == "client", line.text, members_of(line.value), number))
        if not any(each.message and not each.from_client for each in self._events):
            raise ValueError("no line is a message from the agent; a recording has one message on each line")

    def run(self) -> int:
        """Serve the client that started this process, and return the exit status of the recorded agent."""
        anyio.run(self.serve)
        return self._status

    async def serve_over(self, source: ByteSource, sink: ByteSink) -> None:
        """Serve one client over two byte streams, until it leaves."""
        expected = Counter(_key(each.message) for each in self._events if each.from_client)
        client = _Listener(source, sink, expected)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.watch)
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    for event in self._events:
                        if event.from_client:
                            await client.expect(event)
                        else:
                            await sink.send(client.readdressed(event) + b"\n")
                    # A process that has failed does not wait for the client.
                    while not self._status:
                        await client.listen()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await source.aclose()
                await sink.aclose()


class _Listener:
    """The messages of the client, as they arrive."""

    def __init__(self, source: ByteSource, sink: ByteSink, expected: Counter[str]) -> None:
        self._source, self._sink = source, sink
        self._expected = expected
        """How many messages of each kind the recording still has."""
        self._arrived: list[tuple[str, dict[str, Any]]] = []
        self._ids: dict[str, Any] = {}
        """The ids of the requests that have arrived, by those in the recording."""
        self._rest = b""
        self._awaited: _Event | None = None
        """The last message that the recording had to wait for."""

    async def watch(self) -> None:
        """Say what the recording has next, if the client has sent something else and nothing more follows."""
        while True:
            awaited, arrived = self._awaited, [*self._arrived]
            await anyio.sleep(_PATIENCE)
            if arrived and awaited and (awaited, arrived) == (self._awaited, self._arrived):
                sent = ", ".join(f"the {key}" for key, _ in arrived)
                where = f"line {awaited.line} of the recording"
                sys.stderr.write(f"waiting for the {_key(awaited.message)} ({where}); the client has sent {sent}\n")

    async def expect(self, event: _Event) -> None:
        """Wait for the message of the client that is like *event*."""
        if not (key := _key(event.message)):
            return
        self._awaited = event
        while (found := next((each for each in self._arrived if each[0] == key), None)) is None:
            await self.listen()
        self._arrived.remove(found)
        if "id" in event.message and "method" in event.message:
            self._ids[json.dumps(event.message["id"])] = found[1].get("id")

    async def listen(self) -> None:
        """Read what has arrived. A request that the recording does not have is answered with an error."""
        *lines, self._rest = (self._rest + await self._source.receive()).split(b"\n")
        for line in lines:
            try:
                message = members_of(from_json(line))
            except ValueError:
                continue
            key = _key(message)
            if key and self._expected[key]:
                self._expected[key] -= 1
                self._arrived.append((key, message))
            elif "method" in message and "id" in message:
                sys.stderr.write(f"the recording has no further request {message['method']}\n")
                error = {"code": INTERNAL_ERROR, "message": f"The recording has no further request {message['method']}"}
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                await self._sink.send(json.dumps(answer).encode() + b"\n")

    def readdressed(self, event: _Event) -> bytes:
        """Return a line of the agent; a response with the id of the request that has arrived."""
        key = json.dumps(event.message.get("id"))
        if "method" in event.message or key not in self._ids:
            return event.text
        return json.dumps({**event.message, "id": self._ids[key]}, ensure_ascii=False, separators=(",", ":")).encode()


def _key(message: dict[str, Any]) -> str:
    """Return what makes a message of the client recognizable: its method, or the request that it answers."""
    if not message:
        return ""
    if "method" in message:
        return f"{'request' if 'id' in message else 'notification'} {message['method']}"
    return f"response to {json.dumps(message.get('id'))}"
