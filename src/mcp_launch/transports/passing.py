"""The body of an answer on its way to whoever reads it, each chunk in the pieces that somebody wants it in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from typing import Any, TypeAlias, cast

import httpx2
from anyio.lowlevel import checkpoint

__all__ = ["Httpx2Body", "Pieces", "PiecewiseBody"]

Pieces: TypeAlias = Callable[[bytes], Iterable[bytes]]
"""What is passed on in place of a chunk; it may raise, which whoever reads gets."""


class PiecewiseBody:
    """Another body in pieces, between which others have their turn; a base for a library's stream."""

    def __init__(self, body: object, pieces: Pieces) -> None:
        self._body: Any = body
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(cast("AsyncGenerator[bytes]", aiter(self._body))) as chunks:
            async for chunk in chunks:
                for piece in self._pieces(chunk):
                    yield piece
                    await checkpoint()

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._body.aclose()


class Httpx2Body(PiecewiseBody, httpx2.AsyncByteStream):
    """The same for httpx2."""
