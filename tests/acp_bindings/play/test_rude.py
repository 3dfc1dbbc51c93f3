"""Rude behaviour: each kind has the finding that is meant, and happens once."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings.play import RUDE, Play
from tests.acp_bindings.play.raw import Raw, raw_client

pytestmark = pytest.mark.anyio

WITHOUT_ANSWER = {"bad-error", "bad-result", "exit", "no-answer", "result-and-error", "string-id", "wrong-id"}
"""The kinds after which the turn has no end that a client would see, at least in one version."""
SHOWN_BY_LINES = [name for name, rude in RUDE.items() if rude.ignores is None]
ALLOWED_IN_V2 = {"early", "late", "open-tool", "unknown-permission", "unknown-tool"}
CONSEQUENCES = {
    "lifecycle.no-session": {"same-session"},
    "lifecycle.not-initialized": {"text-version"},
    "lifecycle.replay-incomplete": {"late-history"},
    "lifecycle.unanswered": {"exit", "same-id", "string-id", "wrong-id"},
    "permission.unknown-tool-call": {"same-id", "same-options"},
    "turn.never-ends": {"exit"},
}
"""Other rules that find the same."""


async def behave(client: Raw, kind: str) -> None:
    """Let the agent be rude, and read to the end."""
    place = RUDE[kind].place
    # Both requests are open at the same time.
    client.silent |= {"session/request_permission"} if kind == "same-id" else set()
    await client.initialize()
    session = await client.new_session()
    await client.turn(session, "Hello")
    if place in ("session/new", "session/load"):
        await client.turn(session, f"/rude {kind}")
        await (client.new_session() if place == "session/new" else client.load(session))
    elif kind in WITHOUT_ANSWER:
        await client.prompt(session, f"/rude {kind}")
    elif place != "initialize":
        await client.turn(session, f"/rude {kind}")
    await client.hear_all()


@pytest.mark.parametrize("kind", SHOWN_BY_LINES)
async def test_rude_behaviour_has_the_finding_that_is_meant(version: int, kind: str) -> None:
    rude = RUDE[kind]
    with anyio.fail_after(30):
        async with raw_client(Play(rude=[kind] if rude.place == "initialize" else []), version) as client:
            await behave(client, kind)
    found = {each.rule for each in client.findings()}
    found -= {rule for rule, kinds in CONSEQUENCES.items() if kind in kinds}
    assert found == meant(rude.rule, allowed=version == 2 and kind in ALLOWED_IN_V2)


def meant(rule: str | None, *, allowed: bool = False) -> set[str]:
    """Return the rules that should have a finding."""
    return {rule} if rule is not None and not allowed else set()


@pytest.mark.parametrize("kind", ["print", "twice", "late", "no-jsonrpc"])
async def test_rude_behaviour_happens_once_if_it_is_typed(kind: str) -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), 1) as client:
            await client.initialize()
            session = await client.new_session()
            await client.turn(session, f"/rude {kind}")
            await client.turn(session, "Hello")
            await client.hear_all()
            plain = len(client.said)
        async with raw_client(Play(rude=[kind]), 1) as client:
            await client.initialize()
            session = await client.new_session()
            await client.turn(session, f"/rude {kind}")
            await client.turn(session, "Hello")
            await client.hear_all()
    assert len(client.said) == plain + 1


async def test_early_updates_come_before_the_response(version: int) -> None:
    async with raw_client(Play(rude=["early"]), version) as client:
        await client.initialize()
        await client.request("session/new", cwd="/tmp", mcpServers=[])
        early, response = await client.hear(), await client.hear()
        await client.hear_all()
    assert early["params"]["sessionId"] == response["result"]["sessionId"]


async def test_late_history_comes_after_the_response(version: int) -> None:
    async with raw_client(Play(), version) as client:
        await client.initialize()
        session = await client.new_session()
        await client.turn(session, "Hello")
        await client.turn(session, "/rude late-history")
        before = len(client.said)
        await client.load(session)
        assert len(client.said) == before + 1
        await client.hear_all()
    assert sum(b"user_message" in each for each in client.said[before:]) >= 2


async def test_an_agent_that_ignores_a_cancellation_ends_its_turn_as_if_there_was_none(version: int) -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), version) as client:
            await client.initialize()
            session = await client.new_session()
            await client.prompt(session, "/rude no-cancel")
            while "Cancel the turn" not in str(await client.hear()):
                pass
            await client.send(method="session/cancel", params={"sessionId": session})
            while "stopReason" not in (text := str(await client.hear())):
                pass
    assert "'stopReason': 'end_turn'" in text
    assert {each.rule for each in client.findings()} == meant(RUDE["no-cancel"].rule)


async def test_an_agent_that_does_not_exit_ignores_the_end_of_its_input() -> None:
    async with raw_client(Play(rude=["no-exit"]), 1) as client:
        await client.initialize()
        with anyio.move_on_after(0.5) as waited:
            await client.hear_all()
    assert waited.cancelled_caught


@pytest.mark.parametrize("kind", ["no-exit", "no-reading"])
async def test_an_agent_that_ignores_the_end_of_its_input_ends_in_tests(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.play._served.GRACE", 0.1)
    with anyio.fail_after(10):
        async with Play(rude=[kind]).connected():
            pass


async def test_an_agent_that_stops_reading_does_not_respond() -> None:
    async with raw_client(Play(), 1) as client:
        await client.initialize()
        session = await client.new_session()
        await client.turn(session, "/rude no-reading")
        with anyio.move_on_after(0.5) as waited:
            await client.turn(session, "Hello")
    assert waited.cancelled_caught


async def test_an_unknown_kind_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="unknown --rude kind 'polite'; choose from bad-error"):
        Play(rude=["polite"])
    async with raw_client(Play(), 1) as client:
        await client.initialize()
        await client.turn(await client.new_session(), "/rude polite")
        await client.hear_all()
    text: Any = b"".join(client.said)
    assert all(f"/rude {kind}".encode() in text for kind in RUDE)


async def test_malformed_requests_get_errors_as_from_any_agent(version: int) -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), version) as client:
            await client.initialize()
            session = await client.new_session()
            blocks = [{"type": "text", "text": None}]
            await client.send(id=[1], method="session/list", params={})
            refused = await client.ask("session/prompt", sessionId=session, prompt=blocks)
            await client.turn(session, "Hello")
            await client.hear_all()
    assert "error" in refused


@pytest.mark.parametrize(
    ("kind", "method", "params"),
    [
        ("early", "session/new", {"cwd": 3}),
        ("version-99", "initialize", {"protocolVersion": "x"}),
        ("late-history", "session/load", {"sessionId": "nobody", "cwd": "/tmp", "mcpServers": []}),
        ("twice", "session/prompt", {"sessionId": "nobody", "prompt": []}),
    ],
)
async def test_a_refused_request_is_refused_as_by_any_agent(kind: str, method: str, params: Any) -> None:
    refused: list[Any] = []
    for rude in ([], [kind]):
        with anyio.fail_after(30):
            async with raw_client(Play(rude=rude), 1) as client:
                if method != "initialize":
                    await client.initialize()
                await client.ask(method, **params)
                await client.hear_all()
        refused.append(client.said[-1])
    assert refused[0] == refused[1]
    assert b'"error"' in refused[0]
