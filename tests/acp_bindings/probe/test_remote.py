"""Agents at a URL, over HTTP and WebSocket."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_bindings.agent import Agent, Turn
from acp_bindings.probe import probe
from acp_bindings.remote import Unreachable
from tests.acp_bindings.remote.conftest import Serve, serve

__all__ = ["serve"]

pytestmark = pytest.mark.anyio
FAMILIES = ["negotiation", "messages", "sessions", "prompts", "ending", "conversation"]


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("version", [1, 2])
async def test_an_agent_at_a_url_fails_no_check(serve: Serve, scheme: str, version: int) -> None:
    agent = Agent("remote", version="1.0")

    @agent.prompt
    async def say(turn: Turn) -> None:
        await turn.say("Hello.")

    async with serve(agent.asgi()) as base:
        report = await probe(f"{base.replace('http', scheme)}/acp", version=version, only=FAMILIES, timeout=10)

    assert [each for each in report.results if each.status == "fail"] == []
    by_id = {each.check.id: each for each in report.results}
    assert by_id["prompts.turn"].status == "ok"
    assert by_id["ending.stdin"].message == "it is about standard streams"
    assert by_id["messages.batch"].status == ("skip" if scheme == "http" else "ok")


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_token_is_sent_and_not_recorded_even_if_the_agent_repeats_it(
    serve: Serve, scheme: str, tmp_path: Path
) -> None:
    token = "s3cret-of-ada"
    agent = Agent(f"remote {token}", version="1.0")

    @agent.prompt
    async def say(turn: Turn) -> None:
        await turn.say("Hello.")

    app = agent.asgi(authenticate=lambda caller: "ada" if caller.bearer == token else None)
    record = tmp_path / "probe.ndjson"

    async with serve(app) as base:
        url = f"{base.replace('http', scheme)}/acp"
        with pytest.raises(Unreachable, match="requires a login"):
            await probe(url, only=["negotiation.info"], timeout=5)
        headers = {"Authorization": f"Bearer {token}"}
        report = await probe(url, only=["negotiation.info"], timeout=10, headers=headers, record=record)

    assert [each.status for each in report.results] == ["ok"]
    assert token not in record.read_text() + repr(report)


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_url_where_nothing_answers_is_an_error(scheme: str) -> None:
    with pytest.raises(Unreachable):
        await probe(f"{scheme}://127.0.0.1:9/acp", timeout=5)
