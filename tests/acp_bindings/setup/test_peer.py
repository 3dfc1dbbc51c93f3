"""The properties of a peer, with the same names for all versions."""

from collections.abc import Callable
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import AgentPeer
from acp_bindings.setup.capabilities import AgentCapability, ClientCapability
from acp_bindings.setup.errors import UnknownCapability
from tests.acp_bindings.setup.peers import agent, client


@pytest.mark.requirement("R16")
@pytest.mark.parametrize(
    ("info", "shown"),
    [
        ({"name": "claude-code", "title": "Claude Code", "version": "1.2"}, "Claude Code"),
        ({"name": "claude-code", "title": "", "version": "1.2"}, "claude-code"),
        ({"name": "claude-code", "version": "1.2"}, "claude-code"),
        (None, "the agent"),
    ],
)
def test_a_peer_is_called_by_its_title_or_else_by_its_name(info: Any, shown: str) -> None:
    assert AgentPeer.read({"protocolVersion": 1, "agentInfo": info}, [v1]).display_name == shown


@pytest.mark.parametrize("kind", [bytes, bytearray, bytes.decode])
def test_a_peer_is_read_from_str_bytes_and_bytearray(kind: Callable[[bytes], Any]) -> None:
    assert AgentPeer.read(kind(b'{"protocolVersion": 1, "agentInfo": {"name": "it", "version": "1"}}'), [v1]) == agent()


@pytest.mark.requirement("R18")
def test_a_printable_line_for_a_log_names_the_peer_its_version_and_the_protocol() -> None:
    assert str(agent(v2)) == "it 1 (ACP v2)"
    assert str(AgentPeer.read({"protocolVersion": 1}, [v1_unstable])) == "the agent (ACP v1)"
    info = {"name": "a\n\x1b[31m" + "b" * 10_000, "version": "1"}
    odd = str(AgentPeer.read({"protocolVersion": 1, "agentInfo": info}, [v1]))
    assert odd.startswith(r"a\n\x1b[31mbbb")
    assert (odd.isprintable(), len(odd) < 300) == (True, True)


@pytest.mark.requirement("R17", "R13")
def test_an_invalid_title_or_info_is_ignored() -> None:
    named: Any = {"protocolVersion": 1, "agentInfo": {"name": "x", "title": 5, "version": "1"}}
    peer = AgentPeer.read(named, [v1])
    assert peer.display_name == "x"
    assert [each.path for each in peer.findings] == [("agentInfo", "title")]
    assert AgentPeer.read({"protocolVersion": 1, "agentInfo": {"name": "x"}}, [v1]).info is None


@pytest.mark.requirement("R27")
def test_an_unknown_capability_is_an_error_and_not_unsupported() -> None:
    with pytest.raises(UnknownCapability, match=r'did you mean "mcp\.http"'):
        agent().supports("mcp.https")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownCapability):
        client().supports("mcp.http")


@pytest.mark.parametrize(
    ("said", "capability", "told"),
    [
        ({"mcpCapabilities": 5}, "mcp.http", "its agentCapabilities.mcpCapabilities is invalid ("),
        ({"loadSession": "yes"}, "session.load", "loadSession is invalid (Input should be a valid boolean)"),
        (
            {"sessionCapabilities": {"Resume": {}}},
            "session.resume",
            "it has advertised agentCapabilities.sessionCapabilities.Resume",
        ),
    ],
)
def test_the_reason_names_the_invalid_field_before_a_capability(
    said: dict[str, Any], capability: AgentCapability, told: str
) -> None:
    assert told in str(agent(v1, said).lacks(capability))


def test_a_capability_missing_in_a_version_is_unsupported_with_that_reason() -> None:
    assert agent(v1).lacks("session.fork") == "v1 does not have the capability session.fork"
    assert agent(v1_unstable, {"sessionCapabilities": {"fork": {}}}).supports("session.fork")
    assert agent(v2).lacks("mcp.sse") == "v2 does not have the capability mcp.sse"
    assert client(v2).lacks("terminal") == "v2 does not have the capability terminal"


@pytest.mark.parametrize("capability", ["plan", "compaction", "notices", "config_options.boolean"])
def test_capabilities_of_every_v2_client_need_not_be_advertised(capability: ClientCapability) -> None:
    assert client(v2).supports(capability)
    assert not client(v1_unstable).supports(capability)


@pytest.mark.requirement("R40", "D10b")
def test_session_load_is_one_name_for_both_versions() -> None:
    assert agent(v1, {"loadSession": True}).supports("session.load")
    assert not agent(v1, {"sessionCapabilities": {"load": {}}}).supports("session.load")
    assert agent(v2, {"session": {}}).supports("session.load")
    assert not agent(v2).supports("session.load")


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(("package", "version"), [(v1, 1), (v1_unstable, 1), (v2, 2), (v2_unstable, 2)])
def test_a_peer_belongs_to_one_package(package: Any, version: int) -> None:
    peer = agent(package)
    assert (peer.protocol, peer.version) == (package, version)
    assert isinstance(peer.capabilities, package.AgentCapabilities)
