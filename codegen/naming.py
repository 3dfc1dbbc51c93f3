"""The Python names of union variants and attributes, and the names of the base classes and markers."""

from __future__ import annotations

import re
from collections.abc import Container

from codegen.tree import CodegenError

TYPES = "acp_bindings._models.types."
BASES = "acp_bindings._models.base."

WRAPPERS = ("Absent", "Lenient", "LenientList", "NullAsEmpty", "Omittable", "Secret", "SkipInvalid")
"""Aliases around the type of a field. Type checkers see the type itself."""

MARKS = ("FirstMatch", "DefaultUnless", "Tagged", "NotEnum", "UntaggedUnless", "When", "Within")
"""The markers in `Annotated`."""

INTEGERS = {
    "int32": "Int32",
    "int64": "Int64",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
}
"""The type of each integer format."""

NUMBER = "Number"

MODEL, EXTENSIBLE, RESPONSE = "Model", "Extensible", "Response"
"""The base classes of all objects, of objects with `_meta`, and of results."""

REQUEST_PARAMS, NOTIFICATION_PARAMS = "RequestParams", "NotificationParams"


def words(text: str) -> list[str]:
    """Return the words of a name: `tool_call`, `ToolCall` and `Tool call` all have two."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)


def pascal(text: str, *, where: str) -> str:
    """Return *text* as the name of a class: `UserMessageChunk` for `user_message_chunk`. Errors name *where*."""
    name = "".join(word[:1].upper() + word[1:] for word in words(text))
    if not name.isidentifier():
        raise CodegenError(f"{where}: {text!r} cannot become the name of a class")
    return name


def snake(text: str) -> str:
    """Return *text* as the name of an attribute: `stop_reason` for `stopReason`."""
    return "_".join(word.lower() for word in words(text))


def joined(union: str, label: str) -> str:
    """Return `{Union}{Label}`, with a common last word only once.

    For example, `SessionStateUpdate` for `SessionUpdate` and `state_update`.
    """
    name, last = pascal(label, where=union), (words(union) or [""])[-1]
    if words(label)[-1].lower() == last.lower() and len(words(label)) > 1:
        union = union.removesuffix(last)
    return union + name


def variant_name(union: str, label: str, taken: Container[str]) -> str:
    """Return the name of a union variant that has no definition in the schema.

    A label of several words is used alone if its name is not *taken*. Other names begin with the name of the union.
    """
    alone = pascal(label, where=union)
    return alone if len(words(label)) > 1 and alone not in taken else joined(union, label)
