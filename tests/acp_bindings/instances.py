"""Seeded random instances of any definition of a published ACP schema, as nasty as the schema allows.

The generator only uses the schema and nothing of `acp_bindings` or `codegen`, so that its instances are evidence.
"""

# Own code because no library fits: hypothesis-jsonschema (last release 2024) stops at draft 7, so it knows neither
# unevaluatedProperties nor 2020-12 references, and it cannot be told which unions are told apart by a tag.

import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import rstr

from tests.acp_bindings.exact_json import Json, is_object
from tests.acp_bindings.schemas import INTEGER_RANGES, Node, Schema, arms_of, subschemas, types_of

PER_DEFINITION = 70
MAX_DEPTH = 7
ATTEMPTS = 50

TEXTS = [
    *("", " ", "x", "null", "true", "1", "1.0", "-0", "NaN", "[]", "{}"),
    *("line\nfeed\r\n\ttab", 'quote " and \\ slash /'),
    *("\x00", "\x01\x1f\x7f\x80\x9f", "\u2028\u2029\ufeff", "é", "e\u0301", "ключ", "日本語テキスト"),
    *("😀👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈", "\U0010ffff\ufffe\uffff", "%s{0}${HOME}", "a" * 300, "__proto__"),
    *("../../etc/passwd", "/abs/path with space", "C:\\Users\\x", "\\ud83d"),
]
URIS = [
    *("https://example.com", "HTTP://EXAMPLE.com:80/a/../b?q=%C3%A9&q=2#frag", "file:///tmp/%E2%82%AC", "x:"),
    *("urn:isbn:0451450523", "mailto:a@example.com", "ftp://[::1]:21/", "https://user:pass@host.example/?#"),
]
MOMENTS = [
    *("2025-01-01T00:00:00Z", "1985-04-12T23:20:50.520000001+14:00"),
    *("1990-12-31T23:59:60Z", "2024-02-29t23:59:59z"),
]
PATTERNS = ["", "^[a-z]{2,}$", "(?:x|y)*", "\\d+\\.\\p{L}"]
BASE64 = ["", "AAAA", "8J+YgA==", "/+8=", "QQ=="]
NUMBERS = [
    *(0, 1, -1, 2**53 + 1, -(2**63), 10**25, 0.0, -0.0, 1.0, -1.0, 0.1, 1.5, 100.0, 1e16, 123456789.12345679),
    *(5e-324, 2.2250738585072014e-308, 1e300, 1.7976931348623157e308, -1.7976931348623157e308),
]
INTEGERS = [0, 1, -1, 7, 255, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**64 - 1, 2**64, -(2**63) - 1, 10**30]
EXTRA_NAMES = [
    *("x-vendor", "x-vendor/é", "", " ", "a.b", "ключ", "😀", "\n", "__proto__", "constructor", "$ref", "$schema"),
    *("_private", "__class__", "__dict__", "self", "class", "copy", "json", "dict", "schema", "model_config", "a" * 80),
    *("model_fields", "model_extra", "model_dump", "model_fields_set", "__pydantic_extra__"),
]
ANYTHING = ["scalar", "scalar", "text", "empty", "array", "object"]
UNKNOWN_TAGS = ["x-vendor", "", "Text", "HTTP", " text", "_custom", "otherwise", "😀", "null", "__proto__"]


@dataclass
class Members:
    """The requirements for the members of one object, from all schemas that apply to it."""

    nodes: dict[str, list[Node]] = field(default_factory=dict[str, list[Node]])
    required: set[str] = field(default_factory=set[str])
    values: Node | None = None
    refused: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    of_siblings: dict[str, Node] = field(default_factory=dict[str, Node])
    tags: set[str] = field(default_factory=set[str])
    is_catch_all: bool = False


class Instances:
    """Instances of one schema's definitions; `covered` records what the accepted ones exercised."""

    def __init__(self, schema: Schema) -> None:
        """Start with nothing covered."""
        self.schema = schema
        self.covered: set[str] = set()
        self.retries = 0

    def series(self, name: str, count: int, *, seed: int = 0) -> Iterator[Json]:
        """Make the first `count` instances of a definition for one seed."""
        return (self.instance(name, index, seed=seed) for index in range(count))

    def instance(self, name: str, index: int, *, seed: int = 0) -> Json:
        """Make one instance that is valid, including formats. Equal arguments give equal instances."""
        random = Random(f"{self.schema.package}/{name}/{index}/{seed}")
        for attempt in range(ATTEMPTS):
            draft = _Draft(self.schema, random, turn=index + attempt)
            value = draft.value(self.schema.definitions[name], 0)
            if self.schema.accepts(name, value, formats=True):
                self.covered |= draft.seen
                return value
            self.retries += 1
        msg = f"{self.schema.package} {name}: no valid instance in {ATTEMPTS} attempts at index {index}, seed {seed}"
        raise AssertionError(msg)


def coverable(schema: Schema) -> set[str]:
    """List everything that a run can exercise: the states of members, the variants, the types, both kinds of array."""
    found: set[str] = set()
    for definition in schema.definitions.values():
        for pointer, node in subschemas(definition, schema.pointer(definition)):
            if "/not" in pointer:
                continue
            for name in node.get("properties", {}):
                found |= {f"{pointer}/properties/{name} {state}" for state in _states(schema, node, name)}
            found |= {f"{pointer} branch {position}" for position in range(len(arms_of(node)))}
            found |= {f"{pointer} type {each}" for each in types_of(node) if len(types_of(node)) > 1}
            if "array" in types_of(node):
                found |= {f"{pointer} filled"} | ({f"{pointer} empty"} if not node.get("minItems") else set())
    return found


def snake_case(name: str) -> str:
    """Return a member's name in Python."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


class _Draft:
    """One attempt at an instance."""

    def __init__(self, schema: Schema, random: Random, *, turn: int) -> None:
        self.schema = schema
        self.random = random
        self.turn = turn
        self.seen: set[str] = set()

    def value(self, node: Node, depth: int, refused: frozenset[str] = frozenset()) -> Json:
        node = self.schema.resolve(node)
        if "const" in node or "enum" in node:
            return self.random.choice([node["const"]] if "const" in node else node["enum"])
        parts = node.get("allOf", [])
        if "properties" in node or node.get("type") == "object" or len(parts) > 1:
            return self.object(node, depth)
        if arms_of(node) or parts:
            return self.value(self.arm(node, depth) if arms_of(node) else parts[0], depth)
        return self.plain(node, depth, refused)

    def plain(self, node: Node, depth: int, refused: frozenset[str]) -> Json:
        kinds = types_of(node)
        if not kinds:
            return None if self.random.random() < 0.2 else self.anything(depth)
        match self.choose_type(node, kinds):
            case "object":
                return self.object(node, depth)
            case "array":
                return self.array(node, depth)
            case kind:
                return self.scalar(node, kind, refused)

    def object(self, node: Node, depth: int) -> Json:
        members = Members()
        self.collect(node, members, depth)
        made: dict[str, Json] = {}
        likely = 0.75 if depth < 2 else 0.4 if depth < MAX_DEPTH else 0.1
        for name, nodes in members.nodes.items():
            if name in members.required or self.random.random() < likely:
                made[name] = self.value(_decisive(nodes), depth + 1, frozenset(members.refused.get(name, ())))
            state = "missing" if name not in made else "null" if made[name] is None else "present"
            for each in nodes:
                self.seen.add(f"{self.schema.pointer(each)} {state}")
                if each is not _decisive(nodes) and name in made:
                    self.seen.add(f"{self.schema.pointer(each)} type {_type_of(made[name])}")
        self.add_extras(made, members, depth)
        shuffled = list(made.items())
        self.random.shuffle(shuffled)
        return dict(shuffled)

    def collect(self, node: Node, members: Members, depth: int) -> None:
        node = self.schema.resolve(node)
        for name, child in node.get("properties", {}).items():
            members.nodes.setdefault(name, []).append(child)
        members.required |= set(node.get("required", ()))
        members.is_catch_all |= "not" in node
        for known in node.get("not", {}).get("anyOf", ()):
            for name, child in known["properties"].items():
                members.refused.setdefault(name, set()).add(child["const"])
        if is_object(node.get("additionalProperties")):
            members.values = node["additionalProperties"]
        for part in node.get("allOf", ()):
            self.collect(part, members, depth)
        if arms_of(node):
            chosen = self.arm(node, depth)
            for sibling in arms_of(node):
                if sibling is not chosen:
                    self.note_sibling(sibling, members, exclusive="oneOf" in node)
            self.collect(chosen, members, depth)

    def note_sibling(self, sibling: Node, members: Members, *, exclusive: bool) -> None:
        for part in _parts(self.schema, sibling):
            for name, child in part.get("properties", {}).items():
                # Variants are distinguished by a tag, or by a key that only one of them requires.
                if "const" in child or (exclusive and name in part.get("required", ())):
                    members.tags.add(name)
                else:
                    members.of_siblings[name] = child

    def arm(self, node: Node, depth: int) -> Node:
        arms = arms_of(node)
        # By turns at the top, so that a few rounds reach every branch of every union; at random below.
        position = self.turn % len(arms) if depth == 0 else self.random.randrange(len(arms))
        self.seen.add(f"{self.schema.pointer(node)} branch {position}")
        return arms[position]

    def add_extras(self, made: dict[str, Json], members: Members, depth: int) -> None:
        if members.values is not None:
            for _ in range(self.random.choice((0, 1, 1, 2, 3))):
                made.setdefault(self.key(), self.value(members.values, depth + 1))
            return
        if not members.nodes:
            made.update({self.key(): self.anything(depth + 1) for _ in range(self.random.choice((0, 1, 2)))})
        if self.random.random() > (0.7 if members.is_catch_all else 0.15):
            return
        # Neither a known name nor a tag of a sibling branch: those would change what the object is.
        # A snake_case spelling of a known name is an unknown member like any other.
        names = [*EXTRA_NAMES, *map(snake_case, members.nodes)]
        for name in self.random.sample(names, self.random.choice((1, 1, 2, 3))):
            if name not in members.nodes and name not in members.tags:
                made[name] = self.anything(depth + 1)
        for name in self.random.sample(sorted(members.of_siblings), min(1, len(members.of_siblings))):
            if name not in members.nodes and name not in members.tags:
                made[name] = self.anything(depth + 1)

    def array(self, node: Node, depth: int) -> Json:
        low = node.get("minItems", 0)
        length = max(low, self.random.choice((0, 1, 1, 2, 3) if depth < MAX_DEPTH - 2 else (0, 0, 1)))
        self.seen.add(f"{self.schema.pointer(node)} {'filled' if length else 'empty'}")
        return [self.value(node["items"], depth + 1) for _ in range(length)]

    def choose_type(self, node: Node, kinds: tuple[str, ...]) -> str:
        if len(kinds) == 1:
            return kinds[0]
        kind = "null" if self.random.random() < 0.3 and "null" in kinds else self.random.choice(kinds)
        self.seen.add(f"{self.schema.pointer(node)} type {kind}")
        return kind

    def scalar(self, node: Node, kind: str, refused: frozenset[str]) -> Json:
        match kind:
            case "null":
                return None
            case "boolean":
                return self.random.random() < 0.5
            case "integer":
                low, high = INTEGER_RANGES.get(node.get("format", ""), INTEGER_RANGES["int64"])
                low, high = max(low, node.get("minimum", low)), min(high, node.get("maximum", high))
                near = (low, high, low + 1, high - 1, *(n for n in INTEGERS if low <= n <= high))
                return self.random.choice((*near, self.random.randint(low, high)))
            case "number":
                low, high = node.get("minimum", float("-inf")), node.get("maximum", float("inf"))
                return self.random.choice([n for n in NUMBERS if low <= n <= high])
            case "string":
                return self.text(node, refused)
            case _:
                msg = f"{self.schema.pointer(node)}: type {kind} is new; teach the generator about it"
                raise AssertionError(msg)

    def text(self, node: Node, refused: frozenset[str]) -> str:
        if node.get("contentEncoding") == "base64":
            return self.random.choice(BASE64)
        if "pattern" in node:
            return rstr.Rstr(self.random).xeger(node["pattern"])
        match node.get("format"):
            case "uri":
                return self.random.choice(URIS)
            case "date-time":
                return self.random.choice(MOMENTS)
            case "regex":
                return self.random.choice(PATTERNS)
            case None:
                pool = UNKNOWN_TAGS if refused else [*TEXTS, "".join(self.random.choices(string.printable, k=9))]
                least = node.get("minLength", 0)
                return self.random.choice([text for text in pool if len(text) >= least and text not in refused])
            case other:
                msg = f"{self.schema.pointer(node)}: format {other} is new; teach the generator about it"
                raise AssertionError(msg)

    def key(self) -> str:
        return self.random.choice((*EXTRA_NAMES, *TEXTS, "type", "_meta", "name", "sessionId"))

    def anything(self, depth: int) -> Json:
        kind = self.random.choice(ANYTHING if depth < MAX_DEPTH else ANYTHING[:1])
        count = self.random.choice((1, 2, 3))
        match kind:
            case "scalar":
                return self.random.choice(
                    [None, True, False, self.random.choice(INTEGERS), self.random.choice(NUMBERS)]
                )
            case "text":
                return self.random.choice(TEXTS)
            case "empty":
                return [] if self.random.random() < 0.5 else {}
            case "array":
                return [self.anything(depth + 2) for _ in range(count)]
            case _:
                return {self.key(): self.anything(depth + 2) for _ in range(count)}


def _decisive(nodes: list[Node]) -> Node:
    """Return the narrowest of several schemas for one member: a constant, else that of the chosen variant."""
    return next((node for node in nodes if "const" in node), nodes[-1])


def _parts(schema: Schema, node: Node) -> Iterator[Node]:
    """List the schemas that can apply to an object: the node itself, its references and all variants."""
    node = schema.resolve(node)
    yield node
    for part in (*node.get("allOf", ()), *arms_of(node)):
        yield from _parts(schema, part)


def _states(schema: Schema, node: Node, name: str) -> set[str]:
    child = node["properties"][name]
    states = {"null"} if _may_be(schema, child, null=True) else set[str]()
    states |= {"present"} if _may_be(schema, child, null=False) else set()
    return states if name in node.get("required", ()) else states | {"missing"}


def _may_be(schema: Schema, node: Node, *, null: bool) -> bool:
    node = schema.resolve(node)
    if "const" in node:
        return (node["const"] is None) == null
    if "allOf" in node:
        return all(_may_be(schema, part, null=null) for part in node["allOf"])
    if "type" in node:
        return "null" in types_of(node) if null else types_of(node) != ("null",)
    return not arms_of(node) or any(_may_be(schema, arm, null=null) for arm in arms_of(node))


def _type_of(value: Json) -> str:
    """Return the name of a value's type in the schema."""
    words = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else words[type(value)]
