"""Random senders, slow readers and cancellations: the order is preserved, and every waiting task gets its turn."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from acp_bindings import v1
from acp_bindings._processes.pipes import Reader, Writer
from acp_bindings.connection import Connection, Handlers, RequestFailed
from acp_bindings.connection._outbox import Place
from acp_bindings.jsonrpc import REQUEST_CANCELLED

pytestmark = pytest.mark.anyio

STREAMS, SHORT, BEGINS, PINGS, TELLERS = 12, 5, 20, 40, 5
NOTES = 150
"""The number of notifications in a stream."""
AHEAD = 10
"""The number of notifications that a handler sends before it returns, to follow its response, and later from a task."""


class Sluggish:
    """A source that is read in random pieces, with random pauses in which other tasks run."""

    def __init__(self, source: Reader, random: Random) -> None:
        self._source, self._random = source, random

    async def receive(self, max_bytes: int = 65536, /) -> bytes:
        """Return the next piece."""
        for _ in range(self._random.choice([0, 0, 1, 20])):
            await anyio.lowlevel.checkpoint()
        return await self._source.receive(self._random.choice([7, 1000, 30_000]))

    async def aclose(self) -> None:
        """Close it."""
        await self._source.aclose()


class Wire:
    """The lines that one side has written, and the tasks that had to wait for room."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.lines: list[bytes] = []
        self.waits: list[tuple[Place, bytes, int, set[bytes]]] = []
        """For each task that waited: its place and first line, the lines written before, and tasks already waiting."""

    def trace(self, who: str, line: bytes) -> None:
        """Record a line that is sent."""
        if who == "us":
            self.lines.append(line)

    def watch(self, connection: Connection) -> None:
        """Record every task that waits for room from now on."""
        outbox = connection._outbox
        line_up = outbox.line_up

        def noting(*lines: bytes) -> Place:
            ahead = {line for place in outbox._queue for line in place.lines}
            place = line_up(*lines)
            self.waits.append((place, lines[0], len(self.lines), ahead))
            return place

        self._monkeypatch.setattr(outbox, "line_up", noting)

    def barging(self) -> list[bytes]:
        """Return the lines that were written before others that had waited longer."""
        places = {line: place for place, line in enumerate(self.lines)}
        assert len(places) == len(self.lines)
        return [
            line
            for place, first, before, ahead in self.waits
            if place.taken
            for line in self.lines[before : places[first]]
            if line not in ahead and not waits_for_nothing(line)
        ]

    def messages(self) -> list[dict[str, Any]]:
        """Return everything that was written."""
        return [json.loads(line) for line in self.lines]


def waits_for_nothing(line: bytes) -> bool:
    """Return True if the line never waits for room: a cancellation, or the response of an exclusive handler."""
    return b"$/cancel_request" in line or b'"result":"settle' in line


class Talk:
    """A random conversation of an agent and a client, reproducible by its seed."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.random = Random(seed)
        self.agent_wire, self.client_wire = Wire(monkeypatch), Wire(monkeypatch)
        self.heard: list[tuple[str, int]] = []
        """The notifications that the client's handler received: the sender and its number."""
        self.told: dict[str, list[int]] = defaultdict(list)
        """The numbers of the notifications that the agent's handler received, by sender."""
        self.outcomes: dict[str, Any] = {}
        """The result of each request of the client, or its error code."""
        self.given_up: set[str] = set()

    async def pause(self, *turns: int) -> None:
        """Let other tasks run."""
        for _ in range(self.random.choice(turns)):
            await anyio.lowlevel.checkpoint()

    def agent(self, tasks: TaskGroup) -> Handlers:
        handlers, random = Handlers(), self.random

        @handlers.on("_acme/stream")
        async def stream(name: Any, connection: Connection) -> Any:
            size = random.choice([10, 1000, 20_000])
            for number in range(NOTES):
                await connection.notify([name, number, "x" * size], method="_acme/note")
                await self.pause(0, 0, 0, 0, 1)
                if random.random() < 0.05:
                    assert await connection.request([name, number], method="_acme/back") == [name, number]
            return name

        @handlers.on("_acme/begin")
        async def begin(name: Any, connection: Connection) -> Any:
            async def follow(numbers: range) -> None:
                for number in numbers:
                    await connection.notify([name, number, ""], method="_acme/note", after_response=True)
                    await self.pause(0, 1)

            await follow(range(AHEAD))
            tasks.start_soon(follow, range(AHEAD, 2 * AHEAD))
            await self.pause(0, 5)
            return name

        @handlers.on("_acme/ping")
        def ping(name: Any, connection: Connection) -> Any:
            return name + "y" * random.choice([1, 1000, 100_000])

        @handlers.on("_acme/settle", exclusive=True)
        async def settle(name: Any, connection: Connection) -> Any:
            await self.pause(0, 1, 5)
            return name

        @handlers.on("_acme/told")
        async def told(params: Any, connection: Connection) -> None:
            await self.pause(0, 0, 1)
            self.told[params[0]].append(params[1])

        return handlers

    def client(self) -> Handlers:
        handlers = Handlers()

        @handlers.on("_acme/note")
        async def note(params: Any, connection: Connection) -> None:
            self.heard.append((params[0], params[1]))
            await self.pause(*[0] * 50, 1)

        @handlers.on("_acme/back")
        async def back(params: Any, connection: Connection) -> Any:
            await self.pause(0, 1, 5)
            return params

        return handlers

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Connection]:
        """Open the client's end of a connection over pipes with slow readers."""
        (to_agent, from_client), (to_client, from_agent) = os.pipe(), os.pipe()
        os.set_blocking(from_agent, False)
        os.set_blocking(from_client, False)
        async with (
            anyio.create_task_group() as tasks,
            Connection(
                Sluggish(Reader(to_agent), self.random),
                Writer(from_agent),
                protocol=v1,
                role="agent",
                handlers=self.agent(tasks),
                trace=self.agent_wire.trace,
                most_requests=self.random.choice([3, 20, 1000]),
            ) as agent,
            Connection(
                Sluggish(Reader(to_client), self.random),
                Writer(from_client),
                protocol=v1,
                role="client",
                handlers=self.client(),
                trace=self.client_wire.trace,
            ) as client,
        ):
            self.agent_wire.watch(agent)
            self.client_wire.watch(client)
            yield client

    async def run(self) -> None:
        """Send everything at the same time, and wait until all of it has arrived."""
        async with self.connected() as client:
            work = [
                *(partial(self.ask, client, "stream", number) for number in range(STREAMS)),
                *(partial(self.ask_for_short, client, number, self.random.randrange(2000)) for number in range(SHORT)),
                *(partial(self.ask, client, "begin", number) for number in range(BEGINS)),
                *(partial(self.ask, client, "ping", number) for number in range(PINGS)),
                *(partial(self.ask, client, "settle", number) for number in range(5)),
                *(partial(self.tell, client, number) for number in range(TELLERS)),
            ]
            self.random.shuffle(work)
            async with anyio.create_task_group() as tasks:
                for each in work:
                    tasks.start_soon(each)
                    await self.pause(0, 0, 10)
            # What comes behind everything else.
            await client.request("last", method="_acme/ping")

    async def ask(self, client: Connection, method: str, number: int, *, name: str | None = None) -> None:
        name = name or f"{method} {number}"
        try:
            self.outcomes[name] = await client.request(name, method=f"_acme/{method}")
        except RequestFailed as error:
            self.outcomes[name] = error.code

    async def ask_for_short(self, client: Connection, number: int, patience: int) -> None:
        """Request a stream, and cancel it after this many notifications of any stream."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self.ask, client, "stream", number, name=f"short {number}"))
            while len(self.heard) < patience:
                await anyio.lowlevel.checkpoint()
            self.given_up.add(f"short {number}")
            tasks.cancel_scope.cancel()

    async def tell(self, client: Connection, number: int) -> None:
        for note in range(NOTES):
            text = "z" * self.random.choice([1, 5000])
            await client.notify([f"told {number}", note, text], method="_acme/told")


@pytest.mark.parametrize("seed", range(5))
async def test_concurrent_senders_keep_their_order_and_none_starves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk(seed, monkeypatch)
    with anyio.fail_after(120):
        await talk.run()
    nobody_is_passed_over(talk)
    all_is_handled_in_order(talk)
    each_request_has_one_response_and_what_follows_it(talk)


def nobody_is_passed_over(talk: Talk) -> None:
    assert talk.agent_wire.barging() == []
    assert talk.client_wire.barging() == []
    # There was something to be seen.
    assert sum(place.taken for place, *_ in talk.agent_wire.waits) > 100


def all_is_handled_in_order(talk: Talk) -> None:
    notes = [each["params"] for each in talk.agent_wire.messages() if each.get("method") == "_acme/note"]
    assert talk.heard == [(name, number) for name, number, _ in notes]
    numbers: dict[str, list[int]] = defaultdict(list)
    for name, number in talk.heard:
        numbers[name].append(number)
    wanted = {f"stream {each}": NOTES for each in range(STREAMS)} | {
        f"begin {each}": 2 * AHEAD for each in range(BEGINS)
    }
    assert {name: seen for name, seen in numbers.items() if name in wanted} == {
        name: list(range(count)) for name, count in wanted.items()
    }
    for name in talk.given_up & numbers.keys():
        assert numbers[name] == list(range(len(numbers[name])))
    assert talk.told == {f"told {each}": list(range(NOTES)) for each in range(TELLERS)}


def each_request_has_one_response_and_what_follows_it(talk: Talk) -> None:
    asked = {each["id"]: each["params"] for each in talk.client_wire.messages() if "method" in each and "id" in each}
    said = talk.agent_wire.messages()
    answered = {each["id"]: each for each in said if "method" not in each}
    assert len(answered) == sum("method" not in each for each in said)
    assert answered.keys() == asked.keys()
    for id_, name in asked.items():
        if "error" in answered[id_]:
            assert name in talk.given_up
            assert answered[id_]["error"]["code"] == REQUEST_CANCELLED
        else:
            assert answered[id_]["result"].startswith(name)
    for place, each in enumerate(said):
        if "begin" in str(each.get("result")):
            behind = [after["params"][:2] for after in said[place + 1 :][:AHEAD]]
            assert behind == [[each["result"], number] for number in range(AHEAD)]
