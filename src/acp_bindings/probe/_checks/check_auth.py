"""Logging in. Without an account, the probe can only try what must be refused."""

from __future__ import annotations

from typing import Any, cast

from acp_bindings.probe._bench import Bench, logged_in
from acp_bindings.probe._check import Failed, Skipped, Warned, check
from acp_bindings.probe._probed_agent import Message
from acp_bindings.probe._probed_session import AUTH_REQUIRED, needs_login

_SOURCE = "protocol, Authentication"


@check(_SOURCE, "Give each method an id of its own.")
async def methods(bench: Bench) -> None:
    """The ids of the authentication methods differ."""
    agent = await bench.shared()
    ids = [each.get("id", each.get("methodId")) for each in await _methods(bench)]
    if len(set(ids)) < len(ids):
        raise Failed(f"an id is used twice: {ids}", agent.opening)


@check(_SOURCE, "Refuse it with -32602.")
async def unknown_method(bench: Bench) -> None:
    """A login with a method that the agent does not have is refused."""
    agent = await bench.shared()
    await _methods(bench)
    call = await agent.request(_login(bench), {"methodId": "probe-no-such-method"}, is_wrong=True)
    if call.error is None:
        raise Failed("it succeeded", call.lines)


@check(_SOURCE, "Refuse `session/new` with -32000, so that clients offer to log in.")
async def required(bench: Bench) -> None:
    """An agent that requires a login responds with -32000."""
    agent = await bench.shared()
    call = await agent.request("session/new", bench.session_params())
    if not needs_login(call.error):
        raise Skipped("no login is required for `session/new`")
    if call.code != AUTH_REQUIRED:
        raise Warned(f"the code is {call.code}, not {AUTH_REQUIRED}", call.lines)


@check(_SOURCE, "Let the user create sessions after the login.")
async def login(bench: Bench) -> None:
    """After a login, sessions can be created."""
    if not bench.options.auth:
        raise Skipped("no method was given; see --auth")
    agent = await bench.shared()
    await bench.once(logged_in)
    call = await agent.request("session/new", bench.session_params())
    if needs_login(call.error):
        raise Failed("`session/new` still requires a login", call.lines)


async def _methods(bench: Bench) -> list[Message]:
    methods: Any = (await bench.shared()).initialized.get("authMethods") or []
    if not methods:
        raise Skipped("the agent has no authentication methods")
    return [cast("Message", each) for each in methods if isinstance(each, dict)]


def _login(bench: Bench) -> str:
    return "authenticate" if bench.version == 1 else "auth/login"
