"""Methods that an agent has not advertised. Those that it has are tried by the checks of sessions."""

from __future__ import annotations

from acp_bindings.probe._bench import Bench
from acp_bindings.probe._check import Check, Failed, Skipped, Warned
from acp_bindings.probe._probed_agent import Message

_REFUSALS = (-32601, -32602)


def _unadvertised(method: str, v1: str, v2: str | None = None) -> Check:
    """Return the check for a method whose capability is *v1* or *v2*. In v2, most methods need no capability."""

    async def run(bench: Bench) -> None:
        if await bench.advertises(v1, v2 or ""):
            raise Skipped("it is advertised")
        agent = await bench.shared()
        call = await agent.request(method, await _params(bench, method), is_wrong=True)
        if call.error is None:
            raise Warned("it succeeded, and clients do not know that it would", call.lines)
        if call.code not in _REFUSALS:
            raise Failed(f"the code is {call.code}, not -32601", call.lines)

    return Check(
        id=f"capabilities.{method.removeprefix('session/')}-unadvertised",
        requires=f"`{method}` is refused if it is not advertised.",
        source="protocol, Initialization: Capabilities",
        cure="Refuse the method with -32601, or advertise it if it works.",
        versions=(1, 2) if v2 else (1,),
        over="any",
        run=run,
    )


async def _params(bench: Bench, method: str) -> Message:
    if method in ("session/list", "logout"):
        return {}
    session = await bench.new_session(await bench.shared())
    place: Message = {"cwd": session.cwd, "mcpServers": []}
    return {"sessionId": session.id, **(place if method in ("session/load", "session/resume") else {})}


load = _unadvertised("session/load", "loadSession")
list_ = _unadvertised("session/list", "sessionCapabilities.list")
resume = _unadvertised("session/resume", "sessionCapabilities.resume")
close = _unadvertised("session/close", "sessionCapabilities.close")
delete = _unadvertised("session/delete", "sessionCapabilities.delete", "session.delete")
logout = _unadvertised("logout", "auth.logout")
