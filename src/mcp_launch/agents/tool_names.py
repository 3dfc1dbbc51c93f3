"""The name of a tool for models: one that each of them accepts, and that leads back to the server and the tool.

The rule is the strictest of what the references of the well-known APIs say of the name of a function or tool: a letter
first, then letters, digits, `_` and `-`, 60 characters at most. OpenAI, Anthropic and Amazon Bedrock take these
characters, and 64 of them or more; Google wants a letter or an underscore first and says 63 in one place; some gateways
stop at 60.

A name is made of the server's name and the tool's, and of nothing else:

    github__create_issue                where both fit as they are
    My_server__cafe_search__pqiomsj4    where they do not, as "My server" and "café.search": what is left of them, and
                                        eight characters made of the exact names

So a tool has the same name whatever other servers there are, in every session, and what a user once allowed by its name
stays allowed. The first form can be taken apart in one way only and never looks like the second; two of the second may
meet once in 2**40 pairs, and then the later tool gets eight other characters.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import count

__all__ = ["LONGEST", "tool_names"]

LONGEST = 60
"""Characters of a name."""
_MARK = re.compile(r"__[a-z2-7]{8}\Z")
_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
"""A server's name that fits: without `__` and with no `_` at the end, so that the first `__` is where it ends."""
_TOOL = re.compile(r"[A-Za-z0-9_-]+")


def tool_names(server: str, tool: str) -> Iterator[str]:
    """The names for a tool, the one to use first."""
    plain = f"{server}__{tool}"
    fits = _SERVER.fullmatch(server) and _TOOL.fullmatch(tool) and len(plain) <= LONGEST
    if fits and not _MARK.search(tool):
        yield plain
        return
    prefix, stem = _cleaned(server) or "server", _cleaned(tool) or "tool"
    if not prefix[0].isalpha():
        prefix = f"mcp_{prefix}"
    room = LONGEST - len("__") - len("__12345678")
    prefix = prefix[: max(room - len(stem), 20)].rstrip("_")
    stem = stem[: room - len(prefix)].rstrip("_")
    for attempt in count():
        yield f"{prefix}__{stem}__{_digest(server, tool, attempt)}"


def _cleaned(text: str) -> str:
    """What is left of a name: no accents, and one underscore for whatever has no place."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9-]+", "_", letters).strip("_")


def _digest(server: str, tool: str, attempt: int) -> str:
    exact = json.dumps([server, tool, attempt]).encode()
    return base64.b32encode(hashlib.sha256(exact).digest()[:5]).decode().lower()
