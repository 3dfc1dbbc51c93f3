"""Hints about likely mistakes in calls of `decode` or of a codec. They contain no values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from types import ModuleType
from typing import Any, cast, get_origin

from pydantic_core import from_json

from acp_bindings._json import kind_of, members_of, package_of, parsed_members
from acp_bindings._models.base import Model
from acp_bindings._problems.transports import AS_PAIRS, type_fault
from acp_bindings.errors import Issue, Path
from acp_bindings.methods import Methods, ProtocolPackage, is_of


def other_spelling(name: str, names: Iterable[str]) -> str | None:
    """Return the one of *names* that differs from *name* only in case or in the way words are joined, or None."""
    return next((each for each in names if _letters(each) == _letters(name) and each != name), None)


def _letters(name: str) -> str:
    """Return the letters of *name* in lower case; empty if it cannot be the name of a field."""
    return re.sub("[_ -]", "", name).lower() if re.fullmatch(r"[\w -]{1,40}", name) else ""


def hint_about(text: bytes | bytearray, complaint: str) -> str:
    """Return the hint to add to the *complaint* of the parser about *text*; empty if there is none."""
    whole = bytes(text[:_LOOKED_AT])
    start = whole.lstrip()
    first, _, rest = start.partition(b"\n")
    stopped = _where_it_stopped(whole, complaint)
    hints = (
        (not text or text.isspace(), "it is empty"),
        (start.startswith(b"\xef\xbb\xbf"), "it begins with a byte order mark"),
        (start.startswith(b"\0\0"), "it begins with NUL bytes"),
        (b"\0" in start[:2] or start.startswith((b"\xff\xfe", b"\xfe\xff")), "it is UTF-16, and JSON is UTF-8"),
        (complaint.startswith("invalid unicode"), "it is not UTF-8"),
        (start.startswith(b"Content-Length:"), "it is a header as in LSP; ACP has no headers"),
        (_PYTHON.match(stopped), "it is a Python dict; use json.dumps"),
        (_NO_NUMBER.match(stopped), "JSON has no NaN or infinity"),
        (_COMMENT.match(stopped), "JSON has no comments"),
        (complaint.startswith("invalid escape"), "write a backslash twice, as in C:\\\\Users"),
        (rest.strip() and is_json(first), "there is one value on each line; decode each line separately"),
        (complaint.startswith("trailing") and stopped.startswith((b"{", b"[")), "there is more than one value in it"),
        (complaint.startswith("EOF"), "it was cut short, or is one line of several"),
    )
    return next((f"; {hint}" for holds, hint in hints if holds), "")


def _where_it_stopped(text: bytes, complaint: str) -> bytes:
    """Return the rest of the line of *text* at the position in the *complaint*."""
    if not (place := re.search(r" at line (\d+) column (\d+)$", complaint)):
        return b""
    line, column = map(int, place.groups())
    lines = text.split(b"\n", line)
    # The parser reports an unknown word at its second letter.
    start = column - 2 if complaint.startswith("expected ident") else column - 1
    return lines[line - 1][max(start, 0) :] if line <= len(lines) else b""


def is_json(text: bytes) -> bool:
    """Return True if *text* is one JSON value."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


_LOOKED_AT = 50_000
"""The maximum number of bytes to check, because a peer may send long texts."""
_PYTHON = re.compile(rb"b?'|(None|True|False)\b")
_NO_NUMBER = re.compile(rb"-?(NaN|Infinity)\b")
_COMMENT = re.compile(rb"//|/\*|#")


def refuse_no_type(type_: Any, data: Any) -> None:
    """Refuse a *type_* that is not a class, a generic alias, or a name of `typing`.

    Raises:
        TypeError: it is something else, such as the data.
    """
    if isinstance(type_, type) or get_origin(type_) or type(type_).__module__.startswith("typing"):
        return
    told = "decode takes the type first, such as v1.NewSessionRequest, and then the data"
    if isinstance(data, type):
        raise TypeError(f"{told}; the arguments are swapped: decode({data.__name__}, …)") from None
    if isinstance(type_, ModuleType):
        raise TypeError(f"{told}; {type_.__name__} is a module; pass one of its types") from None
    kind = type(cast("object", type_)).__name__
    raise TypeError(f"{told}; the first argument is an instance of {kind}, not a type") from None


def mistake_in(data: Any, text: Any) -> Issue | None:
    """Return the issue of *data* that cannot be a payload: a class, a path, an open file, or a whole message.

    *text* is the JSON of *data*, or *data* itself if it cannot be JSON.
    """
    if isinstance(data, type):
        return Issue((), "not_json", f"This is the class {data.__name__}, not data")
    if isinstance(data, os.PathLike):
        return Issue((), "not_json", "This is a path; read the file: decode(…, path.read_bytes())")
    if hasattr(data, "read"):
        return Issue((), "not_json", "This is an open file; read it: decode(…, file.read())")
    if isinstance(text, bytes | bytearray) and b'"jsonrpc"' in text and (inner := _inner_of(text)):
        told = f'This is a whole JSON-RPC message; decode its "{inner}", or read the line with acp_bindings.jsonrpc'
        return Issue((), "whole_message", told)
    return None


def is_encoded_twice(text: bytes | bytearray) -> bool:
    """Return True if *text* is a JSON string that seems to contain JSON."""
    return re.match(rb'\s*"[{\[]', text) is not None


def no_method_with(params: object, protocol: ProtocolPackage, *, asks: bool) -> str:
    """Return the message that no request or notification of *protocol* has such *params*, with a hint."""
    return f"no {'request' if asks else 'notification'} takes {kind_of(params)}; {_advice(params, protocol, asks=asks)}"


def _advice(params: object, protocol: ProtocolPackage, *, asks: bool) -> str:
    methods = protocol.METHODS
    if other := methods.notification_with(params) if asks else methods.request_with(params):
        return f"{other.method} is a {'notification' if asks else 'request'}"
    package = package_of(type(params).__module__)
    spoken = package_of(getattr(protocol, "__name__", ""))
    if package and not spoken:
        return "no version is negotiated yet; send initialize first"
    if package and package != spoken:
        return f"the negotiated version is {spoken}"
    if isinstance(params, type):
        return "create an object of it"
    if hints := [*_places_of(params, package, methods)]:
        return "; ".join(hints)
    return "pass the name of a method as method=" if isinstance(params, str) else "pass method="


def _places_of(part: object, package: str | None, methods: Methods) -> Iterator[str]:
    """Yield what *part* is part of, and what only its variants are part of, such as `SessionToolCallUpdate`."""
    places = {_call(whole, with_=name) for whole, name in wholes_with(part, methods)}
    if places:
        yield f"it is part of {' or '.join(sorted(places))}"
    variants: dict[str, list[str]] = {}
    for each in sorted(type(part).__subclasses__(), key=lambda each: each.__name__):
        if package and package_of(each.__module__) == package:
            # An object without fields: only its class matters.
            theirs = {_call(whole, with_=name) for whole, name in wholes_with(object.__new__(each), methods)}
            variants.setdefault(" or ".join(sorted(theirs - places)), []).append(each.__name__)
    yield from (f"{' or '.join(names)} is part of {wholes}" for wholes, names in variants.items() if wholes)


def wholes_with(part: object, methods: Methods) -> list[tuple[type[Model], str]]:
    """Return the classes of params that have a field for *part*, each with the name of the field."""
    if not isinstance(part, Model):
        return []
    types = [type_ for each in methods.values() for type_ in (each.request, each.notification) if type_]
    wholes = {each.params for each in types if isinstance(each.params, type) and issubclass(each.params, Model)}
    return [
        (whole, name)
        for whole in wholes
        for name, info in whole.__pydantic_fields__.items()
        if info.annotation is not Any and is_of(part, info.annotation)
    ]


def _call(model: type[Model], *, with_: str) -> str:
    """Return a call with the required fields and one more: `SessionNotification(session_id=…, …)`."""
    members = (name for name, info in model.__pydantic_fields__.items() if info.is_required() or name == with_)
    return f"{model.__name__}({', '.join(f'{name}=…' for name in members)})"


def explained(issues: Iterable[Issue], value: Any) -> list[Issue]:
    """Return the *issues* in *value*, with hints about likely causes."""
    return [replace(each, message=each.message + _hint_within(value, each)) for each in issues]


def _hint_within(value: Any, issue: Issue) -> str:
    if not issue.path:
        return ""
    try:
        around = members_of(part_at(value, issue.path[:-1]))
    except (LookupError, TypeError):  # a validator of a user has changed the value
        return ""
    name = str(issue.path[-1])
    if issue.rule in ("missing", "union_tag_not_found"):
        if spelt := other_spelling(name, around):
            return f'; it is spelt "{spelt}" here'
        if _OF_OTHER_SERVERS.get(name) in around and (fault := type_fault(around)):
            return f"; {fault.message}"
    elif issue.rule == "list_type" and name in _AS_LISTS and isinstance(around.get(name), dict):
        return f"; {_AS_LISTS[name]}"
    return ""


def part_at(value: Any, path: Path) -> Any:
    """Return the part of a JSON value at *path*. Raises `LookupError` or `TypeError` if it does not exist."""
    return reduce(getitem, path, value)


_OF_OTHER_SERVERS = {"command": "url", "url": "command"}
"""The field of the other kind of MCP server. Other objects have a command or a URL too, but not both."""

_AS_LISTS = {"env": AS_PAIRS, "headers": AS_PAIRS, "mcpServers": 'write [{"name": …, …}], not a map'}
"""Lists that other programs, mainly desktop clients, write as maps."""


def _inner_of(text: bytes | bytearray) -> str | None:
    """Return the field with the payload of a JSON-RPC message; None if *text* is not such a message."""
    members = parsed_members(text)
    return next((each for each in ("params", "result", "error") if each in members and "jsonrpc" in members), None)
