"""Sessions: created, listed, loaded, resumed, closed and deleted; their modes and options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from acp_bindings.jsonrpc import INVALID_PARAMS
from acp_bindings.probe._bench import COUNT, HELLO, Bench, first_session, first_turn
from acp_bindings.probe._check import Failed, Skipped, Warned, check
from acp_bindings.probe._probed_agent import Agent, Call, Line, Message
from acp_bindings.probe._probed_session import Session, said

_SETUP = "protocol, Session Setup"


@check(f"{_SETUP}: Creating a Session", "Answer with a `sessionId` that is a string and not empty.")
async def new(bench: Bench) -> None:
    """`session/new` with an absolute `cwd` and no MCP servers creates a session."""
    await bench.once(first_session)


@check(f"{_SETUP}: Session ID", "Make a new id for each session.")
async def unique(bench: Bench) -> None:
    """Two sessions have different ids."""
    first = await bench.once(first_session)
    second = await _another(bench)
    if first.id == second.id:
        raise Failed("both have the same id", [*first.call.lines, *second.call.lines])


@check(f"{_SETUP}: Working Directory", "Refuse a `cwd` that is not absolute with -32602. It depends on where you run.")
async def relative_cwd(bench: Bench) -> None:
    """A relative `cwd` is refused."""
    agent = (await bench.once(first_session)).agent
    params = bench.session_params(cwd="probe/relative")
    call = await agent.request("session/new", params, is_wrong=True)
    if call.error is None:
        # The protocol says what clients must send, not what agents must refuse.
        raise Warned("it was accepted", call.lines)


@check(
    "schema, NewSessionRequest: required fields", "Refuse it with -32602: the schema requires the field.", versions=(1,)
)
async def missing_servers(bench: Bench) -> None:
    """`session/new` without `mcpServers` is refused."""
    agent = (await bench.once(first_session)).agent
    call = await agent.request("session/new", {"cwd": str(bench.new_cwd())}, is_wrong=True)
    if call.error is None:
        raise Warned("it was accepted, as by many agents", call.lines)


@check("schema, NewSessionRequest", "Take a missing `mcpServers` as an empty list.", versions=(2,))
async def omitted_servers(bench: Bench) -> None:
    """`session/new` without `mcpServers` creates a session."""
    agent = (await bench.once(first_session)).agent
    call = await agent.request("session/new", {"cwd": str(bench.new_cwd())})
    if call.error:
        raise Failed("it was refused", call.lines)


@check(f"{_SETUP}: Additional Directories", "Create the session, or do not advertise the capability.")
async def additional_directories(bench: Bench) -> None:
    """`additionalDirectories` are accepted if they are advertised."""
    await bench.need("sessionCapabilities.additionalDirectories", "session.additionalDirectories")
    agent = (await bench.once(first_session)).agent
    params = bench.session_params(additionalDirectories=[str(bench.new_cwd())])
    call = await agent.request("session/new", params)
    if call.error:
        raise Failed("they were refused", call.lines)


@check("protocol, Prompt Turn", "Refuse it with an error such as -32002.")
async def unknown(bench: Bench) -> None:
    """A prompt for a session that does not exist is refused."""
    agent = (await bench.once(first_session)).agent
    prompt = [{"type": "text", "text": "hello"}]
    call = await agent.request("session/prompt", {"sessionId": "probe-none", "prompt": prompt}, is_wrong=True)
    if call.error is None:
        # v1 does not say so. Clients rely on it after a restart of the agent.
        raise (Warned if bench.version == 1 else Failed)("it succeeded", call.lines)


@check("schema, PromptRequest: required fields", "Refuse it with -32602: the schema requires the field.")
async def missing_prompt(bench: Bench) -> None:
    """`session/prompt` without `prompt` is refused."""
    session = await bench.once(first_session)
    call = await session.agent.request("session/prompt", {"sessionId": session.id}, is_wrong=True)
    if call.error is None:
        raise Failed("it succeeded", call.lines)


@check("protocol, Session List", "List each session that can be opened again.")
async def list_(bench: Bench) -> None:
    """`session/list` lists a session after a prompt."""
    await bench.need("sessionCapabilities.list", "session")
    session = await bench.once(first_turn)
    found, call = await _listed(session.agent)
    if session.id not in found:
        raise Failed("the session is not in the list", call.lines)
    if not Path(str(found[session.id].get("cwd"))).is_absolute():
        raise Failed("its `cwd` is not an absolute path", call.lines)


@check("protocol, Session List: cwd", "List only the sessions of the directory, and all of them.")
async def list_by_cwd(bench: Bench) -> None:
    """`session/list` with a `cwd` lists only sessions of that directory."""
    await bench.need("sessionCapabilities.list", "session")
    session = await bench.once(first_turn)
    found, call = await _listed(session.agent, cwd=str(bench.new_cwd()))
    if session.id in found:
        raise Failed("a session of another directory is in the list", call.lines)
    found, call = await _listed(session.agent, cwd=session.cwd)
    if session.id not in found:
        raise Failed("the session of the directory is not in the list", call.lines)


@check(f"{_SETUP}: Loading Sessions", "Refuse it with an error such as -32002.")
async def load_unknown(bench: Bench) -> None:
    """A session that does not exist cannot be loaded or resumed."""
    agent = (await bench.once(first_session)).agent
    method = "session/load" if bench.version == 1 else "session/resume"
    await bench.need("loadSession", "session")
    params: Message = bench.session_params(sessionId="probe-none")
    call = await agent.request(method, params | _replay(bench), is_wrong=True)
    if call.error is None:
        raise Failed("it succeeded", call.lines)


@check(f"{_SETUP}: Loading Sessions", "Send the history as updates first, then answer.")
async def load(bench: Bench) -> None:
    """A session can be loaded, and its history comes before the response."""
    await bench.once(_loaded)


@check(f"{_SETUP}: Loading Sessions", "Store what was said as it was said.")
async def load_equal(bench: Bench) -> None:
    """The history of a loaded session has the messages of the user and the agent."""
    before, call = await bench.once(_loaded)
    updates = [each for each in before.updates(call.request) if _is_before(call, each[0])]
    earlier = [each for each in before.updates(before.call.request) if each[0].number < call.request.number]
    asked, said_before = bench.text(HELLO), said(earlier, "agent_message")
    if asked not in (user := said(updates, "user_message")):
        raise Failed(f"the prompt was {asked!r}, and the history has {user!r}", call.lines)
    if said_before.strip() != (agent := said(updates, "agent_message")).strip():
        raise Failed(f"the agent said {said_before!r}, and the history has {agent!r}", call.lines)


@check(f"{_SETUP}: Resuming Sessions", "Open the session without sending its history.")
async def resume(bench: Bench) -> None:
    """A session can be resumed without its history, and continues."""
    await bench.need("sessionCapabilities.resume", "session")
    session = await bench.once(first_turn)
    call = await session.agent.request("session/resume", _open_again(session))
    if call.error:
        raise Failed("it was refused", call.lines)
    updates = [each for each in session.updates(call.request) if _is_before(call, each[0])]
    if said(updates, "user_message"):
        raise Failed("the history was sent", [call.request, updates[0][0]])
    if bench.version > 1 and not any(each["sessionUpdate"] == "state_update" for _, each in updates):
        cure = "Send a `state_update` with the current state, then answer."
        raise Failed("no `state_update` came before the answer", call.lines, cure=cure)
    await session.turn(bench.text(HELLO))


@check(f"{_SETUP}: Closing Sessions", "Free what the session uses, and refuse its id from then on.")
async def close(bench: Bench) -> None:
    """A closed session does not accept prompts."""
    await bench.need("sessionCapabilities.close", "session")
    session = await _another(bench)
    agent = session.agent
    closed = await agent.request("session/close", {"sessionId": session.id})
    if closed.error:
        raise Failed("closing was refused", closed.lines)
    prompt = [{"type": "text", "text": "hello"}]
    call = await agent.request("session/prompt", {"sessionId": session.id, "prompt": prompt}, is_wrong=True)
    if call.error is None:
        raise Failed("a prompt after it succeeded", call.lines)


@check("schema, CloseSessionRequest: as if `session/cancel` was called", "Cancel the turn before you answer.")
async def close_in_turn(bench: Bench) -> None:
    """Closing a session ends its turn."""
    await bench.need("sessionCapabilities.close", "session")
    agent = (await bench.once(first_turn)).agent
    session = await bench.new_session(agent)
    turn = await session.begun(bench.text(COUNT))
    closed = await agent.request("session/close", {"sessionId": session.id})
    if closed.error:
        raise Failed("closing was refused", closed.lines)
    if not await agent.wait(lambda: turn.end):
        raise Failed("the turn has not ended", [*turn.lines, *closed.lines])


@check("protocol, Session Delete", "Accept it, at least for a closed session, and remove the session from the list.")
async def delete(bench: Bench) -> None:
    """A session can be deleted, and is not listed afterwards."""
    await bench.need("sessionCapabilities.delete", "session.delete")
    session = await _another(bench)
    agent = session.agent
    await session.turn(bench.text(HELLO))
    call = await agent.request("session/delete", {"sessionId": session.id})
    if call.error:
        # The agent decides whether a session that is open can be deleted, and what can be done with a deleted one.
        if not await bench.advertises("sessionCapabilities.close", "session"):
            raise Skipped("an open session cannot be deleted, and the agent does not close sessions")
        await agent.request("session/close", {"sessionId": session.id})
        call = await agent.request("session/delete", {"sessionId": session.id})
    if call.error:
        raise Failed("it was refused, also after `session/close`", call.lines)
    if await bench.advertises("sessionCapabilities.list", "session"):
        found, listed = await _listed(agent)
        if session.id in found:
            raise Failed("it is still in the list", [*call.lines, *listed.lines])


@check("protocol, Session Modes", "Offer the current mode, and refuse the others.", versions=(1,))
async def modes(bench: Bench) -> None:
    """The current mode is one that is offered; each of them can be set, and no other."""
    session = await _another(bench)
    modes: Any = session.call.result.get("modes")
    if not modes:
        raise Skipped("the session has no modes")
    bench.validate("SessionModeState", modes, session.call.lines)
    ids = [each["id"] for each in modes["availableModes"]]
    if modes["currentModeId"] not in ids:
        raise Failed(f"the current mode {modes['currentModeId']!r} is not offered", session.call.lines)
    agent = session.agent
    for mode in (*ids, modes["currentModeId"]):
        call = await agent.request("session/set_mode", {"sessionId": session.id, "modeId": mode})
        _check_set(f"the mode {mode!r}", call)
    call = await agent.request("session/set_mode", {"sessionId": session.id, "modeId": "probe-none"}, is_wrong=True)
    if call.error is None:
        raise Failed("a mode that is not offered was accepted", call.lines)


@check("protocol, Session Config Options", "Answer with all options and the values that they have now.")
async def config_options(bench: Bench) -> None:
    """A config option can be set to each value that is offered, and the response shows it."""
    session = await _another(bench)
    option = await _select(bench, session)
    for value in (*_values(option), option["currentValue"]):
        call = await _set(session, option["id" if "id" in option else "configId"], value, bench)
        _check_set(f"the value {value!r}", call)
        options: Any = call.result.get("configOptions") or []
        now = [each.get("currentValue") for each in options if _id(each) == _id(option)]
        if now != [value]:
            raise Failed(f"after it was set to {value!r}, the response has {now}", call.lines)


@check("protocol, Session Config Options", "Refuse it with -32602, and leave the options as they are.")
async def config_unknown(bench: Bench) -> None:
    """A config option or a value that is not offered is refused."""
    session = await _another(bench)
    option = await _select(bench, session)
    for config_id, value in (("probe-none", option["currentValue"]), (_id(option), "probe-none")):
        call = await _set(session, config_id, value, bench, is_wrong=True)
        if call.error is None:
            raise Failed(f"{config_id} was set to {value!r}", call.lines)


async def _another(bench: Bench) -> Session:
    """Return a session of its own for a check."""
    return await bench.new_session((await bench.once(first_session)).agent)


async def _loaded(bench: Bench) -> tuple[Session, Call]:
    """Load the session of the first turn. It is closed first if that is possible."""
    await bench.need("loadSession", "session")
    session = await bench.once(first_turn)
    agent = session.agent
    if await bench.advertises("sessionCapabilities.close", "session"):
        await agent.request("session/close", {"sessionId": session.id})
    method = "session/load" if bench.version == 1 else "session/resume"
    call = await agent.request(method, _open_again(session) | _replay(bench))
    if call.error:
        raise Failed("a session of this connection cannot be loaded", call.lines)
    updates = session.updates(call.request)
    if not said(updates, "user_message"):
        raise Failed("the history does not have the prompt", call.lines)
    late = [line for line, update in updates if _is_message(update) and not _is_before(call, line)]
    if late:
        raise Failed("a part of the history came after the answer", [*call.lines, late[0]])
    return session, call


def _open_again(session: Session) -> Message:
    return {"sessionId": session.id, "cwd": session.cwd, "mcpServers": []}


def _replay(bench: Bench) -> Message:
    return {} if bench.version == 1 else {"replayFrom": {"type": "start"}}


def _is_message(update: Message) -> bool:
    return str(update.get("sessionUpdate")).startswith(("user_message", "agent_message"))


def _is_before(call: Call, line: Line) -> bool:
    return call.response is not None and line.number < call.response.number


async def _listed(agent: Agent, **params: Any) -> tuple[dict[str, Message], Call]:
    """Return the sessions on all pages by id, and the last call."""
    found: dict[str, Message] = {}
    while True:
        call = await agent.request("session/list", params)
        result: Any = call.result
        if not isinstance(result, dict):
            raise Failed("`session/list` was refused", call.lines)
        result = cast("Message", result)
        for each in result["sessions"]:
            if each["sessionId"] in found:
                raise Failed(f"the session {each['sessionId']!r} is listed twice", call.lines)
            found[each["sessionId"]] = each
        cursor = result.get("nextCursor")
        if cursor is None or not result["sessions"]:
            return found, call
        params["cursor"] = cursor


def _id(option: Message) -> Any:
    return option.get("id", option.get("configId"))


async def _select(bench: Bench, session: Session) -> Message:
    options: Any = session.call.result.get("configOptions") or []
    for each in options:
        bench.validate("SessionConfigOption", each, session.call.lines)
    found = next((each for each in options if each.get("type") == "select" and _values(each)), None)
    if found is None:
        raise Skipped("the session has no config option with a list of values")
    if found["currentValue"] not in _values(found):
        raise Failed(f"the current value {found['currentValue']!r} is not offered", session.call.lines)
    return cast("Message", found)


def _values(option: Message) -> tuple[str, ...]:
    """Return the values of an option, which may be in groups."""
    given: Any = option.get("options") or []
    items: list[Any] = [item for each in given for item in (each.get("options") or [each])]
    return tuple(str(each["value"]) for each in items)


def _check_set(what: str, call: Call) -> None:
    if call.error:
        # An agent may refuse a model that the account does not have, for example.
        outcome = Warned if call.code == INVALID_PARAMS else Failed
        raise outcome(f"{what}, which is offered, cannot be set", call.lines)


async def _set(session: Session, config_id: str, value: str, bench: Bench, *, is_wrong: bool = False) -> Call:
    form = {} if bench.version == 1 else {"type": "id"}
    params = {"sessionId": session.id, "configId": config_id, "value": value, **form}
    return await session.agent.request("session/set_config_option", params, is_wrong=is_wrong)
