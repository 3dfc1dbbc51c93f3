"""Bring the published spelling of a schema to one plain form."""

from __future__ import annotations

from codegen.tree import Definitions, Node, rewrite_all, without

ENVELOPE = "x-docs-ignore"


def open_booleans(defs: Definitions) -> Definitions:
    """Replace the schema `true`, which old releases contain, by its equivalent `{}`."""
    return rewrite_all(defs, lambda schema: {} if schema is True else schema)


def drop_envelopes(defs: Definitions) -> Definitions:
    """Remove the JSON-RPC envelopes: the codec reads them by method and id."""
    return {name: node for name, node in defs.items() if not node.get(ENVELOPE)}


def unwrap_references(defs: Definitions) -> Definitions:
    """Replace `allOf: [$ref]` without additions by the `$ref`."""

    def unwrap(node: Node) -> Node:
        if "allOf" not in node or "properties" in node:
            return node
        inner: Node = node["allOf"][0]
        return without(node, "allOf", "type") | inner

    return rewrite_all(defs, unwrap)


def keep_text(defs: Definitions) -> Definitions:
    """Keep strings as they are: a parsed URI, date or base64 value would not be written back unchanged."""

    def plain(node: Node) -> Node:
        types = node.get("type", [])
        return without(node, "format", "contentEncoding") if "string" in types else node

    return rewrite_all(defs, plain)


def open_objects(defs: Definitions) -> Definitions:
    """Remove keywords for open objects, which all objects are. Only a map keeps the type of its values."""

    def opened(node: Node) -> Node:
        node = without(node, "unevaluatedProperties", "discriminator")
        values = node.get("additionalProperties")
        if values is True:
            node = without(node, "additionalProperties")
            if not node.keys() & {"properties", "not", "anyOf", "oneOf", "allOf"}:
                node["additionalProperties"] = {}
        return node

    return rewrite_all(defs, opened)
