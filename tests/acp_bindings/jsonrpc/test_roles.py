"""The protocol version and the role of a codec: what it reads and sends, and which values are invalid."""

from types import SimpleNamespace
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings.jsonrpc import METHOD_NOT_FOUND, BadLine, Codec, Request, Response, Role
from acp_bindings.methods import Methods, Side
from tests.acp_bindings.jsonrpc.support import agent, answered, client, line


@pytest.mark.parametrize(
    ("role", "peer", "sides"),
    [
        ("agent", "client", "agent both protocol"),
        ("client", "agent", "client both protocol"),
        ("proxy", "conductor", "agent proxy both protocol"),
        ("conductor", "proxy", "client proxy both protocol"),
    ],
)
def test_each_role_handles_its_sides_and_its_peer_sends_to_them(role: Role, peer: Role, sides: str) -> None:
    every: list[Side] = ["agent", "both", "client", "protocol", "proxy"]
    types: dict[str, tuple[Side, str, str]] = {side: (side, "LogoutRequest", "LogoutResponse") for side in every}
    protocol: Any = SimpleNamespace(
        METHODS=Methods("acp_bindings.v1.methods", requests=types, notifications={}),
        Error=v1.Error,
        RequestId=v1.RequestId,
    )
    here, there = Codec(protocol, role=role), Codec(protocol, role=peer)

    read = {side: here.read(line(id=1, method=side, params={})) for side in every}

    assert {side for side, message in read.items() if isinstance(message, Request)} == set(sides.split())
    for side, message in read.items():
        if isinstance(message, Request):
            assert here.read(there.request(v1.LogoutRequest(), method=side, id=1).line) == message
            there.read(here.respond(message, v1.LogoutResponse()))
        else:
            assert answered(message)["error"]["code"] == METHOD_NOT_FOUND
            with pytest.raises(ValueError, match=f"{side} is for the {side}; the {peer} does not send it"):
                there.request(v1.LogoutRequest(), method=side)


@pytest.mark.parametrize("result", [None, 5, {"a": [1.5]}, v1_unstable.LogoutResponse()])
def test_a_forwarded_request_may_be_answered_with_any_result(result: Any) -> None:
    proxy, conductor = Codec(v1_unstable, role="proxy"), Codec(v1_unstable, role="conductor")
    request = conductor.read(proxy.request(v1_unstable.ProxySuccessorRequest(method="logout")).line)

    assert isinstance(request, Request)
    came: Any = {} if isinstance(result, v1_unstable.LogoutResponse) else result
    assert proxy.read(conductor.respond(request, result)) == Response(0, "proxy/successor", came)


def test_a_proxy_may_forward_methods_newer_than_its_schema() -> None:
    codec = Codec(v1, role="proxy", pass_unknown=True)

    assert codec.read(line(id=1, method="session/teleport", params={"to": "Mars"})) == Request(
        1, "session/teleport", {"to": "Mars"}
    )
    assert codec.request({"to": "Mars"}, method="session/teleport").id == 0
    assert isinstance(codec.read(line(id=2, method="session/request_permission", params={})), BadLine)


def test_the_protocol_may_be_settled_after_the_first_request() -> None:
    codec = client(v2)
    codec.request(v2.InitializeRequest(protocol_version=2, info=v2.Implementation(name="c", version="1")))
    codec.protocol = v1

    assert isinstance(
        codec.read(line(id=None, method="fs/read_text_file", params={"sessionId": "s", "path": "/"})), Request
    )
    assert codec.request(v1.LogoutRequest()).id == 1


@pytest.mark.parametrize("protocol", ["v1", 1, [v1, v2], None, v1.METHODS])
def test_anything_but_a_protocol_package_is_refused(protocol: Any) -> None:
    told = r"^protocol must be a package such as acp_bindings\.v1, or setup\.OPENING before the handshake, not "
    with pytest.raises(TypeError, match=told + type(protocol).__name__ + "$"):
        Codec(protocol, role="agent")
    codec = agent()
    with pytest.raises(TypeError, match=told):
        codec.protocol = protocol
    assert codec.protocol is v1


@pytest.mark.parametrize("role", ["server", "", None, v1])
def test_there_are_four_roles(role: Any) -> None:
    with pytest.raises(ValueError, match=r"^role must be agent or client or proxy or conductor, not "):
        Codec(v1, role=role)
