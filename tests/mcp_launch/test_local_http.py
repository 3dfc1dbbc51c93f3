"""The HTTP server of a local server, with well-behaved and stalled clients."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from mcp_launch._local import listener as asgi
from mcp_launch._local.listener import Application, Message, Receive, Scope, Send, serve_http

pytestmark = pytest.mark.anyio


class App:
    """Repeats the request, or does what the path says."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.waiting = anyio.Event()
        self.left = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        match scope["path"]:
            case "/repeat":
                await answer(send, await body_of(receive))
            case "/unread":
                await answer(send, b"unread", headers=[(b"content-length", b"6")])
            case "/parts":
                await send({"type": "http.response.start", "status": 200})
                await send({"type": "http.response.body", "body": b"one, ", "more_body": True})
                await send({"type": "http.response.body", "body": b"two"})
            case "/closes":
                await answer(send, b"bye", headers=[(b"connection", b"close")])
            case "/raises":
                raise LookupError("mine")
            case "/breaks":
                await send({"type": "http.response.start", "status": 200, "headers": []})
                raise LookupError("mine")
            case "/waits":
                await body_of(receive)
                self.waiting.set()
                assert await receive() == {"type": "http.disconnect"}
                self.left.set()
                await answer(send, b"nobody hears this")
            case _:
                await body_of(receive)


async def answer(send: Send, body: bytes, *, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def body_of(receive: Receive) -> bytes:
    body = b""
    message: Message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return body


@asynccontextmanager
async def connected(app: Application) -> AsyncGenerator[SocketStream]:
    """Open a connection to the application, which the server must close."""
    (listener,) = (await anyio.create_tcp_listener(local_host="127.0.0.1")).listeners

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await serve_http(stream, app)

    with anyio.fail_after(20):
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            port = listener.extra(SocketAttribute.local_port)
            async with await anyio.connect_tcp("127.0.0.1", port) as client:
                yield client
            tasks.cancel_scope.cancel()


async def all_of(stream: SocketStream) -> bytes:
    """Return everything until the server closes the connection."""
    said = b""
    try:
        while True:
            said += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return said


async def exchange(sent: bytes, app: Application | None = None) -> bytes:
    async with connected(app or App()) as stream:
        await stream.send(sent)
        await stream.send_eof()
        return await all_of(stream)


CHUNKS = b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        b"POST /repeat HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n" + CHUNKS,
        b"POST /repeat HTTP/1.0\r\ncontent-length: 5\r\n\r\nhello",
        b"POST /%72epeat?x=1 HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
    ],
)
async def test_a_request_gets_a_response(sent: bytes) -> None:
    async with connected(App()) as stream:
        await stream.send(sent)
        said = await all_of(stream)

    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"hello" in said


async def test_a_body_is_awaited_after_100_continue() -> None:
    async with connected(App()) as stream:
        await stream.send(b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 100 ")
        for part in (b"he", b"llo"):
            await stream.send(part)
        said = await stream.receive()
        while b"hello" not in said:
            said += await stream.receive()


async def test_one_connection_serves_many_requests_including_pipelined_ones() -> None:
    app = App()
    one = b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n"
    unread = b"POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc"
    bare = b"HEAD /parts HTTP/1.1\r\nhost: a\r\n\r\n"
    last = b"GET /closes HTTP/1.1\r\nhost: a\r\n\r\n"

    async with connected(app) as stream:
        await stream.send(one + b"one" + one + b"two" + unread + bare + last)
        said = await all_of(stream)

    assert said.count(b"HTTP/1.1 200 ") == 5
    assert b"one, " not in said
    assert said.index(b"one") < said.index(b"two") < said.index(b"unread") < said.index(b"bye")
    assert [scope["method"] for scope in app.scopes] == ["POST", "POST", "POST", "HEAD", "GET"]


async def test_an_application_gets_a_request_in_the_form_of_asgi() -> None:
    app = App()

    said = await exchange(b"GET /%70arts?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", app)
    assert said.index(b"one, ") < said.index(b"two")
    assert app.scopes == [
        {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/parts",
            "raw_path": b"/%70arts",
            "query_string": b"x=1",
            "root_path": "",
            "headers": [(b"host", b"a")],
        }
    ]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 200_000, b"HTTP/1.1 431 "),
        (b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", b"HTTP/1.1 400 "),
    ],
)
async def test_an_invalid_request_gets_an_error_and_the_connection_is_closed(sent: bytes, said: bytes) -> None:
    async with connected(App()) as stream:
        await stream.send(sent)
        answered = await all_of(stream)

    # The rest of a flood may cost the answer, on its way.
    assert answered.startswith(said) or (len(sent) > 100_000 and not answered)
    assert answered.count(b"HTTP/1.1") <= 1


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /rep",
        b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 500\r\n\r\nhello",
        b"POST /repeat HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n",
        b"GET /silent HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET /breaks HTTP/1.1\r\nhost: a\r\n\r\n",
    ],
)
async def test_an_incomplete_or_unanswered_request_closes_the_connection(sent: bytes) -> None:
    assert b"hello" not in await exchange(sent)


async def test_an_application_is_notified_when_its_client_disconnects() -> None:
    app = App()

    async with connected(app) as stream:
        await stream.send(b"GET /waits HTTP/1.1\r\nhost: a\r\n\r\n")
        await app.waiting.wait()
        await anyio.wait_all_tasks_blocked()
        assert not app.left.is_set()
        await stream.aclose()
        await app.left.wait()


async def test_a_failing_application_is_an_error_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    said = await exchange(b"GET /raises HTTP/1.1\r\nhost: a\r\n\r\n")

    assert said.startswith(b"HTTP/1.1 500 ")
    (record,) = [record for record in caplog.records if record.name == asgi.__name__]
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "a request failed")
    assert "LookupError: mine" in caplog.text


async def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_FIRST", 0.01)

    async with connected(App()) as stream:
        await stream.send(b"GET / HT")
        assert await all_of(stream) == b""


async def test_between_requests_there_is_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_FIRST", 0.5)
    request = b"POST /repeat HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello"

    async with connected(App()) as stream:
        for pause in (0.6, 0.0):
            await stream.send(request)
            said = b""
            while not said.endswith(b"0\r\n\r\n"):
                said += await stream.receive()
            await anyio.sleep(pause)


async def test_a_connection_without_the_rest_of_a_body_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_REST", 0.01)

    async with connected(App()) as stream:
        await stream.send(b"POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 500\r\n\r\nhello")
        assert (await all_of(stream)).endswith(b"unread")
