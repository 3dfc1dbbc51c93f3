"""The headers of a specification go to the origin of its URL and nowhere else, in their order and with repeats."""

from __future__ import annotations

import httpx2

from acp_bindings.setup._servers import is_owned
from mcp_launch.failures import LaunchFailure
from mcp_launch.specs import HttpServer
from mcp_launch.transports.either_httpx import Request, Url

__all__ = ["HeaderRule", "follows", "origin"]


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
