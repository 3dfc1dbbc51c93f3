"""Bring the published spelling of a schema to one plain form."""

from __future__ import annotations

from typing import Literal

from codegen.tree import Definitions, Node, rewrite_all, without

ENVELOPE = "x-docs-ignore"


def open_booleans(defs: Definitions) -> Definitions:
    """`true` as a schema becomes `{}`, which says the same; old releases wrote the former."""
    return {name: _open(node) for name, node in defs.items()}


def _open(schema: Node | Literal[True]) -> Node:
    if schema is True:
        return {}
    node = dict(schema)
    if "properties" in node:
        node["properties"] = {name: _open(child) for name, child in node["properties"].items()}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in node:
            node[keyword] = [_open(child) for child in node[keyword]]
    for keyword in ("items", "not"):
        if keyword in node:
            node[keyword] = _open(node[keyword])
    if isinstance(node.get("additionalProperties"), dict):  # `true` there says that the object is open
        node["additionalProperties"] = _open(node["additionalProperties"])
    return node


def drop_envelopes(defs: Definitions) -> Definitions:
    """Leave out the JSON-RPC envelopes: the codec reads those by method and id, not by the shape of a message."""
    return {name: node for name, node in defs.items() if not node.get(ENVELOPE)}


def unwrap_references(defs: Definitions) -> Definitions:
    """`allOf: [$ref]` that adds nothing becomes the `$ref` itself."""

    def unwrap(node: Node) -> Node:
        if "allOf" not in node or "properties" in node:
            return node
        inner: Node = node["allOf"][0]
        return without(node, "allOf", "type") | inner

    return rewrite_all(defs, unwrap)


def keep_text(defs: Definitions) -> Definitions:
    """Text stays text: a URI, a date or base64 data that is parsed does not come back as it was written."""

    def plain(node: Node) -> Node:
        types = node.get("type", [])
        return without(node, "format", "contentEncoding") if "string" in types else node

    return rewrite_all(defs, plain)


def open_objects(defs: Definitions) -> Definitions:
    """Leave out that an object is open, since every object keeps its unknown members: only a map says what it holds."""

    def opened(node: Node) -> Node:
        node = without(node, "unevaluatedProperties", "discriminator")
        values = node.get("additionalProperties")
        if values is True:
            node = without(node, "additionalProperties")
            if not node.keys() & {"properties", "not", "anyOf", "oneOf", "allOf"}:
                node["additionalProperties"] = {}
        return node

    return rewrite_all(defs, opened)
