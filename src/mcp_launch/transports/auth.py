"""Somebody's authentication, watched: what it sends and obtains is secret from then on, and it fails by a name.

An `httpx2.Auth` may ask other servers for tokens in the middle of a request. What it raises would end the SDK's whole
transport, and what it learns is in no specification.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import parse_qsl

import httpx2

from acp_bindings._redact import Redactor
from mcp_launch.diagnosis.no_answer import TooLong
from mcp_launch.transports.bodies import bound
from mcp_launch.transports.media import EVENT_STREAM, FORM, JSON, media_type
from mcp_launch.transports.passing import Httpx2Body

__all__ = ["AuthFailed", "WatchedAuth"]

_SECRET = re.compile(r"token$|secret$|password|assertion$|^code$|verifier$|api_?key", re.IGNORECASE)
"""Members of a token request or its answer whose values are secret."""


class AuthFailed(httpx2.RequestError):
    """The authentication gave up; the cause says why."""


class WatchedAuth(httpx2.Auth):
    """An authentication that goes on as it would without us."""

    def __init__(self, auth: httpx2.Auth, *, hide: Redactor) -> None:
        self.unfinished = False
        """Whether a login was going on at the end."""
        self._auth = auth
        self._hide = hide

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The same requests and answers."""
        before = set(request.headers.raw)
        async with aclosing(self._auth.async_auth_flow(request)) as flow:
            try:
                self.unfinished = True
                outgoing = await anext(flow)
                while True:
                    await self._learn(outgoing, new=set(outgoing.headers.raw) - before)
                    self.unfinished = outgoing is not request
                    response = yield outgoing
                    self.unfinished = True
                    if media_type(response.headers) != EVENT_STREAM:
                        is_own = outgoing is request
                        # A refusal is read by the authentication, or by the library before what comes next.
                        if not (is_own and response.is_success):
                            bound(Httpx2Body, response)
                        if not is_own:
                            self._learn_members(await response.aread())
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                self.unfinished = False
                return
            except httpx2.RequestError:
                raise
            except TooLong as error:
                raise AuthFailed(str(error), request=request) from error
            except Exception as error:
                raise AuthFailed(f"{type(error).__name__}: {error}", request=request) from error

    async def _learn(self, request: httpx2.Request, *, new: set[tuple[bytes, bytes]]) -> None:
        for name, value in new:
            if name.lower() not in _PLAIN and not name.lower().startswith(b"mcp-"):
                self._hide.learn(value.decode("latin-1"))
        if media_type(request.headers) in (FORM, JSON):
            self._learn_members(await request.aread())

    def _learn_members(self, body: bytes) -> None:
        for name, value in _members(body):
            if _SECRET.search(name):
                self._hide.learn(value)


_PLAIN = frozenset((b"accept", b"content-length", b"content-type", b"host", b"user-agent"))


def _members(body: bytes) -> Iterator[tuple[str, str]]:
    """The texts of a JSON object or a form."""
    text = body.decode(errors="replace")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        yield from parse_qsl(text)
        return
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        yield from ((name, member) for name, member in members if isinstance(member, str))
