"""The body of an answer: whole, or as much of it as explains what it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, cast

import anyio
from pydantic_core import from_json

from mcp_launch.diagnosis.no_answer import TooLong
from mcp_launch.limits import allow_more, megabytes
from mcp_launch.transports import LONGEST
from mcp_launch.transports.either_httpx import Response
from mcp_launch.transports.passing import Pieces

__all__ = ["ENOUGH", "bound", "is_jsonrpc", "start_of", "whole"]

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
        TooLong: it is longer than that.
    """
    body = bytearray()
    with anyio.CancelScope() as reading:
        await _read(response, body, longest, reading)
    if len(body) > longest:
        raise TooLong(f"a message of more than {megabytes(longest)}, and was given up; {allow_more('bytes')}")
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


def bound(in_pieces: Callable[[object, Pieces], Any], response: Any) -> None:
    """Have an answer given up that goes on and on, where others read it whole: by *in_pieces*, as in `unpack_slowly`.

    Whoever reads it gets `TooLong` then.
    """
    if "content-encoding" in response.headers:
        # Unpacked, it may be a thousand times as long.
        left, told = LONGEST >> 10, f"a compressed answer of more than {LONGEST >> 20} KB"
    else:
        left, told = LONGEST, f"an answer of more than {LONGEST >> 20} MB"

    def counted(chunk: bytes) -> list[bytes]:
        nonlocal left
        left -= len(chunk)
        if left < 0:
            raise TooLong(f"{told}, which was given up")
        return [chunk]

    response.stream = in_pieces(response.stream, counted)


async def _read(response: Response, body: bytearray, enough: int, reading: anyio.CancelScope) -> None:
    async for chunk in response.aiter_bytes():
        # What one piece was unpacked to comes without a pause in which the reading could end.
        if len(body) <= enough:
            body += chunk
        if len(body) > enough:
            # Not a break, which would leave httpx's generators unfinished for the garbage collector.
            reading.cancel()
