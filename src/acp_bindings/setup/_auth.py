"""Logging in: which ways an agent may offer to whom, which of them a client may ask for, and how it is asked.

v1 has `authenticate` and `logout`, v2 `auth/login` and `auth/logout`; here it is one call each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import from_json

from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.setup._gates import check_capability
from acp_bindings.setup._peer import TERMINAL, method_id
from acp_bindings.setup.errors import AuthMethodRefused, Remark

if TYPE_CHECKING:
    from acp_bindings.setup._peer import AgentPeer, ClientPeer
    from acp_bindings.setup.unions import AuthMethod, LoginRequest, LogoutRequest


def login(agent: AgentPeer, id: str) -> LoginRequest:  # noqa: A002
    """The params that ask *agent* to log the user in: of `authenticate`, or of `auth/login` in v2.

    Args:
        agent: as it answered `initialize`.
        id: that of a method which it advertised.

    Raises:
        AuthMethodRefused: it has advertised no such method, or it is one for a terminal: then the client runs the
            agent's own command there, with the `args` and the `env` of the method, and asks the agent for nothing.
        TypeError: *id* is no text.
    """
    if not isinstance(id, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{type(id).__name__} is no id; of an authentication method that is method_id(method)")
    if reason := agent.login_refusal(id):
        raise AuthMethodRefused(id, reason, [method_id(each) for each in agent.auth_methods if each.type != TERMINAL])
    package: Any = agent.protocol
    type_ = package.AuthenticateRequest if agent.version == 1 else package.LoginAuthRequest
    request: LoginRequest = type_(method_id=id)
    return request


def logout(agent: AgentPeer, *, assume: Collection[str] = ()) -> LogoutRequest:
    """The params that ask *agent* to log the user out: of `logout`, or of `auth/logout` in v2.

    Raises:
        CapabilityNotAdvertised: it has not said that it can do that, and *assume* does not say `auth.logout`.
    """
    package: Any = agent.protocol
    method, type_ = ("logout", "LogoutRequest") if agent.version == 1 else ("auth/logout", "LogoutAuthRequest")
    check_capability(agent, "auth.logout", method=method, assume=assume)
    request: LogoutRequest = getattr(package, type_)()
    return request


def auth_methods_for(client: ClientPeer, methods: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Those of an agent's *methods* that it may offer *client*, in the words of the version that both speak.

    Methods for a terminal are for clients that have said that they have one (`auth.terminal`); kinds of methods that v1
    does not know are for v2 alone.
    """
    terminal = client.supports("auth.terminal")
    package: Any = client.protocol
    raws = [_in_words_of(client.version, from_json(encode(each))) for each in methods]
    offered = [raw for raw in raws if raw is not None and (terminal or raw.get("type") != TERMINAL)]
    return [decode(package.AuthMethod, raw) for raw in offered]


def login_remarks(agent: AgentPeer, client: ClientPeer) -> Iterator[Remark]:
    """The methods that *agent* should not have offered *client*: those for a terminal, where that has said of none.

    The rule is `terminal-login` (v1 and v2 `AuthMethodTerminal`).
    """
    if client.supports("auth.terminal"):
        return
    for index, each in enumerate(agent.auth_methods):
        if each.type == TERMINAL:
            told = (
                "it is for a terminal, and auth.terminal was not advertised; leave it out of what the user may choose"
            )
            yield Remark(("authMethods", index), "terminal-login", told, "error", {"methodId": method_id(each)})


def _in_words_of(version: int, method: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON of a method in that of *version*; None where it has no word for the kind."""
    kind = method.get("type", "agent")
    said = {name: value for name, value in method.items() if name not in ("type", "id", "methodId", "env")}
    id_ = method["methodId"] if "methodId" in method else method["id"]
    env: Any = method.get("env")
    pairs: list[tuple[str, str]] = (
        list(cast("dict[str, str]", env).items())
        if isinstance(env, dict)
        else [(each["name"], each["value"]) for each in env or ()]
    )
    if version == 1:
        if kind not in ("agent", TERMINAL):
            return None
        tag = {"type": kind} if kind == TERMINAL else {}
        return {**tag, "id": id_, **said, **({"env": dict(pairs)} if pairs else {})}
    listed = [{"name": name, "value": value} for name, value in pairs]
    return {"type": kind, "methodId": id_, **said, **({"env": listed} if pairs else {})}
