"""The names that generated modules import from the runtime, and where these are."""

from __future__ import annotations

TYPES = "acp_bindings._models.types."
BASES = "acp_bindings._models.base."

WRAPPERS = ("Absent", "Lenient", "LenientList", "NullAsEmpty", "Omittable", "Secret", "SkipInvalid")
"""Aliases around the type of a member, which type checkers see as the type itself."""

MARKS = ("FirstMatch", "Implied", "Tagged", "Unlike", "Unsaid", "When", "Within")
"""What stands beside a type in `Annotated`."""

INTEGERS = {
    "int32": "Int32",
    "int64": "Int64",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
}
"""The type for each format of integers."""

NUMBER = "Number"

MODEL, EXTENSIBLE, RESPONSE = "Model", "Extensible", "Response"
"""The base classes: of every object, of those with `_meta`, and of what answers a request."""

ANSWERED_BY, TOLD = "AnsweredBy", "Told"
