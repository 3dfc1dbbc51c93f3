"""Messages refused before sending, with the reason; assumed capabilities; and messages refused after arrival."""

from typing import Any

import pytest

from acp_bindings import DecodeError, decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import (
    CapabilityNotAdvertised,
    History,
    InvalidParams,
    McpServersRefused,
    check_message,
    check_paths,
    gate_mcp_servers,
)
from acp_bindings.setup._gates import check_method
from acp_bindings.setup.errors import MethodNotAdvertised, UnknownCapability
from tests.acp_bindings.setup.peers import agent, client

STDIO = v1.McpServerStdio(name="files", command="/bin/files", args=[], env=[])
HTTP = v1.McpServerHttp(name="search", url="https://example.com/mcp", headers=[])
SSE = v1.McpServerSse(name="clock", url="https://example.com/sse", headers=[])
LOAD = v1.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[])


@pytest.mark.requirement("R54", "R55", "R103")
def test_load_is_refused_before_anything_is_sent() -> None:
    denials: list[dict[str, Any]] = [{}, {"loadSession": False}, {"sessionCapabilities": {"load": {}}}]
    for said in denials:
        with pytest.raises(CapabilityNotAdvertised) as caught:
            check_message(agent(v1, said), LOAD)
        assert (caught.value.capability, caught.value.method) == ("session.load", "session/load")
        assert caught.value.reason == "the agent has not advertised agentCapabilities.loadSession"
        advice = 'To send it anyway, pass assume={"session.load"}'
        assert str(caught.value) == f"session/load: {caught.value.reason}. {advice}"
    check_message(agent(v1, {"loadSession": True}), LOAD)


def test_assumed_capabilities_count_as_advertised() -> None:
    check_message(agent(), LOAD, assume={"session.load"})
    check_message(agent(), method="session/load", assume=("session.load",))
    with pytest.raises(CapabilityNotAdvertised):
        check_message(agent(), LOAD, assume={"session.resume"})


@pytest.mark.parametrize("assume", [{"session.laod"}, {"load"}, {"mcp"}])
def test_only_known_capabilities_can_be_assumed(assume: set[str]) -> None:
    with pytest.raises(UnknownCapability):
        check_message(agent(v1, {"loadSession": True}), LOAD, assume=assume)
    with pytest.raises(UnknownCapability):
        gate_mcp_servers(agent(), [], assume=assume)
    with pytest.raises(TypeError, match="assume must be a set of names"):
        gate_mcp_servers(agent(), [HTTP], assume="mcp.http")


@pytest.mark.requirement("X1", "X2", "X3", "R29", "R30", "R31", "R39")
@pytest.mark.parametrize(
    ("peer", "method", "capability"),
    [
        *(
            (agent(v1_unstable), f"session/{name}", f"session.{name}")
            for name in ("load", "resume", "close", "list", "delete", "fork", "archive")
        ),
        (agent(v1_unstable), "session/unarchive", "session.archive"),
        (agent(v1_unstable), "logout", "auth.logout"),
        (agent(v1_unstable), "mcp/message", "mcp.acp"),
        *((agent(v2), f"session/{name}", "session") for name in ("cancel", "new", "prompt", "set_config_option")),
        *((agent(v2), f"{name}/cancel", "session") for name in ("terminal", "tool_call")),
        *((client(), f"fs/{name}_text_file", f"fs.{name}_text_file") for name in ("read", "write")),
        *(
            (client(), f"terminal/{name}", "terminal")
            for name in ("create", "kill", "output", "release", "wait_for_exit")
        ),
        (client(), "elicitation/create", "elicitation"),
        (client(), "elicitation/complete", "elicitation.url"),
    ],
)
def test_each_optional_method_names_the_capability_that_it_needs(peer: Any, method: str, capability: str) -> None:
    with pytest.raises(CapabilityNotAdvertised, match=f"the {peer.side} has not advertised") as caught:
        check_method(peer, method)
    assert (caught.value.capability, caught.value.method) == (capability, method)
    check_method(peer, method, assume={capability})


@pytest.mark.requirement("R38")
def test_baseline_methods_need_nothing() -> None:
    for method in ("initialize", "session/new", "session/prompt", "session/cancel", "session/set_mode"):
        check_method(agent(), method)
    for method in ("session/request_permission", "session/update"):
        check_method(client(), method)


def test_extensions_need_nothing_and_other_methods_have_to_be_there() -> None:
    check_method(agent(), "_acme/do")
    for peer, method in ((agent(v2), "session/load"), (agent(), "session/fork"), (agent(), "fs/read_text_file")):
        with pytest.raises(ValueError, match=f"{method} is not a method of an ACP v{peer.version} agent"):
            check_method(peer, method)


ASKED = {"sessionId": "s", "message": "m"}
BY_URL = ASKED | {"mode": "url", "url": "https://x", "elicitationId": "e"}
BY_FORM: dict[str, Any] = ASKED | {"mode": "form", "requestedSchema": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("packages", "request_", "other", "needed"),
    [
        ([v1, v1_unstable, v2, v2_unstable], BY_URL, {"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}),
        ([v1], BY_FORM, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ([v2], ASKED | {"mode": "_new"}, {}, {"elicitation": {}}),
    ],
)
def test_an_elicitation_needs_its_mode_or_only_elicitation_if_it_is_unknown(
    packages: list[Any], request_: Any, other: Any, needed: Any
) -> None:
    for package in packages:
        params = decode(package.CreateElicitationRequest, request_)
        with pytest.raises(CapabilityNotAdvertised) as caught:
            check_message(client(package, other), params)
        mode = next(iter(needed["elicitation"]), None)
        assert (caught.value.capability, caught.value.field) == (
            (f"elicitation.{mode}", "mode") if mode else ("elicitation", None)
        )
        check_message(client(package, needed), params)


@pytest.mark.requirement("R34", "R35")
def test_every_block_of_a_prompt_is_checked() -> None:
    blocks: list[v1.ContentBlock] = [
        v1.TextContent(text="t"),
        v1.ResourceLink(name="l", uri="file:///l"),
        v1.ImageContent(data="", mime_type="image/png"),
    ]
    peer = agent(v1, {"promptCapabilities": {"audio": True}})
    with pytest.raises(CapabilityNotAdvertised) as caught:
        check_message(peer, v1.PromptRequest(session_id="s", prompt=blocks))
    assert (caught.value.capability, caught.value.field) == ("prompt.image", "prompt[2]")
    assert str(caught.value).startswith("prompt[2] of session/prompt: the agent has not advertised")
    check_message(peer, v1.PromptRequest(session_id="s", prompt=blocks[:2]))


def test_unknown_content_is_refused_unless_assumed() -> None:
    block = decode(v2.ContentBlock, {"type": "_hologram"})
    params = v2.PromptRequest(session_id="s", prompt=[block])
    with pytest.raises(CapabilityNotAdvertised, match="ACP v2 has no capability for it"):
        check_message(agent(v2, {"session": {}}), params)
    check_message(agent(v2, {"session": {}}), params, assume={"prompt._hologram"})


def test_a_system_prompt_that_replaces_the_default_needs_another_capability() -> None:
    def new_session(mode: Any) -> v1_unstable.NewSessionRequest:
        prompt = v1_unstable.SystemPrompt(mode=mode, content=[v1_unstable.TextContent(text="Be brief.")])
        return v1_unstable.NewSessionRequest(cwd="/", mcp_servers=[], system_prompt=prompt)

    peer = agent(v1_unstable, {"sessionCapabilities": {"systemPrompt": {}}})
    check_message(peer, new_session("append"))
    for own, mode, capability, field in (
        (peer, "override", "session.system_prompt.override", "systemPrompt.mode"),
        (agent(v1_unstable), "append", "session.system_prompt", "systemPrompt"),
        (agent(v1_unstable), "override", "session.system_prompt", "systemPrompt"),
    ):
        with pytest.raises(CapabilityNotAdvertised) as caught:
            check_message(own, new_session(mode))
        assert (caught.value.capability, caught.value.field) == (capability, field)
        with pytest.raises(InvalidParams) as refused:
            check_message(own, new_session(mode), received=True)
        assert refused.value.data == {"field": field}


def test_the_method_of_a_message_may_be_given() -> None:
    check_message(agent(), {"a": 1}, method="_acme/do")
    check_message(agent(), {"a": 1}, method="_acme/do", received=True)
    with pytest.raises(CapabilityNotAdvertised) as caught:
        check_message(agent(), {"sessionId": "s"}, method="session/close")
    assert caught.value.capability == "session.close"


def test_the_class_of_a_notification_determines_its_method() -> None:
    check_message(agent(), v1.CancelNotification(session_id="s"))
    with pytest.raises(CapabilityNotAdvertised) as caught:
        check_message(agent(v2), v2.CancelSessionNotification(session_id="s"))
    assert (caught.value.capability, caught.value.method) == ("session", "session/cancel")


@pytest.mark.requirement("R70", "R71", "D15")
def test_stdio_needs_a_capability_only_in_v2() -> None:
    assert gate_mcp_servers(agent(v1), [STDIO]).accepted == [STDIO]
    server = v2.McpServerStdio(name="files", command="/bin/files")
    with pytest.raises(McpServersRefused) as caught:
        gate_mcp_servers(agent(v2, {"session": {}}), [server])
    assert caught.value.refused[0].reason == "the agent has not advertised capabilities.session.mcp.stdio"
    assert gate_mcp_servers(agent(v2, {"session": {"mcp": {"stdio": {}}}}), [server]).accepted == [server]
    assert gate_mcp_servers(agent(v2, {"session": {}}), [server], assume={"mcp.stdio"}).accepted == [server]


@pytest.mark.requirement("R73")
@pytest.mark.parametrize("tag", ["stdio", "bogus"])
def test_a_server_of_v1_with_a_type_that_means_nothing_is_stdio(tag: str) -> None:
    server = decode(v1.McpServer, {"type": tag, "name": "s", "command": "/s", "args": [], "env": []})
    assert gate_mcp_servers(agent(v1), [server]).refused == ()


@pytest.mark.requirement("R79", "R83", "R87")
def test_servers_are_refused_each_with_its_reason() -> None:
    with pytest.raises(McpServersRefused) as caught:
        check_message(agent(), v1.NewSessionRequest(cwd="/", mcp_servers=[STDIO, HTTP, SSE]))
    assert [(each.index, each.name, each.transport, each.capability) for each in caught.value.refused] == [
        (1, "search", "http", "mcp.http"),
        (2, "clock", "sse", "mcp.sse"),
    ]
    assert str(caught.value) == (
        "search (http): the agent has not advertised agentCapabilities.mcpCapabilities.http; "
        "clock (sse): the agent has not advertised agentCapabilities.mcpCapabilities.sse. "
        'To send it anyway, pass assume={"mcp.http", "mcp.sse"}; '
        "or leave them out with on_refusal='drop'"
    )
    assert (caught.value.method, caught.value.field) == ("session/new", "mcpServers")
    assert isinstance(caught.value, CapabilityNotAdvertised)


@pytest.mark.requirement("R79", "R87")
def test_unsupported_servers_are_dropped_and_reported_on_request() -> None:
    peer = agent(v1, {"mcpCapabilities": {"sse": True}})
    accepted, refused = gate_mcp_servers(peer, [HTTP, STDIO, SSE], on_refusal="drop")
    assert accepted == [STDIO, SSE]
    assert [str(each) for each in refused] == [
        "search (http): the agent has not advertised agentCapabilities.mcpCapabilities.http"
    ]


@pytest.mark.requirement("R79")
def test_configured_servers_are_converted_to_the_version_of_the_agent() -> None:
    peer = agent(v2, {"session": {"mcp": {"stdio": {}}}})
    accepted, refused = gate_mcp_servers(peer, [{"name": "files", "command": "/files"}, SSE], on_refusal="drop")
    assert accepted == [v2.McpServerStdio(name="files", command="/files", args=[], env=[])]
    assert [(each.index, each.transport, each.capability) for each in refused] == [(1, "sse", "mcp.sse")]
    with pytest.raises(DecodeError, match=r"mcpServers\[1\]"):
        gate_mcp_servers(agent(v1), [STDIO, {"name": "nothing"}], on_refusal="drop")


@pytest.mark.requirement("R87")
def test_servers_of_an_assumed_transport_are_accepted() -> None:
    assert gate_mcp_servers(agent(), [HTTP, SSE], assume={"mcp.http", "mcp.sse"}).accepted == [HTTP, SSE]
    with pytest.raises(McpServersRefused) as caught:
        gate_mcp_servers(agent(), [HTTP, SSE], assume={"mcp.http"}, method="session/new")
    assert ([each.name for each in caught.value.refused], caught.value.method) == (["clock"], "session/new")


@pytest.mark.parametrize("type_", ["sse", "_pigeon", "websocket"])
def test_an_unknown_transport_is_refused_in_v2_unless_assumed(type_: str) -> None:
    server = decode(v2.McpServer, {"type": type_, "name": "odd", "url": "https://odd"})
    peer = agent(v2, {"session": {"mcp": {"http": {}, type_: {}}}})
    (refused,) = gate_mcp_servers(peer, [server], on_refusal="drop").refused
    assert (refused.name, refused.transport) == ("odd", type_)
    assert gate_mcp_servers(peer, [server], assume={f"mcp.{type_}"}).accepted == [server]


@pytest.mark.requirement("X7")
@pytest.mark.parametrize("name", ["twin", ""])
def test_duplicate_server_names_are_refused_only_in_v2(name: str) -> None:
    twins = [v2.McpServerStdio(name=name, command=f"/{each}") for each in "ab"]
    peer = agent(v2, {"session": {"mcp": {"stdio": {}}}})
    accepted, refused = gate_mcp_servers(peer, twins, on_refusal="drop")
    assert (accepted, [(each.index, each.capability) for each in refused]) == (twins[:1], [(1, None)])
    assert gate_mcp_servers(agent(v1), [STDIO, STDIO]).refused == ()


def test_the_name_of_a_refused_server_counts_as_taken() -> None:
    peer = agent(v2, {"session": {"mcp": {"stdio": {}}}})
    twins = [v2.McpServerHttp(name="twin", url="https://t"), v2.McpServerStdio(name="twin", command="/t")]
    _, refused = gate_mcp_servers(peer, twins, on_refusal="drop")
    assert [(each.index, each.capability) for each in refused] == [(0, "mcp.http"), (1, None)]


@pytest.mark.parametrize("named", [{}, {"name": None}, {"name": 5}])
def test_servers_without_a_name_are_not_duplicates(named: dict[str, Any]) -> None:
    servers = [decode(v2.McpServer, {"type": "_pigeon"} | named)] * 2
    assert gate_mcp_servers(agent(v2, {"session": {}}), servers, assume={"mcp._pigeon"}).accepted == servers


def test_errors_about_servers_do_not_show_secrets() -> None:
    secret = v1.McpServerHttp(
        name="s", url="https://u:hunter2@x/?key=hunter2", headers=[v1.HttpHeader(name="A", value="hunter2")]
    )
    with pytest.raises(McpServersRefused) as caught:
        gate_mcp_servers(agent(), [secret])
    assert "hunter2" not in f"{caught.value} {caught.value!r} {caught.value.refused}"


@pytest.mark.requirement("R29")
def test_an_unadvertised_method_is_answered_with_method_not_found() -> None:
    with pytest.raises(MethodNotAdvertised) as caught:
        check_message(agent(), LOAD, received=True)
    assert (caught.value.code, caught.value.method, caught.value.capability) == (-32601, "session/load", "session.load")
    check_message(agent(v1, {"loadSession": True}), LOAD, received=True)
    with pytest.raises(MethodNotAdvertised):
        check_message(client(), v1.ReadTextFileRequest(session_id="s", path="/p"), received=True)
    check_message(agent(), {"a": 1}, method="_acme/do", received=True)


STDIO_V2 = agent(v2, {"session": {"mcp": {"stdio": {}}}})
LISTS = agent(v1_unstable, {"sessionCapabilities": {"list": {}}})
TWINS: list[v2.McpServer] = [v2.McpServerStdio(name="twin", command=f"/{each}") for each in "ab"]
SSE_V2 = decode(v2.McpServer, {"type": "sse", "name": "e", "url": "https://e"})
MIDDLE = decode(v2.ReplayFrom, {"type": "_middle", "of": 5})
IMAGE = v1.ImageContent(data="", mime_type="image/png")


@pytest.mark.requirement("R35", "X5", "X6", "X7", "X12")
@pytest.mark.parametrize(
    ("own", "params", "data"),
    [
        (STDIO_V2, v2.NewSessionRequest(cwd="/", mcp_servers=[TWINS[0], SSE_V2]), {"type": "sse"}),
        (agent(), v1.NewSessionRequest(cwd="/", mcp_servers=[STDIO, SSE]), {"type": "sse"}),
        (STDIO_V2, v2.ResumeSessionRequest(session_id="s", cwd="/", mcp_servers=TWINS), {"name": "twin"}),
        (agent(), v1.NewSessionRequest(cwd="/", mcp_servers=[STDIO, STDIO]), None),
        (STDIO_V2, v2.ResumeSessionRequest(session_id="s", cwd="/", replay_from=MIDDLE), {"type": "_middle"}),
        (STDIO_V2, v2.ResumeSessionRequest(session_id="s", cwd="/", replay_from=v2.ReplayFromStart()), None),
        (STDIO_V2, v2.ResumeSessionRequest(session_id="s", cwd="/", replay_from=None), None),
        (agent(), v1.PromptRequest(session_id="s", prompt=[IMAGE]), {"type": "image"}),
        (
            agent(),
            v1.NewSessionRequest(cwd="/", mcp_servers=[], additional_directories=["/m"]),
            {"field": "additionalDirectories"},
        ),
        (LISTS, v1_unstable.ListSessionsRequest(archived="only"), {"field": "archived"}),
    ],
)
def test_received_params_that_an_agent_does_not_support_are_refused_with_the_reason(
    own: Any, params: Any, data: Any
) -> None:
    if data is None:
        check_message(own, params, received=True)
        return
    with pytest.raises(InvalidParams) as caught:
        check_message(own, params, received=True)
    assert (caught.value.code, caught.value.data) == (-32602, data)


@pytest.mark.parametrize("name", ["prompt", "mcp_servers", "system_prompt", "replay_from", "additional_directories"])
@pytest.mark.parametrize("package", [v1, v2])
def test_unknown_fields_need_no_capability_whatever_their_name(package: Any, name: str) -> None:
    listed = decode(package.ListSessionsRequest, {name: "anything"})
    own = agent(v1, {"sessionCapabilities": {"list": {}}}) if package is v1 else agent(v2, {"session": {}})

    check_message(own, listed)
    check_message(own, listed, received=True)
    check_paths(listed)
    assert not History.is_requested(listed)


def test_params_that_belong_to_no_method_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match=r"^no method of v1 takes TextContent; pass method="):
        check_message(agent(), v1.TextContent(text="t"))
    with pytest.raises(TypeError, match="no method of v"):
        check_message(agent(v2), LOAD)
