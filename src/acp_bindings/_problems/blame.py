"""Converts pydantic's errors to issues with paths in the message, for unions only those of the matching variant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings._json import members_of
from acp_bindings._models.types import CATCH_ALLS, INTEGER, NULL, TAGGED, VALUE
from acp_bindings.errors import Issue, Path

NO_TAG, BAD_TAG = "union_tag_not_found", "union_tag_invalid"

EXCUSES = "acp_bindings_excuses"
"""The key in the metadata of a schema for what tolerates errors in values of it, outermost first."""


class _Step(NamedTuple):
    """A union on the path of an error, and the variant that was tried."""

    where: Path
    """The location of the union in pydantic's form, including the labels of outer variants."""
    label: str
    """The label of the variant."""
    is_catch_all: bool
    """True if the variant is for unknown discriminator values."""
    level: int
    """The length of the path of the union in the message."""


_Excused: TypeAlias = tuple[Path, Path, Any]
"""The location of a value in pydantic's form, its path in the message, and what tolerates errors in it."""


class _Located(NamedTuple):
    """An issue, with the unions on its path and what tolerates it, outermost first."""

    issue: Issue
    unions: list[_Step]
    excuses: list[_Excused]


def blame(schema: CoreSchema, errors: Iterable[ErrorDetails], *, strict: bool) -> list[Issue]:
    """Return the issues for *errors* of validating with *schema*. Their `input` distinguishes null from "None"."""
    definitions: dict[str, Any] = {}
    located = [_locate(schema, definitions, error, strict=strict) for error in errors]
    return _meant([each for each in located if each], 0)


def excuses_of(schema: CoreSchema, definitions: dict[str, Any], error: ErrorDetails) -> list[_Excused]:
    """Return what tolerates *error* of validating with *schema* (`EXCUSES`), outermost first."""
    located = _locate(schema, definitions, error, strict=False)
    return located.excuses if located else []


def _locate(schema: Any, definitions: dict[str, Any], error: ErrorDetails, *, strict: bool) -> _Located | None:
    """Follow the location of *error* through the schema, to separate fields of the message from labels of variants.

    Return None if a variant in it has the label `NULL` or `INTEGER`, because these errors are not reported.
    """
    path: list[str | int] = []
    unions: list[_Step] = []
    branch: str | None = None
    excuses: list[_Excused] = []
    for position, step in enumerate((*error["loc"], None)):
        passed = _settled(schema, definitions, strict=strict)
        for part in passed:
            if "metadata" in part and EXCUSES in part["metadata"]:
                excuses += ((error["loc"][:position], tuple(path), each) for each in part["metadata"][EXCUSES])
        if step is None:
            break
        schema = passed[-1]
        if schema.get("type") in ("union", "tagged-union"):
            label = str(step)
            if label in (NULL, INTEGER):
                return None
            choices = _choices(schema)
            if label != VALUE:
                is_catch_all = label in schema.get("metadata", {}).get(CATCH_ALLS, ())
                unions.append(_Step(error["loc"][:position], label, is_catch_all, len(path)))
                branch = label if step in choices and label != TAGGED else branch
            schema = choices[step] if step in choices else _unlabelled(schema, step, definitions)
        else:
            path.append(step)
            schema = _descend(schema, step)
    rule, message = error["type"], error["msg"]
    if rule in (NO_TAG, BAD_TAG):
        about = error.get("ctx", {})
        name = _tag_name(about["discriminator"])
        path += [name] if name else []
        message = _about_tag(rule, about) if name or rule == BAD_TAG else message
        if name and is_of_none(error) and members_of(error.get("input")).get(name, ...) is None:
            rule, message = NO_TAG, "Input should be a valid string"
    return _Located(Issue(tuple(path), rule, message, branch), unions, excuses)


def is_of_none(error: ErrorDetails) -> bool:
    """Return True if *error* is about the tag "None". Pydantic also uses it for null; `input` shows which it is."""
    return error["type"] == BAD_TAG and error.get("ctx", {}).get("tag") == "None"


def _tag_name(discriminator: str) -> str | None:
    """Return the wire name of the discriminator, the last that pydantic tries; None if a function computes the tag."""
    return discriminator.rpartition(" | ")[2][1:-1] if discriminator.startswith("'") else None


def _about_tag(rule: str, context: dict[str, Any]) -> str:
    if rule == NO_TAG:
        return "Field required"
    tag = str(context["tag"])
    # A tag is a word. Any other string may be a secret, so it is not shown.
    shown = f"'{tag}'" if re.fullmatch(r"[\w.:/-]{1,40}", tag) else "This"
    return f"{shown} is not one of {context['expected_tags']}"


def _settled(schema: Any, definitions: dict[str, Any], *, strict: bool) -> list[Any]:
    """Return *schema* and the schemas in it up to the first that is not a wrapper. Wrappers do not add steps."""
    passed = [schema]
    while True:
        kind = schema.get("type")
        if kind == "definitions":
            definitions.update({each["ref"]: each for each in schema["definitions"]})
        if kind == "definition-ref":
            schema = definitions[schema["schema_ref"]]
        elif kind in _WRAPPERS:
            schema = schema["schema"]
        elif kind == "lax-or-strict":
            schema = schema["strict_schema" if strict else "lax_schema"]
        elif kind == "json-or-python":
            schema = schema["json_schema"]
        else:
            return passed
        passed.append(schema)


_WRAPPERS = {
    *("definitions", "model", "dataclass", "default", "nullable", "json"),
    *("function-before", "function-after", "function-wrap"),
}


def _choices(schema: Any) -> dict[Any, Any]:
    """Return the variants of a union by label. Variants without a label are not included."""
    if schema["type"] == "tagged-union":
        choices: dict[Any, Any] = schema["choices"]
        return choices
    return {choice[1]: choice[0] for choice in schema["choices"] if isinstance(choice, tuple)}


def _unlabelled(schema: Any, step: str | int, definitions: dict[str, Any]) -> Any:
    """Return the variant without a label that pydantic names *step*."""
    unlabelled: list[Any] = [choice for choice in schema["choices"] if isinstance(choice, dict)]
    for choice in unlabelled:
        if choice["type"] not in SCALARS:
            whole = cs.definitions_schema(choice, list(definitions.values()))
            if SchemaValidator(whole).title == step:
                return choice
    return {}


SCALARS = {"str", "int", "float", "bool", "none", "literal"}
"""Types of variants without further steps. Pydantic's name for any other variant is only known after compiling it."""


def _descend(schema: Any, step: Any) -> Any:
    """Return the schema of a field or item; empty if it is not known, as for a field of a user with an `AliasPath`."""
    empty: dict[str, Any] = {}
    kind, fields = schema.get("type"), schema.get("fields")
    if fields:
        is_map = kind in ("model-fields", "typed-dict")
        members: dict[str, Any] = fields if is_map else {each["name"]: each for each in fields}
        found = (each["schema"] for name, each in members.items() if each.get("validation_alias", name) == step)
        return next(found, empty)
    items: Any = schema.get("items_schema") or schema.get("values_schema") or empty
    return items[min(step, len(items) - 1)] if kind == "tuple" else items


def _meant(located: Sequence[_Located], depth: int) -> list[Issue]:
    """Return, for each union, the errors of one variant: the one with the tag, otherwise the one that fits best.

    The errors *located* have the same variants of all unions above *depth*.
    """
    kept: list[Issue] = []

    def union(each: _Located) -> Path | None:
        return each.unions[depth].where if len(each.unions) > depth else None

    for where, group in groupby(located, key=union):
        together = list(group)
        if where is None:
            kept += [each.issue for each in together]
            continue
        alternatives: dict[str, list[_Located]] = {}
        for each in together:
            alternatives.setdefault(each.unions[depth].label, []).append(each)
        tagged = alternatives.pop(TAGGED, [])
        unread = [each for each in tagged if each.issue.rule in (NO_TAG, BAD_TAG) and len(each.unions) == depth + 1]
        if not alternatives or (tagged and not unread):
            kept += _meant(tagged, depth + 1)
            continue
        # An unknown tag selects the catch-all variant. Without one, the tag itself is the issue.
        unknown = [each.issue for each in unread if each.issue.rule == BAD_TAG]
        fitting = [each for each in alternatives.values() if not unknown or each[0].unions[depth].is_catch_all]
        # A missing tag is an issue of the whole union, not of one variant.
        untagged = {each.issue.path: each.issue.branch for each in unread if not unknown}
        kept += (
            replace(issue, branch=untagged.get(issue.path, issue.branch))
            for issue in (_meant(min(fitting, key=partial(_distance, depth)), depth + 1) if fitting else unknown)
        )
    return kept


def _distance(depth: int, errors: Sequence[_Located]) -> tuple[int, int, int]:
    """Return a sort key for how badly a value with these *errors* fits a variant; the smallest is the best.

    The worst is a value that is not an object, then missing fields, then any other error.
    """
    below = [(each.issue.rule, len(each.issue.path) - each.unions[depth].level) for each in errors]
    return sum(steps == 0 for _, steps in below), below.count(("missing", 1)), len(errors)


OF_NO_CLASS = cs.CoreConfig(strict=True)
"""The settings of `decode` for values outside of classes. Each class has its own settings."""

LONGEST = 50_000
"""The maximum size in bytes of a text that is searched for all errors."""

MOST = 200
"""The maximum number of errors that become issues, because a list of a million invalid items has as many errors."""

MORE = Issue((), "too_many", "There are more errors")
"""The issue that replaces the errors beyond `MOST`."""


class Complaints:
    """Finds the errors in texts that should be JSON of one type."""

    def __init__(self, schema: CoreSchema) -> None:
        """Use the core schema *schema*."""
        self._schema = schema

    def issues(
        self, text: bytes | bytearray, *, strict: bool = False, first: ValidationError | None = None
    ) -> list[Issue]:
        """Return the errors in *text*; an empty list if it is valid.

        Args:
            text: the JSON.
            strict: apply the writer's rules.
            first: the error that reading *text* has already raised, with the first invalid item of each list.
        """
        if len(text) <= LONGEST:
            error = _refusal(self._to_the_end, text, strict=strict) or first
        else:
            error = first or _refusal(self._to_the_first, text, strict=strict)
        if error is None:
            return []
        errors = error.errors(include_url=False, include_input=False)
        if any(map(is_of_none, errors[:MOST])):
            errors = error.errors(include_url=False)  # this copies the input once for each error
        issues = blame(self._schema, errors[:MOST], strict=strict)
        return [*issues, MORE] if len(errors) > MOST else issues

    @cached_property
    def _to_the_first(self) -> SchemaValidator:
        return SchemaValidator(self._schema, OF_NO_CLASS, _use_prebuilt=False)

    @cached_property
    def _to_the_end(self) -> SchemaValidator:
        # The existing validators of the classes in it would stop at the first invalid item.
        return SchemaValidator(cast("CoreSchema", _without_fail_fast(self._schema)), OF_NO_CLASS, _use_prebuilt=False)


def _refusal(validator: SchemaValidator, text: bytes | bytearray, *, strict: bool) -> ValidationError | None:
    try:
        validator.validate_json(text, strict=strict or None)
    except ValidationError as error:
        return error
    return None


def _without_fail_fast(part: Any) -> Any:
    """Return a copy of a schema, or of a part of one, that reads lists to their end after an error."""
    if isinstance(part, dict):
        return {key: _without_fail_fast(each) for key, each in cast("Any", part).items() if key != "fail_fast"}
    if isinstance(part, list | tuple):
        copies = [_without_fail_fast(each) for each in cast("Any", part)]
        return tuple(copies) if isinstance(part, tuple) else copies
    return part
