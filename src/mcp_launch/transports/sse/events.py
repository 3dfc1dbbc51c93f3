"""An event stream read as it should be, and given up when an event has no end: what httpx-sse leaves to its caller."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
from httpx_sse import EventSource

from mcp_launch.diagnosis.no_answer import TooLong
from mcp_launch.transports import LONGEST
from mcp_launch.transports.media import EVENT_STREAM

__all__ = ["events_of"]


@asynccontextmanager
async def events_of(response: httpx.Response) -> AsyncGenerator[EventSource]:
    """A block in which the events of an answer can be read, which is closed then.

    Raises:
        TooLong: an event has no end.
    """
    # httpx-sse 0.4.3 compares the content type by case, decodes by its charset although event streams are UTF-8 always,
    # takes a byte order mark for a part of the first field, and keeps an event of any size. That it sees an event which
    # ends in a bare CR only with the byte after it, we leave.
    with anyio.CancelScope() as reading:
        bounded = httpx.Response(
            response.status_code,
            headers={"content-type": EVENT_STREAM},
            stream=_Bounded(response, reading),
            request=response.request,
            default_encoding="utf-8-sig",
        )
        try:
            yield EventSource(bounded)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
    if reading.cancelled_caught:
        raise TooLong(f"sent an event of more than {LONGEST >> 20} MB, and was given up")


class _Bounded(httpx.AsyncByteStream):
    """The body of an event stream, whose reading is cancelled when an event has no end."""

    def __init__(self, response: httpx.Response, reading: anyio.CancelScope) -> None:
        self._response = response
        self._reading = reading

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        # Unpacked, so that what is counted is what is kept.
        async for chunk in self._response.aiter_bytes():
            seen = tail + chunk
            blank = max(seen.rfind(end) for end in (b"\n\n", b"\n\r\n", b"\r\r"))
            size = size + len(chunk) if blank < 0 else len(seen) - blank
            tail = seen[-2:]
            if size > LONGEST:
                # Not an exception, which would leave httpx's generators unfinished for the garbage collector.
                self._reading.cancel()
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()
