"""The Streamable HTTP transport: the SDK's, with our HTTP client below it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCMessage
from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import override

from acp_bindings._http import cookie_jar
from acp_bindings._json import parsed_members
from acp_bindings._responses import QUOTED
from mcp_launch._diagnosis import Diagnosis, advised
from mcp_launch._diagnosis.responses import UNMAPPED, TooLong
from mcp_launch._http_types import EVENT_STREAM, JSON, media_type
from mcp_launch._spec import HttpServer
from mcp_launch._transports import DOUBTFUL, TRIAL, TransportTerms
from mcp_launch._transports.era import Probe
from mcp_launch._transports.http_reading import EventBody, ResponseReader, message_in_full
from mcp_launch._transports.memory import Memory
from mcp_launch._transports.messages import UNWRITABLE, Invalid, Reader, cancelled_by
from mcp_launch._transports.network import Network, network, usable
from mcp_launch._transports.posts import MOST_CONNECTIONS, Abandoned, Post, Posts
from mcp_launch._transports.streams import (
    Guard,
    ReadStream,
    Sink,
    Source,
    Unanswered,
    Unsaid,
    WriteStream,
    farewell,
)
from mcp_launch._transports.web import (
    HeaderRule,
    Httpx2Body,
    follows,
    start_of,
    unpack_slowly,
    whole,
)
from mcp_launch.failures import Code, Stage
from mcp_launch.options import Limits

_PAUSE = 1.0
"""Seconds between two attempts to open the event stream; doubled after each error."""
_LONGEST_PAUSE = 30.0
_BUSY = (HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)
_WAKE = b'data: {"jsonrpc": "2.0", "id": null, "error": {"code": 0, "message": ""}}\n\n'
"""An error for no request. The SDK ignores it, but passes it to the reader of the session, which notices the loss."""


class WebClient(httpx2.AsyncClient):
    """An httpx2 client that applies the headers of a specification and remembers why requests failed.

    The headers are added to each request at the last moment, in a hook, so that redirects and authentication flows do
    not send them elsewhere.
    """

    def __init__(self, spec: HttpServer, network: Network, *, connect: float, limits: Limits | None = None) -> None:
        self.rule = HeaderRule(spec, phrases=network.phrases, logs_in=network.auth is not None)
        self._url = spec.url
        self._network = network
        with usable(spec, network.proxy_option):
            super().__init__(
                auth=network.auth,
                cookies=cookie_jar(),
                verify=network.verify,
                proxy=network.proxy,
                trust_env=network.trust_env,
                timeout=httpx2.Timeout(connect, read=None, pool=None),
                limits=httpx2.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=20),
                event_hooks={"request": self.rule.hooks, "response": [_UNPACK]},
            )
        self._of_messages = [(name, value) for name, value in self.headers.raw if name != b"Accept"]
        """The headers of all messages, to which the SDK adds `accept` and others."""
        self._timeouts = self.timeout.as_dict()
        self.hide = spec.redactor
        self.reader = Reader(limits or Limits())
        self.reading = ResponseReader(self.reader, hide=self.hide)
        self.memory = Memory(self.rule, network, self, usual="/mcp", hide=self.hide, connect=connect)
        self.initialized = False
        """True once the session is initialized. From then on, a failed POST gets a JSON-RPC error that says why.

        Otherwise the SDK would only report that there was an error, or end the session.
        """
        self.lost: Diagnosis | None = None
        """The response by which the server has lost the session, if it has."""
        self.posts: Posts | None = None
        """The POSTs of a session; None while trying whether a URL speaks this transport."""
        self._listener: int | None = None
        """The task of the SDK that reads the event stream of the session; None until that was open."""
        self._opened = 0.0
        """The time at which it was last opened."""

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        """Build a request as httpx2 does, and keep its JSON message.

        A message that UTF-8 cannot encode is marked, and refused when it is sent.
        """
        if method != "POST" or "json" not in options:
            return super().build_request(method, url, **options)
        message: dict[str, Any] = options["json"]
        given: dict[Any, Any] = options.get("headers") or {}
        kept: dict[str, Any] = {"message": message, "timeout": self._timeouts}
        try:
            body = to_json(message)
        except PydanticSerializationError:
            # Raised here, it would end the SDK's transport instead of this one request.
            body, kept["refusal"] = b"", UNWRITABLE
        # httpx2 would parse the URL and merge headers and options again, which takes a thirtieth of the time of a call.
        url = self.rule.url if url == self._url else httpx2.URL(url)
        headers = [
            (b"Host", url.netloc),
            *self._of_messages,
            *given.items(),
            (b"Content-Length", b"%d" % len(body)),
        ]
        return httpx2.Request(
            method, url, headers=headers, cookies=self.cookies, stream=httpx2.ByteStream(body), extensions=kept
        )

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request as httpx2 does, and remember the response to a message."""
        match request.method:
            case "POST":
                return await self._post(request, **options)
            case "DELETE":
                return await self._end_session(request, **options)
            case _:
                return await self._get(request, **options)

    async def _end_session(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if self.posts:
            # Otherwise they could use up the connections for closing the session.
            self.posts.abandon_all()
            await self.posts.before_stream()
        options["stream"] = True
        response = await _without_rest(await super().send(request, **options))
        if response.status_code == HTTPStatus.NOT_FOUND:
            # The session is over already, and the SDK would log a warning.
            response.status_code = HTTPStatus.NO_CONTENT
        return response

    async def _get(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Open the event stream of the session, or resume the response to a POST; neither explains a failure."""
        options["stream"] = True
        listens = "last-event-id" not in request.headers or self._listener == anyio.get_current_task().id
        if self.posts:
            await self.posts.before_stream()
        try:
            send = self._listen if listens else super().send
            response = await _without_rest(await send(request, **options))
        finally:
            if self.posts:
                self.posts.stream_answered()
        return self._with_events(response, is_answer=not listens)

    async def _post(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a message. A notification or a response has a task of its own, and counts as accepted immediately."""
        if (refused := request.extensions.get("refusal")) is not None:
            return _error_answer(request, refused, status=HTTPStatus.BAD_REQUEST)
        message: dict[str, Any] = request.extensions["message"]
        if not self.initialized:
            request.extensions["trace"] = self.memory.follow
        if self.posts is None:
            return await self._send(request, **options)
        if "method" not in message or "id" not in message:
            self.posts.start(message.get("method"), partial(self._deliver, request, **options))
            return httpx2.Response(HTTPStatus.ACCEPTED, request=request)
        post = self.posts.open(message["id"])
        try:
            response = await post.run(partial(self._send, request, **options))
        except Abandoned:
            ended = ErrorData(code=CONNECTION_CLOSED, message="the request was abandoned")
            return _error_answer(request, ended, status=HTTPStatus.BAD_REQUEST)
        if not response.is_closed:
            response.stream = _Body(response.stream, post)
        return response

    async def _listen(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Open the event stream of the session, for the first time or again."""
        again = self._listener is not None
        response = await (self._reopen if again else super().send)(request, **options)
        if _has_events(response):
            self._listener, self._opened = anyio.get_current_task().id, anyio.current_time()
        # Some servers reject an unknown session with 400.
        if again and response.status_code in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND):
            self.memory.answered(request, response, is_mcp=False, body=await start_of(response))
            if (found := self.memory.found) and found.code == "session_lost":
                self.lost, headers = found, {"content-type": EVENT_STREAM}
                return httpx2.Response(HTTPStatus.OK, headers=headers, content=_WAKE, request=request)
        return response

    async def _reopen(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Repeat a request until the server is back; the SDK gives up after two errors, and would miss all messages."""
        # Some servers end each stream at once, and ask for the next GET without a delay.
        await anyio.sleep_until(self._opened + _PAUSE)
        pause = _PAUSE
        while True:
            with contextlib.suppress(httpx2.TransportError):
                response = await super().send(request, **options)
                # With 409, a server rejects a second stream as long as it has not noticed the end of the first one.
                if not (response.is_server_error or response.status_code in _BUSY):
                    return response
                await response.aclose()
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _deliver(self, request: httpx2.Request, **options: Any) -> None:
        """Post a message without a response, following redirects as the SDK does."""
        # Errors are in the memory.
        with contextlib.suppress(httpx2.RequestError, *UNMAPPED):
            for _ in range(self.max_redirects):
                response = await self._send(request, **options)
                following = response.next_request
                if following is None or not follows(request, following):
                    # Read, so that the connection serves the next POST too.
                    await start_of(response)
                    await response.aclose()
                    return
                await response.aclose()
                request = following

    async def _send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        stream: bool = options.pop("stream", False)
        if request.url != self.rule.url:
            # This request follows a redirect, which does not explain a later timeout.
            self.memory.found = None
        try:
            response = await self._remember(request, await super().send(request, stream=True, **options))
        except (httpx2.RequestError, *UNMAPPED) as error:
            self.memory.failed(_sent_to(error, request), error)
            if not self.initialized:
                raise
            if isinstance(error, TooLong) and (found := self.memory.found):
                self.memory.found = replace(found, code="invalid_response", facts={**found.facts, "limit": "bytes"})
            response = httpx2.Response(HTTPStatus.BAD_GATEWAY, request=request)
        found = self.memory.found
        if found is not None and self.initialized and not follows(request, response.next_request):
            # Without one of MCP, it may be a session of the server's own, such as that of a browser.
            if found.code == "session_lost" and "mcp-session-id" in request.headers:
                self.lost = found
            response = _error_answer(request, farewell(found, hide=self.hide), status=response.status_code)
        if not stream:
            await response.aread()
        return response

    @override
    def _transport_for_url(self, url: httpx2.URL) -> httpx2.AsyncBaseTransport:
        # Here, because a pattern in `mounts` does not match every spelling, and a login may be at any URL.
        return self._transport if self._network.is_direct(url) else super()._transport_for_url(url)

    async def _remember(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        if not response.is_success:
            return await self._remember_refusal(request, response)
        message: dict[str, Any] = request.extensions["message"]
        is_notification = "id" not in message or "method" not in message
        if self.posts and message.get("method") == "initialize" and response.headers.get("mcp-session-id"):
            self.posts.expect_stream()
        media, body = media_type(response.headers), b""
        if media == EVENT_STREAM:
            response, is_mcp = self._with_events(response, is_answer=True), True
        elif media == JSON:
            response = await _read(response, longest=self.reader.limits.bytes)
            body = response.content
            if not body:
                is_mcp = is_notification
            else:
                response, is_mcp = await self._with_message(message, response, body)
        elif not (is_mcp := is_notification):
            body = await start_of(response)
            response = _with(response, body)
        self.memory.answered(request, response, is_mcp=is_mcp, body=b"" if is_mcp else body)
        return response

    async def _with_message(
        self, sent: dict[str, Any], response: httpx2.Response, body: bytes
    ) -> tuple[httpx2.Response, bool]:
        """Return the response for the SDK, with the message that was read, and whether it is MCP."""
        given = await self.reading.body(body)
        if isinstance(given, Invalid):
            if not given.claims or (number := sent.get("id")) is None:
                return response, False
            given = self.reading.refused(given, number)
        return response if given is body else _with(response, given), True

    def _with_events(self, response: httpx2.Response, *, is_answer: bool) -> httpx2.Response:
        """Return the response for the SDK, with the events that are read if it is an event stream."""
        if not _has_events(response):
            return response
        return _with(response, EventBody(response, self.reading, is_answer=is_answer))

    async def _remember_refusal(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        # Twice, because the body that explains it may be slow to come.
        self.memory.answered(request, response, is_mcp=False)
        response = await _without_rest(response)
        if follows(request, response.next_request):
            return response
        body = response.content
        is_mcp = media_type(response.headers) == JSON and parsed_members(body).get("jsonrpc") == "2.0"
        self.memory.answered(request, response, is_mcp=is_mcp, body=body)
        return response


_ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mcp-launch", "version": "0"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": _ABOUT}
"""The smallest request to which an MCP server responds."""
_FIRST_MESSAGE = 1.0
"""Seconds for the response to it on an event stream."""


async def speaks_http(spec: HttpServer, network: Network, *, in_full: bool) -> bool:
    """Return True if an MCP server responds to a POST of `initialize`; with *in_full*, only if it sends a message.

    An event stream without a message does not prove anything about a server that also sends one for a GET.
    """
    found = False
    with anyio.move_on_after(TRIAL) as scope, contextlib.suppress(httpx2.HTTPError, *UNMAPPED):
        async with (
            WebClient(spec, network, connect=TRIAL) as client,
            client.stream(
                "POST",
                spec.url,
                json=INITIALIZE,
                headers={"content-type": JSON, "accept": f"{JSON}, {EVENT_STREAM}"},
            ) as response,
        ):
            answer = client.memory.answer
            found = response.is_success and answer is not None and answer.is_mcp
            if found and in_full:
                found = False
                scope.deadline = min(scope.deadline, anyio.current_time() + _FIRST_MESSAGE)
                async for _ in response.aiter_bytes():
                    found = client.reading.spoke
                    if found:
                        # Not a break, which would leave generators to the garbage collector.
                        scope.cancel()
    return found


_OF_OAUTH = frozenset(("authorization_servers", "authorization_endpoint"))
"""Fields of the metadata of a resource, and of an authorization server."""


async def has_oauth_metadata(url: str, network: Network) -> bool:
    """Return True if the server publishes where to log in, at one of the places that clients look at."""
    base = urlsplit(url)._replace(query="", fragment="")
    of_resource = "oauth-protected-resource"
    with anyio.move_on_after(TRIAL), contextlib.suppress(httpx2.HTTPError, *UNMAPPED):
        # Without the headers of the entry and without a login.
        async with WebClient(HttpServer(name="", url=url), replace(network, auth=None), connect=TRIAL) as client:
            for place in (f"{of_resource}{base.path.rstrip('/')}", of_resource, "oauth-authorization-server"):
                response = await client.get(base._replace(path=f"/.well-known/{place}").geturl())
                if not _OF_OAUTH.isdisjoint(parsed_members(response.content)):
                    return True
    return False


_UNPACK = partial(unpack_slowly, Httpx2Body, httpx2.DecodingError)


class _Body(httpx2.AsyncByteStream):
    """The body of the response to a request, which ends when the request is abandoned."""

    def __init__(self, body: Any, post: Post) -> None:
        self._body = body
        self._post = post
        self._chunks = cast("AsyncGenerator[bytes]", aiter(body))

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        return await self._post.run(self._chunks.__anext__)

    async def aclose(self) -> None:
        await self._chunks.aclose()
        await self._body.aclose()


async def _read(response: httpx2.Response, *, longest: int) -> httpx2.Response:
    """Return the response with its body, which must not be longer than that."""
    size = response.headers.get("content-length", "")
    if size.isdecimal() and int(size) <= longest and "content-encoding" not in response.headers:
        await response.aread()
        return response
    return _with(response, await whole(response, longest=longest))


def _has_events(response: httpx2.Response) -> bool:
    return response.is_success and media_type(response.headers) == EVENT_STREAM


async def _without_rest(response: httpx2.Response) -> httpx2.Response:
    """Return the response, with only the start of its body unless it is an event stream; the SDK would read all."""
    return response if _has_events(response) else _with(response, await start_of(response))


def _with(response: httpx2.Response, body: bytes | httpx2.AsyncByteStream) -> httpx2.Response:
    """Return the response with another body."""
    framing = (b"content-encoding", b"content-length", b"transfer-encoding")
    # As bytes, because values that are not ASCII would be refused as strings.
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in framing]
    read = httpx2.Response(
        response.status_code,
        headers=headers,
        content=body if isinstance(body, bytes) else None,
        stream=None if isinstance(body, bytes) else body,
        request=response.request,
        extensions=response.extensions,
    )
    read.next_request = response.next_request
    return read


def _sent_to(error: Exception, request: httpx2.Request) -> httpx2.URL:
    """Return the URL of the failed request, which an authentication may have sent elsewhere."""
    try:
        return error.request.url if isinstance(error, httpx2.RequestError) else request.url
    except RuntimeError:
        return request.url


def _error_answer(request: httpx2.Request, error: ErrorData, *, status: int) -> httpx2.Response:
    """Return a response that makes the SDK report the error."""
    reply = {"jsonrpc": "2.0", "id": None, "error": error.model_dump(exclude_unset=True)}
    return httpx2.Response(max(status, HTTPStatus.BAD_REQUEST), json=reply, request=request)


_FORM = 'a response must be an event of the type "message", ended by an empty line'


class HttpTransport:
    """The Streamable HTTP transport to one server."""

    def __init__(self, spec: HttpServer, terms: TransportTerms) -> None:
        options, budgets = terms.options, terms.budgets
        self._spec = spec
        self._terms = terms
        self._network = network(spec, options)
        self._client = WebClient(spec, self._network, connect=budgets.connect, limits=options.limits)
        self.reader = self._client.reader
        # Withdrawing closes its request, which might be an event stream without an end.
        self.probe = Probe(seconds=budgets.probe, was_read=lambda: self._client.memory.was_read, withdraws=True)
        self._listens = bool(options.roots or options.sampling or options.elicitation)
        self._unanswered = Unanswered()
        self._client.reading.warn = terms.warn
        for warning in (*self._client.rule.warnings, *self._network.warnings):
            terms.warn(warning)

    def note_initialized(self) -> None:
        """Note that the session is initialized; a failed POST then fails only its request."""
        self._client.initialized = True

    def noise(self) -> None:
        """Return None: what is not a message fails its request at once."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Connect the streams, and close the session and all sockets when the block ends."""
        streams = streamable_http_client(self._spec.url, http_client=self._client)
        async with self._client, anyio.create_task_group() as tasks:
            self._client.posts = posts = Posts(tasks, listens=self._listens)
            async with streams as (read, write):
                watched = ReadStream(read, partial(self._receive, read))
                noted = WriteStream(write, partial(self._send, write, posts))
                yield Guard(watched, noted, self._spec, self._terms, is_behind=posts.are_behind).streams
            tasks.cancel_scope.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Return why requests failed; None if each got a response of MCP."""
        memory, initialized = self._client.memory, self._client.initialized
        stage: Stage | None = None if initialized else "connect"
        # The memory may have a later response of another instance, which has the session.
        if (found := self._client.lost or await memory.diagnosis(waited=waited, stage=stage)) is not None:
            if found.code in DOUBTFUL and not initialized and await self._speaks_sse():
                message = f"this URL speaks the deprecated SSE transport: {self._network.phrases.sse}"
                return replace(found, code="wrong_transport", message=message, advice=self._network.phrases.sse)
            return found
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            late = f"did not answer within {waited:.1f} s; {self._network.phrases.longer}?"
            return Diagnosis("timeout", late, answer.facts)
        return self._cut_off() if answer.media_type == EVENT_STREAM and not answered else None

    def _cut_off(self) -> Diagnosis:
        code: Code = "disconnected" if self._client.initialized else "not_mcp"
        facts = answer.facts if (answer := self._client.memory.answer) else {}
        # Redacted before it is cut, because part of a secret would not be recognized.
        sent = self._client.hide(self._client.reading.unused.decode(errors="replace"))
        said = f': "{shown}"' if (shown := " ".join(sent[:QUOTED].split())) else ""
        advice = _FORM if '"jsonrpc"' in sent else "its log may say why"
        return advised(code, "its event stream ended without a response", advice, facts, said=said)

    async def _speaks_sse(self) -> bool:
        # Imported late because it imports httpx, which takes a tenth of a second and few sessions need.
        from mcp_launch._transports.sse_client import speaks_sse  # noqa: PLC0415

        return await speaks_sse(self._spec, self._network)

    async def _receive(self, read: Source) -> SessionMessage | Exception:
        """Return the next message of the SDK's transport; also notice its end and a lost session."""
        client = self._client
        if client.lost:
            # The request that noticed it has its error; the other pending requests get it before the session ends.
            error = farewell(client.lost, hide=client.hide)
            if (reply := next(self._unanswered.refused(error), None)) is not None:
                return SessionMessage(reply)
            self._terms.on_lost()
        try:
            item = await read.receive()
        except anyio.EndOfStream:
            self._terms.on_lost()
            raise
        if isinstance(item, SessionMessage):
            item.message = self._noted(message_in_full(item.message, getattr(read, "last_context", None)))
        return item

    def _noted(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Note a message, and return it as `Unsaid` if it is an error that is not from the server."""
        message = self._unanswered.named(message)
        self._unanswered.received(message)
        client, memory = self._client, self._client.memory
        if isinstance(message, Unsaid):
            memory.found = memory.found or client.reading.found
        elif isinstance(message, JSONRPCError):
            error, answer = message.error, memory.answer
            # The SDK's error for an event stream without a response.
            is_cut_off = error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream ended")
            if is_cut_off and client.initialized:
                memory.found = self._cut_off()
                error = farewell(memory.found, hide=client.hide)
            if is_cut_off or answer is None or not answer.is_mcp:
                return Unsaid(jsonrpc="2.0", id=message.id, error=error)
        return message

    async def _send(self, write: Sink, posts: Posts, item: SessionMessage) -> None:
        """Give a message to the SDK's transport; a request is noted as pending."""
        self._unanswered.sent(item.message)
        if (number := cancelled_by(item.message)) is not None:
            posts.abandon(number)
        await write.send(item)
