"""Every schema keyword that the pipeline has a rule for. Anything else is an error, never a silent loss."""

from __future__ import annotations

from codegen.tree import CodegenError, Definitions, Node, children

ANNOTATIONS = {"description", "title", "default"}
MARKS = {
    "x-deserialize-default-on-error",
    "x-deserialize-default-on-null",
    "x-deserialize-skip-invalid-items",
    "x-docs-ignore",
    "x-method",
    "x-side",
}
APPLICATORS = {"allOf", "anyOf", "oneOf", "not", "discriminator"}
OBJECTS = {"properties", "required", "additionalProperties", "unevaluatedProperties"}
ARRAYS = {"items", "minItems"}
TEXT = {"minLength", "contentEncoding"}
NUMBERS = {"minimum", "maximum"}
VALUES = {"const", "enum"}

KNOWN = ANNOTATIONS | MARKS | APPLICATORS | OBJECTS | ARRAYS | TEXT | NUMBERS | VALUES | {"type", "format", "$ref"}

TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
INTEGER_FORMATS = {"int32", "int64", "uint16", "uint32", "uint64"}
NUMBER_FORMATS = {"double"}
TEXT_FORMATS = {"date-time", "regex", "uri"}


def check(defs: Definitions) -> None:
    """Refuse a keyword, a format or a combination of keywords that no pass reads.

    Raises:
        CodegenError: says where it stands and what the pipeline would have lost.
    """
    for name, node in defs.items():
        _check(node, f"$defs/{name}")


def _check(node: Node, where: str) -> None:
    if unknown := sorted(node.keys() - KNOWN):
        raise CodegenError(f"{where}: no rule for the keyword {', '.join(unknown)}")
    if "anyOf" in node and "oneOf" in node:
        raise CodegenError(f"{where}: anyOf beside oneOf: one of the two would be lost")
    _check_all_of(node, where)
    _check_type(node, where)
    if node.get("additionalProperties") is False or node.get("unevaluatedProperties") is False:
        raise CodegenError(f"{where}: closed objects are unknown to ACP, whose receivers ignore unknown members")
    for index, child in enumerate(children(node)):
        _check(child, f"{where}/{index}" if "properties" not in node else f"{where}/…")


def _check_all_of(node: Node, where: str) -> None:
    parts = node.get("allOf", [])
    if len(parts) > 1 or any(part.keys() != {"$ref"} for part in parts):
        raise CodegenError(f"{where}: allOf is read as one reference beside other keywords, this one is more")


def _check_type(node: Node, where: str) -> None:
    declared = node.get("type", [])
    types = [declared] if isinstance(declared, str) else declared
    if unknown := sorted(set(types) - TYPES):
        raise CodegenError(f"{where}: no rule for the type {', '.join(unknown)}")
    if len(set(types) - {"null"}) > 1:
        raise CodegenError(f"{where}: a type list may only add null, not join {', '.join(types)}")
    formats = {"integer": INTEGER_FORMATS, "number": NUMBER_FORMATS, "string": TEXT_FORMATS}
    for each in types:
        if "format" in node and each != "null" and node["format"] not in formats.get(each, set()):
            raise CodegenError(f"{where}: no rule for the format {node['format']} of a {each}")
    if "format" in node and not types:
        raise CodegenError(f"{where}: a format without a type")
