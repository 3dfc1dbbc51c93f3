"""Replaying recordings: the same lines of the agent, for the same messages of the client."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from acp_bindings.play import Play, Replay
from tests.acp_bindings.play.raw import Raw, raw_client

pytestmark = pytest.mark.anyio


async def talk(agent: Play | Replay, version: int, *, first_id: int = 0) -> Raw:
    """Return a conversation with permission and a terminal."""
    with anyio.fail_after(30):
        async with raw_client(agent, version) as client:
            client.ids = first_id
            await client.initialize()
            session = await client.new_session()
            await client.turn(session, "/everything")
            await client.turn(session, "/rude print")
            await client.turn(session, "Hello")
            await client.hear_all()
    return client


async def test_a_replay_says_what_was_recorded(version: int) -> None:
    first = await talk(Play(), version)
    again = await talk(Replay(first.recording), version)
    assert again.said == first.said


async def test_responses_have_the_ids_of_the_new_requests(version: int) -> None:
    first = await talk(Play(), version)
    again = await talk(Replay(first.recording), version, first_id=100)
    assert len(again.said) == len(first.said)
    assert again.said != first.said


async def test_a_recording_without_wrappers_is_replayed(version: int) -> None:
    first = await talk(Play(), version)
    lines = [json.loads(each)["message"].encode() + b"\n" for each in first.recording if each.startswith(b'{"from')]
    again = await talk(Replay(lines), version)
    assert again.said == [each for each in first.said if each.startswith(b"{")]


async def test_a_request_that_was_not_recorded_gets_an_error(version: int) -> None:
    first = await talk(Play(), version)
    with anyio.fail_after(30):
        async with raw_client(Replay(first.recording), version) as client:
            await client.initialize()
            response = await client.ask("session/list")
            session = await client.new_session()
            await client.turn(session, "/everything")
            await client.hear_all()
    assert response["error"]["message"] == "The recording has no further request session/list"
    assert session == "session-1"


def said(sender: str, **message: Any) -> bytes:
    return json.dumps({"from": sender, "message": {"jsonrpc": "2.0", **message}}).encode()


async def test_a_client_that_sends_something_else_is_told_what_the_recording_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("acp_bindings.play._replay._PATIENCE", 0.05)
    recording = [
        *(said("client", id=1, method="_a"), said("agent", id=1, result="a")),
        *(said("client", id=2, method="_b"), said("agent", id=2, result="b")),
    ]
    told = ""
    with anyio.fail_after(30):
        async with raw_client(Replay(recording), 1) as client:
            await anyio.sleep(0.2)
            assert capsys.readouterr().err == ""  # a client that sends nothing is not reminded
            await client.request("_b")
            while not told:
                await anyio.sleep(0.05)
                told = capsys.readouterr().err
    # A slow machine prints it several times.
    assert {*told.splitlines()} == {
        "waiting for the request _a (line 1 of the recording); the client has sent the request _b"
    }


async def test_messages_of_the_client_may_come_in_another_order() -> None:
    recording = [
        said("client", id=1, method="_a"),
        said("client", id=2, method="_b"),
        said("agent", id=1, result="a"),
        said("agent", id=2, result="b"),
    ]
    async with raw_client(Replay(recording), 1) as client:
        b = await client.request("_b")
        a = await client.request("_a")
        answers = [await client.hear(), await client.hear()]
        await client.hear_all()
    assert [(each["id"], each["result"]) for each in answers] == [(a, "a"), (b, "b")]


async def test_a_line_of_the_client_that_is_not_a_message_is_not_waited_for() -> None:
    recording = [
        b'{"from": "client", "message": "oops"}',
        *(said("client", id=1, method="_a"), said("agent", id=1, result="a")),
    ]
    with anyio.fail_after(30):
        async with raw_client(Replay(recording), 1) as client:
            assert (await client.ask("_a"))["result"] == "a"


def test_a_recording_of_one_side_cannot_be_replayed() -> None:
    with pytest.raises(ValueError, match="no line is a message from the agent"):
        Replay([b'{"from": "client", "message": {"jsonrpc": "2.0", "id": 1, "method": "initialize"}}\n'])
    with pytest.raises(ValueError, match="no line is a message from the agent"):
        Replay([b'{"prompt": null}\n'])
