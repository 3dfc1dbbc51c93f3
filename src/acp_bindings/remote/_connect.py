"""Connections of clients to agents at a URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, TypedDict, Unpack

import httpx

from acp_bindings._http import Cert, Verify
from acp_bindings._logs import kept_out_of_logs
from acp_bindings.connection._connection import LONGEST_MESSAGE, Connection, Options
from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.jsonrpc import ProtocolPackage, Role
from acp_bindings.remote._http_client import HttpLink, open_http
from acp_bindings.remote._network import Auth, Network

if TYPE_CHECKING:
    from acp_bindings.remote._websocket_client import WebSocketLink

TIMEOUT = 30.0
"""The default time for connecting and for the response to a request on the level of HTTP, in seconds."""


class NetworkOptions(TypedDict, total=False):
    """The options of `connect_url` for the network, which `Client.connect` passes on."""

    headers: Mapping[str, str] | None
    auth: Auth
    verify: Verify
    cert: Cert
    proxy: str | httpx.Proxy | None
    trust_env: bool


class RemoteConnection(Connection):
    """A connection to an agent at a URL."""

    def __init__(
        self,
        link: HttpLink | WebSocketLink,
        *,
        protocol: ProtocolPackage,
        role: Role,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(link, link, protocol=protocol, role=role, grace=0, **options)
        self._link = link

    def _shown(self, text: str) -> str:
        return self._link.network.hide(text)

    async def _explain(self, end: ConnectionClosed) -> ConnectionClosed:
        return self._link.failure or end


@asynccontextmanager
async def connect_url(
    url: str,
    *,
    protocol: ProtocolPackage,
    role: Role = "client",
    headers: Mapping[str, str] | None = None,
    auth: Auth = None,
    verify: Verify = True,
    cert: Cert = None,
    proxy: str | httpx.Proxy | None = None,
    trust_env: bool = True,
    timeout: float = TIMEOUT,
    **options: Unpack[Options],
) -> AsyncGenerator[RemoteConnection]:
    """Connect to an agent at a URL: over Streamable HTTP for `http` and `https`, over WebSocket for `ws` and `wss`.

    Over HTTP, nothing is sent before `initialize`. An event stream that is lost is opened again if the server can
    continue it, as that of this package can. In all other cases the connection ends with `Unreachable`, and
    `Client.connect` makes a new one.

    Args:
        url: the URL, with the path that the agent has, such as `https://example.com/acp`.
        protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` to negotiate the version.
        role: the role of this side.
        headers: headers of all requests, such as `Authorization`. Their values are redacted in messages.
        auth: a login: `(user, password)`, an `httpx.Auth`, or a function that changes requests.
        verify: False to accept any certificate, a path to trusted certificates, or an SSL context.
        cert: the certificate of the client: its path, or (path, key) or (path, key, password).
        proxy: the proxy. By default it comes from the environment, but not for loopback.
        trust_env: use the proxies, certificates and `.netrc` of the environment.
        timeout: seconds for connecting, and for the response to each HTTP request.
        **options: `handlers`, `pass_unknown`, `limit`, `most_requests`, `most_bytes` and `trace`, as for `Connection`.

    Raises:
        Unreachable: the WebSocket was not accepted. Over HTTP, requests raise it.
        ValueError: the URL is not valid or has another scheme, or a header contains a line break.
    """
    link = open_link(
        url,
        limit=options.get("limit", LONGEST_MESSAGE),
        timeout=timeout,
        headers=headers,
        auth=auth,
        verify=verify,
        cert=cert,
        proxy=proxy,
        trust_env=trust_env,
    )
    async with link as opened, RemoteConnection(opened, protocol=protocol, role=role, **options) as connection:
        yield connection


@asynccontextmanager
async def open_link(
    url: str, *, limit: int, timeout: float = TIMEOUT, **options: Unpack[NetworkOptions]
) -> AsyncGenerator[HttpLink | WebSocketLink]:
    """Open the streams of a connection to an agent at a URL, for lines. The arguments are those of `connect_url`."""
    network = Network(url, timeout=timeout, **options)
    opening: AbstractAsyncContextManager[HttpLink | WebSocketLink]
    if network.is_websocket:
        from acp_bindings.remote._websocket_client import open_websocket  # noqa: PLC0415 - only used here

        opening = open_websocket(network, limit=limit)
    else:
        opening = open_http(network, limit=limit)
    with kept_out_of_logs(network.hide):
        async with network.client, opening as link:
            yield link
