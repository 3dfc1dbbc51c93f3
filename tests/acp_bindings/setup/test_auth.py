"""Authentication: the methods offered to each client, and what may be requested."""

from typing import Any

import pytest

from acp_bindings import decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import (
    AgentHandshake,
    AuthMethodRefused,
    CapabilityNotAdvertised,
    ClientHandshake,
    InvalidParams,
    Remark,
    check_message,
    login,
    logout,
)
from acp_bindings.setup._auth import auth_methods_for
from acp_bindings.setup._peer import method_id
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.capabilities import ClientCapability
from acp_bindings.setup.errors import MethodNotAdvertised
from tests.acp_bindings.setup.peers import agent, client

INFO = v1.Implementation(name="it", version="1")
NOTHING: set[ClientCapability] = set()
TERMINAL_LOGIN: set[ClientCapability] = {"auth.terminal"}
BROWSER = v1.AuthMethodAgent(id="browser", name="Browser")
TUI = v1.AuthMethodTerminal(id="tui", name="In a terminal", args=["--login"], env={"TOKEN": "hunter2"})
V1 = [{"id": "browser", "name": "Browser"}, {"type": "terminal", "id": "tui", "name": "In a terminal"}]
V2 = [
    {"type": "agent", "methodId": "browser", "name": "Browser"},
    {"type": "terminal", "methodId": "tui", "name": "In a terminal"},
    {"type": "_oauth", "methodId": "oauth", "name": "OAuth"},
]


@pytest.mark.requirement("R42", "D12")
@pytest.mark.parametrize("package", [v1, v1_unstable])
def test_a_client_of_v1_authenticates_by_a_method_that_was_advertised(package: Any) -> None:
    peer = agent(package, auth_methods=V1)
    assert login(peer, BROWSER) == login(peer, "browser") == package.AuthenticateRequest(method_id="browser")


@pytest.mark.requirement("R42")
@pytest.mark.parametrize("package", [v2, v2_unstable])
def test_a_client_of_v2_logs_in_by_the_same_call(package: Any) -> None:
    peer = agent(package, auth_methods=V2)
    assert login(peer, "browser") == package.LoginAuthRequest(method_id="browser")
    assert login(peer, "oauth") == package.LoginAuthRequest(method_id="oauth")


@pytest.mark.requirement("R42", "X14", "D12")
@pytest.mark.parametrize(("package", "methods"), [(v1, V1), (v2, V2[:2])])
def test_an_id_that_was_not_advertised_or_is_for_a_terminal_is_refused(package: Any, methods: Any) -> None:
    peer = agent(package, auth_methods=methods)
    with pytest.raises(AuthMethodRefused, match="the agent has not advertised it; available: browser") as caught:
        login(peer, "password")
    assert (caught.value.method_id, caught.value.advertised) == ("password", ("browser",))
    with pytest.raises(AuthMethodRefused, match="it is for a terminal"):
        login(peer, "tui")
    with pytest.raises(AuthMethodRefused, match=r"has not advertised it$"):
        login(agent(package), "browser")


@pytest.mark.requirement("R42", "X14")
@pytest.mark.parametrize(("package", "methods"), [(v1, V1), (v2, V2)])
def test_an_agent_refuses_them_too(package: Any, methods: Any) -> None:
    own = agent(package, auth_methods=methods)
    type_ = package.AuthenticateRequest if package is v1 else package.LoginAuthRequest
    check_message(own, type_(method_id="browser"), received=True)
    for id_ in ("tui", "password"):
        with pytest.raises(InvalidParams) as caught:
            check_message(own, type_(method_id=id_), received=True)
        assert caught.value.data == {"methodId": id_}
    with pytest.raises(MethodNotAdvertised):
        check_message(agent(package), type_(method_id="browser"), received=True)


@pytest.mark.requirement("X14")
@pytest.mark.parametrize(("package", "terminal"), [(v1, True), (v1_unstable, True), (v2, {}), (v2_unstable, {})])
def test_terminal_methods_are_offered_only_to_clients_with_a_terminal(package: Any, terminal: Any) -> None:
    plain, able = client(package), client(package, {"auth": {"terminal": terminal}})
    assert [method_id(each) for each in auth_methods_for(plain, [BROWSER, TUI])] == ["browser"]
    assert [method_id(each) for each in auth_methods_for(able, [BROWSER, TUI])] == ["browser", "tui"]


@pytest.mark.requirement("X14")
def test_the_handshake_offers_only_usable_methods_to_each_client() -> None:
    handshake = AgentHandshake(info=INFO, auth_methods=[TUI, BROWSER])
    for capabilities, offered in ((NOTHING, ["browser"]), (TERMINAL_LOGIN, ["tui", "browser"])):
        settled = handshake.answer(ClientHandshake(info=INFO, capabilities=capabilities).request().model_dump())
        assert [method_id(each) for each in settled.agent.auth_methods] == offered


@pytest.mark.requirement("X14")
@pytest.mark.parametrize(("package", "methods"), [(v1, V1), (v1_unstable, V1), (v2, V2), (v2_unstable, V2)])
def test_a_terminal_method_for_a_client_without_terminal_is_reported(package: Any, methods: Any) -> None:
    version = version_of(package)
    named = "agentInfo" if version == 1 else "info"
    answer = {"protocolVersion": version, named: {"name": "it", "version": "1"}, "authMethods": methods}
    for capabilities, rules in ((NOTHING, ["terminal-login"]), (TERMINAL_LOGIN, list[str]())):
        handshake = ClientHandshake(info=INFO, protocols=[package], capabilities=capabilities)
        found = handshake.accept(answer).findings
        assert [each.rule for each in found] == rules
        for each in found:
            assert isinstance(each, Remark)
            assert (each.path, each.severity, each.facts) == (("authMethods", 1), "error", {"methodId": "tui"})


def test_methods_are_converted_to_either_version() -> None:
    v2_tui = v2.AuthMethodTerminal(
        method_id="tui", name="In a terminal", args=["--login"], env=[v2.EnvVariable(name="TOKEN", value="hunter2")]
    )
    v2_browser = v2.AuthMethodAgent(method_id="browser", name="Browser")
    able: dict[str, Any] = {"auth": {"terminal": {}}}
    assert auth_methods_for(client(v2, able), [BROWSER, TUI]) == [v2_browser, v2_tui]
    able = {"auth": {"terminal": True}}
    assert auth_methods_for(client(v1, able), [v2_browser, v2_tui]) == [BROWSER, TUI]


def test_a_method_unknown_to_v1_is_offered_only_in_v2() -> None:
    oauth = decode(v2.AuthMethod, V2[2] | {"issuer": "https://example.com"})
    assert auth_methods_for(client(v1), [oauth]) == []
    assert auth_methods_for(client(v2), [oauth]) == [oauth]


@pytest.mark.requirement("R39")
def test_logging_out_needs_the_capability_in_v1_and_a_way_to_log_in_in_v2() -> None:
    assert logout(agent(v1, {"auth": {"logout": {}}})) == v1.LogoutRequest()
    assert logout(agent(v2, auth_methods=V2)) == v2.LogoutAuthRequest()
    for peer, method in ((agent(v1, auth_methods=V1), "logout"), (agent(v2), "auth/logout")):
        with pytest.raises(CapabilityNotAdvertised) as caught:
            logout(peer)
        assert (caught.value.capability, caught.value.method) == ("auth.logout", method)
        logout(peer, assume={"auth.logout"})


def test_an_agent_cannot_advertise_login_without_methods() -> None:
    with pytest.raises(ValueError, match="auth_methods"):
        AgentHandshake(info=INFO, capabilities={"auth.login"})
    AgentHandshake(info=INFO, capabilities={"auth.login"}, auth_methods=[BROWSER])


def test_the_environment_of_a_terminal_login_is_not_shown() -> None:
    assert "hunter2" not in repr(agent(v1, auth_methods=[{**V1[1], "env": {"TOKEN": "hunter2"}}]))
    v2_tui: Any = {**V2[1], "env": [{"name": "TOKEN", "value": "hunter2"}]}
    assert "hunter2" not in repr(agent(v2, auth_methods=[v2_tui]))
