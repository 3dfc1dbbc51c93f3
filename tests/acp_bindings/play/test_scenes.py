"""The scenes: they have all of the protocol, keep its rules, and are the same each time."""

from __future__ import annotations

import json
from typing import Any, get_args

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings._json import members_of
from acp_bindings.agent._session import StopReason
from acp_bindings.play import RUDE, SCENES, Play, Script
from acp_bindings.play._performing import words_of
from tests.acp_bindings.play.raw import Raw, messages_in, raw_client
from tests.acp_bindings.play.vocabulary import Word, words_for_clients, words_in

pytestmark = pytest.mark.anyio

PACKAGES: dict[int, Any] = {1: v1, 2: v2}
NOT_SHOWN: set[Word] = {
    ("CreateElicitationRequestFormRequest", None, None),  # forms for a request; those for a session are shown
    ("CreateElicitationRequestFormRequest", "mode", "form"),
    ("CreateElicitationRequestUrlRequest", None, None),
    ("CreateElicitationRequestUrlRequest", "mode", "url"),
    ("SessionNotFoundErrorData", None, None),  # the data of errors that no turn has
    ("UnsupportedProtocolVersionErrorData", None, None),
}


async def tour(version: int) -> Raw:
    """Return a conversation in which all scenes were performed."""
    async with raw_client(Play(), version) as client:
        await client.initialize()
        session = await client.new_session()
        for command in ("everything", *(f"stop {each}" for each in get_args(StopReason)[:-1]), "error"):
            await client.turn(session, f"/{command}")
        silent = await client.prompt(session, "/silent")
        await client.send(method="session/cancel", params={"sessionId": session})
        await client.end_of(silent)
        await client.load(session)
        client.silent.add("session/request_permission")
        await client.turn(session, "/withdraw")
        await client.hear_all()
    return client


async def test_the_scenes_have_every_word_of_the_protocol(version: int) -> None:
    with anyio.fail_after(30):
        client = await tour(version)
    package = PACKAGES[version]
    said = [each for each in messages_in(client.recording) if "method" in each]
    shown = {word for each in said for word in words_in(package, each)}
    assert words_for_clients(package) - shown - {*NOT_SHOWN} == set()
    methods = {each["method"] for each in said}
    for_clients = {
        name
        for name, method in package.METHODS.items()
        if any(each and each.side in ("client", "protocol") for each in (method.request, method.notification))
    }
    assert for_clients <= methods


async def test_turns_end_with_every_stop_reason(version: int) -> None:
    with anyio.fail_after(30):
        client = await tour(version)
    ends: set[Any] = set()
    for message in messages_in(client.recording):
        ends.add(members_of(message.get("result")).get("stopReason"))
        ends.add(message.get("params", {}).get("update", {}).get("stopReason"))
    assert set(get_args(StopReason)) <= ends


async def test_the_tour_breaks_no_rule(version: int) -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), version) as client:
            await client.initialize()
            session = await client.new_session()
            await client.turn(session, "Hello")
            await client.turn(session, "/everything")
            await client.turn(session, "/everything")
            await client.load(session)
            await client.hear_all()
    assert [str(each) for each in client.findings()] == []


async def test_each_run_sends_the_same_bytes(version: int) -> None:
    with anyio.fail_after(60):
        first, second = await tour(version), await tour(version)
    assert first.said == second.said
    assert len(first.said) > 200


async def test_scenes_are_left_out_for_clients_that_cannot_show_them() -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), 1) as client:
            await client.ask("initialize", protocolVersion=1)
            session = await client.new_session()
            await client.turn(session, "/everything")
            await client.hear_all()
    text = b"".join(client.said)
    assert text.count(b"Left out, because the client has not advertised") == 8
    assert {each.rule for each in client.findings()} == {"lifecycle.no-info"}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_are_valid_scripts(name: str) -> None:
    for version in SCENES[name].versions:
        lines = [{"version": version}, {"prompt": None}, *SCENES[name].steps(version)]
        Script.parse("\n".join(map(json.dumps, lines)))


async def test_help_lists_all_commands_and_kinds(version: int) -> None:
    async with raw_client(Play(), version) as client:
        await client.initialize()
        await client.turn(await client.new_session(), "/help")
        await client.hear_all()
    text = b"".join(client.said).decode()
    assert all(f"/{name}" in text for name in SCENES)
    assert all(f"/rude {name}" in text for name in RUDE)


async def test_a_turn_waits_until_the_client_cancels_its_tool_call() -> None:
    with anyio.fail_after(30):
        async with raw_client(Play(), 2) as client:
            await client.initialize()
            other = await client.new_session()
            await client.prompt(other, "/cancel")
            while "Send tool_call/cancel" not in str(await client.hear()):
                pass
            session = await client.new_session()
            await client.prompt(session, "/cancel")
            for method, id_ in (("tool_call/cancel", "toolCallId"), ("terminal/cancel", "terminalId")):
                while f"Send {method}" not in str(await client.hear()):
                    pass
                response = await client.ask(method, sessionId=session, **{id_: "cancel-1"})
                assert response["result"] == {}
            while (await client.hear()).get("params", {}).get("update", {}).get("state") != "idle":
                pass
            response = await client.ask("tool_call/cancel", sessionId=other, toolCallId="cancel-1")
    assert response["result"] == {}
    said = b"".join(client.said)
    assert b'"status":"cancelled"' in said
    assert b'"signal":"SIGTERM"' in said


async def test_prompts_that_are_no_command_are_described(version: int) -> None:
    async with raw_client(Play(), version) as client:
        await client.initialize()
        await client.turn(await client.new_session(), "Hello")
        await client.hear_all()
    assert b"You sent text: Hello" in b"".join(client.said)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("/stop whenever", "/stop: REASON: must be one of end_turn, "),
        ("/flood x", "/flood: COUNT: Input should be a valid integer, unable to parse string as an integer"),
        ("/flood 0", "/flood: COUNT: Input should be greater than or equal to 1"),
        ("/crash abc", "/crash: STATUS: Input should be a valid integer, unable to parse string as an integer"),
        ("/crash 300", "/crash: STATUS: Input should be less than or equal to 255"),
        ("/slow -1", "/slow: SECONDS: Input should be greater than or equal to 0"),
        ("/error x", "/error: CODE: code: Input should be a valid integer, unable to parse string as an integer"),
        ("/terminal echo 'a", "/terminal: COMMAND: cannot be split: No closing quotation"),
    ],
)
async def test_invalid_arguments_are_reported(command: str, problem: str) -> None:
    async with raw_client(Play(), 1) as client:
        await client.initialize()
        end = await client.turn(await client.new_session(), command)
        await client.hear_all()
    assert end["error"]["message"].startswith(problem)


async def test_a_path_may_have_an_apostrophe() -> None:
    async with raw_client(Play(), 1) as client:
        await client.initialize()
        await client.turn(await client.new_session("/project"), "/read bob's.txt")
        await client.hear_all()
    assert any(b"bob's.txt" in each and b"fs/read_text_file" in each for each in client.said)


def test_the_words_of_a_command_have_no_quotes_on_windows_either() -> None:
    assert words_of('make "a b" #1') == ["make", "a b", "#1"]
    assert words_of(r'C:\bin\make "a b"', escape="") == [r"C:\bin\make", "a b"]


async def test_capabilities_are_left_out() -> None:
    async with raw_client(Play(without={"session.load", "prompt.image", "auth.logout"}, auth=True), 1) as client:
        capabilities = (await client.initialize())["result"]["agentCapabilities"]
        await client.hear_all()
    assert not capabilities["loadSession"]
    assert not capabilities["promptCapabilities"]["image"]
    assert capabilities["promptCapabilities"]["audio"]
    assert "auth" not in capabilities


async def test_a_login_is_required_first(version: int) -> None:
    async with raw_client(Play(auth=True), version) as client:
        await client.initialize()
        refused = await client.ask("session/new", cwd="/tmp", mcpServers=[])
        await client.ask({1: "authenticate", 2: "auth/login"}[version], methodId="play")
        session = await client.new_session()
        await client.ask({1: "logout", 2: "auth/logout"}[version])
        again = await client.ask("session/new", cwd="/tmp", mcpServers=[])
        await client.hear_all()
    assert (refused["error"]["code"], session, again["error"]["code"]) == (-32000, "session-2", -32000)


async def test_times_are_fixed(version: int) -> None:
    async with raw_client(Play(), version) as client:
        await client.initialize()
        await client.turn(await client.new_session(), "Hello")
        found = await client.ask("session/list")
        await client.hear_all()
    assert found["result"]["sessions"][0]["updatedAt"] == "2026-01-01T00:00:00.000000Z"
