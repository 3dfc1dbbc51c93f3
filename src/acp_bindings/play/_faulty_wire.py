"""The wire between the agent and its streams: it spoils lines on their way out, and loses lines on their way in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

import anyio

from acp_bindings._json import items_of, members_of, parsed_members
from acp_bindings.connection._connection import ByteSource
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.play._rude import EXIT, OWN_ID, RUDE, Moment, Place, Rude


class Wire:
    """Both streams of a connection, with the rude behaviour that was asked for."""

    def __init__(
        self, source: ByteSource, sink: ByteSink, *, rude: Collection[str], leave: Callable[[int], Awaitable[object]]
    ) -> None:
        """Wrap *source* and *sink*.

        Args:
            source: the stream from the client.
            sink: the stream to the client.
            rude: the kinds of rude behaviour that last; the client asks for others by `/rude KIND`, which happen once.
            leave: ends the agent with an exit status.
        """
        self.cancelled = anyio.Event()
        """Set when the client cancels a turn, and the agent ignores it."""
        self._inner, self._outer = source, sink
        self._always = [RUDE[each] for each in rude]
        self._once: list[Rude] = []
        self._leave = leave
        self._session = ""
        self._version = 1
        self._open: dict[Any, tuple[str, str]] = {}
        """The method and the session of each open request of the client."""
        self._held: list[bytes] | None = None
        self._rest = b""

    @property
    def _kinds(self) -> list[Rude]:
        return [*self._always, *self._once]

    def is_ignored(self, what: str) -> bool:
        """Return True if the agent ignores it."""
        return any(each.ignores == what for each in self._kinds)

    async def receive(self, _: int = 65536, /) -> bytes:
        """Return the next lines for the agent."""
        while True:
            if self.is_ignored("input"):
                await anyio.sleep_forever()
            try:
                chunk = await self._inner.receive()
            except anyio.EndOfStream:
                if self.is_ignored("end"):
                    await anyio.sleep_forever()
                raise
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            if kept := [line + b"\n" for line in lines if self._hears(line)]:
                return b"".join(kept)

    def _hears(self, line: bytes) -> bool:
        """Note what is in a line of the client. Return False if the agent does not get it."""
        message = parsed_members(line)
        method, id_ = message.get("method"), message.get("id")
        params = members_of(message.get("params"))
        session = params.get("sessionId", self._session)
        if method == "session/prompt":
            texts = (members_of(each).get("text") for each in items_of(params.get("prompt")))
            text = " ".join(each for each in texts if isinstance(each, str))
            command, _, kind = text.strip().partition(" ")
            if command == "/rude" and kind in RUDE:
                self._once.append(RUDE[kind])
                self._session = session
        if method == "session/cancel" and self.is_ignored("cancel"):
            self.cancelled.set()
            return False
        if method in ("session/load", "session/resume") and self._kind_at("session/load", holds=True):
            self._held = []
        if isinstance(method, str) and isinstance(id_, int | float | str):
            self._open[id_] = (method, session)
        return id_ != OWN_ID or method is not None

    def _kind_at(self, place: Place, *, holds: bool = False) -> Rude | None:
        return next((each for each in self._kinds if each.place == place and each.holds >= holds and each.spoil), None)

    async def aclose(self) -> None:
        """Close both streams."""
        try:
            await self._inner.aclose()
        finally:
            await self._outer.aclose()

    async def send(self, data: bytes, /) -> None:
        """Write the lines of the agent, or what takes their place."""
        for line in data.split(b"\n")[:-1]:
            for piece in self._spoiled(line + b"\n"):
                if piece.startswith(EXIT):
                    await self._leave(int(piece.removeprefix(EXIT)))
                else:
                    await self._outer.send(piece)

    def _spoiled(self, line: bytes) -> list[bytes]:
        message = parsed_members(line)
        place, session = self._place_of(message)
        if self._held is not None and place != "session/load" and message.get("method") == "session/update":
            self._held.append(line)
            return []
        pieces = [line]
        # What the agent refuses has nothing to spoil.
        is_refused = "method" not in message and "result" not in message
        if is_refused and place == "session/load":
            pieces, self._held = [*(self._held or []), line], None
        elif place and not is_refused and (kind := self._kind_at(place)) and kind.spoil:
            pieces = [*kind.spoil(Moment(line, message, session, self._version, self._held or []))]
            if kind in self._once:
                self._once.remove(kind)
            self._held = None
        if (kind := self._kind_at("any")) and kind.spoil and not any(each.startswith(b"\0") for each in pieces):
            pieces = [each for piece in pieces for each in kind.spoil(Moment(piece, {}, session, self._version, []))]
        if place == "end":
            self._once = [each for each in self._once if each.ignores != "cancel" and each.place != "any"]
        return pieces

    def _place_of(self, message: dict[str, Any]) -> tuple[Place | None, str]:
        """Return the place of an outgoing line for `Rude.place`, and the id of its session."""
        if message.get("method") == "session/update":
            params = members_of(message.get("params"))
            update = members_of(params.get("update"))
            is_end = update.get("sessionUpdate") == "state_update" and update.get("state") == "idle"
            return ("end" if is_end else None), params.get("sessionId", "")
        id_ = message.get("id")
        if "method" in message or not isinstance(id_, int | float | str) or id_ not in self._open:
            return None, self._session
        method, session = self._open.pop(id_)
        if method == "initialize":
            self._version = members_of(message.get("result")).get("protocolVersion", 1)
        if method == "session/prompt" and self._version == 1 and not self._kind_at("session/prompt"):
            return "end", session
        names: dict[str, Place] = {"session/resume": "session/load"}
        place: Any = names.get(method, method)
        return place, session
