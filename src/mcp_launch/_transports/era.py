"""Limit the wait for the newer era: a server that does not respond to the probe in time is treated as an older one.

The SDK first sends `server/discover` and waits ten seconds for the response. Servers that ignore unknown requests would
cost each user those ten seconds. So the wait ends earlier, with an error after which the SDK sends `initialize`.

The wait begins when the server has read the probe. Until then it is still starting, or a login is in progress. Both may
take seconds, and continuing would fail with a server that only supports the newer era. So the SDK's ten seconds do not
apply.

A slow server, or one whose input is buffered as by `docker run`, may still support only the newer era. It then refuses
the handshake, or responds to the probe late and not to the handshake, and is probed once more. A server that lost the
probe and does not respond to the handshake fails when its budget is exceeded.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp.shared.dispatcher import CallOptions
from mcp_types import REQUEST_TIMEOUT, UNSUPPORTED_PROTOCOL_VERSION, ErrorData
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

T = TypeVar("T")

_LOOK = 0.05
"""Seconds between checks whether the server has read the probe, which the system does not report."""


class Probe:
    """The requests that open a session whose era is not known."""

    def __init__(self, *, seconds: float, was_read: Callable[[], bool], withdraws: bool = False) -> None:
        """Create it before the first request.

        Args:
            seconds: the time for the response to the probe, from when the server has read it.
            was_read: returns True if the server has read the probe.
            withdraws: cancel a probe that has timed out, with a notification. Otherwise, a late response counts.
        """
        self.options: CallOptions = {"timeout": math.inf, "cancel_on_abandon": withdraws}
        """The options for sending the probe, in place of those of the SDK."""
        self._seconds = seconds
        self._was_read = was_read
        self._withdraws = withdraws
        self._timed_out = False
        self._response: dict[str, Any] | MCPError | None = None
        """The response to the last probe."""
        self._handshake = anyio.CancelScope()
        """The scope of the handshake, which ends soon after a late response to the probe."""
        self._refusal: MCPError | None = None
        """The server's error for the handshake."""

    async def discover(self, send: Callable[[], Awaitable[dict[str, Any]]], *, tasks: TaskGroup) -> dict[str, Any]:
        """Return the response to the probe that `send` sends.

        Raises:
            MCPError: the server refused the probe, or did not respond in time.
        """
        if isinstance(self._response, dict):
            return self._response
        self._response = None
        probe, responded = anyio.CancelScope(), anyio.Event()
        tasks.start_soon(self._ask, send, probe, responded)
        response = await self._wait(responded)
        if self._withdraws:
            probe.cancel()
        match response:
            case None:
                self._timed_out = True
                raise MCPError(code=REQUEST_TIMEOUT, message="server/discover was not answered in time")
            case MCPError():
                raise response
            case _:
                return response

    async def _ask(
        self, send: Callable[[], Awaitable[dict[str, Any]]], probe: anyio.CancelScope, responded: anyio.Event
    ) -> None:
        with probe:
            try:
                self._response = await send()
                # It supports the newer era after all.
                self._handshake.deadline = anyio.current_time() + self._seconds
            except MCPError as error:
                self._response = error
            responded.set()

    async def _wait(self, responded: anyio.Event) -> dict[str, Any] | MCPError | None:
        """Return the response; None if the time is over."""
        end: float | None = None
        while not responded.is_set() and (end is None or anyio.current_time() < end):
            with anyio.move_on_after(_LOOK):
                await responded.wait()
            if not self._was_read():
                end = None
            elif end is None:
                end = anyio.current_time() + self._seconds
        return self._response

    async def initialize(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return the response to `initialize`, which `send` sends.

        Raises:
            MCPError: the server refused it. If the probe has timed out, the error makes the SDK send the probe again;
                if that is in vain, the error of the first handshake is raised.
        """
        if self._refusal is not None:
            raise self._refusal
        if not self._timed_out:
            return await send()
        began = anyio.current_time()
        is_late = isinstance(self._response, dict)
        try:
            with anyio.CancelScope(deadline=began + self._seconds if is_late else math.inf) as self._handshake:
                return await send()
            self._refusal = MCPError(code=REQUEST_TIMEOUT, message="initialize was not answered")
        except MCPError as error:
            self._refusal = error
        # Add the time that it took to refuse the handshake, because the server is that slow.
        self._seconds += anyio.current_time() - began
        if self._refusal.code == UNSUPPORTED_PROTOCOL_VERSION:
            raise self._refusal
        versions = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": LATEST_HANDSHAKE_VERSION}
        again = ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message=self._refusal.message, data=versions)
        raise MCPError.from_error_data(again)
