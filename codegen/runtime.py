"""The words that generated modules take from the runtime: what each is called, and where it is."""

from __future__ import annotations

TYPES = "acp_bindings._models.types."
BASES = "acp_bindings._models.base."

WRAPPERS = ("Absent", "Lenient", "LenientList", "NullAsEmpty", "Omittable", "Secret", "SkipInvalid")
"""What stands around the type of a member; type checkers take it for that type."""

MARKS = ("FirstMatch", "Implied", "Tagged", "Unlike", "Unsaid", "When", "Within")
"""What stands beside a type in `Annotated`."""

INTEGERS = {
    "int32": "Int32",
    "int64": "Int64",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
}
"""The type of each format."""

NUMBER = "Number"

MODEL, EXTENSIBLE, RESPONSE = "Model", "Extensible", "Response"
"""The base classes: of every object, of those with `_meta`, and of what answers a request."""

ANSWERED_BY = "AnsweredBy"
