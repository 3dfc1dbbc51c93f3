"""Validate values against JSON schemas of servers within limits of time and memory.

A schema of a few hundred bytes can keep a validator busy for years, with a pattern or with references that fan out. So
only small schemas without costly keywords are evaluated in this process, for a limited number of steps. All others are
evaluated in another process, which is killed if it takes too long.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

Validator: TypeAlias = Any
"""A `jsonschema` validator; the library is not typed."""

STEPS = 2000
"""Steps of an evaluation in this process, about 10 ms. Longer evaluations run in the other process."""
SCHEMA_NODES = 1000
"""Values in a schema that is evaluated in this process."""
VALUE_NODES = 5000
"""Values in a value that is validated in this process."""
CHARACTERS = 100_000
"""Characters of all strings in a schema or value that is evaluated in this process."""
NESTING = 50
"""Levels of objects and arrays in a schema that is evaluated in this process."""
KEYWORDS = 100
"""Levels of nested keywords that are evaluated in this process; a third of Python's recursion limit."""
LONGEST_REFERENCE = 100
"""Characters of a `$ref` in a schema that is evaluated in this process."""

_PER_ERROR = 50
"""Steps that an error costs, because its message quotes the value."""
_ERRORS = 20
"""Errors from which the most relevant is chosen."""
_MESSAGE = 20_000
"""The longest message in characters, because messages may quote values of megabytes."""
_OLD = ("http://json-schema.org/draft-03/schema", "http://json-schema.org/draft-04/schema")
"""Dialects in which `id` renames a part of the schema."""


class TooManySteps(Exception):  # noqa: N818 - says what happened, which a suffix would not
    """An evaluation took more steps than allowed."""


class InvalidSchema(Exception):  # noqa: N818 - says what happened, which a suffix would not
    """A schema is not a valid JSON schema, or cannot be evaluated; the message says why."""


class Problem(NamedTuple):
    """A reason why a value does not match a schema."""

    path: str
    """The location in the value, such as `items[0].id`; empty for the value itself."""
    message: str


class _Steps:
    """The remaining steps, and the depth of nested keywords."""

    __slots__ = ("depth", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.depth = 0


_steps: ContextVar[_Steps | None] = ContextVar("_steps", default=None)


@contextmanager
def limited_steps(limit: int) -> Generator[None]:
    """Limit the steps of evaluations in the block, unless an outer limit applies.

    Raises:
        TooManySteps: the limit was reached.
    """
    if _steps.get() is not None:
        yield
        return
    token = _steps.set(_Steps(limit))
    try:
        yield
    finally:
        _steps.reset(token)


def steps_are_limited() -> bool:
    """Return True if steps are limited here."""
    return _steps.get() is not None


def spend(count: int = 1) -> None:
    """Count steps, if they are limited here.

    Raises:
        TooManySteps: the limit was reached.
    """
    steps = _steps.get()
    if steps is not None:
        steps.left -= count
        if steps.left < 0:
            raise TooManySteps


def is_small(value: object) -> bool:
    """Return True if a JSON value is small enough to be validated in this process."""
    return _values_in(value, VALUE_NODES) is not None


def is_plain(schema: object) -> bool:
    """Return True if a schema is small and each step of its evaluation is fast.

    That excludes patterns, keywords that compare or collect items and properties, and references other than JSON
    pointers within the schema.
    """
    if not isinstance(schema, dict) or str(cast("dict[str, Any]", schema).get("$schema")).startswith(_OLD):
        return False
    parts = _values_in(cast("object", schema), SCHEMA_NODES, nesting=NESTING)
    return parts is not None and all(_is_plain(part, is_root=part is schema) for part in parts)


def _values_in(value: object, limit: int, *, nesting: int = sys.maxsize) -> list[object] | None:
    """Return the value and all values in it; None if they exceed a limit."""
    found: list[object] = []
    todo = [(value, 0)]
    characters = 0
    while todo:
        current, level = todo.pop()
        found.append(current)
        if isinstance(current, str):
            characters += len(current)
        elif isinstance(current, dict | list):
            inner = cast("dict[str, Any] | list[Any]", current)
            # Counted before they are visited, because there may be millions.
            if len(found) + len(todo) + len(inner) > limit or level == nesting:
                return None
            if isinstance(inner, dict):
                characters += sum(map(len, inner))
            todo.extend((each, level + 1) for each in (inner.values() if isinstance(inner, dict) else inner))
        if characters > CHARACTERS:
            return None
    return found


def _is_plain(part: object, *, is_root: bool) -> bool:
    if not isinstance(part, dict):
        return True
    words = cast("dict[str, Any]", part)
    if not words.keys().isdisjoint(_COSTLY) or not isinstance(words.get("pattern", {}), dict):
        return False
    if not is_root and not all(isinstance(words.get(word, {}), dict) for word in ("$id", "$schema")):
        return False
    target = words.get("$ref", "#")
    if not isinstance(target, str):
        return isinstance(target, dict)
    return (target == "#" or target.startswith("#/")) and len(target) <= LONGEST_REFERENCE


# With any value, because the keywords of parts that are only referred to were not checked. A property with such a name
# counts as the keyword, which only costs time.
_COSTLY = (
    "patternProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
)


def compiled(schema: Mapping[str, Any], *, counted: bool) -> Validator:
    """Return a validator for the schema, which never fetches a `$ref`. With *counted*, it counts its steps.

    Raises:
        InvalidSchema: the schema is not valid.
    """
    # Imported late because it takes a tenth of a second; by `import_module` because neither is typed.
    jsonschema: Any = import_module("jsonschema")
    referencing: Any = import_module("referencing")

    try:
        dialect = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        with _recursing():
            if counted:
                # Without formats, because some are checked by patterns.
                dialect.check_schema(schema, format_checker=None)
            else:
                dialect.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = "".join(f"/{step}" for step in error.absolute_path)
        raise InvalidSchema(f"it is not a valid JSON schema: {where or 'it'}: {error.message}"[:_MESSAGE]) from None
    # An empty registry, so that a `$ref` does not fetch anything.
    registry = referencing.Registry()
    if not counted:
        return dialect(schema, registry=registry)
    # With a `$schema`, a `$ref` to the whole schema would use the dialect's own class, which does not count.
    return _counting(dialect)({word: part for word, part in schema.items() if word != "$schema"}, registry=registry)


def errors_of(validator: Validator, value: object) -> Iterator[Any]:
    """Yield the errors of a value, as `jsonschema` has them.

    Raises:
        InvalidSchema: a `$ref` does not lead to a part of the schema.
    """
    unresolvable: Any = import_module("referencing.exceptions").Unresolvable
    try:
        with _recursing():
            yield from validator.iter_errors(value)
    except unresolvable as error:
        raise InvalidSchema(f'it refers to "{error.ref}", which it does not contain'[:_MESSAGE]) from None


def problem_of(validator: Validator, value: object) -> Problem | None:
    """Return why the value does not match the schema; None if it does.

    Raises:
        InvalidSchema: a `$ref` does not lead to a part of the schema.
    """
    errors = list(islice(errors_of(validator, value), _ERRORS))
    if not errors:
        return None
    error = import_module("jsonschema").exceptions.best_match(errors)
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return Problem(path.lstrip("."), error.message[:_MESSAGE])


def validate(schema: str, value: object) -> Problem | None:
    """Return why the value does not match the schema, given as JSON; None if it does. Called in the other process.

    Raises:
        InvalidSchema: the schema is not valid, or a `$ref` does not lead to a part of it.
    """
    return problem_of(_compiled_text(schema), value)


@lru_cache(maxsize=100)
def _compiled_text(schema: str) -> Validator:
    return compiled(json.loads(schema), counted=False)


@contextmanager
def _recursing() -> Generator[None]:
    """Convert errors of too deep recursion in the block.

    Raises:
        InvalidSchema: the recursion was too deep.
        TooManySteps: the recursion was too deep, and steps are limited.
    """
    try:
        yield
    except BaseException as error:
        # rpds, which jsonschema uses, panics at the recursion limit, and its panic is not an Exception.
        if not isinstance(error, RecursionError) and type(error).__name__ != "PanicException":
            raise
    else:
        return
    raise TooManySteps if steps_are_limited() else InvalidSchema("evaluating it recurses too deeply")


@lru_cache
def _counting(dialect: Any) -> Any:
    """Return the validator class of a dialect with keywords that count their steps."""
    extend: Any = import_module("jsonschema").validators.extend
    return extend(dialect, {word: _counted(word, keyword) for word, keyword in dialect.VALIDATORS.items()})


def _counted(word: str, keyword: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def evaluate(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        spend(1 + _cost(word, value) + (0 if isinstance(instance, str) else _size(instance)))
        steps = _steps.get() or _Steps(sys.maxsize)
        if steps.depth == KEYWORDS:
            raise TooManySteps
        steps.depth += 1
        try:
            for error in keyword(validator, value, instance, schema) or ():
                spend(_PER_ERROR)
                yield error
        finally:
            steps.depth -= 1

    return evaluate


def _cost(word: str, value: object) -> int:
    """Return the steps of a keyword with this value in addition to its own step."""
    # These compare the whole value.
    return len(_values_in(value, sys.maxsize) or ()) // 4 if word in ("const", "enum") else _size(value)


def _size(value: object) -> int:
    """Return the steps for visiting each item, member or character."""
    return len(cast("list[Any]", value)) // 4 if isinstance(value, list | dict | str) else 0
