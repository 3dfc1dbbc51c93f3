"""Finds the tolerated errors in a message: `Witness` reads it again, by a schema that does not tolerate any.

Each error of that reading is below one or several places where a rule applies. The outermost one whose value `decode`
could not read is the finding. Validators of users run again. They see only values without tolerated errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator, ValidationError, from_json, to_json
from pydantic_core import core_schema as cs

from acp_bindings._models.reading import EXCUSED_BY
from acp_bindings._models.types import NULL, TAGGED, VALUE
from acp_bindings._problems.blame import EXCUSES, OF_NO_CLASS, SCALARS, Complaints, excuses_of
from acp_bindings._problems.mistakes import explained, part_at
from acp_bindings.errors import Finding, Issue, Path, ReadingRule


class Witness:
    """Finds the errors that `decode` tolerates in messages of one type."""

    def __init__(self, schema: CoreSchema) -> None:
        """Create a witness for the type with the core schema *schema*."""
        definitions: list[CoreSchema] = cast("Any", schema).get("definitions", [])
        self._schema = _intolerant(schema, definitions)
        # The existing validators of the classes in it tolerate errors.
        self._validator = SchemaValidator(self._schema, OF_NO_CLASS, _use_prebuilt=False)

    def findings(self, text: str | bytes | bytearray) -> list[Finding]:
        """Return the tolerated errors in *text*, which `decode` accepted, in the order of the fields in the schema."""
        try:
            self._validator.validate_json(text)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            return [*_failed(self._schema, errors, from_json(text))]
        return []


def _failed(schema: CoreSchema, errors: Iterable[ErrorDetails], message: Any) -> Iterator[Finding]:
    """Yield a finding for the outermost excuse of each of the *errors* whose value in the *message* is invalid."""
    definitions: dict[str, Any] = {}
    passed: set[tuple[Path, _Excuse]] = set()
    found: Path | None = None
    for error in errors:
        if found is not None and error["loc"][: len(found)] == found:
            continue
        for location, path, excuse in excuses_of(schema, definitions, error):
            if (path, excuse) in passed:
                continue
            if finding := excuse.finding(path, message):
                yield finding
                found = location
                break
            passed.add((path, excuse))


@dataclass(frozen=True, eq=False)
class _Excuse:
    """A place in the schema where a rule tolerates any value that does not match *schema*."""

    rule: ReadingRule
    schema: CoreSchema
    definitions: list[CoreSchema]

    def finding(self, path: Path, message: Any) -> Finding | None:
        """Return the finding at *path* in the *message*; None if the value there was read."""
        try:
            value = part_at(message, path)
        except (LookupError, TypeError):  # a validator of a user has changed the value
            return None
        causes = explained(self._complaints.issues(to_json(value)), value)
        below = (Issue(path + cause.path, cause.rule, cause.message, cause.branch) for cause in causes)
        return Finding(path, self.rule, tuple(below)) if causes else None

    @cached_property
    def _complaints(self) -> Complaints:
        return Complaints(cs.definitions_schema(self.schema, self.definitions))


def _intolerant(part: Any, definitions: list[CoreSchema]) -> Any:
    """Return a copy of a schema, or of a part of one, with the rules in its metadata (`EXCUSES`) and not applied."""
    if isinstance(part, list | tuple):
        copies = [_intolerant(each, definitions) for each in cast("Any", part)]
        return tuple(copies) if isinstance(part, tuple) else copies
    if not isinstance(part, dict):
        return part
    schema = cast("dict[str, Any]", part)
    if not isinstance(kind := schema.get("type"), str):  # the fields of a class, by name
        return {name: _intolerant(each, definitions) for name, each in schema.items()}
    if rule := schema.get("metadata", {}).get(EXCUSED_BY):
        inner = _intolerant(schema["strict_schema"], definitions)
        metadata = inner.get("metadata", {})
        excuse = _Excuse(rule, schema["strict_schema"], definitions)
        return {**inner, "metadata": {**metadata, EXCUSES: [excuse, *metadata.get(EXCUSES, ())]}}
    copied = {name: _intolerant(each, definitions) for name, each in schema.items()}
    if kind == "list" and schema.get("items_schema", {}).get("type") not in SCALARS:
        copied.pop("fail_fast", None)
    return _choosing(copied, schema, definitions) if kind == "union" and _is_open(schema) else copied


def _is_open(union: Any) -> bool:
    """Return True if tolerated errors may change which variant of *union* a value fits."""
    variants = _variants(union)
    return all(label != VALUE for _, label in variants) and any(each["type"] not in SCALARS for each, _ in variants)


def _choosing(copied: Any, union: Any, definitions: list[CoreSchema]) -> Any:
    """Return *copied*, the intolerant copy of *union*, with the variant chosen by *union*.

    A known tag decides first. A value that fits the first other variant without any error needs no choice.
    """
    tagged = [(each, label) for each, label in _variants(copied) if label == TAGGED]
    others = [each for each, _ in _variants(copied)[len(tagged) :]]
    numbers = [_numbered(number, each) for number, (each, _) in enumerate(_variants(union)[len(tagged) :])]
    numbered: Any = {**{name: part for name, part in union.items() if name != "ref"}, "choices": numbers}
    validator = SchemaValidator(cs.definitions_schema(numbered, definitions), OF_NO_CLASS, _use_prebuilt=False)

    def choose(value: object) -> int | None:
        try:
            taken: int = validator.validate_json(to_json(value))
        except ValidationError:
            return None
        return taken

    chosen: Any = cs.tagged_union_schema(dict(enumerate(others)), choose)
    if union.get("mode") == "left_to_right":
        return {**copied, "choices": [*tagged, (others[0], NULL), (chosen, VALUE)]}
    return {**chosen, "ref": copied["ref"]} if "ref" in copied else chosen


def _variants(union: Any) -> list[tuple[Any, str]]:
    """Return the variants of *union*, each with its label; empty if it has none."""
    return [choice if isinstance(choice, tuple) else (choice, "") for choice in cast("list[Any]", union["choices"])]


def _numbered(number: int, variant: Any) -> CoreSchema:
    """Return the schema of a variant that reads a value as *number*."""
    return cs.no_info_after_validator_function(lambda _: number, variant)
