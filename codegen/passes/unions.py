"""Give every variant of a union of objects a class with a name and a tag.

After `name_variants` a union consists of references only, and `x-tag` names the field that decides between them. In the
schema of the tag, `const` is its value, and `x-default-tag` its value where the tag may be missing (with `x-untagged`
it is never written). `x-not-enum` lists the tags of other variants. A field that only other variants may have is marked
`x-absent`.
"""

from __future__ import annotations

from itertools import permutations
from typing import Literal, NamedTuple

from codegen.naming import joined, variant_name
from codegen.passes.objects import TAG, check_catch_all, constant
from codegen.tree import (
    CodegenError,
    Definitions,
    Node,
    arms,
    is_class,
    kind,
    reachable,
    ref,
    target,
    walk,
    without,
)


def open_notifications(defs: Definitions) -> Definitions:
    """Add a variant for unknown tags to tagged unions in notifications, which cannot be answered with an error."""
    sent = {"Notification": set[str](), "answered": set[str]()}
    for name, node in defs.items():
        if method_kind := kind(name, node):
            sent["Notification" if method_kind == "Notification" else "answered"].add(name)
    only_notified = reachable(defs, sent["Notification"]) - reachable(defs, sent["answered"])
    return {name: _opened(name, node) if name in only_notified else node for name, node in defs.items()}


def _opened(name: str, node: Node) -> Node:
    tag = _tag(name, node)
    if tag is None or any(constant(arm, tag) is None for arm in arms(node)):
        return node
    known = [{"properties": {tag: {"const": constant(arm, tag), "type": "string"}}} for arm in arms(node)]
    catch_all: Node = {
        "title": "other",
        "description": "A variant that is newer than this schema, preserved as it was received.",
        "type": "object",
        "properties": {tag: {"type": "string"}},
        "required": [tag],
        "not": {"anyOf": known},
    }
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    return node | {keyword: [*node[keyword], catch_all]}


def name_list_arms(defs: Definitions) -> Definitions:
    """Turn a list among the variants of a union into a definition, which has a place for its bounds."""
    named = dict(defs)
    for name, node in defs.items():
        for keyword in ("anyOf", "oneOf"):
            if any(arm.get("type") == "array" for arm in node.get(keyword, [])):
                named[name] = named[name] | {keyword: [_listed(name, arm, named) for arm in node[keyword]]}
    return named


def _listed(union: str, arm: Node, named: Definitions) -> Node:
    if arm.get("type") != "array" or "title" not in arm:
        return arm
    name = joined(union, arm["title"])
    if name in named:
        raise CodegenError(f"{union}: the name {name} of one of its lists is already used")
    named[name] = without(arm, "title")
    return ref(name)


def name_variants(defs: Definitions) -> Definitions:
    """Turn every variant of a union of objects into a definition.

    A payload that is used by one variant and lacks only the tag gets the tag and keeps its name. Other variants become
    subclasses of their payload. Fields of the union itself go into each variant.
    """
    return _Naming(defs).run()


class _Union(NamedTuple):
    """A finished union: label and name of each variant, and the tag that decides."""

    variants: list[tuple[str, str]]
    tag: str | None


class _Naming:
    """Names the variants of all unions. A union is split when it is first met, because unions may contain others."""

    def __init__(self, defs: Definitions) -> None:
        self.defs = defs
        self.out: Definitions = dict(defs)
        """The definitions so far."""
        self.unions: dict[str, _Union] = {}
        """The unions that are split already."""
        uses = [name for node in defs.values() for child in walk(node) if (name := target(child))]
        self.used_once = {name for name in uses if uses.count(name) == 1}
        """The definitions with a single reference."""

    def run(self) -> Definitions:
        for name in sorted(self.defs):  # the order of the schema must not decide which union gets a name
            self.union(name)
        return self.out

    def union(self, name: str) -> _Union | None:
        """Return the union *name*, which is split if it was not yet; None if it is not a union of objects."""
        body = self.out[name]
        if name not in self.unions and self.is_object_union(body):
            self.unions[name] = self.split(name, body)
        elif name not in self.unions and arms(body) and any("properties" in each for each in (body, *arms(body))):
            raise CodegenError(f"{name}: fields next to variants that are not all objects")
        return self.unions.get(name)

    def is_object_union(self, node: Node) -> bool:
        return bool(arms(node)) and all(self.is_object(arm) for arm in arms(node))

    def is_object(self, node: Node) -> bool:
        name = target(node)
        if name is None:
            return "properties" in node
        return "properties" in self.out[name] or self.is_object_union(self.out[name])

    def split(self, name: str, node: Node, tag_of_parts: str | None = None) -> _Union:
        """Name the variants of *node*, and add them and the union to the definitions."""
        tag = _tag(name, node)
        known = [value for arm in arms(node) if (value := constant(arm, tag)) is not None]
        if twice := {value for value in known if known.count(value) > 1}:
            raise CodegenError(f"{name}: two variants have the tag {min(twice)}")
        exclusive = self.exclusive(name, node, tag) if "oneOf" in node else set[str]()
        variants: list[tuple[str, str]] = []
        for arm in arms(node):
            if "not" in arm:
                variants.append(("Other", self.catch_all(name, node, arm, tag, known)))
                continue
            label = constant(arm, tag) or arm.get("title") or target(arm)
            if label is None:
                raise CodegenError(f"{name}: a variant has neither a tag nor a title for its name")
            added = _merged(name, node, arm, tag)
            if tag is None:
                others = exclusive - self.members(arm, "required")
                added["properties"] |= {member: {"x-absent": True} for member in sorted(others)}
            else:
                self.check_tag(name, node, arm, tag, label)
                added["properties"] = {tag: _tag_member(arm, tag, label, known)} | without(added["properties"], tag)
            variants.append((label, self.variant(name, arm, added, tag, label)))
        if len(variants) == 1 and variants[0][1] in self.unions:
            raise CodegenError(f"{name}: no rule for a union whose only variant is a union")
        rest = without(node, "type", "properties", "required", "anyOf", "oneOf", "x-extensible")
        decides = tag or tag_of_parts
        self.out[name] = rest | {"anyOf": [ref(each) for _, each in variants], "x-tag": decides}
        return _Union(variants, decides)

    def check_tag(self, name: str, node: Node, arm: Node, tag: str, label: str) -> None:
        """Refuse a variant that contains the tag without a constant."""
        described = self.members(arm, "properties") | node.get("properties", {}).keys()
        if constant(arm, tag) is None and tag in described:
            raise CodegenError(f"{name}: its variant {label} contains the tag {tag} without a constant")

    def exclusive(self, name: str, node: Node, tag: str | None) -> set[str]:
        """Return the required fields that distinguish the variants of the `oneOf` *node*; empty if a tag does."""
        if tag is not None:
            if any(constant(arm, tag) is None and "not" not in arm for arm in arms(node)):
                raise CodegenError(f"{name}: a variant of its oneOf has no {tag}, so a value may fit two variants")
            return set()
        shared = node.get("properties", {}).keys()
        for one, other in permutations(arms(node), 2):
            distinguishing = self.members(other, "required") - self.members(one, "required")
            if not distinguishing or distinguishing & (self.members(one, "properties") | shared) or self.is_union(one):
                raise CodegenError(f"{name}: a value may fit two variants of its oneOf")
            if len(distinguishing) > 1:  # an object may have one of them as an unknown field
                together = " and ".join(sorted(distinguishing))
                raise CodegenError(f"{name}: no rule for variants of a oneOf that only {together} together distinguish")
        return {member for arm in arms(node) for member in self.members(arm, "required")}

    def is_union(self, arm: Node) -> bool:
        return bool(arms(arm) or arms(self.out[target(arm) or ""] if target(arm) else {}))

    def members(self, arm: Node, which: Literal["properties", "required"]) -> set[str]:
        """Return the fields that *arm* has or requires, including those of the objects that it extends."""
        parts = [self.out[name] for part in (arm, *arm.get("allOf", [])) if (name := target(part))]
        return set(arm.get(which, [])).union(*(self.members(part, which) for part in parts))

    def variant(self, union: str, arm: Node, added: Node, tag: str | None, label: str) -> str:
        """Return the name of one variant, and add it to the definitions unless its payload can be used as it is."""
        payload = target(arm) or next((name for part in arm.get("allOf", []) if (name := target(part))), None)
        if payload is not None and not added["properties"] and "x-extensible" not in added:
            return payload
        inner = self.union(payload) if payload is not None else None
        if payload is not None and inner is None:
            body = self.out[payload]
            if not is_class(body):
                raise CodegenError(f"{union}: the payload {payload} of its variant {label} is not an object")
            if self.absorbs(payload, added, tag):
                self.out[payload] = body | {"properties": added["properties"] | body.get("properties", {})}
                return payload
        speaks_for_itself = constant(arm, tag) is not None
        name = variant_name(union, label, self.out) if speaks_for_itself else joined(union, label)
        if name == payload:  # the payload has other uses, or lacks more than the tag
            name += "Variant"
        if name in self.out:
            raise CodegenError(f"{union}: the name {name} of its variant {label} is already used")
        described = arm if "description" in arm or payload is None else self.out[payload]
        description = {key: described[key] for key in ("description",) if key in described}
        if inner is not None:
            parts = [ref(each) | {"title": part_label} for part_label, each in inner.variants]
            self.unions[name] = self.split(name, description | added | {"anyOf": parts}, inner.tag)
            return name
        base: Node = {"allOf": [ref(payload)]} if payload is not None else {}
        self.out[name] = description | {"type": "object"} | added | base
        return name

    def absorbs(self, payload: str, added: Node, tag: str | None) -> bool:
        body = self.out[payload]
        return (
            payload in self.used_once
            and added["properties"].keys() == {tag}
            and ("x-extensible" not in added or "x-extensible" in body)
            and "x-method" not in body
            and tag not in body.get("properties", {})
        )

    def catch_all(self, union: str, node: Node, arm: Node, tag: str | None, known: list[str]) -> str:
        """Return the name of the variant for unknown tags, which refuses known tags and preserves all others."""
        if tag is None:
            raise CodegenError(f"{union}: has a variant for unknown tags, but no tag")
        check_catch_all(union, arm, tag, known)
        added = _merged(union, node, arm, tag)
        not_enum: Node = {"type": "string", "x-not-enum": sorted(known)}
        added["properties"] = {tag: not_enum} | without(added["properties"], tag)
        name = f"Other{union}"
        if name in self.out:
            raise CodegenError(f"{union}: the name {name} of its variant for unknown tags is already used")
        body = {"description": arm.get("description", ""), "type": "object"} | added
        if arms(arm):
            keyword = "anyOf" if "anyOf" in arm else "oneOf"
            self.unions[name] = self.split(name, body | {keyword: arms(arm)})
        else:
            self.out[name] = body
        return name


def _merged(union: str, outer: Node, inner: Node, tag: str | None) -> Node:
    """Return the fields of *outer* and *inner* in one object."""
    for key in sorted(outer.get("properties", {}).keys() & inner.get("properties", {}).keys() - {tag}):
        raise CodegenError(f"{union}.{key}: contained in the union and in one of its variants")
    for schema in (node.get("properties", {}).get(tag, {}) for node in (outer, inner)):
        if lost := sorted(schema.keys() - TAG):
            raise CodegenError(f"{union}.{tag}: {lost[0]} next to a tag would be lost")
        if "string" not in schema.get("type", "string"):
            raise CodegenError(f"{union}.{tag}: no rule for a tag of the type {schema['type']}; tags are strings")
    merged: Node = {
        "properties": outer.get("properties", {}) | inner.get("properties", {}),
        "required": [*outer.get("required", []), *inner.get("required", [])],
    }
    if "x-extensible" in outer or "x-extensible" in inner:
        merged["x-extensible"] = True
    return merged


def _tag(name: str, node: Node) -> str | None:
    """Return the field whose constant distinguishes the variants of a union, or None."""
    constants = [
        (key, key in arm.get("required", []))
        for arm in arms(node)
        for key, value in arm.get("properties", {}).items()
        if "const" in value
    ]
    if optional := sorted(key for key, required in constants if not required):
        raise CodegenError(f"{name}: no rule for the constant {optional[0]}, which may be absent and is not a tag")
    tags = {key for key, _ in constants}
    if len(tags) > 1:
        raise CodegenError(f"{name}: {' and '.join(sorted(tags))} both look like the tag of the union")
    return tags.pop() if tags else None


UNTAGGED = {"stdio"}
"""Variants whose tag is never written: some agents read an MCP server with any `type` as a remote one."""


def _tag_member(arm: Node, tag: str, label: str, known: list[str]) -> Node:
    """Return the tag as a field of its variant. If the schema has no constant for it, its value is the *label*."""
    value = constant(arm, tag)
    if value is not None:
        return {"type": "string", "const": value}
    default_tag = {"type": "string", "x-default-tag": label, "x-not-enum": sorted(known)}
    return default_tag | {"x-untagged": True} if label in UNTAGGED else default_tag
