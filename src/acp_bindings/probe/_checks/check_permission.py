"""Permission requests. The probe cannot force one: it sends prompts that lead to one, and checks what arrives."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

from acp_bindings import v1
from acp_bindings.probe._bench import TOOL, WORK, Bench, first_turn
from acp_bindings.probe._check import Failed, Outcome, Skipped, check
from acp_bindings.probe._checks.check_prompts import cancelling
from acp_bindings.probe._checks.check_servers import with_stdio
from acp_bindings.probe._client_side import Policy
from acp_bindings.probe._probed_agent import Line
from acp_bindings.probe._probed_session import Session, Turn

_SOURCE = "protocol, Tool Calls: Requesting Permission"
_METHOD = "session/request_permission"
_NO_QUESTION = "no prompt led to a permission request; see --prompt"


@check(_SOURCE, "Send options with ids that differ, and the tool call that they are for.")
async def question(bench: Bench) -> None:
    """A permission request has options with different ids and with kinds of the protocol."""
    kinds = get_args(v1.PermissionOptionKind)
    turn, _ = await bench.once(_asking)
    for line in _questions(turn):
        bench.validate("RequestPermissionRequest", line.fields["params"], [line])
        options: Any = line.fields["params"]["options"]
        ids = [each["optionId"] for each in options]
        if not ids or len(set(ids)) < len(ids):
            raise Failed(f"the ids of the options are {ids}", [line])
        if unknown := [each["kind"] for each in options if not bench.is_one_of(kinds, each["kind"])]:
            raise Failed(f"a kind is {unknown[0]!r}", [line])


@check(_SOURCE, "Go on with the tool call when an option was selected.")
async def allow(bench: Bench) -> None:
    """After a permission, the turn continues and ends."""
    turn, _ = await bench.once(_asking)
    if turn.stop_reason == "cancelled":
        raise Failed("the turn ended as cancelled", turn.lines)


@check(_SOURCE, "Do not run the tool. Report it as failed, and go on with the turn.")
async def reject(bench: Bench) -> None:
    """A tool call that was rejected is not run, and the turn ends without an error."""
    turn = await _asked(bench, "reject")
    if turn.stop_reason == "error":
        raise Failed("the turn ended with an error", turn.lines)
    _not_run(turn, "rejected")


@check("protocol, Prompt Turn: Cancellation", "Take the outcome `cancelled` as the end of the turn, not as an error.")
async def cancelled(bench: Bench) -> None:
    """A turn that is cancelled during a permission request ends as cancelled."""
    session, text = await _session(bench)
    await bench.once(cancelling)
    agent = session.agent
    client = bench.clients[agent]
    client.policy = "wait"
    try:
        turn = await session.prompt(text)
        if not await agent.wait(lambda: turn.requests(_METHOD) or turn.end) or turn.end:
            raise Skipped(_NO_QUESTION)
        cancel = await session.cancel()
        client.policy = "cancel"
        client.release()
        await turn.ended()
    finally:
        client.policy = "allow"
        client.release()
    if turn.stop_reason != "cancelled":
        raise Failed(turn.stated_end, [*_questions(turn)[:1], cancel, *turn.lines[1:]])
    _not_run(turn, "cancelled")


@check(_SOURCE, "Take an error as a refusal. Do not leave the turn open.")
async def error(bench: Bench) -> None:
    """A permission request that is answered with an error is not taken as permission, and the turn ends."""
    turn = await _asked(bench, "error", may_fail=True)
    _not_run(turn, "not allowed")


async def worked(bench: Bench) -> Turn:
    """Return a turn with a prompt that leads to permission requests, files and terminals in many agents."""
    session = await bench.once(first_turn)
    session = await bench.new_session(session.agent)
    return await session.turn(bench.text(WORK))


async def _asking(bench: Bench) -> tuple[Turn, bool]:
    """Return a turn with permission requests, and whether they are for the tool of an MCP server."""
    turn = await bench.once(worked)
    if turn.requests(_METHOD):
        return turn, False
    with suppress(Outcome):  # the checks of servers report it
        session, text = await _with_server(bench)
        turn = await session.turn(text)
    _questions(turn)
    return turn, True


async def _session(bench: Bench) -> tuple[Session, str]:
    """Return a new session, and the text of a prompt that leads to permission requests in it."""
    _, is_for_server = await bench.once(_asking)
    if is_for_server:
        return await _with_server(bench)
    return await bench.new_session(await bench.shared()), bench.text(WORK)


async def _with_server(bench: Bench) -> tuple[Session, str]:
    """Return a session with an MCP server, the only tools of many agents, and the text of a prompt for its tool."""
    await bench.once(with_stdio)
    entry = bench.servers.stdio()
    session = await bench.new_session(await bench.shared(), mcpServers=[entry])
    # Some agents start it with the prompt.
    await bench.servers.wait(lambda: bench.servers.of(entry, "listed"), bench.patience)
    return session, bench.text(TOOL)


async def _asked(bench: Bench, policy: Policy, *, may_fail: bool = False) -> Turn:
    """Return a turn whose permission requests were answered by *policy*."""
    session, text = await _session(bench)
    client = bench.clients[session.agent]
    client.policy = policy
    try:
        turn = await session.prompt(text)
        try:
            await turn.ended()
        except Failed:
            if not (may_fail and turn.call.error):
                raise
    finally:
        client.policy = "allow"
    _questions(turn)
    return turn


def _questions(turn: Turn) -> list[Line]:
    if not (found := turn.requests(_METHOD)):
        raise Skipped(_NO_QUESTION)
    return found


def _not_run(turn: Turn, what: str) -> None:
    """Check that no tool call of a permission request was completed."""
    for line in _questions(turn):
        params: Any = line.fields["params"]
        subject: Any = params.get("toolCall") or (params.get("subject") or params).get("toolCall")
        for update_line, update in turn.updates if subject else ():
            if update.get("toolCallId") == subject["toolCallId"] and update.get("status") == "completed":
                raise Failed(f"the tool call was {what}, and completed", [line, update_line])
