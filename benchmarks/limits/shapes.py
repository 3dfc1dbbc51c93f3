"""The responses of a hostile server to a tool call: expensive messages and schemas, and stalls.

Only the standard library, because a server of one file imports this.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

KINDS = ("response", "notification", "request", "stray")
"""Kinds of messages. A shape may also be a `schema` by which the result is validated, a `stall`, or a `flood`."""
MB = 1 << 20


class Shape(NamedTuple):
    """The response of a server to a tool call."""

    kind: str
    """One of `KINDS`, `schema`, `stall` or `flood`."""
    parts: tuple[tuple[str, int], ...]
    """The names in `FILLINGS` that it is made of, each with its size in bytes; of a schema, its name in `SCHEMAS`."""
    squeezed: bool = False
    """True if it is compressed, on transports that support it."""
    id_last: bool = False
    """True if the id follows the result, as the TypeScript SDK writes it."""

    def __str__(self) -> str:
        is_message = self.kind in KINDS
        parts = " + ".join(f"{name} {_size(size) if is_message else size}" for name, size in self.parts)
        return f"{self.kind}: {parts}{', gzip' if self.squeezed else ''}"


def _size(size: int) -> str:
    return f"{size / MB:.1f} MB" if size >= MB / 10 else f"{size / 1024:.1f} kB"


def _repeated(unit: bytes, *, start: bytes = b"[", end: bytes = b"0]") -> Callable[[int], bytes]:
    return lambda size: start + unit * (size // len(unit)) + end


def _numbered(form: bytes, *, start: bytes, end: bytes, step: int) -> Callable[[int], bytes]:
    return lambda size: start + b"".join(form % number for number in range(size // step)) + end


def _text(unit: bytes, last: bytes = b"") -> Callable[[int], bytes]:
    return _repeated(unit, start=b'"', end=last + b'"')


FILLINGS: dict[str, Callable[[int], bytes]] = {
    "empty arrays": _repeated(b"[],"),
    "empty objects": _repeated(b"{},"),
    "small objects": _repeated(b'{"":0},'),
    "objects of many keys": _numbered(b'{"%x":0},', start=b"[", end=b"0]", step=11),
    "objects of two strings": _numbered(b'{"%07x":"a-string"},', start=b"[", end=b"0]", step=23),
    "objects with emoji": _numbered(
        '{"%07x\U0001f600":"a-string-\U0001f600"},'.encode(), start=b"[", end=b"0]", step=32
    ),
    "objects of emoji and text": _numbered(
        ('{"%07x\U0001f600":"' + 64 * "a" + '\U0001f600"},').encode(), start=b"[", end=b"0]", step=87
    ),
    "one object": _numbered(b'"%x":0,', start=b"{", end=b'"":0}', step=9),
    "numbers": _repeated(b"999,"),
    "floats": _repeated(b"1.5,"),
    "long numbers": _repeated(b"1" * 4299 + b","),
    "a number": lambda size: b"1" * size,
    "empty strings": _repeated(b'"",'),
    "strings": _repeated(b'"abcdefghi",'),
    "a string": _text(b"a"),
    "an emoji at the end": _text(b"a", "\U0001f600".encode()),
    "emoji": _text("\U0001f600".encode()),
    "escapes": _text(rb"\u00e9"),
    "backslashes": _text(rb"\\"),
    "quotes": _text(rb"\",{["),
    "lone surrogates": _text(rb"\ud800"),
    "broken UTF-8": _text(b"\xff"),
    "control characters": _text(b"\x7f"),
    "commas in a string": _text(b",{[:"),
    "nested arrays": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "nested objects": lambda size: b'{"":' * (size // 5) + b"0" + b"}" * (size // 5),
    "not closed": lambda size: b"[" * size,
    "quotes side by side": lambda size: b'"' * (size // 2 * 2),
    "spaces": lambda size: b" " * size + b"0",
    "lines": lambda size: b"[" + b"0,\n" * (size // 3) + b"0]",
}
"""About so many bytes of JSON; some are invalid."""

TYPED: dict[str, bytes] = {
    "content blocks": b'{"type":"text","text":""}',
    "empty blocks": b"{}",
    "blocks without text": b'{"type":"text"}',
    "resource links": b'{"type":"resource_link","uri":"a:","name":""}',
}
"""Items of the result of a tool."""


def _nested(keyword: str) -> Callable[[int], dict[str, Any]]:
    """Return a function of schemas in which each level refers to the next one twice."""

    def schema(levels: int) -> dict[str, Any]:
        twice = {f"s{level}": {keyword: [{"$ref": f"#/$defs/s{level + 1}"}] * 2} for level in range(levels)}
        return {"$ref": "#/$defs/s0", "$defs": {**twice, f"s{levels}": {"type": "object"}}}

    return schema


def _of_value(schema: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    return lambda _: {"properties": {"value": schema}}


SCHEMAS: dict[str, Callable[[int], dict[str, Any]]] = {
    "pattern": _of_value({"type": "string", "pattern": "^(a+)+$"}),
    "pattern of a name": lambda _: {"patternProperties": {"^(a+)+$": {}}},
    "pattern that is large": _of_value({"pattern": "(?:(?:a{1000}){1000}){1000}b"}),
    "allOf of references": _nested("allOf"),
    "anyOf of references": _nested("anyOf"),
    "oneOf of references": _nested("oneOf"),
    "unique items": _of_value({"uniqueItems": True}),
    "a reference to itself": lambda _: {"$ref": "#"},
    "nested": lambda levels: {"not": SCHEMAS["nested"](levels - 1)} if levels else {},
}
"""Schemas of a result, of as many levels as they are called with."""


def result_for(name: str) -> dict[str, Any]:
    """The result that takes the longest to validate by the schema of this name."""
    if name == "pattern of a name":
        return {"a" * 40 + "!": 0}
    return {"value": [[each] for each in range(20_000)] if name == "unique items" else "a" * 40 + "!"}


def message(shape: Shape, number: object) -> bytes:
    """The message; a response is that to the request of this id."""
    fillings: dict[str, bytes] = {"structuredContent": b"{}"}
    for index, (name, size) in enumerate(shape.parts):
        if name in TYPED:
            fillings["content"] = b"[" + b",".join([TYPED[name]] * max(1, size // (len(TYPED[name]) + 1))) + b"]"
        else:
            fillings[f"_meta{index}"] = FILLINGS[name](size)
    content = fillings.pop("content", b"[]")
    opaque = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in fillings.items())
    # Where any JSON may be, so that nothing but its size is against it.
    body = b'{"content":%b,"_meta":{%b}}' % (content, opaque)
    head, rest = b'"jsonrpc":"2.0"', b""
    match shape.kind:
        case "response":
            head, rest = b'%b,"id":%b' % (head, json.dumps(number).encode()), b'"result":' + body
        case "notification":
            head, rest = head + b',"method":"notifications/message"', b'"params":{"level":"info","data":%b}' % body
        case "request":
            head, rest = head + b',"method":"ping","id":"r1"', b'"params":' + body
        case _:
            return b'{"log":%b}' % body
    return b"{%b,%b}" % ((rest, head) if shape.id_last else (head, rest))


def compressed(data: bytes) -> bytes:
    """The same in the fewest bytes that take little time."""
    return gzip.compress(data, 6)


KNOWN = [
    Shape("response", (("empty arrays", 8 * MB),)),
    Shape("response", (("empty arrays", 1_450_000),)),
    Shape("stray", (("empty arrays", 8 * MB),)),
    Shape("notification", (("empty arrays", 31 * MB),)),
    Shape("notification", (("small objects", 4 * MB),)),
    Shape("response", (("empty arrays", 8 * MB),), squeezed=True, id_last=True),
    Shape("response", (("objects of many keys", 3_600_000), ("an emoji at the end", 36 * MB))),
    Shape("response", (("objects of two strings", 7_600_000), ("an emoji at the end", 32 * MB))),
    Shape("response", (("objects with emoji", 10 * MB), ("an emoji at the end", 29 * MB))),
    Shape("response", (("objects of emoji and text", 27 * MB), ("an emoji at the end", 12 * MB))),
    Shape("response", (("an emoji at the end", 39 * MB),), squeezed=True),
    Shape("response", (("broken UTF-8", 39 * MB),)),
    Shape("response", (("control characters", 38 * MB), ("emoji", 1 * MB))),
    Shape("response", (("blocks without text", 300_000), ("an emoji at the end", 39 * MB))),
    Shape("response", (("empty blocks", 1 * MB),)),
    Shape("response", (("content blocks", 500_000),)),
    Shape("response", (("nested arrays", 4000),)),
    Shape("response", (("nested objects", 40_000),), id_last=True),
    Shape("response", (("lone surrogates", 7 * MB),)),
    Shape("response", (("lone surrogates", 15 * MB),)),
    Shape("response", (("long numbers", 39 * MB),)),
    Shape("response", (("quotes", 39 * MB),)),
    Shape("response", (("lines", 3 * MB),)),
    Shape("response", (("a string", 43 * MB),)),
]
"""Those that were costly once, or may be."""


KNOWN += [Shape("schema", ((name, 40),)) for name in SCHEMAS]
KNOWN += [Shape("stall", ()), Shape("flood", ())]


def random_shape(seed: random.Random) -> Shape:
    """A message of one to three fillings, of which most are small, or now and then a schema."""
    if seed.random() < 0.15:
        return Shape("schema", ((seed.choice([*SCHEMAS]), seed.randrange(1, 60)),))
    parts = tuple(
        (seed.choice([*FILLINGS, *TYPED]), int(2 ** seed.uniform(8, 25))) for _ in range(seed.choice([1, 1, 2, 3]))
    )
    return Shape(seed.choice(KINDS), parts, squeezed=seed.random() < 0.3, id_last=seed.random() < 0.5)


def to_json(shape: Shape) -> str:
    """The shape for another process."""
    return json.dumps(shape)


def from_json(text: str) -> Shape:
    """The shape from another process."""
    kind, parts, squeezed, id_last = json.loads(text)
    pairs: list[Any] = parts
    return Shape(kind, tuple((name, size) for name, size in pairs), squeezed, id_last)
