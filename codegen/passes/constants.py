"""Unions of constants become one enumeration, with a line of documentation for every value."""

from __future__ import annotations

from functools import partial

from codegen.passes.numbers import is_in_range
from codegen.tree import CodegenError, Definitions, Node, arms, rewrite, without


def merge_constants(defs: Definitions) -> Definitions:
    """`anyOf` of constants becomes `enum`; beside a bare catch-all the enumeration stays open.

    Open: `{"anyOf": [{"enum": […]}, {"type": "string"}]}`, which reads any string and still lists the known ones.
    An open set of numbers is the catch-all alone, because Python types can say no more of it. A closed one is refused:
    to Python `1`, `1.0` and `True` are the same constant.
    """
    return {name: rewrite(node, partial(_merge, name)) for name, node in defs.items()}


def _merge(name: str, node: Node) -> Node:
    constants = [arm for arm in arms(node) if "const" in arm]
    values = [arm["const"] for arm in node.get("oneOf", []) if "const" in arm]
    if twice := [value for value in values if values.count(value) > 1]:
        raise CodegenError(f"{name}: {twice[0]!r} fits two alternatives of a oneOf, which only one may")
    others = [arm for arm in arms(node) if "const" not in arm]
    merged = _merged(node, constants, others) if constants else node
    if any(not isinstance(arm["const"], str) for arm in arms(merged) if "const" in arm):
        raise CodegenError(f"{name}: constants that are not text are read where any other number is valid too")
    return merged


def _merged(node: Node, constants: list[Node], others: list[Node]) -> Node:
    kind = constants[0]["type"]
    if len(others) > 1 or any(arm["type"] != kind for arm in constants):
        return node
    values: Node = {"type": kind, "enum": [arm["const"] for arm in constants]}
    merged = without(node, "anyOf", "oneOf") | {"description": _explain(node, constants)}
    if not others and kind == "string":
        return merged | values
    catch_all = without(others[0], "title", "description") if others else {}
    if "oneOf" in node and others:
        return node  # a constant that the catch-all takes too is not valid
    if catch_all.get("type") != kind or catch_all.keys() - {"type", "format", "minimum", "maximum"}:
        return node
    if kind != "string":
        in_reach = all(is_in_range(arm["const"], catch_all) for arm in constants)
        return merged | catch_all if in_reach else node
    return merged | {"anyOf": [values, catch_all]}


def _explain(node: Node, constants: list[Node]) -> str:
    lines = [f"- `{arm['const']}`: {' '.join(arm['description'].split())}" for arm in constants if "description" in arm]
    return "\n\n".join(filter(None, [node.get("description", ""), "\n".join(lines)]))
