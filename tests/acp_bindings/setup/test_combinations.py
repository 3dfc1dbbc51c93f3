"""Every combination of a peer's capabilities: how it is read and written, and what may be sent to the peer.

The expected values are written out here, as JSON and as messages, and not derived from the table of capabilities.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from random import Random
from typing import Any

import pytest

from acp_bindings import encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import (
    AgentHandshake,
    AgentPeer,
    CapabilityNotAdvertised,
    ClientHandshake,
    ClientPeer,
    check_message,
)
from acp_bindings.setup._peer import parsed
from tests.acp_bindings.setup.peers import agent, client

Json = dict[str, Any]
INFO = v1.Implementation(name="it", version="1")

AGENT_V1: dict[str, tuple[str, ...]] = {
    "session.load": ("loadSession",),
    "session.list": ("sessionCapabilities", "list"),
    "session.resume": ("sessionCapabilities", "resume"),
    "session.close": ("sessionCapabilities", "close"),
    "session.delete": ("sessionCapabilities", "delete"),
    "session.additional_directories": ("sessionCapabilities", "additionalDirectories"),
    "prompt.image": ("promptCapabilities", "image"),
    "prompt.audio": ("promptCapabilities", "audio"),
    "prompt.embedded_context": ("promptCapabilities", "embeddedContext"),
    "mcp.http": ("mcpCapabilities", "http"),
    "mcp.sse": ("mcpCapabilities", "sse"),
    "auth.logout": ("auth", "logout"),
}
AGENT_V1_UNSTABLE = AGENT_V1 | {
    "session.fork": ("sessionCapabilities", "fork"),
    "session.archive": ("sessionCapabilities", "archive"),
    "session.status": ("sessionCapabilities", "status"),
    "session.title": ("sessionCapabilities", "title"),
    "session.system_prompt": ("sessionCapabilities", "systemPrompt"),
    "mcp.acp": ("mcpCapabilities", "acp"),
    "auth.status": ("auth", "status"),
    "providers": ("providers",),
}
AGENT_V2: dict[str, tuple[str, ...]] = {
    "session.delete": ("session", "delete"),
    "session.additional_directories": ("session", "additionalDirectories"),
    "prompt.image": ("session", "prompt", "image"),
    "prompt.audio": ("session", "prompt", "audio"),
    "prompt.embedded_context": ("session", "prompt", "embeddedContext"),
    "mcp.stdio": ("session", "mcp", "stdio"),
    "mcp.http": ("session", "mcp", "http"),
}
AGENT_V2_UNSTABLE = AGENT_V2 | {
    "session.fork": ("session", "fork"),
    "session.archive": ("session", "archive"),
    "session.status": ("session", "status"),
    "session.title": ("session", "title"),
    "session.system_prompt": ("session", "systemPrompt"),
    "mcp.acp": ("session", "mcp", "acp"),
    "auth.status": ("auth", "status"),
    "providers": ("providers",),
}
CLIENT_V1: dict[str, tuple[str, ...]] = {
    "fs.read_text_file": ("fs", "readTextFile"),
    "fs.write_text_file": ("fs", "writeTextFile"),
    "terminal": ("terminal",),
    "auth.terminal": ("auth", "terminal"),
    "elicitation.form": ("elicitation", "form"),
    "elicitation.url": ("elicitation", "url"),
    "compaction": ("session", "compaction"),
    "notices": ("session", "notices"),
    "config_options.boolean": ("session", "configOptions", "boolean"),
}
BOOLEANS = {
    ("loadSession",),
    *(("promptCapabilities", each) for each in ("image", "audio", "embeddedContext")),
    *(("mcpCapabilities", each) for each in ("http", "sse", "acp")),
    *(("fs", each) for each in ("readTextFile", "writeTextFile")),
    ("terminal",),
}
"""The v1 capabilities that are booleans, as is a client's `auth.terminal`. Others are objects or absent."""

BASELINE: set[Any] = {"session.load", "session.list", "session.resume", "session.close"}


def is_boolean(way: tuple[str, ...], version: int) -> bool:
    return version == 1 and (way in BOOLEANS or way == ("auth", "terminal"))


def advertised(names: Iterable[str], places: Mapping[str, tuple[str, ...]], version: int) -> Json:
    """Return the JSON of an agent's or a client's capabilities."""
    said: Json = {}
    for name in names:
        *way, last = places[name]
        at = said
        for step in way:
            at = at.setdefault(step, {})
        at.setdefault(last, True if is_boolean(places[name], version) else {})
    return said


def subsets(names: Iterable[Any]) -> list[set[Any]]:
    """Return all subsets of up to twelve names; of more names, the small and the large subsets, and 500 random ones."""
    listed = sorted(names)
    if len(listed) <= 12:
        return [set(each) for size in range(len(listed) + 1) for each in combinations(listed, size)]
    few = [set(each) for size in range(3) for each in combinations(listed, size)]
    random = Random(11)
    some = [{each for each in listed if random.random() < 0.5} for _ in range(500)]
    return [*few, *(set(listed) - each for each in few), *some]


def servers(package: Any) -> dict[str, Any]:
    found = {
        "mcp.http": package.McpServerHttp(name="h", url="https://h", headers=[]),
        "mcp.stdio": package.McpServerStdio(name="s", command="/s", args=[], env=[]),
    }
    if package in (v1, v1_unstable):
        found["mcp.sse"] = package.McpServerSse(name="e", url="https://e", headers=[])
    if package in (v1_unstable, v2_unstable):
        found["mcp.acp"] = package.McpServerAcp(name="a", server_id="a")
    return found


def contents(package: Any) -> dict[str, Any]:
    return {
        "prompt.image": package.ImageContent(data="", mime_type="image/png"),
        "prompt.audio": package.AudioContent(data="", mime_type="audio/wav"),
        "prompt.embedded_context": package.EmbeddedResource(
            resource=package.TextResourceContents(uri="file:///a", text="")
        ),
    }


def messages(package: Any) -> list[tuple[Any, set[str]]]:
    """Requests to an agent, each with all the capabilities that it requires."""
    first = package in (v1, v1_unstable)
    text, link = package.TextContent(text="t"), package.ResourceLink(name="l", uri="file:///l")

    def new(**members: Any) -> Any:
        return package.NewSessionRequest(**{"cwd": "/", "mcp_servers": []} | members)

    found: list[tuple[Any, set[str]]] = [
        (new(), set()),
        (new(additional_directories=["/more"]), {"session.additional_directories"}),
        (package.PromptRequest(session_id="s", prompt=[text, link]), set()),
        (package.ListSessionsRequest(), {"session.list"}),
        (package.ResumeSessionRequest(session_id="s", cwd="/"), {"session.resume"}),
        (package.CloseSessionRequest(session_id="s"), {"session.close"}),
        (package.DeleteSessionRequest(session_id="s"), {"session.delete"}),
        *((new(mcp_servers=[server]), {name}) for name, server in servers(package).items()),
        *(
            (package.PromptRequest(session_id="s", prompt=[text, block]), {name})
            for name, block in contents(package).items()
        ),
        (
            package.ResumeSessionRequest(
                session_id="s", cwd="/", additional_directories=["/m"], mcp_servers=[servers(package)["mcp.http"]]
            ),
            {"session.resume", "session.additional_directories", "mcp.http"},
        ),
    ]
    if first:
        found += [
            (package.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[]), {"session.load"}),
            (package.LogoutRequest(), {"auth.logout"}),
        ]
    if package in (v1_unstable, v2_unstable):
        found += [
            (package.ForkSessionRequest(session_id="s", cwd="/"), {"session.fork"}),
            (package.ArchiveSessionRequest(session_id="s"), {"session.archive"}),
            (package.UnarchiveSessionRequest(session_id="s"), {"session.archive"}),
            (package.ListSessionsRequest(archived="only"), {"session.list", "session.archive"}),
            (package.SessionStatusRequest(session_id="s"), {"session.status"}),
            (package.SetSessionTitleRequest(session_id="s", title="t"), {"session.title"}),
            (package.AuthStatusRequest(), {"auth.status"}),
            (package.ListProvidersRequest(), {"providers"}),
            (new(system_prompt=package.SystemPrompt(mode="append", content=[text])), {"session.system_prompt"}),
        ]
    return found


AGENTS: list[Any] = [
    pytest.param(v1, AGENT_V1, id="v1"),
    pytest.param(v1_unstable, AGENT_V1_UNSTABLE, id="v1_unstable"),
    pytest.param(v2, AGENT_V2, id="v2"),
    pytest.param(v2_unstable, AGENT_V2_UNSTABLE, id="v2_unstable"),
]


def always(package: Any) -> set[str]:
    """Return the capabilities that every agent with sessions has without advertising them."""
    return {"session", "mcp.stdio"} if package in (v1, v1_unstable) else {"session", *BASELINE}


@pytest.mark.full
@pytest.mark.requirement("R25", "R88")
@pytest.mark.parametrize(("package", "places"), AGENTS)
def test_every_combination_of_an_agents_capabilities_is_read_and_gated_as_it_is(
    package: Any, places: Mapping[Any, tuple[str, ...]]
) -> None:
    version = 1 if package in (v1, v1_unstable) else 2
    asked = messages(package)
    for names in subsets(places):
        said = advertised(names, places, version)
        if version == 2:
            said.setdefault("session", {})
        peer = agent(package, said)
        able = names | always(package)
        assert peer.names() == able
        for params, needed in asked:
            assert allowed(peer, params) == (needed <= able), (sorted(names), params)


def allowed(peer: AgentPeer | ClientPeer, params: Any) -> bool:
    try:
        check_message(peer, params)
    except CapabilityNotAdvertised:
        return False
    return True


@pytest.mark.requirement("R25", "R28", "R32")
@pytest.mark.parametrize(("package", "places"), AGENTS)
def test_every_combination_of_an_agents_capabilities_is_written_as_it_is(
    package: Any, places: Mapping[Any, tuple[str, ...]]
) -> None:
    version = 1 if package in (v1, v1_unstable) else 2
    falsehoods = [way for way in places.values() if is_boolean(way, version)]
    asked: Json = {"protocolVersion": version, "clientInfo": {}, "info": {"name": "it", "version": "1"}}
    for names in subsets(places)[::7]:
        handshake = AgentHandshake(
            info=INFO, protocols=[package], capabilities=names | (BASELINE if version == 2 else set())
        )
        said = parsed(encode(handshake.answer(asked).result.model_copy()))
        expected = advertised(names, places, version)
        for *way, last in falsehoods:
            at = expected
            for step in way:
                at = at.setdefault(step, {})
            at.setdefault(last, False)
        if version == 2:
            expected.setdefault("session", {})
        assert said["agentCapabilities" if version == 1 else "capabilities"] == expected


@pytest.mark.requirement("R25", "R29", "R30", "R31")
def test_every_combination_of_a_clients_capabilities_is_read_written_and_gated() -> None:
    asked = [
        (v1.ReadTextFileRequest(session_id="s", path="/p"), "fs.read_text_file"),
        (v1.WriteTextFileRequest(session_id="s", path="/p", content=""), "fs.write_text_file"),
        (v1.CreateTerminalRequest(session_id="s", command="ls"), "terminal"),
        (v1.TerminalOutputRequest(session_id="s", terminal_id="t"), "terminal"),
        (v1.WaitForTerminalExitRequest(session_id="s", terminal_id="t"), "terminal"),
        (v1.KillTerminalRequest(session_id="s", terminal_id="t"), "terminal"),
        (v1.ReleaseTerminalRequest(session_id="s", terminal_id="t"), "terminal"),
    ]
    for names in subsets(CLIENT_V1):
        peer = client(v1, advertised(names, CLIENT_V1, 1))
        able = names | ({"elicitation"} if {"elicitation.form", "elicitation.url"} & names else set[str]())
        assert peer.names() == able
        assert ClientHandshake(info=INFO, capabilities=names).own(v1).names() == able
        for params, needed in asked:
            assert allowed(peer, params) == (needed in names)


def garbage() -> list[Any]:
    return [None, "yes", "true", "on", "", 0, 1, 1.0, -1, [], [True], [{}]]


@pytest.mark.requirement("R27", "R88", "D11")
@pytest.mark.parametrize(("package", "places"), AGENTS)
def test_only_the_value_of_the_schema_counts_as_a_capability(
    package: Any, places: Mapping[Any, tuple[str, ...]]
) -> None:
    version = 1 if package in (v1, v1_unstable) else 2
    for name, (*way, last) in places.items():
        wrong = [{}, {"a": 1}, False] if is_boolean((*way, last), version) else [True, False]
        for value in (*garbage(), *wrong):
            said: Json = {}
            at = said
            for step in way:
                at = at.setdefault(step, {})
            at[last] = value
            assert not agent(package, said).supports(name), (name, value)
        for depth in range(len(way)):
            for value in garbage():
                said = {}
                at = said
                for step in way[:depth]:
                    at = at.setdefault(step, {})
                at[way[depth]] = value
                assert not agent(package, said).supports(name), (name, way[depth], value)


def test_an_agent_of_v2_without_sessions_cannot_be_asked_for_one() -> None:
    peer = agent(v2, {})
    assert peer.names() == set()
    assert [params for params, _ in messages(v2) if allowed(peer, params)] == []
