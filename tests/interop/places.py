"""The values in a message, each with the schemas that describe it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.acp_bindings.exact_json import Json, is_array, is_object
from tests.acp_bindings.reference_reader import Reader, arms_of, constant_of, tag_of
from tests.acp_bindings.schemas import Node, Schema

Change: TypeAlias = Callable[[list[Node], Json], Json]


def changed(schema: Schema, definition: str, message: Json, change: Change) -> Json:
    """Rebuild a message from the results of `change` for each value in it, innermost first.

    `change` receives the schemas for the value, or none if the schema does not define it, and the value. The schema of
    a union is the variant selected by the discriminator, else the first that can be read, else all variants.
    """
    return _changed(schema, [schema.definitions[definition]], message, change)


def _changed(schema: Schema, nodes: list[Node], value: Json, change: Change) -> Json:
    describing = [each for node in nodes for each in _describing(schema, node, value)]
    if is_object(value):
        members = value.items()
        value = {name: _changed(schema, _of_member(describing, name), member, change) for name, member in members}
    elif is_array(value):
        items = [node["items"] for node in describing if "items" in node]
        value = [_changed(schema, items, item, change) for item in value]
    return change(describing, value)


def _describing(schema: Schema, node: Node, value: Json) -> Iterator[Node]:
    node = schema.resolve(node)
    yield node
    for part in (*node.get("allOf", ()), *_meant(schema, arms_of(node), value)):
        yield from _describing(schema, part, value)


def _of_member(describing: list[Node], name: str) -> list[Node]:
    known = [node["properties"][name] for node in describing if name in node.get("properties", ())]
    return known or [each for node in describing if is_object(each := node.get("additionalProperties"))]


def _meant(schema: Schema, arms: list[Node], value: Json) -> list[Node]:
    if (tag := tag_of(arms)) and is_object(value):
        word = value.get(tag)
        if isinstance(word, str):
            named = [arm for arm in arms if constant_of(arm, tag) == word]
            named = named or [arm for arm in arms if "not" in arm]
            if named:
                return named
        arms = [arm for arm in arms if "not" not in arm and constant_of(arm, tag) is None]
    reader = Reader(schema, opened=False)
    return next(([arm] for arm in arms if reader.reads(arm, value)), arms)
