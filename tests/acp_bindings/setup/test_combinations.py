"""Combinations of a peer's capabilities: how it is read and written, and what may be sent to the peer.

The expected values are written out here, as JSON and as messages, and not derived from the table of capabilities.
"""

from collections.abc import Iterable
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
FIRST, UNSTABLE = (v1, v1_unstable), (v1_unstable, v2_unstable)


def places(parent: str, **names: str) -> dict[str, str]:
    """Return the places of capabilities by their names, such as `prompt.image` for `prompt="image"`."""
    return {f"{family}.{name}": f"{parent}{name}" for family, listed in names.items() for name in listed.split()}


AGENT_V1 = {
    "session.load": "loadSession",
    "session.additional_directories": "sessionCapabilities.additionalDirectories",
    "prompt.embedded_context": "promptCapabilities.embeddedContext",
    **places("sessionCapabilities.", session="list resume close delete"),
    **places("promptCapabilities.", prompt="image audio"),
    **places("mcpCapabilities.", mcp="http sse"),
    **places("auth.", auth="logout"),
}
OF_UNSTABLE = {"providers": "providers", **places("auth.", auth="status")}
AGENT_V1_UNSTABLE = {
    **AGENT_V1,
    **OF_UNSTABLE,
    **places("sessionCapabilities.", session="fork archive status title"),
    **places("mcpCapabilities.", mcp="acp"),
    "session.system_prompt": "sessionCapabilities.systemPrompt",
}
AGENT_V2 = {
    "session.additional_directories": "session.additionalDirectories",
    "prompt.embedded_context": "session.prompt.embeddedContext",
    **places("session.", session="delete"),
    **places("session.prompt.", prompt="image audio"),
    **places("session.mcp.", mcp="stdio http"),
}
AGENT_V2_UNSTABLE = {
    **AGENT_V2,
    **OF_UNSTABLE,
    **places("session.", session="fork archive status title"),
    **places("session.mcp.", mcp="acp"),
    "session.system_prompt": "session.systemPrompt",
}
CLIENT_V1 = {
    "fs.read_text_file": "fs.readTextFile",
    "fs.write_text_file": "fs.writeTextFile",
    "terminal": "terminal",
    "config_options.boolean": "session.configOptions.boolean",
    "compaction": "session.compaction",
    "notices": "session.notices",
    **places("auth.", auth="terminal"),
    **places("elicitation.", elicitation="form url"),
}
BOOLEANS = ("loadSession", "promptCapabilities.", "mcpCapabilities.", "fs.", "terminal", "auth.terminal")
"""The beginnings of the v1 capabilities that are booleans. Others are objects or absent."""

BASELINE: set[Any] = {"session.load", "session.list", "session.resume", "session.close"}

AGENTS = {v1: AGENT_V1, v1_unstable: AGENT_V1_UNSTABLE, v2: AGENT_V2, v2_unstable: AGENT_V2_UNSTABLE}


def is_boolean(place: str, package: Any) -> bool:
    return package in FIRST and place.startswith(BOOLEANS)


def put(said: Json, place: str, value: Any) -> Json:
    """Put *value* at a place in *said*, unless there is one, and return *said*."""
    *way, last = place.split(".")
    at = said
    for step in way:
        at = at.setdefault(step, {})
    at.setdefault(last, value)
    return said


def advertised(names: Iterable[str], known: dict[str, str], package: Any) -> Json:
    """Return the JSON of an agent's or a client's capabilities."""
    said: Json = {"session": {}} if package not in FIRST else {}
    for name in names:
        put(said, known[name], True if is_boolean(known[name], package) else {})
    return said


def subsets(names: Iterable[Any]) -> list[set[Any]]:
    """Return none, all, each alone, and all but each."""
    whole = set(names)
    return [set(), whole, *({each} for each in whole), *(whole - {each} for each in whole)]


def messages(package: Any) -> list[tuple[Any, set[str]]]:
    """Requests to an agent, each with all the capabilities that it requires."""
    text, link = package.TextContent(text="t"), package.ResourceLink(name="l", uri="file:///l")
    stdio = package.McpServerStdio(name="s", command="/s", args=[], env=[])
    http = package.McpServerHttp(name="h", url="https://h", headers=[])
    resource = package.EmbeddedResource(resource=package.TextResourceContents(uri="file:///a", text=""))

    def new(**members: Any) -> Any:
        return package.NewSessionRequest(**{"cwd": "/", "mcp_servers": []} | members)

    def prompt(*blocks: Any) -> Any:
        return package.PromptRequest(session_id="s", prompt=[text, *blocks])

    found: list[tuple[Any, set[str]]] = [
        (new(), set()),
        (new(additional_directories=["/more"]), {"session.additional_directories"}),
        (new(mcp_servers=[stdio]), {"mcp.stdio"}),
        (new(mcp_servers=[http]), {"mcp.http"}),
        (prompt(link), set()),
        (prompt(package.ImageContent(data="", mime_type="image/png")), {"prompt.image"}),
        (prompt(package.AudioContent(data="", mime_type="audio/wav")), {"prompt.audio"}),
        (prompt(resource), {"prompt.embedded_context"}),
        (package.ListSessionsRequest(), {"session.list"}),
        (package.ResumeSessionRequest(session_id="s", cwd="/"), {"session.resume"}),
        (package.CloseSessionRequest(session_id="s"), {"session.close"}),
        (package.DeleteSessionRequest(session_id="s"), {"session.delete"}),
        (
            package.ResumeSessionRequest(session_id="s", cwd="/", additional_directories=["/m"], mcp_servers=[http]),
            {"session.resume", "session.additional_directories", "mcp.http"},
        ),
    ]
    if package in FIRST:
        found += [
            (new(mcp_servers=[package.McpServerSse(name="e", url="https://e", headers=[])]), {"mcp.sse"}),
            (package.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[]), {"session.load"}),
            (package.LogoutRequest(), {"auth.logout"}),
        ]
    if package in UNSTABLE:
        found += [
            (new(mcp_servers=[package.McpServerAcp(name="a", server_id="a")]), {"mcp.acp"}),
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


def allowed(peer: AgentPeer | ClientPeer, params: Any) -> bool:
    try:
        check_message(peer, params)
    except CapabilityNotAdvertised:
        return False
    return True


@pytest.mark.requirement("R25", "R28", "R32", "R88")
@pytest.mark.parametrize(("package", "known"), AGENTS.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_the_capabilities_of_an_agent_are_read_written_and_gated_as_they_are(package: Any, known: Any) -> None:
    always = {"session", "mcp.stdio"} if package in FIRST else {"session", *BASELINE}
    asked: Json = {
        "protocolVersion": 1 if package in FIRST else 2,
        "clientInfo": {},
        "info": {"name": "", "version": ""},
    }
    for names in subsets(known):
        said = advertised(names, known, package)
        peer, able = agent(package, said), names | always
        assert peer.names() == able
        for params, needed in messages(package):
            assert allowed(peer, params) == (needed <= able), (sorted(names), params)

        ours = names if package in FIRST else names | BASELINE
        settled = AgentHandshake(info=INFO, protocols=[package], capabilities=ours).answer(asked)
        for place in known.values():
            if is_boolean(place, package):
                put(said, place, False)
        assert parsed(encode(settled.result))["agentCapabilities" if package in FIRST else "capabilities"] == said


@pytest.mark.requirement("R25", "R29", "R30", "R31")
def test_the_capabilities_of_a_client_are_read_written_and_gated_as_they_are() -> None:
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
        peer = client(v1, advertised(names, CLIENT_V1, v1))
        able = names | ({"elicitation"} if {"elicitation.form", "elicitation.url"} & names else set[str]())
        assert peer.names() == able
        assert ClientHandshake(info=INFO, capabilities=names).own(v1).names() == able
        for params, needed in asked:
            assert allowed(peer, params) == (needed in names)


GARBAGE: list[Any] = [None, "yes", "true", "on", "", 0, 1, 1.0, -1, [], [True], [{}]]


@pytest.mark.requirement("R27", "R29", "R30", "R31", "R33", "R35", "R36", "R37", "R88", "D11")
@pytest.mark.parametrize(
    ("peer", "package", "known"), [(client, v1, CLIENT_V1), *((agent, *each) for each in AGENTS.items())]
)
def test_only_the_value_of_the_schema_counts_as_a_capability(peer: Any, package: Any, known: Any) -> None:
    for name, place in known.items():
        wrong: list[Any] = [{}, {"a": 1}, False] if is_boolean(place, package) else [True, False]
        for value in (*GARBAGE, *wrong):
            assert not peer(package, put({}, place, value)).supports(name), (name, value)
        while above := place.rpartition(".")[0]:
            place = above  # noqa: PLW2901 - a shorter one
            for value in GARBAGE:
                assert not peer(package, put({}, place, value)).supports(name), (name, place, value)


def test_an_agent_of_v2_without_sessions_cannot_be_asked_for_one() -> None:
    peer = agent(v2, {})
    assert peer.names() == set()
    assert [params for params, _ in messages(v2) if allowed(peer, params)] == []
