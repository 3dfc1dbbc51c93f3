"""Observes what an agent does with one MCP server, by the messages between them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection
from typing import Any

from mcp_types import PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from acp_bindings._json import items_of, members_of
from mcp_launch.report import Stage

OPENING = ("initialize", "server/discover")
_LISTS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}


class Observer:
    """Follows the messages of one connection, and reports what the agent has started, listed and called."""

    def __init__(self, tell: Callable[..., object], *, refused: Callable[[], object]) -> None:
        """Start before the first message.

        Args:
            tell: called with the name of an event and its facts.
            refused: called if no client can accept the response to `initialize`, unless `server/discover` has succeeded
                meanwhile; and if a server that has tools does not list them.
        """
        self._tell = tell
        self._refused = refused
        self._pending: dict[Any, tuple[str, float, Any]] = {}
        self._began = time.monotonic()
        self._opened: dict[str, Any] | None = None
        """The result of the handshake."""
        self._opened_at = -math.inf
        self.started = False
        """True if the agent has accepted the handshake."""

    @property
    def seconds(self) -> float:
        """Seconds since the agent connected."""
        return time.monotonic() - self._began

    @property
    def is_listing(self) -> bool:
        """True if the agent waits for a list."""
        return any(method in _LISTS for method, _, _ in self._pending.values())

    @property
    def stage(self) -> Stage:
        """The stage that the agent has reached."""
        return "list" if self.is_listing else "call" if self.started else "handshake"

    def sent(self, text: bytes) -> list[str | int]:
        """Follow a message of the agent, and return the ids of its requests."""
        ids: list[str | int] = []
        for message in _messages(text):
            method, number = message.get("method"), message.get("id")
            if method not in (None, *OPENING):
                self._accepted(members_of(members_of(message.get("params")).get("_meta")))
            if isinstance(method, str) and isinstance(number, str | int):
                self._pending[number] = method, time.monotonic(), members_of(message.get("params")).get("name")
                ids.append(number)
        return ids

    def waits_for(self, ids: Collection[str | int] | None = None) -> bool:
        """Return True if one of these requests, or of all, is `initialize` or a list, and has no response."""
        waiting = (each for number, each in self._pending.items() if ids is None or number in ids)
        return any(method in _LISTS or self._is_needed(method, began) for method, began, _ in waiting)

    def _is_needed(self, method: str, began: float) -> bool:
        """Return True for `initialize`, unless `server/discover` was answered after it was sent."""
        return method == "initialize" and began >= self._opened_at

    def received(self, text: bytes) -> None:
        """Follow a message of the server."""
        for message in _messages(text):
            number = message.get("id")
            if "method" in message or not isinstance(number, str | int) or number not in self._pending:
                continue
            method, began, name = self._pending.pop(number)
            result, error = members_of(message.get("result")), members_of(message.get("error"))
            if method in OPENING:
                self._answered(method, began, result)
            elif method == "tools/list" and error and "tools" in members_of((self._opened or {}).get("capabilities")):
                self._refused()
            elif method in _LISTS and not error:
                items = [members_of(each).get("name") for each in items_of(result.get(_LISTS[method]))]
                self._tell("listed", **{_LISTS[method]: items})
            elif method == "tools/call":
                facts = {"error": error.get("message")} if error else {"isError": result.get("isError", False)}
                self._tell("called", tool=name, seconds=round(time.monotonic() - began, 3), **facts)

    def _answered(self, method: str, began: float, result: dict[str, Any]) -> None:
        is_valid = isinstance(result.get("capabilities"), dict)
        if method == "initialize":
            is_valid = is_valid and result.get("protocolVersion") in HANDSHAKE_PROTOCOL_VERSIONS
            is_valid = is_valid and isinstance(members_of(result.get("serverInfo")).get("name"), str)
        if is_valid:
            self._opened, self._opened_at = result, time.monotonic()
        elif self._is_needed(method, began):
            self._refused()

    def _accepted(self, meta: dict[str, Any]) -> None:
        if not self.started and self._opened is not None:
            self.started = True
            # Without a handshake, each request has the version, and each result names the server.
            info = members_of(self._opened.get("_meta")).get(SERVER_INFO_META_KEY)
            known = {"protocolVersion": meta.get(PROTOCOL_VERSION_META_KEY), "serverInfo": info, **self._opened}
            about = {name: known[name] for name in ("protocolVersion", "serverInfo") if known[name] is not None}
            self._tell("started", seconds=round(self.seconds, 3), **about)


def _messages(text: bytes) -> list[dict[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [members_of(each) for each in (items_of(value) or [value])]
