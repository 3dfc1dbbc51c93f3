"""The rules of the transport, by requests as any HTTP client can send them."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx
import pytest

from acp_bindings.agent import Agent
from acp_bindings.remote import Limits
from tests.acp_bindings.remote.conftest import Serve

pytestmark = pytest.mark.anyio

INITIALIZE: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
NEW: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/tmp", "mcpServers": []}}
STREAM: dict[str, str] = {"accept": "text/event-stream"}


async def initialize(client: httpx.AsyncClient, **headers: str) -> dict[str, str]:
    """Return the headers of a new connection."""
    response = await client.post("", json=INITIALIZE, headers=headers)
    assert response.status_code == 200, response.text
    return {"acp-connection-id": response.headers["acp-connection-id"], **headers}


def prompt(session_id: str, text: str, id_: int = 2) -> dict[str, Any]:
    params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": id_, "method": "session/prompt", "params": params}


async def messages(response: httpx.Response, count: int) -> list[Any]:
    """Return the next messages of an event stream."""
    found: list[Any] = []
    with anyio.fail_after(5), anyio.CancelScope() as reading:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                # Not a break, which would leave httpx's generators to the garbage collector.
                reading.cancel()
    return found


async def new_session(client: httpx.AsyncClient, connection: dict[str, str]) -> str:
    assert (await client.post("", json=NEW, headers=connection)).status_code == 202
    async with client.stream("GET", "", headers=connection | STREAM) as stream:
        (created,) = await messages(stream, 1)
    return created["result"]["sessionId"]


async def test_initialize_is_answered_in_the_body(raw: httpx.AsyncClient) -> None:
    response = await raw.post("", json=INITIALIZE)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["result"]["protocolVersion"] == 1
    assert len(response.headers["acp-connection-id"]) == 32


async def test_other_messages_are_answered_on_the_streams(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    id_ = await new_session(raw, connection)
    session = connection | {"acp-session-id": id_}
    posted = await raw.post("", json=prompt(id_, "hello"), headers=session)
    assert (posted.status_code, posted.content) == (202, b"")
    async with raw.stream("GET", "", headers=session | STREAM) as stream:
        said, done = await messages(stream, 2)
    assert said["params"]["update"]["content"]["text"] == "5: hello"
    assert done == {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}


async def test_a_stream_continues_after_the_last_event_id(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    id_ = await new_session(raw, connection)
    session = connection | {"acp-session-id": id_}
    await raw.post("", json=prompt(id_, "count 3"), headers=session)
    async with raw.stream("GET", "", headers=session | STREAM) as stream:
        await messages(stream, 4)
    async with raw.stream("GET", "", headers=session | STREAM | {"last-event-id": "2"}) as stream:
        again = await messages(stream, 2)
    assert [each.get("id") for each in again] == [None, 2]
    lost = await raw.get("", headers=session | STREAM | {"last-event-id": "9"})
    assert lost.status_code == 410


async def test_a_second_reader_of_a_stream_is_refused(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    async with raw.stream("GET", "", headers=connection | STREAM) as stream:
        assert stream.status_code == 200
        assert (await raw.get("", headers=connection | STREAM)).status_code == 409


async def test_the_stream_of_a_closed_session_can_be_read_again_at_once(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    id_ = await new_session(raw, connection)
    session = connection | {"acp-session-id": id_}
    close = {"jsonrpc": "2.0", "id": 3, "method": "session/close", "params": {"sessionId": id_}}
    async with raw.stream("GET", "", headers=session | STREAM) as stream:
        await raw.post("", json=close, headers=session)
        assert await messages(stream, 1) == [{"jsonrpc": "2.0", "id": 3, "result": {}}]
        async with raw.stream("GET", "", headers=session | STREAM) as again:
            assert again.status_code == 200
            assert (await raw.get("", headers=session | STREAM)).status_code == 409


async def test_delete_ends_the_connection_and_its_streams(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    async with raw.stream("GET", "", headers=connection | STREAM) as stream:
        assert (await raw.delete("", headers=connection)).status_code == 202
        with anyio.fail_after(5):
            assert await stream.aread() == b""
    assert (await raw.post("", json=NEW, headers=connection)).status_code == 404


@pytest.mark.parametrize(
    ("status", "method", "headers", "body"),
    [
        (400, "POST", {}, NEW),
        (400, "GET", STREAM, None),
        (400, "DELETE", {}, None),
        (404, "POST", {"acp-connection-id": "unknown"}, NEW),
        (404, "GET", {"acp-connection-id": "unknown"} | STREAM, None),
        (404, "DELETE", {"acp-connection-id": "unknown"}, None),
        (400, "POST", {}, {"jsonrpc": "2.0", "method": "initialize", "params": {}}),
        (400, "POST", {}, {"jsonrpc": "2.0"}),
        (400, "POST", {}, "text"),
        (501, "POST", {}, [INITIALIZE]),
        (405, "PUT", {}, None),
        (415, "POST", {"content-type": "text/plain"}, INITIALIZE),
        (421, "POST", {"host": "evil.example"}, INITIALIZE),
        (403, "POST", {"origin": "https://evil.example"}, INITIALIZE),
        (413, "POST", {}, "x" * 2000),
        (431, "POST", {"x-long": "y" * 3000}, INITIALIZE),
    ],
)
async def test_a_request_against_the_rules_is_refused(  # noqa: PLR0917 - a table
    agent: Agent, serve: Serve, status: int, method: str, headers: dict[str, str], body: Any
) -> None:
    limits = Limits(body=1000, headers=2000)
    async with serve(agent.asgi(limits=limits)) as url, httpx.AsyncClient() as client:
        content = None if body is None else json.dumps(body)
        more = {"content-type": "application/json"} if body is not None else {}
        response = await client.request(method, f"{url}/acp", content=content, headers=more | headers)
    assert response.status_code == status, response.text
    assert response.text.strip()


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (400, {}, INITIALIZE),
        (400, {}, prompt("s", "hello")),
        (400, {"acp-session-id": "other"}, prompt("s", "hello")),
        (202, {"acp-session-id": "s"}, prompt("s", "hello")),
        (202, {}, {"jsonrpc": "2.0", "id": 7, "result": {}}),
    ],
)
async def test_a_request_of_a_connection_follows_its_rules(
    raw: httpx.AsyncClient, status: int, headers: dict[str, str], body: Any
) -> None:
    response = await raw.post("", json=body, headers=await initialize(raw) | headers)
    assert response.status_code == status, response.text


async def test_a_stream_needs_its_media_type(raw: httpx.AsyncClient) -> None:
    response = await raw.get("", headers=await initialize(raw) | {"accept": "application/json"})
    assert response.status_code == 406


async def test_other_paths_are_not_found(agent: Agent, serve: Serve) -> None:
    async with serve(agent.asgi(path="/agents/one/")) as url, httpx.AsyncClient() as client:
        assert (await client.post(f"{url}/acp", json=INITIALIZE)).status_code == 404
        assert (await client.post(f"{url}/agents/one", json=INITIALIZE)).status_code == 200


async def test_an_unknown_session_is_an_error_of_the_agent(raw: httpx.AsyncClient) -> None:
    connection = await initialize(raw)
    await raw.post("", json=prompt("unknown", "hello"), headers=connection | {"acp-session-id": "unknown"})
    async with raw.stream("GET", "", headers=connection | STREAM) as stream:
        (error,) = await messages(stream, 1)
    assert error["error"]["code"] == -32002


async def test_connections_beyond_the_limit_are_refused_with_retry_after(agent: Agent, serve: Serve) -> None:
    app = agent.asgi(limits=Limits(connections=1))
    async with serve(app) as url, httpx.AsyncClient(base_url=f"{url}/acp") as client:
        connection = await initialize(client)
        refused = await client.post("", json=INITIALIZE)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        await client.delete("", headers=connection)
        with anyio.fail_after(5):
            while (await client.post("", json=INITIALIZE)).status_code == 429:
                await anyio.sleep(0.01)


async def test_an_idle_connection_is_closed(agent: Agent, serve: Serve) -> None:
    app = agent.asgi(limits=Limits(idle=0.2))
    async with serve(app) as url, httpx.AsyncClient(base_url=f"{url}/acp") as client:
        connection = await initialize(client)
        with anyio.fail_after(5):
            while (await client.post("", json=NEW, headers=connection)).status_code != 404:
                await anyio.sleep(0.3)
    assert not app._counts  # pyright: ignore[reportPrivateUsage]


async def test_comments_keep_a_stream_alive(agent: Agent, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.remote._asgi.KEEP_ALIVE", 0.1)
    async with serve(agent.asgi()) as url, httpx.AsyncClient(base_url=f"{url}/acp") as client:
        connection = await initialize(client)
        async with client.stream("GET", "", headers=connection | STREAM) as stream:
            with anyio.fail_after(5), anyio.CancelScope() as reading:
                async for line in stream.aiter_lines():
                    assert line in (": ", "")
                    reading.cancel()
