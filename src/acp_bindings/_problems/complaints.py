"""What is wrong with JSON by a core schema: all of it in a short text, and in a long one only what comes first.

The schemas of this package stop at the first bad item of each list. Pydantic-core takes about a kilobyte for an error,
and a line of 50 MB has room for twenty million bad items.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings._problems.blame import blame, is_of_none
from acp_bindings.errors import Issue

OF_NO_CLASS = cs.CoreConfig(strict=True)
"""The settings by which `decode` reads what belongs to no class; each class has its own."""

LONGEST = 50_000
"""Up to how many bytes a text is looked through for all that is wrong with it."""

MOST = 200
"""How many errors are turned into issues: a list of a million bad items has as many, and nobody reads them."""

MORE = Issue((), "too_many", "More is wrong than these")
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
