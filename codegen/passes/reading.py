"""The reading rules of fields: invalid values that are tolerated, and the values of omitted fields."""

from __future__ import annotations

from typing import cast

from codegen.tree import (
    JSON_TYPES,
    CodegenError,
    Definitions,
    Node,
    arms,
    is_class,
    lineage,
    target,
    targets,
    types_of,
    without,
)

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
"""The wrapper for each combination of reading rules."""


def mark_lenient(defs: Definitions) -> Definitions:
    """Fold the `x-deserialize-*` keywords of a property into one wrapper name, `x-reads`."""

    def folded(name: str, node: Node) -> Node:
        members = node["properties"].items()
        return node | {"properties": {key: _fold(f"{name}.{key}", value, defs) for key, value in members}}

    return {name: folded(name, node) if "properties" in node else node for name, node in defs.items()}


def _fold(where: str, node: Node, defs: Definitions) -> Node:
    rules = frozenset(rule for rule in (ON_ERROR, SKIP_ITEMS, ON_NULL) if node.get(rule))
    plain = without(node, ON_ERROR, SKIP_ITEMS, ON_NULL)
    takes_anything = not plain.keys() - {"description", "title"}
    if not rules or takes_anything:
        return plain
    if rules not in WRAPPERS:
        raise CodegenError(f"{where}: no rule for {' with '.join(sorted(rules))}")
    if SKIP_ITEMS in rules and "array" not in plain.get("type", []):
        raise CodegenError(f"{where}: {SKIP_ITEMS} requires a list")
    if ON_NULL in rules and types_of(plain, defs) != {"array"} and plain.get("type") != "object":
        raise CodegenError(f"{where}: {ON_NULL} requires a list or a map for which null is not valid")
    return plain | {"x-reads": WRAPPERS[rules]}


def settle_absence(defs: Definitions) -> Definitions:
    """Decide the value of an omitted field: its default, an empty list or map, or None.

    None is marked `x-omittable` if null is not valid: it is read, but never sent.
    """
    return {name: _settle(name, node, defs) for name, node in defs.items()}


def _settle(name: str, node: Node, defs: Definitions) -> Node:
    if "properties" not in node:
        return node
    required = node.get("required", [])
    settled = {
        key: _present(f"{name}.{key}", value, defs) if key in required else _absent(f"{name}.{key}", value, defs)
        for key, value in node["properties"].items()
    }
    return node | {"properties": settled}


def _present(where: str, node: Node, defs: Definitions) -> Node:
    """Refuse a required field that is lenient, unless it is a list: an invalid value has no replacement."""
    if node.get("x-reads") not in ("Lenient", "LenientList"):
        return node
    if not _is_list(node, defs):
        raise CodegenError(f"{where}: required and lenient, but an invalid value has no replacement")
    if node.get("default", []) != []:
        lost = f"the default {node['default']!r} would be lost"
        raise CodegenError(f"{where}: required, so an invalid value is read as the empty list, and {lost}")
    return node


def _is_list(node: Node, defs: Definitions) -> bool:
    name = target(node)
    return node.get("type") == "array" if name is None else _is_list(defs[name], defs)


def _absent(where: str, node: Node, defs: Definitions) -> Node:
    if node.keys() & {"const", "x-default-tag", "x-absent"}:
        return node
    if "default" in node:
        return _defaulted(where, node, defs)
    if "null" in types_of(node, defs):
        return node
    if node.get("type") == "array":
        return node | {"default": []}
    # An invalid value is read as the empty list, but not as the empty map: without a default it counts as omitted.
    if node.get("type") == "object" and node.get("x-reads") != "Lenient":
        return node | {"default": {}}
    if "x-when" in node:
        raise CodegenError(f"{where}: no rule for a field without null that depends on {node['x-when']['member']}")
    outer = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
    return outer | {"anyOf": [without(node, *outer), {"type": "null"}], "x-omittable": True}


def _defaulted(where: str, node: Node, defs: Definitions) -> Node:
    """Check that a default object equals the empty object of its class, with the defaults of that class."""
    default = node["default"]
    name = target(node)
    if name is None or not is_class(defs[name]):
        if not _fits(default, node, defs):
            raise CodegenError(f"{where}: no rule for {default!r} as the default of this type")
        return node
    family = [defs[each] for each in lineage(name, defs)]
    members = [item for each in family for item in each.get("properties", {}).items()]
    defaults = {key: value["default"] for key, value in members if "default" in value}
    required = [member for each in family for member in each.get("required", [])]
    if required or not isinstance(default, dict) or defaults | cast("Node", default) != defaults:
        raise CodegenError(f"{where}: the default {default!r} differs from an empty {name}")
    return without(node, "default") | {"x-default-object": name}


def _fits(default: object, node: Node, defs: Definitions) -> bool:
    """Return True if *default* is valid and can be a Python default: a scalar, or an empty list or map."""
    if (name := target(node)) is not None:
        return not is_class(defs[name]) and _fits(default, defs[name], defs)
    if arms(node):
        return any(_fits(default, arm, defs) for arm in arms(node))
    if "enum" in node:
        return default in node["enum"]
    types = JSON_TYPES[type(default)]
    writable = default in ([], {}) or not types & {"array", "object"}
    return writable and bool(types & types_of(node, defs))


SECRET_MEMBERS = {"env", "headers"}


def mark_secrets(defs: Definitions) -> Definitions:
    """Mark the values in `env` and `headers` as secret: the `value` of each item, otherwise the whole field."""
    secret: set[tuple[str, str]] = set()
    for name, node in defs.items():
        for key in SECRET_MEMBERS & node.get("properties", {}).keys():
            items = targets(node["properties"][key])
            have_value = items and all("value" in defs[each].get("properties", {}) for each in items)
            secret |= {(each, "value") for each in items} if have_value else {(name, key)}
    return {name: _hidden(node, {key for each, key in secret if each == name}) for name, node in defs.items()}


def _hidden(node: Node, keys: set[str]) -> Node:
    members = {key: node["properties"][key] | {"x-secret": True} for key in keys}
    return node | {"properties": node["properties"] | members} if members else node
