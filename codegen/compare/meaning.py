"""What changed in meaning between two versions of a schema: definitions, members, rules, methods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from codegen.compare.methods import compare_methods
from codegen.compare.report import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["compare"]

Schema: TypeAlias = "Mapping[str, Any]"


def compare(old: Schema, new: Schema) -> list[Change]:
    """Return the differences from `old` to `new`, by method, then by definition; envelopes are left out."""
    before, after = _definitions(old), _definitions(new)
    changes = list(compare_methods(before, after))
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            changes.append(Change(kind="definition", where=name, what="removed", breaking=True))
        elif name not in before:
            changes.append(Change(kind="definition", where=name, what="added", breaking=False))
        else:
            changes += _compare_schemas(name, before[name], after[name])
    return changes


_TEXT = ("title", "description")
_UNIONS = ("anyOf", "oneOf")
_STRUCTURE = {*_TEXT, *_UNIONS, "$ref", "allOf", "enum", "const", "properties", "required", "items"}
_IN_METHODS = {"x-side", "x-method", "x-docs-ignore"}
_SHORT = 60
_HINTS = {"$comment", "contentEncoding", "deprecated", "discriminator", "examples"}


def _definitions(schema: Schema) -> dict[str, Schema]:
    definitions: dict[str, Schema] = schema["$defs"]
    objects = {name: _object(node) for name, node in definitions.items()}
    return {name: node for name, node in objects.items() if not node.get("x-docs-ignore")}


def _compare_schemas(where: str, old: object, new: object, *, optional: bool = False) -> Iterator[Change]:
    """Compare two versions of one schema; `optional` says that it is a property that may be absent."""
    before, after = _plain(old), _plain(new)
    if _same(before, after):
        return
    if any(before.get(key) != after.get(key) for key in _TEXT):
        yield Change(kind="text", where=where, what="description changed", breaking=False)
    yield from _compare_alternatives(where, before, after, optional=optional)
    yield from _compare_bases(where, before, after)
    yield from _compare_properties(where, before, after)
    if "items" in before and "items" in after:
        yield from _compare_schemas(f"{where}[]", before["items"], after["items"])
    yield from _compare_rules(where, before, after)


def _compare_alternatives(where: str, before: Schema, after: Schema, *, optional: bool) -> Iterator[Change]:
    """Compare what a value may be: types, references, literal values or the variants of a union."""
    olds, news = _alternatives(before), _alternatives(after)
    removed = [label for label in olds if label not in news]
    added = [label for label in news if label not in olds]
    if all(_is_literal(label) for label in (*removed, *added)) and olds.keys() & news.keys():
        yield from _listed("value", where, removed, added)
    elif _is_union(before) and _is_union(after) and "null" not in (*olds, *news):
        yield from _listed("variant", where, removed, added)
    else:
        # A property that may be absent already read as None.
        harmless = optional and "default" not in before and not removed and added == ["null"]
        what = f"type changed from `{_type_text(before)}` to `{_type_text(after)}`"
        yield Change(kind="type", where=where, what=what, breaking=not harmless)
    if _is_union(before) and _is_union(after):
        for label in [label for label in olds if label in news]:
            # The catch-all of an open union lists the tags of the others: it moves with each of them.
            moved = {"not"} if removed or added else set[str]()
            yield from _compare_schemas(f"{where}<{label}>", _without(olds[label], moved), _without(news[label], moved))


def _listed(kind: Literal["value", "variant"], where: str, removed: list[str], added: list[str]) -> Iterator[Change]:
    for label in removed:
        yield Change(kind=kind, where=where, what=f"{kind} `{label}` removed", breaking=True)
    for label in added:
        yield Change(kind=kind, where=where, what=f"{kind} `{label}` added", breaking=False)


def _compare_bases(where: str, before: Schema, after: Schema) -> Iterator[Change]:
    """Compare the schemas that a value has to satisfy as well."""
    olds: list[object] = before.get("allOf", [])
    news: list[object] = after.get("allOf", [])
    old_labels, new_labels = [_label(base) for base in olds], [_label(base) for base in news]
    if old_labels != new_labels:
        what = f"based on {_code(new_labels) or 'nothing'} instead of {_code(old_labels) or 'nothing'}"
        yield Change(kind="type", where=where, what=what, breaking=True)
        return
    for old, new in zip(olds, news, strict=True):
        yield from _compare_schemas(where, old, new)


def _compare_properties(where: str, before: Schema, after: Schema) -> Iterator[Change]:
    olds: Schema = before.get("properties", {})
    news: Schema = after.get("properties", {})
    old_required, new_required = set(before.get("required", ())), set(after.get("required", ()))
    for name in sorted(olds.keys() | news.keys()):
        path = f"{where}.{name}"
        if name not in news:
            yield Change(kind="property", where=path, what="removed", breaking=True)
        elif name not in olds:
            required = name in new_required
            what = f"added, {'required' if required else 'optional'} (`{_type_text(_plain(news[name]))}`)"
            yield Change(kind="property", where=path, what=what, breaking=required)
        else:
            yield from _compare_presence(path, old=name in old_required, new=name in new_required, schema=news[name])
            yield from _compare_schemas(path, olds[name], news[name], optional=name not in old_required)
    for name in sorted((old_required ^ new_required) - olds.keys() - news.keys()):
        now = name in new_required
        what = "is now required" if now else "is no longer required"
        yield Change(kind="property", where=f"{where}.{name}", what=what, breaking=now)


def _compare_presence(where: str, *, old: bool, new: bool, schema: object) -> Iterator[Change]:
    if new and not old:
        yield Change(kind="property", where=where, what="is now required", breaking=True)
    elif old and not new:
        # Unless it has a value when absent, it may now read as None where it could not before.
        plain = _plain(schema)
        reads_none = "default" not in plain and "null" not in _alternatives(plain)
        yield Change(kind="property", where=where, what="is no longer required", breaking=reads_none)


def _compare_rules(where: str, before: Schema, after: Schema) -> Iterator[Change]:
    """Compare every keyword that is no structure: how to read, defaults and limits."""
    for keyword in sorted((before.keys() | after.keys()) - _STRUCTURE - _IN_METHODS):
        if keyword == "type" and not (_is_union(before) and _is_union(after)):
            continue
        if keyword == "additionalProperties":
            yield from _compare_extra_members(where, before.get(keyword, True), after.get(keyword, True))
            continue
        absent = object()
        old, new = before.get(keyword, absent), after.get(keyword, absent)
        if keyword in before and keyword in after and _same(old, new):
            continue
        if old is absent:
            what = f"`{_short(keyword, new)}` added"
        elif new is absent:
            what = f"`{_short(keyword, old)}` removed"
        else:
            what = f"`{_short(keyword, old)}` became `{_short(keyword, new)}`"
        if keyword.startswith("x-deserialize-"):
            yield Change(kind="reading", where=where, what=what, breaking=not new or new is absent)
        elif keyword == "default":
            yield Change(kind="default", where=where, what=what, breaking=old is not absent)
        else:
            # A limit that is gone accepts more; for any other it would take a proof that it narrows nothing.
            yield Change(kind="rule", where=where, what=what, breaking=new is not absent and keyword not in _HINTS)


def _compare_extra_members(where: str, old: object, new: object) -> Iterator[Change]:
    if not isinstance(old, bool) and not isinstance(new, bool):
        yield from _compare_schemas(f"{where}{{}}", old, new)
    elif not _same(old, new):
        what = f"`additionalProperties: {_json(old)}` became `{_json(new)}`"
        yield Change(kind="rule", where=where, what=what, breaking=new is not True)


def _plain(schema: object) -> Schema:
    """Return the schema without the two spellings that add no meaning: booleans and a lone `allOf`."""
    node = _object(schema)
    match node:
        case {"allOf": [{"$ref": target}]} if "properties" not in node and not _is_union(node):
            return {**_without(node, {"allOf", "type"}), "$ref": target}
        case _:
            return node


def _object(schema: object) -> Schema:
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return cast("Schema", schema)


def _is_union(node: Schema) -> bool:
    return any(key in node for key in _UNIONS)


def _alternatives(node: Schema) -> dict[str, Schema]:
    """Return what a value of this schema may be, by label; only variants have a schema of their own."""
    if _is_union(node):
        found: dict[str, Schema] = {}
        for arm in [_plain(arm) for key in _UNIONS for arm in node.get(key, ())]:
            label, count = _label(arm), 2
            while label in found:
                label, count = f"{_label(arm)} #{count}", count + 1
            found[label] = arm
        return found
    if "enum" in node:
        return {_json(value): {} for value in node["enum"]}
    if "const" in node:
        return {_json(node["const"]): {}}
    if "$ref" in node:
        return {node["$ref"].rpartition("/")[2]: {}}
    types = node.get("type", "object" if "properties" in node else "any")
    return {name: {} for name in ([types] if isinstance(types, str) else types)}


def _label(schema: object) -> str:
    """Return a short name for an alternative: its tag, else its value or reference, else its title or type."""
    node = _plain(schema)
    tags = {name: _object(value) for name, value in sorted(node.get("properties", {}).items())}
    for name, value in tags.items():
        if "const" in value:
            return f"{name}: {_json(value['const'])}"
    text = _type_text(node)
    return node.get("title", text) if text in {"object", "any"} else text


def _type_text(node: Schema) -> str:
    labels = list(_alternatives(node))
    if "array" in labels and "items" in node:
        labels[labels.index("array")] = f"array of {_label(node['items'])}"
    return " | ".join(labels)


def _is_literal(label: str) -> bool:
    return label.startswith('"') or label.lstrip("-").isdigit()


def _without(node: Schema, keywords: set[str]) -> Schema:
    return {key: value for key, value in node.items() if key not in keywords}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(keyword: str, value: object) -> str:
    text = _json(value)
    return f"{keyword}: {text}" if len(text) <= _SHORT else keyword


def _same(old: object, new: object) -> bool:
    # Python finds 0 and False equal, JSON does not.
    return old is new or json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
