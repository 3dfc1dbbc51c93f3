"""Compressed answers, a few hundred bytes of which may become gigabytes: they are unpacked once, and bit by bit."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol, cast

from anyio.lowlevel import checkpoint

from mcp_launch.diagnosis.no_answer import TWICE

__all__ = ["Bits", "unpack_slowly"]

_BIT = 1024
"""Bytes that are unpacked at once. Gzip makes a megabyte of them at most."""


class Body(Protocol):
    """The body of an answer, as it came."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


async def unpack_slowly(bits: Callable[[object], Any], refuse: Callable[..., Exception], response: Any) -> None:
    """Have an answer unpacked in *bits*, the library's kind of `Bits`; its hook for answers.

    Raises:
        Exception: what *refuse* makes, which is the library's error of unpacking: it is compressed more than once.
    """
    if (times := _codings(response.headers)) > 1:
        raise refuse(TWICE, request=response.request)
    if times:
        response.stream = bits(response.stream)


def _codings(headers: Mapping[str, str]) -> int:
    """How many times an answer is compressed."""
    named = (name.strip().lower() for name in headers.get("content-encoding", "").split(","))
    return sum(name not in ("", "identity") for name in named)


class Bits:
    """The body of a compressed answer in bits, between which others have their turn; a base for a library's stream."""

    def __init__(self, body: object) -> None:
        self._body = cast("Body", body)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(cast("AsyncGenerator[bytes]", aiter(self._body))) as chunks:
            async for chunk in chunks:
                for start in range(0, len(chunk), _BIT):
                    yield chunk[start : start + _BIT]
                    await checkpoint()

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._body.aclose()
