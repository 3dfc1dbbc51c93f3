"""The published schema files as plain data, with a jsonschema-rs validator for every definition."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema_rs

from tests.acp_bindings.exact_json import Json, is_object

Node: TypeAlias = dict[str, Any]

INTEGER_RANGES = {
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}

FILES = {
    "v1": "v1/schema.json",
    "v1_unstable": "v1/schema.unstable.json",
    "v2": "v2/schema.json",
    "v2_unstable": "v2/schema.unstable.json",
}
PACKAGES = tuple(FILES)

FOLDER = Path(__file__).parents[2] / "schema"


@dataclass(frozen=True, eq=False)
class Schema:
    """One published schema file; `package` is the name of the package that is generated from it."""

    package: str
    document: Node
    _pointers: dict[int, str] = field(default_factory=dict[int, str], repr=False)
    _validators: dict[tuple[str, bool], jsonschema_rs.Draft202012Validator] = field(
        default_factory=dict[tuple[str, bool], jsonschema_rs.Draft202012Validator], repr=False
    )

    def __post_init__(self) -> None:
        """Record the position of every subschema."""
        for pointer, node in subschemas(self.document, ""):
            self._pointers[id(node)] = pointer

    @cached_property
    def definitions(self) -> dict[str, Node]:
        """Every definition except the JSON-RPC envelopes."""
        return {name: node for name, node in self.document["$defs"].items() if not node.get("x-docs-ignore")}

    def resolve(self, node: Node) -> Node:
        """Follow a chain of bare references to its definition."""
        while "$ref" in node:
            node = self.document["$defs"][self.name_of(node)]
        return node

    def name_of(self, reference: Node) -> str:
        """Name the definition that a reference points to."""
        return reference["$ref"].removeprefix("#/$defs/")

    def pointer(self, node: Node) -> str:
        """Return the JSON pointer of a subschema in the file."""
        return self._pointers[id(node)]

    def accepts(self, name: str, value: Json, *, formats: bool = False) -> bool:
        """Return True if a value obeys the writer's rules; `formats` also checks uri, date-time and regex."""
        return self._validator(name, formats=formats).is_valid(value)

    def complaints(self, name: str, value: Json) -> list[str]:
        """List the violations of the writer's rules in a value, one line each."""
        errors = self._validator(name, formats=False).iter_errors(value)
        return [f"{'/'.join(map(str, error.instance_path)) or '(root)'}: {error.message[:300]}" for error in errors]

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        # jsonschema-rs takes "int64" and its like as annotations; here they are bounds that count.
        document = json.loads(json.dumps(self.document))
        for _, node in subschemas(document, ""):
            if node.get("format") in INTEGER_RANGES:
                low, high = INTEGER_RANGES[node["format"]]
                node["minimum"] = max(low, node.get("minimum", low))
                node["maximum"] = min(high, node.get("maximum", high))
        return jsonschema_rs.Registry([(f"acp:{self.package}", document)])

    def _validator(self, name: str, *, formats: bool) -> jsonschema_rs.Draft202012Validator:
        if (name, formats) not in self._validators:
            self._validators[name, formats] = jsonschema_rs.Draft202012Validator(
                {"$ref": f"acp:{self.package}#/$defs/{name}"},
                registry=self._registry,
                validate_formats=formats,
            )
        return self._validators[name, formats]


@cache
def load(package: str) -> Schema:
    """Load the schema from which one sub-package of `acp_bindings` is generated."""
    return Schema(package, json.loads((FOLDER / FILES[package]).read_text(encoding="utf-8")))


def subschemas(node: Node, pointer: str) -> Iterator[tuple[str, Node]]:
    """Yield a schema and its subschemas with their JSON pointers. Data such as `default` is not a schema."""
    yield pointer, node
    for keyword, value in node.items():
        below = f"{pointer}/{keyword}"
        if keyword in {"$defs", "properties"}:
            for name, child in value.items():
                yield from subschemas(child, f"{below}/{name}")
        elif keyword in {"anyOf", "oneOf", "allOf"}:
            for position, child in enumerate(value):
                yield from subschemas(child, f"{below}/{position}")
        elif keyword in {"items", "not", "additionalProperties"} and is_object(value):
            yield from subschemas(value, below)


def arms_of(node: Node) -> list[Node]:
    """List the variants of a union."""
    return node.get("anyOf") or node.get("oneOf") or []


def types_of(node: Node) -> tuple[str, ...]:
    """List the types that a schema allows; empty if it does not restrict them."""
    kinds = node.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)
