"""Files and terminals of the client, which an agent uses only if the client has advertised them. v2 has neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_bindings.probe._bench import WORK, Bench, first_turn
from acp_bindings.probe._check import Failed, Skipped, Warned, check
from acp_bindings.probe._checks.check_permission import worked

_FILES = "protocol, File System"
_TERMINALS = "protocol, Terminals"


@check(_FILES, "Send absolute paths in the directories of the session.", versions=(1,))
async def paths(bench: Bench) -> None:
    """The agent reads and writes files by absolute paths in the session's directory."""
    turn = await bench.once(worked)
    requests = turn.requests("fs/")
    if not requests:
        raise Skipped("the prompt led to no request for a file; see --prompt")
    for line in requests:
        path = Path(str(line.fields["params"].get("path")))
        if not path.is_absolute() or not path.is_relative_to(turn.session.cwd):
            raise Failed(f"the path is {str(path)!r}", [line])


@check(f"{_TERMINALS}: Releasing Terminals", "Release each terminal, also after a failure.", versions=(1,))
async def release(bench: Bench) -> None:
    """The agent releases the terminals that it has created."""
    turn = await bench.once(worked)
    created = turn.requests("terminal/create")
    if not created:
        raise Skipped("the prompt led to no terminal; see --prompt")
    if len(turn.requests("terminal/release")) < len(created):
        raise Failed("a terminal was not released", created)


@check(_FILES, "Report the tool call as failed, and go on with the turn.", versions=(1,))
async def refused(bench: Bench) -> None:
    """The turn continues if the client refuses a file or a terminal."""
    turn = await bench.once(worked)
    if not turn.requests("fs/") and not turn.requests("terminal/"):
        raise Skipped("the prompt led to no request for a file or a terminal; see --prompt")
    session = await bench.new_session(turn.session.agent)
    client = bench.clients[session.agent]
    client.refuses = True
    try:
        turn = await session.prompt(bench.text(WORK))
        await turn.ended()
    except Failed as error:
        if turn.call.error:
            raise Warned("the prompt was answered with an error", error.lines) from None
        raise
    finally:
        client.refuses = False


@check(
    "protocol, Initialization: Client Capabilities", "Use your own file access if the client has none.", versions=(1,)
)
async def unadvertised(bench: Bench) -> None:
    """The agent requests neither files nor terminals of a client that has not advertised them."""
    await bench.once(first_turn)
    nothing: dict[str, Any] = {}
    agent = await bench.fresh(clientCapabilities=nothing)
    turn = await (await bench.new_session(agent)).turn(bench.text(WORK))
    if requests := [*turn.requests("fs/"), *turn.requests("terminal/")]:
        raise Failed(f"the agent requested `{requests[0].fields['method']}`", [agent.lines[0], requests[0]])
