"""Objects: inline objects get a name, optional tags become plain fields, and `_meta` moves to a base class."""

from __future__ import annotations

from codegen.naming import pascal
from codegen.tree import CodegenError, Definitions, Node, arms, ref, rewrite_all, target, with_children, without

TAG = {"type", "const", "title", "description"}
"""The keywords that a tag may have."""

PLAIN = {"type", "properties", "required", "title", "description"}
"""The keywords of a variant without a payload."""


def constant(arm: Node, tag: str | None) -> str | None:
    """Return the tag of the variant *arm*, or None if it has no constant of that name."""
    value: str | None = arm.get("properties", {}).get(tag, {}).get("const")
    return value


def check_catch_all(union: str, arm: Node, tag: str, known: list[str]) -> None:
    """Check that the variant *arm* for unknown tags accepts exactly the objects with another string than *known*."""
    excluded = arms(arm["not"])
    tags = {constant(each, tag) for each in excluded}
    if (
        tags != set(known)
        or any(each.keys() - PLAIN or each["properties"].keys() != {tag} for each in excluded)
        or any(each["properties"][tag].keys() - TAG for each in excluded)
        or arm["not"].keys() - {*UNIONS, "title", "description"}
        or tag not in arm.get("required", [])
        or arm["properties"][tag].get("type") != "string"
    ):
        said = f"{union}: its variant for unknown tags must accept every {tag} except the tags of the other variants"
        for does, others in (("also excludes", tags - {*known, None}), ("does not exclude", set(known) - tags)):
            said += f"; it {does} {', '.join(sorted(map(str, others)))}" if others else ""
        raise CodegenError(said)


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
            return with_children(node, lambda child: hoist(owner, key, child))
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
    outer: dict[str, Node] = node.get("properties", {})
    own, variants = outer.get(tag, {}), [arm for arm in arms(node) if constant(arm, tag) is not None]
    catch_alls, known = [arm for arm in arms(node) if "not" in arm], [constant(arm, tag) or "" for arm in variants]
    faults = {
        "its schema in the object is not that of a string or null": set(own.get("type", [])) != {"string", "null"}
        or any(key not in {*TAG, "default"} and not key.startswith("x-") for key in own),
        "a variant has more than the tag": not all(_has_only_tag(arm, tag) for arm in arms(node)),
        "two variants have the same value": len(set(known)) < len(known),
        "a payload is not a plain object of optional fields": not all(map(_is_optional, _payloads(variants, defs))),
        "it is lenient, but has no variant for unknown values": own.get("x-deserialize-default-on-error")
        and not catch_alls,
    }
    if wrong := [why for why, is_wrong in faults.items() if is_wrong]:
        raise CodegenError(f"{name}: no rule for the optional tag {tag}: {wrong[0]}")
    for arm in catch_alls:
        check_catch_all(name, arm, tag, known)
    members = dict(outer)
    for arm, value in zip(variants, known, strict=True):
        for part in (arm, *_payloads([arm], defs)):
            for key, member in without(part.get("properties", {}), tag if part is arm else "").items():
                members[key] = _conditional(f"{name}.{key}", members.get(key), member, tag, value, always=key in outer)
    values = [arm["properties"][tag] | {key: arm[key] for key in ("description",) if key in arm} for arm in variants]
    other: list[Node] = [{"title": "other", "type": "string"}] if catch_alls else []
    members[tag] = without(own, "type") | {"anyOf": [{"anyOf": [*values, *other]}, {"type": "null"}]}
    return without(node, "anyOf", "oneOf") | {"properties": members}


def _null_tag(arm: Node) -> str | None:
    nulls = [key for key, value in arm.get("properties", {}).items() if value.get("type") == "null"]
    return nulls[0] if len(nulls) == 1 and "required" not in arm else None


def _has_only_tag(arm: Node, tag: str) -> bool:
    """Return True if *arm* has nothing but the tag and, if that is a constant, optional fields and a payload."""
    value = arm.get("properties", {}).get(tag, {})
    if "const" in value:
        is_alone, more = arm.get("required") == [tag], "allOf"
    else:
        is_alone, more = arm.get("properties", {}).keys() == {tag} and ("not" in arm or _null_tag(arm) == tag), "not"
    return is_alone and not value.keys() - TAG and not arm.keys() - {*PLAIN, more}


def _payloads(variants: list[Node], defs: Definitions) -> list[Node]:
    return [defs[target(part) or ""] for arm in variants for part in arm.get("allOf", [])]


def _is_optional(payload: Node) -> bool:
    more = {"allOf", "anyOf", "oneOf", "additionalProperties", "required"}
    return payload.get("type") == "object" and more.isdisjoint(payload)


def _conditional(where: str, before: Node | None, member: Node, tag: str, value: str, *, always: bool) -> Node:
    """Return a field with *value* added to the values of the tag for which it exists, unless it exists *always*."""
    before = member if before is None else before
    same = without(before, "x-when", "title", "description") == without(member, "title", "description")
    if not same or (where.endswith(f".{META}") and not always):
        raise CodegenError(f"{where}: no rule for a field that differs between the variants of {tag}")
    values = dict.fromkeys([*before.get("x-when", {"values": []})["values"], value])
    return before if always else before | {"x-when": {"member": tag, "values": [*values]}}


def hoist_meta(defs: Definitions) -> Definitions:
    """Move `_meta` to a base class, marked by `x-extensible`. An object with another `_meta` keeps its own."""

    def hoist(node: Node) -> Node:
        members = node.get("properties", {})
        if META not in members:
            return node
        same = without(members[META], "description") == META_SHAPE and META not in node.get("required", [])
        return node | {"properties": without(members, META) if same else members, "x-extensible": True}

    return rewrite_all(defs, hoist)
