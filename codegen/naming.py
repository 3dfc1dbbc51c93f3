"""The one rule by which the alternatives of a union get their Python names."""

from __future__ import annotations

import re

from codegen.tree import CodegenError

TYPES = "acp_bindings._models.types."
BASES = "acp_bindings._models.base."

WRAPPERS = ("Absent", "Lenient", "LenientList", "NullAsEmpty", "Omittable", "Secret", "SkipInvalid")
"""Aliases around the type of a member, which type checkers see as the type itself."""

MARKS = ("FirstMatch", "DefaultUnless", "Tagged", "NotEnum", "UntaggedUnless", "When", "Within")
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

REQUEST_PARAMS, NOTIFICATION_PARAMS = "RequestParams", "NotificationParams"


def words(text: str) -> list[str]:
    """The words of a tag, a title or a definition's name: `tool_call`, `ToolCall` and `Tool call` all have two."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)


def pascal(text: str, *, where: str) -> str:
    """*text* as the name of a class: `user_message_chunk` gives `UserMessageChunk`; *where* is for the error."""
    name = "".join(word[:1].upper() + word[1:] for word in words(text))
    if not name.isidentifier():
        raise CodegenError(f"{where}: no class name can be made of {text!r}")
    return name


def snake(text: str) -> str:
    """*text* as the name of an attribute: `stopReason` gives `stop_reason`."""
    return "_".join(word.lower() for word in words(text))


def joined(union: str, label: str) -> str:
    """`{Union}{Label}`, saying a shared last word once.

    `SessionUpdate` and `state_update` give `SessionStateUpdate`.
    """
    name, last = pascal(label, where=union), (words(union) or [""])[-1]
    if words(label)[-1].lower() == last.lower() and len(words(label)) > 1:
        union = union.removesuffix(last)
    return union + name


def variant_name(union: str, label: str, taken: set[str]) -> str:
    """The name of an alternative that no definition of the schema names by itself.

    A label of several words speaks for itself when its name is free; any other says which union it belongs to.
    """
    alone = pascal(label, where=union)
    return alone if len(words(label)) > 1 and alone not in taken else joined(union, label)


def catch_all_name(union: str) -> str:
    """The name of the alternative that keeps what a newer peer sends."""
    return f"Other{union}"
