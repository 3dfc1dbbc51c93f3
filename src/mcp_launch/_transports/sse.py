"""The deprecated SSE transport: messages come by an event stream and are posted to the endpoint that it names."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from anyio.abc import TaskGroup, TaskStatus
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCMessage, JSONRPCRequest, RequestId

from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.responses import UNMAPPED, TooLong
from mcp_launch._http_types import JSON
from mcp_launch._spec import HttpServer
from mcp_launch._transports import DOUBTFUL, TransportTerms
from mcp_launch._transports.http import speaks_http
from mcp_launch._transports.messages import UNWRITABLE, Invalid, UnwritableError, cancelled_by, written
from mcp_launch._transports.network import network
from mcp_launch._transports.posts import Abandoned, Posts
from mcp_launch._transports.sse_client import EventClient, NoEventsError
from mcp_launch._transports.streams import Guard, Unanswered, Unsaid, farewell
from mcp_launch._transports.web import origin
from mcp_launch.failures import Code, Stage

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream


def endpoint_of(named: str, *, stream: httpx.URL) -> httpx.URL | Diagnosis:
    """Return the endpoint, or why it is not valid; it must be on the origin of the stream."""
    try:
        # Without its own user-info, which would be sent as credentials.
        endpoint = stream.join(named).copy_with(userinfo=stream.userinfo)
        ours, theirs = origin(stream), origin(endpoint)
    except (httpx.InvalidURL, ValueError):
        return Diagnosis("not_mcp", "its event stream named an endpoint that is not a URL", stage="connect")
    if ours == theirs:
        return endpoint
    message = f"its endpoint is on another origin, {theirs} instead of {ours}; nothing was sent there"
    facts = {"origin": ours, "endpoint_origin": theirs}
    return Diagnosis("cross_origin_endpoint", message, facts, stage="connect")


class SseTransport:
    """The SSE transport to one server: its event stream, and the POSTs to the endpoint that the stream names."""

    def __init__(self, spec: HttpServer, terms: TransportTerms) -> None:
        options = terms.options
        self._spec = spec
        self._terms = terms
        self._network = network(spec, options)
        self._client = EventClient(spec, self._network, connect=terms.budgets.connect, limits=options.limits)
        self.reader = self._client.reader
        self.probe = None
        for warning in (*self._client.rule.warnings, *self._network.warnings):
            terms.warn(warning)
        self._unanswered = Unanswered()
        self._to_session: MemoryObjectSendStream[SessionMessage]
        self._posts: Posts
        self._endpoint: httpx.URL | None = None
        """The URL for messages, once it is known."""
        self._facts: dict[str, Any] = {}
        """The facts of the response whose body is the stream."""
        self._found: Diagnosis | None = None
        """The reason why the stream ended or cannot be used."""
        self._ended: ErrorData | None = None
        """The error for requests after the end of the session."""
        self._misshapen: Diagnosis | None = None
        """The diagnosis of the last response that could not be read."""
        # Held while errors are given to the session, which must not end before.
        self._refusing = anyio.Lock()

    def note_initialized(self) -> None:
        """Note that the session is initialized; an unknown session is lost from now on."""
        self._client.initialized = True

    def noise(self) -> None:
        """Return None: what is not a message fails its request at once."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Open the event stream and wait for the endpoint; close everything when the block ends."""
        self._to_session, read = anyio.create_memory_object_stream[SessionMessage](0)
        # Sending never waits, because the timeout of a request begins when it is sent.
        write, from_session = anyio.create_memory_object_stream[SessionMessage](math.inf)
        async with self._client, self._to_session, read, write, from_session, anyio.create_task_group() as tasks:
            self._posts = Posts(tasks)
            endpoint = await tasks.start(self._listen)
            tasks.start_soon(self._forward, from_session, endpoint, tasks)
            yield Guard(read, write, self._spec, self._terms, is_behind=self._posts.are_behind).streams
            tasks.cancel_scope.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Return why the stream ended or a POST failed; None if there was a valid response to both."""
        stage, memory = self._stage, self._client.memory
        if self._found is not None:
            return self._found
        if (found := await memory.diagnosis(waited=waited, stage=stage)) is not None:
            return await self._unless_other(found, in_full=False) if found.code in DOUBTFUL else found
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            nowhere = self._endpoint is None
            what = "its event stream named no endpoint" if nowhere else "did not answer"
            advice = "is this the URL of an SSE server" if nowhere else self._network.phrases.longer
            late = Diagnosis("timeout", f"{what} within {waited:.1f} s; {advice}?", answer.facts, stage=stage)
            late = replace(late, advice=f"{advice}?") if nowhere else late
            return await self._unless_other(late, in_full=True)
        if answered:
            return self._misshapen
        return Diagnosis("disconnected", "its event stream ended", answer.facts, stage=stage)

    async def _unless_other(self, found: Diagnosis, *, in_full: bool) -> Diagnosis:
        """Return the diagnosis, or another one if the URL speaks Streamable HTTP, which has event streams too."""
        if self._endpoint is None and await speaks_http(self._spec, self._network, in_full=in_full):
            message = f"this URL speaks Streamable HTTP: {self._network.phrases.http}"
            return replace(found, code="wrong_transport", message=message, advice=self._network.phrases.http)
        return found

    @property
    def _stage(self) -> Stage | None:
        """The stage of a failure, if the transport knows it better than the session."""
        return None if self._endpoint is not None else "connect"

    # Messages of the server ------------------------------------------------------------------------------------------

    async def _listen(self, *, task_status: TaskStatus[httpx.URL]) -> None:
        """Read the event stream; the task has started once the server has named the endpoint."""
        try:
            await self._read(task_status)
            self._end("its event stream ended")
        except NoEventsError:
            # Not an event stream; the memory has the response.
            pass
        except (httpx.RequestError, *UNMAPPED) as error:
            # If there was no response, the memory knows why.
            if self._client.reads and isinstance(error, TooLong):
                self._end(str(error), code="invalid_response", limit="bytes")
            elif self._client.reads:
                self._end("its event stream was cut off", error=type(error).__name__)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            if self._found is not None:
                await self._refuse_all(self._found)
            self._terms.on_lost()
            if self._endpoint is None:
                self._terms.give_up()

    async def _read(self, task_status: TaskStatus[httpx.URL]) -> None:
        async with self._client.events(self._spec.url) as events:
            if answer := self._client.memory.answer:
                self._facts = answer.facts
            async for event in events:
                if event.name == "endpoint" and self._endpoint is None:
                    match endpoint_of(event.data.decode(errors="replace"), stream=events.url):
                        case Diagnosis() as wrong:
                            self._found = wrong
                            # Not a return, which would leave httpx's generators to the garbage collector.
                            self._terms.give_up()
                        case endpoint:
                            self._endpoint = endpoint
                            task_status.started(endpoint)
                elif event.name == "message":
                    try:
                        await self._deliver(event.data)
                    except anyio.get_cancelled_exc_class():
                        # Raised again at the next read, which ends httpx's generators; otherwise they would be left
                        # to the garbage collector.
                        continue
                # Otherwise, a long event would stay in memory until the next one.
                del event

    async def _deliver(self, data: bytes) -> None:
        found = await self.reader.read(data)
        if not isinstance(found, Invalid):
            message = self._unanswered.named(found)
            if (number := self._unanswered.received(message)) is not None:
                self._posts.answered(number)
            await self._to_session.send(SessionMessage(message))
        elif found.answers is not None and self._unanswered.holds(found.answers):
            self._misshapen = found.diagnosis()
            await self._refuse(found.answers, farewell(self._misshapen, hide=self._client.hide))
        else:
            self._terms.warn(found.warning)

    def _end(self, message: str, code: Code = "disconnected", **facts: str) -> None:
        self._found = self._found or Diagnosis(code, message, {**self._facts, **facts}, stage=self._stage)

    # Errors in place of the server's responses -----------------------------------------------------------------------

    async def _refuse(self, number: RequestId, error: ErrorData) -> None:
        """Respond to a request with an error, if it is still pending."""
        reply = Unsaid(jsonrpc="2.0", id=number, error=error)
        async with self._refusing:
            if self._unanswered.received(reply) is not None:
                await self._give(reply)

    async def _refuse_all(self, found: Diagnosis) -> None:
        """Respond to all requests with an error: those that are pending, and those that follow."""
        self._ended = farewell(found, hide=self._client.hide)
        async with self._refusing:
            for reply in self._unanswered.refused(self._ended):
                await self._give(reply)

    async def _give(self, reply: Unsaid) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_session.send(SessionMessage(reply))

    # Messages of the session -----------------------------------------------------------------------------------------

    async def _forward(
        self, from_session: MemoryObjectReceiveStream[SessionMessage], endpoint: httpx.URL, tasks: TaskGroup
    ) -> None:
        """Post each message in a separate task, until there are no more."""
        async for item in from_session:
            message = item.message
            self._unanswered.sent(message)
            post = partial(self._post, message, endpoint)
            if isinstance(message, JSONRPCRequest):
                # A server may hold the POST until it has responded, and other messages must not wait.
                tasks.start_soon(self._ask, message.id, post)
                continue
            if (number := cancelled_by(message)) is not None:
                self._posts.abandon(number)
            self._posts.start(getattr(message, "method", None), post)

    async def _ask(self, number: RequestId, post: Callable[[], Awaitable[None]]) -> None:
        with contextlib.suppress(Abandoned):
            await self._posts.open(number).run(post)

    async def _post(self, message: JSONRPCMessage, endpoint: httpx.URL) -> None:
        error = await self._sent(message, endpoint)
        if error is not None and isinstance(message, JSONRPCRequest):
            # There will be no response on the event stream.
            await self._refuse(message.id, error)
        if self._client.lost:
            # Nor for earlier requests.
            await self._refuse_all(self._client.lost)
            self._terms.on_lost()

    async def _sent(self, message: JSONRPCMessage, endpoint: httpx.URL) -> ErrorData | None:
        """Send a message; return why that failed, if it did."""
        if self._ended is not None:
            return self._ended
        try:
            body = written(message)
        except UnwritableError:
            return UNWRITABLE
        # Errors are in the memory.
        with contextlib.suppress(httpx.RequestError, *UNMAPPED):
            request = self._client.build_request("POST", endpoint, content=body, headers={"content-type": JSON})
            await self._client.send_within_origin(request)
        found = self._client.memory.found
        return None if found is None else farewell(found, hide=self._client.hide)
