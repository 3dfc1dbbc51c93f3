"""A small HTTP server for a server offered over HTTP: h11 and anyio run an ASGI application on each connection.

uvicorn, which the SDK requires, only supports asyncio and takes over the signals of the process. hypercorn on trio
cannot be stopped while it sends to a client that does not read.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

import anyio
import h11
from anyio.abc import SocketStream
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from mcp_launch._transports.messages import Invalid, Reader
from mcp_launch.options import Limits

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_FIRST = 10.0
"""Seconds until the first request begins. Later ones may take any time, because clients pool connections."""
_REST = 1.0
"""Seconds for the rest of a request whose response was sent before it was read."""

_log = logging.getLogger(__name__)


async def serve_http(stream: SocketStream, app: Application) -> None:
    """Serve the requests of one client until it disconnects, violates HTTP, or a response says `close`."""
    await _Connection(stream, app).run()


class _Connection:
    def __init__(self, stream: SocketStream, app: Application) -> None:
        self._stream = stream
        self._app = app
        self._http = h11.Connection(h11.SERVER)
        self._has_body = True
        """True if the response has a body, unlike one to HEAD."""
        self._gone = False
        """True if the client has disconnected."""

    async def run(self) -> None:
        patience: float | None = _FIRST
        try:
            while request := await self._request(patience):
                await self._answer(request)
                with anyio.move_on_after(_REST):
                    while self._http.their_state is h11.SEND_BODY:
                        await self._event()
                if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                    return
                self._http.start_next_cycle()
                patience = None
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)

    async def _request(self, patience: float | None) -> h11.Request | None:
        """Return the next request; None if there is none."""
        with anyio.move_on_after(patience):
            event = await self._event()
            return event if isinstance(event, h11.Request) else None
        return None

    async def _answer(self, request: h11.Request) -> None:
        path, _, query = request.target.partition(b"?")
        self._has_body = request.method != b"HEAD"
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.http_version.decode("ascii"),
            "method": request.method.decode("ascii"),
            "scheme": "http",
            "path": unquote(path.decode("latin-1")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": list(request.headers),
        }
        try:
            await self._app(scope, self._receive, self._send)
        except Exception:  # noqa: BLE001 - the connection must serve further requests
            _log.exception("a request failed")
            await self._refuse(500)

    async def _receive(self) -> Message:
        """Return the next part of the request; after the last, `http.disconnect` when the response is not needed."""
        try:
            while not self._gone and self._http.their_state is h11.SEND_BODY:
                match await self._event():
                    case h11.Data(data=data):
                        return {"type": "http.request", "body": bytes(data), "more_body": True}
                    case h11.EndOfMessage():
                        return {"type": "http.request", "body": b"", "more_body": False}
                    case _:
                        break
            while not self._gone and self._http.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):
                # Anything that arrives now belongs to the next request.
                await self._read()
        except h11.RemoteProtocolError:
            self._gone = True
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._gone:
            return
        if message["type"] == "http.response.start":
            await self._write(h11.Response(status_code=message["status"], headers=message.get("headers", ())))
            return
        body = message.get("body", b"")
        if body and self._has_body:
            await self._write(h11.Data(data=body))
        if not message.get("more_body", False):
            await self._write(h11.EndOfMessage())

    async def _refuse(self, status: int) -> None:
        """Respond with only the status, if that is still possible."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [(b"content-length", b"0"), (b"connection", b"close")]
            await self._write(h11.Response(status_code=status, headers=headers), h11.EndOfMessage())

    async def _event(self) -> h11.Event | None:
        """Return the next event of the client; None if it does not belong to this request.

        Raises:
            h11.RemoteProtocolError: the data is not HTTP.
        """
        while not isinstance(event := self._http.next_event(), h11.Event):
            if event is h11.PAUSED:
                return None
            if self._http.they_are_waiting_for_100_continue:
                await self._write(h11.InformationalResponse(status_code=100, headers=[]))
            await self._read()
        return event

    async def _read(self) -> None:
        try:
            data = await self._stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self._gone = True
            data = b""
        self._http.receive_data(data)

    async def _write(self, *events: h11.Event) -> None:
        data = b"".join(self._http.send(event) or b"" for event in events)
        try:
            await self._stream.send(data)
        except anyio.BrokenResourceError:
            self._gone = True


PATH = "/mcp"
LIMITS = Limits(bytes=16 << 20, values=500_000, items=500_000)
"""Limits of messages from an agent, which the SDK parses again with several times the memory."""
_SMALL = 65536
"""Bytes of a message that is small enough not to be checked."""

Serve: TypeAlias = "Callable[[SocketStream, Callable[[], object]], Awaitable[None]]"
"""A function that serves one connection until it ends. It calls its second argument when the token was received."""


@asynccontextmanager
async def over_http(server: Server[Any], *, port: int, token: str) -> AsyncGenerator[Serve]:
    """A block in which the server runs; yields the function that serves each connection."""
    security = TransportSecuritySettings(allowed_hosts=[f"127.0.0.1:{port}"], allowed_origins=[])
    sessions = StreamableHTTPSessionManager(
        server,
        security_settings=security,
        max_request_body_size=LIMITS.bytes,
        # Never by a timeout: they end with the block.
        session_idle_timeout=None,
    )
    async with sessions.run():

        async def serve(stream: SocketStream, admit: Callable[[], object]) -> None:
            await serve_http(stream, _for_holders(token, _within_limits(sessions.handle_request), admit))

        yield serve


def http_entry(name: str, *, port: int, token: str) -> dict[str, Any]:
    """Return the raw `McpServer` entry for the agent."""
    headers = [{"name": "Authorization", "value": f"Bearer {token}"}]
    return {"type": "http", "name": name, "url": f"http://127.0.0.1:{port}{PATH}", "headers": headers}


def _for_holders(token: str, app: Application, admit: Callable[[], object]) -> Application:
    """Return the application for requests with the token to its path; `admit` is called for each of them.

    Other requests are refused. Without the token, the connection is closed.
    """
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if not secrets.compare_digest(sent, expected):
            await _refuse(send, 401, "the Authorization header is missing or wrong", (b"www-authenticate", b"Bearer"))
            return
        admit()
        if scope["path"] != PATH:
            await _refuse(send, 404, f"the MCP server is at {PATH}")
        else:
            await app(scope, receive, send)

    return guarded


def _within_limits(app: Application) -> Application:
    """Return the application for messages within the limits; others are refused."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        parts, size, more = list[Message](), 0, scope["method"] == "POST"
        while more and size <= LIMITS.bytes:
            parts.append(message := await receive())
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        if _SMALL < size <= LIMITS.bytes:
            found = await Reader(LIMITS, fixed=True).read(b"".join(part.get("body", b"") for part in parts))
            if isinstance(found, Invalid):
                await _refuse(send, 413 if found.limit else 400, f"the message was not read: {found.why}")
                return
        parts.reverse()

        async def again() -> Message:
            return parts.pop() if parts else await receive()

        await app(scope, again, send)

    return guarded


async def _refuse(send: Send, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
    body = why.encode()
    about = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": [*about, *headers]})
    await send({"type": "http.response.body", "body": body})
