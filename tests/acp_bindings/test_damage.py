"""Damaged messages: tolerated damage is read according to the rules, everything else is refused."""

import json
from random import Random

import pytest

from acp_bindings import DecodeError, decode, encode
from tests.acp_bindings.agreement import disagreement
from tests.acp_bindings.damage import damage, each_member_damaged, meaning, unwritable
from tests.acp_bindings.exact_json import Json, difference, spell
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.readings import READINGS, REFUSED, Reading
from tests.acp_bindings.reference_reader import Reader, UnreadableError, arms_of
from tests.acp_bindings.roundtrip import generated, raw
from tests.acp_bindings.schemas import PACKAGES, load

PER_DEFINITION = 10
DEFINITIONS = [(package, name) for package in PACKAGES for name in load(package).definitions]


@pytest.mark.parametrize("reading", READINGS, ids=lambda each: f"{each.package}-{each.definition}-{each.why}")
def test_the_written_examples_read_as_they_should(reading: Reading) -> None:
    model_type, given = generated(reading.package, reading.definition), json.dumps(reading.given)
    if reading.read is REFUSED:
        with pytest.raises(DecodeError):
            decode(model_type, given)
        return
    schema, written = load(reading.package), json.loads(encode(decode(model_type, given)))
    assert not difference(*(meaning(schema, reading.definition, each) for each in (reading.read, written)))
    assert not unwritable(schema, reading.definition, written)


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_damage_is_tolerated_or_refused_as_by_the_reference_reader(package: str, definition: str) -> None:
    schema = load(package)
    found: list[tuple[str, Json]] = []
    for index, instance in enumerate(Instances(schema).series(definition, PER_DEFINITION, seed=1)):
        damaged = damage(Random(f"{package}/{definition}/{index}"), schema, instance)
        if what := disagreement(schema, definition, generated(package, definition), damaged.value, form=index):
            found.append((f"{'; '.join(damaged.wounds)}: {what}", damaged.value))
    smallest = min(found, key=lambda each: len(str(each[1])), default=("", None))
    assert not found, f"{len(found)} of {PER_DEFINITION} disagree; {smallest[0]}\n  {spell(smallest[1], 2000)}"


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_every_field_follows_its_rule_when_it_is_invalid_null_or_missing(package: str, definition: str) -> None:
    schema = load(package)
    # Instances go through the branches of a union by turns: as many as there are branches reach them all.
    branches = max(1, len(arms_of(schema.definitions[definition])))
    for instance in Instances(schema).series(definition, branches, seed=3):
        for form, damaged in enumerate(each_member_damaged(schema, definition, instance)):
            what = disagreement(schema, definition, generated(package, definition), damaged.value, form=form)
            assert not what, f"{damaged.wounds[0]}: {what}\n  {spell(damaged.value, 2000)}"


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_strict_reading_accepts_exactly_what_a_writer_may_write(package: str, definition: str) -> None:
    schema = load(package)
    found: list[Json] = []
    for index, instance in enumerate(Instances(schema).series(definition, PER_DEFINITION // 2, seed=2)):
        value = damage(Random(f"{package}/{definition}/{index}"), schema, instance).value
        try:
            Reader(schema, lenient=False).read(definition, value)
            allowed = True
        except UnreadableError:
            allowed = False
        try:
            decode(generated(package, definition), raw(value, index), strict=True)
            taken = True
        except DecodeError:
            taken = False
        found += [value] if taken != allowed else []
    smallest = min(found, key=lambda each: len(str(each)), default=None)
    assert not found, f"{len(found)} of {PER_DEFINITION // 2} disagree; {spell(smallest, 2000)}"
