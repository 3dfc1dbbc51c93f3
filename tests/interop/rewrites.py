"""Rewrites of a message, or of the value read from it, that remove a difference between two readers."""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

from tests.acp_bindings.exact_json import Json, is_object
from tests.acp_bindings.reference_reader import (
    Reader,
    arms_of,
    constant_of,
    is_response,
    open_unions,
    own_tag,
    tag_of,
    types_of,
)
from tests.acp_bindings.schemas import INTEGER_RANGES, Node, Schema, load
from tests.interop.outcome import as_doubles
from tests.interop.places import changed

Rewrite: TypeAlias = Callable[[Schema, str, Json], Json]
"""A function of the schema, the name of the definition and the value, which returns the rewritten value."""

UNREADABLE = 5
"""The replacement for values that a reader refuses, because it is neither a string nor an object."""

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def everywhere(change: Callable[[Schema, list[Node], Json], Json]) -> Rewrite:
    """Rewrite every value in a message by the schemas that describe it."""
    return lambda schema, definition, message: changed(schema, definition, message, partial(change, schema))


@everywhere
def within_64_bits(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Replace integers of more than 64 bits by the nearest one that fits."""
    for each in nodes:
        if each.get("format") in {"int64", "uint64"} and _is_integral(value):
            low, high = INTEGER_RANGES[each["format"]]
            # An unsigned integer has its lower bound in the schema too, as a minimum.
            value = high if value > high else low if value < low < 0 else value
    return value


@everywhere
def floats_as_integers(_schema: Schema, _nodes: list[Node], value: Json) -> Json:
    """Write 1.0 as 1, even where the schema allows both, because it may select a variant of an outer union."""
    return int(value) if _is_integral(value) else value


@everywhere
def without_what_is_no_url(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Make strings unreadable that should be URLs but are not; trim the others, as JavaScript does."""
    if not isinstance(value, str) or not any(each.get("format") == "uri" for each in nodes):
        return value
    text = re.sub(r"[\t\n\r]", "", value.strip())
    return text if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) else UNREADABLE


@everywhere
def without_what_is_no_moment(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Make strings unreadable that should be points in time but are not in the usual format."""
    is_moment = isinstance(value, str) and any(each.get("format") == "date-time" for each in nodes)
    return UNREADABLE if is_moment and not MOMENT.fullmatch(value) else value


@everywhere
def without_tags_of_broken_branches(schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Drop a discriminator that does not match the payload, if the union has a variant without a discriminator."""
    for arms in map(arms_of, nodes):
        tag = tag_of(arms)
        if tag and is_object(value) and isinstance(word := value.get(tag), str):
            named = [arm for arm in arms if constant_of(arm, tag) == word]
            untagged = [arm for arm in arms if constant_of(arm, tag) is None and "not" not in arm]
            if untagged and named and not Reader(schema).reads(named[0], value):
                return {name: member for name, member in value.items() if name != tag}
    return value


@everywhere
def without_unknown_updates(schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Make unknown variants unreadable in the unions that we leave open for notifications."""
    for node in nodes:
        if is_object(value) and any(node is union for union in _open_unions(schema.package)):
            tag = tag_of(arms_of(node)) or ""
            if value.get(tag) not in [constant_of(arm, tag) for arm in arms_of(node)]:
                return UNREADABLE
    return value


@everywhere
def without_prototypes(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Drop members named `__proto__` from the objects that the schema describes."""
    if not is_object(value) or not any("properties" in each or "object" in types_of(each) for each in nodes):
        return value
    return {name: member for name, member in value.items() if name != "__proto__"}


@everywhere
def without_unknown_members(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Drop members that the schema neither defines nor allows."""
    known = {name for each in nodes for name in each.get("properties", ())}
    is_open = any(each.get("additionalProperties") or each.get("unevaluatedProperties") for each in nodes)
    if not is_object(value) or not known or is_open:
        return value
    return {name: member for name, member in value.items() if name in known}


@everywhere
def with_defaults(_schema: Schema, nodes: list[Node], value: Json) -> Json:
    """Add the defaults of the schema."""
    if not is_object(value):
        return value
    members = [member for each in nodes for member in each.get("properties", {}).items()]
    return {name: child["default"] for name, child in members if "default" in child} | value


def without_a_foreign_tag(schema: Schema, definition: str, message: Json) -> Json:
    """Drop the discriminator of another variant from a payload."""
    tag, word = own_tag(schema, definition) or ("", "")
    if not tag or not is_object(message) or message.get(tag, word) == word:
        return message
    return {name: member for name, member in message.items() if name != tag}


def without_null_for_a_result(schema: Schema, definition: str, message: Json) -> Json:
    """Make null unreadable if it replaces a result without members."""
    is_result = is_response(definition, schema.definitions[definition])
    return UNREADABLE if message is None and is_result else message


def in_doubles(_schema: Schema, _definition: str, value: Json) -> Json:
    """Round all numbers as JavaScript does."""
    return as_doubles(value)


def _is_integral(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)


@cache
def _open_unions(package: str) -> list[Node]:
    return open_unions(load(package))
