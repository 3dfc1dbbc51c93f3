"""The oracle is correct: it agrees with hand-written examples and, in strict mode, with jsonschema-rs."""

from collections import Counter
from random import Random

import pytest

from tests.acp_bindings.damage import damage, meaning, unwritable
from tests.acp_bindings.exact_json import Json, difference, is_array, is_object, same
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.readings import READINGS, REFUSED, Reading
from tests.acp_bindings.reference_reader import Reader, UnreadableError, own_tag, tag_of
from tests.acp_bindings.schemas import PACKAGES, Schema, load, subschemas

PER_DEFINITION = 15


@pytest.fixture(params=PACKAGES)
def schema(request: pytest.FixtureRequest) -> Schema:
    return load(request.param)


@pytest.mark.parametrize("reading", READINGS, ids=lambda each: f"{each.package}-{each.definition}-{each.why}")
def test_the_reference_reader_reads_the_written_examples(reading: Reading) -> None:
    reader = Reader(load(reading.package))
    if reading.read is REFUSED:
        with pytest.raises(UnreadableError):
            reader.read(reading.definition, reading.given)
    else:
        read = reader.read(reading.definition, reading.given)
        assert not difference(*(meaning(reader.schema, reading.definition, each) for each in (reading.read, read)))
        assert not unwritable(reader.schema, reading.definition, read)


def test_the_reference_reader_reads_valid_values_unchanged(schema: Schema) -> None:
    for name in schema.definitions:
        for value in Instances(schema).series(name, PER_DEFINITION):
            for lenient in (True, False):
                reader = Reader(schema, lenient=lenient)
                assert same(reader.read(name, value), value), name
                assert not reader.excused


def test_the_strict_reference_reader_accepts_what_jsonschema_accepts(schema: Schema) -> None:
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for name in schema.definitions:
        for index, instance in enumerate(Instances(schema).series(name, PER_DEFINITION)):
            value = _without_whole_floats(damage(Random(f"{name}/{index}"), schema, instance).value)
            reads, accepted = _reads(schema, name, value), schema.accepts(name, value)
            verdicts[reads, accepted] += 1
            assert accepted or not reads, f"{name}: read, though the schema forbids it: {value}"
            # The one other difference is meant: a tag decides, also where the schema would look at the rest alone.
            assert reads or not accepted or _minds_tags(schema, name), f"{name}: not read: {value}"
    assert verdicts[True, True] > 500
    assert verdicts[False, False] > 500


def test_the_lenient_reference_reader_returns_valid_values(schema: Schema) -> None:
    excused = 0
    for name in schema.definitions:
        for index, instance in enumerate(Instances(schema).series(name, PER_DEFINITION)):
            reader = Reader(schema, opened=False)
            try:
                left = reader.read(name, damage(Random(f"{name}/{index}"), schema, instance).value)
            except UnreadableError:
                continue
            excused += bool(reader.excused)
            assert schema.accepts(name, left) or not unwritable(schema, name, left), name
    assert excused > 250


def _reads(schema: Schema, name: str, value: Json) -> bool:
    try:
        Reader(schema, lenient=False, opened=False).read(name, value)
    except UnreadableError:
        return False
    return True


def _without_whole_floats(value: Json) -> Json:
    # JSON Schema takes 1.0 for an integer; ACP's readers do not, and that is decided elsewhere.
    if isinstance(value, float) and value.is_integer():
        return value + 0.5 if abs(value) < 2**50 else 0.5
    if is_array(value):
        return [_without_whole_floats(item) for item in value]
    return {name: _without_whole_floats(member) for name, member in value.items()} if is_object(value) else value


def _minds_tags(schema: Schema, name: str) -> bool:
    """Return True if there is a discriminator, or an inner union with a variant without one."""
    if own_tag(schema, name):
        return True
    waiting, seen = [name], set[str]()
    while waiting:
        seen.add(current := waiting.pop())
        for _, node in subschemas(schema.definitions[current], ""):
            arms = node.get("anyOf", [])
            if tag_of(arms) and any("not" not in arm and "const" not in str(arm.get("properties")) for arm in arms):
                return True
            if (target := node.get("$ref", "").removeprefix("#/$defs/")) and target not in seen:
                waiting.append(target)
    return False
