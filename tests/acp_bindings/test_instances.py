"""The generator is correct: all instances are valid, and they reach everything that the schema allows."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acp_bindings.exact_json import Json, is_array, is_object, same
from tests.acp_bindings.instances import PER_DEFINITION, Instances, coverable, snake_case
from tests.acp_bindings.schemas import PACKAGES, Node, Schema, load, subschemas

KEYWORDS = {
    *("$ref", "additionalProperties", "allOf", "anyOf", "const", "contentEncoding", "default", "enum", "format"),
    *("items", "maximum", "minItems", "minLength", "minimum", "not", "oneOf", "pattern", "properties", "required"),
    *("type", "unevaluatedProperties"),
}
ANNOTATIONS = {"description", "discriminator", "title"}
TRAITS = [
    *("-0.0", "smallest float", "1e300", "float that is whole", "2**63-1", "-2**63", "2**64-1", "beyond 64 bits"),
    *("true", "false", "null", "empty text", "control character", "beyond the basic plane", "empty array"),
    *(
        "empty object",
        "empty name",
        "non-ASCII name",
        "name of a Python attribute",
        "snake_case of a known name",
        "array in _meta",
    ),
]


@pytest.fixture(scope="module", params=PACKAGES)
def schema(request: pytest.FixtureRequest) -> Schema:
    return load(request.param)


@pytest.fixture(scope="module")
def full_run(schema: Schema) -> tuple[Instances, dict[str, list[Json]]]:
    """A generator after it has made all instances for the proofs, and these instances by definition."""
    instances = Instances(schema)
    return instances, {name: list(instances.series(name, PER_DEFINITION)) for name in schema.definitions}


def test_a_full_run_reaches_every_variant_type_and_state_of_every_field(
    schema: Schema, full_run: tuple[Instances, dict[str, list[Json]]]
) -> None:
    instances, made = full_run
    for name, values in made.items():
        assert all(schema.accepts(name, value, formats=True) for value in values), name
    assert not coverable(schema) - instances.covered
    # Retries are for the rare clash of two rules; a generator that guesses would show here.
    assert instances.retries < len(schema.definitions)


def test_a_full_run_contains_values_that_careless_code_loses(
    schema: Schema, full_run: tuple[Instances, dict[str, list[Json]]]
) -> None:
    found: Counter[str] = Counter()
    nodes = [node for definition in schema.definitions.values() for _, node in subschemas(definition, "")]
    snakes = {snake_case(name) for node in nodes for name in node.get("properties", {}) if snake_case(name) != name}
    for values in full_run[1].values():
        for value in values[:40]:
            found.update(_traits(value, snakes))
    assert {trait: found[trait] for trait in TRAITS if found[trait] < 10} == {}


def test_equal_seeds_give_equal_instances_and_other_seeds_others(schema: Schema) -> None:
    one, other = (list(Instances(schema).series("InitializeRequest", 20, seed=7)) for _ in range(2))
    assert same(one, other)
    assert not same(one, list(Instances(schema).series("InitializeRequest", 20, seed=8)))


def test_a_definition_that_nothing_fits_is_reported_not_passed_over() -> None:
    impossible: Node = {"allOf": [{"type": "string"}], "not": {"anyOf": [{"properties": {}}]}}
    instances = Instances(Schema("changed", {"$defs": {"Impossible": impossible}}))
    with pytest.raises(AssertionError, match="changed Impossible: no valid instance"):
        instances.instance("Impossible", 0)


def test_the_generator_supports_every_keyword_of_the_schemas(schema: Schema) -> None:
    nodes = [node for definition in schema.definitions.values() for _, node in subschemas(definition, "")]
    keywords = {keyword for node in nodes for keyword in node if not keyword.startswith("x-")}
    assert keywords - ANNOTATIONS <= KEYWORDS


@pytest.mark.parametrize("union", ["McpServer", "AuthMethod"])
def test_variants_without_a_tag_have_no_tag_among_unknown_fields(union: str) -> None:
    tags = {arm["properties"]["type"]["const"] for arm in load("v1").definitions[union]["anyOf"] if "properties" in arm}
    kinds = {value.get("type") for value in Instances(load("v1")).series(union, 400)}
    assert kinds == {*tags, None}


def test_the_test_oracles_do_not_import_the_package() -> None:
    program = (
        "import sys, tests.acp_bindings.damage, tests.acp_bindings.instances, tests.acp_bindings.reference_reader;"
        "print([name for name in sys.modules if name.split('.')[0] in {'acp_bindings', 'codegen', 'pydantic'}])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _traits(value: Json, snakes: set[str], *, in_meta: bool = False) -> Iterator[str]:
    """List the difficult properties of a value and of all values inside it."""
    if is_object(value):
        yield from ["empty object"] if not value else []
        for name, member in value.items():
            yield from ["empty name"] if not name else []
            yield from ["non-ASCII name"] if not name.isascii() else []
            yield from ["name of a Python attribute"] if name in {"self", "copy", "model_config", "__class__"} else []
            yield from ["snake_case of a known name"] if name in snakes else []
            yield from _traits(member, snakes, in_meta=in_meta or name == "_meta")
    elif is_array(value):
        yield from ["empty array"] if not value else ["array in _meta"] if in_meta else []
        for item in value:
            yield from _traits(item, snakes, in_meta=in_meta)
    elif isinstance(value, str):
        yield from ["empty text"] if not value else []
        yield from ["control character"] if any(letter < " " for letter in value) else []
        yield from ["beyond the basic plane"] if any(letter > "\uffff" for letter in value) else []
    elif isinstance(value, float):
        yield from ["-0.0"] if math.copysign(1, value) < 0 and not value else []
        yield from {5e-324: ["smallest float"], 1e300: ["1e300"]}.get(value, [])
        yield from ["float that is whole"] if value.is_integer() else []
    elif isinstance(value, bool) or value is None:
        yield {None: "null", True: "true", False: "false"}[value]
    else:
        yield from {2**63 - 1: ["2**63-1"], -(2**63): ["-2**63"], 2**64 - 1: ["2**64-1"]}.get(value, [])
        yield from ["beyond 64 bits"] if abs(value) > 2**64 else []
