"""Response bodies and request headers, for both HTTP libraries."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias, cast

import anyio
import httpx2
from anyio.lowlevel import checkpoint

from acp_bindings.setup._servers import is_owned
from mcp_launch._diagnosis.responses import TWICE, TooLong
from mcp_launch._http_types import Request, Response, Url
from mcp_launch._spec import HttpServer, invalid, issue_at
from mcp_launch.failures import LaunchFailure, Phrases
from mcp_launch.options import Limits, allow_more, megabytes

Pieces: TypeAlias = Callable[[bytes], Iterable[bytes]]
"""Returns the pieces for a chunk; it may raise, which the reader gets."""


class PiecewiseBody:
    """Another body in pieces, between which other tasks run; a base for a library's stream."""

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
        """Close the connection, or return it to the pool."""
        await self._body.aclose()


class Httpx2Body(PiecewiseBody, httpx2.AsyncByteStream):
    """A body in pieces for httpx2."""


_BIT = 1024
"""Bytes that are decompressed at once; gzip expands them to at most a megabyte."""


async def unpack_slowly(
    in_pieces: Callable[[object, Pieces], Any], refuse: Callable[..., Exception], response: Any
) -> None:
    """Decompress a response in small pieces; a response hook, with the library's `PiecewiseBody` and decoding error.

    Raises:
        Exception: the decoding error; the response is compressed more than once.
    """
    if (times := _codings(response.headers)) > 1:
        raise refuse(TWICE, request=response.request)
    if times:
        response.stream = in_pieces(response.stream, _bits)


def _codings(headers: Mapping[str, str]) -> int:
    """Return how many times a response is compressed."""
    if not (named := headers.get("content-encoding", "")):
        return 0
    return sum(name.strip().lower() not in ("", "identity") for name in named.split(","))


def _bits(chunk: bytes) -> Iterator[bytes]:
    return (chunk[start : start + _BIT] for start in range(0, len(chunk), _BIT))


ENOUGH = 65536
"""Bytes that are read of a response that is not MCP."""
_PATIENCE = 2.0
"""Seconds for reading them."""


async def whole(response: Response, *, longest: int) -> bytes:
    """Return the body.

    Raises:
        TooLong: the body is longer than *longest*.
    """
    body = bytearray()
    with anyio.CancelScope() as reading:
        await _read(response, body, longest, reading)
    if len(body) > longest:
        raise TooLong(f"a message of more than {megabytes(longest)}; {allow_more('bytes')}")
    return bytes(body)


async def start_of(response: Response) -> bytes:
    """Return the start of the body, however long or slow it is, and close the response."""
    body = bytearray()
    # An interrupted body has a start too, and the library's error adds nothing.
    with anyio.move_on_after(_PATIENCE) as reading, contextlib.suppress(Exception):
        await _read(response, body, ENOUGH, reading)
    # Most responses close themselves at their end.
    if not response.is_closed:
        with anyio.CancelScope(shield=True):
            await response.aclose()
    return bytes(body)


LONGEST = Limits().bytes
"""The longest response in bytes that a library reads as a whole."""


def bound(in_pieces: Callable[[object, Pieces], Any], response: Any) -> None:
    """Limit the length of a response that others read as a whole; *in_pieces* as in `unpack_slowly`.

    The reader of a longer response gets `TooLong`.
    """
    if "content-encoding" in response.headers:
        # Decompressed, it may be a thousand times as long.
        left, what = LONGEST >> 10, f"a compressed response of more than {LONGEST >> 20} KB"
    else:
        left, what = LONGEST, f"a response of more than {LONGEST >> 20} MB"

    def counted(chunk: bytes) -> list[bytes]:
        nonlocal left
        left -= len(chunk)
        if left < 0:
            raise TooLong(what)
        return [chunk]

    response.stream = in_pieces(response.stream, counted)


async def _read(response: Response, body: bytearray, enough: int, reading: anyio.CancelScope) -> None:
    async for chunk in response.aiter_bytes():
        # The decompressed parts of a piece come without a pause in which reading could end.
        if len(body) <= enough:
            body += chunk
        if len(body) > enough:
            # Not a break, which would leave httpx's generators to the garbage collector.
            reading.cancel()


class HeaderRule:
    """The headers that a specification adds to requests.

    Raises:
        LaunchFailure: the URL or a header is not valid.
    """

    def __init__(self, spec: HttpServer, *, phrases: Phrases, logs_in: bool) -> None:
        try:
            self.url = httpx2.URL(spec.url)
        except httpx2.InvalidURL as error:
            raise _invalid(spec, "/url", f"is not a URL: {error}") from None
        kept = [(name, value) for name, value in spec.headers if not is_owned(name)]
        self.warnings = [
            f'its header "{name}" was not sent because the transport sets it'
            for name, _ in spec.headers
            if is_owned(name)
        ]
        if logs_in and any(name.lower() == "authorization" for name, _ in kept):
            kept = [(name, value) for name, value in kept if name.lower() != "authorization"]
            self.warnings.append('its header "Authorization" was not sent because the option "auth" is used instead')
        try:
            self._kept = [(name.encode("ascii"), value.strip(" \t").encode()) for name, value in kept]
        except UnicodeEncodeError:
            raise _invalid(spec, "/headers", "a value contains a lone surrogate, which UTF-8 cannot encode") from None
        self._names = {name.lower() for name, _ in self._kept}
        self.authorizes = logs_in or bool(self.url.userinfo) or b"authorization" in self._names
        """True if requests have HTTP credentials."""
        self.mistake = _unfilled(spec, kept, phrases) or next(
            (_mistake_in(value) for name, value in kept if name.lower() == "authorization"), None
        )
        """A possible mistake in its `Authorization` header, or a variable or placeholder in a header or the URL."""

    @property
    def hooks(self) -> list[Callable[..., Any]]:
        """The request hooks that add the headers; empty if the entry has none."""
        return [self._apply] if self._names else []

    async def _apply(self, request: Any) -> None:
        # Removed for other origins too, because the libraries copy headers when they follow a redirect.
        others = [(name, value) for name, value in request.headers.raw if name.lower() not in self._names]
        ours = self._kept if _within(self.url, request.url) else []
        request.headers = type(request.headers)([*others, *ours])


def follows(sent: Request, following: Request | None) -> bool:
    """Return True if a redirect is followed: it must keep the method and the origin."""
    return (
        following is not None
        and following.method == sent.method
        and following.url.userinfo in (b"", sent.url.userinfo)
        and _within(sent.url, following.url)
    )


def origin(url: Url) -> str:
    """Return the normalized scheme, host and port of a URL."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _unfilled(spec: HttpServer, headers: list[tuple[str, str]], phrases: Phrases) -> str | None:
    """Return what to do about the first header, or the URL, with a variable or a placeholder; None if none has one."""
    places = [*((f"its {name} header", "headers", value) for name, value in headers), ("its URL", "url", spec.url)]
    for place, member, value in places:
        if wrong := phrases.unfilled(value, member):
            return f"{place} {wrong}"
    return None


def _mistake_in(authorization: str) -> str | None:
    """Return a common mistake in an `Authorization` header, if there is one."""
    scheme, _, token = authorization.strip().partition(" ")
    if not token and scheme.lower() in ("bearer", "basic"):
        return "its Authorization header has no token; is a variable empty?"
    if not token:
        return 'does its Authorization header need "Bearer " before the token?'
    if token.lower().startswith(f"{scheme.lower()} "):
        return "its Authorization header names its scheme twice"
    if token[0] in "\"'<[{":
        return "is its token in quotes or brackets that do not belong to it?"
    return None


def _within(ours: Url, url: Url) -> bool:
    """Return True if the URL is on the origin, or on its https upgrade with the default ports."""
    if (ours.scheme, ours.host, ours.port) == (url.scheme, url.host, url.port):
        return True
    upgraded = ours.scheme == "http" and url.scheme == "https" and ours.port is None and url.port is None
    return upgraded and ours.host == url.host


def _invalid(spec: HttpServer, path: str, message: str) -> LaunchFailure:
    return invalid(spec.name, [issue_at(path, "value", spec.redactor(message))])
