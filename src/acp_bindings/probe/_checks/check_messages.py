"""JSON-RPC over lines: ids, unknown methods, and lines that are wrong, long or in pieces."""

from __future__ import annotations

from typing import Any

from acp_bindings._json import members_of
from acp_bindings.probe._bench import Bench, answered_method
from acp_bindings.probe._check import Failed, Skipped, Warned, check
from acp_bindings.probe._probed_agent import Agent, Line, Message

_RPC = "JSON-RPC 2.0"
_STDIO = "protocol, Transports: stdio"
_GRACE = 0.2
"""Seconds for an answer that need not come in order."""
IDS = (0, -7, 2**53 - 1, "probe-id", "", "ünï-😀", "7")
_HUGE = 1 << 20
_UNASKED = 987_654


@check("protocol, Extensibility: Custom Requests", "Answer with the error -32601.")
async def unknown_method(bench: Bench) -> None:
    """A request with an unknown method is answered with -32601."""
    agent = await bench.shared()
    for method in ("_probe/unknown", "probe/unknown"):
        call = await agent.request(method, {"sessionId": "none"}, is_wrong=True)
        if call.code != -32601:
            raise Failed(f"the code is {call.code}" if call.error else "it succeeded", call.lines)


@check(_RPC + ", 4.1 Notification", "Ignore notifications that you do not know.")
async def unknown_notification(bench: Bench) -> None:
    """An unknown notification gets no response and does no harm."""
    agent = await bench.shared()
    sent = [
        await agent.notify(method, params, is_wrong=True)
        for method, params in (
            ("_probe/unknown", {"value": 1}),
            ("$/probe", None),
            ("$/cancel_request", {"requestId": 999_999}),
            ("session/cancel", {"sessionId": "none"}),
        )
    ]
    await bench.still_works(agent, "unknown notifications", sent)
    await _no_answer(agent, sent, "a notification was answered")


@check(_RPC + ", 5 Response object", "Ignore a response to a request that you did not send.")
async def unasked_response(bench: Bench) -> None:
    """A response to a request that the agent has not sent is ignored."""
    agent = await bench.shared()
    sent = await agent.send({"jsonrpc": "2.0", "id": _UNASKED, "result": {}}, is_wrong=True)
    await bench.still_works(agent, "a response to a request that it had not sent", [sent])
    await _no_answer(agent, [sent], "a response was answered")


@check(_RPC + ", 5 Response object: id", "Keep the id as it came: its type, and every character.")
async def ids(bench: Bench) -> None:
    """A response has the id of the request: an integer or a string, also 0 and the empty string."""
    agent = await bench.shared()
    await bench.still_works(agent, "`initialize`", [])
    for each in IDS:
        call = await agent.begin("_probe/ping", {}, id=each, is_wrong=True)
        await bench.still_works(agent, f"the id {each!r}", [call.request])
        if not await agent.has_answer(call, seconds=_GRACE):
            raise Failed(f"no response has the id {each!r}", [call.request, *agent.since(call.request)])


@check(_RPC, "Ignore what you do not know, also outside of `params`.")
async def unknown_fields(bench: Bench) -> None:
    """`_meta` and unknown fields in a request change nothing."""
    agent = await bench.shared()
    params = bench.session_params(_meta={"probe": [{"deep": None}]}, probeField={"unknown": True})
    plain = bench.session_params()
    first, second = [await agent.request("session/new", each) for each in (plain, params)]
    if second.error and not first.error:
        raise Failed("`session/new` with them was refused", second.lines)
    if first.error:
        raise Skipped("`session/new` is refused")
    if members_of(first.result).keys() != members_of(second.result).keys():
        raise Failed("the response differs from the one without them", [*first.lines, *second.lines])


@check(_RPC + ", 5.1 Error object: -32602", "Check params before you use them, and refuse them with -32602.")
async def invalid_params(bench: Bench) -> None:
    """Invalid params are refused with -32602."""
    agent = await bench.shared()
    for params in ({"cwd": 5, "mcpServers": "none"}, [1, 2], None):
        call = await agent.request("session/new", params, is_wrong=True)
        if call.error is None:
            raise Failed("they were accepted", call.lines)
        if call.code != -32602:
            raise Warned(f"the code is {call.code}, not -32602", call.lines)


@check(_RPC + ", 5.1 Error object: -32700", "Answer with -32700 and the id null, and read on.", over="lines")
async def malformed(bench: Bench) -> None:
    """A line that is not JSON is answered with -32700, and does not affect the lines after it."""
    await _after_wrong_line(bench, '{"jsonrpc": "2.0", "id": "wrong-1", "method": ', "a line that is not JSON", -32700)


@check(_RPC + ", 5.1 Error object: -32600", "Answer with -32600 and the id null, and read on.", over="lines")
async def not_a_message(bench: Bench) -> None:
    """JSON that is not a message is answered with -32600, and does not affect the lines after it."""
    for text in ('"text"', "{}", "null"):
        await _after_wrong_line(bench, text, f"the line {text}", -32600)


@check(_RPC + ", 6 Batch", "Answer each request of it, or refuse it with -32600; read on.", over="lines")
async def batch(bench: Bench) -> None:
    """A batch is served or refused, and does not affect the lines after it."""
    text = '[{"jsonrpc": "2.0", "id": "wrong-1", "method": "_probe/ping", "params": {}}]'
    await _after_wrong_line(bench, text, "a batch", -32600)


@check(_RPC + ", 4 Request object: id", "Answer both; the client is to blame.")
async def duplicate_id(bench: Bench) -> None:
    """Two open requests with one id do not break the agent."""
    agent = await bench.shared()
    calls = [await agent.begin("_probe/ping", {}, id="same", is_wrong=True) for _ in range(2)]
    await bench.still_works(agent, "two requests with one id", [each.request for each in calls])


@check(_STDIO, "Raise the limit of your reader. Prompts with images are larger.")
async def huge_line(bench: Bench) -> None:
    """A line of 1 MiB is read."""
    await _read(bench, {"text": "x" * _HUGE}, "a line of 1 MiB")


@check(_STDIO, "Collect bytes until the newline, and decode the whole line.", over="stdio")
async def split_line(bench: Bench) -> None:
    """A line that arrives in pieces is read, also if a character is cut."""
    await _read(bench, {"text": "ünï-😀" * 10}, "a line in pieces", pieces=20)


@check(_STDIO + "; JSON allows white space", "Strip white space at the ends of a line.", over="stdio")
async def crlf(bench: Bench) -> None:
    """A line that ends with CR LF is read."""
    await _read(bench, {}, "a line that ends with CR LF", end="\r\n")


@check(_STDIO, "Skip empty lines.", over="stdio")
async def empty_line(bench: Bench) -> None:
    """Empty lines are skipped."""
    agent = await bench.shared()
    sent = [await agent.send_text(text, is_wrong=True) for text in ("", "  ")]
    await bench.still_works(agent, "empty lines", sent)


async def _read(bench: Bench, params: Message, what: str, **form: Any) -> None:
    """Check that a request that is written as *form* says is answered."""
    agent = await bench.shared()
    if (method := await bench.once(answered_method)) == "initialize":
        raise Skipped("the agent does not answer unknown methods")
    call = await agent.begin(method, params, is_wrong=True, **form)
    if not await agent.has_answer(call):
        raise Failed(f"{what} got no answer", call.lines)
    await bench.still_works(agent, what, call.lines)


async def _after_wrong_line(bench: Bench, text: str, what: str, code: int) -> None:
    agent = await bench.shared()
    line = await agent.send_text(text, is_wrong=True)
    await bench.still_works(agent, what, [line])
    answers = [each for each in agent.since(line) if _is_about(each)]
    if not answers:
        await agent.wait(lambda: any(map(_is_about, agent.since(line))), seconds=_GRACE)
        answers = [each for each in agent.since(line) if _is_about(each)]
    for each in answers:
        each.is_wrong = True
    if not answers:
        raise Warned(f"{what} got no answer; JSON-RPC requires {code}", [line])
    error: Any = answers[0].fields.get("error")
    if error and error["code"] != code:
        raise Warned(f"the code of the answer is not {code}", [line, answers[0]])


def _is_about(line: Line) -> bool:
    """Return True for an answer to a wrong line: it has no id, or that of the line."""
    answers = line.fields and "method" not in line.fields and line.fields.get("id") in (None, "wrong-1")
    return isinstance(line.message, list) or bool(answers)


async def _no_answer(agent: Agent, sent: list[Line], problem: str) -> None:
    for each in agent.since(sent[0]):
        if each.fields and "method" not in each.fields and each.fields.get("id") in (None, _UNASKED):
            each.is_wrong = True
            raise Failed(problem, [*sent, each])
