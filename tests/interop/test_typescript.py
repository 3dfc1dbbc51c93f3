"""The TypeScript SDK and this package read messages with the same verdict and value, except for named differences."""

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import pytest
from pydantic import BaseModel

from acp_bindings import decode, encode
from tests.acp_bindings.damage import damage, each_member_damaged
from tests.acp_bindings.exact_json import Json, is_array, is_object, same, spell
from tests.acp_bindings.instances import PER_DEFINITION, Instances
from tests.acp_bindings.readings import READINGS, Reading
from tests.acp_bindings.reference_reader import arms_of
from tests.acp_bindings.roundtrip import generated
from tests.acp_bindings.schemas import FILES, FOLDER, PACKAGES, load
from tests.interop.differences import DIFFERENCES, Difference, compare
from tests.interop.outcome import Outcome, Refused, agree, as_doubles, our_reading
from tests.interop.spellings import SPELLINGS, Spelling
from tests.interop.typescript import SDK, TypeScriptReader

DAMAGED = 100
DEFINITIONS = [(package, name) for package in PACKAGES for name in load(package).definitions]

Compared: TypeAlias = Callable[[str, str, list[Json]], list[Outcome]]
Tally: TypeAlias = Callable[[str, dict[str, int]], None]


@pytest.fixture
def compared(typescript: TypeScriptReader, tally: Tally) -> Compared:
    """Read messages on both sides, count the outcomes, and fail on differences that are not named."""

    def compared(package: str, definition: str, messages: list[Json]) -> list[Outcome]:
        readings = typescript.read(package, definition, map(json.dumps, messages))
        comparisons = [compare(package, definition, *each) for each in zip(messages, readings, strict=True)]
        counts = Counter(name for comparison in comparisons for name in comparison.named)
        counts["messages"] = len(messages)
        counts["read alike"] = sum(not (each.named or each.uncovered) for each in comparisons)
        counts["differ"] = sum(bool(each.uncovered) for each in comparisons)
        counts["named differences only"] = counts["messages"] - counts["read alike"] - counts["differ"]
        tally(package, counts)
        pairs = zip(messages, comparisons, strict=True)
        found = [(len(str(message)), message, each.uncovered) for message, each in pairs if each.uncovered]
        _, smallest, uncovered = min(found, key=lambda each: each[0], default=(0, None, ""))
        assert not found, (
            f"{len(found)} of {len(messages)} differ without a name: {uncovered}\n  {spell(smallest, 2000)}"
        )
        return readings

    return compared


@pytest.mark.parametrize("file", FILES.values())
def test_the_sdk_is_of_the_release_that_the_bindings_are_generated_from(file: str) -> None:
    assert (SDK / "schema" / file).read_bytes() == (FOLDER / file).read_bytes()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_definition_has_a_counterpart(package: str, typescript: TypeScriptReader, tally: Tally) -> None:
    for definition in load(package).definitions:
        assert typescript.read(package, definition, []) == []
    tally(package, {"definitions": len(load(package).definitions)})


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.name)
def test_every_named_difference_still_exists(difference: Difference, typescript: TypeScriptReader) -> None:
    package, definition, message = difference.shown_by
    text = json.dumps(message)
    theirs = typescript.read(package, definition, [text])[0]
    assert not agree(our_reading(package, definition, text), theirs)
    assert compare(package, definition, message, theirs).named == (difference.name,)


@pytest.mark.parametrize("reading", READINGS, ids=lambda each: f"{each.package}-{each.definition}-{each.why}")
def test_the_written_examples_read_the_same(reading: Reading, compared: Compared) -> None:
    compared(reading.package, reading.definition, [reading.given])


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda each: each.name)
def test_json_is_read_equally_in_any_spelling(spelling: Spelling, typescript: TypeScriptReader) -> None:
    ours = as_doubles(our_reading("v1", spelling.definition, spelling.text))
    theirs = typescript.read("v1", spelling.definition, [spelling.text])[0]
    assert agree(ours, theirs) == (not spelling.why_not), (ours, theirs)


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_a_valid_message_is_taken_and_read_into_attributes(package: str, definition: str, compared: Compared) -> None:
    messages = list(Instances(load(package)).series(definition, PER_DEFINITION))
    readings = compared(package, definition, messages)
    assert not _refused(messages, readings)
    for message, reading in zip(messages, readings, strict=True):
        said = as_doubles(_in_full(decode(generated(package, definition), json.dumps(message))))
        assert not (missing := _missing(reading, said)), f"{missing}\n  {spell(message, 2000)}"


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_constructed_messages_are_accepted_and_read_equally(package: str, definition: str, compared: Compared) -> None:
    instances = Instances(load(package)).series(definition, PER_DEFINITION)
    type_ = generated(package, definition)
    messages = [json.loads(encode(_constructed(decode(type_, json.dumps(each))))) for each in instances]
    assert not _refused(messages, compared(package, definition, messages))


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_a_damaged_message_has_the_same_verdict_and_value(package: str, definition: str, compared: Compared) -> None:
    schema = load(package)
    instances = Instances(schema).series(definition, DAMAGED, seed=13)
    random = Random(f"{package}/{definition}")
    messages = [damage(random, schema, each).value for each in instances]
    compared(package, definition, messages)
    compared(package, definition, _rewritten(package, definition, messages))


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_every_field_has_the_same_rule(package: str, definition: str, compared: Compared) -> None:
    schema = load(package)
    # Instances go through the branches of a union by turns: as many as there are branches reach them all.
    branches = max(1, len(arms_of(schema.definitions[definition])))
    instances = Instances(schema).series(definition, branches, seed=14)
    messages = [each.value for instance in instances for each in each_member_damaged(schema, definition, instance)]
    compared(package, definition, messages)
    compared(package, definition, _rewritten(package, definition, messages))


def _refused(messages: list[Json], readings: list[Outcome]) -> list[tuple[Json, Refused]]:
    pairs = zip(messages, readings, strict=True)
    return [(message, reading) for message, reading in pairs if isinstance(reading, Refused)]


def _rewritten(package: str, definition: str, messages: list[Json]) -> list[Json]:
    """Return the messages that we write after reading, where they differ from the original."""
    readings = [our_reading(package, definition, json.dumps(message)) for message in messages]
    pairs = zip(messages, readings, strict=True)
    return [read for message, read in pairs if not isinstance(read, Refused) and not same(message, read)]


def _constructed(value: Any) -> Any:
    """Rebuild the value with the constructors of its classes, from the members that they define."""
    if isinstance(value, BaseModel):
        known = type(value).model_fields.keys() & value.model_fields_set
        return type(value)(**{name: _constructed(getattr(value, name)) for name in known})
    if is_array(value):
        return [_constructed(item) for item in value]
    if is_object(value):
        return {name: _constructed(member) for name, member in value.items()}
    return value


def _in_full(value: Any) -> Json:
    """Return a value as JSON, with the defaults of omitted members."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        known = {info.alias or name: _in_full(getattr(value, name)) for name, info in fields.items()}
        # An unknown member that is spelt like an attribute has a name there that equals no other.
        return known | {str(name): member for name, member in (value.model_extra or {}).items()}
    if is_array(value):
        return [_in_full(item) for item in value]
    if is_object(value):
        return {name: _in_full(member) for name, member in value.items()}
    return value


def _missing(theirs: Json, ours: Json, path: str = "") -> str:
    """Return the place where their value contains something that ours does not; empty if there is none."""
    if is_object(theirs) and is_object(ours):
        members = ((f"{path}/{name}", member, ours.get(name, "nothing")) for name, member in theirs.items())
        return next((found for place, one, other in members if (found := _missing(one, other, place))), "")
    if is_array(theirs) and is_array(ours) and len(theirs) == len(ours):
        items = ((f"{path}/{position}", *pair) for position, pair in enumerate(zip(theirs, ours, strict=True)))
        return next((found for place, one, other in items if (found := _missing(one, other, place))), "")
    return "" if same(theirs, ours) else f"{path or '(root)'}: they have {spell(theirs)}, we {spell(ours)}"
