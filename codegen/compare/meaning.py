"""What changed in meaning between two versions of a schema: definitions, members, rules, methods."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from codegen.compare.report import Change, as_code
from codegen.compare.spelling import NOTHING, OMITTED, ORDER, OVERLAP, TEXT, UNIONS, is_about, json_types, same, spelt
from codegen.passes.numbers import RANGES
from codegen.tree import Node, without


def narrows_values(keyword: str, limit: Any, before: Node) -> bool:
    """Whether a keyword with this value narrows what `before` allows; True too where there is no proof."""
    least, most = _range(before)
    match keyword:
        case "minimum":
            return bool(limit > least)
        case "maximum":
            return bool(limit < most)
        case "minLength" | "minItems":
            return bool(limit > before.get(keyword, 0))
        case "format" if limit in RANGES:
            return RANGES[limit][0] > least or RANGES[limit][1] < most
        case _:
            return True


def _range(node: Node) -> tuple[float, float]:
    """The least and the greatest number that a schema allows."""
    least, most = RANGES.get(node.get("format", ""), (-math.inf, math.inf))
    return max(node.get("minimum", least), least), min(node.get("maximum", most), most)


Sides: TypeAlias = dict[str, str]
"""The definitions of one method, each with the side that handles it: a notification may go the other way."""


def compare_methods(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    """Compare the methods that two versions of the definitions have, by name."""
    before, after = _methods(old), _methods(new)
    for method in sorted(before.keys() | after.keys()):
        if method not in after:
            yield Change(kind="method", where=method, what="method removed", breaking=True)
        elif method not in before:
            sides = " and by ".join(f"{side} ({names})" for side, names in _by_side(after[method]))
            yield Change(kind="method", where=method, what=f"method added, handled by {sides}", breaking=False)
        elif before[method] != after[method]:
            what = f"method: {_text(before[method])} became {_text(after[method])}"
            kept = before[method].items() <= after[method].items()
            yield Change(kind="method", where=method, what=what, breaking=not kept)


def _methods(definitions: Mapping[str, Mapping[str, Any]]) -> dict[str, Sides]:
    found: dict[str, Sides] = {}
    for name, node in sorted(definitions.items()):
        if "x-method" in node:
            found.setdefault(node["x-method"], {})[name] = node.get("x-side", "?")
    return found


def _text(sides: Sides) -> str:
    return " and ".join(f"{names} on {side}" for side, names in _by_side(sides))


def _by_side(sides: Sides) -> list[tuple[str, str]]:
    """The sides in the order of their names, each with the definitions that it handles, as Markdown."""
    every = {side: as_code(name for name in sides if sides[name] == side) for side in sides.values()}
    return [("both sides" if side == "both" else f"the {side}", names) for side, names in sorted(every.items())]


Alternatives: TypeAlias = dict[str, Node]
"""What a value may be, by label."""


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """The differences from `old` to `new`, by method, then by definition; envelopes are left out."""
    before, after = (_without_envelopes(spelt(schema["$defs"])) for schema in (old, new))
    changes = list(compare_methods(before, after))
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            changes.append(Change(kind="definition", where=name, what="removed", breaking=True))
        elif name not in before:
            changes.append(Change(kind="definition", where=name, what="added", breaking=False))
        else:
            changes += _compare_schemas(name, before[name], after[name])
    return changes


_STRUCTURE = {*TEXT, *UNIONS, "$ref", "allOf", "const", "properties", "required", "items"}
_IN_METHODS = {"x-side", "x-method", "x-docs-ignore"}
_OURS = {OMITTED, OVERLAP, ORDER}
_HINTS = {"$comment", "contentEncoding", "deprecated", "discriminator", "examples"}
_SHORT = 60


def _without_envelopes(definitions: Mapping[str, Node]) -> dict[str, Node]:
    return {name: node for name, node in definitions.items() if not node.get("x-docs-ignore")}


def _compare_schemas(where: str, before: Node, after: Node, *, optional: bool = False) -> Iterator[Change]:
    """Compare two versions of one schema; `optional` says that it is a property that could be absent."""
    if same(before, after):
        return
    if any(before.get(key) != after.get(key) for key in TEXT):
        yield Change(kind="text", where=where, what="description changed", breaking=False)
    before, after = _as_union(before, after), _as_union(after, before)
    yield from _compare_alternatives(where, before, after, optional=optional)
    yield from _compare_choosing(where, before, after)
    yield from _compare_bases(where, before, after)
    yield from _compare_properties(where, before, after)
    if before.get("type") == after.get("type") == "array":
        yield from _compare_schemas(f"{where}[]", before.get("items", {}), after.get("items", {}))
    yield from _compare_rules(where, before, after, optional=optional)


def _as_union(node: Node, other: Node) -> Node:
    """`node` as the only alternative of a union where `other` is one that knows it."""
    values = without(node, *filter(is_about, node))
    if _is_union(node) or not _is_union(other) or _label(values) not in _alternatives(other, other):
        return node
    return {**without(node, *values), "anyOf": [values]}


def _compare_alternatives(where: str, before: Node, after: Node, *, optional: bool) -> Iterator[Change]:
    """Compare what a value may be: types, references, literal values or the variants of a union."""
    olds, news = _alternatives(before, after), _alternatives(after, before)
    removed = {label: arm for label, arm in olds.items() if label not in news}
    added = {label: arm for label, arm in news.items() if label not in olds}
    if removed or added:
        if _is_listed(before, after, olds, news):
            yield from _listed(where, removed, added)
        else:
            # What could be omitted has already read as None, unless it has read as a value of its own.
            reads_null = optional and before[OMITTED] != "value"
            beside_null = {label: arm for label, arm in added.items() if label != "null"}
            grows = _grows(before, olds, beside_null) and (reads_null or "null" not in added)
            what = f"type changed from `{_type_text(before)}` to `{_type_text(after)}`"
            yield Change(kind="type", where=where, what=what, breaking=bool(removed) or not grows)
    if _is_union(before) and _is_union(after):
        is_lone = len({*olds, *news} - {"null"}) == 1
        for label in [label for label in olds if label in news]:
            # The catch-all of an open union lists the tags of the others: it moves with each of them.
            moved = ["not"] if removed or added else []
            inner = where if is_lone else f"{where}<{_label(olds[label])}>"
            yield from _compare_schemas(inner, without(olds[label], *moved), without(news[label], *moved))


def _is_listed(before: Node, after: Node, olds: Alternatives, news: Alternatives) -> bool:
    """Whether the alternatives come and go one by one: in a choice that was one, and goes on as one."""
    changed = {label: arm for label, arm in (olds | news).items() if (label in olds) != (label in news)}
    if "null" in changed or not (_is_choice(before, olds) and _is_choice(after, news)):
        return False
    if not (olds.keys() & news.keys()) - {"null"}:
        return not any("const" in arm for arm in changed.values())
    return _grows(before, olds, {label: arm for label, arm in changed.items() if label in news})


def _is_choice(node: Node, alternatives: Alternatives) -> bool:
    known = [label for label in alternatives if label != "null"]
    is_union = _is_union(node) and "null" not in alternatives
    return len(known) > 1 or is_union or any("const" in arm for arm in alternatives.values())


def _grows(before: Node, olds: Alternatives, added: Alternatives) -> bool:
    """Whether programs have to expect all that was added: more of a union, and of an enumeration more of its values."""
    constants = [arm for arm in olds.values() if "const" in arm]
    if not constants:
        return not added or _is_choice(before, olds)
    types = set[str]().union(*(json_types(arm, {}) for arm in constants))
    return all("const" in arm or arm.get("type") in types for arm in added.values())


def _listed(where: str, removed: Alternatives, added: Alternatives) -> Iterator[Change]:
    for went, alternatives in (("removed", removed), ("added", added)):
        for arm in alternatives.values():
            kind: Literal["value", "variant"] = "value" if "const" in arm else "variant"
            yield Change(kind=kind, where=where, what=f"{kind} `{_label(arm)}` {went}", breaking=went == "removed")


def _compare_choosing(where: str, before: Node, after: Node) -> Iterator[Change]:
    """Compare what becomes of a value that fits several alternatives of a union."""
    if OVERLAP not in before or OVERLAP not in after:
        return
    old, new = ("oneOf" if "oneOf" in node else "anyOf" for node in (before, after))
    if old != new:
        what = f"`{old}` became `{new}`, for what fits several variants"
        yield Change(kind="rule", where=where, what=what, breaking=new == "oneOf")
    firsts = _first_of_two(after)
    for first, second in _first_of_two(before):
        if (second, first) in firsts:
            what = f"what fits both `{first}` and `{second}` now reads as `{second}`"
            yield Change(kind="rule", where=where, what=what, breaking=True)


def _first_of_two(node: Node) -> list[tuple[str, str]]:
    labels = [_label(arm) for arm in _arms(node)]
    return [(labels[one], labels[two]) for one, two in node.get(ORDER, [])]


def _compare_bases(where: str, before: Node, after: Node) -> Iterator[Change]:
    """Compare the schemas that a value has to satisfy as well."""
    olds: list[Node] = before.get("allOf", [])
    news: list[Node] = after.get("allOf", [])
    old_labels, new_labels = [_label(base) for base in olds], [_label(base) for base in news]
    if old_labels != new_labels:
        what = f"based on {as_code(new_labels) or 'nothing'} instead of {as_code(old_labels) or 'nothing'}"
        yield Change(kind="type", where=where, what=what, breaking=True)
        return
    for old, new in zip(olds, news, strict=True):
        yield from _compare_schemas(where, old, new)


def _compare_properties(where: str, before: Node, after: Node) -> Iterator[Change]:
    olds: dict[str, Node] = before.get("properties", {})
    news: dict[str, Node] = after.get("properties", {})
    old_required, new_required = set(before.get("required", ())), set(after.get("required", ()))
    for name in sorted(olds.keys() | news.keys()):
        path = f"{where}.{name}"
        if name not in news:
            yield Change(kind="property", where=path, what="removed", breaking=True)
        elif name not in olds:
            required = name in new_required
            what = f"added, {'required' if required else 'optional'} (`{_type_text(news[name])}`)"
            yield Change(kind="property", where=path, what=what, breaking=required)
        else:
            yield from _compare_presence(path, old=name in old_required, new=name in new_required, node=news[name])
            yield from _compare_schemas(path, olds[name], news[name], optional=name not in old_required)
    for name in sorted((old_required ^ new_required) - olds.keys() - news.keys()):
        now = name in new_required
        what = "is now required" if now else "is no longer required"
        yield Change(kind="property", where=f"{where}.{name}", what=what, breaking=now)


def _compare_presence(where: str, *, old: bool, new: bool, node: Node) -> Iterator[Change]:
    if new and not old:
        yield Change(kind="property", where=where, what="is now required", breaking=True)
    elif old and not new:
        yield Change(kind="property", where=where, what="is no longer required", breaking=node[OMITTED] == "none")


def _compare_rules(where: str, before: Node, after: Node, *, optional: bool) -> Iterator[Change]:
    """Compare every keyword that is no structure: how to read, defaults and limits."""
    is_alike = _is_union(before) == _is_union(after) and (_is_union(before) or _kind(before) == _kind(after))
    for keyword in sorted((before.keys() | after.keys()) - _STRUCTURE - _IN_METHODS - _OURS):
        if not is_alike and not is_about(keyword):
            continue  # of values of another type it says nothing
        if keyword == "type" and not (_is_union(before) and _is_union(after)):
            continue
        if keyword == "additionalProperties":
            yield from _compare_extra_members(where, before.get(keyword, {}), after.get(keyword, {}))
            continue
        absent = object()
        old, new = before.get(keyword, absent), after.get(keyword, absent)
        if keyword in before and keyword in after and same(old, new):
            continue
        if old is absent:
            what = f"`{_short(keyword, new)}` added"
        elif new is absent:
            what = f"`{_short(keyword, old)}` removed"
        else:
            what = f"`{_short(keyword, old)}` became `{_short(keyword, new)}`"
        if keyword.startswith("x-deserialize-"):
            # A map that was empty when it was omitted is None then, once a bad value is excused.
            reads_none = optional and (before[OMITTED], after[OMITTED]) == ("value", "none")
            yield Change(kind="reading", where=where, what=what, breaking=not new or new is absent or reads_none)
        elif keyword == "default":
            # None said that it is omitted, and is not accepted any more.
            refuses_none = optional and (before[OMITTED], after[OMITTED]) == ("none", "value")
            yield Change(kind="default", where=where, what=what, breaking=old is not absent or refuses_none)
        else:
            narrows = new is not absent and narrows_values(keyword, new, before)
            yield Change(kind="rule", where=where, what=what, breaking=narrows and keyword not in _HINTS)


def _compare_extra_members(where: str, old: Node, new: Node) -> Iterator[Change]:
    if NOTHING not in (old, new):
        yield from _compare_schemas(f"{where}{{}}", old, new)
    elif old != new:
        before, after = (_json(False if node == NOTHING else node or True) for node in (old, new))
        what = f"`additionalProperties: {before}` became `{after}`"
        yield Change(kind="rule", where=where, what=what, breaking=new == NOTHING)


def _is_union(node: Node) -> bool:
    return any(key in node for key in UNIONS)


def _arms(node: Node) -> list[Node]:
    return [arm for key in UNIONS for arm in node.get(key, ())]


def _alternatives(node: Node, other: Node) -> Alternatives:
    """What a value of `node` may be; where it can be only one list, and of `other` too, that is `array`."""
    if not _is_union(node):
        return {_kind(node): node}
    one_list = all(sum(arm.get("type") == "array" for arm in _arms(each)) < 2 for each in (node, other))
    found: Alternatives = {}
    for arm in _arms(node):
        label = name = "array" if one_list and arm.get("type") == "array" else _label(arm)
        count = 2
        while label in found:
            label, count = f"{name} #{count}", count + 1
        found[label] = arm
    return found


def _label(node: Node) -> str:
    """A short name for an alternative: its tag, else its value or reference, else its title or type."""
    for name, value in sorted(node.get("properties", {}).items()):
        if "const" in value:
            return f"{name}: {_json(value['const'])}"
    text = _type_text(node)
    title: str = node.get("title", text)
    return title if text in {"object", "any"} else text


def _type_text(node: Node) -> str:
    if _is_union(node):
        return " | ".join(_label(arm) for arm in _arms(node))
    return f"array of {_label(node['items'])}" if "items" in node else _kind(node)


def _kind(node: Node) -> str:
    """What a value is, where there are no alternatives."""
    if "const" in node:
        return _json(node["const"])
    if "$ref" in node:
        return str(node["$ref"]).rpartition("/")[2]
    if node == NOTHING:
        return "nothing"
    return str(node.get("type", "object" if "properties" in node else "any"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(keyword: str, value: object) -> str:
    text = _json(value)
    return f"{keyword}: {text}" if len(text) <= _SHORT else keyword
