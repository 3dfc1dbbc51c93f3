"""Lines that are not messages affect nothing else, and are reported where a response is missing."""

from __future__ import annotations

import logging
import sys
from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, ConnectionClosed, StrayLines, TimedOut, connect_process
from acp_bindings.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR
from tests.acp_bindings.connection.support import NEW, SECRET, Bare, against, doing, fails, nothing, one

pytestmark = pytest.mark.anyio


async def print_to(peer: Bare, *lines: bytes) -> None:
    """Make the other end read lines that are not messages."""
    await peer.say(*lines)
    for _ in lines:
        while "error" not in await peer.hear():
            pass


async def time_out(connection: Connection) -> TimedOut:
    with pytest.raises(TimedOut) as caught:
        await connection.request(method="_acme/do", timeout=0.01)
    return caught.value


async def answer(peer: Bare) -> None:
    """Answer the next request."""
    message = await peer.hear()
    while message.get("method") != "session/new":
        message = await peer.hear()
    await peer.say({"id": message["id"], "result": {"sessionId": "s"}})


async def test_garbage_gets_an_error_and_the_next_line_is_read() -> None:
    async with against({"_acme/do": one}) as (_, peer):
        await peer.say(b"Starting...", b"", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 9}', b"[]", doing(1))
        answers = [await peer.hear() for _ in range(4)]
    assert [answer.get("error", {}).get("code") for answer in answers] == [PARSE_ERROR, PARSE_ERROR, -32600, None]
    assert answers[-1] == {"id": 1, "result": 1}


async def test_a_timeout_quotes_an_agent_that_only_prints() -> None:
    async with against(role="client") as (client, peer):
        await print_to(peer, b"Starting v1.2 ...")
        one = await time_out(client)
        await print_to(peer, b'"text"', "✓ Listening on port 3000\r".encode())
        three = await time_out(client)
    says = 'the peer sent a line that is not a message: "Starting v1.2 ..."'
    assert str(one) == f"_acme/do: no response within 0.01 s; {says}"
    assert one.stray == StrayLines(1, "Starting v1.2 ...")
    says = 'the peer sent 3 lines that are not messages, the last: "✓ Listening on port 3000"'
    assert str(three) == f"_acme/do: no response within 0.01 s; {says}"


async def test_a_timeout_of_a_silent_agent_quotes_nothing() -> None:
    async with against(role="client") as (client, peer):
        await peer.say(b"", b"  ", {"id": 77, "result": None})
        error = await time_out(client)
    assert (str(error), error.stray) == ("_acme/do: no response within 0.01 s", None)


async def test_a_timeout_mentions_an_unfinished_line() -> None:
    told = "_acme/do: no response within 0.01 s; the peer has sent the beginning of a line, but not yet its newline"
    async with against({"_acme/one": nothing}, role="client") as (client, peer):
        await peer.stream.send(b'{"jsonrpc": "2.0", "id": 1, "method": "_acme/one"}\n{"id": 0')
        await peer.hear()
        error = await time_out(client)
        assert (str(error), error.unended) == (told, 8)
        await peer.stream.send(b"}\n")
        while "error" not in await peer.hear():
            pass
        assert (await time_out(client)).unended == 0


async def test_lines_printed_before_a_response_are_not_blamed_later() -> None:
    async with against(role="client") as (client, peer):
        await print_to(peer, b"Starting")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, peer)
            await client.request(NEW, timeout=5)
        assert (await time_out(client)).stray is None
        await peer.stream.aclose()
        with anyio.fail_after(5):
            assert (await client.wait_ended()).stray is None


async def test_text_in_front_of_a_response_is_reported_to_the_caller() -> None:
    says = 'session/new: the peer closed the connection; the peer sent a line that is not a message: "Loading...…"'
    async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
        await print_to(peer, b"Starting")
        tasks.start_soon(answer, peer)
        await client.request(NEW, timeout=5)
        tasks.start_soon(fails, client, f"^{says}$", NEW)
        id_ = (await peer.hear())["id"]
        await print_to(peer, b'Loading...{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s"}}' % id_)
        await peer.stream.aclose()


async def test_the_end_of_an_agent_that_only_printed_quotes_it_without_secrets() -> None:
    code = "import os; print('Usage: agent --acp'); print('bad key ' + os.environ['KEY'])"
    command = [sys.executable, "-c", code]
    async with connect_process(command, protocol=v1, env={"KEY": SECRET}) as connection:
        with anyio.fail_after(10):
            end = await connection.wait_ended()
        with pytest.raises(ConnectionClosed) as caught:
            await connection.request(NEW)
    assert end.reason == "the process exited with status 0; it wrote nothing to stderr"
    assert end.stray == caught.value.stray == StrayLines(2, "bad key [redacted]")
    assert str(end) == f'{end.reason}; the peer sent 2 lines that are not messages, the last: "bad key [redacted]"'


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"x" * 400, "x" * 300 + "…"),
        (b"x" * 20000, "[a line of 20000 bytes]"),
        (b'{"level":"info","msg":"up"}', '{"level":"info","msg":"up"}'),
        (b'{"level":"info","got":{"env":[{"name":"A","value":"b"}]}}', '{"level":"info","got":…'),
        (b'[{"name":"A","value":"b"}]', "[…"),
        (b"caf\xe9", "caf\ufffd"),
    ],
)
async def test_only_the_start_of_a_long_line_is_quoted(line: bytes, shown: str) -> None:
    async with against(role="client") as (client, peer):
        await print_to(peer, line)
        assert (await time_out(client)).stray == StrayLines(1, shown)


async def test_lines_of_a_client_are_not_quoted(caplog: pytest.LogCaptureFixture) -> None:
    async with against(role="agent") as (agent, peer):
        await print_to(peer, b'  "value": "' + SECRET.encode() + b'"')
        error = await time_out(agent)
    assert str(error) == "_acme/do: no response within 0.01 s; the peer sent a line that is not a message"
    assert error.stray == StrayLines(1, None)
    (message,) = caplog.messages
    assert message.endswith("not a message: Parse error: trailing characters at line 1 column 10")


async def test_only_the_first_stray_lines_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    async with against(role="client") as (_, peer):
        await print_to(peer, *(b"line %d" % number for number in range(50)))
    said = "the peer sent a line that is not a message: Parse error: expected value at line 1 column 1"
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 5
    assert caplog.messages == [f'{said}: "line {number}"' for number in range(5)]


async def test_an_invalid_message_is_not_a_stray_line(caplog: pytest.LogCaptureFixture) -> None:
    wrong: dict[str, Any] = {"method": "session/update", "params": {}}
    # These are reported to the peer.
    answered: list[dict[str, Any]] = [
        {"id": 1, "method": "no/such", "params": {}},
        {"id": 2, "method": "fs/read_text_file", "params": {}},
    ]
    async with against(role="client") as (client, peer):
        await peer.say(wrong, *answered)
        assert [(await peer.hear())["error"]["code"] for _ in answered] == [METHOD_NOT_FOUND, INVALID_PARAMS]
        assert (await time_out(client)).stray is None
    said = "sessionId: Field required; update: Field required"
    assert caplog.messages == [f"ignored an invalid message: session/update: Invalid params: {said}"]


async def test_a_response_whose_id_has_another_type_causes_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def answer_as_text(peer: Bare) -> None:
        asked = await peer.hear()
        await peer.say(
            {"id": str(asked["id"]), "result": {}}, {"id": 8, "result": {}}, {"id": asked["id"], "result": {}}
        )

    async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(answer_as_text, peer)
        await client.request(method="_acme/do")
    told = 'It matches no open request: id: "0" is not the id of an open request; the id of _acme/do is 0'
    assert caplog.messages == [f"ignored an invalid message: {told}"]


async def test_a_lost_notification_causes_a_warning_unless_there_is_a_flood(caplog: pytest.LogCaptureFixture) -> None:
    """It has no response, so without a warning the missing update could not be explained."""
    content = {"type": "hologram", "data": SECRET}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    wrong: dict[str, Any] = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    newer: dict[str, Any] = {"method": "session/no_such", "params": {}}
    async with against(role="client") as (client, peer):
        await peer.say(newer, *[wrong] * 50)
        await time_out(client)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 5
    assert "session/update: Invalid params: update.content.type: 'hologram' is not one of 'text'" in caplog.messages[0]
    assert SECRET not in caplog.text
