"""The likely transport of an entry of `mcpServers` with a missing or wrong `type`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acp_bindings._lazy import closest

AS_PAIRS = 'write [{"name": …, "value": …}], not a map'
"""The advice for `env` or `headers` as a map, as in files of desktop clients."""

ARGUMENTS_APART = 'it is one path, and its arguments belong in "args"'
"""The advice for a `command` with white space."""


class TypeFault(NamedTuple):
    """The error of a missing or wrong `type`."""

    message: str
    """The error and the likely type. It contains the wrong type only if it is a single word."""
    meant: str | None
    """The likely type, `stdio`, `http` or `sse`; None if it is not clear."""
    unknown: bool
    """True if the type does not exist; False if the other fields do not belong to it."""


def type_fault(entry: Mapping[str, Any], *, called: Mapping[str, str] = MappingProxyType({})) -> TypeFault | None:
    """Return the error in the `type` of an entry, in the form of any version, or None.

    A type is valid if any version has it. *called* has the names of the types in entries of formats other than ACP.
    """
    named, by_members = entry.get("type"), _by_members(entry)
    if named is None:
        if by_members in (None, "stdio"):
            return None
        return TypeFault(f'without a type it is read as stdio; write "type": "{by_members}"', by_members, unknown=False)
    word = named if isinstance(named, str) else ""
    if word in _MEMBER:
        if by_members is None or _MEMBER[word] in entry:
            return None
        told = f"{word} has a {_MEMBER[word]} and no {_MEMBER[by_members]}; {_ask(by_members, called)}"
        return TypeFault(told, by_members, unknown=False)
    if word == "acp":
        return None
    meant = _by_spelling(word) or by_members
    shown = f'"{word}"' if re.fullmatch(r"[\w.:/-]{1,40}", word) else "this"
    *others, last = (called.get(each, each) for each in _MEMBER)
    told = f"{shown} is not a transport; the transports are {', '.join(others)} and {last}"
    return TypeFault(f"{told}; {_ask(meant, called)}" if meant else told, meant, unknown=True)


_MEMBER = {"stdio": "command", "http": "url", "sse": "url"}
"""The characteristic field of each type."""

_ALIASES = {"streamable": "http", "remote": "http", "https": "http", "local": "stdio", "process": "stdio"}
"""Other names of the types, which are not similar to them."""


def _by_members(entry: Mapping[str, Any]) -> str | None:
    if "command" in entry:
        return "stdio"
    if not isinstance(url := entry.get("url"), str):
        return "http" if "url" in entry else None
    if not url.lower().startswith(("http:", "https:")) and "://" in url:
        return None  # such as a web socket
    return "sse" if re.fullmatch(r"[^?#]*/sse/?([?#].*)?", url) else "http"


def _by_spelling(name: str) -> str | None:
    plain = "".join(filter(str.isalnum, name[:100])).lower()
    if plain in _ALIASES:
        return _ALIASES[plain]
    if held := next((each for each in _MEMBER if each in plain), None):
        return held
    return closest(plain, _MEMBER)


def _ask(meant: str, called: Mapping[str, str]) -> str:
    form = ', which v1 writes without a type, and v2 with "type": "stdio"' if meant == "stdio" and not called else ""
    return f'did you mean "{called.get(meant, meant)}"{form}?'
