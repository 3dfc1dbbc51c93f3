"""The check that the pipeline has a rule for every keyword of a published schema."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, cast

from codegen.naming import INTEGERS
from codegen.tree import PREFIX, CodegenError, Definitions, Node, arms, types_of, walk

Role: TypeAlias = Literal["definition", "property", "arm", "tag", "item", "excluded"]
"""The place of a schema: `arm` is a variant of a union, `tag` its property, `excluded` inside `not`."""

OBJECTS = {"properties", "required", "additionalProperties", "unevaluatedProperties", "not"}

ONLY_IN: dict[str, set[Role]] = {
    "const": {"arm", "tag"},
    "default": {"property", "tag"},
    "not": {"arm"},
    "x-deserialize-default-on-error": {"property", "tag"},
    "x-deserialize-default-on-null": {"property", "tag"},
    "x-deserialize-skip-invalid-items": {"property", "tag"},
    "x-docs-ignore": {"definition"},
    "x-method": {"definition"},
    "x-side": {"definition"},
}
"""The keywords that are only read in certain places."""

BESIDE = {
    "$ref": set[str](),
    "const": {"type", "format"},
    "enum": {"type"},
    "allOf": {"type", "properties", "required"},
    "anyOf": OBJECTS | {"type", "discriminator"},
    "oneOf": OBJECTS | {"type", "discriminator"},
}
"""The keywords that are allowed next to these, in addition to annotations."""

NEEDS_TYPE = {
    **{keyword: {"object"} for keyword in OBJECTS},
    **{keyword: {"array"} for keyword in ("items", "minItems")},
    **{keyword: {"string"} for keyword in ("minLength", "pattern", "contentEncoding")},
    **{keyword: {"integer", "number"} for keyword in ("minimum", "maximum")},
    **{keyword: {"integer", "number", "string"} for keyword in ("const", "enum", "format")},
}
"""The types that a keyword requires, one of them."""

ANNOTATIONS = {"description", "title", "default", *(keyword for keyword in ONLY_IN if keyword.startswith("x-"))}
KNOWN = ANNOTATIONS | BESIDE.keys() | NEEDS_TYPE.keys() | {"discriminator", "type"}

FORMATS = {
    "integer": set(INTEGERS),
    "number": {"double"},
    "string": {"date-time", "regex", "uri"},
}
TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}


_CLASS = r"\[\^?(?:[A-Za-z0-9_](?:-[A-Za-z0-9_])?)+-?\]"
_PORTABLE = re.compile(rf"(?:[A-Za-z0-9 _/-]|{_CLASS}|\((?:\?:|(?!\?))|[)|^$*+?]|\{{\d+(?:,\d*)?\}})*")
"""Patterns that match the same strings in ECMAScript (JSON Schema) and in Rust (pydantic)."""


def check_vocabulary(defs: Definitions) -> None:
    """Refuse keywords, formats and combinations of keywords that no pass reads.

    Raises:
        CodegenError: names the place and the keyword that would be lost.
    """
    for name, node in defs.items():
        _check(node, f"$defs/{name}", "definition", defs)
    for name, node in defs.items():
        for part in walk(node):
            if part.get("type") == "object" and any(
                types_of(each, defs) != {"object"} for each in (*arms(part), *part.get("allOf", []))
            ):
                raise CodegenError(
                    f"$defs/{name}: the type object would be lost, because other parts accept other values"
                )


def _check(node: Any, where: str, role: Role, defs: Definitions) -> None:
    if not isinstance(node, dict):
        raise CodegenError(f"{where}: no rule for the schema {node!r}")
    node = cast("Node", node)
    if unknown := sorted(node.keys() - KNOWN):
        raise CodegenError(f"{where}: no rule for the keyword {', '.join(unknown)}")
    if misplaced := sorted(word for word in node if role not in ONLY_IN.get(word, {role})):
        raise CodegenError(f"{where}: no rule for {', '.join(misplaced)} in this place")
    structure = node.keys() - ANNOTATIONS
    for keyword in sorted(BESIDE.keys() & structure):
        if lost := sorted(structure - BESIDE[keyword] - {keyword}):
            raise CodegenError(f"{where}: {keyword} next to {', '.join(lost)}: one of them would be lost")
    _check_types(node, where)
    _check_members(node, where)
    _check_reference(node, where, defs)
    _check_constants(node, where, role)
    _check_parts(node, where, role, defs)


def _check_types(node: Node, where: str) -> None:
    declared = node.get("type", [])
    types: list[str] = [declared] if isinstance(declared, str) else declared
    if unknown := sorted(set(types) - TYPES):
        raise CodegenError(f"{where}: no rule for the type {', '.join(unknown)}")
    if isinstance(declared, list) and "type" in node and not (len(set(types)) == 2 and "null" in types):
        raise CodegenError(f"{where}: a list of types may only add null to a type, not combine {', '.join(types)}")
    for keyword in sorted(node.keys() & NEEDS_TYPE.keys()):
        if not NEEDS_TYPE[keyword] & set(types):
            raise CodegenError(f"{where}: {keyword} does not apply to values of type {', '.join(types) or 'any'}")
    if node.keys() & (BESIDE.keys() | {"properties"}) and "null" in types:
        raise CodegenError(f"{where}: null next to {', '.join(sorted(node.keys() - {'type'}))} would be lost")
    if node.keys() & {"anyOf", "oneOf", "allOf"} and set(types) - {"object"}:
        raise CodegenError(f"{where}: the type {', '.join(types)} next to variants would be lost")
    formats = set[str]().union(*(FORMATS.get(each, set()) for each in types))
    if "format" in node and node["format"] not in formats:
        raise CodegenError(f"{where}: no rule for the format {node['format']} of type {', '.join(types)}")
    if not _PORTABLE.fullmatch(pattern := node.get("pattern", "")):
        raise CodegenError(f"{where}: the pattern {pattern} may match other strings in pydantic than in the schema")


def _check_members(node: Node, where: str) -> None:
    for openness in ("additionalProperties", "unevaluatedProperties"):
        if node.get(openness) is False:
            raise CodegenError(f"{where}: no rule for closed objects: receivers of ACP messages ignore unknown fields")
    for beside in sorted(node.keys() & {"properties", "anyOf", "oneOf", "allOf"}):
        if node.get("additionalProperties", True) is not True:
            raise CodegenError(f"{where}: the type of additionalProperties next to {beside} would be lost")
    if node.get("unevaluatedProperties", True) is not True:
        raise CodegenError(f"{where}: the type of unevaluatedProperties would be lost")
    if missing := sorted(set(node.get("required", [])) - node.get("properties", {}).keys()):
        raise CodegenError(f"{where}: {', '.join(missing)} is required, but is not a property here")


def _check_reference(node: Node, where: str, defs: Definitions) -> None:
    pointer = node.get("$ref", PREFIX)
    if "$ref" in node and (not pointer.startswith(PREFIX) or pointer.removeprefix(PREFIX) not in defs):
        raise CodegenError(f"{where}: {pointer} is not a definition of this schema")
    parts: list[Any] = node.get("allOf", [{"$ref": ...}])
    if len(parts) != 1 or parts[0].keys() != {"$ref"}:
        raise CodegenError(f"{where}: no rule for an allOf other than a single reference")


def _check_constants(node: Node, where: str, role: Role) -> None:
    for value in [node["const"]] if "const" in node else node.get("enum", []):
        in_a_set = role == "arm" and "const" in node and type(value) is int
        if not isinstance(value, str) and not in_a_set:
            raise CodegenError(f"{where}: no rule for the constant {value!r} here, because it is not a string")


def _check_parts(node: Node, where: str, role: Role, defs: Definitions) -> None:
    inner: Role = "tag" if role in ("arm", "excluded") else "property"
    for name, child in node.get("properties", {}).items():
        _check(child, f"{where}/properties/{name}", inner, defs)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for index, child in enumerate(node.get(keyword, [])):
            part: Role = "excluded" if role == "excluded" else "arm"
            _check(child, f"{where}/{keyword}/{index}", part, defs)
    if "items" in node:
        _check(node["items"], f"{where}/items", "item", defs)
    if node.get("additionalProperties", True) is not True:
        _check(node["additionalProperties"], f"{where}/additionalProperties", "item", defs)
    if "not" in node:
        _check(node["not"], f"{where}/not", "excluded", defs)
