"""The commands handle expensive schemas, and stop on signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from mcp_types import Tool

from acp_bindings._redact import Redactor
from mcp_launch import Budgets
from mcp_launch._command.explore import arguments
from mcp_launch._command.explore import listing as offered
from mcp_launch._command.explore.listing import tool_lines
from mcp_launch._command.explore.schemas import (
    ARGUMENTS,
    DESCRIBING_STEPS,
    SIGNATURE,
    described_arguments,
    signature,
)
from mcp_launch._command.explore.terminal import candidates
from mcp_launch._servers.record import Offer
from mcp_launch._validation import TooManySteps, limited_steps, spend
from tests.mcp_launch.explore.here import Command
from tests.mcp_launch.servers.raw import raw_server, reply
from tests.mcp_launch.support import SECRET, Marked, scripted, validating, wait_until
from tests.mcp_launch.test_command import COMMAND, ENV
from tests.mcp_launch.test_validation import NUMBER, PATTERN, PATTERN_VALUE, fan, tool

Schema = dict[str, Any]
VALUE = PATTERN_VALUE["a"]
ANY: Schema = {"type": "object"}


def taking(input_schema: Any) -> dict[str, Any]:
    """Return the script of a server with one tool that has this input schema."""
    result = {"content": [{"type": "text", "text": "called"}]}
    return {"tools": [{"name": "tool", "inputSchema": input_schema}], "tool": {"result": result}}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time for a schema to half a second."""
    monkeypatch.setattr(arguments, "Budgets", lambda: Budgets(validate=0.5))


BUSY: list[tuple[Schema, str]] = [
    (PATTERN, f"a={VALUE}"),
    ({**ANY, "patternProperties": {"^(a+)+$": {}}}, f"{VALUE}=1"),
    ({**ANY, "additionalProperties": {"pattern": "^(a+)+$"}}, f"a={VALUE}"),
    (fan(), "a=1"),
]


@pytest.mark.parametrize(
    ("schema", "word"), BUSY, ids=["pattern", "patternProperties", "additionalProperties", "nested references"]
)
@pytest.mark.usefixtures("impatient")
def test_arguments_with_a_slow_schema_are_only_sent_unchecked(
    schema: Schema, word: str, tmp_path: Path, command: Command
) -> None:
    call = ("tool", word, "--", *scripted(tmp_path, **taking(schema)))

    done, unchecked = command("call", *call), command("call", "--unchecked", *call)

    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[0] == (
        "mcp-launch: tool: its inputSchema was rejected: reading the arguments took longer than 0.5 s; "
        "use mcp-launch call --unchecked to send them without validation"
    )
    assert (unchecked.status, unchecked.out, unchecked.err) == (0, "called\n", "")


def test_arguments_are_read_by_a_schema_with_patterns_too(tmp_path: Path, command: Command) -> None:
    schema = {
        **ANY,
        "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}, "n": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    }
    server = scripted(tmp_path, **taking(schema))

    assert command("call", "tool", "a=a", "x-1=5", "--", *server).status == 0
    wrong = command("call", "tool", "a=5", "x-1=five", "y=1", "--", *server)
    mismatch = command("call", "tool", "a=5", "--", *server)

    assert wrong.err.splitlines()[:2] == [
        'mcp-launch: tool: x-1: must be integer, not "five"',
        "mcp-launch: tool: y: unknown argument; choose from a, n",
    ]
    assert mismatch.err.splitlines()[0] == "mcp-launch: tool: a: '5' does not match '^[a-z]+$'"


def test_references_in_schemas_of_arguments_are_not_fetched(tmp_path: Path, command: Command) -> None:
    with raw_server(lambda _: [reply(200, b"{}")]) as raw:
        schema = {**ANY, "properties": {"a": {"$ref": f"{raw.origin}/schema.json"}}}
        done = command("call", "tool", "a=1", "--", *scripted(tmp_path, **taking(schema)))

    assert (done.status, raw.seen) == (0, [])


def test_a_result_that_violates_its_schema_is_printed_with_the_error(tmp_path: Path, command: Command) -> None:
    server = ["-e", f"SECRET={SECRET}", "--", *scripted(tmp_path, **tool(NUMBER, {"n": "$SECRET"}))]

    done = command("call", "tool", *server)
    document = json.loads(command("call", "tool", "--json", *server).out)

    assert (done.status, done.out) == (1, 'said\n{\n  "n": "[redacted]"\n}\n')
    assert done.err == (
        "mcp-launch: scripted: tool: the result does not match its outputSchema: structuredContent.n: "
        "'[redacted]' is not of type 'integer'\n"
    )
    assert (document["ok"], document["result"]["structuredContent"]) == (False, {"n": "[redacted]"})
    assert document["error"] == {"code": None, "message": done.err.removeprefix("mcp-launch: ").strip()}


def test_the_lines_after_a_rejected_schema_are_done(tmp_path: Path, command: Command) -> None:
    server = scripted(tmp_path, **tool({**ANY, "$ref": "#/nowhere"}, {}))

    done = command("shell", "--", *server, stdin="call tool\ntool tool\n")

    assert done.status == 1
    assert "its outputSchema was rejected: it refers to" in done.err
    assert done.out == "said\n{}\ntool() -> object\n"


def itself(count: int, *, length: int = 1) -> Schema:
    """Return a schema whose members all have the whole schema again."""
    return {**ANY, "properties": {f"p{n}" * length: {"$ref": "#"} for n in range(count)}}


ENDLESS: dict[str, Schema] = {
    "members that are the whole": itself(100),
    "long names": itself(100, length=20),
    "alternatives that multiply": {
        **ANY,
        "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(200)},
        "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}] * 10},
            "b": {"anyOf": [{"$ref": "#/$defs/c"}] * 10},
            "c": {"anyOf": [{"enum": ["x" * 50, n]} for n in range(10)]},
        },
    },
    "nested references": {**fan(width=3), "properties": {f"p{n}": {"$ref": "#/$defs/d0"} for n in range(100)}},
    "one long name": {**ANY, "properties": {"n" * 5000: {"description": "word " * 1000}, "b": {"description": "c"}}},
    "a long description for many": {
        **ANY,
        "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(150)},
        "$defs": {
            "a": {**ANY, "properties": {"x": {"$ref": "#/$defs/b"}, "y" * 70: {}}},
            "b": {"description": "w " * 2000},
        },
    },
    "long values": {
        **ANY,
        "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(100)},
        "$defs": {"a": {"enum": ["x" * 9000]}},
    },
}


@pytest.mark.parametrize("schema", ENDLESS.values(), ids=ENDLESS)
def test_the_output_about_a_tool_is_limited(schema: Schema) -> None:
    lines = [
        text
        for text, _ in tool_lines(
            Tool(name="t" * 5000, input_schema=schema, output_schema=schema), Redactor(), whole=True
        )
    ]

    assert len(json.dumps(schema)) < 13_000
    assert len(lines[0]) <= SIGNATURE + len("(...)")
    assert sum(map(len, lines)) < 120_000


def test_truncated_output_ends_with_a_note() -> None:
    lines = [text for text, _ in tool_lines(Tool(name="t", input_schema=itself(100)), Redactor())]

    assert lines[-1] == "      ... truncated; use mcp-launch tools --json for the whole schema"


@pytest.mark.parametrize("schema", ENDLESS.values(), ids=ENDLESS)
def test_describing_a_tool_is_limited_in_steps(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def count(count: int = 1) -> None:
        nonlocal steps
        steps += count
        spend(count)

    monkeypatch.setattr("mcp_launch._command.explore.schemas.spend", count)
    signature("t", schema)
    in_signature, steps = steps, 0
    described_arguments(schema)
    described, steps = steps, 0
    candidates("call t ", Offer(tools=[Tool(name="t", input_schema=schema)]), {})

    # The last of them may cost more than one.
    assert max(in_signature, described, steps) <= DESCRIBING_STEPS + 1000


def test_a_tool_with_hundreds_of_arguments_is_described_whole() -> None:
    pen = {**ANY, "properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(20)}}
    schema = {**ANY, "properties": {f"pen{n}": pen for n in range(20)}}

    found, are_all = described_arguments(schema)

    assert (len(found), are_all) == (420, True)
    assert signature("t", schema).startswith("t(pen0?: object, pen1?: object")


def test_the_arguments_that_are_described_are_limited_in_number() -> None:
    found, are_all = described_arguments({**ANY, "properties": {f"p{n}": {} for n in range(ARGUMENTS + 1)}})

    assert (len(found), are_all) == (ARGUMENTS, False)


def test_an_outer_limit_of_steps_stays_in_force() -> None:
    with pytest.raises(TooManySteps), limited_steps(5), limited_steps(1000):
        spend(6)


def test_a_long_description_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "CHARACTERS", 1000)

    lines = [text for text, _ in tool_lines(Tool(name="t", description="word " * 1000, input_schema=ANY), Redactor())]

    assert sum(map(len, lines)) < 1200


def test_deeply_nested_json_does_not_become_megabytes(tmp_path: Path, command: Command) -> None:
    deep: Any = [0] * 20_000
    for _ in range(180):
        deep = [deep]
    result: dict[str, Any] = {"content": [], "structuredContent": {"x": deep}}
    server = scripted(tmp_path, **taking({**ANY, "x": deep}) | {"tool": {"result": result}})

    texts = [command(*words, "--", *server).out for words in (("tools", "--json"), ("call", "tool"))]

    assert max(map(len, texts)) < 1_000_000
    assert json.loads(texts[0])["servers"][0]["tools"][0]["inputSchema"]["x"] == deep
    assert json.loads(texts[1]) == {"x": deep}


def test_a_secret_at_the_cut_of_a_description_is_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "CHARACTERS", 12)
    tool = Tool(name="t", description=f"the key {SECRET}", input_schema=ANY)

    assert [text for text, _ in tool_lines(tool, Redactor([SECRET]))] == ["t()", "    the key [red"]


def test_tools_with_endless_schemas_are_listed_quickly(tmp_path: Path, command: Command) -> None:
    tools = [{"name": name, "inputSchema": schema} for name, schema in ENDLESS.items()]

    done = command("tools", "--", *scripted(tmp_path, tools=tools))

    assert done.status == 0
    assert len(done.out) < 120_000 * len(tools)


WAYS: dict[str, tuple[list[str], str, dict[str, Any], int]] = {
    "the result of call": (["call", "tool"], "", tool(PATTERN, PATTERN_VALUE), signal.SIGINT),
    "the arguments of call": (["call", "tool", f"a={VALUE}"], "", taking(PATTERN), signal.SIGTERM),
    "the result in a shell": (["shell"], "call tool\n", tool(fan(), {}), signal.SIGTERM),
    "the arguments in a shell": (["shell"], f"call tool a={VALUE}\n", taking(PATTERN), signal.SIGINT),
}


@pytest.mark.parametrize(("words", "typed", "script", "number"), WAYS.values(), ids=WAYS)
def test_a_signal_ends_a_command_that_evaluates_a_schema(
    *, words: list[str], typed: str, script: dict[str, Any], number: int, tmp_path: Path
) -> None:
    marked = Marked()
    entry = {**marked.stdio("scripted", *scripted(tmp_path, **script))}
    file = tmp_path / "servers.json"
    file.write_text(json.dumps([entry]))
    name, *rest = words

    with subprocess.Popen([*COMMAND, name, str(file), *rest], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(typed.encode())
        process.stdin.flush()
        wait_until(lambda: bool(validating(process.pid)), seconds=60)
        (other,) = validating(process.pid)
        process.send_signal(number)
        assert process.wait(timeout=20) == 128 + number
        assert process.stderr.read() == b""

    assert marked.running() == []
    with pytest.raises(ProcessLookupError):
        os.kill(other, 0)
