"""`mcp_launch.lint` and `mcp-launch lint`, with a violating and a valid schema for each rule."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp_types import Tool

from mcp_launch import LintTarget, UnusableInput, estimate_tokens, lint, lint_rules
from tests.mcp_launch.here import run_here
from tests.mcp_launch.support import SERVERS, run_python

OK: dict[str, Any] = {"type": "object", "properties": {}}


def of(part: object, **more: Any) -> dict[str, Any]:
    """Return a schema with one parameter."""
    return {"type": "object", "properties": {"p": part}, **more}


# The fields of the two tools are those of MCP; a schema is short for {"inputSchema": schema}.
TABLE: list[tuple[str, list[str], dict[str, Any], dict[str, Any]]] = [
    ("tool_name", ["anthropic", "openai"], {"name": "a.b"}, {"name": "a-b_2"}),
    ("tool_name", ["gemini"], {"name": "21st"}, {"name": "_a.b"}),
    ("tool_name", ["anthropic", "gemini", "mcp", "openai"], {"name": "a b"}, {"name": "ab"}),
    ("name_length", ["anthropic", "gemini", "openai"], {"name": "n" * 65}, {"name": "n" * 64}),
    ("name_length", ["mcp"], {"name": "n" * 129}, {"name": "n" * 128}),
    ("name_length", ["cursor"], {"name": "n" * 57}, {"name": "n" * 56}),
    ("name_length", ["claude-code"], {"name": "n" * 119}, {"name": "n" * 118}),
    ("no_description", ["mcp"], {"description": " "}, {"description": "Do it."}),
    ("parameter_description", ["mcp"], of({"type": "string"}), of({"type": "string", "description": "It."})),
    (
        "parameter_description",
        ["mcp"],
        of({"$ref": "#/$defs/d"}, **{"$defs": {"d": {"type": "string"}}}),
        of({"$ref": "#/$defs/d"}, **{"$defs": {"d": {"type": "string", "description": "It."}}}),
    ),
    ("description_length", ["claude-code"], {"description": "d" * 2049}, {"description": "d" * 2048}),
    ("not_an_object", ["anthropic", "mcp", "openai"], {"properties": {}}, OK),
    ("no_properties", ["openai"], {"type": "object"}, OK),
    ("top_level_keyword", ["anthropic", "openai"], {**OK, "anyOf": [{}]}, of({"anyOf": [{"type": "string"}]})),
    ("top_level_keyword", ["openai"], {**OK, "not": {}}, OK),
    ("invalid_schema", ["anthropic", "vscode"], of({"type": "any"}), of({"type": "string"})),
    (
        "invalid_schema",
        ["anthropic", "vscode"],
        {**of({"items": [OK]}), "$schema": "http://json-schema.org/draft-07/schema#"},
        {**of({"items": OK}), "$schema": "http://json-schema.org/draft-07/schema#"},
    ),
    ("boolean_property", ["mcp"], of(True), of({"type": "string"})),
    ("boolean_property", ["mcp"], {"outputSchema": of(True)}, {"outputSchema": of({})}),
    ("unresolved_reference", ["mcp"], of({"$ref": "#/$defs/d"}), of({"$ref": "#/$defs/d"}, **{"$defs": {"d": {}}})),
    ("unresolved_reference", ["mcp"], {"outputSchema": of({"$ref": "http://x/y"})}, {"outputSchema": of({})}),
    (
        "unresolved_reference",
        ["mcp"],
        of({"$ref": "#/definitions/Part%3CX%3E"}, definitions={"Part": {}}),
        of({"$ref": "#/definitions/Part%3CX%3E"}, definitions={"Part<X>": {}}),
    ),
    ("reference", ["gemini", "vscode"], of({"$ref": "#/$defs/d"}), of({"type": "string"})),
    (
        "array_items",
        ["gemini", "openai", "vscode"],
        of({"anyOf": [{"type": "array"}]}),
        of({"type": "array", "items": {"type": "string"}}),
    ),
    ("missing_type", ["gemini", "openai-strict"], of({"description": "It."}), of({"type": "string"})),
    ("enum_type", ["gemini"], of({"enum": ["a"]}), of({"type": "string", "enum": ["a"]})),
    ("enum_values", ["gemini"], of({"type": "integer", "enum": [1]}), of({"type": "string", "enum": ["1"]})),
    (
        "format",
        ["gemini", "openai-strict"],
        of({"type": "string", "format": "uri"}),
        of({"type": "string", "format": "date-time"}),
    ),
    ("format", ["openai-strict"], of({"type": "integer", "format": "int64"}), of({"type": "integer"})),
    ("type_list", ["gemini"], of({"type": ["string", "null"]}), of({"type": "string"})),
    ("required_property", ["gemini"], of({"type": "string"}, required=["q"]), of({"type": "string"}, required=["p"])),
    ("parameter_name", ["anthropic", "gemini"], {**OK, "properties": {"a[b]": {}}}, {**OK, "properties": {"a_b": {}}}),
    ("parameter_name", ["gemini"], {**OK, "properties": {"a-b": {}}}, {**OK, "properties": {"a_b": {}}}),
    ("keyword", ["gemini", "openai-strict"], of({"oneOf": [{"type": "string"}]}), of({"anyOf": [{"type": "string"}]})),
    ("keyword", ["gemini"], of({"const": "a"}), of({"type": "string", "enum": ["a"]})),
    ("optional_parameter", ["openai-strict"], of({"type": "string"}), of({"type": "string"}, required=["p"])),
    ("open_object", ["openai-strict"], OK, {**OK, "additionalProperties": False}),
]


def names(*targets: str) -> list[LintTarget]:
    return [each for each in get_args(LintTarget) if each in targets]


def tool(given: dict[str, Any]) -> Tool:
    fields = given if given.keys() <= {"name", "description", "outputSchema"} else {"inputSchema": given}
    return Tool.model_validate({"name": "t", "description": "Do it.", "inputSchema": OK, **fields})


@pytest.mark.parametrize(("rule", "targets", "wrong", "right"), TABLE)
def test_a_rule_finds_what_violates_it_and_nothing_else(
    rule: str, targets: list[str], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    def found(given: dict[str, Any]) -> list[list[str]]:
        remarks = lint([tool(given)], server="abc", targets=names(*targets))
        return [sorted(each.facts["targets"]) for each in remarks if each.rule == rule]

    assert (found(wrong), found(right)) == ([targets], [])


def test_each_rule_and_target_is_in_the_table() -> None:
    in_table = {(rule, target) for rule, targets, _, _ in TABLE for target in targets}

    wanted = {(rule.id, target) for rule in lint_rules() for target in rule.sources}
    assert in_table == wanted, "each rule needs rows in TABLE, which cover its sources"


@pytest.mark.parametrize(
    ("rule", "target", "most"), [("too_many_tools", "openai", 128), ("too_many_tools", "gemini", 512)]
)
def test_too_many_tools_are_found_from_the_limit_on(rule: str, target: str, most: int) -> None:
    tools = [tool({})] * (most + 1)

    assert [each.rule for each in lint(tools, targets=names(target)) if not each.path] == [rule]
    assert [each for each in lint(tools[:-1], targets=names(target)) if not each.path] == []


def test_the_cost_of_all_tools_is_found_above_what_claude_code_warns_of() -> None:
    big = tool({"description": "d" * 100_000})

    assert 25_000 < estimate_tokens(big) < 25_050
    assert [each.rule for each in lint([big], targets=["claude-code"]) if not each.path] == ["token_cost"]


def test_a_problem_in_several_places_is_one_finding_with_all_paths() -> None:
    schema = {**OK, "properties": {each: {"type": "string", "format": "uri", "description": "It."} for each in "ab"}}
    (found,) = lint([tool(schema)], targets=["gemini"])

    assert str(found) == (
        't.inputSchema.properties.a: "format": "uri", and at 1 more place; '
        "name it in the description instead (rejected by Gemini)"
    )
    assert found.facts["paths"] == [["t", "inputSchema", "properties", each] for each in "ab"]


def test_a_place_that_two_targets_reject_is_counted_once() -> None:
    found = lint([tool({**OK, "anyOf": [{}]})], targets=["anthropic", "openai"])

    (remark,) = [each for each in found if each.rule == "top_level_keyword"]
    assert remark.facts == {"targets": ["anthropic", "openai"]}


def test_an_unknown_target_is_refused_with_a_guess() -> None:
    with pytest.raises(UnusableInput, match='unknown target "openia"; did you mean "openai"'):
        lint([], targets=["openia"])  # type: ignore[list-item]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file with a server that has one tool, whose schema Gemini rejects."""
    script = {
        "tools": [{"name": "open", "description": "Open it.", "inputSchema": of({"type": "string", "format": "uri"})}]
    }
    (tmp_path / "tools.json").write_text(json.dumps(script))
    args = ["-S", str(SERVERS / "scripted.py"), str(tmp_path / "tools.json")]
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"web": {"command": sys.executable, "args": args}}}))
    return file


def command(*args: str) -> tuple[int, str, str]:
    done = run_here(*args)
    return done.returncode, done.stdout, done.stderr


def test_lint_prints_costs_and_findings(config: Path) -> None:
    done = run_python("-m", "mcp_launch", "lint", "--for", "gemini", str(config))

    assert done.returncode == 1
    heading, cost, described, found = done.stdout.splitlines()
    assert (heading, cost) == ("web 1 tool, about 31 tokens in each request (estimated)", "  31  open")
    assert described.endswith("[parameter_description]")
    assert found == (
        f'{config}:1:17: warning: web: open.inputSchema.properties.p: "format": "uri"; '
        "name it in the description instead (rejected by Gemini) [format]"
    )


def test_lint_as_json_is_one_document(config: Path) -> None:
    status, out, err = command("lint", "--json", str(config))

    assert (status, err) == (1, "")
    document = json.loads(out)
    assert document["servers"] == [
        {"name": "web", "tokens": 31, "tools": [{"name": "open", "tokens": 31}], "failure": None}
    ]
    assert [(each["server"], each["code"]) for each in document["findings"]] == [
        ("web", "parameter_description"),
        ("web", "format"),
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_check_with_lint_warns_in_all_outputs(config: Path, tmp_path: Path, strict: bool) -> None:
    junit, html = tmp_path / "junit.xml", tmp_path / "report.html"
    options = ["--lint", "--json", "--junit", str(junit), "--html", str(html), *(["--strict"] if strict else [])]
    status, out, _ = command("check", *options, str(config))
    _, _, shown = command("check", "--for", "gemini", str(config))

    assert status == int(strict)
    assert [each["code"] for each in json.loads(out)["findings"]] == ["parameter_description", "format"]
    failures = [each.attrib["type"] for each in ET.parse(junit).iter("failure")]
    assert failures == (["warning"] if strict else [])
    said = "open.inputSchema.properties.p: &#34;format&#34;: &#34;uri&#34;"
    assert said in html.read_text()
    assert shown.count("warning: web: open.inputSchema") == 2


def test_an_unknown_target_is_refused_by_the_command(config: Path) -> None:
    status, out, err = command("check", "--json", "--for", "openia", str(config))

    assert status == 2
    assert 'unknown target "openia"; did you mean "openai"' in err
    assert json.loads(out)["unusable"]
