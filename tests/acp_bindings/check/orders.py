"""Conversations of valid messages that break a rule together, each next to one that does not."""

from typing import Any, NamedTuple

from tests.acp_bindings.check.conversations import (
    AGENT,
    USER,
    call,
    error,
    load,
    new,
    opening,
    opening_v2,
    prompt,
    result,
    update,
)

S1 = {"sessionId": "s1"}
RESUME = {**S1, "cwd": "/home/me"}
V1 = [*opening(), *new()]
V2 = [*opening_v2(), *new()]
ASKED = prompt(2)[0]
ENDED = result(2, {"stopReason": "end_turn"})
CANCELLED = result(2, {"stopReason": "cancelled"})
CANCEL = call("session/cancel", S1)
ALLOW = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
REJECT = {"optionId": "no", "name": "No", "kind": "reject_once"}


def said(kind: str, *, session: str = "s1", **more: Any) -> Any:
    """Return a `session/update`."""
    return call("session/update", {"sessionId": session, "update": {"sessionUpdate": kind, **more}})


def state(name: str, **more: Any) -> Any:
    return said("state_update", state=name, **more)


BEGUN = said("tool_call", toolCallId="t", title="T")
DONE = said("tool_call_update", toolCallId="t", status="completed")
IDLE = state("idle", stopReason="end_turn")
RUNNING = state("running")
STOPPED = state("idle", stopReason="cancelled")
ACCEPTED = result(2, {"messageId": "m"})
ECHO = said("user_message", messageId="m", content=[])


def question(*options: Any, tool: str = "t") -> Any:
    """Return a permission request of v1."""
    return call("session/request_permission", {**S1, "toolCall": {"toolCallId": tool}, "options": [*options]}, id=9)


def question_v2(*options: Any, **subject: Any) -> Any:
    more = {"subject": subject} if subject else {}
    return call("session/request_permission", {**S1, "title": "?", "options": [*options], **more}, id=9)


def chosen(option: str | None) -> Any:
    outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
    return result(9, {"outcome": outcome})


def terminal(method: str, id: int, answer: Any = None, *, terminal: str | None = "t1", **params: Any) -> list[Any]:  # noqa: A002
    """Return a request about a terminal, and its response."""
    more = {} if terminal is None else {"terminalId": terminal}
    return [call(f"terminal/{method}", {**S1, **more, **params}, id=id), result(id, answer or {})]


CREATED = terminal("create", 20, {"terminalId": "t1"}, terminal=None, command="ls")
OUTPUT = terminal("output", 21, {"output": "", "truncated": False})
RELEASED = terminal("release", 22)
SHOWN = said("tool_call_update", toolCallId="t", content=[{"type": "terminal", "terminalId": "t1"}])


def read(path: str, **more: Any) -> list[Any]:
    return [call("fs/read_text_file", {**S1, "path": path, **more}, id=9), result(9, {"content": ""})]


def offered(answer: dict[str, Any], *, version: int = 1) -> list[Any]:
    """Return a session that offers something."""
    return [*(opening() if version == 1 else opening_v2()), new()[0], result(1, {"sessionId": "s1", **answer})]


MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}


def options(version: int = 1, *, value: str = "large") -> dict[str, Any]:
    """Return a selection in groups, and a switch."""
    id_, group = ("id", "group") if version == 1 else ("configId", "groupId")
    groups = [{group: "g", "name": "G", "options": [{"value": "large", "name": "L"}]}]
    model = {id_: "model", "name": "M", "type": "select", "currentValue": value, "options": groups}
    return {"configOptions": [model, {id_: "fast", "name": "F", "type": "boolean", "currentValue": True}]}


def setting(config: str, value: Any, **more: Any) -> list[Any]:
    return [
        call("session/set_config_option", {**S1, "configId": config, "value": value, **more}, id=9),
        error(9, -32602),
    ]


def mode(name: str) -> list[Any]:
    return [call("session/set_mode", {**S1, "modeId": name}, id=9), result(9, {})]


COMMANDS: dict[str, Any] = {"availableCommands": [{"name": "plan", "description": "P"}]}


class Case(NamedTuple):
    rule: str
    broken: list[Any]
    valid: list[Any]


ORDERS = [
    # Sessions
    Case(
        "lifecycle.update-before-session",
        [*opening(), new()[0], update(AGENT, "hi"), update(AGENT, "there"), new()[1]],
        [*opening(), new()[0], said("available_commands_update", **COMMANDS), new()[1], update(AGENT, "hi")],
    ),
    Case(
        "lifecycle.update-before-session",
        [*opening(), new()[0], said("available_commands_update", **COMMANDS), BEGUN, new()[1]],
        [*opening_v2(), new()[0], said("agent_message", messageId="a"), new()[1]],
    ),
    Case(
        "lifecycle.no-session",
        [*V1, update(AGENT, "hi", session="s2"), update(AGENT, "there", session="s2")],
        [*V1, *new(2, session="s2"), update(AGENT, "hi", session="s2")],
    ),
    Case(
        "lifecycle.no-session",
        [*opening(), *new(session="s2"), *read("/home/me/x")],
        [*opening(), call("session/load", {**RESUME, "mcpServers": []}, id=1), update(USER, "x"), result(1, {})],
    ),
    Case(
        "lifecycle.no-session",
        [*V2, said("agent_message", session="s2", messageId="a")],
        [
            *V2,
            call("session/update", {**S1, "update": {"sessionUpdate": "subagent_update", "sessionId": "s2"}}),
            said("agent_message", session="s2", messageId="a"),
        ],
    ),
    Case(
        "lifecycle.replay-after-answer",
        [*V1, ASKED, BEGUN, DONE, ENDED, *load(3, update(USER, "hello")), BEGUN, DONE, update(USER, "hello")],
        [*V1, ASKED, BEGUN, DONE, ENDED, *load(3, update(USER, "hello"), BEGUN, DONE), update(AGENT, "back again")],
    ),
    # Turns
    Case(
        "turn.update-after-end",
        [*V1, *prompt(2), update(AGENT, "and"), update(AGENT, "more")],
        [*V1, *prompt(2), said("session_info_update", title="T"), said("usage_update", used=1, size=2)],
    ),
    Case(
        "turn.update-after-end",
        [*V1, ASKED, BEGUN, DONE, ENDED, DONE],
        [*V1, update(AGENT, "welcome"), ASKED, BEGUN, error(2, -32603)],
    ),
    Case(
        "turn.prompt-in-turn",
        [*V1, ASKED, prompt(3)[0], ENDED, result(3, {"stopReason": "end_turn"})],
        [*V1, *new(4, session="s2"), ASKED, prompt(3, session="s2")[0], ENDED, result(3, {"stopReason": "end_turn"})],
    ),
    Case("turn.not-cancelled", [*V1, ASKED, CANCEL, ENDED], [*V1, ASKED, CANCEL, CANCELLED]),
    Case(
        "turn.not-cancelled",
        [*V2, ASKED, RUNNING, ECHO, ACCEPTED, CANCEL, IDLE],
        [*V2, ASKED, RUNNING, ECHO, ACCEPTED, CANCEL, STOPPED, IDLE],
    ),
    Case("turn.cancelled-without-cancel", [*V1, ASKED, CANCELLED], [*V1, ASKED, CANCEL, CANCELLED]),
    Case(
        "turn.cancelled-without-cancel",
        [*V2, CANCEL, RUNNING, STOPPED],
        [*V2, ASKED, CANCEL, RUNNING, ECHO, ACCEPTED, STOPPED],
    ),
    Case(
        "turn.cancelled-without-cancel",
        [*V1, CANCEL, ASKED, BEGUN, question(ALLOW), chosen("yes"), DONE, CANCELLED],
        [*V1, ASKED, BEGUN, question(ALLOW, REJECT), chosen("no"), CANCELLED],
    ),
    Case(
        "turn.cancelled-without-cancel",
        [*V2, ASKED, ACCEPTED, ECHO, RUNNING, STOPPED],
        [*V2, ASKED, ACCEPTED, ECHO, RUNNING, question_v2(ALLOW, REJECT), chosen("no"), STOPPED],
    ),
    Case(
        "turn.never-runs",
        [*V2, ASKED, ACCEPTED, ECHO],
        [*V2, ASKED, RUNNING, ACCEPTED, ECHO, IDLE, prompt(3)[0], CANCEL, result(3, {"messageId": "m"})],
    ),
    Case(
        "turn.never-ends",
        [*V2, ASKED, ACCEPTED, ECHO, RUNNING],
        [*V2, ASKED, ACCEPTED, ECHO, RUNNING, state("requires_action"), RUNNING, IDLE],
    ),
    Case(
        "turn.no-message",
        [*V2, ASKED, ACCEPTED, RUNNING, IDLE],
        [*V2, ASKED, RUNNING, ECHO, ACCEPTED, IDLE],
    ),
    Case(
        "turn.unknown-plan",
        [*V2, said("plan_removed", planId="p")],
        [
            *V2,
            said("plan_update", plan={"type": "items", "planId": "p", "entries": []}),
            said("plan_removed", planId="p"),
        ],
    ),
    # Tool calls
    Case("tool-call.unknown", [*V1, ASKED, DONE, DONE, ENDED], [*V1, ASKED, BEGUN, DONE, DONE, ENDED]),
    Case(
        "tool-call.unknown",
        [*V2, said("tool_call_content_chunk", toolCallId="t", content={"type": "terminal", "terminalId": "x"})],
        [*V2, DONE, said("tool_call_content_chunk", toolCallId="t", content={"type": "terminal", "terminalId": "x"})],
    ),
    Case(
        "tool-call.unknown",
        [*V2, state("idle", background=[{"type": "tool_call", "toolCallId": "t"}])],
        [*V2, DONE, state("idle", background=[{"type": "tool_call", "toolCallId": "t"}])],
    ),
    Case(
        "tool-call.unknown",
        [*V2, call("tool_call/cancel", {**S1, "toolCallId": "t"}, id=9), result(9, {})],
        [
            *opening_v2(),
            call("session/resume", RESUME, id=1),
            result(1, {}),
            call("tool_call/cancel", {**S1, "toolCallId": "t"}, id=9),
            result(9, {}),
        ],
    ),
    Case(
        "tool-call.begun-twice",
        [*V1, ASKED, BEGUN, BEGUN, DONE, ENDED],
        [*V1, ASKED, BEGUN, DONE, ENDED, *load(3, update(USER, "hello"), BEGUN, DONE)],
    ),
    Case(
        "tool-call.unfinished",
        [*V1, ASKED, BEGUN, ENDED],
        [*V1, ASKED, BEGUN, said("tool_call_update", toolCallId="t", status="failed"), ENDED],
    ),
    Case("tool-call.unfinished", [*V1, ASKED, BEGUN, ENDED], [*V1, ASKED, BEGUN, CANCEL, CANCELLED]),
    # Permission
    Case(
        "permission.unknown-tool-call",
        [*V1, ASKED, question(ALLOW, tool="u"), chosen("yes"), ENDED],
        [*V1, ASKED, BEGUN, question(ALLOW), chosen("yes"), DONE, ENDED],
    ),
    Case(
        "permission.unknown-tool-call",
        [*V1, question(ALLOW, tool="u"), chosen("yes"), said("tool_call_update", toolCallId="u", status="completed")],
        [*V2, question_v2(ALLOW, type="tool_call", toolCall={"toolCallId": "u"}), chosen("yes")],
    ),
    Case(
        "permission.duplicate-option",
        [*V1, BEGUN, question(ALLOW, REJECT, ALLOW), chosen("yes")],
        [*V1, BEGUN, question(ALLOW, REJECT), chosen("yes")],
    ),
    Case(
        "permission.no-options",
        [*V1, BEGUN, question(), error(9, -32602)],
        [*V1, BEGUN, question(ALLOW), chosen("yes")],
    ),
    Case(
        "permission.unknown-option",
        [*V1, BEGUN, question(ALLOW, REJECT), chosen("maybe")],
        [*V1, BEGUN, question(ALLOW, REJECT), chosen("no")],
    ),
    Case(
        "permission.unknown-option",
        [*V2, question_v2(ALLOW), chosen("maybe")],
        [*V2, question_v2(ALLOW), chosen("yes")],
    ),
    Case(
        "permission.cancelled-without-cancel",
        [*V1, ASKED, BEGUN, question(ALLOW), chosen(None), DONE, ENDED],
        [*V1, ASKED, BEGUN, question(ALLOW), CANCEL, chosen(None), CANCELLED],
    ),
    # Terminals
    Case("terminal.unknown", [*V1, *OUTPUT], [*V1, *CREATED, *OUTPUT, *RELEASED]),
    Case("terminal.unknown", [*V1, BEGUN, SHOWN], [*V1, *CREATED, BEGUN, SHOWN, *RELEASED, SHOWN]),
    Case(
        "terminal.unknown",
        [*V2, *terminal("cancel", 9)],
        [*V2, said("terminal_update", terminalId="t1"), *terminal("cancel", 9)],
    ),
    Case(
        "terminal.unknown",
        [*V2, state("idle", background=[{"type": "terminal", "terminalId": "t1"}])],
        [
            *V2,
            said("terminal_update", terminalId="t1"),
            state("idle", background=[{"type": "terminal", "terminalId": "t1"}]),
        ],
    ),
    Case(
        "terminal.released",
        [*V1, *CREATED, *RELEASED, *OUTPUT],
        [*V1, *CREATED, *OUTPUT, *terminal("kill", 23), *OUTPUT, *RELEASED],
    ),
    Case(
        "terminal.released",
        [*V1, *CREATED, BEGUN, *RELEASED, SHOWN],
        [*V1, *CREATED, BEGUN, SHOWN, *RELEASED],
    ),
    Case(
        "terminal.not-released",
        [*V1, ASKED, *CREATED, *OUTPUT, ENDED],
        [*V1, ASKED, *CREATED, *RELEASED, ENDED],
    ),
    # Offers
    Case("offer.mode", [*offered({"modes": MODES}), *mode("fly")], [*offered({"modes": MODES}), *mode("code")]),
    Case(
        "offer.mode",
        [*offered({"modes": MODES}), said("current_mode_update", currentModeId="fly")],
        [*offered({"modes": MODES}), said("current_mode_update", currentModeId="code")],
    ),
    Case(
        "offer.current-value",
        offered({"modes": MODES | {"currentModeId": "fly"}}),
        [*offered({"modes": MODES}), said("current_mode_update", currentModeId="ask")],
    ),
    Case("offer.current-value", offered(options(value="small")), offered(options())),
    Case(
        "offer.current-value",
        [*V2, said("config_option_update", **options(2, value="small"))],
        [*V2, said("config_option_update", **options(2))],
    ),
    Case(
        "offer.config-option",
        [*offered(options()), *setting("speed", "large")],
        [*offered({}), said("config_option_update", **options()), *setting("model", "large")],
    ),
    Case(
        "offer.config-option",
        [*offered(options()), *setting("model", "small")],
        [*offered(options()), *setting("fast", False, type="boolean")],
    ),
    Case(
        "offer.config-option",
        [*offered(options(2), version=2), *setting("model", "small", type="id")],
        [*offered(options(2), version=2), *setting("model", "large", type="id")],
    ),
    Case(
        "offer.command",
        [*V1, said("available_commands_update", **COMMANDS), *prompt(2, "/paln it")],
        [*V1, said("available_commands_update", **COMMANDS), *prompt(2, "/plan it"), *prompt(3, "/home/me is mine")],
    ),
    # Files
    Case(
        "path.outside",
        [*V1, *read("/home/me/../you/x")],
        [*opening(), *new(additionalDirectories=["/data/"]), *read("/data/x"), *read("/home/me"), *read("/home/me/x")],
    ),
    Case(
        "path.outside",
        [*opening(), *new(cwd=r"C:\Users\me"), *read(r"C:\Users\meme\x")],
        [*opening(), *new(cwd=r"C:\Users\me"), *read("c:/users/me/x")],
    ),
    Case("path.line", [*V1, *read("/home/me/x", line=0)], [*V1, *read("/home/me/x", line=1)]),
]
