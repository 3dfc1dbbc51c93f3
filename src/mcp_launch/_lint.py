"""Find what model APIs and clients reject in the definitions of tools, and estimate what the definitions cost.

Each rule names the source of its fact for each target. docs/lint.md has the rules as a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import unquote

from mcp_launch._json_values import as_items, as_members, at_pointer, texts
from mcp_launch._validation import InvalidSchema, compiled
from mcp_launch.failures import UnusableInput, did_you_mean

if TYPE_CHECKING:
    from mcp_types import Tool

    from acp_bindings.errors import Path
    from acp_bindings.setup.errors import Remark

LintTarget: TypeAlias = Literal["anthropic", "claude-code", "cursor", "gemini", "openai", "openai-strict", "vscode"]
"""A model API or client whose rules are known. `openai-strict` are function tools with `"strict": true`."""
TARGETS: Mapping[str, str] = {
    "anthropic": "Anthropic",
    "claude-code": "Claude Code",
    "cursor": "Cursor",
    "gemini": "Gemini",
    "openai": "OpenAI",
    "openai-strict": "OpenAI in strict mode",
    "vscode": "VS Code",
}
"""The names of the targets in messages."""
DEFAULT_TARGETS: tuple[LintTarget, ...] = ("anthropic", "gemini", "openai")
"""The targets if none is chosen. A strict schema is a choice of the client, and few servers have one."""
MCP = "mcp"
"""The target of rules that apply to every client."""

_SPEC = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_VSCODE = (
    "https://github.com/microsoft/vscode-copilot-chat/blob/main/src/extension/tools/common/toolSchemaNormalizer.ts"
)
_OPENAI_NAME = "openai 3.57.0: openai/types/shared/function_definition.py"
_GEMINI_SDK = "google-genai 3.6.1: google/genai/types.py, FunctionDeclaration and Schema"
_STRICT_SDK = "openai-agents 0.24.0: agents/strict_schema.py"
_STRICT_GUIDE = "https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas"


def _issue(repository: str, number: int) -> str:
    return f"https://github.com/{repository}/issues/{number}"


_Hits: TypeAlias = Iterator[tuple["Path", str]]
"""Places in a tool, each with a description of the problem."""


@dataclass(frozen=True, kw_only=True)
class LintRule:
    """A rule for the definitions of tools."""

    id: str
    """A stable identifier: the `rule` of its findings."""
    doc: str
    """A description of the problem, in one line."""
    remedy: str
    """The change to make."""
    sources: Mapping[str, str]
    """The source of the fact for each target: a page, an issue, or a file of an SDK."""
    effect: str = "rejected by"
    """The effect, in front of the names of the targets."""
    find: Callable[[_Tool, str], _Hits] = field(repr=False)
    """Finds the places in a tool that a target has a problem with."""


def lint(tools: Iterable[Tool], *, server: str = "", targets: Collection[LintTarget] = DEFAULT_TARGETS) -> list[Remark]:
    """Return what model APIs and clients reject in the definitions of tools, and what a model cannot understand.

        for found in mcp_launch.lint(fleet["github"].tools, server="github"):
            print(found)

    Each finding is a warning. Its path begins with the name of the tool and continues with the field, such as
    `inputSchema`; it is empty if the whole list is concerned. `facts` has `targets` and, if a problem occurs several
    times in a tool, all `paths`. Names and keywords are quoted from the server.

    Args:
        tools: the tools, usually all of one server.
        server: the name of the server, because clients put it in front of the names of the tools.
        targets: the model APIs and clients: see `LintTarget`. Rules for every client always apply.

    Raises:
        UnusableInput: a target is unknown.
    """
    for unknown in (each for each in targets if each not in TARGETS):
        known = did_you_mean(unknown, TARGETS) or f"; the targets are {', '.join(TARGETS)}"
        raise UnusableInput(f'unknown target "{unknown}"{known}')
    listed = list(tools)
    wanted = [MCP, *(each for each in TARGETS if each in targets)]
    remarks = [remark for target in wanted for remark in _of_list(listed, target)]
    for tool in listed:
        remarks += _of_tool(_Tool(tool, server), wanted)
    return remarks


def lint_rules() -> tuple[LintRule, ...]:
    """Return the rules for a tool, with their sources. Two more are about the whole list: see docs/lint.md."""
    return RULES


def estimate_tokens(tool: Tool) -> int:
    """Return about how many tokens the definition of a tool costs in each request to a model.

    This is a quarter of the bytes of its name, description and input schema as compact JSON. Models count differently:
    see docs/lint.md for a comparison.
    """
    definition = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
    text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
    return -(-len(text.encode(errors="replace")) // 4)


_MOST_TOOLS = {"gemini": 512, "openai": 128, "vscode": 128}
_MOST_TOKENS = {"claude-code": 25_000}
LIST_SOURCES: Mapping[str, Mapping[str, str]] = {
    "too_many_tools": {
        "gemini": _issue("google-gemini/gemini-cli", 19083),
        "openai": _issue("zed-industries/zed", 32946),
        "vscode": "https://code.visualstudio.com/docs/copilot/agents/agent-tools",
    },
    "token_cost": {"claude-code": _issue("anthropics/claude-code", 12241)},
}
"""The sources of the rules for the whole list of a server."""
LIST_DOCS: Mapping[str, str] = {
    "too_many_tools": "The server has more than 128 tools; for Gemini more than 512.",
    "token_cost": "The tools of the server cost more than 25,000 tokens.",
}
"""Descriptions of these rules."""


def _of_list(tools: list[Tool], target: str) -> Iterator[Remark]:
    from acp_bindings.setup.errors import Remark  # noqa: PLC0415 - slow to import

    most = _MOST_TOOLS.get(target)
    if most is not None and len(tools) > most:
        said = f"{len(tools)} tools, at most {most} are accepted by {TARGETS[target]}; offer fewer at once"
        yield Remark((), "too_many_tools", said, facts={"targets": [target]})
    most = _MOST_TOKENS.get(target)
    if most is not None and (cost := sum(map(estimate_tokens, tools))) > most:
        said = f"the tools cost about {cost:,} tokens in each request; {TARGETS[target]} warns above {most:,}"
        yield Remark((), "token_cost", said, facts={"targets": [target]})


def _of_tool(tool: _Tool, targets: list[str]) -> Iterator[Remark]:
    for rule in RULES:
        found: dict[str, tuple[list[Path], list[str]]] = {}
        for target in (each for each in targets if each in rule.sources):
            for path, text in rule.find(tool, target):
                paths, rejecting = found.setdefault(text, ([], []))
                if path not in paths:
                    paths.append(path)
                if target not in rejecting:
                    rejecting.append(target)
        for text, (paths, rejecting) in found.items():
            yield _remark(tool, rule, text, paths, rejecting)


def _remark(tool: _Tool, rule: LintRule, text: str, paths: list[Path], targets: list[str]) -> Remark:
    from acp_bindings.setup.errors import Remark  # noqa: PLC0415 - slow to import

    more = f", and at {len(paths) - 1} more place{'s' if len(paths) > 2 else ''}" if len(paths) > 1 else ""
    names = [TARGETS[each] for each in targets if each != MCP]
    effect = f" ({rule.effect} {', '.join(names)})" if names else ""
    facts: dict[str, Any] = {"targets": targets}
    if more:
        facts["paths"] = [[tool.name, *path] for path in paths]
    return Remark((tool.name, *paths[0]), rule.id, f"{text}{more}; {rule.remedy}{effect}", facts=facts)


class _Tool:
    """A tool, with all parts of its schemas."""

    def __init__(self, tool: Tool, server: str) -> None:
        self.name = tool.name
        self.server = server
        self.description = (tool.description or "").strip()
        self.schema = tool.input_schema
        self.output = tool.output_schema

    @cached_property
    def nodes(self) -> list[tuple[Path, dict[str, Any]]]:
        """The parts of the input schema that are objects; the first is the schema itself."""
        return list(_nodes(self.schema, "inputSchema"))

    @property
    def properties(self) -> dict[str, Any]:
        return as_members(self.schema.get("properties"))


_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def _nodes(schema: dict[str, Any], name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    todo: list[tuple[Path, Any]] = [((name,), schema)]
    while todo:
        path, node = todo.pop()
        if not isinstance(node, dict):
            continue
        members = as_members(node)
        yield path, members
        todo += reversed([*_inner(path, members)])


def _inner(path: Path, members: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    for word in _SINGLE:
        yield (*path, word), members.get(word)
    for word in _LISTS:
        for number, each in enumerate(as_items(members.get(word))):
            yield (*path, word, number), each
    for word in _MAPS:
        for name, part in as_members(members.get(word)).items():
            yield (*path, word, name), part


def _quoted(names: Iterable[object], *, most: int = 3) -> str:
    shown = [json.dumps(each, ensure_ascii=False) for each in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _types(node: Mapping[str, Any]) -> list[str]:
    kind = node.get("type")
    return [kind] if isinstance(kind, str) else texts(kind)


def _where(is_wrong: Callable[[_Tool], bool], text: str, *path: str) -> Callable[[_Tool, str], _Hits]:
    """Return what finds a problem of the tool itself."""

    def find(tool: _Tool, _: str) -> _Hits:
        if is_wrong(tool):
            yield path, text

    return find


def _wherever(is_wrong: Callable[[Mapping[str, Any]], bool], text: str) -> Callable[[_Tool, str], _Hits]:
    """Return what finds a problem of parts of the input schema."""

    def find(tool: _Tool, _: str) -> _Hits:
        return ((path, text) for path, node in tool.nodes if is_wrong(node))

    return find


_FOREIGN = {
    "anthropic": r"[^a-zA-Z0-9_-]",
    "gemini": r"[^a-zA-Z0-9_.-]",
    "openai": r"[^a-zA-Z0-9_-]",
    MCP: r"[^a-zA-Z0-9_.-]",
}


def _name(tool: _Tool, target: str) -> _Hits:
    if foreign := dict.fromkeys(re.findall(_FOREIGN[target], tool.name)):
        yield (), f"the name contains {_quoted(foreign)}"
    elif target == "gemini" and not re.match("[A-Za-z_]", tool.name):
        yield (), f"the name begins with {_quoted(tool.name[:1])}"


# Anthropic's API accepts 128, but Claude Desktop 64. Google's SDK says 128, but errors of its API say 64.
_LONGEST_NAME = {"anthropic": 64, "gemini": 64, "openai": 64, MCP: 128}


def _name_length(tool: _Tool, target: str) -> _Hits:
    what, length, most = "the name has", len(tool.name), _LONGEST_NAME.get(target, 0)
    if target == "cursor":
        what, length, most = "the names of server and tool have", len(tool.server) + len(tool.name), 59
    elif target == "claude-code":
        what, length, most = "with that of its server, the name has", len(f"mcp__{tool.server}__{tool.name}"), 128
    if length > most:
        yield (), f"{what} {length} characters, more than {most}"


def _parameter_description(tool: _Tool, _: str) -> _Hits:
    silent = [name for name, node in tool.properties.items() if not _describes(node, tool.schema)]
    if silent:
        yield ("inputSchema",), f"no description of {_quoted(silent)}"


def _describes(node: object, root: Mapping[str, Any]) -> bool:
    members = as_members(node)
    target = members.get("$ref")
    parts = [members, as_members(_at(target, root) if isinstance(target, str) else None)]
    parts += [as_members(each) for word in ("anyOf", "oneOf", "allOf") for each in as_items(members.get(word))]
    return any(isinstance(each.get("description"), str) and each["description"].strip() for each in parts)


def _description_length(tool: _Tool, _: str) -> _Hits:
    if len(tool.description) > 2048:
        yield ("description",), f"{len(tool.description):,} characters, more than 2,048"


_NOT_AT_TOP = {
    "anthropic": ("oneOf", "anyOf", "allOf"),
    "openai": ("oneOf", "anyOf", "allOf", "enum", "const", "not"),
}


def _top_level(tool: _Tool, target: str) -> _Hits:
    for word in _NOT_AT_TOP[target]:
        if word in tool.schema:
            yield ("inputSchema",), f'"{word}" at the top level'


def _invalid_schema(tool: _Tool, _: str) -> _Hits:
    # Of 2020-12 in any case: that is what the API validates, whatever `$schema` says.
    schema = {word: part for word, part in tool.schema.items() if word != "$schema"}
    try:
        compiled(schema, counted=False)
    except InvalidSchema as error:
        yield ("inputSchema",), f"not valid for JSON Schema 2020-12 ({str(error).rpartition('schema: ')[2][:200]})"


def _boolean_property(tool: _Tool, _: str) -> _Hits:
    for name, schema in (("inputSchema", tool.schema), ("outputSchema", tool.output)):
        for each, part in as_members(as_members(schema).get("properties")).items():
            if isinstance(part, bool):
                yield (name, "properties", each), f"the schema of a property is {json.dumps(part)}"


_TYPED_BY = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const")


def _missing_type(tool: _Tool, _: str) -> _Hits:
    for path, node in tool.nodes:
        is_value = path[-1] == "items" or path[-2:-1] == ("properties",)
        if is_value and not any(word in node for word in _TYPED_BY):
            yield path, 'no "type"'


def _unresolved(tool: _Tool, _: str) -> _Hits:
    for name, schema in (("inputSchema", tool.schema), ("outputSchema", tool.output)):
        root = as_members(schema)
        for path, node in _nodes(root, name):
            target = node.get("$ref")
            if isinstance(target, str) and (not target.startswith("#") or _at(target, root) is None):
                yield path, f"{_quoted([target])} is not a part of the schema"


def _at(reference: str, root: Mapping[str, Any]) -> object:
    """Return the part of a schema to which a `$ref` refers. An anchor counts as the whole schema."""
    return at_pointer(unquote(reference[1:]), root) if reference.startswith("#/") else root


_STRICT_FORMATS = frozenset(("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"))
_GEMINI_FORMATS = {
    "string": frozenset(("date-time", "enum")),
    "number": frozenset(("double", "float")),
    "integer": frozenset(("int32", "int64")),
}


def _format(tool: _Tool, target: str) -> _Hits:
    for path, node in tool.nodes:
        if not isinstance(name := node.get("format"), str):
            continue
        kinds = _types(node) or ["string"]
        of_gemini = (each for kind in kinds for each in _GEMINI_FORMATS.get(kind, ()))
        if name not in (of_gemini if target == "gemini" else _STRICT_FORMATS):
            yield path, f'"format": {_quoted([name])}'


def _required(tool: _Tool, _: str) -> _Hits:
    for path, node in tool.nodes:
        known = as_members(node.get("properties"))
        if absent := [each for each in texts(node.get("required")) if each not in known]:
            yield path, f'"required" lists {_quoted(absent)}, not in "properties"'


_PROPERTY = {"anthropic": r"[a-zA-Z0-9_.-]{1,64}", "gemini": r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"}


def _property_name(tool: _Tool, target: str) -> _Hits:
    if odd := [each for each in tool.properties if not re.fullmatch(_PROPERTY[target], each)]:
        yield ("inputSchema", "properties"), f"the name of a parameter is {_quoted(odd)}"


# What JSON Schema has and the type `Schema` of Gemini has not. What clients leave out for it, such as `$schema`, is not
# included.
_KEYWORDS = {
    "gemini": (
        *("const", "oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "propertyNames"),
        *("dependentRequired", "dependentSchemas", "prefixItems", "contains", "uniqueItems", "multipleOf"),
        *("exclusiveMinimum", "exclusiveMaximum", "unevaluatedProperties", "unevaluatedItems"),
    ),
    "openai-strict": (
        *("oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
        "patternProperties",
    ),
}


def _keyword(tool: _Tool, target: str) -> _Hits:
    for path, node in tool.nodes:
        for word in _KEYWORDS[target]:
            if word in node:
                yield path, f'"{word}"'


def _optional(tool: _Tool, _: str) -> _Hits:
    for path, node in tool.nodes:
        required = texts(node.get("required"))
        for name in as_members(node.get("properties")):
            if name not in required:
                yield (*path, "properties", name), 'not in "required"'


RULES: tuple[LintRule, ...] = (
    LintRule(
        id="tool_name",
        doc="The name has characters that are not accepted.",
        remedy='use letters, digits, "_" and "-"',
        sources={
            "anthropic": _issue("microsoft/wassette", 56),
            "gemini": _issue("21st-dev/magic-mcp", 34),
            "openai": _OPENAI_NAME,
            MCP: f"{_SPEC}#tool-names",
        },
        find=_name,
    ),
    LintRule(
        id="name_length",
        doc="The name is too long, for some clients together with that of the server.",
        remedy="shorten it",
        sources={
            "anthropic": _issue("hostinger/api-mcp-server", 51),
            "claude-code": _issue("anthropics/claude-code", 5835),
            "cursor": _issue("ComposioHQ/composio", 2788),
            "gemini": _issue("zed-industries/zed", 37643),
            "openai": _OPENAI_NAME,
            MCP: f"{_SPEC}#tool-names",
        },
        find=_name_length,
    ),
    LintRule(
        id="no_description",
        doc="The tool has no description.",
        remedy="tell the model when to use the tool",
        sources={MCP: _VSCODE},
        find=_where(lambda tool: not tool.description, "no description"),
    ),
    LintRule(
        id="parameter_description",
        doc="Parameters have no description.",
        remedy="tell the model what to pass",
        sources={MCP: _issue("G-Core/gcore-mcp-server", 14)},
        find=_parameter_description,
    ),
    LintRule(
        id="description_length",
        doc="The description is longer than 2,048 characters.",
        remedy="put what matters first",
        effect="cut by",
        sources={"claude-code": _issue("anthropics/claude-code", 41593)},
        find=_description_length,
    ),
    LintRule(
        id="not_an_object",
        doc='The schema has no "type": "object".',
        remedy="add it",
        sources={
            "anthropic": "anthropic 2.13.0: anthropic/types/tool_param.py",
            "openai": _issue("chatanywhere/GPT_API_free", 403),
            MCP: _SPEC,
        },
        find=_where(lambda tool: tool.schema.get("type") != "object", 'no "type": "object"', "inputSchema"),
    ),
    LintRule(
        id="no_properties",
        doc='The schema has no "properties".',
        remedy='add "properties": {}',
        sources={"openai": _issue("openai/openai-agents-python", 449)},
        find=_where(
            lambda tool: tool.schema.get("type") == "object" and not isinstance(tool.schema.get("properties"), dict),
            'no "properties"',
            "inputSchema",
        ),
    ),
    LintRule(
        id="top_level_keyword",
        doc="The schema has oneOf, anyOf or allOf at the top level; for OpenAI also enum, const or not.",
        remedy="list all parameters in one object, and check the combinations in the tool",
        sources={
            "anthropic": _issue("langchain-ai/langchain", 39271),
            "openai": _issue("langchain-ai/langchainjs", 9804),
        },
        find=_top_level,
    ),
    LintRule(
        id="invalid_schema",
        doc="The schema is not valid for JSON Schema 2020-12.",
        remedy="correct it",
        sources={"anthropic": _issue("anthropics/claude-code", 586), "vscode": _VSCODE},
        find=_invalid_schema,
    ),
    LintRule(
        id="boolean_property",
        doc="The schema of a property is true or false. Some clients then reject the whole list.",
        remedy="write {} or a type",
        sources={MCP: _issue("modelcontextprotocol/inspector", 1005)},
        find=_boolean_property,
    ),
    LintRule(
        id="unresolved_reference",
        doc="A $ref points to nothing in the schema. Some clients then reject the whole list.",
        remedy="add the definition, or write the schema in its place",
        sources={MCP: _issue("anthropics/claude-code", 76881)},
        find=_unresolved,
    ),
    LintRule(
        id="reference",
        doc="The schema has a $ref. VS Code loses its definition.",
        remedy="write the schema in its place",
        sources={
            "gemini": _issue("google-gemini/gemini-cli", 13326),
            "vscode": "https://github.com/PrefectHQ/fastmcp/pull/2808",
        },
        find=_wherever(lambda node: isinstance(node.get("$ref"), str), '"$ref"'),
    ),
    LintRule(
        id="array_items",
        doc="An array has no items.",
        remedy="add the schema of its items",
        sources={
            "gemini": _issue("backstage/backstage", 34038),
            "openai": _issue("spacelift-io/spacectl", 402),
            "vscode": _VSCODE,
        },
        find=_wherever(lambda node: "array" in _types(node) and not node.get("items"), 'an array without "items"'),
    ),
    LintRule(
        id="missing_type",
        doc="A property or the items of an array have no type.",
        remedy="add it",
        sources={
            "gemini": _issue("unclecode/crawl4ai", 1311),
            "openai-strict": _issue("apexive/odoo-llm", 212),
        },
        find=_missing_type,
    ),
    LintRule(
        id="enum_type",
        doc="An enum has no type.",
        remedy='add "type": "string"',
        sources={"gemini": _issue("decolua/9router", 359)},
        find=_wherever(lambda node: "enum" in node and "type" not in node, '"enum" without "type"'),
    ),
    LintRule(
        id="enum_values",
        doc="An enum has values that are not strings, or an empty string.",
        remedy="use strings, or name the values in the description",
        sources={"gemini": _issue("microsoft/azure-devops-mcp", 145)},
        find=_wherever(
            lambda node: not all(isinstance(each, str) and each for each in as_items(node.get("enum"))),
            '"enum" with values that are not strings',
        ),
    ),
    LintRule(
        id="format",
        doc="A format is not supported.",
        remedy="name it in the description instead",
        sources={
            "gemini": _issue("google-gemini/gemini-cli", 3178),
            "openai-strict": _issue("cyanheads/git-mcp-server", 47),
        },
        find=_format,
    ),
    LintRule(
        id="type_list",
        doc="A type is a list, such as [string, null].",
        remedy="use one type, and leave the parameter out of required",
        sources={"gemini": _issue("zed-industries/zed", 44875)},
        find=_wherever(lambda node: isinstance(node.get("type"), list), 'a list of types as "type"'),
    ),
    LintRule(
        id="required_property",
        doc="required lists a name that is not in properties.",
        remedy="add the property, or remove the name",
        sources={"gemini": _issue("google-gemini/gemini-cli", 1458)},
        find=_required,
    ),
    LintRule(
        id="parameter_name",
        doc="The name of a parameter has characters that are not accepted, or more than 64.",
        remedy='use at most 64 letters, digits and "_"',
        sources={"anthropic": _issue("anthropics/claude-code", 79418), "gemini": _GEMINI_SDK},
        find=_property_name,
    ),
    LintRule(
        id="keyword",
        doc="A keyword of JSON Schema is not supported.",
        remedy="describe the limit in words",
        sources={"gemini": _GEMINI_SDK, "openai-strict": _STRICT_GUIDE},
        find=_keyword,
    ),
    LintRule(
        id="optional_parameter",
        doc="A property is not in required.",
        remedy='require it, and allow "null"',
        sources={"openai-strict": _issue("camel-ai/camel", 2629)},
        find=_optional,
    ),
    LintRule(
        id="open_object",
        doc="An object has no additionalProperties: false.",
        remedy="add it",
        sources={"openai-strict": _STRICT_SDK},
        find=_wherever(
            lambda node: "object" in _types(node) and node.get("additionalProperties") is not False,
            'no "additionalProperties": false',
        ),
    ),
)
"""The rules for one tool, in the order of their findings. `LIST_SOURCES` has those for the whole list."""
