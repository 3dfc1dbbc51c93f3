"""Splits a typed line into words, quoted as in a shell; JSON after `=` needs no quotes: `filter={"a": [1, 2]}`."""

from __future__ import annotations

import json
import re
import shlex
from io import StringIO

__all__ = ["split_words"]

_BEFORE_JSON = re.compile(r"[^\s='\"]+:?=(?=[\[{])")


def split_words(line: str) -> list[str]:
    """The words of a line.

    Raises:
        ValueError: a quotation does not end.
    """
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        if (before := _BEFORE_JSON.match(line, at)) and (end := _json_end(line, before.end())) is not None:
            words.append(line[at:end])
            at = end
            continue
        text = StringIO(line[at:])
        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        words.append(lexer.get_token() or "")
        # shlex has read the space behind the word, and nothing more.
        at += text.tell()
    return words


def _json_end(line: str, start: int) -> int | None:
    """Where the JSON value that begins at `start` ends; None where there is none, or the word goes on behind it."""
    try:
        _, end = json.JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    return end if end == len(line) or line[end].isspace() else None
