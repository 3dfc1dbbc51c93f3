"""Several users of one remote agent: each only sees their own sessions and connections."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from acp_bindings.agent import Agent, FolderSessions, MemorySessions, SessionStore, Turn
from acp_bindings.client import Client
from acp_bindings.remote import Caller, Unreachable
from acp_bindings.setup import SessionNotFound
from tests.acp_bindings.remote.conftest import Serve
from tests.acp_bindings.remote.test_rules import NEW, STREAM, initialize

pytestmark = pytest.mark.anyio


def identity(caller: Caller) -> str | None:
    """Return the user whose name is in the token."""
    return caller.bearer.removeprefix("token-of-") if caller.bearer else None


def as_(user: str) -> dict[str, str]:
    return {"authorization": f"Bearer token-of-{user}"}


@pytest.fixture(params=[MemorySessions, FolderSessions])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    """Return an agent for several users, which says who is there."""
    store: SessionStore = FolderSessions(tmp_path) if request.param is FolderSessions else MemorySessions()
    agent = Agent("shared", version="1.0", sessions=store)

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(str(turn.session.identity))

    return agent


@pytest.mark.parametrize("profile", ["http", "ws"])
async def test_a_user_sees_only_own_sessions(profile: str, shared: Agent, serve: Serve) -> None:
    client = Client("test", version="1.0")
    with anyio.fail_after(20):
        async with serve(shared.asgi(authenticate=identity)) as url:
            target = f"{url.replace('http', profile, 1)}/acp"
            async with (
                client.connect(target, headers=as_("ada")) as ada,
                client.connect(target, headers=as_("bob")) as bob,
            ):
                session = await ada.session(cwd="/tmp")
                await session.prompt("who?")
                assert session.state.messages[-1].text == "ada"
                assert [each.session_id for each in await ada.list()] == [session.id]
                assert await bob.list() == ()
                with pytest.raises(SessionNotFound):
                    await bob.load(session.id, cwd="/tmp")


@pytest.mark.parametrize("profile", ["http", "ws"])
async def test_nothing_is_kept_of_a_user_who_has_left(profile: str, shared: Agent, serve: Serve) -> None:
    client = Client("test", version="1.0")
    with anyio.fail_after(20):
        async with serve(shared.asgi(authenticate=identity)) as url:
            async with client.connect(f"{url.replace('http', profile, 1)}/acp", headers=as_("ada")) as ada:
                await (await ada.session(cwd="/tmp")).prompt("who?")
                gc.collect()
                assert "ada" in shared._open
            while "ada" in shared._open:
                await anyio.sleep(0.05)
                gc.collect()


async def test_a_connection_belongs_to_its_user(shared: Agent, serve: Serve) -> None:
    async with (
        serve(shared.asgi(authenticate=identity)) as url,
        httpx.AsyncClient(base_url=f"{url}/acp") as client,
    ):
        connection = await initialize(client, **as_("ada"))
        stolen = connection | as_("bob")
        assert (await client.post("", json=NEW, headers=stolen)).status_code == 404
        assert (await client.get("", headers=stolen | STREAM)).status_code == 404
        assert (await client.delete("", headers=stolen)).status_code == 404
        assert (await client.post("", json=NEW, headers=connection)).status_code == 202


@pytest.mark.parametrize("profile", ["http", "ws"])
async def test_a_caller_without_identity_is_refused(profile: str, shared: Agent, serve: Serve) -> None:
    with anyio.fail_after(20):
        async with serve(shared.asgi(authenticate=identity)) as url:
            with pytest.raises(Unreachable) as caught:
                async with Client("test", version="1.0").connect(f"{url.replace('http', profile, 1)}/acp"):
                    pass
    assert caught.value.status in (401, 403)


@pytest.mark.parametrize(
    ("identity", "status", "logged"),
    [
        ("", 401, "was refused, because authenticate returned no identity"),
        (True, 500, "authenticate must return a str or None, not bool"),
    ],
)
async def test_only_a_name_is_an_identity(
    *, identity: Any, status: int, logged: str, shared: Agent, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "acp_bindings.remote")
    async with (
        serve(shared.asgi(authenticate=lambda _: identity)) as url,
        httpx.AsyncClient(base_url=f"{url}/acp") as client,
    ):
        response = await client.post("", json=NEW)
    assert response.status_code == status
    assert logged in caplog.text


def test_users_need_a_store_that_keeps_them_apart() -> None:
    class OneUser(MemorySessions):
        for_owner = None  # pyright: ignore[reportAssignmentType]

    agent = Agent("shared", version="1.0", sessions=OneUser())
    agent.prompt(lambda turn: turn.say("hello"))
    with pytest.raises(ValueError, match="for_owner"):
        agent.asgi(authenticate=identity)
