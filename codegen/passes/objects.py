"""Objects: inline ones get a name, optional tags become plain properties, `_meta` moves to a base class."""

from __future__ import annotations

from typing import cast

from codegen.naming import pascal
from codegen.tree import CodegenError, Definitions, Node, arms, ref, rewrite_all, target, without

TAG = {"type", "const", "title", "description"}
"""What may be said of a tag."""

EXCLUDED = {"type", "properties", "required", "title", "description"}
"""What may be said of an excluded alternative, which has the tag alone."""


def constant(arm: Node, tag: str | None) -> str | None:
    """The tag of the alternative *arm*, or None where it has no constant of that name."""
    value: str | None = arm.get("properties", {}).get(tag, {}).get("const")
    return value


def check_catch_all(union: str, arm: Node, tag: str, known: list[str]) -> None:
    """See that the catch-all *arm* takes exactly the objects whose *tag* is a text other than those *known*.

    Raises:
        CodegenError: it excludes something else, or takes an object without a tag.
    """
    excluded = arms(arm["not"])
    for each in excluded:
        members = each.get("properties", {})
        if members.keys() != {tag} or each.keys() - EXCLUDED or members[tag].keys() - TAG:
            raise CodegenError(f"{union}: its catch-all excludes more than the tag {tag}, which would be lost")
    if lost := sorted(arm["not"].keys() - {"anyOf", "oneOf", "title", "description"}):
        raise CodegenError(f"{union}: its catch-all excludes by {', '.join(lost)} too, which would be lost")
    if {constant(each, tag) for each in excluded} != set(known):
        raise CodegenError(f"{union}: its catch-all excludes other tags than the alternatives have")
    if tag not in arm.get("required", []) or arm["properties"][tag].get("type") != "string":
        raise CodegenError(f"{union}: its catch-all takes objects whose {tag} is missing or no text")


UNIONS = ("anyOf", "oneOf")
OF_A_MEMBER = ("default", "x-deserialize", "x-when")
"""How keywords begin that are about a member, and not about the object in it."""
META = "_meta"
META_SHAPE: Node = {"type": ["object", "null"], "x-deserialize-default-on-error": True, "additionalProperties": {}}


def hoist_inline_objects(defs: Definitions) -> Definitions:
    """An object, or a union of objects, that is written out in a property becomes `{Definition}{Property}`.

    One that is written out as the items of a list, or the values of a map, becomes `{Definition}Item` or `…Value`.
    """
    hoisted: Definitions = {}

    def enter(owner: str, node: Node) -> Node:
        """*node* with the objects hoisted that stand in its members, items, values and alternatives."""
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
            raise CodegenError(f"{name}: the name of an inline object is taken by a definition")
        marks = {key: value for key, value in node.items() if key.startswith(OF_A_MEMBER)}
        hoisted[name] = {}  # takes the name
        hoisted[name] = enter(name, without(node, *marks))
        return ref(name) | marks | ({"description": node["description"]} if "description" in node else {})

    entered = {name: enter(name, node) for name, node in defs.items()}
    return entered | hoisted


def _is_written_out(node: Node) -> bool:
    inline = [arm["properties"] for arm in arms(node) if "properties" in arm]
    # A constant tells alternatives apart: a class that stood alone would take it for granted.
    has_tag = any("const" in member for members in inline for member in members.values())
    return "properties" in node or len(inline) > 1 or has_tag


def collapse_optional_tags(defs: Definitions) -> Definitions:
    """A union whose tag may be absent is one object: the tag is an optional property, so are the payloads' members."""
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
        raise CodegenError(f"{name}: two alternatives have the tag {min(twice)}")
    catch_alls = [arm for arm in arms(node) if "not" in arm]
    for arm in catch_alls:
        check_catch_all(name, arm, tag, known)
    if own.get("x-deserialize-default-on-error") and not catch_alls:
        raise CodegenError(f"{name}.{tag}: a bad value is excused, which no alternative takes; no rule for such a tag")
    choices: list[Node] = [*values, *([{"title": "other", "type": "string"}] if catch_alls else [])]
    shape = {"anyOf": [{"anyOf": choices}, {"type": "null"}]}
    members = node["properties"] | {tag: without(own, "type") | shape}
    members |= _conditional(name, tag, node["properties"], by_value)
    return without(node, "anyOf", "oneOf") | {"properties": members}


def _null_tag(arm: Node) -> str | None:
    nulls = [key for key, value in arm.get("properties", {}).items() if value.get("type") == "null"]
    return nulls[0] if len(nulls) == 1 and "required" not in arm else None


def _optional_tag(name: str, tag: str, node: Node) -> Node:
    """The schema that the object *node* itself has for *tag*; the constants of the alternatives will replace it."""
    own = node.get("properties", {}).get(tag)
    if own is None:
        raise CodegenError(f"{name}: the optional tag {tag} has no rule of its own among the properties")
    lost = own.keys() - {"type", "title", "description", "default"} - {key for key in own if key.startswith("x-")}
    if set(own.get("type", [])) != {"string", "null"} or lost:
        raise CodegenError(f"{name}.{tag}: no rule for an optional tag that is other than text or null by itself")
    return cast("Node", own)


def _check_arm(name: str, tag: str, arm: Node) -> None:
    """Refuse an alternative that has more than its tag and, if that is a constant, members and a payload."""
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
        raise CodegenError(f"{name}: no rule for an alternative of the optional tag {tag} that says more than the tag")


def _members(name: str, tag: str, arm: Node, defs: Definitions) -> dict[str, Node]:
    """The members that go with one value of the tag: those of the alternative *arm*, and of its payload."""
    members: dict[str, Node] = without(arm["properties"], tag)
    for part in arm.get("allOf", []):
        payload = target(part) or ""
        body = defs[payload]
        if body.get("type") != "object" or "allOf" in body or arms(body) or body.get("additionalProperties"):
            raise CodegenError(
                f"{name}: the payload {payload} of an optional tag is no object of its own members alone"
            )
        if body.get("required"):
            raise CodegenError(f"{name}: the payload {payload} of an optional tag has required members")
        for key, member in body.get("properties", {}).items():
            if key in members and not _same(members[key], member):
                raise CodegenError(f"{name}.{key}: an alternative and its payload {payload} describe it differently")
            members[key] = member
    return members


def _conditional(
    name: str, tag: str, outer: dict[str, Node], by_value: list[tuple[str, dict[str, Node]]]
) -> dict[str, Node]:
    """The members that only hold for some values of the tag, each with these values; without the members in *outer*."""
    found: dict[str, Node] = {}
    for value, members in by_value:
        for key, member in members.items():
            if key in outer:
                # What holds for every value of the tag holds for this one too.
                if not _same(outer[key], member):
                    raise CodegenError(f"{name}.{key}: the object and what goes with {value} describe it differently")
                continue
            if key == META:
                raise CodegenError(f"{name}: no rule for {META} that goes with {value} alone")
            before = found.get(key, member)
            if not _same(without(before, "x-when"), member):
                raise CodegenError(
                    f"{name}.{key}: what goes with {value} and with another {tag} describe it differently"
                )
            values = [*before.get("x-when", {"values": []})["values"], value]
            found[key] = before | {"x-when": {"member": tag, "values": values}}
    return found


def _same(one: Node, other: Node) -> bool:
    """Whether two members have the same schema, apart from title and description."""
    return without(one, "title", "description") == without(other, "title", "description")


def hoist_meta(defs: Definitions) -> Definitions:
    """`_meta` moves to a base class, for which `x-extensible` asks; where it differs the object keeps its own."""

    def hoist(node: Node) -> Node:
        members = node.get("properties", {})
        if META not in members:
            return node
        same = without(members[META], "description") == META_SHAPE and META not in node.get("required", [])
        return node | {"properties": without(members, META) if same else members, "x-extensible": True}

    return rewrite_all(defs, hoist)
