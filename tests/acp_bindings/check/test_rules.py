"""Each rule reports a violation at its position. Tests are named after the rows of the requirements."""

from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.check import RULES
from acp_bindings.check._observed import WITHDRAWN
from acp_bindings.check._rules.schema import BASE64
from tests.acp_bindings.check.conversations import (
    AGENT,
    HTTP,
    INFO,
    STDIO,
    USER,
    call,
    check,
    error,
    load,
    new,
    opening,
    opening_v2,
    prompt,
    result,
    rules,
    the,
    update,
    where,
)
from tests.acp_bindings.check.orders import (
    ALLOW,
    ASKED,
    BEGUN,
    CANCEL,
    CANCELLED,
    MODES,
    ORDERS,
    RESUME,
    S1,
    V1,
    V2,
    chosen,
    offered,
    options,
    question,
    question_v2,
    said,
)
from tests.acp_bindings.schemas import PACKAGES
from tests.acp_bindings.schemas import load as load_schema

SSE: dict[str, Any] = {"type": "sse", "name": "clock", "url": "https://example.com/sse", "headers": []}
AUTHORIZED: dict[str, Any] = HTTP | {"headers": [{"name": "Authorization", "value": "Bearer token123"}]}
TERMINAL_LOGIN = {"id": "t", "name": "T", "type": "terminal"}


def asked(method: str, **params: Any) -> list[Any]:
    """Return a request of the client and the agent's response."""
    return [call(method, params, id=50), error(50, -32000)]


def asked_back(method: str, **params: Any) -> list[Any]:
    """Return a request of the agent and the client's response."""
    return [*new(), call(method, params, id=50), error(50, -32000)]


def served(*servers: Any, agent: dict[str, Any] | None = None) -> list[Any]:
    """Return a conversation in which a session is created with these servers."""
    return [*opening(agent=agent), *new(mcpServers=list(servers))]


def prompted(block: dict[str, Any]) -> list[Any]:
    request = call("session/prompt", {**S1, "prompt": [block]}, id=50)
    return [*UNSTABLE, request, result(50, {"stopReason": "end_turn"})]


def updated(raw: dict[str, Any]) -> Any:
    """Return a `session/update` with this update."""
    return call("session/update", {**S1, "update": raw})


def terminal(data: str) -> Any:
    """Return the output of a terminal in v2."""
    return said("terminal_output_chunk", terminalId="t", data=data)


def permission(*, cancel: str = "s1") -> list[Any]:
    """Return a prompt for which the agent requests permission, and which the client then cancels."""
    return [ASKED, BEGUN, question(ALLOW), call("session/cancel", {"sessionId": cancel})]


UNSTABLE = [*opening(agent={}), *new()]
CLOSED = [call("session/close", S1, id=2), result(2, {})]
IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
AUDIO = {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}
RESOURCE = {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}}
NO_FORM: dict[str, Any] = {"type": "object", "properties": {}}
ELICITATION: dict[str, Any] = {**S1, "message": "?", "requestedSchema": NO_FORM}
BY_URL = {**S1, "message": "?", "mode": "url", "url": "https://example.com", "elicitationId": "e"}

BROKEN: dict[str, list[Any]] = {
    "capability.additional-directories": [*opening(agent={}), *new(additionalDirectories=["/data"])],
    "capability.archive": [*UNSTABLE, *asked("session/archive", **S1)],
    "capability.auth-login": [*opening(), *asked("authenticate", methodId="m")],
    "capability.auth-logout": [*opening(), *asked("logout")],
    "capability.auth-status": [*opening(), *asked("auth/status")],
    "capability.auth-terminal": opening(methods=[TERMINAL_LOGIN]),
    "capability.close": [*UNSTABLE, *asked("session/close", **S1)],
    "capability.delete": [*UNSTABLE, *asked("session/delete", **S1)],
    "capability.elicitation": [*opening(client={}), *asked_back("elicitation/create", mode="form", **ELICITATION)],
    "capability.elicitation-form": [
        *opening(client={"elicitation": {"url": {}}}),
        *asked_back("elicitation/create", mode="form", **ELICITATION),
    ],
    "capability.elicitation-url": [
        *opening(client={"elicitation": {"form": {}}}),
        *asked_back("elicitation/create", **BY_URL),
    ],
    "capability.fork": [*UNSTABLE, *asked("session/fork", **RESUME)],
    "capability.fs-read-text-file": [*opening(client={}), *asked_back("fs/read_text_file", **S1, path="/x")],
    "capability.fs-write-text-file": [
        *opening(client={}),
        *asked_back("fs/write_text_file", **S1, path="/x", content=""),
    ],
    "capability.list": [*opening(agent={}), *asked("session/list")],
    "capability.load": [*opening(agent={"loadSession": False}), *load(1)],
    "capability.login": [
        *opening(),
        *opening(methods=[{"id": "m", "name": "M"}]),
        *asked("authenticate", methodId="other"),
    ],
    "capability.mcp-acp": served({"type": "acp", "name": "a", "serverId": "1"}, agent={}),
    "capability.mcp-http": served(STDIO, HTTP, agent={}),
    "capability.mcp-other": [
        *opening_v2(session={"mcp": {"stdio": {}}}),
        *new(mcpServers=[{"type": "pigeon", "name": "p"}]),
    ],
    "capability.mcp-sse": served(SSE, agent={}),
    "capability.mcp-stdio": [*opening_v2(), *new(mcpServers=[STDIO | {"type": "stdio"}])],
    "capability.other-version": [
        call("initialize", {"protocolVersion": 1, "clientInfo": INFO, "capabilities": {}}, id=0),
        opening()[1],
    ],
    "capability.prompt-audio": prompted(AUDIO),
    "capability.prompt-embedded-context": prompted(RESOURCE),
    "capability.prompt-image": prompted(IMAGE),
    "capability.prompt-other": [
        *opening_v2(),
        call("session/prompt", {"sessionId": "s1", "prompt": [{"type": "video"}]}, id=1),
    ],
    "capability.providers": [*opening(agent={}), *asked("providers/list")],
    "capability.refused": [*opening(), call("session/new", {"cwd": "/x", "mcpServers": []}, id=1), error(1, -32601)],
    "capability.resume": [*UNSTABLE, *asked("session/resume", **RESUME)],
    "capability.session": [
        call("initialize", {"protocolVersion": 2, "info": INFO, "capabilities": {}}, id=0),
        result(0, {"protocolVersion": 2, "info": INFO, "capabilities": {}}),
        *asked("session/new", cwd="/home/me"),
    ],
    "capability.sse-deprecated": served(SSE),
    "capability.status": [*UNSTABLE, *asked("session/status", **S1)],
    "capability.system-prompt": [
        *opening(agent={}),
        *new(systemPrompt={"mode": "append", "content": [{"type": "text", "text": "x"}]}),
    ],
    "capability.system-prompt-override": [
        *opening(agent={"sessionCapabilities": {"systemPrompt": {}}}),
        *new(systemPrompt={"mode": "override", "content": [{"type": "text", "text": "x"}]}),
    ],
    "capability.terminal": [*opening(client={}), *asked_back("terminal/create", **S1, command="ls")],
    "capability.title": [*UNSTABLE, *asked("session/set_title", **S1, title="t")],
    "capability.unknown": opening(agent={"mcp": {"http": True}}),
    "leniency.default-on-error": opening(agent={"loadSession": "yes"}),
    "leniency.default-on-null": served(HTTP | {"headers": None}),
    "leniency.skip-invalid-items": opening(methods=[{"id": "m"}]),
    "lifecycle.closed-session": [*V1, *CLOSED, *prompt(3)],
    "lifecycle.error-after-cancel": [*V1, ASKED, CANCEL, error(2, -32603)],
    "lifecycle.id-reused": [*opening(), call("session/list", {}, id=1), call("session/list", {}, id=1)],
    "lifecycle.initialized-again": [*V2, call("initialize", opening_v2()[0]["params"], id=9)],
    "lifecycle.load-before-prompt": [*V1, *load(2)],
    "lifecycle.no-info": [call("initialize", {"protocolVersion": 1}, id=0), opening()[1]],
    "lifecycle.not-initialized": [*new(), *opening()],
    "lifecycle.permission-after-cancel": [*V1, *permission(), chosen("yes")],
    "lifecycle.replay-after-answer": [*opening(), *load(1), update(USER, "late")],
    "lifecycle.replay-differs": [*V1, *prompt(2), *load(3, update(AGENT, "hi"), update(USER, "hello"))],
    "lifecycle.replay-incomplete": [*V1, *prompt(2), *load(3)],
    "lifecycle.replay-on-resume": [
        *opening(),
        call("session/resume", RESUME, id=1),
        update(USER, "hello"),
        result(1, {}),
    ],
    "lifecycle.session-id-altered": [
        *opening(),
        *new(session="a-b"),
        *prompt(2, session="a-b"),
        *load(3, session="A-B"),
    ],
    "lifecycle.session-id-reused": [*opening(), *new(1), *new(2)],
    "lifecycle.unanswered": [*opening(), call("session/list", {}, id=1)],
    "lifecycle.unasked": [*opening(), result(9, {})],
    "lifecycle.unknown-session": [*opening(), *prompt(1)],
    "lifecycle.update-after-close": [*V1, *CLOSED, update(AGENT, "still here")],
    "lifecycle.version": [*opening(answered=2)[:1], opening_v2()[1], *new()],
    "path.additional-directory": [*opening(), *new(additionalDirectories=["/data", "data"])],
    "path.command": served(STDIO | {"command": "npx"}),
    "path.cwd": [*opening(), *new(cwd=".")],
    "path.cwd-mismatch": [
        *V1,
        *prompt(2),
        *load(3, update(USER, "hello"), update(AGENT, "hi"), cwd="/home/you"),
    ],
    "path.file": [*opening(), *asked_back("fs/read_text_file", **S1, path="x.py")],
    "path.location": [*V1, said("tool_call", toolCallId="t", title="T", locations=[{"path": "x"}])],
    "schema.base64": [*V2, terminal("ls: no such file")],
    "schema.duplicate-env": served(STDIO | {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
    "schema.duplicate-server": served(STDIO, STDIO),
    "schema.error": [*opening(), call("session/list", {}, id=1), {"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}],
    "schema.header-line-break": served(HTTP | {"headers": [{"name": "A", "value": "x\r\nB: y"}]}),
    "schema.json": [*opening(), b'{"jsonrpc":'],
    "schema.message": [*opening(), {"id": 1, "method": "session/list"}],
    "schema.method": [*opening(), call("session/nwe", {}, id=1), error(1, -32601)],
    "schema.misspelt": [*V1, update("agentMessageChunk", "hi")],
    "schema.params": [*opening(), *asked("session/new", cwd=5, mcpServers=[])],
    "schema.result": [*opening(), new()[0], result(1, {"sessionId": 5})],
    "schema.server-list": served({"name": "x", "command": "/x", "args": []}),
    "schema.server-map": served(STDIO | {"env": {"A": "1"}}),
    "schema.server-name": served(STDIO | {"name": "my files"}),
    "schema.server-type": served({"name": "x", "url": "https://example.com"}),
    "schema.servers-missing": [*opening(), *asked("session/new", cwd="/home/me")],
    "schema.transport-header": served(HTTP | {"headers": [{"name": "Content-Type", "value": "x"}]}),
    "schema.version": [
        call("initialize", {"protocolVersion": "2025-06-18", "clientInfo": INFO}, id=0),
        error(0, -32602),
    ],
    "secret.argument": served(STDIO | {"args": ["--api-key", "hunter2"]}),
    "secret.cleartext": served(AUTHORIZED | {"url": "http://example.com/mcp"}),
    "secret.recorded": served(STDIO | {"env": [{"name": "API_KEY", "value": "secret123"}]}),
    "secret.url": served(HTTP | {"url": "https://me:hunter2@example.com/mcp"}),
}
"""A conversation for each rule that breaks it."""

for _case in ORDERS:
    BROKEN.setdefault(_case.rule, _case.broken)

ELSEWHERE = {"schema.payload"}
"""Rules that no conversation here breaks; `test_payloads` tests them."""

IN_UNSTABLE = {
    "capability.archive",
    "capability.auth-status",
    "capability.fork",
    "capability.mcp-acp",
    "capability.providers",
    "capability.status",
    "capability.system-prompt",
    "capability.system-prompt-override",
    "capability.title",
}


def test_every_rule_has_a_conversation_that_breaks_it() -> None:
    assert BROKEN.keys() | ELSEWHERE == {each.id for each in RULES}


@pytest.mark.parametrize("rule", BROKEN)
def test_every_rule_reports_the_conversation_that_breaks_it(rule: str) -> None:
    protocol = v1_unstable if rule in IN_UNSTABLE else None
    found = [each for each in check(*BROKEN[rule], protocol=protocol) if each.rule == rule]
    assert found, check(*BROKEN[rule], protocol=protocol)
    (severity,) = {each.severity for each in RULES if each.id == rule}
    assert found[0].severity == severity or rule == "lifecycle.version"


def test_the_document_lists_every_rule_as_it_is() -> None:
    document = (Path(__file__).parents[3] / "docs" / "check.md").read_text(encoding="utf-8")
    rows = [line for line in document.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{each.id}` | {each.severity} | {each.doc} |" for each in RULES]


def test_misspelled_fields_are_reported_with_the_right_spelling() -> None:
    tool_call: dict[str, Any] = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "t",
        "raw_input": {"old_text": 1},
        "Status": "pending",
        "status": "pending",
        "content": [
            {"type": "content", "content": {"type": "text", "text": "a", "Annotations": None}},
            {"type": "diff", "path": "/a", "newText": "b", "old_text": "hunter2"},
        ],
    }
    chunk = {"session-update": "x", "sessionUpdate": "agent-message_chunk", "note": 1}
    found = [each for each in check(*V1, updated(tool_call), updated(chunk)) if each.rule == "schema.misspelt"]

    assert [(where(each), each.message) for each in found] == [
        ("5 params.update.raw_input", 'unknown name; write "rawInput"'),
        (
            "5 params.update.content[0].content.Annotations",
            'unknown name; write "annotations"',
        ),
        ("5 params.update.content[1].old_text", 'unknown name; write "oldText"'),
        ("6 params.update.sessionUpdate", 'unknown name; write "agent_message_chunk"'),
    ]


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("agent_mesage_chunk", 'did you mean "agent_message_chunk"?'),
        ("agent_message", 'did you mean "agent_message_chunk"?'),
        ("message", "names of extensions begin with an underscore"),
        ("_agent_message", None),
        ("plan_update", None),
    ],
)
def test_an_unknown_update_of_v1_is_reported_once(kind: str, hint: str | None) -> None:
    found = check(*V1, updated({"sessionUpdate": kind, "state": "running"}))

    message = f"unknown in version 1, and clients ignore or refuse it; {hint}"
    assert [(each.rule, each.message) for each in found] == ([("schema.misspelt", message)] if hint else [])


@pytest.mark.parametrize("answer", [{"protocolVersion": "1"}, {"protocol_version": 1}, None])
def test_a_response_with_a_wrong_version_answers_initialize(answer: Any) -> None:
    found = rules(opening()[0], result(0, answer), *new(), *prompt(2))

    assert "schema.version" in found or answer is None
    assert "lifecycle.not-initialized" not in found


def test_an_error_does_not_answer_initialize() -> None:
    assert rules(opening()[0], error(0, -32603), *new()) == ["lifecycle.not-initialized"]


def test_a_notification_with_an_id_is_only_reported_as_that() -> None:
    begin: Any = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}
    end: Any = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    sent = [{**updated(begin), "id": "n1"}, error("n1", -32601), updated(end)]

    assert rules(*V1, *sent, {**CANCEL, "id": 8}, error(8, -32601)) == ["schema.method", "schema.method"]


def test_a_tool_call_may_have_begun_in_an_update_without_a_session() -> None:
    begin = call("session/update", {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}})

    assert "permission.unknown-tool-call" in rules(*V1, ASKED, question(ALLOW))
    assert "permission.unknown-tool-call" not in rules(*V1, ASKED, begin, question(ALLOW))


@pytest.mark.parametrize(("sent", "answered", "shown"), [(3, "3", '3, not "3"'), ("3", 3, '"3", not 3')])
def test_a_response_with_the_id_in_another_type_names_the_request(sent: Any, answered: Any, shown: str) -> None:
    found = the("lifecycle.unasked", *V1, prompt(sent)[0], result(answered, {"stopReason": "end_turn"}))

    assert found.message == f"the request of line 5 has the id {shown}"


def test_a_response_is_not_taken_for_one_to_a_request_of_its_own_side() -> None:
    client, agent = ({"time": "2026-11-27T11:45:49Z", "from": side} for side in ("client", "agent"))
    opened = [{**sender, "message": each} for sender, each in zip((client, agent) * 2, V1, strict=True)]
    sent = [{**client, "message": ASKED}, {**agent, "message": question(ALLOW)}, {**agent, "message": result("9", {})}]

    assert the("lifecycle.unasked", *opened, *sent).message.startswith("no request with this id is open")


def test_the_base64_fields_are_those_of_the_schemas() -> None:
    described = {
        (name, member)
        for package in PACKAGES
        for name, body in load_schema(package).definitions.items()
        for member, value in body.get("properties", {}).items()
        if "contentEncoding" in value or "base64" in value.get("description", "").lower()
    }
    assert described == set(BASE64.items())


@pytest.mark.parametrize(
    ("data", "does"),
    [
        ("", True),
        ("aGk", True),
        ("_-8=", True),
        ("aGVs\r\nbG8=\n", True),
        ("hello world", False),
        ("hello", False),
        ("A=aa", False),
    ],
)
def test_only_undecodable_data_is_invalid_base64(data: str, does: bool) -> None:
    assert rules(*V2, terminal(data)) == ([] if does else ["schema.base64"])


def test_invalid_base64_is_reported_at_its_place_and_not_shown() -> None:
    content = [
        {"type": "content", "content": IMAGE},
        {"type": "content", "content": IMAGE | {"data": "data:image/png;base64,aGk="}},
        {"type": "content", "content": AUDIO | {"data": "hunter2!"}},
        {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///x", "blob": "hunter2!"}}},
        {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///x", "text": "hunter2!"}}},
    ]
    told = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": content}
    found = check(*V1, updated(told))
    assert [(each.rule, where(each), each.message) for each in found] == [
        (
            "schema.base64",
            "5 params.update.content[1].content.data",
            "it is not base64; remove the part before the comma",
        ),
        ("schema.base64", "5 params.update.content[2].content.data", "it is not base64; encode the bytes"),
        ("schema.base64", "5 params.update.content[3].content.resource.blob", "it is not base64; encode the bytes"),
    ]


def test_findings_after_a_dropped_list_item_never_name_a_wrong_place() -> None:
    content = [{"type": "zz"}, {"type": "diff", "path": "/a", "newText": "b", "old_text": "a"}]
    told = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": content}
    found = check(*V1, updated(told))
    assert [each.rule for each in found] == ["leniency.skip-invalid-items"]


@pytest.mark.requirement("R2")
def test_each_method_that_comes_too_early_is_reported_once() -> None:
    ask, answer = opening()
    early = [call("session/new", {"cwd": "/x", "mcpServers": []}, id=n) for n in (1, 2)]
    answers = [error(n, -32600) for n in (1, 2, 3)]
    others = [call("session/list", {}, id=3), call("session/cancel", {"sessionId": "s"})]
    found = check(ask, *early, *others, *answers, answer)
    assert [(each.line, each.method) for each in found if each.rule == "lifecycle.not-initialized"] == [
        (2, "session/new"),
        (4, "session/list"),
        (5, "session/cancel"),
    ]


@pytest.mark.requirement("R2")
def test_a_recording_without_initialize_is_reported_once() -> None:
    assert rules(*new(), *prompt(2)) == ["lifecycle.not-initialized"]


@pytest.mark.requirement("R5", "R15")
def test_a_missing_info_is_a_warning() -> None:
    found = check(
        call("initialize", {"protocolVersion": 1}, id=0), result(0, {"protocolVersion": 1, "agentCapabilities": {}})
    )
    assert [(each.rule, each.severity, where(each)) for each in found] == [
        ("lifecycle.no-info", "warning", "1 params.clientInfo"),
        ("lifecycle.no-info", "warning", "2 result.agentInfo"),
    ]


@pytest.mark.requirement("R23")
def test_a_client_that_continues_in_an_unsupported_version_is_reported() -> None:
    found = [each for each in check(opening()[0], opening_v2()[1], *new()) if each.rule == "lifecycle.version"]
    assert [(each.severity, where(each)) for each in found] == [("warning", "2 result.protocolVersion"), ("error", "3")]
    assert "close the connection and inform the user" in found[1].message


@pytest.mark.requirement("R23")
def test_only_requests_of_the_client_count_as_continuing_in_a_version() -> None:
    quiet = [update(AGENT, "hi"), CANCEL, opening()[0]]
    found = [each for each in check(opening()[0], opening_v2()[1], *quiet) if each.rule == "lifecycle.version"]
    assert [(each.severity, each.line) for each in found] == [("warning", 2)]


@pytest.mark.requirement("R23")
def test_an_unknown_protocol_version_is_reported() -> None:
    found = the("lifecycle.version", *opening(asked=9, answered=9), *new())
    assert (found.severity, where(found)) == ("warning", "2 result.protocolVersion")
    assert "version 9 is not supported here" in found.message


@pytest.mark.requirement("R38")
@pytest.mark.parametrize("method", ["session/new", "session/prompt"])
def test_rejecting_a_baseline_method_is_an_error(method: str) -> None:
    params: dict[str, Any] = {
        "session/new": {"cwd": "/x", "mcpServers": []},
        "session/prompt": {"sessionId": "s1", "prompt": []},
    }
    request = call(method, params[method], id=5)
    found = the("capability.refused", *V1, request, error(5, -32601))
    assert (where(found), found.sender, found.method) == ("6 error", "agent", method)
    assert rules(*V1, request, error(5, -32602)) == []


@pytest.mark.requirement("R38")
@pytest.mark.parametrize(
    ("opened", "method", "params"),
    [
        (offered({"modes": MODES}), "session/set_mode", {"modeId": "code"}),
        (offered(options()), "session/set_config_option", {"configId": "model", "value": "large"}),
        (
            offered(options(2), version=2),
            "session/set_config_option",
            {"configId": "model", "type": "id", "value": "large"},
        ),
        ([*V2, said("terminal_update", terminalId="t1", command="ls")], "terminal/cancel", {"terminalId": "t1"}),
        ([*V2, said("tool_call_update", toolCallId="t", title="T")], "tool_call/cancel", {"toolCallId": "t"}),
    ],
)
def test_agents_need_not_implement_optional_methods(opened: list[Any], method: str, params: dict[str, Any]) -> None:
    request = call(method, {"sessionId": "s1", **params}, id=5)
    assert rules(*opened, request, error(5, -32601)) == []


@pytest.mark.requirement("R50")
@pytest.mark.parametrize("cwd", ["", ".", "~", "~/x", "src", "file:///home/me", "${HOME}", "C:x"])
def test_a_cwd_that_is_not_absolute_is_an_error(cwd: str) -> None:
    assert where(the("path.cwd", *opening(), *new(cwd=cwd))) == "3 params.cwd"


@pytest.mark.requirement("R50")
@pytest.mark.parametrize("cwd", ["/", "/home/me", r"C:\Users\me", r"\\server\share"])
def test_absolute_paths_of_every_system_are_accepted(cwd: str) -> None:
    assert rules(*opening(), *new(cwd=cwd)) == []


@pytest.mark.requirement("R55")
@pytest.mark.parametrize("agent", [{}, {"loadSession": False}, {"loadSession": None}, {"loadSession": "yes"}])
def test_a_load_that_was_not_advertised_is_an_error(agent: dict[str, Any]) -> None:
    found = the("capability.load", *opening(agent=agent), *load(1))
    assert (where(found), found.severity) == ("3", "error")
    assert "loadSession" in found.message


@pytest.mark.requirement("R55")
def test_an_unadvertised_load_is_reported_even_if_its_params_are_invalid() -> None:
    found = rules(*opening(agent={}), *asked("session/load", sessionId=5))
    assert found[0] == "capability.load"
    assert set(found[1:]) == {"schema.params", "schema.servers-missing"}


@pytest.mark.requirement("R47", "R60", "R86", "R87", "R99", "X1")
@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ("capability.prompt-image", "5 params.prompt[0]"),
        ("capability.sse-deprecated", "3 params.mcpServers[0].type"),
        ("lifecycle.replay-after-answer", "5 params.update"),
        ("lifecycle.replay-on-resume", "4 params.update"),
        ("lifecycle.session-id-reused", "6 result.sessionId"),
        ("path.cwd-mismatch", "8 params.cwd"),
        ("capability.additional-directories", "3 params.additionalDirectories"),
        ("capability.mcp-http", "3 params.mcpServers[1]"),
        ("capability.mcp-sse", "3 params.mcpServers[0]"),
        ("capability.close", "5"),
        ("lifecycle.closed-session", "7 params.sessionId"),
        ("lifecycle.id-reused", "4 id"),
        ("lifecycle.not-initialized", "1"),
        ("lifecycle.unanswered", "3"),
        ("lifecycle.unasked", "3 id"),
        ("lifecycle.update-after-close", "7 params.update"),
        ("lifecycle.unknown-session", "3 params.sessionId"),
        ("path.location", "5 params.update.locations[0].path"),
        ("schema.json", "3"),
        ("schema.error", "4 error.code"),
        ("schema.result", "4 result.sessionId"),
        ("schema.transport-header", "3 params.mcpServers[0].headers[0].name"),
        ("secret.argument", "3 params.mcpServers[0].args[1]"),
    ],
)
def test_a_finding_is_at_its_place(rule: str, place: str) -> None:
    assert where(next(each for each in check(*BROKEN[rule]) if each.rule == rule)) == place


@pytest.mark.parametrize(
    ("then", "told"),
    [
        ([], "it has no response here; was the recording cut off?"),
        (new(2), "it has no response in the 2 lines after it; was the recording cut off?"),
        (new(2)[:1], "it has no response in the line after it; was the recording cut off?"),
    ],
)
def test_an_unanswered_request_is_reported_with_the_number_of_later_messages(then: list[Any], told: str) -> None:
    found = [each for each in check(*opening(), call("session/list", {}, id=1), *then) if each.line == 3]
    assert found[-1].message == told


@pytest.mark.requirement("R57")
def test_a_replay_without_the_users_messages_is_an_error() -> None:
    talk = [*V1, *prompt(2, "one"), *prompt(5, "two")]
    pieces = [update(USER, each) for each in "one"]
    found = the("lifecycle.replay-incomplete", *talk, *load(9, *pieces, update(AGENT, "hi")))
    assert where(found) == "16"
    assert "1 of 2" in found.message


@pytest.mark.parametrize(
    "replayed",
    [
        [update(USER, "one\n\ntwo"), update(AGENT, "hi")],
        [update(USER, "1", message_id="a"), update(USER, "2", message_id="b"), update(AGENT, "hi")],
    ],
    ids=["one message", "two ids"],
)
def test_messages_of_the_user_may_follow_each_other_in_a_replay(replayed: list[Any]) -> None:
    assert "lifecycle.replay-incomplete" not in rules(*TALK, *load(9, *replayed))


TALK = [*V1, *prompt(2, "one "), *prompt(5, "two")]
GONE = update(AGENT, "MCP server gone")
WITH_EMPTY_CHUNKS = [*V1, *prompt(2, "one ", says=[""]), *prompt(5, "two", says=["hi", ""])]
ONE, TWO, HI = update(USER, "one "), update(USER, "two"), update(AGENT, "hi")


@pytest.mark.parametrize("then", [[], prompt(8, "three", says=["x"])], ids=["at the end", "before another"])
def test_a_refused_prompt_need_not_be_replayed(then: list[Any]) -> None:
    replayed = [update(USER, "three"), update(AGENT, "x")] if then else []
    refused = [prompt(7, "more")[0], error(7, -32000)]
    assert check(*TALK, *refused, *then, *load(9, ONE, HI, TWO, HI, *replayed)) == []


REPLAYED = [update(USER, "one"), update(AGENT, "hi there"), update(USER, "hello"), HI]
LINK = {"type": "resource_link", "uri": "file:///x", "name": "x"}
WITH_LINK = call("session/prompt", {"sessionId": "s1", "prompt": [{"type": "text", "text": "see "}, LINK]}, id=2)
QUEUED = [prompt(2, "one ")[0], HI, prompt(3, "two")[0], HI, prompt(2)[-1], prompt(3)[-1]]


@pytest.mark.requirement("R57", "R58")
@pytest.mark.parametrize(
    ("talk", "replayed", "differs"),
    [
        (TALK, [ONE, HI, TWO, HI], False),
        (WITH_EMPTY_CHUNKS, [ONE, TWO, HI], False),
        (TALK, [TWO, HI, ONE, HI], True),
        (TALK, [ONE, update(AGENT, ""), TWO, HI], True),
        (TALK, [ONE, BEGUN, TWO, HI], True),
        ([*V1, *prompt(2)], [update(USER, "hellohi")], True),
        ([*V1, GONE, *prompt(2, "one "), *prompt(5, "two")], [ONE, HI, TWO, HI], False),
        ([*TALK, *load(8, ONE, HI, TWO, HI), GONE], [ONE, HI, TWO, HI], False),
        ([*V1, *prompt(2, "one", says=["hi ", "there \n"]), *prompt(5)], REPLAYED, False),
        ([*V1, *prompt(2, "one", says=["hi", "there"]), *prompt(5)], REPLAYED, True),
        ([*V1, WITH_LINK, *prompt(2)[1:]], [update(USER, "see [x](file:///x)"), HI], False),
        ([*V1, *QUEUED], [ONE, HI, HI, TWO], False),
    ],
    ids=[
        "whole",
        "without empty chunks",
        "another order",
        "an empty response",
        "a tool call",
        "from the user",
        "a report before the first prompt",
        "a report after a replay",
        "white space at the end",
        "white space in the middle",
        "a link as text",
        "a prompt in a turn",
    ],
)
def test_a_replay_with_other_messages_or_in_another_order_is_reported(
    talk: list[Any], replayed: list[Any], differs: bool
) -> None:
    found = [each.rule for each in check(*talk, *load(9, *replayed)) if each.rule != "turn.prompt-in-turn"]
    assert found == (["lifecycle.replay-differs"] if differs else [])


@pytest.mark.requirement("R61")
def test_a_null_that_the_protocol_shows_is_a_warning_only_if_clients_refuse_it() -> None:
    loaded = [*load(9, ONE, HI, TWO, HI)[:-1], result(9, None)]
    written = [call("fs/write_text_file", {"sessionId": "s1", "path": "/home/me/x", "content": ""}, id=7)]
    for severity, talk in (("warning", loaded), ("info", [*written, result(7, None)])):
        found = the("leniency.default-on-null", *TALK, *talk)
        assert (found.severity, found.message) == (
            severity,
            "the protocol shows null here, but some programs refuse it; send {}",
        )
    wrong = result(9, {"modes": 5})
    assert "read as the default" in the("leniency.default-on-error", *TALK, *loaded[:-1], wrong).message


@pytest.mark.requirement("R59")
def test_an_update_that_is_a_request_is_an_error() -> None:
    found = the("schema.method", *V1, {**update(AGENT, "hi"), "id": 1}, error(1, -32601))
    assert (where(found), found.sender) == ("5 method", "agent")


UNKNOWN = {
    "session/nwe": "session/nwe is not a method; did you mean session/new?",
    "session/fork": (
        "v1 has no session/fork, which v1_unstable and v2_unstable have; "
        "acp-bindings check --protocol v1_unstable reads it"
    ),
    "tool_call/cancel": "v1 has no tool_call/cancel, which v2 and v2_unstable have",
    "session/set_model": ("session/set_model was in drafts of the protocol; now there is session/set_config_option"),
    "session/branch": "session/branch is not a method; names of extensions begin with an underscore",
    "acme": "acme is not a method; names of extensions begin with an underscore",
}
LIST = call("session/list", {}, id=1)
EMPTY: dict[str, Any] = {"jsonrpc": "2.0", "id": 1}


@pytest.mark.parametrize(
    ("rule", "place", "told", "messages"),
    [
        *(
            ("schema.method", "3 method", told, [call(method, {}, id=1), error(1, -32601)])
            for method, told in UNKNOWN.items()
        ),
        ("schema.message", "4", "it has neither a result nor an error", [LIST, EMPTY]),
        ("schema.message", "4", "it has both a result and an error", [LIST, error(1, -32000) | result(1, {})]),
        ("schema.message", "3", "Invalid request: it has both a method and a result", [LIST | {"result": EMPTY}]),
        (
            "schema.message",
            "3",
            (
                "Invalid request: batches are not supported (the v2 draft allows them, but the SDKs reject them); send "
                "each message on its own line"
            ),
            [[LIST]],
        ),
        (
            "schema.params",
            "3 params.mcpServers",
            'Field required; it is spelt "mcp_servers" here',
            asked("session/new", cwd="/home/me", mcp_servers=[]),
        ),
    ],
)
def test_a_wrong_message_is_reported_with_the_reason(rule: str, place: str, told: str, messages: list[Any]) -> None:
    found = the(rule, *opening(), *messages)
    assert (where(found), found.message) == (place, told)


def test_replacements_of_withdrawn_methods_exist_in_all_versions() -> None:
    for package in (v1, v1_unstable, v2, v2_unstable):
        assert not WITHDRAWN.keys() & package.METHODS.keys()
        assert set(WITHDRAWN.values()) <= package.METHODS.keys()


@pytest.mark.requirement("R63")
@pytest.mark.parametrize("method", ["session/load", "session/new"])
def test_missing_servers_are_reported_with_how_to_send_none(method: str) -> None:
    found = the("schema.servers-missing", *opening(), *asked(method, **RESUME))
    assert where(found) == "3 params.mcpServers"
    assert 'send "mcpServers": []' in found.message
    assert "schema.params" not in rules(*opening(), *asked(method, **RESUME))


@pytest.mark.requirement("R75")
@pytest.mark.parametrize("command", ["npx", "./server", "~/server", "node /x.js"])
def test_a_relative_command_is_reported(command: str) -> None:
    found = the("path.command", *served(STDIO, STDIO | {"name": "b", "command": command}))
    assert where(found) == "3 params.mcpServers[1].command"


@pytest.mark.requirement("R78")
def test_an_env_map_is_reported_with_the_right_form() -> None:
    found = [each for each in check(*served(STDIO | {"env": {"A": "1"}})) if each.line == 3]
    assert [(each.rule, where(each)) for each in found] == [("schema.server-map", "3 params.mcpServers[0].env")]
    assert '[{"name": …, "value": …}]' in found[0].message


@pytest.mark.parametrize(
    "type_", [{"type": "htpp"}, {"type": "streamable-http"}, {"type": "stdio"}, {"type": 5}, {"type": "remote"}, {}]
)
@pytest.mark.parametrize("hello", [opening(), opening_v2(session={"mcp": {"http": {}, "stdio": {}}})])
def test_a_wrong_server_type_causes_one_finding(type_: dict[str, Any], hello: list[Any]) -> None:
    server = {name: HTTP[name] for name in HTTP if name != "type"} | type_
    found = [each for each in check(*hello, new(mcpServers=[server])[0]) if each.line == 3]
    told = [each for each in found if each.rule not in ("lifecycle.unanswered", "capability.mcp-other")]
    assert [(each.rule, where(each)) for each in told] == [("schema.server-type", "3 params.mcpServers[0].type")]
    assert '"http"' in told[0].message


def test_other_errors_of_a_server_with_a_wrong_type_are_reported() -> None:
    found = rules(*opening(), *asked("session/new", cwd="/x", mcpServers=[STDIO | {"type": "stdio", "name": 5}]))
    assert found == ["schema.server-type", "schema.params"]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize(
    "url", ["https://example.com/mcp", "http://localhost:1/mcp", "http://127.0.0.1/mcp", "http://[::1]:8/mcp"]
)
def test_a_token_over_https_or_loopback_is_not_reported_as_exposed(url: str) -> None:
    assert rules(*served(AUTHORIZED | {"url": url})) == ["secret.recorded"]


@pytest.mark.requirement("R91")
@pytest.mark.parametrize(
    "args",
    [["--api-key=abcdefgh"], ["-t", "ghp_abcdefghijklmnopqrstuv"], ["Bearer abcdefgh12"], ["https://u:pw@x.com/"]],
)
def test_an_argument_that_looks_like_a_secret_is_reported(args: list[str]) -> None:
    found = the("secret.argument", *served(STDIO | {"args": args}))
    assert where(found) == f"3 params.mcpServers[0].args[{len(args) - 1}]"


@pytest.mark.requirement("R91")
@pytest.mark.parametrize(
    "args",
    [
        ["--verbose", "--port", "8080"],
        ["--key-file", "--token"],
        ["--keyboard=german"],
        ["/home/me/tokens"],
        ["https://example.com/x"],
        ["--author", "somebody"],
    ],
)
def test_an_ordinary_argument_is_not_reported_as_a_secret(args: list[str]) -> None:
    assert rules(*served(STDIO | {"args": args})) == []


@pytest.mark.requirement("R99")
def test_a_load_from_another_directory_than_the_listed_one_is_reported() -> None:
    listed = [call("session/list", {}, id=1), result(1, {"sessions": [{"sessionId": "s1", "cwd": "/home/me"}]})]
    assert rules(*opening(), *listed, *load(2, cwd="/home/you")) == ["path.cwd-mismatch"]
    assert rules(*opening(), *listed, *load(2)) == []


@pytest.mark.requirement("R91")
@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.com/mcp?api_key=abcdefgh", True),
        ("https://example.com/mcp?x=ghp_abcdefghijklmnopqrstuv", True),
        ("https://me:hunter2@example.com", True),
        ("https://example.com/mcp?api_key=", False),
        ("https://example.com/mcp?page=12345678", False),
        ("https://me@example.com", False),
        ("http://[", False),
    ],
)
def test_a_url_that_contains_a_secret_is_reported(url: str, told: bool) -> None:
    assert ("secret.url" in rules(*served(HTTP | {"url": url}))) == told


def test_a_session_that_was_open_stays_known_when_it_cannot_be_loaded() -> None:
    failed = [load(5)[0], error(5, -32002)]
    assert rules(*V1, *prompt(2), *failed, *prompt(6)) == []


def test_only_diffs_among_the_content_of_tool_calls_need_absolute_paths() -> None:
    content = [
        {"type": "diff", "path": "x.py", "oldText": None, "newText": ""},
        {"type": "content", "path": "y.py", "content": {"type": "text", "text": "z"}},
    ]
    found = the("path.location", *V1, said("tool_call", toolCallId="t", title="T", content=content))
    assert where(found) == "5 params.update.content[0].path"


@pytest.mark.requirement("R99")
def test_a_failed_load_does_not_record_the_directory_of_a_session() -> None:
    failed = [load(2, cwd="/home/you")[0], error(2, -32002)]
    assert rules(*opening(), *failed, *load(3)) == []


@pytest.mark.requirement("R102")
def test_a_load_before_the_first_prompt_is_reported() -> None:
    assert where(the("lifecycle.load-before-prompt", *V1, *load(2))) == "5 params.sessionId"
    assert rules(*V1, *prompt(2), *load(5, update(USER, "hello"), update(AGENT, "hi"))) == []


@pytest.mark.requirement("D1")
def test_mcp_instead_of_mcp_capabilities_is_reported_and_ignored() -> None:
    talk = [*opening(agent={"mcp": {"http": True}}), *new(mcpServers=[HTTP])]
    found = check(*talk)
    assert [each.rule for each in found] == ["capability.unknown", "capability.mcp-http"]
    assert where(found[0]) == "2 result.agentCapabilities.mcp"
    assert "did you mean mcpCapabilities?" in found[0].message


@pytest.mark.requirement("D9")
@pytest.mark.parametrize(
    ("version", "looks"), [("2025-03-26", "an MCP version"), ("1.0.0", "of a program"), (1.0, "a float")]
)
def test_an_invalid_protocol_version_is_reported_with_its_likely_meaning(version: Any, looks: str) -> None:
    found = the("schema.version", call("initialize", {"protocolVersion": version, "clientInfo": INFO}, id=0))
    assert where(found) == "1 params.protocolVersion"
    assert looks in found.message


def test_a_pending_permission_request_must_be_answered_with_cancelled() -> None:
    talk = [*V1, *permission()]
    assert rules(*talk, chosen(None), CANCELLED) == []
    assert rules(*talk, error(9, -32800), CANCELLED) == []
    found = the("lifecycle.permission-after-cancel", *talk, chosen("yes"), CANCELLED)
    assert (where(found), found.sender, found.severity) == ("9 result.outcome", "client", "error")
    assert found.message.startswith("the client cancelled the prompt in line 8; respond with")


@pytest.mark.parametrize("after", [[CANCELLED], [*opening()]])
def test_a_permission_request_left_open_after_a_cancel_is_reported(after: list[Any]) -> None:
    talk = [*V1, *permission()]
    found = the("lifecycle.permission-after-cancel", *talk, *after)
    assert (where(found), found.method) == ("7", "session/request_permission")
    assert found.message.startswith("the client cancelled the prompt in line 8 and has not responded to this; respond")
    # Who wrote that down may have stopped there.
    assert rules(*talk) == ["lifecycle.unanswered"] * 2


@pytest.mark.parametrize(
    "talk",
    [
        [*V1, *permission(cancel="s2"), chosen("yes"), CANCELLED],
        [*V1, ASKED, BEGUN, question(ALLOW), chosen("yes"), CANCEL, CANCELLED],
        [*V1, ASKED, CANCEL, BEGUN, question(ALLOW), chosen("yes"), CANCELLED],
    ],
)
def test_a_permission_request_that_was_not_pending_may_be_answered(talk: list[Any]) -> None:
    assert "lifecycle.permission-after-cancel" not in rules(*talk)


def test_a_cancelled_prompt_must_not_end_with_an_error() -> None:
    found = the("lifecycle.error-after-cancel", *BROKEN["lifecycle.error-after-cancel"])
    assert (where(found), found.sender, found.severity) == ("7 error", "agent", "warning")
    assert rules(*V1, ASKED, CANCEL, CANCELLED) == []
    assert rules(*V1, ASKED, error(2, -32603), CANCEL) == []


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_prompt_cancelled_by_request_may_end_with_the_cancel_error(wrapped: bool) -> None:
    def withdrawn(id: int) -> Any:  # noqa: A002
        said = call("$/cancel_request", {"requestId": id})
        return {"from": "client", "message": said} if wrapped else said

    talk = [*V1, ASKED, CANCEL]
    assert rules(*talk, withdrawn(2), error(2, -32800)) == []
    assert rules(*talk, withdrawn(7), error(2, -32800)) == ["lifecycle.error-after-cancel"]


def test_a_forgotten_permission_request_is_reported_among_many_unanswered_requests() -> None:
    forgotten = [call("session/list", {}, id=100 + number) for number in range(30)]
    found = check(*V1, *forgotten, *permission(), CANCELLED)
    assert [each.line for each in found] == [*range(5, 24), 37]
    assert found[-1].rule == "lifecycle.permission-after-cancel"


def test_in_v2_a_permission_request_of_a_cancelled_prompt_needs_no_response() -> None:
    later = [call("session/list", {}, id=5), result(5, {"sessions": []})]
    assert rules(*V2, question_v2(ALLOW), CANCEL, *later) == ["lifecycle.unanswered"]


def test_unanswered_requests_of_earlier_connections_are_reported() -> None:
    talk = [*opening(), call("session/list", {}, id=1), *opening(), call("session/list", {}, id=1)]
    found = [each for each in check(*talk) if each.rule == "lifecycle.unanswered"]
    assert [(each.line, each.sender, each.message) for each in found] == [
        (3, "client", "it has no response on its connection"),
        (6, "client", "it has no response here; was the recording cut off?"),
    ]


@pytest.mark.requirement("R20")
def test_a_protocol_version_that_the_agent_only_repeats_is_reported() -> None:
    repeated = result(0, {"protocolVersion": 2, "agentInfo": INFO, "agentCapabilities": {}})
    found = the("schema.version", opening_v2()[0], repeated)
    assert (where(found), found.sender) == ("2 result.protocolVersion", "agent")
    assert found.message == "the agent responded with 2, but its other fields are of version 1; offer only 1"
    assert "schema.version" not in rules(opening_v2()[0], result(0, {"protocolVersion": 2, "info": INFO}))
    # Nobody here knows the words of that, which may be the same.
    assert "schema.version" not in rules(
        opening()[0], repeated | {"result": repeated["result"] | {"protocolVersion": 7}}
    )


def test_a_failed_load_does_not_hide_a_similar_session() -> None:
    asked = call("session/load", {"sessionId": "a-b", "cwd": "/home/me", "mcpServers": []}, id=1)
    both = [{"sessionId": id_, "cwd": "/home/me"} for id_ in ("a-b", "a-B")]
    talk = [*opening(), asked, call("session/list", {}, id=2), result(2, {"sessions": both})]

    assert "a-B" in the("lifecycle.session-id-altered", *talk, *load(3, session="A-B")).message
    assert "a-B" in the("lifecycle.session-id-altered", *talk, error(1, -32002), *load(3, session="A-B")).message


def test_on_another_connection_a_session_is_like_those_that_were_not_closed() -> None:
    first = [*opening(), *new(session="a-b"), *prompt(2, session="a-b"), *new(3, session="a-B")]
    done = [call("session/close", {"sessionId": "a-b"}, id=4), result(4, {})]
    again = [*opening(), *load(5, session="A-B")]

    assert '"a-b"' in the("lifecycle.session-id-altered", *first, *again).message
    assert '"a-B"' in the("lifecycle.session-id-altered", *first, *done, *again).message
    assert '"a-B"' in the("lifecycle.session-id-altered", *first, *done, *opening(), *again).message
    assert rules(*first, *opening(), *prompt(5, session="a-b")) == ["lifecycle.unknown-session"]


def test_a_load_interrupted_by_a_new_connection_opens_no_session() -> None:
    asked = call("session/load", {"sessionId": "a-b", "cwd": "/home/me", "mcpServers": []}, id=1)

    assert rules(*opening(), asked, *opening(), *new(session="a-b")) == ["lifecycle.unanswered"]


@pytest.mark.requirement("X14")
def test_a_login_that_is_for_a_terminal_is_an_error() -> None:
    opened = opening(client={"auth": {"terminal": True}}, methods=[TERMINAL_LOGIN])
    found = check(*opened, *asked("authenticate", methodId="t"))
    assert [(each.rule, where(each)) for each in found] == [("capability.login", "3 params.methodId")]
