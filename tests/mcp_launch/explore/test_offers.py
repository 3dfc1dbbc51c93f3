"""`mcp-launch tools`, `resources` and `prompts`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Prompt, Resource, Tool

from acp_bindings._redact import Redactor
from mcp_launch._command.explore.listing import blocks_of, tool_lines
from mcp_launch._servers.record import Offer
from tests.mcp_launch.explore.here import ODD, Command
from tests.mcp_launch.support import SECRET, scripted


def test_a_tool_is_printed_as_a_signature_with_its_harmless_description(odd_file: str, command: Command) -> None:
    done = command("tools", odd_file)

    assert done.status == 0
    assert done.out.startswith(
        """\
typed(path: string, lines?: integer = 10, ratio?: number, deep?: boolean, mode?: "fast" | "thorough" | 3, \
tags?: string[], filter?: {since?: integer, names?: string[]}, limit?: integer, anything?: any)
    Tell what it was given.

    Args:
        path: somewhere
      path      Where to look.
      lines     integer (at least 1)
      ratio     number
"""
    )
    assert "\nshow()\n    Show a picture. [redacted]\n" in done.out
    assert "boo\n    next" in done.out
    assert "\033" not in done.out
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
def test_no_text_of_an_offer_shows_a_secret(kind: str, tmp_path: Path, command: Command) -> None:
    text = {"name": "a $SECRET", "description": "b $SECRET"}
    schema = {"type": "object", "properties": {"c $SECRET": {"type": "string", "description": "d $SECRET"}}}
    offers: dict[str, Any] = {
        "tools/list": {"tools": [{**text, "inputSchema": schema}]},
        "resources/list": {"resources": [{**text, "uri": "x:$SECRET"}]},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": [{**text, "arguments": [text]}]},
    }
    server = scripted(tmp_path, **{method: {"result": result} for method, result in offers.items()})

    lines, document = (command(kind, *more, "-e", f"SECRET={SECRET}", "--", *server).out for more in ((), ("--json",)))

    assert SECRET not in lines + document
    assert min(lines.count("[redacted]"), document.count("[redacted]")) >= 3


def test_the_description_of_an_argument_is_wrapped_beside_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    where = {
        "type": "object",
        "properties": {"latitude": {"type": "number", "description": "Degrees north of the equator."}, "x" * 40: {}},
        "required": ["latitude"],
    }
    tool = Tool(name="go", input_schema={"type": "object", "properties": {"to": where}})

    assert [text for text, _ in tool_lines(tool, Redactor())] == [
        "go(to?: object)",
        f"      {'to':46}object",
        f"      {'to.latitude':46}number  Degrees",
        f"      {'':46}north of the",
        f"      {'':46}equator.",
        f"      to.{'x' * 40}?  any",
    ]


def test_an_indented_line_of_a_description_is_wrapped_below_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    tool = Tool(name="go", description=f"Says.\n\nArgs:\n    {' '.join(['word'] * 12)}", input_schema={})

    line = f"        {' '.join(['word'] * 6)}"
    assert [text for text, _ in tool_lines(tool, Redactor())] == [
        "go()",
        "    Says.",
        "",
        "    Args:",
        line,
        line,
    ]


def test_missing_fields_are_not_printed() -> None:
    today = Resource(name="today", title="Today", uri="memo://today", size=0)
    offer = Offer(resources=[today], prompts=[Prompt(name="greet")])

    assert blocks_of(offer, "tools", Redactor()) == []
    assert blocks_of(offer, "resources", Redactor()) == [[("memo://today  Today  0 bytes", "bold")]]
    assert blocks_of(offer, "prompts", Redactor()) == [[("greet()", "bold")]]


def test_json_output_has_everything_that_the_server_sent(odd_file: str, command: Command) -> None:
    done = command("tools", odd_file, "--json")

    (server,) = json.loads(done.out)["servers"]
    assert {name: server[name] for name in ("name", "offered", "failure", "warnings")} == {
        "name": "odd", "offered": True, "failure": None, "warnings": [],
    }  # fmt: skip
    assert [tool["name"] for tool in server["tools"]][:2] == ["typed", "show"]
    assert server["tools"][0]["inputSchema"]["$defs"]["Filter"]["type"] == "object"
    assert server["tools"][0]["annotations"] == {"readOnlyHint": True, "destructiveHint": False}
    assert SECRET not in done.out


def test_all_pages_are_listed(odd_file: str, command: Command) -> None:
    done = command("tools", odd_file, "--json")

    assert [tool["name"] for tool in json.loads(done.out)["servers"][0]["tools"]][-1] == "grow"
    assert command("tools", odd_file, "--verbose").err.count('odd -> {"jsonrpc"') > 4


def test_resources_are_listed_with_templates(odd_file: str, command: Command) -> None:
    done = command("resources", odd_file)

    assert (done.status, done.err) == (0, "")
    assert done.out == (
        "memo://today  today  text/plain\n    What is to be done.\nmemo://pixel  pixel\nmemo://{day}  a day\n"
    )
    (server,) = json.loads(command("resources", odd_file, "--json").out)["servers"]
    assert [each["uri"] for each in server["resources"]] == ["memo://today", "memo://pixel"]
    assert [each["uriTemplate"] for each in server["resource_templates"]] == ["memo://{day}"]


def test_prompts_are_listed_with_their_arguments(odd_file: str, command: Command) -> None:
    done = command("prompts", odd_file)

    assert (done.status, done.err) == (0, "")
    assert done.out == "greet(name, tone?)\n    Ask for a greeting.\n      name  Whom.\n      tone  string\n"


def test_several_servers_are_named_and_failures_are_diagnosed(command: Command) -> None:
    broken = {"command": "/bin/sh", "args": ["-c", 'echo "no key $SECRET" >&2; exit 3'], "env": {"SECRET": SECRET}}
    config = json.dumps({"mcpServers": {"odd": ODD, "broken": broken}})

    done = command("prompts", "-", stdin=config)
    checked = command("check", "-", "--only", "broken", stdin=config)

    assert done.status == 1
    assert done.out.splitlines()[:2] == ["odd: 1 prompt", "  greet(name, tone?)"]
    assert done.err.startswith("FAIL broken stdio exited in handshake after ")
    assert done.err.partition(" s: ")[2] == checked.out.partition(" s: ")[2]
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("words", [["tools"], ["call", "tool"]], ids=" ".join)
def test_an_entry_that_cannot_be_read_is_a_failure_like_others(words: list[str], command: Command) -> None:
    name, *rest = words

    done = command(name, "-", *rest, stdin='{"mcpServers": {"bad": {"command": 5}}}')

    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("FAIL bad stdio ")


def test_a_server_that_fails_is_in_the_json(command: Command) -> None:
    config = {"mcpServers": {"gone": {"command": "/no/such/program"}}}

    done = command("tools", "-", "--json", stdin=json.dumps(config))

    found = json.loads(done.out)
    assert (done.status, found["ok"]) == (1, False)
    (server,) = found["servers"]
    assert (server["offered"], server["tools"], server["failure"]["code"]) == (None, None, "command_not_found")


NONE: list[tuple[dict[str, object], int, str, tuple[bool, list[object] | None]]] = [
    ({}, 0, "does not offer resources", (False, [])),
    ({"resources": []}, 0, "no resources", (True, [])),
    ({"resources": None}, 1, "could not list its resources", (True, None)),
]


@pytest.mark.parametrize(("offers", "status", "says", "in_json"), NONE)
def test_not_supporting_having_none_and_failing_to_list_differ(
    offers: dict[str, object], status: int, says: str, in_json: tuple[bool, object], command: Command
) -> None:
    config = json.dumps({"mcpServers": {"few": {**ODD, "env": {"OFFERS": json.dumps(offers)}}}})

    done = command("resources", "-", stdin=config)
    (server,) = json.loads(command("resources", "-", "--json", stdin=config).out)["servers"]

    assert (done.status, done.out) == (status, f"few: {says}\n")
    assert (server["offered"], server["resources"]) == in_json
    assert ("could not list its resources" in done.err) == (status == 1)


def test_a_server_that_can_list_only_its_templates_shows_them(command: Command) -> None:
    config = json.dumps(
        {"mcpServers": {"few": {**ODD, "env": {"OFFERS": json.dumps({"resources": None, "templates": 1})}}}}
    )

    done = command("resources", "-", stdin=config)

    assert (done.status, done.out) == (1, "few: could not list its resources\nmemo://{day}  a day\n")
