"""Agents at a URL, over HTTP and WebSocket."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskStatus

from acp_bindings.agent import Agent, Turn
from acp_bindings.probe import probe
from acp_bindings.remote import Unreachable
from tests.acp_bindings.remote.conftest import Serve, serve, serve_that_stops

__all__ = ["serve", "serve_that_stops"]

pytestmark = pytest.mark.anyio
FAMILIES = ["negotiation", "messages", "sessions", "prompts", "ending", "conversation"]


async def test_the_scheme_of_a_url_may_be_in_capital_letters(serve: Serve) -> None:
    agent = Agent("remote", version="1.0")

    @agent.prompt
    async def say(turn: Turn) -> None:
        await turn.say("Hello.")

    async with serve(agent.asgi()) as base:
        report = await probe(f"{base.replace('http', 'HTTP')}/acp", only=["messages.batch"], timeout=10)

    assert [each.status for each in report.results] == ["skip"]


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("version", [1, 2])
async def test_an_agent_at_a_url_fails_no_check(serve: Serve, scheme: str, version: int) -> None:
    agent = Agent("remote", version="1.0")

    @agent.prompt
    async def say(turn: Turn) -> None:
        await turn.say("Hello.")

    app = agent.asgi()

    async with serve(app) as base:
        report = await probe(f"{base.replace('http', scheme)}/acp", version=version, only=FAMILIES, timeout=10)
        with anyio.fail_after(5):
            while app._counts:  # until its connections are closed
                await anyio.sleep(0.01)

    assert [each for each in report.results if each.status == "fail"] == []
    by_id = {each.check.id: each for each in report.results}
    assert by_id["prompts.turn"].status == "ok"
    assert by_id["ending.stdin"].message == "it is about standard streams"
    assert by_id["messages.batch"].status == ("skip" if scheme == "http" else "ok")


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_token_is_sent_and_not_recorded_even_if_the_agent_repeats_it(
    serve: Serve, scheme: str, tmp_path: Path
) -> None:
    token, key = "s3cret-of-ada", "k3y-of-the-url"
    agent = Agent(f"remote {token}", version="1.0")

    @agent.prompt
    async def say(turn: Turn) -> None:
        await turn.say("Hello.")

    app = agent.asgi(authenticate=lambda caller: "ada" if caller.bearer == token else None)
    record = tmp_path / "probe.ndjson"

    async with serve(app) as base:
        url = f"{base.replace('http', scheme)}/acp?api_key={key}"
        with pytest.raises(Unreachable, match="requires a login"):
            await probe(url, only=["negotiation.info"], timeout=5)
        headers = {"Authorization": f"Bearer {token}"}
        report = await probe(url, only=["negotiation.info"], timeout=10, headers=headers, record=record)

    assert [each.status for each in report.results] == ["ok"]
    assert token not in record.read_text() + repr(report)
    assert key not in record.read_text() + repr(report)


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_url_where_nothing_answers_is_an_error(scheme: str) -> None:
    with pytest.raises(Unreachable):
        await probe(f"{scheme}://127.0.0.1:9/acp", timeout=5)


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_an_agent_that_stops_during_a_probe_is_a_failure(serve_that_stops: Serve, scheme: str) -> None:
    agent = Agent("remote", version="1.0")
    stop = anyio.Event()

    @agent.prompt
    async def say(turn: Turn) -> None:
        if "Count" in turn.text:
            stop.set()
            with anyio.CancelScope(shield=True):
                await anyio.sleep(2)  # until the server has ended all connections
        await turn.say("Hello.")

    async def run(*, task_status: TaskStatus[str]) -> None:
        async with serve_that_stops(agent.asgi()) as base:
            task_status.started(base)
            await stop.wait()

    only = ["prompts.turn", "prompts.cancel", "prompts.cancel-idle", "prompts.two-sessions"]
    async with anyio.create_task_group() as tasks:
        base = await tasks.start(run)
        report = await probe(f"{base.replace('http', scheme)}/acp", only=only, timeout=5)
        assert [each.status for each in report.results] == ["ok", "fail", "fail", "skip"]
        assert "does not accept connections; is the agent running?" in report.results[2].message
