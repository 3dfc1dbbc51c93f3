"""Secrets stay out of everything that is shown: what the user configured is replaced wherever a server repeats it.

The secrets of a server are the values of its `env` and `headers` and its URL's user-info and query. Values of one or
two characters are left alone: replacing every "1" would hide more than it protects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

__all__ = ["Redactor", "shown_url"]

MASK = "[redacted]"
SHORTEST = 3
"""Shorter values are not searched for."""
ALWAYS = 8
"""Values this long are replaced inside words too; shorter ones only where they stand alone."""
WHOLE = 131072
"""Longer values are searched for as a whole only. No process can be given one (Linux), and no HTTP server takes it."""


class Redactor:
    """Replaces the secrets of one server in text and JSON that came from outside."""

    def __init__(self, values: Iterable[str] = (), *, urls: Iterable[str] = ()) -> None:
        secrets = {form for value in (*values, *_url_secrets(urls)) for form in _forms(value)}
        # Longest first, so that a secret which contains another is replaced whole.
        ordered = sorted(secrets, key=len, reverse=True)
        # Not one pattern of all: the lines of a certificate are thousands of branches, tried at each character.
        self._long = [secret for secret in ordered if len(secret) >= ALWAYS]
        words = [re.escape(secret) for secret in ordered if len(secret) < ALWAYS]
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None

    def __repr__(self) -> str:
        return "Redactor(...)"

    def __call__(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self._long:
            text = text.replace(secret, MASK)
        return self._short.sub(MASK, text) if self._short else text

    def json(self, value: Any) -> Any:
        """The JSON value with every text in it, keys too, without the secrets."""
        match value:
            case str():
                return self(value)
            case dict():
                items = cast("dict[str, Any]", value).items()
                return {self(str(key)): self.json(item) for key, item in items}
            case list() | tuple():
                return [self.json(item) for item in cast("list[Any]", value)]
            case _:
                return value

    def hides(self, text: str) -> bool:
        """Whether the text holds a secret."""
        return self(text) != text


def shown_url(url: str) -> str:
    """The URL as it may be shown: without user-info, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _url_secrets(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        parts = urlsplit(url)
        yield from (secret for secret in (parts.username, parts.password, parts.query) if secret)
        for _, value in parse_qsl(parts.query):
            yield value


def _forms(value: str) -> Iterator[str]:
    """The ways in which a value may come back: itself, its lines and words, quoted for JSON, Python or a URL."""
    lines = [line.strip() for line in value.splitlines()] if len(value) <= WHOLE else []
    parts = {value, value.strip(), *lines, *(word for line in lines for word in line.split() if len(word) >= ALWAYS)}
    for part in parts:
        for form in (part, json.dumps(part)[1:-1], repr(part)[1:-1], quote(part, safe=""), quote(part), unquote(part)):
            if len(form) >= SHORTEST:
                yield form
