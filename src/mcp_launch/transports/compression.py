"""Compressed answers, a few hundred bytes of which may become gigabytes: they are unpacked once, and bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcp_launch.diagnosis.no_answer import TWICE
from mcp_launch.transports.passing import Pieces

__all__ = ["unpack_slowly"]

_BIT = 1024
"""Bytes that are unpacked at once. Gzip makes a megabyte of them at most."""


async def unpack_slowly(
    in_pieces: Callable[[object, Pieces], Any], refuse: Callable[..., Exception], response: Any
) -> None:
    """Have an answer unpacked in bits, by *in_pieces*, the library's `PiecewiseBody`; its hook for answers.

    Raises:
        Exception: what *refuse* makes, which is the library's error of unpacking: it is compressed more than once.
    """
    if (times := _codings(response.headers)) > 1:
        raise refuse(TWICE, request=response.request)
    if times:
        response.stream = in_pieces(response.stream, _bits)


def _codings(headers: Mapping[str, str]) -> int:
    """How many times an answer is compressed."""
    named = (name.strip().lower() for name in headers.get("content-encoding", "").split(","))
    return sum(name not in ("", "identity") for name in named)


def _bits(chunk: bytes) -> Iterator[bytes]:
    return (chunk[start : start + _BIT] for start in range(0, len(chunk), _BIT))
