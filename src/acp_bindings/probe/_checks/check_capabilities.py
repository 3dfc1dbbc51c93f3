"""Methods that an agent has not advertised. Those that it has are tried by the checks of sessions."""

from __future__ import annotations

from acp_bindings.probe._bench import Bench, first_session
from acp_bindings.probe._check import check
from acp_bindings.probe._outcome import Failed, Skipped, Warned
from acp_bindings.probe._probed_agent import Message

_SOURCE = "protocol, Initialization: Capabilities"
_CURE = "Refuse the method with -32601, or advertise it if it works."
_REFUSALS = (-32601, -32602)


@check(_SOURCE, _CURE, versions=(1,))
async def load_unadvertised(bench: Bench) -> None:
    """`session/load` is refused if it is not advertised."""
    await _refused(bench, "loadSession", "session/load", **(await _place(bench)))


@check(_SOURCE, _CURE, versions=(1,))
async def list_unadvertised(bench: Bench) -> None:
    """`session/list` is refused if it is not advertised."""
    await _refused(bench, "sessionCapabilities.list", "session/list")


@check(_SOURCE, _CURE, versions=(1,))
async def resume_unadvertised(bench: Bench) -> None:
    """`session/resume` is refused if it is not advertised."""
    await _refused(bench, "sessionCapabilities.resume", "session/resume", **(await _place(bench)))


@check(_SOURCE, _CURE, versions=(1,))
async def close_unadvertised(bench: Bench) -> None:
    """`session/close` is refused if it is not advertised."""
    await _refused(bench, "sessionCapabilities.close", "session/close")


@check(_SOURCE, _CURE)
async def delete_unadvertised(bench: Bench) -> None:
    """`session/delete` is refused if it is not advertised."""
    place = "sessionCapabilities.delete" if bench.version == 1 else "session.delete"
    await _refused(bench, place, "session/delete")


@check(_SOURCE, _CURE, versions=(1,))
async def logout_unadvertised(bench: Bench) -> None:
    """`logout` is refused if it is not advertised."""
    await _refused(bench, "auth.logout", "logout")


async def _place(bench: Bench) -> Message:
    session = await bench.once(first_session)
    return {"cwd": session.cwd, "mcpServers": []}


async def _refused(bench: Bench, place: str, method: str, **params: object) -> None:
    if await bench.advertises(place):
        raise Skipped("it is advertised")
    agent = await bench.shared()
    if method.startswith("session/") and method != "session/list":
        params["sessionId"] = (await bench.new_session(agent)).id
    call = await agent.request(method, params, is_wrong=True)
    if call.error is None:
        raise Warned("it succeeded, and clients do not know that it would", call.lines)
    if call.code not in _REFUSALS:
        raise Failed(f"the code is {call.code}, not -32601", call.lines)
