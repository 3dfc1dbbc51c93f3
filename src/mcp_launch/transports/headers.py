"""The headers of a specification go to the origin of its URL and nowhere else, in their order and with repeats."""

from __future__ import annotations

from typing import Protocol

import httpx2

from mcp_launch.specs import HttpServer

__all__ = ["HeaderRule", "Request", "origin"]

_OWNED = frozenset(
    (
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    )
)
"""Headers that the transport writes; a specification that names one has no say in it."""


class Headers(Protocol):
    """The headers of httpx or of httpx2."""

    @property
    def raw(self) -> list[tuple[bytes, bytes]]: ...
    def __contains__(self, name: str, /) -> bool: ...


class Request(Protocol):
    """A request of httpx or of httpx2."""

    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def url(self) -> object: ...  # noqa: D102
    @property
    def headers(self) -> Headers: ...  # noqa: D102


class HeaderRule:
    """What one specification puts on its requests."""

    def __init__(self, spec: HttpServer) -> None:
        self._origin = httpx2.URL(spec.url)
        kept = [(name, value) for name, value in spec.headers if not _owned(name)]
        self._kept = [(name.encode("ascii"), value.strip(" \t").encode()) for name, value in kept]
        refused = [name for name, _ in spec.headers if _owned(name)]
        self.warnings = [f'its header "{name}" was not sent: the transport writes that one' for name in refused]
        self.authorizes = bool(self._origin.userinfo) or any(name.lower() == "authorization" for name, _ in kept)
        """Whether it sends credentials in the way of HTTP."""

    def apply(self, request: Request) -> list[tuple[bytes, bytes]]:
        """The headers that the request is to be sent with."""
        ours = {name.lower() for name, _ in self._kept}
        # Elsewhere too: the libraries copy headers to the request that follows a redirect.
        others = [(name, value) for name, value in request.headers.raw if name.lower() not in ours]
        return [*others, *self._kept] if _within(self._origin, httpx2.URL(str(request.url))) else others


def origin(url: object) -> str:
    """Scheme, host and port of a URL of either library, in the one way of writing them."""
    parsed = httpx2.URL(str(url))
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}"


def _owned(name: str) -> bool:
    return name.lower() in _OWNED or name.lower().startswith("mcp-param-")


def _within(ours: httpx2.URL, url: httpx2.URL) -> bool:
    """Whether the URL is on the origin, or is its https upgrade on the default ports."""
    if origin(ours) == origin(url):
        return True
    upgraded = ours.scheme == "http" and url.scheme == "https" and ours.port is None and url.port is None
    return upgraded and ours.host == url.host
