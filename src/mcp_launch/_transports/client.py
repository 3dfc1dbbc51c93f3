"""The HTTP client of both transports with a URL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx2
from typing_extensions import override

from acp_bindings._http import cookie_jar
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._spec import HttpServer
from mcp_launch._transports.memory import Memory
from mcp_launch._transports.messages import Reader
from mcp_launch._transports.network import Network, usable
from mcp_launch._transports.web import HeaderRule, unpack_slowly
from mcp_launch.options import Limits

MOST_CONNECTIONS = 100
"""Connections to one server. Requests beyond that wait for one within their own timeouts."""


class McpClient(httpx2.AsyncClient):
    """An httpx2 client that applies the headers of a specification and remembers why requests failed.

    The headers are added to each request at the last moment, in a hook, so that redirects and authentication flows do
    not send them elsewhere.
    """

    usual: str
    """The path that most servers of the transport use."""

    def __init__(self, spec: HttpServer, network: Network, *, connect: float, limits: Limits | None = None) -> None:
        self.rule = HeaderRule(spec, phrases=network.phrases, logs_in=network.auth is not None)
        self._network = network
        with usable(spec, network.names_proxy):
            super().__init__(
                auth=network.auth,
                cookies=cookie_jar(),
                verify=network.verify,
                proxy=network.proxy,
                trust_env=network.trust_env,
                timeout=httpx2.Timeout(connect, read=None, pool=None),
                limits=httpx2.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=20),
                event_hooks={"request": [self._apply_rule] if self.rule.adds else [], "response": [unpack_slowly]},
            )
        self._timeouts = self.timeout.as_dict()
        self.hide = spec.redactor
        self.reader = Reader(limits or Limits())
        self.memory = Memory(self.rule, network, usual=self.usual, hide=self.hide, connect=connect)
        self.proven = False
        """True once the session is initialized."""
        self.lost: Diagnosis | None = None
        """The response by which the server has lost the session, if it has."""

    def message_to(
        self, url: httpx2.URL, body: bytes, headers: Iterable[tuple[Any, Any]], **extensions: Any
    ) -> httpx2.Request:
        """Return the POST of a message.

        `build_request` would merge headers and options again, which takes a thirtieth of the time of a call.
        """
        return httpx2.Request(
            "POST",
            url,
            headers=[(b"Host", url.netloc), *headers, (b"Content-Length", b"%d" % len(body))],
            cookies=self.cookies,
            stream=httpx2.ByteStream(body),
            extensions={"timeout": self._timeouts, **extensions},
        )

    @override
    def _transport_for_url(self, url: httpx2.URL) -> httpx2.AsyncBaseTransport:
        # Here, because a pattern in `mounts` does not match every spelling, and a login may be at any URL.
        return self._transport if self._network.is_direct(url) else super()._transport_for_url(url)

    async def _apply_rule(self, request: httpx2.Request) -> None:
        request.headers = httpx2.Headers(self.rule.apply(request))
