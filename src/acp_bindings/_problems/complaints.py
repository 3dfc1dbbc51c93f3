"""All that is wrong with a message, where reading it stops at the first bad item of each list.

Pydantic-core takes about a kilobyte for an error, and a line of 50 MB has room for twenty million bad items.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings.errors import Issue

LONGEST = 50_000
"""Up to how many bytes a message is looked through for all that is wrong with it."""

MOST = 200
"""How many errors are looked into: a list of a million bad items has as many, and nobody reads them."""

MORE = Issue((), "too_many", "More is wrong than these")
"""What is told in place of the others."""


class Complaints:
    """Tells what is wrong with messages of the type with the core schema *schema*."""

    def __init__(self, schema: CoreSchema) -> None:
        # Not with the ready-made validators of the classes in it, which stop.
        self._validator = SchemaValidator(to_the_end(schema), cs.CoreConfig(strict=True), _use_prebuilt=False)

    def errors(self, text: bytes | bytearray, first: ValidationError, *, strict: bool) -> list[ErrorDetails]:
        """All errors in *text* when it is not too long; else those that *first* has, which was raised for it."""
        found = first
        if len(text) <= LONGEST:
            try:
                self._validator.validate_json(text, strict=strict or None)
            except ValidationError as error:
                found = error
        return found.errors(include_url=False, include_input=False)


def to_the_end(schema: CoreSchema) -> CoreSchema:
    """A copy of *schema* that goes through lists to their ends."""
    return cast("CoreSchema", _copied(schema))


def _copied(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _copied(each) for key, each in cast("Any", part).items() if key != "fail_fast"}
    if isinstance(part, list | tuple):
        copies = [_copied(each) for each in cast("Any", part)]
        return tuple(copies) if isinstance(part, tuple) else copies
    return part
