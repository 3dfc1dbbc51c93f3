"""Unions of constants become one enumeration, with a line of documentation for every value."""

from __future__ import annotations

from codegen.tree import Definitions, Node, arms, rewrite_all, without


def merge_constants(defs: Definitions) -> Definitions:
    """`anyOf` of constants becomes `enum`; beside a bare catch-all the enumeration stays open.

    Open: `{"anyOf": [{"enum": […]}, {"type": "string"}]}`, which reads any string and still lists the known ones.
    """
    return rewrite_all(defs, _merge)


def _merge(node: Node) -> Node:
    constants = [arm for arm in arms(node) if "const" in arm]
    others = [arm for arm in arms(node) if "const" not in arm]
    if not constants or len(others) > 1 or any(_is_object(arm) for arm in constants):
        return node
    kind = constants[0]["type"]
    if any(arm["type"] != kind for arm in constants):
        return node
    values: Node = {"type": kind, "enum": [arm["const"] for arm in constants]}
    merged = without(node, "anyOf", "oneOf") | {"description": _explain(node, constants)}
    if not others:
        return merged | values
    catch_all = without(others[0], "title", "description")
    if catch_all.get("type") != kind or catch_all.keys() - {"type", "format", "minimum", "maximum"}:
        return node
    if kind != "string":
        return merged | catch_all  # Python types say no more of an open set of numbers than the set itself
    return merged | {"anyOf": [values, catch_all]}


def _is_object(arm: Node) -> bool:
    return "properties" in arm or not isinstance(arm.get("type"), str)


def _explain(node: Node, constants: list[Node]) -> str:
    lines = [f"- `{arm['const']}`: {' '.join(arm['description'].split())}" for arm in constants if "description" in arm]
    return "\n\n".join(filter(None, [node.get("description", ""), "\n".join(lines)]))
