"""Give every variant of a union of objects a class with a name and a tag.

After `name_variants` a union consists of references only, and `x-tag` names the field that decides between them. In the
schema of the tag, `const` is its value, and `x-default-tag` its value where the tag may be missing (with `x-untagged`
it is never written). `x-not-enum` lists the tags of other variants. A field that only other variants may have is marked
`x-absent`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any, Literal, NamedTuple, cast

from codegen.naming import catch_all_name, joined, variant_name
from codegen.passes.objects import META, TAG, check_catch_all, constant
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
    types_of,
    walk,
    without,
)


def check_exclusive(defs: Definitions) -> None:
    """See that nothing fits two alternatives of a `oneOf`, and that no definition is a union with one type twice.

    Args:
        defs: definitions whose unions of objects have been split; those have been checked there.

    Raises:
        CodegenError: names the definition, and the member where it is one.
    """
    for name, node in defs.items():
        for where, part in _places(name, node):
            if any(not _apart(one, other, defs) for one, other in combinations(part.get("oneOf", []), 2)):
                raise CodegenError(
                    f"{where}: a value may fit two alternatives of its oneOf, which would be read as one"
                )
        if any(_same(one, other, defs) for one, other in combinations(arms(node), 2)):
            raise CodegenError(f"{name}: two of its alternatives are the same type to Python")


def _places(name: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Every schema in the definition *name*; those in a member first, with the member."""
    for key, member in node.get("properties", {}).items():
        yield from ((f"{name}.{key}", part) for part in walk(member))
    yield from ((name, part) for part in walk(node))


def _apart(one: Node, other: Node, defs: Definitions) -> bool:
    """Whether it is certain that no value fits both."""
    values, others = _values(one, defs), _values(other, defs)
    if values is not None and others is not None:
        return values.isdisjoint(others)
    types, more = ({"number" if each == "integer" else each for each in types_of(part, defs)} for part in (one, other))
    return types.isdisjoint(more)


def _values(node: Node, defs: Definitions) -> set[Any] | None:
    """The values of an enumeration, None where there may be any."""
    if (name := target(node)) is not None:
        return _values(defs[name], defs)
    if "const" in node:
        return {node["const"]}
    return set(node["enum"]) if "enum" in node else None


def _same(one: Node, other: Node, defs: Definitions) -> bool:
    return _spelt_out(one, defs, frozenset()) == _spelt_out(other, defs, frozenset())


def _spelt_out(schema: Any, defs: Definitions, inside: frozenset[str]) -> str:
    """*schema* without names of other types and without prose."""

    def spell(part: Any) -> Any:
        if isinstance(part, list):
            return [spell(each) for each in cast("list[object]", part)]
        if not isinstance(part, dict):
            return part
        node = cast("Node", part)
        name = target(node)
        if name is None or is_class(defs[name]) or name in inside:
            return {key: spell(value) for key, value in without(node, "title", "description").items()}
        return json.loads(_spelt_out(defs[name], defs, inside | {name}))

    return json.dumps(spell(schema), sort_keys=True)


def open_notifications(defs: Definitions) -> Definitions:
    """A tagged union that only notifications carry gets a catch-all: what is newer cannot be answered with an error."""
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
    """A list among the alternatives of a union becomes a definition, so that its bounds have a place to stand."""
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
        raise CodegenError(f"{union}: the name {name} of one of its lists is taken")
    named[name] = without(arm, "title")
    return ref(name)


def name_variants(defs: Definitions) -> Definitions:
    """Every alternative of a union of objects becomes a definition of its own.

    If a payload serves one alternative only, and lacks nothing but the tag, it gets the tag and keeps its name. Any
    other alternative becomes a subclass of its payload. Members that the union shares go into each alternative.
    """
    named = _Naming(defs).run()
    check_exclusive(named)
    return named


class _Union(NamedTuple):
    """A finished union: label and name of each alternative, and the tag that decides."""

    variants: list[tuple[str, str]]
    tag: str | None


class _Naming:
    """Names the alternatives of all unions. Each union is split when it is first met, since one may contain others."""

    def __init__(self, defs: Definitions) -> None:
        self.defs = defs
        self.out: Definitions = dict(defs)
        """The definitions so far."""
        self.unions: dict[str, _Union] = {}
        """The unions that are split already."""
        uses = [name for node in defs.values() for child in walk(node) if (name := target(child))]
        self.used_once = {name for name in uses if uses.count(name) == 1}
        """The definitions to which one place alone refers."""

    def run(self) -> Definitions:
        for name in sorted(self.defs):  # so that the order of the schema does not decide which union gets a name
            self.union(name)
        return self.out

    def union(self, name: str) -> _Union | None:
        """The union *name*, split on first sight; None for what is no union of objects."""
        body = self.out[name]
        if name not in self.unions and self.is_object_union(body):
            self.unions[name] = self.split(name, body)
        elif name not in self.unions and arms(body) and any("properties" in each for each in (body, *arms(body))):
            raise CodegenError(f"{name}: members beside alternatives that are not all objects")
        return self.unions.get(name)

    def is_object_union(self, node: Node) -> bool:
        return bool(arms(node)) and all(self.is_object(arm) for arm in arms(node))

    def is_object(self, node: Node) -> bool:
        name = target(node)
        if name is None:
            return "properties" in node
        return "properties" in self.out[name] or self.is_object_union(self.out[name])

    def split(self, name: str, node: Node, tag_of_parts: str | None = None) -> _Union:
        """Name the alternatives of *node* and write them and the union into the definitions."""
        tag = _tag(name, node)
        known = [value for arm in arms(node) if (value := constant(arm, tag)) is not None]
        if twice := {value for value in known if known.count(value) > 1}:
            raise CodegenError(f"{name}: two alternatives have the tag {min(twice)}")
        exclusive = self.exclusive(name, node, tag) if "oneOf" in node else set[str]()
        variants: list[tuple[str, str]] = []
        for arm in arms(node):
            self.check_meta(name, node, arm)
            if "not" in arm:
                variants.append(("Other", self.catch_all(name, node, arm, tag, known)))
                continue
            label = constant(arm, tag) or arm.get("title") or target(arm)
            if label is None:
                raise CodegenError(f"{name}: an alternative has neither a tag nor a title to be named by")
            added = _merged(name, node, arm, tag)
            if tag is None:
                others = exclusive - self.members(arm, "required")
                added["properties"] |= {member: {"x-absent": True} for member in sorted(others)}
            else:
                self.check_tag(name, node, arm, tag, label)
                added["properties"] = {tag: _tag_member(arm, tag, label, known)} | without(added["properties"], tag)
            variants.append((label, self.variant(name, arm, added, tag, label)))
        if len(variants) == 1 and variants[0][1] in self.unions:
            raise CodegenError(f"{name}: no rule for a union of one alternative that is a union itself")
        kept = without(node, "type", "properties", "required", "anyOf", "oneOf", "x-extensible")
        decides = tag or tag_of_parts
        self.out[name] = kept | {"anyOf": [ref(each) for _, each in variants], "x-tag": decides}
        return _Union(variants, decides)

    def check_tag(self, name: str, node: Node, arm: Node, tag: str, label: str) -> None:
        """Refuse an alternative that describes the tag without a constant."""
        described = self.members(arm, "properties") | node.get("properties", {}).keys()
        if constant(arm, tag) is None and tag in described:
            raise CodegenError(f"{name}: its alternative {label} describes the tag {tag} without a constant")

    def check_meta(self, name: str, node: Node, arm: Node) -> None:
        """Refuse a `_meta` that is the usual one in the union and another in an alternative, or the reverse."""
        in_both = "x-extensible" in node and self.is_extensible(arm)
        if in_both and (META in node.get("properties", {})) != (META in self.members(arm, "properties")):
            raise CodegenError(f"{name}.{META}: the union and one of its alternatives both describe it")

    def is_extensible(self, arm: Node) -> bool:
        """Whether *arm*, or what it extends, has `_meta`."""
        payloads = [self.out[name] for part in (arm, *arm.get("allOf", [])) if (name := target(part))]
        return "x-extensible" in arm or any(map(self.is_extensible, payloads))

    def exclusive(self, name: str, node: Node, tag: str | None) -> set[str]:
        """The members that tell the alternatives of the `oneOf` *node* apart where no tag does, each required by some.

        Raises:
            CodegenError: a value may fit two alternatives, or a member of one is what tells another.
        """
        if tag is not None:
            if any(constant(arm, tag) is None and "not" not in arm for arm in arms(node)):
                raise CodegenError(f"{name}: an alternative of its oneOf has no {tag}, so that a value may fit two")
            return set()
        shared = node.get("properties", {}).keys()
        for one, other in permutations(arms(node), 2):
            telling = self.members(other, "required") - self.members(one, "required")
            if not telling or telling & (self.members(one, "properties") | shared) or self.is_union(one):
                raise CodegenError(f"{name}: it cannot be seen that no value fits two alternatives of its oneOf")
            if len(telling) > 1:  # an object may have one of them as an unknown member
                together = " and ".join(sorted(telling))
                raise CodegenError(
                    f"{name}: only {together} together tell alternatives of its oneOf apart; no rule for that"
                )
        return {member for arm in arms(node) for member in self.members(arm, "required")}

    def is_union(self, arm: Node) -> bool:
        return bool(arms(arm) or arms(self.out[target(arm) or ""] if target(arm) else {}))

    def members(self, arm: Node, which: Literal["properties", "required"]) -> set[str]:
        """The members that *arm* has, or requires, by itself and by what it extends."""
        parts = [self.out[name] for part in (arm, *arm.get("allOf", [])) if (name := target(part))]
        return set(arm.get(which, [])).union(*(self.members(part, which) for part in parts))

    def variant(self, union: str, arm: Node, added: Node, tag: str | None, label: str) -> str:
        """The name of one alternative, which is written into the definitions unless its payload serves as it is."""
        payload = target(arm) or next((name for part in arm.get("allOf", []) if (name := target(part))), None)
        if payload is not None and not added["properties"] and "x-extensible" not in added:
            return payload
        inner = self.union(payload) if payload is not None else None
        if payload is not None and inner is None:
            body = self.out[payload]
            if not is_class(body):
                raise CodegenError(f"{union}: the payload {payload} of its alternative {label} is no object")
            if self.absorbs(payload, added, tag):
                self.out[payload] = body | {"properties": added["properties"] | body.get("properties", {})}
                return payload
        speaks_for_itself = constant(arm, tag) is not None
        name = variant_name(union, label, self.taken()) if speaks_for_itself else joined(union, label)
        if name == payload:  # the payload serves others too, or lacks more than the tag
            name += "Variant"
        if name in self.taken():
            raise CodegenError(f"{union}: the name {name} of its alternative {label} is taken")
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
        """The alternative for what is not known yet: it refuses the known tags and keeps everything else."""
        if tag is None:
            raise CodegenError(f"{union}: its catch-all excludes other tags than the alternatives have")
        check_catch_all(union, arm, tag, known)
        added = _merged(union, node, arm, tag)
        unlike: Node = {"type": "string", "x-not-enum": sorted(known)}
        added["properties"] = {tag: unlike} | without(added["properties"], tag)
        name = catch_all_name(union)
        if name in self.taken():
            raise CodegenError(f"{union}: the name {name} of its catch-all is taken")
        body = {"description": arm.get("description", ""), "type": "object"} | added
        if arms(arm):
            keyword = "anyOf" if "anyOf" in arm else "oneOf"
            self.unions[name] = self.split(name, body | {keyword: arms(arm)})
        else:
            self.out[name] = body
        return name

    def taken(self) -> set[str]:
        return set(self.out)


def _merged(union: str, outer: Node, inner: Node, tag: str | None) -> Node:
    """The members of *outer* and *inner* in one object."""
    for key in sorted(outer.get("properties", {}).keys() & inner.get("properties", {}).keys() - {tag}):
        raise CodegenError(f"{union}.{key}: the union and one of its alternatives both describe it")
    for said in (node.get("properties", {}).get(tag, {}) for node in (outer, inner)):
        if lost := sorted(said.keys() - TAG):
            raise CodegenError(f"{union}.{tag}: {lost[0]} beside a tag would be lost")
        if "string" not in said.get("type", "string"):
            raise CodegenError(f"{union}.{tag}: the type {said['type']} of a tag, which is text, would be lost")
    merged: Node = {
        "properties": outer.get("properties", {}) | inner.get("properties", {}),
        "required": [*outer.get("required", []), *inner.get("required", [])],
    }
    if "x-extensible" in outer or "x-extensible" in inner:
        merged["x-extensible"] = True
    return merged


def _tag(name: str, node: Node) -> str | None:
    """The member whose constant tells the alternatives of a union apart."""
    constants = [
        (key, key in arm.get("required", []))
        for arm in arms(node)
        for key, value in arm.get("properties", {}).items()
        if "const" in value
    ]
    if optional := sorted(key for key, required in constants if not required):
        raise CodegenError(f"{name}: the constant {optional[0]} may be absent, so it is no tag and has no rule")
    tags = {key for key, _ in constants}
    if len(tags) > 1:
        raise CodegenError(f"{name}: {' and '.join(sorted(tags))} both look like the tag of the union")
    return tags.pop() if tags else None


UNTAGGED = {"stdio"}
"""Implied tags that are never written: some agents take an MCP server with any `type` for a remote one."""


def _tag_member(arm: Node, tag: str, label: str, known: list[str]) -> Node:
    """The tag as a member of its alternative. Where the schema has no constant for it, its value is the *label*."""
    value = constant(arm, tag)
    if value is not None:
        return {"type": "string", "const": value}
    implied = {"type": "string", "x-default-tag": label, "x-not-enum": sorted(known)}
    return implied | {"x-untagged": True} if label in UNTAGGED else implied
