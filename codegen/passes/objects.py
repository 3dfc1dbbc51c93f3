"""Objects: inline ones get a name, optional tags become plain properties, `_meta` moves to a base class."""

from __future__ import annotations

from codegen.naming import pascal
from codegen.tree import CodegenError, Definitions, Node, arms, ref, rewrite_all, target, without

UNIONS = ("anyOf", "oneOf")
META = "_meta"
META_SHAPE: Node = {"type": ["object", "null"], "x-deserialize-default-on-error": True, "additionalProperties": {}}


def hoist_inline_objects(defs: Definitions) -> Definitions:
    """What is written out inside a property, an object or a union of them, becomes `{Definition}{Property}`."""
    hoisted: Definitions = {}

    def enter(owner: str, node: Node) -> Node:
        """*node* with what stands in its members, and in those of its alternatives, hoisted."""
        entered = dict(node)
        if "properties" in node:
            entered["properties"] = {key: hoist(owner, key, child) for key, child in node["properties"].items()}
        unions = {each: [enter(owner, arm) for arm in node[each]] for each in UNIONS if each in node}
        return entered | unions

    def hoist(owner: str, key: str, node: Node) -> Node:
        if not _is_written_out(node):
            inner = {each: hoist(owner, key, node[each]) for each in ("items", "additionalProperties") if each in node}
            unions = {each: [hoist(owner, key, arm) for arm in node[each]] for each in UNIONS if each in node}
            return node | inner | unions
        name = owner + pascal(key, where=owner)
        if name in defs or name in hoisted:
            raise CodegenError(f"{name}: the name of an inline object is taken by a definition")
        marks = {key: value for key, value in node.items() if key.startswith("x-deserialize") or key == "default"}
        hoisted[name] = {}  # takes the name
        hoisted[name] = enter(name, without(node, *marks))
        return ref(name) | marks | ({"description": node["description"]} if "description" in node else {})

    entered = {name: enter(name, node) for name, node in defs.items()}
    return entered | hoisted


def _is_written_out(node: Node) -> bool:
    return "properties" in node or sum("properties" in arm for arm in arms(node)) > 1


def collapse_optional_tags(defs: Definitions) -> Definitions:
    """A union whose tag may be absent is one object: the tag is an optional property, so are the payloads' members."""
    return {name: _collapse(name, node, defs) for name, node in defs.items()}


def _collapse(name: str, node: Node, defs: Definitions) -> Node:
    tags = {tag for arm in arms(node) if (tag := _null_tag(arm))}
    if len(tags) != 1:
        return node
    tag = tags.pop()
    own = node.get("properties", {}).get(tag)
    if own is None:
        raise CodegenError(f"{name}: the optional tag {tag} has no rule of its own among the properties")
    values: list[Node] = []
    payloads: Node = {}
    is_open = False
    for arm in arms(node):
        value = arm.get("properties", {}).get(tag, {})
        if "const" in value:
            values.append(value | {"description": arm["description"]} if "description" in arm else value)
        is_open = is_open or "not" in arm
        for part in arm.get("allOf", []):
            payload = defs[target(part) or ""]
            if payload.get("required"):
                raise CodegenError(f"{name}: the payload {target(part)} of an optional tag has required members")
            when = {"x-when": {"member": tag, "value": value.get("const")}}
            payloads |= {key: member | when for key, member in payload.get("properties", {}).items()}
    known: list[Node] = [*values, *([{"title": "other", "type": "string"}] if is_open else [])]
    kept = {key: value for key, value in own.items() if key != "type"}
    shape = {"anyOf": [{"anyOf": known}, {"type": "null"}]}
    return without(node, "anyOf", "oneOf") | {"properties": node["properties"] | {tag: kept | shape} | payloads}


def _null_tag(arm: Node) -> str | None:
    nulls = [key for key, value in arm.get("properties", {}).items() if value.get("type") == "null"]
    return nulls[0] if len(nulls) == 1 and "required" not in arm else None


def hoist_meta(defs: Definitions) -> Definitions:
    """`_meta` lives in one base class, which `x-extensible` asks for; where it differs, the object overrides it."""

    def hoist(node: Node) -> Node:
        members = node.get("properties", {})
        if META not in members:
            return node
        same = without(members[META], "description") == META_SHAPE and META not in node.get("required", [])
        return node | {"properties": without(members, META) if same else members, "x-extensible": True}

    return rewrite_all(defs, hoist)
