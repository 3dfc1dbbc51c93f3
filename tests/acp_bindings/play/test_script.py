"""Scripts: what they say, what they expect of the client, and which errors are found before the agent starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.client import Client
from acp_bindings.play import Play, Script, ScriptError
from tests.acp_bindings.play.raw import Raw, raw_client

pytestmark = pytest.mark.anyio

PERMISSION = {
    "method": "session/request_permission",
    "params": {
        "toolCall": {"toolCallId": "1"},
        "options": [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ],
    },
}


def script(*steps: Any) -> Script:
    return Script.parse("\n".join(json.dumps(each) for each in steps))


async def conversation(agent: Play, *prompts: str, silent: str = "") -> tuple[Raw, list[Any]]:
    """Send prompts, and return the client and the ends of the turns."""
    with anyio.fail_after(30):
        async with raw_client(agent, 1) as client:
            client.silent.add(silent)
            await client.initialize()
            session = await client.new_session("/project")
            ends = [await client.turn(session, each) for each in prompts]
            await client.hear_all()
    return client, ends


def texts(client: Raw) -> list[str]:
    """Return the texts of the agent."""
    updates = [json.loads(each).get("params", {}).get("update", {}) for each in client.said]
    return [each["content"]["text"] for each in updates if each.get("sessionUpdate") == "agent_message_chunk"]


async def test_turns_follow_one_after_the_other_and_begin_again() -> None:
    play = Play(script({"prompt": None}, {"say": "One"}, {"prompt": None}, {"say": "Two"}, {"stop": "refusal"}))
    client, ends = await conversation(play, "a", "b", "c")
    assert texts(client) == ["One", "Two", "One"]
    assert [each["result"]["stopReason"] for each in ends] == ["end_turn", "refusal", "end_turn"]


async def test_a_turn_with_a_text_is_for_that_prompt() -> None:
    play = Play(script({"prompt": "Hello"}, {"say": "Hi"}, {"prompt": None}, {"say": "What?"}))
    client, _ = await conversation(play, "Bye", "Hello", "Hello")
    assert texts(client) == ["What?", "Hi", "Hi"]


async def test_a_prompt_without_a_turn_is_reported() -> None:
    client, _ = await conversation(Play(script({"prompt": "Hello"}, {"say": "Hi"})), "Bye")
    assert texts(client) == ["The script has no turn for this prompt.\n"]


async def test_values_are_filled_in() -> None:
    play = Play(
        script(
            {"prompt": None},
            {"request": PERMISSION, "as": "answer"},
            {"say": "${cwd} ${prompt} ${session} ${turn} ${answer.outcome.optionId}"},
            {"say": "allowed", "if": {"answer.outcome.optionId": ["yes", "always"]}},
            {"say": "refused", "if": {"answer.outcome.optionId": "no"}},
            {"say": "x", "times": 3},
        )
    )
    client, _ = await conversation(play, "Hello")
    assert texts(client) == ["/project Hello session-1 1 yes", "allowed", "x", "x", "x"]


async def test_an_expectation_that_is_not_met_ends_the_turn(capsys: pytest.CaptureFixture[str]) -> None:
    expected = {"outcome": {"optionId": "no"}}
    play = Play(script({"prompt": None}, {"request": PERMISSION, "expect": expected}, {"say": "Not reached"}))
    client, ends = await conversation(play, "Hello")
    problem = (
        'session/request_permission: expected {"outcome":{"optionId":"no"}}, '
        'got {"outcome":{"optionId":"yes","outcome":"selected"}}'
    )
    assert texts(client) == []
    assert ends[0]["error"]["message"].startswith("line 2: session/request_permission: expected")
    assert sorted(play.failures[0]) == sorted(f"script:2: {problem}")
    assert capsys.readouterr().err.startswith("script:2: session/request_permission: expected")


async def test_an_expectation_that_is_met_has_no_effect() -> None:
    expected = {"outcome": {"optionId": "yes"}}
    play = Play(script({"prompt": None}, {"request": PERMISSION, "expect": expected}, {"say": "Reached"}))
    client, _ = await conversation(play, "Hello")
    assert (texts(client), play.failures) == (["Reached"], [])


async def test_errors_of_the_client_can_be_expected() -> None:
    request = {"method": "_acme/unknown"}
    play = Play(script({"prompt": None}, {"request": request, "expect": {"error": {"code": -32601}}}))
    await conversation(play, "Hello")
    assert play.failures == []


async def test_a_request_with_a_timeout_is_cancelled() -> None:
    play = Play(
        script({"prompt": None}, {"request": PERMISSION, "timeout": 0.05, "as": "answer"}, {"say": "${answer}"})
    )
    client, _ = await conversation(play, "Hello", silent="session/request_permission")
    assert texts(client) == ['{"timeout":0.05}']
    assert any(b"$/cancel_request" in each for each in client.said)


async def test_raw_lines_are_sent_as_they_are() -> None:
    client, _ = await conversation(Play(script({"prompt": None}, {"raw": "{not json"}, {"say": "x"})), "Hello")
    at = client.said.index(b"{not json")
    assert b'"text":"x"' in client.said[at + 1]


async def test_steps_before_the_first_prompt_are_performed_when_a_session_opens() -> None:
    update = {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": "b"}]}
    play = Play(script({"update": update}, {"raw": "first"}, {"prompt": None}, {"say": "x"}))
    client, _ = await conversation(play, "Hello")
    response = next(index for index, each in enumerate(client.said) if b'"sessionId":"session-1","modes"' in each)
    assert client.said.index(b"first") < response
    assert json.loads(client.said[response + 1])["params"]["update"] == update


async def test_an_error_ends_a_turn() -> None:
    _, ends = await conversation(
        Play(script({"prompt": None}, {"error": {"code": -1, "message": "No", "data": 3}})), "a"
    )
    assert ends[0]["error"] == {"code": -1, "message": "No", "data": 3}


async def test_a_crash_closes_the_connection() -> None:
    play = Play(script({"prompt": None}, {"say": "Bye"}, {"exit": 3}, {"say": "Not reached"}))
    with anyio.fail_after(30):
        async with raw_client(play, 1) as client:
            await client.initialize()
            session = await client.new_session()
            with pytest.raises(anyio.EndOfStream):
                await client.turn(session, "Hello")
    assert texts(client) == ["Bye"]


async def test_a_script_of_v2_is_only_for_v2() -> None:
    play = Play(
        script({"version": 2}, {"prompt": None}, {"update": {"sessionUpdate": "state_update", "state": "running"}})
    )
    async with raw_client(play, 2) as client:
        await client.initialize()
        await client.turn(await client.new_session(), "Hello")
        await client.hear_all()
    assert sum(b'"state":"running"' in each for each in client.said) == 2
    async with raw_client(play, 1) as client:
        assert "error" in await client.initialize()
        await client.hear_all()


async def test_a_client_gets_the_script_in_the_same_process(tmp_path: Path) -> None:
    play = Play(script({"prompt": None}, {"say": "Hi"}))
    async with Client("test", version="1").connect(play.connected()) as agent, agent.session(cwd=tmp_path) as session:
        found = [each async for each in session.prompt("Hello")]
    assert [each.content for each in found if isinstance(each, v1.AgentMessageChunk)] == [v1.TextContent(text="Hi")]


async def test_a_value_that_is_filled_in_and_does_not_fit_ends_the_turn() -> None:
    play = Play(script({"prompt": None}, {"say": "x"}, {"wait": "${prompt}"}))
    _, ends = await conversation(play, "soon", "${turn}", "0")
    problem = "line 3: wait: Input should be a valid number, unable to parse string as a number"
    assert [each["error"]["message"] for each in ends[:2]] == [problem, problem]
    assert ends[2]["result"]["stopReason"] == "end_turn"


async def test_a_needed_capability_can_be_filled_in() -> None:
    play = Play(script({"prompt": None}, {"needs": "${prompt}"}, {"say": "It is there"}))
    client, _ = await conversation(play, "fs.read_text_file", "auth.terminal")
    assert texts(client) == ["It is there", "Left out, because the client has not advertised auth.terminal.\n"]


def test_separators_in_a_string_do_not_end_the_line() -> None:
    text = "one\u2028two\u0085three"
    found = Script.parse(f'{{"prompt": null}}\r\n{{"say": "{text}"}}\r\n')
    assert found.turns[0].steps[0].value == text


def test_a_script_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "talk.ndjson"
    path.write_text('{"prompt": null}', encoding="utf-8-sig")
    assert len(Script.read(str(path)).turns) == 1


BROKEN: list[tuple[list[Any], str]] = [
    ([{"version": 3}], "1: version: must be one of 1, 2"),
    ([{"prompt": None}, {"version": 1}], "2: version: must be the first step"),
    ([{"say": "x"}], '1: say: only possible in a turn; begin one with {"prompt": null}'),
    ([{"version": 1}], '1: the script has no turn; begin one with {"prompt": null}'),
    ([{"prompt": None}, {"say": 3}], "2: say: Input should be a valid string"),
    ([{"prompt": None}, {"say": "x", "as": "y"}], "2: as: a step of the kind say does not have this field"),
    ([{"prompt": None}, {"stop": "done"}], "2: stop: must be one of end_turn, "),
    ([{"prompt": None}, {"say": "${foo.bar}"}], "2: ${foo} does not exist here; there are args, "),
    ([{"prompt": None}, {"say": "x", "if": {"foo": 1}}], "2: ${foo} does not exist here; "),
    ([{"prompt": None}, {"needs": "tty"}], "2: needs: must be one of auth.terminal, "),
    ([{"prompt": None}, {"until": "tty"}], "2: until: must be one of terminal/cancel, "),
    ([{"prompt": None}, {"error": {}}], "2: error.code: Field required"),
    ([{"prompt": None}, {"error": {"code": "x", "message": "No"}}], "2: error.code: Input should be a valid integer"),
    ([{"prompt": None}, {"error": {"code": 1, "message": 2}}], "2: error.message: Input should be a valid string"),
    ([{"prompt": None}, {"wait": "x"}], "2: wait: Input should be a valid number"),
    ([{"prompt": None}, {"wait": -1}], "2: wait: Input should be greater than or equal to 0"),
    ([{"prompt": None}, {"exit": "a"}], "2: exit: Input should be a valid integer"),
    ([{"prompt": None}, {"exit": 300}], "2: exit: Input should be less than or equal to 255"),
    ([{"prompt": None}, {"say": "x", "times": "3"}], "2: times: Input should be a valid integer"),
    ([{"prompt": None}, {"say": "x", "times": 0}], "2: times: Input should be greater than or equal to 1"),
    ([{"prompt": None}, {"mode": "x"}], "2: mode: must be one of ask, code"),
    ([{"prompt": None}, {"option": {"nosuch": "x"}}], "2: option: 'nosuch' does not exist; there are effort, "),
    ([{"prompt": None}, {"option": {"model": "x"}}], "2: option: model must be one of small, large, huge"),
    ([{"prompt": None}, {"option": {"web": 1}}], "2: option: web must be one of false, true"),
    (
        [{"prompt": None}, {"request": {"method": "elicitation/create", "params": [1]}}],
        "2: request.params: must be an object",
    ),
    ([{"prompt": None}, {"update": "x"}], "2: update: Input should be an object"),
    ([{"prompt": None}, {"foo": 1}], "2: a step has exactly one of error, "),
    ([{"prompt": None}, {"say": "x", "think": "y"}], "2: a step has exactly one of error, "),
    ([{"prompt": None}, [1]], "2: a step must be an object"),
    (
        [{"prompt": None}, {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}}],
        "2: update.content.text: Field required",
    ),
    (
        [
            {"prompt": None},
            {"update": {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "x", "status": "?"}},
        ],
        "2: update.status: read as the default, ",
    ),
    (
        [{"prompt": None}, {"request": {"method": "session/request_permission", "params": {"options": []}}}],
        "2: request.params.toolCall: Field required",
    ),
    ([{"prompt": None}, {"request": {}}], "2: request.method: Field required"),
    ([{"prompt": None}, {"request": {"method": "session/prompt"}}], "2: request.method: agents of v1 do not send "),
    (
        [{"prompt": None}, {"notify": {"method": "fs/read_text_file"}}],
        "2: notify.method: agents of v1 do not send ",
    ),
]


@pytest.mark.parametrize(("steps", "problem"), BROKEN)
def test_errors_of_scripts_have_the_line_and_the_field(steps: list[Any], problem: str) -> None:
    with pytest.raises(ScriptError) as caught:
        script(*steps)
    assert caught.value.problems[0].startswith(problem)


def test_all_errors_are_reported_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.ndjson"
    path.write_text('# a comment\n\n{"prompt": null}\n{\n{"stop": "x"}\n')
    with pytest.raises(ScriptError) as caught:
        Script.read(str(path))
    assert [each[:12] for each in str(caught.value).splitlines()] == [
        f"{path}:4: not JSON"[:12],
        f"{path}:5: stop"[:12],
    ]
    assert [each.split(":")[0] for each in caught.value.problems] == ["4", "5"]
    assert caught.value.problems[0].endswith(" at character 1")


async def test_the_script_on_the_page_is_performed() -> None:
    page = Path("docs/play.md").read_text(encoding="utf-8")
    text = page[page.index('{"prompt": null}') :].partition("```")[0]
    play = Play(Script.parse(text, name="docs/play.md"))
    _, ends = await conversation(play, "Hello")
    assert (ends[0]["result"]["stopReason"], play.failures) == ("end_turn", [])
