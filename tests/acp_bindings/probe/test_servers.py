"""The MCP servers of the probe: what an agent sends them ends at most its own connection."""

from __future__ import annotations

import json
from urllib.parse import SplitResult, urlsplit

import anyio
import pytest

from acp_bindings.probe._mcp_servers import LONGEST_HEAD, Servers


@pytest.mark.anyio
@pytest.mark.parametrize("body", ["[]", "not JSON", '"text"', '{"id": 1, "method": "initialize", "params": [1]}'])
async def test_a_wrong_body_is_answered(body: str) -> None:
    answer = await _talk("http", f"POST %s HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}")

    assert answer.startswith("HTTP/1.1 200 OK")
    assert json.loads(answer.partition("\r\n\r\n")[2])["jsonrpc"] == "2.0"


@pytest.mark.anyio
async def test_a_body_in_chunks_is_read() -> None:
    chunks = '6\r\n{"id":\r\n1A\r\n "x", "method": "unknown"}\r\n0\r\n\r\n'

    answer = await _talk("http", f"POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")

    assert json.loads(answer.partition("\r\n\r\n")[2])["id"] == "x"


@pytest.mark.anyio
async def test_all_responses_arrive_on_an_sse_stream_if_requests_are_sent_at_once() -> None:
    servers, ids = Servers(1), range(20)

    async def post(address: SplitResult, id_: int) -> None:
        body = json.dumps({"id": id_, "method": "ping"})
        async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as connection:
            head = f"POST {address.path}/messages HTTP/1.1\r\nContent-Length: {len(body)}"
            await connection.send(f"{head}\r\n\r\n{body}".encode())
            await connection.receive()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            await servers.start(tasks)
            address = urlsplit(str(servers.remote("sse")["url"]))
            async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as events:
                await events.send(f"GET {address.path} HTTP/1.1\r\n\r\n".encode())
                said = await events.receive()
                while b"endpoint" not in said:
                    said += await events.receive()
                for each in ids:
                    tasks.start_soon(post, address, each)
                while not all(b'"id": %d,' % each in said for each in ids):
                    said += await events.receive()
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_wrong_request_ends_only_its_connection(kind: str) -> None:
    assert await _talk(kind, "GET %s HTTP/1.1\r\nX: " + "x" * 2 * LONGEST_HEAD) == ""
    assert await _talk(kind, "nothing\r\n\r\n") == ""


@pytest.mark.anyio
async def test_a_post_after_the_end_of_its_stream_is_accepted() -> None:
    body = '{"id": 1, "method": "ping"}'

    answer = await _talk("sse", f"POST %s/messages HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}", stream=True)

    assert answer.startswith("HTTP/1.1 202 Accepted")


@pytest.mark.anyio
async def test_a_client_that_tries_streamable_http_at_an_sse_server_is_refused() -> None:
    body = '{"id": 1, "method": "initialize"}'

    answer = await _talk("sse", f"POST %s HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}")

    assert answer.startswith("HTTP/1.1 405 Method Not Allowed")


@pytest.mark.anyio
async def test_the_servers_listen_on_loopback_only() -> None:
    servers = Servers(1)
    async with anyio.create_task_group() as tasks:
        await servers.start(tasks)
        ports = [int(servers.stdio()["args"][2]), urlsplit(str(servers.remote("http")["url"])).port or 0]
        for port in ports:
            await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            # All of 127.0.0.0/8 is this machine, and a server on all addresses would accept it.
            with pytest.raises(OSError):  # noqa: PT011 - of several kinds, by system
                await anyio.connect_tcp("127.0.0.2", port)
        tasks.cancel_scope.cancel()


async def _talk(kind: str, request: str, *, stream: bool = False) -> str:
    """Return the response of a server that still answers afterwards."""
    servers, answers = Servers(1), list[str]()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            await servers.start(tasks)
            address = urlsplit(str(servers.remote(kind)["url"]))
            if stream:
                async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as events:
                    await events.send(f"GET {address.path} HTTP/1.1\r\n\r\n".encode())
                    await events.receive()
            for each in (request, "PUT %s HTTP/1.1\r\n\r\n"):
                said = b""
                async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as connection:
                    try:
                        await connection.send(each.replace("%s", address.path).encode())
                        while True:
                            said += await connection.receive()
                    except (anyio.EndOfStream, anyio.BrokenResourceError):
                        pass
                answers.append(said.decode())
            assert "405 Method Not Allowed" in answers[1]
            tasks.cancel_scope.cancel()
    return answers[0]
