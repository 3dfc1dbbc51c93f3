"""The handshake: what each side sends, how the other reads it, and the negotiated protocol version."""

import contextlib
from typing import Any

import pytest

from acp_bindings import DecodeError, Finding, decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.jsonrpc import BadLine, Codec, Notification, Request
from acp_bindings.setup import (
    OPENING,
    AgentHandshake,
    AgentPeer,
    ClientHandshake,
    InvalidParams,
    Remark,
    RequestError,
    UnsupportedProtocolVersion,
)
from acp_bindings.setup._peer import parsed
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.capabilities import AGENT, CLIENT, AgentCapability
from acp_bindings.setup.errors import BadProtocolVersion, UnknownCapability

EDITOR = v1.Implementation(name="editor", title="The Editor", version="3.1")
HELPER = v2.Implementation(name="helper", version="0.9")
SESSIONS: set[AgentCapability] = {"session.close", "session.list", "session.load", "session.resume"}


def raw(model: Any) -> Any:
    return parsed(encode(model))


OFFERS: list[list[Any]] = [
    [v1],
    [v1_unstable],
    [v2],
    [v2_unstable],
    [v1, v2],
    [v1_unstable, v2_unstable],
    [v1, v2_unstable],
]


@pytest.mark.requirement("R1", "R10", "R20", "R23")
@pytest.mark.parametrize("agents", OFFERS)
@pytest.mark.parametrize("clients", OFFERS)
def test_both_sides_negotiate_a_package_or_explain_why_not(clients: list[Any], agents: list[Any]) -> None:
    client = ClientHandshake(info=EDITOR, protocols=clients, capabilities={"auth.terminal", "elicitation.form"})
    agent = AgentHandshake(info=HELPER, protocols=agents, capabilities={*SESSIONS, "mcp.http"})
    common = {*map(version_of, clients)} & {*map(version_of, agents)}
    if not common:
        with pytest.raises(UnsupportedProtocolVersion) as caught:
            client.accept(raw(agent.answer(raw(client.request())).result))
        assert caught.value.requested == client.requested
        return
    settled = agent.answer(raw(client.request()))
    peer = client.accept(raw(settled.result))
    assert {peer.version} == {settled.client.version} == {max(common)}
    assert peer.protocol in clients
    assert settled.protocol in agents
    assert peer.names() >= {*SESSIONS, "mcp.http"}
    assert settled.client.supports("auth.terminal")
    assert settled.client.supports("elicitation.form")
    assert not settled.client.supports("elicitation.url")
    assert (peer.display_name, settled.client.display_name) == ("helper", "The Editor")
    assert peer.findings == settled.client.findings == ()


@pytest.mark.requirement("R9")
def test_a_null_id_is_answered_only_until_v2_is_negotiated() -> None:
    theirs = Codec(OPENING, role="agent")
    params = {"protocolVersion": 2, "info": raw(EDITOR)}
    request = theirs.read(encode({"jsonrpc": "2.0", "id": None, "method": "initialize", "params": params}))
    assert isinstance(request, Request)
    settled = AgentHandshake(info=HELPER, protocols=[v2]).answer(request.params)
    assert parsed(theirs.respond(request, settled.result))["id"] is None
    theirs.protocol = settled.protocol
    line = encode({"jsonrpc": "2.0", "id": None, "method": "session/new", "params": {"cwd": "/"}})
    assert isinstance(theirs.read(line), BadLine)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("method", ["session/new", "fs/read_text_file", "_acme/do", "no/such"])
def test_an_agent_can_read_and_refuse_early_messages(method: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{{"cwd":7}}}}'.encode()
    codec = Codec(OPENING, role="agent")
    assert codec.read(line) == Request(5, method, {"cwd": 7})
    assert codec.read(line.replace(b'"id":5,', b"")) == Notification(method, {"cwd": 7})


def test_only_initialize_can_be_sent_by_its_class_before_negotiation() -> None:
    with pytest.raises(TypeError, match="no version is negotiated yet"):
        Codec(OPENING, role="client").request(v1.NewSessionRequest(cwd="/", mcp_servers=[]))


@pytest.mark.requirement("R4", "R28", "D7")
def test_a_client_of_v1_sends_the_value_of_every_capability() -> None:
    request = ClientHandshake(info=EDITOR, capabilities={"fs.read_text_file"}).request()
    assert raw(request) == {
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": False},
            "terminal": False,
            "auth": {"terminal": False},
        },
        "clientInfo": {"name": "editor", "title": "The Editor", "version": "3.1"},
    }


@pytest.mark.requirement("R4", "D7")
def test_empty_capabilities_are_sent() -> None:
    assert raw(ClientHandshake(info=HELPER, protocols=[v2]).request()) == {
        "protocolVersion": 2,
        "info": {"name": "helper", "version": "0.9"},
        "capabilities": {},
    }
    settled = AgentHandshake(info=HELPER, protocols=[v2]).answer({"protocolVersion": 2, "info": raw(EDITOR)})
    assert raw(settled.result) == {
        "protocolVersion": 2,
        "info": {"name": "helper", "version": "0.9"},
        "capabilities": {},
        "authMethods": [],
    }


@pytest.mark.requirement("R3")
def test_a_client_of_both_versions_sends_the_fields_of_both() -> None:
    request = ClientHandshake(info=EDITOR, protocols=[v1, v2], capabilities={"terminal", "elicitation.url"}).request()
    assert isinstance(request, v2.InitializeRequest)
    said = raw(request)
    assert said["protocolVersion"] == 2
    assert said["info"] == said["clientInfo"] == raw(EDITOR)
    assert said["capabilities"] == {"elicitation": {"url": {}}}
    assert said["clientCapabilities"]["terminal"] is True
    # A side that supports only one version reads it without findings.
    for package in (v1, v2):
        found: list[Finding] = []
        assert decode(package.InitializeRequest, said | {"protocolVersion": 1}, findings=found)
        assert found == []


def test_an_agent_of_v1_understands_a_client_of_only_v2() -> None:
    agent = AgentHandshake(info=HELPER, protocols=[v1])
    settled = agent.answer(
        {
            "protocolVersion": 2,
            "info": {"name": "future", "version": "9"},
            "capabilities": {"auth": {"terminal": {}}, "elicitation": {"form": {}}, "_meta": {"example.com": 1}},
        }
    )
    assert isinstance(settled.client.capabilities, v1.ClientCapabilities)
    assert settled.client.display_name == "future"
    assert settled.client.supports("auth.terminal")
    assert settled.client.supports("elicitation.form")
    assert settled.client.supports("config_options.boolean")
    assert not settled.client.supports("terminal")
    assert settled.client.ext("example.com") == 1
    assert settled.client.findings == ()


@pytest.mark.parametrize(
    "words",
    [
        {"clientCapabilities": {"terminal": True}},
        {"clientInfo": raw(EDITOR)},
        {"clientCapabilities": {"terminal": True}, "clientInfo": raw(EDITOR)},
    ],
)
def test_fields_of_v1_take_precedence_over_those_of_v2_in_v1(words: dict[str, Any]) -> None:
    newer: dict[str, Any] = {"info": raw(HELPER), "capabilities": {"auth": {"terminal": {}}}}
    client = AgentHandshake(info=HELPER).answer({"protocolVersion": 2, **newer, **words}).client
    assert client.supports("terminal") is ("clientCapabilities" in words)
    assert not client.supports("auth.terminal")
    assert client.display_name == ("The Editor" if "clientInfo" in words else "the client")


@pytest.mark.parametrize("info", [{}, {"info": 5}])
def test_an_agent_of_v1_understands_a_client_of_only_v2_without_info(
    info: dict[str, Any],
) -> None:
    params: dict[str, Any] = {"protocolVersion": 2, "capabilities": {"auth": {"terminal": {}}}, **info}
    client = AgentHandshake(info=HELPER).answer(params).client
    assert client.info is None
    assert client.supports("auth.terminal")


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        ({}, "the client (ACP v2)"),
        ({"info": 5}, "the client (ACP v2)"),
        ({"info": {"name": "x"}, "capabilities": "all"}, "the client (ACP v2)"),
        ({"info": '{"name": "x", "version": "1"}'}, "the client (ACP v2)"),
        ({"info": raw(HELPER)}, "helper 0.9 (ACP v2)"),
    ],
)
def test_a_client_of_an_unknown_version_is_read_leniently(params: dict[str, Any], shown: str) -> None:
    settled = AgentHandshake(info=HELPER, protocols=[v1, v2]).answer({"protocolVersion": 3, **params})
    assert settled.result.protocol_version == 2
    assert str(settled.client) == shown


@pytest.mark.requirement("R8")
@pytest.mark.parametrize("params", [{}, {"info": 5}, {"info": {"name": "x"}}])
def test_a_client_of_v2_must_send_its_info(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match="info") as caught:
        AgentHandshake(info=HELPER, protocols=[v1, v2]).answer({"protocolVersion": 2, **params})
    assert caught.value.code == -32602
    assert caught.value.issues[0].path[0] == "info"


JUNK: list[Any] = [None, -1, 1.5, "x", "\ud800", [], [{"id": 1}], {}, {"name": "x"}, {"session": 5}, {"\ud800": 1}]


@pytest.mark.parametrize("version", [0, 1, 2, 3, 70000, "1", None])
@pytest.mark.parametrize("junk", JUNK, ids=ascii)
def test_any_message_is_accepted_or_refused_with_an_error_of_the_package(version: Any, junk: Any) -> None:
    members = ["authMethods", *(f"{side}{part}" for side in ("agent", "client") for part in ("Capabilities", "Info"))]
    members += ["capabilities", "info", "_meta", "more"]
    messages = [{"protocolVersion": version, name: junk} for name in members]
    messages.append({"protocolVersion": version} | dict.fromkeys(members, junk))
    offers: list[Any] = [[v1], [v2], [v1, v2]]
    accepted = 0
    for message in (*messages, junk):
        for protocols in offers:
            agent = AgentHandshake(info=HELPER, protocols=protocols, capabilities=SESSIONS)
            client = ClientHandshake(info=EDITOR, protocols=protocols)
            with contextlib.suppress(RequestError):
                settled = agent.answer(message)
                assert client.accept(raw(settled.result)) == settled.agent
                assert settled.client.names() <= CLIENT.keys()
                accepted += 1
            with contextlib.suppress(RequestError, DecodeError):
                assert client.accept(message).names() <= AGENT.keys()
    if version in (1, 2, 3) and "\\ud" not in ascii(junk):
        assert accepted >= 2


def test_invalid_json_is_refused_like_any_invalid_message() -> None:
    with pytest.raises(InvalidParams, match="Invalid JSON"):
        AgentHandshake(info=HELPER).answer(b"{")
    with pytest.raises(DecodeError, match="Invalid JSON"):
        ClientHandshake(info=EDITOR).accept("no")


@pytest.mark.parametrize(
    ("version", "info", "path"),
    [(2, "info", ("capabilities", "auth", "terminal")), (1, "clientInfo", ("clientCapabilities", "terminal"))],
)
def test_an_error_in_a_request_is_found_once_in_any_version(version: int, info: str, path: tuple[str, ...]) -> None:
    said: Any = "yes"
    for step in reversed(path):
        said = {step: said}
    settled = AgentHandshake(info=HELPER).answer({"protocolVersion": version, info: raw(EDITOR), **said})
    assert not settled.client.supports("auth.terminal" if version == 2 else "terminal")
    assert [each.path for each in settled.client.findings] == [path]


@pytest.mark.requirement("R11", "D9")
def test_an_agent_that_responds_with_an_invalid_version_is_refused() -> None:
    client = ClientHandshake(info=EDITOR)
    with pytest.raises(BadProtocolVersion, match='"2025-03-26" looks like an MCP version'):
        client.accept({"protocolVersion": "2025-03-26"})
    with pytest.raises(BadProtocolVersion, match="missing"):
        client.accept(None)
    with pytest.raises(BadProtocolVersion, match=r'"1\.0\.0" looks like'):
        AgentHandshake(info=HELPER).answer({"protocolVersion": "1.0.0"})


@pytest.mark.requirement("R20")
def test_an_agent_that_only_repeats_the_version_is_reported_as_such() -> None:
    client = ClientHandshake(info=EDITOR, protocols=[v1, v2])
    answers: list[dict[str, Any]] = [{"agentCapabilities": {}}, {"agentInfo": raw(HELPER)}]
    for rest in answers:
        with pytest.raises(BadProtocolVersion) as caught:
            client.accept({"protocolVersion": 2, **rest})
        assert caught.value.value == 2
        told = "the agent responded with 2, but its other fields are of version 1; offer only 1"
        assert str(caught.value) == f"protocolVersion: {told} (-32602)"
    nothings: list[dict[str, Any]] = [{}, {"authMethods": []}]
    for nothing in nothings:
        with pytest.raises(BadProtocolVersion, match="without the info that version 2 requires; offer only 1"):
            client.accept({"protocolVersion": 2, **nothing})


@pytest.mark.requirement("R20")
@pytest.mark.parametrize("rest", [{"info": 5, "agentInfo": {}}, {"capabilities": {}}])
def test_errors_in_a_genuine_response_of_v2_are_reported_as_such(rest: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match="info"):
        ClientHandshake(info=EDITOR, protocols=[v1, v2]).accept({"protocolVersion": 2, **rest})


@pytest.mark.requirement("R23")
def test_a_client_refuses_a_version_that_it_does_not_support() -> None:
    with pytest.raises(UnsupportedProtocolVersion) as caught:
        ClientHandshake(info=EDITOR).accept({"protocolVersion": 7})
    assert (caught.value.requested, caught.value.answered, caught.value.supported) == (1, 7, (1,))
    assert str(caught.value).startswith("the agent chose ACP version 7; the client requested 1 and supports 1")


@pytest.mark.requirement("R13", "R20")
def test_a_response_is_read_in_its_own_version() -> None:
    client = ClientHandshake(info=EDITOR, protocols=[v1, v2_unstable])
    assert client.accept(b'{"protocolVersion":1}').protocol is v1
    assert client.accept('{"protocolVersion":2,"info":{"name":"a","version":"1"}}').protocol is v2_unstable
    with pytest.raises(DecodeError, match="info: Field required"):
        client.accept({"protocolVersion": 2, "capabilities": {}})


@pytest.mark.requirement("R12", "R14")
def test_a_response_of_v1_only_requires_the_version() -> None:
    for answer in ({}, {"agentCapabilities": None, "authMethods": None}, {"agentCapabilities": 5, "authMethods": "x"}):
        peer = ClientHandshake(info=EDITOR).accept({"protocolVersion": 1, **answer})
        assert peer.names() == {"session", "mcp.stdio"}
        assert peer.auth_methods == ()


SIDES = (ClientHandshake, AgentHandshake)
REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    *((side, {"info": None}, ValueError, "info is missing") for side in SIDES),
    *((side, {"info": None, "anonymous": True, "protocols": [v2]}, ValueError, "v2 requires info") for side in SIDES),
    *((side, {"protocols": []}, ValueError, "offer at least one protocol package") for side in SIDES),
    *(
        (
            side,
            {"info": info},
            TypeError,
            r"info must be an Implementation, such as v1\.Implementation\(name=…, version=",
        )
        for side in SIDES
        for info in ("editor", {"name": "editor"}, v1, v1.TextContent(text="editor"))
    ),
    (ClientHandshake, {"capabilities": {"terminals"}}, UnknownCapability, 'did you mean "terminal"'),
    (AgentHandshake, {"capabilities": {"loadSession"}}, UnknownCapability, r'did you mean "session\.load"'),
    (AgentHandshake, {"capabilities": {"terminal"}}, UnknownCapability, "of the client, not of the agent"),
    (ClientHandshake, {"capabilities": {"session.load"}}, UnknownCapability, "of the agent, not of the client"),
    (AgentHandshake, {"capabilities": {"session.fork"}}, ValueError, r"v1 does not have the capability session\.fork"),
    (ClientHandshake, {"protocols": [v2], "capabilities": {"terminal"}}, ValueError, "v2 does not have the capability"),
    (ClientHandshake, {"capabilities": "terminal"}, TypeError, "capabilities must be a set of names"),
    (ClientHandshake, {"capabilities": v1.ClientCapabilities()}, TypeError, r"a set of names.*not ClientCapabilities"),
    (
        AgentHandshake,
        {"protocols": [v1, v2], "capabilities": {"session.load"}},
        ValueError,
        r"in v2 every agent with sessions has session\.close, session\.list, session\.resume",
    ),
    *(
        (AgentHandshake, {"protocols": [v2], "capabilities": {name}}, ValueError, r"has session\.close")
        for name in ("mcp.http", "prompt.image", "session")
    ),
]


@pytest.mark.requirement("R5", "D8")
@pytest.mark.parametrize(("side", "given", "error", "says"), REFUSED)
def test_an_invalid_description_of_a_side_is_refused(
    side: Any, given: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        side(**{"info": EDITOR} | given)


@pytest.mark.requirement("R5", "D8")
def test_a_side_may_be_anonymous_in_v1_and_have_the_capabilities_of_its_package() -> None:
    assert "clientInfo" not in raw(ClientHandshake(anonymous=True).request())
    AgentHandshake(info=EDITOR, capabilities={"session.fork"}, protocols=[v1_unstable])
    AgentHandshake(info=EDITOR, capabilities=SESSIONS, protocols=[v1, v2])


@pytest.mark.requirement("R15", "D8")
def test_missing_info_is_a_remark() -> None:
    (found,) = ClientHandshake(info=EDITOR).accept({"protocolVersion": 1}).findings
    assert isinstance(found, Remark)
    assert (found.rule, found.severity) == ("no-info", "info")
    settled = AgentHandshake(info=HELPER).answer({"protocolVersion": 1})
    assert [each.rule for each in settled.client.findings] == ["no-info"]


@pytest.mark.requirement("R36", "R37", "D1")
def test_mcp_in_place_of_mcp_capabilities_is_reported_and_ignored() -> None:
    answer = {"protocolVersion": 1, "agentCapabilities": {"mcp": {"http": True}}, "agentInfo": raw(HELPER)}
    peer = ClientHandshake(info=EDITOR).accept(answer)
    assert not peer.supports("mcp.http")
    (found,) = peer.findings
    assert isinstance(found, Remark)
    assert (found.path, found.rule, found.facts["meant"]) == (
        ("agentCapabilities", "mcp"),
        "unknown-capability",
        "mcpCapabilities",
    )
    assert peer.lacks("mcp.http") == (
        "the agent has not advertised agentCapabilities.mcpCapabilities.http; it has advertised agentCapabilities.mcp"
    )
    assert peer.lacks("session.load") == "the agent has not advertised agentCapabilities.loadSession"


@pytest.mark.requirement("D1")
@pytest.mark.parametrize(
    ("capabilities", "path", "meant"),
    [
        ({"loadsession": True}, ("loadsession",), "loadSession"),
        ({"laodSession": True}, ("laodSession",), "loadSession"),
        ({"sessionCapabilities": {"Resume": {}}}, ("sessionCapabilities", "Resume"), "resume"),
        (
            {"promptCapabilities": {"embedded_context": True}},
            ("promptCapabilities", "embedded_context"),
            "embeddedContext",
        ),
        ({"prompt": {}}, ("prompt",), "promptCapabilities"),
    ],
)
def test_other_misspelled_capabilities_are_found(
    capabilities: dict[str, Any], path: tuple[str, ...], meant: str
) -> None:
    answer = {"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": raw(HELPER)}
    (found,) = ClientHandshake(info=EDITOR).accept(answer).findings
    assert isinstance(found, Remark)
    assert (found.path, found.facts) == (("agentCapabilities", *path), {"name": path[-1], "meant": meant})


@pytest.mark.requirement("R26", "D1")
@pytest.mark.parametrize(
    "answer",
    [
        {"agentCapabilities": {"telepathy": {"range": 5}, "loadSessionPartially": True}},
        {"agentCapabilities": {"": True, "_": True, "-": True}},
        {"agentInfo": {**raw(HELPER), "Title": "Helper"}},
    ],
)
def test_names_that_are_not_misspelled_capabilities_are_preserved_without_a_finding(answer: dict[str, Any]) -> None:
    peer = ClientHandshake(info=EDITOR).accept({"protocolVersion": 1, "agentInfo": raw(HELPER), **answer})
    assert peer.findings == ()
    assert raw(peer.capabilities) == answer.get("agentCapabilities", {})


def test_a_response_with_the_fields_of_another_version_is_reported() -> None:
    answer: dict[str, Any] = {"protocolVersion": 1, "capabilities": {"session": {}}, "info": raw(HELPER)}
    found: list[Any] = list(ClientHandshake(info=EDITOR).accept(answer).findings)
    assert [(each.rule, each.path) for each in found[:2]] == [
        ("other-version", ("capabilities",)),
        ("other-version", ("info",)),
    ]
    assert [each.facts for each in found[:2]] == [
        {"member": "capabilities", "meant": "agentCapabilities"},
        {"member": "info", "meant": "agentInfo"},
    ]


def test_an_agent_of_v2_without_sessions_may_have_other_capabilities() -> None:
    agent = AgentHandshake(info=EDITOR, protocols=[v2_unstable], capabilities={"auth.status", "providers"})
    client = ClientHandshake(info=EDITOR, protocols=[v2_unstable])
    peer = agent.answer(raw(client.request())).agent
    assert [peer.supports(each) for each in ("auth.status", "providers", "session")] == [True, True, False]


def test_an_agent_sees_itself_as_its_client_does() -> None:
    agent = AgentHandshake(info=HELPER, protocols=[v1, v2], capabilities={*SESSIONS, "mcp.http"}, meta={"a.com": [1]})
    offers: list[Any] = [v1, v2]
    for protocol in offers:
        client = ClientHandshake(info=EDITOR, protocols=[protocol], capabilities={"auth.terminal"}, meta={"b.com": 2})
        settled = agent.answer(raw(client.request()))
        assert client.accept(raw(settled.result)) == settled.agent
        assert client.own(protocol) == settled.client
        assert settled.agent.ext("a.com") == [1]
        assert settled.client.ext("b.com") == 2


def test_empty_custom_capabilities_are_sent() -> None:
    assert raw(ClientHandshake(info=EDITOR, meta={}).request())["clientCapabilities"]["_meta"] == {}


@pytest.mark.requirement("R41")
def test_custom_capabilities_are_read_by_their_key_and_never_merged() -> None:
    said: dict[str, Any] = {"_meta": {"example.com": {"deep": True}, "loadSession": True, "": None}}
    peer = AgentPeer.read({"protocolVersion": 1, "agentCapabilities": said}, [v1])
    assert peer.ext("example.com") == {"deep": True}
    assert peer.ext("example") is None
    assert peer.ext("other.org", default="none") == "none"
    assert not peer.supports("session.load")
    assert AgentPeer.read({"protocolVersion": 1}, [v1]).ext("example.com") is None
