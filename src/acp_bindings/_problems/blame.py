"""From pydantic's errors to issues: the path in the message, and of a union only the alternative that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, NamedTuple, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings._json import members_of
from acp_bindings._models.types import CATCH_ALLS, INTEGER, NULL, TAGGED, VALUE
from acp_bindings.errors import Issue

NO_TAG, BAD_TAG = "union_tag_not_found", "union_tag_invalid"


class _Step(NamedTuple):
    """A union on the way to an error, and the alternative of it that was tried."""

    where: tuple[str | int, ...]
    """The location of the union, as pydantic gives it: with the labels of alternatives around it."""
    label: str
    """That of the alternative."""
    is_catch_all: bool
    """Whether the alternative is for tags that no other one has."""
    level: int
    """How many steps of the path in the message lead to the union."""


class _Located(NamedTuple):
    """An issue, and the unions on the way to it, outermost first."""

    issue: Issue
    unions: list[_Step]


def blame(schema: CoreSchema, errors: Iterable[ErrorDetails], *, strict: bool = False) -> list[Issue]:
    """The issues behind *errors*, which validating by *schema* gave; with their `input` null is told from "None"."""
    definitions: dict[str, Any] = {}
    located = [_locate(schema, definitions, error, strict=strict) for error in errors]
    return _meant([each for each in located if each], 0)


def _locate(schema: Any, definitions: dict[str, Any], error: ErrorDetails, *, strict: bool) -> _Located | None:
    """Follow the location of *error* through the schema, to tell members of the message from labels of alternatives.

    None where it leads through an alternative with the label `NULL` or `INTEGER`: no one is to be told of these.
    """
    path: list[str | int] = []
    unions: list[_Step] = []
    branch: str | None = None
    for position, step in enumerate(error["loc"]):
        schema = _settle(schema, definitions, strict=strict)
        kind = schema.get("type")
        if kind in ("union", "tagged-union"):
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
    return _Located(Issue(tuple(path), rule, message, branch), unions)


def is_of_none(error: ErrorDetails) -> bool:
    """Whether *error* is about the tag "None", as pydantic calls null too: its `input` tells which it is."""
    return error["type"] == BAD_TAG and error.get("ctx", {}).get("tag") == "None"


def _tag_name(discriminator: str) -> str | None:
    """The wire name of a tag, which comes last of those that pydantic tries; None where a function makes the tag."""
    return discriminator.rpartition(" | ")[2][1:-1] if discriminator.startswith("'") else None


def _about_tag(rule: str, context: dict[str, Any]) -> str:
    if rule == NO_TAG:
        return "Field required"
    tag = str(context["tag"])
    # A tag is a word. Any other text may be a secret, and is not shown.
    shown = f"'{tag}'" if re.fullmatch(r"[\w.:/-]{1,40}", tag) else "This"
    return f"{shown} is not one of {context['expected_tags']}"


def _settle(schema: Any, definitions: dict[str, Any], *, strict: bool) -> Any:
    """The schema that the next step of a location belongs to, out of its wrappers, which add no step of their own."""
    while True:
        kind = schema.get("type")
        if kind == "definitions":
            definitions.update({each["ref"]: each for each in schema["definitions"]})
            schema = schema["schema"]
        elif kind == "definition-ref":
            schema = definitions[schema["schema_ref"]]
        elif kind == "lax-or-strict":
            schema = schema["strict_schema" if strict else "lax_schema"]
        elif kind == "json-or-python":
            schema = schema["json_schema"]
        elif kind in _WRAPPERS:
            schema = schema["schema"]
        else:
            return schema


_WRAPPERS = {"model", "dataclass", "default", "nullable", "json", "function-before", "function-after", "function-wrap"}


def _choices(schema: Any) -> dict[Any, Any]:
    """The alternatives of a union that have labels, by these."""
    if schema["type"] == "tagged-union":
        choices: dict[Any, Any] = schema["choices"]
        return choices
    return {choice[1]: choice[0] for choice in schema["choices"] if isinstance(choice, tuple)}


def _unlabelled(schema: Any, step: str | int, definitions: dict[str, Any]) -> Any:
    """The alternative without a label that pydantic itself calls *step*."""
    unlabelled: list[Any] = [choice for choice in schema["choices"] if isinstance(choice, dict)]
    for choice in unlabelled:
        if choice["type"] not in _SCALARS:
            whole = cs.definitions_schema(choice, list(definitions.values()))
            if SchemaValidator(whole).title == step:
                return choice
    return {}


_SCALARS = {"str", "int", "float", "bool", "none", "literal"}
"""Alternatives that no location goes on from. The name of any other is only known when it is compiled."""


def _descend(schema: Any, step: Any) -> Any:
    empty: dict[str, Any] = {}
    kind = schema.get("type")
    if kind in _OF_MEMBERS:
        fields: Any = schema["fields"]
        # A dataclass has a list of them.
        members: dict[str, Any] = {each["name"]: each for each in fields} if kind == "dataclass-args" else fields
        ways = ((way, each["schema"]) for name, each in members.items() for way in _ways(each, name))
        return _behind([(way[1:], member) for way, member in ways if way[0] == step])
    if kind == "tuple":
        items = schema["items_schema"]
        return items[step] if step < len(items) else items[-1]
    if kind == "named-tuple":  # whose members stand in a list or in an object
        parts: list[Any] = schema["fields"]
        return next((each["schema"] for place, each in enumerate(parts) if step in (place, each["name"])), empty)
    return schema.get(_PARTS.get(kind, ""), empty)


_PARTS = {
    **dict.fromkeys(("list", "deque", "set", "frozenset"), "items_schema"),
    **dict.fromkeys(("dict", "ordered-dict"), "values_schema"),
}
_OF_MEMBERS = {"model-fields", "dataclass-args", "typed-dict"}


def _ways(member: Any, name: str) -> list[list[Any]]:
    """The steps that lead to a member in a message: mostly one, its name there, but users may name it as they like."""
    alias: Any = member.get("validation_alias", name)
    if isinstance(alias, str):
        return [[alias]]
    return alias if isinstance(alias[0], list) else [alias]


def _behind(ways: Sequence[tuple[list[Any], Any]]) -> Any:
    """The schema of what stands where these *ways* go on: of a member, or of what holds several of them."""
    if found := next((schema for steps, schema in ways if not steps), None):
        return found
    fields = {str(number): {"schema": schema, "validation_alias": steps} for number, (steps, schema) in enumerate(ways)}
    return {"type": "model-fields", "fields": fields}


def _meant(located: Sequence[_Located], depth: int) -> list[Issue]:
    """Of every union keep the errors of one alternative: the one with the tag, else the one that fits best.

    The errors *located* have gone through the same alternatives of all unions above *depth*.
    """
    kept: list[Issue] = []

    def union(each: _Located) -> tuple[str | int, ...] | None:
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
        # A tag that no alternative has leads to the catch-all. Without one the tag itself is the issue.
        unknown = [each.issue for each in unread if each.issue.rule == BAD_TAG]
        fitting = [each for each in alternatives.values() if not unknown or each[0].unions[depth].is_catch_all]
        # That the tag is missing is an issue of the whole union, not of one alternative.
        untagged = {each.issue.path: each.issue.branch for each in unread if not unknown}
        kept += (
            replace(issue, branch=untagged.get(issue.path, issue.branch))
            for issue in (_meant(min(fitting, key=partial(_distance, depth)), depth + 1) if fitting else unknown)
        )
    return kept


def _distance(depth: int, errors: Sequence[_Located]) -> tuple[int, int, int]:
    """How badly a value with these *errors* fits an alternative; the least is the best.

    It is worst not to be an object at all, then to lack members, then to have any other error.
    """
    below = [(each.issue.rule, len(each.issue.path) - each.unions[depth].level) for each in errors]
    return sum(steps == 0 for _, steps in below), below.count(("missing", 1)), len(errors)


OF_NO_CLASS = cs.CoreConfig(strict=True)
"""The settings by which `decode` reads what belongs to no class; each class has its own."""

LONGEST = 50_000
"""Up to how many bytes a text is looked through for all that is wrong with it."""

MOST = 200
"""How many errors are turned into issues: a list of a million bad items has as many, and nobody reads them."""

MORE = Issue((), "too_many", "There are more errors")
"""Stands for the errors beyond `MOST`."""


class Complaints:
    """Tells what is wrong with texts that should be JSON of one type."""

    def __init__(self, schema: CoreSchema, *, config: cs.CoreConfig = OF_NO_CLASS) -> None:
        """Complaints by the core schema *schema*, with the settings *config* outside of its classes."""
        self._schema = schema
        self._config = config

    def issues(
        self, text: bytes | bytearray, *, strict: bool = False, first: ValidationError | None = None
    ) -> list[Issue]:
        """What is wrong with *text*, none if nothing is.

        Args:
            text: the JSON.
            strict: apply the writer's rules.
            first: what reading *text* has raised already, with the first bad item of each list.
        """
        if len(text) <= LONGEST:
            error = _refusal(self._to_the_end, text, strict=strict) or first
        else:
            error = first or _refusal(self._to_the_first, text, strict=strict)
        if error is None:
            return []
        errors = error.errors(include_url=False, include_input=False)
        if any(map(is_of_none, errors[:MOST])):
            errors = error.errors(include_url=False)  # which copies what was given, once for each error
        issues = blame(self._schema, errors[:MOST], strict=strict)
        return [*issues, MORE] if len(errors) > MOST else issues

    @cached_property
    def _to_the_first(self) -> SchemaValidator:
        return SchemaValidator(self._schema, self._config, _use_prebuilt=False)

    @cached_property
    def _to_the_end(self) -> SchemaValidator:
        # The validators that the classes in it have already would stop at the first bad item.
        return SchemaValidator(cast("CoreSchema", _without_fail_fast(self._schema)), self._config, _use_prebuilt=False)


def _refusal(validator: SchemaValidator, text: bytes | bytearray, *, strict: bool) -> ValidationError | None:
    try:
        validator.validate_json(text, strict=strict or None)
    except ValidationError as error:
        return error
    return None


def _without_fail_fast(part: Any) -> Any:
    """A copy of a schema, or of a part of one, by which lists are read to their ends."""
    if isinstance(part, dict):
        return {key: _without_fail_fast(each) for key, each in cast("Any", part).items() if key != "fail_fast"}
    if isinstance(part, list | tuple):
        copies = [_without_fail_fast(each) for each in cast("Any", part)]
        return tuple(copies) if isinstance(part, tuple) else copies
    return part
