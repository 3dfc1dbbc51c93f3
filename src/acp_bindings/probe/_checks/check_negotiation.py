"""`initialize`: versions and what both sides can do."""

from __future__ import annotations

from typing import Any

from acp_bindings._json import members_of
from acp_bindings.probe._bench import Bench
from acp_bindings.probe._check import Failed, Warned, check
from acp_bindings.probe._probed_agent import Agent, Call, Message
from acp_bindings.setup._versions import HIGHEST

_VERSIONS = "protocol, Initialization: Version Negotiation"
_KNOWN = (1, 2)
_UNSUPPORTED = -32022


@check(_VERSIONS, "Answer with the requested version if you support it.")
async def initialize(bench: Bench) -> None:
    """`initialize` is answered with the version that the client supports."""
    await bench.shared()


@check("protocol, Initialization", "Compare the fields with `InitializeResponse` in the schema.")
async def response(bench: Bench) -> None:
    """The response to `initialize` is valid: a client need not correct or ignore any part of it."""
    agent = await bench.shared()
    if found := bench.validate("InitializeResponse", agent.initialized, agent.opening):
        raise Failed("; ".join(map(str, found)), agent.opening)


@check("protocol, Initialization: Implementation Information", "Send your name and your version.")
async def info(bench: Bench) -> None:
    """The agent sends its name and version."""
    agent = await bench.shared()
    name = "agentInfo" if bench.version == 1 else "info"
    if not isinstance(agent.initialized.get(name), dict):
        # v1 says that a later version will require it.
        outcome = Warned if bench.version == 1 else Failed
        raise outcome(f"the response lacks `{name}`", agent.opening)


@check(_VERSIONS, "If you do not support the version, answer with the latest one that you support.")
async def newer_version(bench: Bench) -> None:
    """A client of a newer version gets the latest version that the agent supports."""
    _, call = await _offered(bench, HIGHEST)
    if (version := _version(call)) not in _KNOWN:
        said = f"the agent claims version {version!r}" if call.error is None else "the agent refuses"
        raise Failed(f"{said}, in place of a version that it supports", call.lines)


@check(_VERSIONS, "Never repeat a version that you do not support.")
async def version_zero(bench: Bench) -> None:
    """A client of version 0 gets a version that the agent supports, or an error."""
    await _refused_or_known(bench, 0)


@check("schema, ProtocolVersion: an integer from 0 to 65535", "Refuse it with -32602, or treat it as unknown.")
async def negative_version(bench: Bench) -> None:
    """A negative version is refused, or answered with a version that the agent supports."""
    await _refused_or_known(bench, -1)


@check("schema, ProtocolVersion: an integer from 0 to 65535", "Refuse it with -32602, or treat it as unknown.")
async def text_version(bench: Bench) -> None:
    """A version that is a string is refused, or answered with a version that the agent supports."""
    await _refused_or_known(bench, "1.0")


@check("schema, InitializeRequest: required fields", "Refuse it with -32602.")
async def missing_version(bench: Bench) -> None:
    """An `initialize` without a version is refused, or answered with a version; after a refusal, a valid one works."""
    agent, call = await _refused_or_known(bench, None)
    if call.error and not bench.is_http:
        after = await agent.request("initialize", bench.initialization())
        if after.error:
            raise Failed("after it, a valid `initialize` is refused", [*call.lines, *after.lines])


@check("protocol, Extensibility", "Ignore fields that you do not know, and keep `_meta` out of decisions.")
async def unknown_fields(bench: Bench) -> None:
    """`_meta`, unknown fields and unknown capabilities in `initialize` change nothing."""
    first = (await bench.shared()).initialized
    name = "clientCapabilities" if bench.version == 1 else "capabilities"
    capabilities = {**bench.initialization()[name], "_meta": {"probe": [1]}, "probe": {"unknown": True}}
    agent = await bench.started()
    more: Message = {name: capabilities, "_meta": {"probe": {"deep": [None, 1.5]}}, "probeField": "unknown"}
    call = await agent.request("initialize", bench.initialization(**more))
    if call.error:
        raise Failed("`initialize` was refused", call.lines)
    if _stable(call.result) != _stable(first):
        raise Failed("the response differs from the one without them", call.lines)


@check("protocol, Initialization", "Answer requests with an error until you have answered `initialize`.", over="lines")
async def before_initialize(bench: Bench) -> None:
    """A request before `initialize` does not break the agent."""
    agent = await bench.started()
    call = await agent.request("session/new", bench.session_params(), is_wrong=True)
    after = await agent.request("initialize", bench.initialization())
    if after.error:
        raise Failed("after it, `initialize` is refused", [*call.lines, *after.lines])
    if call.error is None:
        raise Warned("`session/new` succeeded before `initialize`", call.lines)


@check("protocol, Initialization", "Refuse it, or answer again; do not forget sessions.")
async def initialize_twice(bench: Bench) -> None:
    """A second `initialize` does not break the connection."""
    agent = await bench.shared()
    call = await agent.request("initialize", bench.initialization(), is_wrong=True)
    await bench.still_works(agent, "a second `initialize`", call.lines)


async def _offered(bench: Bench, version: Any) -> tuple[Agent, Call]:
    params = bench.initialization()
    del params["protocolVersion"]
    if version is not None:
        params["protocolVersion"] = version
    agent = await bench.started()
    return agent, await agent.request("initialize", params, is_wrong=True)


async def _refused_or_known(bench: Bench, version: Any) -> tuple[Agent, Call]:
    agent, call = await _offered(bench, version)
    if call.error is None and _version(call) not in _KNOWN:
        raise Failed(f"the agent claims version {_version(call)!r}", call.lines)
    return agent, call


def _version(call: Call) -> Any:
    return members_of(call.result).get("protocolVersion")


def _stable(result: Any) -> Any:
    return {**members_of(result), "_meta": None}
