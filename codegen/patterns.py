"""Which regular expressions mean the same in JSON Schema, which has those of ECMAScript, and in pydantic: Rust's."""

from __future__ import annotations

import re

from pydantic_core import SchemaError, SchemaValidator
from pydantic_core import core_schema as cs

_ESCAPE = r"\\[\^$.*+?()\[\]{}|/\\-]"
_MEMBER = rf"(?:[A-Za-z0-9 _/,;=@#%!<>'\"`.*+?(){{}}|$]|{_ESCAPE})"
_TOKENS = "|".join(
    [
        r"[A-Za-z0-9 _/:,;=@#%!<>'\"`&~-]",
        _ESCAPE,
        rf"\[\^?-?(?:{_MEMBER}(?:-{_MEMBER})?)+-?\]",
        r"\((?:\?:|(?!\?))|[)|^$]",
        r"(?:[*+?]|\{\d+(?:,\d*)?\})\??",
    ]
)
_SHARED = re.compile(f"(?:{_TOKENS})*")


def is_portable(pattern: str) -> bool:
    r"""Whether *pattern* finds the same texts in both dialects.

    What is left out differs (`.`, `\d`, `\w`, `\s`, `\b`), exists in one of them only (looking ahead, sets of
    characters inside of others), or has not been needed yet.
    """
    if not _SHARED.fullmatch(pattern):
        return False
    try:
        SchemaValidator(cs.str_schema(pattern=pattern))
    except SchemaError:
        return False
    return True
