"""The ways in which a secret may come back from a peer that repeats it."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus, unquote

__all__ = ["INSIDE_WORDS", "SHORTEST", "forms_of"]

SHORTEST = 3
"""Shorter values are not searched for."""
INSIDE_WORDS = 8
"""Values this long are replaced inside words too; shorter ones only where they stand alone."""
WHOLE = 131072
"""Longer values are searched for as a whole only. No process can be given one (Linux), and no HTTP server takes it."""


def forms_of(value: str) -> Iterator[str]:
    """The ways in which a value may come back: itself, its lines and words, quoted, or in another coding."""
    if len(value) > WHOLE:
        yield value
        return
    lines = [line.strip() for line in value.splitlines()]
    words = [word for line in lines for word in line.split() if len(word) >= INSIDE_WORDS]
    login = tuple(_login(value))
    # Of a certificate nobody codes single lines.
    coded = {value, *login, *(words if len(lines) == 1 else ())}
    for part in {value, value.strip(), *lines, *words, *login}:
        for form in (*_quoted(part), *(_coded(part) if part in coded else ())):
            if len(part) >= SHORTEST and len(form) >= SHORTEST:
                yield form


def _quoted(part: str) -> Iterator[str]:
    yield part
    yield unquote(part)
    yield html.escape(part)
    for said in (json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1], *_in_python(part)):
        yield said
        # Quoted twice, as where what a server said in JSON is logged.
        yield json.dumps(said)[1:-1]
        yield from _in_python(said)
    for quoted in (quote, quote_plus):
        for safe in ("", "/"):
            escaped = quoted(part, safe=safe, errors="replace")
            yield escaped
            yield _ESCAPE.sub(lambda escape: escape[0].lower(), escaped)
    # As a server reads it that takes headers for Latin-1, as HTTP once did.
    yield part.encode(errors="replace").decode("latin-1")


def _in_python(text: str) -> tuple[str, str]:
    """As `repr` writes it, and as it does where a text around it has both kinds of quotation marks."""
    return repr(text)[1:-1], repr(f"{text}'\"")[1:-4]


_ESCAPE = re.compile("%[0-9A-F]{2}")


def _coded(part: str) -> Iterator[str]:
    for altchars in (b"+/", b"-_"):
        coded = base64.b64encode(part.encode(errors="replace"), altchars).decode()
        yield coded
        yield coded.rstrip("=")


def _login(value: str) -> Iterator[str]:
    """The user, the password and both of them, if it is the header for Basic authentication."""
    scheme, _, coded = value.strip().partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(coded).decode()
        except ValueError:
            return
        yield from (pair, *pair.split(":", 1))
