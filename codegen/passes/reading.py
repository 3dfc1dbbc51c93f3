"""How a reader treats a member: what excuses a bad value, and what an omitted member reads as."""

from __future__ import annotations

from typing import Any, cast

from codegen.tree import CodegenError, Definitions, Node, target, targets, walk, without

ON_ERROR, SKIP_ITEMS, ON_NULL = (
    "x-deserialize-default-on-error",
    "x-deserialize-skip-invalid-items",
    "x-deserialize-default-on-null",
)

WRAPPERS = {
    frozenset({ON_ERROR}): "Lenient",
    frozenset({ON_ERROR, SKIP_ITEMS}): "LenientList",
    frozenset({SKIP_ITEMS}): "SkipInvalid",
    frozenset({ON_NULL}): "NullAsEmpty",
}
"""One wrapper of `acp_bindings._model` for each combination of reading rules that occurs."""


def mark_lenient(defs: Definitions) -> Definitions:
    """Fold the `x-deserialize-*` keywords of a property into one wrapper name, `x-reads`."""
    for name, node in defs.items():
        inside = {key: _fold(f"{name}.{key}", value) for key, value in node.get("properties", {}).items()}
        defs = defs | {name: node | {"properties": inside}} if "properties" in node else defs
        for child in walk(without(defs[name], "properties")):
            if child.keys() & {ON_ERROR, SKIP_ITEMS, ON_NULL}:
                raise CodegenError(f"{name}: a reading rule stands outside of a property")
    return defs


def _fold(where: str, node: Node) -> Node:
    rules = frozenset(rule for rule in (ON_ERROR, SKIP_ITEMS, ON_NULL) if node.get(rule))
    plain = without(node, ON_ERROR, SKIP_ITEMS, ON_NULL)
    takes_anything = not plain.keys() - {"description", "title"}
    if not rules or takes_anything:
        return plain
    if rules not in WRAPPERS:
        raise CodegenError(f"{where}: no rule for {' with '.join(sorted(rules))}")
    return plain | {"x-reads": WRAPPERS[rules]}


def settle_absence(defs: Definitions) -> Definitions:
    """Say what an omitted property reads as: its default, an empty list or map, or None.

    None where null is no valid value is marked `x-omittable`: it can be read, but never be sent.
    """
    return {name: _settle(name, node, defs) for name, node in defs.items()}


def _settle(name: str, node: Node, defs: Definitions) -> Node:
    if "properties" not in node:
        return node
    required = node.get("required", [])
    settled = {
        key: value if key in required else _absent(f"{name}.{key}", value, defs)
        for key, value in node["properties"].items()
    }
    return node | {"properties": settled}


def _absent(where: str, node: Node, defs: Definitions) -> Node:
    if node.keys() & {"const", "x-implied", "x-absent"}:
        return node
    if "default" in node:
        return _defaulted(where, node, defs)
    if is_nullable(node):
        return node
    if node.get("type") == "array":
        return node | {"default": []}
    if node.get("type") == "object":
        return node | {"default": {}}
    inner = without(node, "description", "x-reads")
    outer = {key: value for key, value in node.items() if key not in inner}
    return outer | {"anyOf": [inner, {"type": "null"}], "x-omittable": True}


def _defaulted(where: str, node: Node, defs: Definitions) -> Node:
    """A default object must be what an empty object reads as: then the class says it, member by member."""
    name = target(node)
    if name is None or not isinstance(node["default"], dict):
        return node
    default = cast("dict[str, Any]", node["default"])
    if any(default[key] != value for key, value in _reads_as(name, defs).items() if key in default):
        raise CodegenError(f"{where}: its default differs from what an empty {name} reads as")
    if default.keys() - _reads_as(name, defs).keys() or defs[name].get("required"):
        raise CodegenError(f"{where}: its default has members that an empty {name} has not")
    return without(node, "default") | {"x-default-object": name}


def _reads_as(name: str, defs: Definitions) -> dict[str, Any]:
    members = defs[name].get("properties", {})
    return {key: value["default"] for key, value in members.items() if "default" in value}


def is_nullable(node: Node) -> bool:
    """Whether null is a valid value of *node*; `{}` takes any value."""
    types = node.get("type", [])
    if types == "null" or "null" in types or any(is_nullable(arm) for arm in node.get("anyOf", [])):
        return True
    return not node.keys() - {"description", "title", "x-reads"}


SECRET_MEMBERS = {"env", "headers"}


def mark_secrets(defs: Definitions) -> Definitions:
    """What stands in `env` or `headers` is never shown: the values of a map, or the `value` of each item."""
    secret_items: set[str] = set()
    marked: Definitions = {}
    for name, node in defs.items():
        members = dict(node.get("properties", {}))
        for key in SECRET_MEMBERS & members.keys():
            if "additionalProperties" in members[key]:
                members[key] = members[key] | {"x-secret": True}
            secret_items |= targets(members[key])
        marked[name] = node | {"properties": members} if members else node
    for name in secret_items:
        members = marked[name].get("properties", {})
        if "value" in members:
            secret = members["value"] | {"x-secret": True}
            marked[name] = marked[name] | {"properties": members | {"value": secret}}
    return marked
