"""Media types of MCP, and protocols that the classes of both httpx and httpx2 match."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
FORM = "application/x-www-form-urlencoded"


def media_type(headers: Mapping[str, str]) -> str:
    """Return the content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class Url(Protocol):
    """A URL."""

    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int | None: ...
    @property
    def netloc(self) -> bytes: ...
    @property
    def userinfo(self) -> bytes: ...


class Headers(Protocol):
    """The headers of a request."""

    @property
    def raw(self) -> list[tuple[bytes, bytes]]: ...
    def __contains__(self, name: str, /) -> bool: ...


class Request(Protocol):
    """A request."""

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> Url: ...
    @property
    def headers(self) -> Headers: ...


class Response(Protocol):
    """A response."""

    status_code: int
    is_closed: bool

    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def reason_phrase(self) -> str: ...
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...
