"""The server: an ASGI application for agents, over Streamable HTTP and WebSocket on one path."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from contextvars import Context
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import isawaitable
from ipaddress import ip_address
from secrets import token_hex
from typing import Any, Protocol, TypeAlias

import anyio
from anyio.abc import TaskGroup

from acp_bindings.connection._connection import ByteSource, Connection
from acp_bindings.connection._handlers import Handle, Handlers
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.remote._hosted import EventsLost, EventStream, HostedConnection, Limits, StreamTaken
from acp_bindings.remote._wire import (
    CONNECTION_ID,
    EVENT_STREAM,
    JSON,
    NEEDS_SESSION,
    PART,
    SESSION_ID,
    SLOWEST,
    as_line,
    outline,
)
from acp_bindings.setup._handshake import INITIALIZE, OPENING

log = logging.getLogger("acp_bindings.remote")

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Any]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]

KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment is sent, so that proxies do not close the stream."""
_GRACE = 0.25
"""Seconds for handlers to finish after the client has closed the connection."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, for `authenticate`."""

    headers: Mapping[str, str] = field(repr=False)
    """The headers, with names in lower case. They may contain secrets."""
    address: str | None
    """The address of the sender, or of the proxy before this server; None if it is not known."""
    scope: Scope = field(repr=False)
    """The ASGI scope, with what middleware has added."""

    @property
    def bearer(self) -> str | None:
        """The token of `Authorization: Bearer …`."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None


Identity: TypeAlias = str | None
Authenticate: TypeAlias = Callable[[Caller], Identity | Awaitable[Identity]]
"""Returns the identity of the caller, or None or an empty string to refuse the request with 401."""


class Hosting(Protocol):
    """The program behind the connections of an application: an agent, or plain handlers."""

    def handlers_for(self, identity: str | None, /) -> Handlers | Mapping[Any, Handle[Any]]:
        """Return the handlers for the connections of an identity."""
        ...

    async def attend(self, connection: Connection, identity: str | None, /) -> object:
        """Wait until the connection has ended, and clean up."""
        ...


class AcpApp:
    """An ASGI application that serves ACP. `Agent.asgi` and `acp_bindings.remote.asgi` return one.

    It runs in any ASGI server, on its own or mounted in another application. It needs the lifespan of the server only
    for an orderly end.
    """

    def __init__(
        self,
        hosting: Callable[[], AbstractAsyncContextManager[Hosting]],
        *,
        protocol: ProtocolPackage = OPENING,
        path: str = "/acp",
        authenticate: Authenticate | None = None,
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
        limits: Limits | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path.rstrip("/")
        self.limits = limits or Limits()
        self._hosting = hosting
        self._protocol = protocol
        self._authenticate = authenticate
        self._hosts = frozenset(each.lower() for each in hosts)
        self._origins = frozenset(each.lower() for each in origins)
        self._options = dict(options or {})
        self._connections: dict[str, HostedConnection] = {}
        self._counts = Counter[str | None]()
        """The number of connections of each identity."""
        self._running: _Running | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, WebSocket, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] not in ("http", "websocket"):
            raise ValueError(f"ACP cannot be served over {scope['type']!r}")
        exchange = _Exchange(scope, receive, send)
        try:
            self._admit(exchange)
            identity = await self._identity(exchange)
            if scope["type"] == "websocket":
                await self._web_socket(exchange, identity)
            else:
                await self._request(exchange, identity)
        except Refusal as refusal:
            await exchange.refuse(refusal)

    def end_connections(self) -> None:
        """End all connections over HTTP. Servers that wait for open responses before they exit need this first."""
        for each in [*self._connections.values()]:
            each.end()

    def run(self, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
        """Serve with uvicorn until a signal comes. Use any other ASGI server for more, such as HTTP/2.

        Args:
            host: the address to listen on.
            port: the port.
            **options: more settings of `uvicorn.Config`.
        """
        import uvicorn  # noqa: PLC0415 - only used here

        _raise_limit_of_open_files()
        if find_spec("websockets") is None:
            log.warning("WebSockets are refused, because websockets is missing: pip install 'acp-bindings[remote]'")
        # uvicorn takes the response to a handshake for none.
        wrong = "without completing handshake"
        logging.getLogger("uvicorn.error").addFilter(lambda record: wrong not in str(record.msg))

        app = self

        class Server(uvicorn.Server):
            async def shutdown(self, sockets: Any = None) -> None:
                app.end_connections()
                await super().shutdown(sockets)

        defaults: dict[str, Any] = {
            "timeout_graceful_shutdown": 3,
            "ws_max_size": self.limits.body,
            "ws_ping_timeout": 120,  # the response comes only after a long message that is under way
            "log_level": "warning",
        }
        with suppress(KeyboardInterrupt):
            Server(uvicorn.Config(self, host=host, port=port, **{**defaults, **options})).run()

    # -- admission

    def _admit(self, exchange: _Exchange) -> None:
        """Check the path, the host, the origin and the size of the headers of a request.

        Raises:
            Refusal: the request must not be answered.
        """
        scope, headers = exchange.scope, exchange.headers
        path = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/")
        if path != self.path:
            raise Refusal(404, f"ACP is served at {scope.get('root_path', '')}{self.path or '/'}")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > self.limits.headers:
            raise Refusal(431, f"the headers have more than {self.limits.headers} bytes")
        host = headers.get("host", "")
        if not self._is_ours(host):
            log.warning("a request for the host %r was refused; add it to hosts= if it is yours", host)
            raise Refusal(421, "this host is not configured; the server has to list it in hosts=")
        if (origin := headers.get("origin")) is not None and origin.lower() not in self._origins:
            log.warning("a request from the web page %r was refused; add it to origins= to allow it", origin)
            raise Refusal(403, "web pages of this origin are not allowed; the server has to list it in origins=")

    async def _identity(self, exchange: _Exchange) -> str | None:
        """Return the identity of the caller; None without authentication.

        Raises:
            Refusal: the caller has no identity.
        """
        if self._authenticate is None:
            return None
        client = exchange.scope.get("client")
        identity: Any = self._authenticate(Caller(exchange.headers, client[0] if client else None, exchange.scope))
        if isawaitable(identity):
            identity = await identity
        if not identity:
            log.info("a request from %s was refused, because authenticate returned no identity", client)
            raise Refusal(401, "authentication is required", {"www-authenticate": "Bearer"})
        if not isinstance(identity, str):
            raise TypeError(f"authenticate must return a str or None, not {type(identity).__name__}")
        return identity

    def _is_ours(self, host: str) -> bool:
        """Return True if requests for this host are for this server, and not for a page that has its name rebound."""
        name = host.lower()
        if name.count(":") <= 1 or name.startswith("["):
            name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        if self._hosts & {name, host.lower(), "*"} or name in ("", "localhost") or name.endswith(".localhost"):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    # -- Streamable HTTP

    async def _request(self, exchange: _Exchange, identity: str | None) -> None:
        match exchange.scope["method"]:
            case "POST":
                await self._post(exchange, identity)
            case "GET":
                await self._get(exchange, identity)
            case "DELETE":
                self._connection(exchange, identity).end()
                await exchange.respond(202)
            case _:
                raise Refusal(405, "use POST, GET or DELETE", {"allow": "POST, GET, DELETE"})

    async def _post(self, exchange: _Exchange, identity: str | None) -> None:
        headers = exchange.headers
        if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise Refusal(415, f"the content type must be {JSON}")
        body = await exchange.body(self.limits)
        if body.lstrip()[:1] == b"[":
            raise Refusal(501, "JSON-RPC batches are not supported; send one message per request")
        line = as_line(body)
        about = outline(line)
        if about is None:
            raise Refusal(400, "the body is not a JSON-RPC message")
        if about.method == INITIALIZE and CONNECTION_ID not in headers:
            if about.id is ...:
                raise Refusal(400, "initialize must have an id")
            await self._initialize(exchange, identity, line)
            return
        connection = self._connection(exchange, identity)
        if about.method == INITIALIZE:
            raise Refusal(400, "the connection is initialized already; leave out Acp-Connection-Id to make a new one")
        session_id = headers.get(SESSION_ID)
        if session_id is None and about.method in NEEDS_SESSION:
            raise Refusal(400, f"{about.method} requires the header Acp-Session-Id")
        if None not in (session_id, about.session_id) and session_id != about.session_id:
            raise Refusal(400, "Acp-Session-Id is not the sessionId of the params")
        await connection.deliver(line, about, session_id or about.session_id)
        await exchange.respond(202)

    async def _initialize(self, exchange: _Exchange, identity: str | None, line: bytes) -> None:
        running = await self._run()
        self._check_count(identity)
        hosted = HostedConnection(identity=identity, limits=self.limits)
        self._connections[hosted.id] = hosted
        # The connection outlives this request, so its turns are not part of the trace.
        Context().run(running.tasks.start_soon, self._host, running, hosted)
        try:
            with anyio.fail_after(self.limits.initialize):
                response = await hosted.initialize(line)
        except TimeoutError:
            hosted.end()
            raise Refusal(504, "the agent did not respond to initialize in time") from None
        except BaseException:
            hosted.end()
            raise
        if response is None:
            raise Refusal(500, "the agent could not be started")
        await exchange.respond(200, response, {"content-type": JSON, CONNECTION_ID: hosted.id})

    async def _get(self, exchange: _Exchange, identity: str | None) -> None:
        accept = exchange.headers.get("accept", "").lower()
        if EVENT_STREAM not in accept and "*/*" not in accept and "text/*" not in accept:
            raise Refusal(406, f"the Accept header must include {EVENT_STREAM}")
        connection = self._connection(exchange, identity)
        # A session may be unknown still: clients open its stream before they send session/load.
        stream = connection.stream(exchange.headers.get(SESSION_ID))
        if stream is None:
            raise Refusal(429, f"the connection has {self.limits.streams} streams already")
        last = exchange.headers.get("last-event-id", "")
        try:
            token = stream.attach(int(last) if last.isdecimal() else None)
        except StreamTaken:
            raise Refusal(409, "another request reads this stream") from None
        except EventsLost:
            raise Refusal(410, "events after Last-Event-ID are lost; initialize again and load the sessions") from None
        try:
            await self._stream(exchange, stream, token)
        finally:
            stream.detach(token)

    async def _stream(self, exchange: _Exchange, stream: EventStream, token: object) -> None:
        headers = {
            "content-type": EVENT_STREAM,
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",  # nginx would collect events before it passes them on
        }
        await exchange.start(200, headers)
        async with anyio.create_task_group() as tasks:

            async def until_disconnect() -> None:
                await exchange.disconnected()
                tasks.cancel_scope.cancel()

            tasks.start_soon(until_disconnect)
            while True:
                piece: bytes | None = b": \n\n"
                with anyio.move_on_after(KEEP_ALIVE):
                    piece = await stream.take(token)
                if piece is None:
                    break
                for start in range(0, len(piece), PART):
                    await exchange.write(piece[start : start + PART])
                    stream.news.notify_all()
            tasks.cancel_scope.cancel()
        await exchange.write(b"", more=False)

    def _connection(self, exchange: _Exchange, identity: str | None) -> HostedConnection:
        """Return the connection that the request names.

        Raises:
            Refusal: there is none, or it is not of this identity.
        """
        id_ = exchange.headers.get(CONNECTION_ID)
        if id_ is None:
            raise Refusal(400, "the header Acp-Connection-Id is missing; send initialize first")
        connection = self._connections.get(id_)
        if connection is None or connection.identity != identity:
            raise Refusal(404, "the connection does not exist; send initialize without Acp-Connection-Id")
        return connection

    def _check_count(self, identity: str | None) -> None:
        if self._counts[identity] >= self.limits.connections:
            raise Refusal(429, f"there are {self.limits.connections} connections already", {"retry-after": "10"})

    async def _host(self, running: _Running, hosted: HostedConnection) -> None:
        """Run a connection until its end."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_when_idle, hosted)
            try:
                await self._serve(running, hosted, hosted, hosted.identity)
            finally:
                self._connections.pop(hosted.id, None)
                hosted.end()
                tasks.cancel_scope.cancel()

    async def _end_when_idle(self, hosted: HostedConnection) -> None:
        while not hosted.ended.is_set():
            with anyio.move_on_after(max(0.05, self.limits.idle - hosted.idle)):
                await hosted.ended.wait()
            if hosted.idle >= self.limits.idle:
                hosted.end()

    # -- WebSocket

    async def _web_socket(self, exchange: _Exchange, identity: str | None) -> None:
        await exchange.receive()  # websocket.connect
        running = await self._run()
        self._check_count(identity)
        await exchange.send({"type": "websocket.accept", "headers": [(CONNECTION_ID.encode(), token_hex(16).encode())]})
        socket = _Socket(exchange, self.limits)
        await self._serve(running, socket, socket, identity)

    async def _serve(self, running: _Running, source: ByteSource, sink: ByteSink, identity: str | None) -> None:
        self._counts[identity] += 1
        try:
            async with Connection(
                source,
                sink,
                protocol=self._protocol,
                role="agent",
                handlers=running.hosting.handlers_for(identity),
                limit=self.limits.body + 1,
                grace=_GRACE,
                **self._options,
            ) as connection:
                await running.hosting.attend(connection, identity)
        except Exception:
            log.exception("a connection ended with an error")
        finally:
            self._counts[identity] -= 1
            if not self._counts[identity]:
                del self._counts[identity]

    # -- lifespan

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            running = await self._run()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        try:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        finally:
            # Also if the server is cancelled: nothing else ends the agent then.
            with anyio.CancelScope(shield=True):
                await running.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _run(self) -> _Running:
        """Return what runs between requests.

        It is started here if the server has not, because frameworks do not pass the lifespan to mounted applications.
        """
        if self._running is None or self._running.stopped.is_set():
            self._running = _Running()
            spawn(self._run_in_background, self._running)
        await self._running.ready.wait()
        if self._running.error is not None:
            raise self._running.error
        return self._running

    async def _run_in_background(self, running: _Running) -> None:
        try:
            async with self._hosting() as hosting, anyio.create_task_group() as tasks:
                running.hosting, running.tasks = hosting, tasks
                running.ready.set()
                try:
                    await running.stopping.wait()
                finally:
                    self.end_connections()
                    tasks.cancel_scope.cancel()
        except Exception as error:
            log.exception("the agent could not be served")
            running.error = error
        finally:
            running.ready.set()
            running.stopped.set()


def asgi(
    handlers: Handlers | Mapping[Any, Handle[Any]],
    *,
    protocol: ProtocolPackage = OPENING,
    path: str = "/acp",
    authenticate: Authenticate | None = None,
    hosts: Collection[str] = (),
    origins: Collection[str] = (),
    limits: Limits | None = None,
    **options: Any,
) -> AcpApp:
    """Return an ASGI application that serves each client with plain handlers. For agents, use `Agent.asgi`.

    Args:
        handlers: the handlers of all connections: `AgentHandlers`, `Handlers`, or a mapping.
        protocol: the protocol package of connections; by default the version is negotiated.
        path: the path of the endpoint, below that of a mount.
        authenticate: called with the `Caller` of each request. It returns an identity, or None to refuse the request.
            A connection belongs to the identity that has made it.
        hosts: the host names of the server. `localhost` and IP addresses are always accepted. Others are refused,
            because a web page could have its own name resolved to this server. `"*"` accepts all names.
        origins: the origins of web pages that may send requests, such as `https://example.com`. Others are refused.
        limits: what is accepted of clients.
        **options: `pass_unknown`, `most_requests`, `most_bytes` and `trace`, as for `Connection`.
    """
    plain = _PlainHosting(handlers)
    return AcpApp(
        lambda: nullcontext(plain),
        protocol=protocol,
        path=path,
        authenticate=authenticate,
        hosts=hosts,
        origins=origins,
        limits=limits,
        options=options,
    )


class _PlainHosting:
    def __init__(self, handlers: Handlers | Mapping[Any, Handle[Any]]) -> None:
        self._handlers = handlers

    def handlers_for(self, _: str | None) -> Handlers | Mapping[Any, Handle[Any]]:
        return self._handlers

    async def attend(self, connection: Connection, _: str | None) -> None:
        await connection.wait_ended()


class _Running:
    """The task in which the agent and its connections run."""

    hosting: Hosting
    tasks: TaskGroup

    def __init__(self) -> None:
        self.ready = anyio.Event()
        self.stopping = anyio.Event()
        self.stopped = anyio.Event()
        self.error: Exception | None = None

    async def stop(self) -> None:
        """End all connections and the agent."""
        self.stopping.set()
        await self.stopped.wait()


def _raise_limit_of_open_files() -> None:
    """Raise the limit for this process, because each connection needs several files."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not there on Windows

        with suppress(OSError, ValueError):
            # Not higher, because some programs that an agent starts close all descriptors up to the limit.
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536)), hard))


_tasks: set[asyncio.Task[None]] = set()
"""Background tasks, because asyncio itself does not keep them alive."""


def spawn(function: Callable[..., Any], *arguments: Any) -> None:
    """Run an async function until the event loop ends, beyond the task of the caller."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        import trio  # noqa: PLC0415 - only there if it runs

        trio.lowlevel.spawn_system_task(function, *arguments)
    else:
        task = loop.create_task(function(*arguments))
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


class Refusal(Exception):  # noqa: N818 - says what happens
    """A request is answered with an error."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


class _Exchange:
    """One request and its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        self._response = "http.response" if scope["type"] == "http" else "websocket.http.response"
        """The prefix of the messages of a response. To a WebSocket, a response is an extension of ASGI."""

    async def body(self, limits: Limits) -> bytes:
        """Return the body.

        Raises:
            Refusal: it is too long, or did not arrive in time.
        """
        too_long = Refusal(413, f"the message has more than {limits.body} bytes")
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limits.body:
            raise too_long
        body, more = bytearray(), True
        try:
            with anyio.fail_after(limits.initialize) as limit:
                while more:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "the body is incomplete")
                    body += (part := message.get("body", b""))
                    if len(body) > limits.body:
                        raise too_long
                    limit.deadline += len(part) / SLOWEST
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Refusal(408, "the body did not arrive in time") from None
        return bytes(body)

    async def disconnected(self) -> None:
        """Wait until the client has closed the request."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def respond(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Send a whole response."""
        await self.start(status, {**(headers or {}), "content-length": str(len(body))})
        await self.write(body, more=False)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status and the headers."""
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": f"{self._response}.start", "status": status, "headers": raw})

    async def write(self, body: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        await self.send({"type": f"{self._response}.body", "body": body, "more_body": more})

    async def refuse(self, refusal: Refusal) -> None:
        """Send an error: plain text, which never has anything of the request in it."""
        body = f"{refusal.message}\n".encode()
        headers = {"content-type": "text/plain; charset=utf-8", **refusal.headers}
        if self._response == "http.response" or self._response in (self.scope.get("extensions") or {}):
            await self.respond(refusal.status, body, headers)
        else:
            await self.send({"type": "websocket.close", "code": 1008, "reason": refusal.message[:120]})


class _Socket:
    """The source and the sink of a `Connection` on a WebSocket: a text frame for each message."""

    def __init__(self, exchange: _Exchange, limits: Limits) -> None:
        self._exchange, self._limits = exchange, limits
        self._is_open = True

    async def receive(self, _: int = 65536, /) -> bytes:
        """Return the next message of the client."""
        while True:
            message = await self._exchange.receive()
            if message["type"] == "websocket.disconnect":
                self._is_open = False
                raise anyio.EndOfStream
            if text := message.get("text"):
                return as_line(text.encode())

    async def send(self, item: bytes, /) -> None:
        """Send each line as a message."""
        try:
            seconds = self._limits.stall + len(item) / SLOWEST
            with anyio.fail_after(seconds) as limit:
                for line in item.splitlines():
                    await self._exchange.send({"type": "websocket.send", "text": line.decode()})
                    # A scope for each message would take longer.
                    limit.deadline = anyio.current_time() + seconds
        except Exception as error:
            # Servers raise different exceptions when the client has gone.
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Close the WebSocket."""
        if self._is_open:
            self._is_open = False
            with suppress(Exception):
                await self._exchange.send({"type": "websocket.close", "code": 1000})
