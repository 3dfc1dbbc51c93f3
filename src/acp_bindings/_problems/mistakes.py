"""What a caller of `decode` has most likely mixed up, told where reading has failed already. No value is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import from_json

from acp_bindings._json.shapes import members_of
from acp_bindings.errors import Issue
from acp_bindings.methods import Method, NotificationType
from acp_bindings.setup.transports import AS_PAIRS, type_fault


def refuse_no_type(type_: Any, data: Any) -> None:
    """Refuse what cannot be a type, of what it can be taken for.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(type_, _NO_TYPES):
        return
    told = "decode takes the type first, such as v1.NewSessionRequest, and then the data"
    if isinstance(data, type):
        raise TypeError(f"{told}; these are swapped: decode({data.__name__}, …)") from None
    if isinstance(type_, ModuleType):
        raise TypeError(f"{told}; {type_.__name__} is a module, whose types are these") from None
    kind = type(cast("object", type_)).__name__
    holds = "; such are its " + _TYPES_OF[kind] if kind in _TYPES_OF else ""
    raise TypeError(f"{told}; the first argument is of {kind}, which is no type{holds}") from None


_NO_TYPES = (
    *(str, bytes, bytearray, dict, list, tuple, int, float),
    *(ModuleType, BaseModel, Method, NotificationType),
)
_TYPES_OF = {
    "Method": "request.params, request.result and notification.params",
    "RequestType": "params and result",
    "NotificationType": "params",
}


def mistake_in(data: Any, text: Any) -> Issue | None:
    """What *data* is in place of what was to be read; *text* is its JSON, or itself where it has none.

    None where it may be what it should.
    """
    if isinstance(data, type):
        return Issue((), "not_json", f"This is the class {data.__name__}, and no data")
    if isinstance(data, os.PathLike):
        return Issue((), "not_json", "This is a path; read the file: decode(…, path.read_bytes())")
    if hasattr(data, "read"):
        return Issue((), "not_json", "This is an open file; read it: decode(…, file.read())")
    if isinstance(text, bytes | bytearray) and b'"jsonrpc"' in text and (inner := _inner_of(text)):
        told = f'This is a whole JSON-RPC message; read its "{inner}", or the line by acp_bindings.jsonrpc'
        return Issue((), "whole_message", told)
    return None


def explained(issues: Iterable[Issue], value: Any) -> list[Issue]:
    """The *issues* with parts of *value*, and what each most likely comes from."""
    return [replace(each, message=each.message + _hint_within(value, each)) for each in issues]


def _hint_within(value: Any, issue: Issue) -> str:
    if not issue.path:
        return ""
    *way, last = issue.path
    try:
        for step in way:
            value = value[step]
    except (LookupError, TypeError):  # a validator of a user's own has read something else
        return ""
    around, name = members_of(value), str(last)
    if issue.rule in ("missing", "union_tag_not_found"):
        if spelt := next((each for each in around if spelt_as(each, [name])), None):
            return f'; it is spelt "{spelt}" here'
        if _OF_OTHER_SERVERS.get(name) in around and (fault := type_fault(around)):
            return f"; {fault.message}"
    elif issue.rule == "list_type" and name in _AS_LISTS and isinstance(around.get(name), dict):
        return f"; {_AS_LISTS[name]}"
    return ""


_OF_OTHER_SERVERS = {"command": "url", "url": "command"}
"""What MCP servers of the other kind have. Other objects have a command or a URL too, but not both."""

_AS_LISTS = {"env": AS_PAIRS, "headers": AS_PAIRS, "mcpServers": 'write [{"name": …, …}], not a map'}
"""What others write as maps, the files of desktop clients above all."""


def spelt_as(name: str, known: Iterable[str]) -> str | None:
    """Which of the *known* names *name* is in another case, or with its words joined otherwise."""
    return next((each for each in known if _letters(name) == _letters(each) and name != each), None)


def _letters(name: str) -> str:
    """A name of a member without what spells it one way or another; nothing of what can be none."""
    return re.sub("[_ -]", "", name).lower() if re.fullmatch(r"[\w -]{1,40}", name) else ""


def hint_about(text: Any, rule: str, complaint: str) -> str:
    """What is to be added to an error by *rule* about the whole of *text*, of which the parser has a *complaint*."""
    if not isinstance(text, bytes | bytearray):
        return ""
    whole = bytes(text[:_LOOKED_AT])
    start = whole.lstrip()
    first, _, rest = start.partition(b"\n")
    if rule != "json_invalid":
        return "; it is JSON within a text: was it encoded twice?" if start.startswith((b'"{', b'"[')) else ""
    stopped = _where_it_stopped(whole, complaint)
    hints = (
        (not start, "it is empty"),
        (start.startswith(b"\xef\xbb\xbf"), "a byte order mark stands before it"),
        (b"\0" in start[:2] or start.startswith((b"\xff\xfe", b"\xfe\xff")), "it is UTF-16, and JSON is UTF-8"),
        (complaint.startswith("invalid unicode"), "it is not UTF-8"),
        (start.startswith(b"Content-Length:"), "it is a header as of LSP, and ACP has none"),
        (_PYTHON.match(stopped), "it is written as Python writes a dict, see json.dumps"),
        (_NO_NUMBER.match(stopped), "JSON has no NaN and no infinity"),
        (_COMMENT.match(stopped), "JSON has no comments"),
        (complaint.startswith("invalid escape"), "a backslash is written twice, as in C:\\\\Users"),
        (_PATH.fullmatch(start), "it looks like the path of a file, which is not opened here"),
        (rest.strip() and is_json(first), "there is one value on each line: read each alone"),
        (rest.strip() and is_json(rest), "a line that is no JSON stands before it"),
        (complaint.startswith("trailing") and _BEGINNING.match(stopped), "there is more than one value in it"),
        (complaint.startswith("EOF"), "it was cut short, or is one line of several"),
    )
    return next((f"; {hint}" for holds, hint in hints if holds), "")


def _where_it_stopped(text: bytes, complaint: str) -> bytes:
    """The rest of the line of *text* from where the *complaint* says."""
    if not (place := re.search(r" at line (\d+) column (\d+)$", complaint)):
        return b""
    line, column = map(int, place.groups())
    lines = text.split(b"\n", line)
    # A word that is none of JSON is noticed at its second letter.
    start = column - 2 if complaint.startswith("expected ident") else column - 1
    return lines[line - 1][max(start, 0) :] if line <= len(lines) else b""


def is_json(text: bytes) -> bool:
    """Whether *text* is one JSON value."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


_LOOKED_AT = 50_000
"""How many bytes are looked at: what failed may be as long as a peer likes."""
_PYTHON = re.compile(rb"b?'|(None|True|False)\b")
_NO_NUMBER = re.compile(rb"-?(NaN|Infinity)\b")
_COMMENT = re.compile(rb"//|/\*|#")
_BEGINNING = re.compile(rb"[{\[]")
_PATH = re.compile(rb"(\.{0,2}|~|[A-Za-z]:)[\\/][^\n{}\[\]\"]*|[^\s{}\[\]\"]+\.(json|ndjson|jsonl|txt|log)")


def _inner_of(text: bytes | bytearray) -> str | None:
    """The member of a message that has what is read."""
    try:
        value: Any = from_json(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or "jsonrpc" not in value:
        return None
    members = cast("dict[str, Any]", value)
    return next((each for each in ("params", "result", "error") if each in members), None)
