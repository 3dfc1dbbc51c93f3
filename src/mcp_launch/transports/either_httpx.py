"""What httpx and httpx2 have alike, for code that serves both.

The SDK wants httpx2 for Streamable HTTP, and SSE is read with httpx. The second came from the first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

__all__ = ["Headers", "Request", "Response", "Url"]


class Url(Protocol):
    """A URL."""

    @property
    def scheme(self) -> str: ...  # noqa: D102
    @property
    def host(self) -> str: ...  # noqa: D102
    @property
    def port(self) -> int | None: ...  # noqa: D102
    @property
    def netloc(self) -> bytes: ...  # noqa: D102
    @property
    def userinfo(self) -> bytes: ...  # noqa: D102


class Headers(Protocol):
    """The headers of a request."""

    @property
    def raw(self) -> list[tuple[bytes, bytes]]: ...  # noqa: D102
    def __contains__(self, name: str, /) -> bool: ...


class Request(Protocol):
    """A request."""

    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def url(self) -> Url: ...  # noqa: D102
    @property
    def headers(self) -> Headers: ...  # noqa: D102


class Response(Protocol):
    """A response."""

    status_code: int
    is_closed: bool

    @property
    def headers(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def reason_phrase(self) -> str: ...  # noqa: D102
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102
