"""Damage valid instances, and decide what the reading rules make of the result."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from tests.acp_bindings.exact_json import Json, difference, is_array, is_object, same
from tests.acp_bindings.reference_reader import Excuse, Path, Reader, UnreadableError, arms_of
from tests.acp_bindings.schemas import Node, Schema, subschemas

JUNK: Final[list[Json]] = [
    *(None, True, False, 0, 1, -1, 1.0, 2.5, 2**70, "", "1", "true", "x-vendor"),
    *([], [None], [5], ["x"], {}, {"x": 1}, {"type": 5}),
]
BAD: Final[list[Json]] = [None, 5, "x-vendor", [5], {}]


@dataclass(frozen=True)
class Damaged:
    """An instance with some damage: `value` is the whole instance, `wounds` describes the damage."""

    value: Json
    wounds: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The verdict of the reading rules: `reading` if they tolerate the damage, else the reason in `refused`."""

    reading: Json
    excused: tuple[Excuse, ...]
    refused: UnreadableError | None


def damage(random: Random, schema: Schema, instance: Json) -> Damaged:
    """Break a valid instance in one to three places, outside of `_meta`, where everything is valid."""
    value = copy.deepcopy(instance)
    wounds: list[str] = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        value, wound = _wound(random, schema, value, random.choice(list(_places(value, ()))))
        wounds.append(wound)
    return Damaged(value, tuple(wounds))


def each_member_damaged(schema: Schema, name: str, instance: Json) -> Iterator[Damaged]:
    """Break every defined member of an object in turn, in each of the ways that matter for its rule.

    Those of variants with another tag are unknown members; `damage` adds some of them.
    """
    if not is_object(instance):
        return
    for member in sorted(_members_of(schema, schema.definitions[name], instance)):
        rest = {key: value for key, value in instance.items() if key != member}
        yield Damaged(rest, (f"{member} removed",))
        for bad in BAD:
            yield Damaged({**rest, member: bad}, (f"{member} set to {bad!r}",))


def judge(schema: Schema, name: str, value: Json) -> Verdict:
    """Decide whether the reading rules tolerate what is wrong with a value, and return what remains of it."""
    reader = Reader(schema)
    try:
        return Verdict(reader.read(name, value), tuple(reader.excused), None)
    except UnreadableError as error:
        return Verdict(None, (), error)


def unwritable(schema: Schema, name: str, value: Json) -> list[Path]:
    """List the places where only a lenient reader accepts a value, so that no writer may produce it.

    Empty lists are left out: a reader may produce one as a fallback where a writer may not.

    Raises:
        UnreadableError: a lenient reader does not accept it either.
    """
    reader = Reader(schema)
    reader.read(name, value)
    return [excuse.path for excuse in reader.excused if at(value, excuse.path) != []]


def meaning(schema: Schema, name: str, value: Json) -> Json:
    """Fill in the values of all absent members, so that two readings compare by meaning."""
    return Reader(schema, filled=True).read(name, value)


def misread(schema: Schema, name: str, expected: Json, value: Json) -> str:
    """Return the place where two values differ in meaning; empty if they do not."""
    # What is the same means the same, which saves reading it twice.
    if same(expected, value):
        return ""
    return difference(meaning(schema, name, expected), meaning(schema, name, value))


def at(value: Json, path: Path) -> Json:
    """Follow a path into a value."""
    for step in path:
        value = value[step]
    return value


def _places(value: Json, path: Path) -> Iterator[Path]:
    yield path
    if is_object(value):
        for name, member in value.items():
            yield from _places(member if name != "_meta" else None, (*path, name))
    elif is_array(value):
        for position, item in enumerate(value):
            yield from _places(item, (*path, position))


def _wound(random: Random, schema: Schema, value: Json, path: Path) -> tuple[Json, str]:
    where = "/".join(map(str, path)) or "(root)"
    target = at(value, path)
    junk = copy.deepcopy(random.choice(JUNK))
    if path and random.random() < 0.2:
        del at(value, path[:-1])[path[-1]]
        return value, f"{where} removed"
    if is_object(target) and random.random() < 0.35:
        name = random.choice(_member_names(schema))
        target[name] = junk
        return value, f"{where}/{name} set to {junk!r}"
    if is_array(target) and random.random() < 0.5:
        target.insert(random.randint(0, len(target)), junk)
        return value, f"{junk!r} inserted into {where}"
    new = copy.deepcopy(random.choice(_impostors(target))) if random.random() < 0.5 else junk
    if path:
        at(value, path[:-1])[path[-1]] = new
    return value if path else new, f"{where} became {new!r}"


def _impostors(value: Json) -> list[Json]:
    """List values that a careless reader would mistake for the real one."""
    if is_object(value):
        pairs = [list(item) for item in value.items()]
        return [None, [], [value], pairs, "", {}, {**value, "type": "x-vendor"}, {**value, "type": 5}]
    if is_array(value):
        numbered = {str(position): item for position, item in enumerate(value)}
        return [None, {}, numbered, "", [value], [*value, None], [5, *value]]
    if isinstance(value, str):
        return [f"{value}_", value.upper() + "?", value.encode().hex(), 5, True, None, [value], {"value": value}]
    if isinstance(value, bool):
        return [int(value), str(value).lower(), "yes", None, [value]]
    if isinstance(value, int):
        return [str(value), float(value), True, value + 0.5, -value - 1, 2**70, None, [value]]
    return [str(value), "null", 0, True, [], {}, [value], *([int(value)] if value is not None else [])]


def _members_of(schema: Schema, node: Node, instance: dict[str, Json]) -> set[str]:
    members: Node = schema.resolve(node).get("properties", {})
    if any("const" in child and instance.get(name) != child["const"] for name, child in members.items()):
        return set()
    parts = (*schema.resolve(node).get("allOf", ()), *arms_of(schema.resolve(node)))
    return set(members).union(*(_members_of(schema, part, instance) for part in parts))


@cache
def _member_names(schema: Schema) -> list[str]:
    nodes = [node for definition in schema.definitions.values() for _, node in subschemas(definition, "")]
    return sorted({name for node in nodes for name in node.get("properties", ())})
