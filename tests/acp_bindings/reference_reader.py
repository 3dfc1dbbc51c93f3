"""A second implementation of the reading rules, directly from the schema: the result that a lenient reader must give.

The plain schema is the writer's rule. The `x-deserialize-*` keywords of a property are the reader's:

- default-on-error: a value that is present and cannot be read becomes the property's fallback, which is the schema's
  `default`, else `[]` where an array but no null is allowed, else nothing at all (never null). A key that is missing is
  left to `required`. The innermost such property wins, because inner values are read first.
- skip-invalid-items: items that cannot be read are dropped, the others keep their order. This applies to arrays only.
- default-on-null: null becomes the empty array or object. Anything else that is wrong stays an error.

The variant of a union with a discriminator depends only on the discriminator: a known value with an invalid payload is
an error, never another variant. An unknown value selects the catch-all variant, or else the variant without a
discriminator. In a `oneOf` without a discriminator, exactly one variant may have all its required keys. Any other union
uses the first variant that can be read.

Three rules go beyond the schema, each in one place:

- `open_unions`: a notification cannot be refused, so a closed union that is only used in notifications preserves
  unknown variants.
- `own_tag`: a definition that is only used as one variant of one union is that variant, also when it is read by itself.
  It may then lack its discriminator, but not have another.
- `is_response`: peers send null for a result without members, so a lenient reader reads it as the empty object.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, NamedTuple

import jsonschema_rs

from tests.acp_bindings.exact_json import Json, is_array, is_object
from tests.acp_bindings.schemas import INTEGER_RANGES, Node, Schema, arms_of, subschemas, types_of

Path = tuple[str | int, ...]

ABSENT: Final = object()


class Excuse(NamedTuple):
    """A tolerated error: `path` is in the original value, `rule` tolerates it, and `cause` is the first failure."""

    path: Path
    rule: str
    cause: Path


class UnreadableError(Exception):
    """The reading rules do not tolerate this value; `path` is the position of the error."""

    def __init__(self, path: Path, why: str) -> None:
        """Store the path and the reason."""
        super().__init__(f"{'/'.join(map(str, path)) or '(root)'}: {why}")
        self.path = path
        self.why = why


@dataclass
class Reader:
    """Reads values of one schema's definitions.

    `lenient` follows the `x-deserialize-*` keywords; without it, a value must be as a writer may write it.
    `opened` preserves unknown variants in the unions of `open_unions`; without it, these are closed as in the schema.
    `filled` adds the values of absent members, so that two readings compare by meaning.
    `excused` collects the places where a fallback was used or an item was dropped.
    """

    schema: Schema
    lenient: bool = True
    opened: bool = True
    filled: bool = False
    excused: list[Excuse] = field(default_factory=list[Excuse])

    def read(self, name: str, value: Json) -> Json:
        """Read a value of a definition.

        Raises:
            UnreadableError: the rules do not tolerate what is wrong with it.
        """
        node = self.schema.definitions[name]
        if is_object(value) and (found := own_tag(self.schema, name)):
            tag, word = found
            if tag in value and value[tag] != word:
                raise UnreadableError((tag,), f"not {word!r}")
            value = {tag: word, **value} if self.filled else value
        if value is None and self.lenient and is_response(name, node):
            self.excused.append(Excuse((), "default-on-null", ()))
            value = {}
        return self._read(node, value, ())

    def reads(self, node: Node, value: Json) -> bool:
        """Return True if a value can be read as one schema of the file."""
        try:
            self._read(node, value, ())
        except UnreadableError:
            return False
        return True

    @cached_property
    def _open(self) -> set[int]:
        return {id(node) for node in open_unions(self.schema)} if self.opened else set()

    def _read(self, node: Node, value: Json, path: Path) -> Json:
        node = self.schema.resolve(node)
        kinds = types_of(node)
        if kinds and not any(_is_a(kind, value) for kind in kinds):
            raise UnreadableError(path, f"{type(value).__name__} where the schema wants {' or '.join(kinds)}")
        if "const" in node and (value != node["const"] or type(value) is not type(node["const"])):
            raise UnreadableError(path, f"not {node['const']!r}")
        if "enum" in node and value not in node["enum"]:
            raise UnreadableError(path, "not one of the enumerated values")
        if is_object(value) and ("object" in kinds or "properties" in node):
            value = self._members(node, value, path)
        elif is_array(value) and "array" in kinds:
            value = self._items(node, value, path, skip=False)
        elif value is not None:
            _check_scalar(node, value, path)
        for part in node.get("allOf", ()):
            value = self._read(part, value, path)
        return self._branch(node, value, path) if arms_of(node) else value

    def _members(self, node: Node, value: dict[str, Json], path: Path) -> dict[str, Json]:
        members = dict(value)
        required = node.get("required", ())
        for name, child in node.get("properties", {}).items():
            if name in members:
                outcome = self._member(child, members[name], (*path, name))
                if outcome is not ABSENT:
                    members[name] = outcome
                    continue
                del members[name]
            if name in required:
                raise UnreadableError((*path, name), "required, but not there")
            if self.filled and (default := self._absent(child, (*path, name))) is not ABSENT:
                members[name] = default
        for name in required:
            if name not in members:
                raise UnreadableError((*path, name), "required, but not there")
        others = node.get("additionalProperties")
        if is_object(others):
            for name in members.keys() - node.get("properties", {}).keys():
                members[name] = self._read(others, members[name], (*path, name))
        return members

    def _member(self, child: Node, value: Json, path: Path) -> Json:
        if not self.lenient:
            return self._read(child, value, path)
        if child.get("x-deserialize-default-on-null") and value is None:
            self.excused.append(Excuse(path, "default-on-null", path))
            return fallback(child)
        noted = len(self.excused)
        try:
            if child.get("x-deserialize-skip-invalid-items") and is_array(value):
                return self._items(child, value, path, skip=True)
            return self._read(child, value, path)
        except UnreadableError as failure:
            if not child.get("x-deserialize-default-on-error"):
                raise
            del self.excused[noted:]
            self.excused.append(Excuse(path, "default-on-error", failure.path))
            default = fallback(child)
            return self._read(child, default, path) if self.filled and "default" in child else default

    def _items(self, node: Node, value: list[Json], path: Path, *, skip: bool) -> list[Json]:
        items: list[Json] = []
        for position, item in enumerate(value):
            noted = len(self.excused)
            try:
                items.append(self._read(node.get("items", {}), item, (*path, position)))
            except UnreadableError as failure:
                if not skip:
                    raise
                del self.excused[noted:]
                self.excused.append(Excuse((*path, position), "skip-invalid-items", failure.path))
        if len(items) < node.get("minItems", 0):
            raise UnreadableError(path, "too few items")
        return items

    def _branch(self, node: Node, value: Json, path: Path) -> Json:
        arms = arms_of(node)
        if tag := tag_of(arms):
            return self._tagged(node, tag, value, path)
        if "oneOf" in node and all("const" not in arm for arm in arms):
            arms = [self._sole(arms, value, path)]
        return self._first(arms, value, path)

    def _tagged(self, node: Node, tag: str, value: Json, path: Path) -> Json:
        if not is_object(value):
            raise UnreadableError(path, "no object")
        word = value.get(tag)
        catch_alls = [arm for arm in arms_of(node) if "not" in arm]
        untagged = [arm for arm in arms_of(node) if "not" not in arm and constant_of(arm, tag) is None]
        for arm in arms_of(node):
            if isinstance(word, str) and constant_of(arm, tag) == word:
                return self._read(arm, value, path)
        if isinstance(word, str) and catch_alls:
            return self._read(catch_alls[0], value, path)
        if untagged:
            # The schema names a branch without a tag by its title: v1 peers that write "type": "stdio" mean that one,
            # and v1 writes that without.
            named = [arm for arm in untagged if isinstance(word, str) and arm.get("title") == word]
            if named and word == "stdio":
                value = {name: member for name, member in value.items() if name != tag}
            return self._first(named or untagged, value, path)
        if isinstance(word, str) and id(node) in self._open:
            return value
        raise UnreadableError((*path, tag), "no tag" if word is None else "not a known tag")

    def _sole(self, arms: list[Node], value: Json, path: Path) -> Node:
        """Return the only variant whose required keys are all present, even if they are null."""
        fitting = [
            arm
            for arm in arms
            if is_object(value) and all(name in value for part in self._parts(arm) for name in part.get("required", ()))
        ]
        if len(fitting) != 1:
            raise UnreadableError(path, f"{len(fitting)} branches have their required members, not one")
        return fitting[0]

    def _parts(self, node: Node) -> Iterable[Node]:
        node = self.schema.resolve(node)
        yield node
        for part in node.get("allOf", ()):
            yield from self._parts(part)

    def _first(self, arms: list[Node], value: Json, path: Path) -> Json:
        noted = len(self.excused)
        failures: list[UnreadableError] = []
        for arm in arms:
            try:
                return self._read(arm, value, path)
            except UnreadableError as failure:
                del self.excused[noted:]
                failures.append(failure)
        raise max(failures, key=lambda failure: len(failure.path))

    def _absent(self, child: Node, path: Path) -> Json:
        """Return the value of an absent member."""
        if "default" in child:
            return self._read(child, child["default"], path)
        return fallback(child)


def open_unions(schema: Schema) -> list[Node]:
    """List the closed unions with a discriminator that preserve unknown variants: those only used in notifications.

    A union that is also used in requests or responses stays closed everywhere, because their errors can be reported.
    """
    methods = {name for name, node in schema.definitions.items() if "x-method" in node}
    notifications = {name for name in methods if name.endswith("Notification")}
    carried = _reachable(schema, notifications) - _reachable(schema, methods - notifications)
    return [schema.definitions[name] for name in sorted(carried) if is_closed_union(schema.definitions[name])]


def own_tag(schema: Schema, name: str) -> tuple[str, str] | None:
    """Return the discriminator and its value for a definition that is only used as one variant of one union."""
    return _own_tags(schema).get(name)


def is_response(name: str, node: Node) -> bool:
    """Return True if a definition is the result of a method and an object."""
    return name.endswith("Response") and "x-method" in node and node.get("type") == "object"


def is_closed_union(node: Node) -> bool:
    """Return True if every variant has its own discriminator value, so that an unknown one is invalid."""
    arms = arms_of(node)
    tag = tag_of(arms)
    return tag is not None and all(constant_of(arm, tag) is not None for arm in arms)


def fallback(child: Node) -> Json:
    """Return the fallback of a property according to its own schema."""
    if "default" in child:
        return child["default"]
    if child.get("x-deserialize-default-on-null"):
        return [] if "array" in types_of(child) else {}
    return [] if types_of(child) == ("array",) else ABSENT


def tag_of(arms: list[Node]) -> str | None:
    """Return the member whose constant is the discriminator of a union."""
    for arm in arms:
        for name, child in arm.get("properties", {}).items():
            if "const" in child and name in arm.get("required", ()):
                return name
    return None


def constant_of(arm: Node, tag: str) -> Json:
    """Return the discriminator value of a variant; None if it has none."""
    return arm.get("properties", {}).get(tag, {}).get("const")


@cache
def _own_tags(schema: Schema) -> dict[str, tuple[str, str]]:
    uses: Counter[str] = Counter()
    tags: dict[str, tuple[str, str]] = {}
    for definition in schema.definitions.values():
        for _, node in subschemas(definition, ""):
            if "$ref" in node:
                uses[schema.name_of(node)] += 1
            tag = tag_of(arms_of(node))
            for arm in arms_of(node) if tag else ():
                if "allOf" in arm and arm.get("properties", {}).keys() == {tag} and "properties" not in node:
                    tags[schema.name_of(arm["allOf"][0])] = (str(tag), constant_of(arm, str(tag)))
    objects = {name for name, node in schema.definitions.items() if "properties" in node}
    return {name: found for name, found in tags.items() if uses[name] == 1 and name in objects}


def _reachable(schema: Schema, roots: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            nodes = subschemas(schema.definitions[name], name)
            waiting += [schema.name_of(node) for _, node in nodes if "$ref" in node]
    return found


def _is_a(kind: str, value: Json) -> bool:
    # JSON Schema calls 1.0 an integer; the protocol's peers do not, and neither do its readers.
    classes = {"null": type(None), "boolean": bool, "integer": int, "number": int | float, "string": str}
    if kind in {"array", "object"}:
        return is_array(value) if kind == "array" else is_object(value)
    return isinstance(value, classes[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_scalar(node: Node, value: Json, path: Path) -> None:
    if isinstance(value, str):
        if len(value) < node.get("minLength", 0):
            raise UnreadableError(path, "too short")
        if "pattern" in node and not jsonschema_rs.is_valid({"pattern": node["pattern"]}, value):
            raise UnreadableError(path, "not of the pattern")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high = INTEGER_RANGES.get(node.get("format", ""), (float("-inf"), float("inf")))
        if not max(low, node.get("minimum", low)) <= value <= min(high, node.get("maximum", high)):
            raise UnreadableError(path, "out of range")
