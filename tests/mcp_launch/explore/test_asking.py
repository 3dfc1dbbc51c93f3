"""What servers ask during a call is answered at the terminal, from a file, or refused."""

from __future__ import annotations

import json
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import URL_ELICITATION_REQUIRED, ElicitRequestFormParams, ElicitResult

from mcp_launch._command.explore import asking
from tests.mcp_launch.explore.here import PLAIN, Command
from tests.mcp_launch.servers.asks import asking_server

FORM = {"name": "Ada", "ink": "red", "sure": True}
FILLED = '{"name":"Ada","size":3,"ink":"red","sure":true,"note":null}\n'


@pytest.mark.parametrize(
    ("tool", "era", "answers", "says"),
    [
        ("choose", "legacy", {"elicitation": {"name": "blue"}}, "the user wants blue\n"),
        ("choose", "modern", {"elicitation": [{"name": "blue"}]}, "the user wants blue\n"),
        ("complete", "legacy", {"sampling": "four"}, "user says four\n"),
        ("complete", "modern", {"sampling": ["four"]}, "user says four\n"),
        ("fill", "legacy", {"elicitation": FORM}, FILLED),
        ("fill", "legacy", {"elicitation": "decline"}, "decline\n"),
        ("fill", "legacy", {"elicitation": {**FORM, "size": 10}}, "cancel\n"),
        ("fill", "legacy", {"elicitation": "accept"}, "cancel\n"),
        ("fill", "legacy", {"elicitation": []}, "cancel\n"),
        ("visit", "legacy", {"elicitation": "accept"}, "accept\n"),
        ("visit", "legacy", {"elicitation": FORM}, "cancel\n"),
        ("locked", "legacy", {"elicitation": "accept"}, "call 2\n"),
    ],
)
def test_answers_in_a_file_are_sent(
    tool: str, era: str, answers: Any, says: str, *, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(answers))

    with asking_server(era) as url:
        done = command("call", url, tool, "--answer", str(file))

    assert (done.status, done.out) == (0, says), done.err


def test_a_server_of_both_eras_can_ask_with_legacy(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"elicitation": FORM}))

    with asking_server("modern") as url:
        refused, done = (command("call", url, "fill", "--answer", str(file), *more) for more in ((), ("--legacy",)))

    assert (refused.status, done.status, done.out) == (1, 0, FILLED)


@pytest.mark.parametrize(
    ("tool", "status", "said"),
    [("fill", 0, "Please fill this in"), ("visit", 0, "Please log in"), ("complete", 1, "user: 2 + 2?")],
)
def test_without_a_terminal_and_a_file_all_is_refused(tool: str, status: int, said: str, command: Command) -> None:
    with asking_server("legacy") as url:
        done = command("call", url, tool)

    assert (done.status, done.out) == (status, "" if status else "cancel\n")
    assert said in done.err
    assert "refused, because standard input is not a terminal; use --answer FILE" in done.err
    assert "\ndeclined\n" not in done.err


@pytest.mark.parametrize("text", ["[]", "{", '{"other": 1}', None])
def test_a_file_that_has_no_answers_is_refused(text: str | None, command: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    if text is not None:
        file.write_text(text)

    done = command("call", "environment", "--answer", str(file), "--", PLAIN["command"], *PLAIN["args"])

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("mcp-launch: ")


def test_the_shell_takes_the_answers_in_order(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"elicitation": [FORM, "decline"]}))

    with asking_server("legacy") as url:
        done = command("shell", url, "--answer", str(file), stdin="call fill\ncall fill\n")

    assert (done.status, done.out) == (0, f"{FILLED}decline\n")


class Person(asking.Asker):
    """An asker at whose terminal these lines are typed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: bytes) -> None:
        self.said: list[str] = []
        super().__init__("s", self.said.append, {})
        left = iter(lines)

        async def read() -> bytes:
            assert self.is_asking
            return next(left)

        monkeypatch.setattr(asking, "has_terminal", lambda: True)
        monkeypatch.setattr(asking, "read_chunk", read)

    async def fill(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        async with self.answering():
            answer = await self.elicit(None, ElicitRequestFormParams(message="Please", requested_schema=schema))
        assert not self.is_asking
        return answer.content


@pytest.mark.anyio
async def test_items_of_an_array_are_separated_by_commas_and_may_be_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    inks = {"type": "array", "items": {"anyOf": [{"const": "a", "title": "Alpha"}, {"const": "b"}]}}
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    schema = {"type": "object", "properties": {"inks": inks, "names": names}, "required": ["inks", "names"]}
    person = Person(monkeypatch, b"Alpha, b,\n", b"\n", b'["x, y"]\n', b"\n")

    assert await person.fill(schema) == {"inks": ["a", "b"], "names": ["x, y"]}
    assert person.said[-1] == "  names: [] should be non-empty"


@pytest.mark.anyio
@pytest.mark.parametrize("data", [None, "quota", {"elicitations": 5}, {"elicitations": [5]}, {"elicitations": []}])
async def test_an_error_with_the_code_of_urls_but_without_one_is_an_error(
    data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(monkeypatch)

    assert not await person.opens(MCPError(URL_ELICITATION_REQUIRED, "quota exceeded", data))
    assert person.said == []


@pytest.mark.anyio
async def test_an_empty_line_sends_the_whole_default(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string", "default": "long " * 20}}}

    assert await Person(monkeypatch, b"\n", b"\n").fill(schema) == {"note": "long " * 20}


@pytest.mark.anyio
async def test_an_answer_in_a_file_gets_the_default_of_a_required_member() -> None:
    asker = asking.Asker("s", list[str]().append, {"elicitation": repeat({"a": 1}), "sampling": repeat(None)})
    forms = [{"type": "object", "properties": {name: {"default": 2}}, "required": [name]} for name in ("b", "c")]
    asked = [ElicitRequestFormParams(message="Please", requested_schema=each) for each in forms]

    async with asker.answering():
        answers = [await asker.elicit(None, each) for each in asked]

    assert [each.content for each in answers] == [{"a": 1, "b": 2}, {"a": 1, "c": 2}]


@pytest.mark.anyio
async def test_an_empty_line_leaves_out_a_field_whose_default_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string", "default": None}}}

    assert await Person(monkeypatch, b"\n", b"\n").fill(schema) == {}


@pytest.mark.anyio
@pytest.mark.parametrize(("line", "content"), [(b"\n", None), (b"y\n", {})])
async def test_a_form_without_fields_is_a_question(
    line: bytes, content: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(monkeypatch, line)

    assert await person.fill({"type": "object", "properties": {}}) == content
    assert person.said == ["s asks: Please"]


MEMBERS = ("building", "street", "town", "region", "country")
HOME = {"type": "object", "properties": {name: {"type": "string"} for name in MEMBERS}, "required": ["town"]}
"""It has more members than a line has space for."""


@pytest.mark.anyio
async def test_a_field_that_is_an_object_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {"home": HOME, "name": {"type": "string"}}}
    person = Person(monkeypatch, b"\n", b"Ada\n", b"\n")

    assert await person.fill(schema) == {"name": "Ada"}
    assert [line for line in person.said if line.startswith("  ")] == ["  home?: object", "  name?: string"]


@pytest.mark.anyio
async def test_an_object_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person(monkeypatch, b'{"town": "Bath"}\n', b"\n")

    async with person.answering():
        schema = {"type": "object", "properties": {"home": HOME}}
        answer = await person.elicit(None, ElicitRequestFormParams(message="Please", requested_schema=schema))

    assert answer == ElicitResult(action="cancel")
    assert person.said[-1] == "MCP only allows strings, numbers, booleans and lists of strings in a form; cancelled"


@pytest.mark.anyio
async def test_a_form_that_is_too_large_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {f"field_{number}": {"type": "string"} for number in range(5000)}}
    person = Person(monkeypatch)

    assert await person.fill(schema) is None
    assert person.said[-1] == "the form is too large; cancelled"
