"""Permission requests and forms: functions, policies, and what a cancellation does to them."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import decode, v1
from acp_bindings.client import Allow, PermissionPolicy, PermissionQuestion, Reject
from tests.acp_bindings.client.support import Agent, Turn, connected, hello

anyio_tests = [pytest.mark.anyio, pytest.mark.parametrize("version", [1, 2])]
OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "Y", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]


def asking(
    raw: Agent, outcomes: list[Any], *, beside: Any = None, **call: Any
) -> Callable[[Turn], Coroutine[Any, Any, str]]:
    """Return a prompt that asks for permission."""

    async def ask(turn: Turn) -> str:
        tool_call = {"toolCallId": "c1", "title": "Write notes.txt", "kind": "edit", **call}
        if raw.version == 1:
            said: dict[str, Any] = {"toolCall": tool_call}
        else:
            said = {"title": "Write notes.txt?", "subject": {"type": "tool_call", "toolCall": tool_call}}
        request = decode(
            raw.wire.RequestPermissionRequest,
            {"sessionId": turn.session_id, "options": OPTIONS, **said, **(beside or {})},
        )
        outcome = (await turn.request(request)).outcome
        outcomes.append(getattr(outcome, "option_id", outcome.outcome))
        return "cancelled" if outcomes[-1] == "cancelled" else "end_turn"

    return ask


async def outcome_of(version: int, permission: Any, **call: Any) -> Any:
    """Return what an agent gets for an answer."""
    raw, outcomes = Agent(version), list[Any]()
    raw.prompt = asking(raw, outcomes, **call)
    async with connected(raw, permission=permission) as agent, agent.session(cwd="/project") as session:
        await session.prompt("Write")
    return outcomes[0]


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("answer", "outcome"), [(True, "y"), (False, "n"), ("Y", "Y"), (None, "cancelled"), ("option", "Y")]
)
async def test_the_return_value_of_the_function_selects_an_option(version: int, answer: Any, outcome: str) -> None:
    questions: list[PermissionQuestion] = []

    async def permission(question: PermissionQuestion) -> Any:
        questions.append(question)
        return question.options[1] if answer == "option" else answer

    assert await outcome_of(version, permission, locations=[{"path": "/project/notes.txt"}]) == outcome
    (question,) = questions
    assert (question.session_id, question.kind, question.paths) == ("s1", "edit", ("/project/notes.txt",))
    assert question.title == ("Write notes.txt" if version == 1 else "Write notes.txt?")
    assert question.options == tuple(decode(v1.PermissionOption, each) for each in OPTIONS)
    assert question.tool_call is not None
    assert question.tool_call.title == "Write notes.txt"


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_an_unknown_field_with_the_name_of_an_attribute_is_not_an_error(version: int) -> None:
    questions: list[PermissionQuestion] = []
    await outcome_of(version, questions.append, raw_input=1, rawInput={"command": "ls"})
    assert [each.command for each in questions] == ["ls"]


@pytest.mark.anyio
async def test_fields_that_v1_does_not_have_are_not_taken_from_a_request_of_v1() -> None:
    questions: list[PermissionQuestion] = []
    raw, outcomes = Agent(1), list[Any]()
    raw.prompt = asking(raw, outcomes, beside={"title": 1, "subject": {"command": "ls"}, "description": []})
    async with connected(raw, permission=questions.append) as agent, agent.session(cwd="/project") as session:
        await session.prompt("Write")
    (question,) = questions
    assert (question.title, question.command, question.description) == ("Write notes.txt", None, None)


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_everything_is_rejected_without_a_function(version: int, caplog: pytest.LogCaptureFixture) -> None:
    assert await outcome_of(version, None) == "n"
    assert "to answer such questions, pass permission= to Client(…)" in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_an_option_that_was_not_offered_is_an_error(version: int, caplog: pytest.LogCaptureFixture) -> None:
    raw, outcomes = Agent(version), list[Any]()
    raw.prompt = asking(raw, outcomes)
    if version == 2:
        ask = raw.prompt

        async def caught(turn: Turn) -> str:
            from acp_bindings.connection import RequestFailed

            with pytest.raises(RequestFailed):
                await ask(turn)
            return "refusal"

        raw.prompt = caught

    def other(_: PermissionQuestion) -> str:
        return "other"

    async with connected(raw, permission=other) as agent, agent.session(cwd="/project") as session:
        from acp_bindings.setup import RequestError

        if version == 1:
            with pytest.raises(RequestError):
                await session.prompt("Write")
        else:
            assert await session.prompt("Write") == "refusal"
    assert 'the agent did not offer the option "other"' in caplog.text
    assert not outcomes


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_cancel_closes_open_permission_requests(version: int) -> None:
    raw, outcomes = Agent(version), list[Any]()
    raw.prompt = asking(raw, outcomes)
    hesitates = anyio.Event()

    async def permission(_: PermissionQuestion) -> bool:
        hesitates.set()
        await anyio.sleep_forever()
        return True

    async with (
        connected(raw, permission=permission) as agent,
        agent.session(cwd="/project") as session,
        session.prompt("Write") as turn,
    ):
        await hesitates.wait()
        await session.cancel()
        assert await turn == "cancelled"
    assert outcomes == ["cancelled"]


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_a_permission_request_after_the_cancellation_is_cancelled(version: int) -> None:
    raw, outcomes, asked = Agent(version), list[Any](), list[Any]()
    ask = asking(raw, outcomes)

    async def late(turn: Turn) -> str:
        await turn.say("begun")
        await turn.cancelled.wait()
        return await ask(turn)

    raw.prompt = late
    async with connected(raw, permission=asked.append) as agent, agent.session(cwd="/project") as session:
        async for _ in session.prompt("Write"):
            await session.cancel()
    assert (outcomes, asked) == (["cancelled"], [])


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_closing_a_session_ends_questions_that_were_asked_between_turns(version: int) -> None:
    hesitates, asked, outcomes = anyio.Event(), list[PermissionQuestion](), list[Any]()

    async def permission(question: PermissionQuestion) -> bool:
        asked.append(question)
        hesitates.set()
        await anyio.sleep_forever()
        return True

    async def close(params: Any, _: object) -> None:
        await ask(Turn(raw, params.session_id, ""))

    raw = Agent(version, hello, handlers={"session/close": close})
    ask = asking(raw, outcomes)
    async with connected(raw, permission=permission) as agent:
        session = await agent.session(cwd="/project")
        await session.prompt("Hi")
        raw.tasks.start_soon(ask, Turn(raw, session.id, ""))
        await hesitates.wait()
        await session.close()
    assert (outcomes, len(asked)) == (["cancelled", "cancelled"], 1)


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_forms_are_answered_and_other_modes_are_declined(version: int) -> None:
    raw, actions = Agent(version), list[Any]()

    async def elicit(turn: Turn) -> str:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        for mode, more in (("form", {"requestedSchema": schema}), ("_new", {})):
            said = {"sessionId": turn.session_id, "mode": mode, "message": turn.text, **more}
            answer = await turn.request(decode(raw.wire.CreateElicitationRequest, said), method="elicitation/create")
            actions.append((answer.action, getattr(answer, "content", None)))
        return "end_turn"

    def form(request: v1.CreateElicitationRequest) -> dict[str, Any] | None:
        return {"name": "Ada", "left_empty": None} if request.message == "Who?" else None

    raw.prompt = elicit
    async with connected(raw, elicitation=form) as agent, agent.session(cwd="/project") as session:
        await session.prompt("Who?")
        await session.prompt("What?")
    assert actions == [("accept", {"name": "Ada"}), ("decline", None), ("decline", None), ("decline", None)]


# Policies


def question(**fields: Any) -> PermissionQuestion:
    call = v1.ToolCall(
        tool_call_id="c1",
        title=fields.get("title", "Work"),
        name=fields.get("name"),
        kind=fields.get("kind", "edit"),
        locations=[v1.ToolCallLocation(path=each) for each in fields.get("paths", ())],
    )
    options = fields.get("options", OPTIONS)
    return PermissionQuestion(
        "s1",
        str(fields.get("directory", "/project")),
        call.title,
        tuple(decode(v1.PermissionOption, each) for each in options),
        tool_call=call,
        command=fields.get("command"),
    )


def test_a_policy_without_rules_rejects_everything() -> None:
    decision = PermissionPolicy().decide(question())
    assert (decision.allowed, decision.rule) == (False, None)
    assert decision.option is not None
    assert decision.option.option_id == "n"
    assert str(decision) == 'rejected edit "Work": no rule allows it'


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        (Allow(), True),
        (Allow(kind="edit"), True),
        (Allow(kind={"read", "search"}), False),
        (Allow(tool="mcp__files__*"), True),
        (Allow(tool="Work"), False),  # the name counts, not the title
        (Allow(kind="edit", tool="mcp__git__*"), False),
        (Allow(command="git status*"), False),
    ],
)
def test_all_conditions_of_a_rule_must_hold(rule: Allow, allowed: bool) -> None:
    assert PermissionPolicy(rule).decide(question(name="mcp__files__write")).allowed is allowed


def test_the_first_matching_rule_decides() -> None:
    policy = PermissionPolicy(Reject(tool="rm"), Allow(kind="edit"))
    assert not policy.decide(question(name="rm")).allowed
    assert policy.decide(question(name="cp")).allowed


def test_a_path_allows_only_if_every_path_is_inside(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "escape").symlink_to(tmp_path)
    policy = PermissionPolicy(Reject(path="*/.env"), Allow(path=project))

    def allows(*paths: str) -> bool:
        return policy.decide(question(directory=project, paths=paths)).allowed

    assert allows(str(project / "a.txt"))
    assert allows("a.txt")  # a relative path begins at the directory of the session
    assert not allows()
    assert not allows(str(project / "a.txt"), "/etc/passwd")
    assert not allows("../other")
    assert not allows(str(project / "escape" / "x"))
    assert not allows("a.txt", "sub/.env")
    (project / ".env").symlink_to(project / "settings")
    (project / "link").symlink_to(project / "sub" / ".env")
    assert not allows(".env")
    assert not allows("link")
    assert allows("settings")
    (project / "private").mkdir()
    (project / "private" / "key").symlink_to(project / "settings")
    policy = PermissionPolicy(Reject(path=project / "private"), Allow(path=project))
    assert not allows("private/key")


@pytest.mark.parametrize("rule", ["", "/*"])
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("src/$id.tsx", True),
        ("a~", True),
        ("{project}/$HOME/a", True),
        ("~/a", False),
        ("~root/a", False),
        ("$HOME/a", False),
        ("${HOME}/a", False),
        ("file:///etc/hosts", False),
        ("file:{project}/a", False),
        ("a\0b", False),
        ("a\ud83d", False),
        ("", False),
        pytest.param("C:\\a", False, marks=pytest.mark.skipif(os.name == "nt", reason="an absolute path there")),
    ],
    ids=ascii,
)
def test_a_path_that_an_agent_may_read_differently_is_not_allowed(
    tmp_path: Path, rule: str, path: str, allowed: bool
) -> None:
    project = str(tmp_path.resolve())
    policy = PermissionPolicy(Allow(path=project + rule))
    asked = question(directory=project, paths=["a", path.replace("{project}", project)])
    assert policy.decide(asked).allowed is allowed


@pytest.mark.parametrize("rule", ["", "/*"])
@pytest.mark.parametrize(
    "path",
    [
        "~/key",
        "$KEYS/key",
        "${KEYS}/key",
        "file:{keys}/key",
        "file://{keys}/../%6Beys/key",
        "File://localhost{keys}/key",
        "file:/../keys/key",
        "{keys}/key\0",
        "{keys}/key\ud83d",
        "~/key\0",
        "file://{keys}/key%00",
    ],
    ids=ascii,
)
def test_a_path_is_rejected_as_an_agent_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, path: str
) -> None:
    keys = tmp_path.resolve() / "keys"
    for name in ("HOME", "USERPROFILE", "KEYS"):
        monkeypatch.setenv(name, str(keys))
    policy = PermissionPolicy(Reject(path=str(keys) + rule), Allow())
    asked = question(directory=tmp_path, paths=["a", path.replace("{keys}", keys.as_posix())])
    assert isinstance(policy.decide(asked).rule, Reject)
    assert policy.decide(question(directory=tmp_path, paths=["a", "a~", "$NONE/a", "b\0", "b\ud83d"])).allowed


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_paths_are_found_in_diffs_and_input(form: Callable[[dict[str, str]], Any]) -> None:
    call = v1.ToolCall(
        tool_call_id="c1",
        title="Edit",
        content=[v1.Diff(path="/project/a", new_text="")],
        raw_input=form({"file_path": "/etc/passwd", "filepath": "/etc/hosts"}),
    )
    asked = PermissionQuestion("s1", "/project", "Edit", (), tool_call=call)
    assert asked.paths == ("/project/a", "/etc/passwd", "/etc/hosts")
    assert not PermissionPolicy(Allow(path="/project")).decide(asked).allowed


@pytest.mark.anyio
async def test_paths_are_found_in_the_diffs_of_v2(tmp_path: Path) -> None:
    inside, outside = str(tmp_path / "a"), "/etc/passwd"
    move = {"operation": "move", "oldPath": outside, "path": inside}
    policy = PermissionPolicy(Allow(path=tmp_path))
    diff = {"type": "diff", "changes": [move], "patch": {"format": "git_patch", "text": "…"}}
    assert await outcome_of(2, policy, locations=[{"path": inside}], content=[diff]) == "n"
    assert policy.decisions[0].question.paths == (inside, outside)
    move["oldPath"] = str(tmp_path / "b")
    assert await outcome_of(2, policy, locations=[{"path": inside}], content=[diff]) == "y"


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("raw_input", "command"),
    [
        ({"command": "rm -rf 'my build'"}, "rm -rf 'my build'"),
        ({"command": ["rm", "-rf", "my build"]}, "rm -rf 'my build'"),
        ({"command": "rm", "args": ["-rf", "my build"]}, "rm -rf 'my build'"),
        ({"command": ["/bin/bash", "-lc", "rm -rf 'my build'"]}, "rm -rf 'my build'"),
        ({"command": ["python", "-c", "rm -rf"]}, "python -c 'rm -rf'"),
        ('{"command": "rm", "args": ["-rf", "my build"]}', "rm -rf 'my build'"),
        ('{"command": "rm -rf \\ud83d"}', "rm -rf \ud83d"),
        ({"command": {"rm": 1}}, None),
        ("rm -rf", None),
        ('{"command": "rm -rf', None),
    ],
)
async def test_a_command_is_found_in_the_input(version: int, raw_input: Any, command: str | None) -> None:
    policy = PermissionPolicy(Reject(command="*rm -rf*"), Allow(kind="execute"))
    assert await outcome_of(version, policy, kind="execute", rawInput=raw_input) == ("n" if command else "y")
    assert policy.decisions[0].question.command == command


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("command", ["find . -delete", ["find", ".", "-delete"], ["bash", "-lc", "./clean"]])
@pytest.mark.parametrize("form", [dict, json.dumps])
async def test_a_command_line_is_allowed_only_as_execute(
    version: int, command: Any, form: Callable[[dict[str, Any]], Any]
) -> None:
    for rules, outcome in [
        ([Allow(kind={"read", "search"})], "n"),
        ([Allow(kind="execute")], "y"),
        ([Reject(kind="search"), Allow()], "n"),
        ([Reject(kind="execute"), Allow()], "n"),
    ]:
        policy = PermissionPolicy(*rules)
        assert await outcome_of(version, policy, kind="search", rawInput=form({"command": command})) == outcome
    assert (
        await outcome_of(version, PermissionPolicy(Allow(kind="read")), kind="read", rawInput={"command": "view"})
        == "y"
    )


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("rule", "outcome"), [(Reject(command="rm *"), "n"), (Reject(command="ls *"), "y"), (Allow(command="*"), "n")]
)
async def test_a_title_is_taken_as_the_command_only_to_reject(version: int, rule: Allow | Reject, outcome: str) -> None:
    rules = [rule, Allow(kind="execute")] if isinstance(rule, Reject) else [rule]
    assert await outcome_of(version, PermissionPolicy(*rules), kind="execute", title="rm -rf build") == outcome
    assert await outcome_of(version, PermissionPolicy(Reject(command="*"), Allow()), kind="read", title="rm") == "y"


def test_the_title_of_the_question_may_be_the_command_of_a_call_with_another_title() -> None:
    call = v1.ToolCall(tool_call_id="c1", title="bash", kind="execute")
    asked = PermissionQuestion("s1", "/project", "rm -rf build", (), tool_call=call)
    assert isinstance(PermissionPolicy(Reject(command="rm *")).decide(asked).rule, Reject)


def test_a_decision_is_logged_recorded_and_passed_to_on_decision(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []
    policy = PermissionPolicy(Allow(kind="edit"), on_decision=told.append)
    with caplog.at_level(logging.INFO, "acp_bindings.client"):
        option = policy(question())
    assert option is not None
    assert option.option_id == "y"
    assert list(policy.decisions) == told
    assert caplog.messages == ["allowed edit \"Work\": by Allow(kind='edit', tool=None, command=None, path=None)"]


def test_a_policy_cancels_a_request_without_a_suitable_option() -> None:
    assert PermissionPolicy()(question(options=OPTIONS[:1])) is None
    decision = PermissionPolicy(Allow()).decide(question(options=OPTIONS[2:]))
    assert (decision.allowed, decision.rule) == (False, None)


def test_a_policy_refuses_rules_that_never_match() -> None:
    with pytest.raises(ValueError, match="never matches"):
        PermissionPolicy(Allow(path="project"))
    wrong: Any = "edit"
    with pytest.raises(TypeError, match="not str"):
        PermissionPolicy(wrong)
