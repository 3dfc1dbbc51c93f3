"""Objects: inline objects get a name, optional tags become plain fields, and `_meta` moves to a base class."""

from __future__ import annotations

from typing import cast

from codegen.naming import pascal
from codegen.tree import CodegenError, Definitions, Node, arms, ref, rewrite_all, target, without

TAG = {"type", "const", "title", "description"}
"""The keywords that a tag may have."""

EXCLUDED = {"type", "properties", "required", "title", "description"}
"""The keywords that an excluded variant may have. Its only property is the tag."""


def constant(arm: Node, tag: str | None) -> str | None:
    """Return the tag of the variant *arm*, or None if it has no constant of that name."""
    value: str | None = arm.get("properties", {}).get(tag, {}).get("const")
    return value


def check_catch_all(union: str, arm: Node, tag: str, known: list[str]) -> None:
    """Check that the variant *arm* for unknown tags accepts exactly the objects with another string than *known*."""
    excluded = arms(arm["not"])
    if (
        {constant(each, tag) for each in excluded} != set(known)
        or any(each.keys() - EXCLUDED or each["properties"].keys() != {tag} for each in excluded)
        or any(each["properties"][tag].keys() - TAG for each in excluded)
        or arm["not"].keys() - {*UNIONS, "title", "description"}
        or tag not in arm.get("required", [])
        or arm["properties"][tag].get("type") != "string"
    ):
        raise CodegenError(
            f"{union}: its variant for unknown tags must accept every {tag} except the tags of the other variants"
        )


UNIONS = ("anyOf", "oneOf")
OF_A_MEMBER = ("default", "x-deserialize", "x-when")
"""The prefixes of keywords that belong to a field and not to the object in it."""
META = "_meta"
META_SHAPE: Node = {"type": ["object", "null"], "x-deserialize-default-on-error": True, "additionalProperties": {}}


def hoist_inline_objects(defs: Definitions) -> Definitions:
    """Turn an inline object, or union of objects, in a property into the definition `{Definition}{Property}`.

    One in the items of a list or the values of a map becomes `{Definition}Item` or `…Value`.
    """
    hoisted: Definitions = {}

    def enter(owner: str, node: Node) -> Node:
        """Return *node* with the inline objects of its fields, items, values and variants hoisted."""
        entered = dict(node)
        for each, key in (("items", "item"), ("additionalProperties", "value")):
            if each in node:
                entered[each] = hoist(owner, key, node[each])
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
            raise CodegenError(f"{name}: the name of an inline object is also the name of a definition")
        marks = {key: value for key, value in node.items() if key.startswith(OF_A_MEMBER)}
        hoisted[name] = {}  # reserves the name
        hoisted[name] = enter(name, without(node, *marks))
        return ref(name) | marks | ({"description": node["description"]} if "description" in node else {})

    entered = {name: enter(name, node) for name, node in defs.items()}
    return entered | hoisted


def _is_written_out(node: Node) -> bool:
    inline = [arm["properties"] for arm in arms(node) if "properties" in arm]
    # A constant decides between variants, so an object with one is a variant that needs a class.
    has_tag = any("const" in member for members in inline for member in members.values())
    return "properties" in node or len(inline) > 1 or has_tag


def collapse_optional_tags(defs: Definitions) -> Definitions:
    """Turn a union whose tag may be absent into one object with an optional tag and the fields of all payloads."""
    return {name: _collapse(name, node, defs) for name, node in defs.items()}


def _collapse(name: str, node: Node, defs: Definitions) -> Node:
    tags = {tag for arm in arms(node) if (tag := _null_tag(arm))}
    if len(tags) != 1:
        return node
    tag = tags.pop()
    own = _optional_tag(name, tag, node)
    values: list[Node] = []
    by_value: list[tuple[str, dict[str, Node]]] = []
    for arm in arms(node):
        _check_arm(name, tag, arm)
        value = arm["properties"][tag]
        if "const" in value:
            values.append(value | {"description": arm["description"]} if "description" in arm else value)
            by_value.append((value["const"], _members(name, tag, arm, defs)))
    known = [value["const"] for value in values]
    if twice := {value for value in known if known.count(value) > 1}:
        raise CodegenError(f"{name}: two variants have the tag {min(twice)}")
    catch_alls = [arm for arm in arms(node) if "not" in arm]
    for arm in catch_alls:
        check_catch_all(name, arm, tag, known)
    if own.get("x-deserialize-default-on-error") and not catch_alls:
        raise CodegenError(f"{name}.{tag}: no rule for a lenient tag without a variant for unknown tags")
    choices: list[Node] = [*values, *([{"title": "other", "type": "string"}] if catch_alls else [])]
    shape = {"anyOf": [{"anyOf": choices}, {"type": "null"}]}
    members = node["properties"] | {tag: without(own, "type") | shape}
    members |= _conditional(name, tag, node["properties"], by_value)
    return without(node, "anyOf", "oneOf") | {"properties": members}


def _null_tag(arm: Node) -> str | None:
    nulls = [key for key, value in arm.get("properties", {}).items() if value.get("type") == "null"]
    return nulls[0] if len(nulls) == 1 and "required" not in arm else None


def _optional_tag(name: str, tag: str, node: Node) -> Node:
    """Return the schema of *tag* in the object *node* itself, which the constants of the variants replace."""
    own = node.get("properties", {}).get(tag)
    if own is None:
        raise CodegenError(f"{name}: the optional tag {tag} is missing in the properties of the object")
    lost = own.keys() - {"type", "title", "description", "default"} - {key for key in own if key.startswith("x-")}
    if set(own.get("type", [])) != {"string", "null"} or lost:
        raise CodegenError(f"{name}.{tag}: no rule for an optional tag that is not a string or null in the object")
    return cast("Node", own)


def _check_arm(name: str, tag: str, arm: Node) -> None:
    """Refuse a variant with more than its tag and, if the tag is a constant, fields and a payload."""
    value = arm.get("properties", {}).get(tag, {})
    expected = {"title", "description", "type", "properties", "required"}
    if "const" in value:
        alone = arm.get("required") == [tag] and not value.keys() - TAG
        expected |= {"allOf"}
    elif "not" in arm:
        alone = arm["properties"].keys() == {tag} and not value.keys() - TAG
        expected |= {"not"}
    else:
        alone = _null_tag(arm) == tag and arm["properties"].keys() == {tag} and value.keys() <= {"type"} | TAG
    if not alone or arm.keys() - expected:
        raise CodegenError(f"{name}: no rule for a variant of the optional tag {tag} with more than the tag")


def _members(name: str, tag: str, arm: Node, defs: Definitions) -> dict[str, Node]:
    """Return the fields for one value of the tag: those of the variant *arm* and of its payload."""
    members: dict[str, Node] = without(arm["properties"], tag)
    for part in arm.get("allOf", []):
        payload = target(part) or ""
        body = defs[payload]
        if body.get("type") != "object" or "allOf" in body or arms(body) or body.get("additionalProperties"):
            raise CodegenError(f"{name}: the payload {payload} of an optional tag is not a plain object")
        if body.get("required"):
            raise CodegenError(f"{name}: the payload {payload} of an optional tag has required fields")
        for key, member in body.get("properties", {}).items():
            if key in members and not _same(members[key], member):
                raise CodegenError(f"{name}.{key}: differs between a variant and its payload {payload}")
            members[key] = member
    return members


def _conditional(
    name: str, tag: str, outer: dict[str, Node], by_value: list[tuple[str, dict[str, Node]]]
) -> dict[str, Node]:
    """Return the fields that exist only for some values of the tag, with these values, without those in *outer*."""
    found: dict[str, Node] = {}
    for value, members in by_value:
        for key, member in members.items():
            if key in outer:
                # A field for every value of the tag is a field for this one too.
                if not _same(outer[key], member):
                    raise CodegenError(f"{name}.{key}: differs between the object and its variant {value}")
                continue
            if key == META:
                raise CodegenError(f"{name}: no rule for {META} of the variant {value} only")
            before = found.get(key, member)
            if not _same(without(before, "x-when"), member):
                raise CodegenError(f"{name}.{key}: differs between {value} and another variant of {tag}")
            values = [*before.get("x-when", {"values": []})["values"], value]
            found[key] = before | {"x-when": {"member": tag, "values": values}}
    return found


def _same(one: Node, other: Node) -> bool:
    """Return True if two fields have the same schema, apart from title and description."""
    return without(one, "title", "description") == without(other, "title", "description")


def hoist_meta(defs: Definitions) -> Definitions:
    """Move `_meta` to a base class, marked by `x-extensible`. An object with another `_meta` keeps its own."""

    def hoist(node: Node) -> Node:
        members = node.get("properties", {})
        if META not in members:
            return node
        same = without(members[META], "description") == META_SHAPE and META not in node.get("required", [])
        return node | {"properties": without(members, META) if same else members, "x-extensible": True}

    return rewrite_all(defs, hoist)
