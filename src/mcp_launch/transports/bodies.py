"""The body of an answer: whole, or as much of it as explains what it is."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

import anyio
from pydantic_core import from_json

from mcp_launch.diagnosis.no_answer import TooLong
from mcp_launch.transports import LONGEST
from mcp_launch.transports.either_httpx import Response

__all__ = ["ENOUGH", "Bounded", "bound", "is_jsonrpc", "start_of", "whole"]

ENOUGH = 65536
"""Bytes that are read of an answer which is not MCP."""
_PATIENCE = 2.0
"""Seconds for reading them."""


def is_jsonrpc(body: bytes) -> bool:
    """Whether it is a JSON-RPC message."""
    try:
        value: Any = from_json(body, cache_strings="none")
    except ValueError:
        return False
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("jsonrpc") == "2.0"


async def whole(response: Response, *, longest: int) -> bytes:
    """The body.

    Raises:
        TooLong: it goes on and on.
    """
    body = bytearray()
    with anyio.CancelScope() as reading:
        await _read(response, body, longest, reading)
    if len(body) > longest:
        raise TooLong
    return bytes(body)


async def start_of(response: Response) -> bytes:
    """The start of the body, however long or slow that is; the response is closed then."""
    body = bytearray()
    # What breaks off has a start too, and the library's complaint about it tells nothing more.
    with anyio.move_on_after(_PATIENCE) as reading, contextlib.suppress(Exception):
        await _read(response, body, ENOUGH, reading)
    # It closes itself at its end, which most come to.
    if not response.is_closed:
        with anyio.CancelScope(shield=True):
            await response.aclose()
    return bytes(body)


def bound(bounded: Callable[[object, int, str], Any], response: Any) -> None:
    """Have an answer given up that goes on and on, where others read it whole: by *bounded*, the library's `Bounded`.

    Whoever reads it gets `TooLong` then.
    """
    if "content-encoding" in response.headers:
        # Unpacked, it may be a thousand times as long.
        longest, told = LONGEST >> 10, f"a compressed answer of more than {LONGEST >> 20} KB"
    else:
        longest, told = LONGEST, f"an answer of more than {LONGEST >> 20} MB"
    response.stream = bounded(response.stream, longest, f"{told}, which was given up")


class Bounded:
    """The body of an answer, up to so many bytes; a base for a library's stream."""

    def __init__(self, body: object, longest: int, told: str) -> None:
        self._body: Any = body
        self._left = longest
        self._told = told

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(cast("AsyncGenerator[bytes]", aiter(self._body))) as chunks:
            async for chunk in chunks:
                self._left -= len(chunk)
                if self._left < 0:
                    raise TooLong(self._told)
                yield chunk

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._body.aclose()


async def _read(response: Response, body: bytearray, enough: int, reading: anyio.CancelScope) -> None:
    async for chunk in response.aiter_bytes():
        # What one piece was unpacked to comes without a pause in which the reading could end.
        if len(body) <= enough:
            body += chunk
        if len(body) > enough:
            # Not a break, which would leave httpx's generators unfinished for the garbage collector.
            reading.cancel()
