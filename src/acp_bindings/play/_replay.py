"""Replays a recording: sends what the agent has said in it, and waits for what the client has said."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic_core import from_json

from acp_bindings._json import members_of
from acp_bindings.check._conversation import Conversation
from acp_bindings.check._inputs import Document, Unusable, is_message, read_input
from acp_bindings.connection import Connection, Handlers
from acp_bindings.connection._connection import ByteSource, Trace
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.connection._stdio import standard_streams
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import INTERNAL_ERROR
from acp_bindings.setup import OPENING


class RecordingError(AcpError, ValueError):
    """A recording cannot be replayed. The argument is the reason."""


class _Event(NamedTuple):
    from_client: bool
    text: bytes
    message: dict[str, Any]
    """The message; empty for a line that is not one."""


class Replay:
    """An agent that says what the agent of a recording has said.

        with open("talk.ndjson", "rb") as recording:
            replay = Replay(recording)
        async with Client("editor", version="1.0").connect(replay.connected()) as agent: ...

    Each message of the agent is sent when the messages of the client before it have arrived, in any order. They are
    recognized by their methods. Responses get the ids of the requests that have arrived.
    """

    def __init__(self, recording: Iterable[bytes]) -> None:
        """Read a recording: any conversation that `acp-bindings check` reads, with an event for its end.

        Raises:
            RecordingError: it cannot be read, or the agent says nothing in it.
        """
        lines = [*recording]
        self._status = next((each for each in map(_status_of, lines) if each is not None), 0)
        try:
            found = read_input(lines)
        except Unusable as error:
            raise RecordingError(str(error)) from None
        if isinstance(found, Document):
            raise RecordingError("it is one document, not a recording with a message on each line")
        conversation = Conversation(None)
        self._events: list[_Event] = []
        for number, line in found:
            observed = conversation.hear(line, number=number)
            conversation.take(observed)
            # Other objects are events of the recorder, such as a line of standard error.
            if observed.sender and (line.at or line.value is None or is_message(line.value)):
                self._events.append(_Event(observed.sender == "client", line.text, members_of(line.value)))
        if all(each.from_client for each in self._events):
            raise RecordingError("the agent says nothing in it; does it have both sides?")

    def run(self) -> int:
        """Serve the client that started this process, and return the exit status of the recorded agent."""
        anyio.run(self.serve)
        return self._status

    async def serve(self) -> None:
        """Serve the client that started this process, over standard input and output."""
        with standard_streams() as (source, sink):
            await self.serve_over(source, sink)

    @asynccontextmanager
    async def connected(self, *, trace: Trace | None = None) -> AsyncGenerator[Connection]:
        """Serve one client in this process, and yield its connection, for tests of your client.

        Args:
            trace: called with the sender and each line, as for `Connection`.
        """
        to_agent, from_client = anyio.create_memory_object_stream[bytes](100)
        to_client, from_agent = anyio.create_memory_object_stream[bytes](100)
        source = BufferedByteReceiveStream(from_agent)
        async with (
            anyio.create_task_group() as tasks,
            Connection(source, to_agent, protocol=OPENING, role="client", handlers=Handlers(), trace=trace) as client,
        ):
            tasks.start_soon(self.serve_over, BufferedByteReceiveStream(from_client), to_client)
            yield client

    async def serve_over(self, source: ByteSource, sink: ByteSink) -> None:
        """Serve one client over two byte streams, until it leaves."""
        client = _Listener(source, sink, Counter(filter(None, map(_key, self._events))))
        try:
            for event in self._events:
                if event.from_client:
                    await client.expect(event)
                else:
                    await sink.send(client.readdressed(event) + b"\n")
            # A process that has failed does not wait for the client.
            while not self._status:
                await client.listen()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
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

    async def expect(self, event: _Event) -> None:
        """Wait for the message of the client that is like *event*."""
        key = _key(event)
        if not key:
            return
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
            key = _key(_Event(from_client=True, text=line, message=message))
            if key and self._expected[key]:
                self._expected[key] -= 1
                self._arrived.append((key, message))
            elif "method" in message and "id" in message:
                sys.stderr.write(f"the recording has no other {message['method']}\n")
                error = {"code": INTERNAL_ERROR, "message": f"The recording has no other {message['method']}"}
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                await self._sink.send(json.dumps(answer).encode() + b"\n")

    def readdressed(self, event: _Event) -> bytes:
        """Return a line of the agent; a response with the id of the request that has arrived."""
        key = json.dumps(event.message.get("id"))
        if "method" in event.message or key not in self._ids:
            return event.text
        return json.dumps({**event.message, "id": self._ids[key]}, ensure_ascii=False, separators=(",", ":")).encode()


def _key(event: _Event) -> str | None:
    """Return what makes a message of the client recognizable: its method, or the request that it answers."""
    message = event.message
    if not event.from_client or not message:
        return None
    if "method" in message:
        return f"{'request' if 'id' in message else 'notification'} {message['method']}"
    return f"response {json.dumps(message.get('id'))}"


def _status_of(line: bytes) -> int | None:
    try:
        return members_of(members_of(from_json(line)).get("end")).get("exitStatus")
    except ValueError:
        return None
