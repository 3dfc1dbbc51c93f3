"""The body of an answer on its way to whoever reads it, each chunk in the pieces that somebody wants it in."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import Any, TypeAlias, cast
from urllib import request as urllib_request

import anyio
import httpx2
from anyio.lowlevel import checkpoint
from pydantic_core import from_json

from acp_bindings.setup._servers import is_owned
from mcp_launch._diagnosis.responses import TWICE, TooLong
from mcp_launch._http_types import Request, Response, Url
from mcp_launch._spec import HttpServer
from mcp_launch._transports import LONGEST
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import allow_more, megabytes

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


def cookie_jar() -> CookieJar:
    """A jar that keeps no cookie which is not ASCII: neither library writes it."""
    return CookieJar(_Ascii())


class _Ascii(DefaultCookiePolicy):
    def set_ok(self, cookie: Cookie, request: urllib_request.Request) -> bool:
        return f"{cookie.name}{cookie.value}".isascii() and super().set_ok(cookie, request)


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


class HeaderRule:
    """What one specification puts on its requests.

    Raises:
        LaunchFailure: no request can be made of it.
    """

    def __init__(self, spec: HttpServer, *, logs_in: bool = False) -> None:
        try:
            self.url = httpx2.URL(spec.url)
        except httpx2.InvalidURL as error:
            raise _invalid(spec, "/url", f"is not a URL: {error}") from None
        kept = [(name, value) for name, value in spec.headers if not is_owned(name)]
        self.warnings = [
            f'its header "{name}" was not sent: the transport writes that one'
            for name, _ in spec.headers
            if is_owned(name)
        ]
        if logs_in and any(name.lower() == "authorization" for name, _ in kept):
            kept = [(name, value) for name, value in kept if name.lower() != "authorization"]
            self.warnings.append('its header "Authorization" was not sent: the auth of the options logs in')
        try:
            self._kept = [(name.encode("ascii"), value.strip(" \t").encode()) for name, value in kept]
        except UnicodeEncodeError:
            raise _invalid(spec, "/headers", "half of a surrogate pair in a value has no form in UTF-8") from None
        self._names = {name.lower() for name, _ in self._kept}
        self.authorizes = logs_in or bool(self.url.userinfo) or b"authorization" in self._names
        """Whether it sends credentials in the way of HTTP."""
        self.slip = next((_slip(value) for name, value in kept if name.lower() == "authorization"), None)
        """What may be wrong with the form of its `Authorization` header, if anything."""

    @property
    def adds(self) -> bool:
        """Whether there is anything to apply."""
        return bool(self._names)

    def apply(self, request: Request) -> list[tuple[bytes, bytes]]:
        """The headers that the request is to be sent with."""
        # Elsewhere too: the libraries copy headers to the request that follows a redirect.
        others = [(name, value) for name, value in request.headers.raw if name.lower() not in self._names]
        return [*others, *self._kept] if _within(self.url, request.url) else others


def follows(sent: Request, following: Request | None) -> bool:
    """Whether a redirect is one that is followed: it keeps the message, and what belongs to it, on the origin."""
    return (
        following is not None
        and following.method == sent.method
        and following.url.userinfo in (b"", sent.url.userinfo)
        and _within(sent.url, following.url)
    )


def origin(url: Url) -> str:
    """Scheme, host and port of a URL, in the one way of writing them."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _slip(authorization: str) -> str | None:
    """What people get wrong who write that header from memory."""
    scheme, _, token = authorization.strip().partition(" ")
    if "${" in authorization:
        return "its Authorization header holds a variable that was not replaced"
    if not token and scheme.lower() in ("bearer", "basic"):
        return "its Authorization header has no token; is a variable empty?"
    if not token:
        return 'does its Authorization header want "Bearer " before the token?'
    if token.lower().startswith(f"{scheme.lower()} "):
        return "its Authorization header names its scheme twice"
    if token[0] in "\"'<[{":
        return "does its token stand in quotes or brackets that are not part of it?"
    return None


def _within(ours: Url, url: Url) -> bool:
    """Whether the URL is on the origin, or is its https upgrade on the default ports."""
    if (ours.scheme, ours.host, ours.port) == (url.scheme, url.host, url.port):
        return True
    upgraded = ours.scheme == "http" and url.scheme == "https" and ours.port is None and url.port is None
    return upgraded and ours.host == url.host


def _invalid(spec: HttpServer, path: str, message: str) -> LaunchFailure:
    told = spec.redactor(message)
    issues = [{"path": path, "rule": "value", "message": told}]
    facts = {"issues": issues}
    return LaunchFailure(f"{path}: {told}", server=spec.name, stage="spec", code="invalid_spec", facts=facts)
