"""What a file looks like that holds nothing to check, for whoever gave the wrong one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from acp_bindings._problems.not_json import is_json

EXPECTED = "A recording has one JSON-RPC message on each line; a JSON document is one message, one payload, or a list"
"""What should have been given."""


def likeness_of(lines: Sequence[bytes]) -> str | None:
    """What the *lines* at the beginning of a file look like; None where nothing tells. It shows nothing of them."""
    start = b"".join(lines)[:_LOOKED_AT]
    for begins, likeness in _BEGINNINGS.items():
        if start.startswith(begins):
            return likeness
    if b"\0" in start:
        # Of UTF-16 mostly every other byte is 0, and no others.
        zeros = sorted((start[::2].count(0), start[1::2].count(0)))
        return "UTF-16; write it as UTF-8" if zeros[0] * 10 < zeros[1] > len(start) // 4 else "binary data"
    if all(map(is_json, lines)):
        return "payloads or other JSON on each line; of payloads name the --type"
    if looks_logged(lines):
        return "a log, in which no line ends in a message"
    text = start.decode(errors="replace")
    if _PYTHON.search(text):
        return "Python source"
    return "Markdown" if _MARKDOWN.search(text) else None


def looks_logged(lines: Sequence[bytes]) -> bool:
    """Whether the *lines* at the beginning of a file look like those of a log."""
    return bool(_LOG.search(b"".join(lines[:3])[:_LOOKED_AT].decode(errors="replace")))


_LOOKED_AT = 50_000

_BEGINNINGS = {
    b"\x1f\x8b": "a file that is compressed with gzip; unpack it first",
    b"(\xb5/\xfd": "a file that is compressed with zstd; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"Content-Length:": "messages with headers as of LSP; ACP has none of them, but one message on each line",
    b"event:": "an event stream of HTTP",
    b"data:": "an event stream of HTTP",
    b"#!": "a script",
    b"<": "HTML or XML",
}

_LOG = re.compile(r"(?m)^\W{0,9}(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(TRACE|DEBUG|INFO|WARN|ERROR)\b)")
_PYTHON = re.compile(r"(?m)^(import \w+|from [\w.]+ import |def \w+\(|class \w.*:$)")
_MARKDOWN = re.compile(r"(?m)^(```|#{1,6} \w|[-*] .*\]\()")
