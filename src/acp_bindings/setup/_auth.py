"""Login and logout: the requests of a client, and the authentication methods that an agent may offer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic_core import from_json

from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.setup._gates import check_capability
from acp_bindings.setup._peer import TERMINAL, method_id
from acp_bindings.setup.errors import AuthMethodRefused, Remark

if TYPE_CHECKING:
    from acp_bindings.setup._peer import AgentPeer, ClientPeer
    from acp_bindings.setup.unions import AuthMethod, LoginRequest, LogoutRequest


def login(agent: AgentPeer, method: AuthMethod | str) -> LoginRequest:
    """Return the params of `authenticate` (`auth/login` in v2), which ask *agent* to log the user in.

    Args:
        agent: the agent.
        method: an authentication method that the agent has advertised, or its id.

    Raises:
        AuthMethodRefused: the agent has not advertised the method, or the method is for a terminal. In that case the
            client runs the agent's command in a terminal, with the `args` and `env` of the method, instead of sending
            a request.
    """
    id = method if isinstance(method, str) else method_id(method)  # noqa: A001
    if reason := agent.login_refusal(id):
        raise AuthMethodRefused(id, reason, [method_id(each) for each in agent.auth_methods if each.type != TERMINAL])
    package: Any = agent.protocol
    type_ = package.AuthenticateRequest if agent.version == 1 else package.LoginAuthRequest
    request: LoginRequest = type_(method_id=id)
    return request


def logout(agent: AgentPeer, *, assume: Collection[str] = ()) -> LogoutRequest:
    """Return the params of `logout` (`auth/logout` in v2), which ask *agent* to log the user out.

    Raises:
        CapabilityNotAdvertised: the agent has not advertised `auth.logout`, and *assume* does not contain it.
    """
    package: Any = agent.protocol
    method, type_ = ("logout", "LogoutRequest") if agent.version == 1 else ("auth/logout", "LogoutAuthRequest")
    check_capability(agent, "auth.logout", method=method, assume=assume)
    request: LogoutRequest = getattr(package, type_)()
    return request


def checked_methods(methods: Sequence[AuthMethod]) -> tuple[AuthMethod, ...]:
    """Return *methods*, of any protocol package, as a tuple.

    Raises:
        TypeError: one of them is not an object.
    """
    for each in methods:
        if not isinstance(each, BaseModel):  # pyright: ignore[reportUnnecessaryIsInstance]
            example = "v1.AuthMethodAgent(id=…, name=…)"
            raise TypeError(f"auth_methods must be a list of objects, such as {example}, not {type(each).__name__}")
    return tuple(methods)


def auth_methods_for(client: ClientPeer, methods: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Return the authentication *methods* that an agent may offer *client*, in the client's protocol version.

    Methods for a terminal require that the client has advertised `auth.terminal`. Types that v1 does not have are
    offered only in v2.
    """
    terminal = client.supports("auth.terminal")
    package: Any = client.protocol
    raws = [_in_version(client.version, from_json(encode(each))) for each in methods]
    offered = [raw for raw in raws if raw is not None and (terminal or raw.get("type") != TERMINAL)]
    return [decode(package.AuthMethod, raw) for raw in offered]


def login_remarks(agent: AgentPeer, client: ClientPeer) -> Iterator[Remark]:
    """Yield a remark for each method that *agent* should not have offered because *client* has no terminal.

    The rule is `terminal-login` (v1 and v2 `AuthMethodTerminal`).
    """
    if client.supports("auth.terminal"):
        return
    for index, each in enumerate(agent.auth_methods):
        if each.type == TERMINAL:
            text = "this method is for a terminal, and auth.terminal was not advertised; do not offer it to the user"
            yield Remark(("authMethods", index), "terminal-login", text, "error", {"methodId": method_id(each)})


def _in_version(version: int, method: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the JSON of a method in the form of *version*; None if the version does not have its type."""
    kind = method.get("type", "agent")
    rest = {name: value for name, value in method.items() if name not in ("type", "id", "methodId", "env")}
    id_ = method.get("methodId", method.get("id"))
    env: Any = method.get("env") or {}
    if not isinstance(env, dict):
        env = {each["name"]: each["value"] for each in env}
    variables = cast("dict[str, str]", env)
    if version == 1:
        if kind not in ("agent", TERMINAL):
            return None
        tag = {"type": kind} if kind == TERMINAL else {}
        return {**tag, "id": id_, **rest, **({"env": variables} if variables else {})}
    listed = [{"name": name, "value": value} for name, value in variables.items()]
    return {"type": kind, "methodId": id_, **rest, **({"env": listed} if listed else {})}
