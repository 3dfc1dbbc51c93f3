"""What a text that is no JSON most likely is instead. No value is shown."""

from __future__ import annotations

import re

from pydantic_core import from_json


def hint_about(text: bytes | bytearray, complaint: str) -> str:
    """What is to be added to the *complaint* of the parser about *text*: what it most likely is instead."""
    whole = bytes(text[:_LOOKED_AT])
    start = whole.lstrip()
    first, _, rest = start.partition(b"\n")
    stopped = _where_it_stopped(whole, complaint)
    hints = (
        (not text or text.isspace(), "it is empty"),
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
