"""Prompts: the turn, its order and its end, and what cancels it."""

from __future__ import annotations

from typing import get_args

from acp_bindings import v1
from acp_bindings._json import members_of
from acp_bindings.check._rules.schema import known_updates
from acp_bindings.probe._bench import COUNT, HELLO, Bench, first_turn
from acp_bindings.probe._check import Failed, Skipped, Warned, check
from acp_bindings.probe._probed_agent import Message
from acp_bindings.probe._probed_session import LONGEST_TURN, Session, Turn, is_of_turn, update_of

_TURN = "protocol, Prompt Turn"
_CANCELLING = f"{_TURN}: Cancellation"
_LONG = 1.0
"""Seconds after a cancel from which a turn that goes on was not cancelled."""
_SEVERAL = 3
"""As many updates after an agent has read a cancel show that it goes on."""
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="


@check(_TURN, "End each turn with a stop reason of the protocol. Support text and resource links.")
async def turn(bench: Bench) -> None:
    """A prompt with text and a resource link is answered, and its turn ends with a stop reason."""
    session = await bench.once(first_turn)
    first = session.turns[0]
    reasons = (*get_args(v1.StopReason), *(["error"] if bench.version > 1 else []))
    if bench.version > 1 and first.stop_reason is None:
        raise Warned("the update to `idle` has no stop reason", first.lines)
    if not bench.is_one_of(reasons, first.stop_reason):
        raise Failed(first.stated_end, first.lines)
    if first.stop_reason == "cancelled":
        raise Failed("the turn ended as cancelled, but the probe did not cancel it", first.lines)


@check(f"{_TURN}: Agent Reports Output", "Send what the agent says as `agent_message_chunk`.")
async def output(bench: Bench) -> None:
    """The agent sends output in its turn."""
    first = (await bench.once(first_turn)).turns[0]
    if not first.content:
        raise Warned("the agent sent no updates", first.lines)
    if not any(update.get("sessionUpdate") in known_updates(f"v{bench.version}") for _, update in first.content):
        line, update = first.content[0]
        raise Warned(f"version {bench.version} does not have the update {update['sessionUpdate']!r}", [line])


@check(
    "protocol v2, Prompt Lifecycle: User Message",
    "Send a `user_message` with the `messageId` of the response.",
    versions=(2,),
)
async def user_message(bench: Bench) -> None:
    """The message of the user comes back with the id of the response."""
    first = (await bench.once(first_turn)).turns[0]
    message_id = first.call.result.get("messageId")
    if not isinstance(message_id, str):
        raise Failed("the response lacks `messageId`", first.call.lines)
    if not any(
        str(each.get("sessionUpdate")).startswith("user_message") and each.get("messageId") == message_id
        for _, each in first.updates
    ):
        raise Failed("no update has this `messageId`", first.call.lines)


@check(f"{_TURN}: Check for Completion", "Send all updates of a turn before its end.")
async def late_updates(bench: Bench) -> None:
    """The agent sends no update of a turn after its end."""
    first = (await bench.once(first_turn)).turns[0]
    if late := [line for line, update in first.late if is_of_turn(update)]:
        raise Failed("an update came after the end of the turn", [*first.lines[1:], late[0]])


@check("protocol, Content: Images", "Accept images, or do not advertise them.")
async def image(bench: Bench) -> None:
    """A prompt with an image is accepted if that is advertised."""
    await _content(bench, "image", {"type": "image", "mimeType": "image/png", "data": _PIXEL})


@check("protocol, Content: Audio", "Accept audio, or do not advertise it.")
async def audio(bench: Bench) -> None:
    """A prompt with audio is accepted if that is advertised."""
    await _content(bench, "audio", {"type": "audio", "mimeType": "audio/wav", "data": _SILENCE})


@check("protocol, Content: Embedded Resources", "Accept embedded resources, or do not advertise them.")
async def embedded_resource(bench: Bench) -> None:
    """A prompt with an embedded resource is accepted if that is advertised."""
    resource = {"uri": "file:///probe.txt", "mimeType": "text/plain", "text": "one\ntwo\n"}
    await _content(bench, "embeddedContext", {"type": "resource", "resource": resource})


@check("schema v2, OtherContentBlock", "Refuse the prompt with -32602.", versions=(2,))
async def unknown_content(bench: Bench) -> None:
    """A prompt with a content block of an unknown type is refused with -32602."""
    session = await _session(bench)
    prompt = [{"type": "_probe"}]
    call = await session.agent.request("session/prompt", {"sessionId": session.id, "prompt": prompt}, is_wrong=True)
    if call.code != -32602:
        raise Failed(f"the code is {call.code}" if call.error else "it was accepted", call.lines)


@check(_CANCELLING, "Stop the work, catch the exceptions of that, and answer `cancelled`.")
async def cancel(bench: Bench) -> None:
    """A turn that is cancelled in the middle ends as cancelled."""
    if reason := await bench.once(cancelling):
        raise Skipped(reason)


@check(_CANCELLING, "Remember a cancel that comes before the turn has begun.")
async def cancel_at_once(bench: Bench) -> None:
    """A turn that is cancelled at once ends as cancelled."""
    await bench.once(cancelling)
    session = await _session(bench)
    await _is_cancelled(bench, await session.prompt(bench.text(COUNT)))


@check(_CANCELLING, "Ignore a second cancel.")
async def cancel_twice(bench: Bench) -> None:
    """A second `session/cancel` changes nothing."""
    await bench.once(cancelling)
    session = await _session(bench)
    turn = await session.begun(bench.text(COUNT))
    await _is_cancelled(bench, turn, times=2)
    after = await session.turn(bench.text(HELLO))
    if after.stop_reason == "cancelled":
        raise Failed("the next turn was cancelled too", after.lines)


@check(_CANCELLING, "Forget a cancel when its turn has ended.")
async def after_cancel(bench: Bench) -> None:
    """A prompt after a cancelled turn is answered."""
    await bench.once(cancelling)
    session = await _session(bench)
    turn = await session.begun(bench.text(COUNT))
    if not turn.end:
        await session.cancel()
    await turn.ended()
    after = await session.turn(bench.text(HELLO))
    if after.stop_reason == "cancelled":
        raise Failed("it was cancelled too", [*turn.lines, *after.lines])


@check(_CANCELLING, "Ignore a cancel without a turn.")
async def cancel_idle(bench: Bench) -> None:
    """`session/cancel` without a turn does not cancel the next one."""
    session = await _session(bench)
    line = await session.cancel()
    await bench.still_works(session.agent, "`session/cancel` without a turn", [line])
    after = await session.turn(bench.text(HELLO))
    if after.stop_reason == "cancelled":
        raise Failed("the next turn was cancelled", [line, *after.lines])


@check(_TURN, "Keep the state of a turn in its session.")
async def two_sessions(bench: Bench) -> None:
    """Two sessions can have turns at once, each with its own updates."""
    first = await bench.once(first_turn)
    agent = first.agent
    sessions = [await bench.new_session(agent) for _ in range(2)]
    turns = [await session.prompt(bench.text(HELLO)) for session in sessions]
    for each in turns:
        await each.ended()
    # Another check reports late updates of earlier sessions.
    known = {members_of(line.fields.get("result")).get("sessionId") for line in agent.lines} - {None}
    for line in agent.since(turns[0].call.request):
        session_id, update = update_of(line)
        if update and session_id not in known and str(update.get("sessionUpdate")).startswith("agent_"):
            where = "without `sessionId`" if session_id is None else "for another session"
            raise Failed(f"an update came {where}", [turns[0].call.request, line])
    for each in turns:
        if not each.content and first.turns[0].content:
            raise Failed("one of them got no updates", each.lines)


@check(_TURN, "Queue the second prompt, or refuse it.")
async def two_prompts(bench: Bench) -> None:
    """Two prompts at once in a session are both answered."""
    session = await _session(bench)
    agent = session.agent
    turns = [await session.prompt(bench.text(HELLO)) for _ in range(2)]
    most = len(turns) * LONGEST_TURN * agent.timeout
    if await agent.wait_while_active(lambda: all(each.call.response for each in turns), most=most):
        sent = [each.call.request for each in turns]
        raise Failed("one of them was not answered", sent, hint=agent.more_time("session/prompt"))
    for each in turns:
        if not each.call.error:
            await each.ended()


async def cancelling(bench: Bench) -> str:
    """Check that a turn that is cancelled in the middle ends as cancelled. If that cannot be tried, return the reason.

    Other checks may succeed with a turn that is too short for this one.
    """
    try:
        session = await _session(bench)
        await _is_cancelled(bench, await session.begun(bench.text(COUNT)))
    except Skipped as error:
        return error.message
    return ""


async def _session(bench: Bench) -> Session:
    """Return a new session. Prompts must work: otherwise this raises what the first turn has."""
    first = await bench.once(first_turn)
    return await bench.new_session(first.agent)


async def _is_cancelled(bench: Bench, turn: Turn, *, times: int = 1) -> None:
    agent = turn.session.agent
    if turn.end:
        raise Skipped("the turn had ended before it could be cancelled; see --prompt")
    sent = [await turn.session.cancel() for _ in range(times)]
    await bench.still_works(agent, "`session/cancel`", sent)
    seen = len(turn.content)  # the agent has read the cancel by now
    await turn.ended()
    end = turn.end
    if turn.stop_reason == "cancelled" or end is None:
        return
    if turn.stop_reason == "error":
        raise Failed("the turn ended with an error", [*sent, end])
    seconds = (end.time - sent[0].time).total_seconds()
    if len(turn.content) - seen >= _SEVERAL or seconds > _LONG:
        raise Failed(f"the turn went on for {seconds:.1f} s and ended with {turn.stop_reason!r}", [*sent, end])
    if await _takes_longer(bench, (end.time - turn.call.request.time).total_seconds()):
        raise Warned(
            f"the turn ended with {turn.stop_reason!r} {seconds * 1000:.0f} ms after `session/cancel`, "
            "and takes longer without it",
            [*sent, end],
            cure="If the turn ended because of `session/cancel`, answer `cancelled`.",
        )
    raise Skipped("without `session/cancel`, the turn takes about as long; see --prompt")


async def _takes_longer(bench: Bench, seconds: float) -> bool:
    """Return True if a turn that is not cancelled takes much longer than *seconds*."""
    session = await _session(bench)
    turn = await session.prompt(bench.text(COUNT))
    if await session.agent.wait(lambda: turn.end, seconds=2 * seconds + _LONG / 2):
        return False
    await session.cancel()
    await turn.ended()
    return True


async def _content(bench: Bench, name: str, block: Message) -> None:
    await bench.need(f"promptCapabilities.{name}", f"session.prompt.{name}")
    session = await _session(bench)
    await session.turn(bench.text(HELLO), block)
