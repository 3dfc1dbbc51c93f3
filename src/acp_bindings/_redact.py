"""Redacts secrets, in all forms in which a peer may repeat them."""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

SHORTEST = 3
"""Shorter values are not searched for."""
INSIDE_WORDS = 8
"""Values of this length are also replaced inside words; shorter ones only as whole words."""
WHOLE = 131072
"""Longer values are only searched for as a whole. Linux cannot pass them to a process, and HTTP servers refuse them."""


def forms_of(value: str) -> Iterator[str]:
    """Yield the forms in which a value may be repeated: itself, its lines and words, quoted, or in another encoding."""
    if len(value) > WHOLE:
        yield value
        return
    lines = [line.strip() for line in value.splitlines()]
    words = [word for line in lines for word in line.split() if len(word) >= INSIDE_WORDS]
    login = tuple(_login(value))
    # Parts of a value with several lines, such as a certificate, are not encoded separately.
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
        # Quoted twice, as in a log of JSON that a server has sent.
        yield json.dumps(said)[1:-1]
        yield from _in_python(said)
    for quoted in (quote, quote_plus):
        for safe in ("", "/"):
            escaped = quoted(part, safe=safe, errors="replace")
            yield escaped
            yield _ESCAPE.sub(lambda escape: escape[0].lower(), escaped)
    # As read by a server that decodes headers as Latin-1, as HTTP once did.
    yield part.encode(errors="replace").decode("latin-1")


def _in_python(text: str) -> tuple[str, str]:
    """Return *text* as `repr` writes it, and as `repr` writes it in a text with both kinds of quotation marks."""
    return repr(text)[1:-1], repr(f"{text}'\"")[1:-4]


_ESCAPE = re.compile("%[0-9A-F]{2}")


def _coded(part: str) -> Iterator[str]:
    for altchars in (b"+/", b"-_"):
        coded = base64.b64encode(part.encode(errors="replace"), altchars).decode()
        yield coded
        yield coded.rstrip("=")


def _login(value: str) -> Iterator[str]:
    """Yield `user:password` and the password of the URLs in *value*, or of a header for Basic authentication."""
    for found in LOGIN.finditer(value):
        yield from found.groups()
    scheme, _, coded = value.strip().partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(coded).decode()
        except ValueError:
            return
        yield from (pair, *pair.split(":", 1))


LOGIN = re.compile(r"://([^\s/?#:]*:([^\s/?#]+))@")
"""The user and the password in a URL."""
MASK = "[redacted]"
LEARNT = 32
"""The number of generated secrets that are stored. An authentication may generate one for each request."""


class Redactor:
    """Replaces the secrets of one peer in text and JSON from outside."""

    def __init__(self, values: Iterable[str] = (), *, urls: Iterable[str] = ()) -> None:
        # Any thread that logs uses it. It is reentrant, because garbage collection during a call may log as well.
        self._changing = threading.RLock()
        self._added: set[str] = set()
        """The values added since the last search. They are processed late, because most peers never send any text."""
        self._given: set[str] = set()
        self._learnt: deque[frozenset[str]] = deque(maxlen=LEARNT)
        self._long: list[str] = []
        self._short: re.Pattern[str] | None = None
        self.add(values, urls=urls)

    def add(self, values: Iterable[str] = (), *, urls: Iterable[str] = ()) -> None:
        """Redact these values as well, and the secrets in *urls*."""
        with self._changing:
            self._added = {*self._added, *values, *_url_secrets(urls)}

    def learn(self, value: str) -> None:
        """Redact this short-lived value as well. Only the last `LEARNT` of these are stored."""
        with self._changing:
            self._process_added()
            known = value in self._given or any(value in forms for forms in self._learnt)
            if not known and len(value) >= SHORTEST:
                self._learnt.append(frozenset(forms_of(value)))
                self._rebuild()

    def _process_added(self) -> None:
        if not self._added:
            return
        with self._changing:
            self._given = self._given.union(form for value in self._added for form in forms_of(value))
            self._rebuild()
            # Last, because a thread that finds it empty does not wait for this one.
            self._added = set()

    def _rebuild(self) -> None:
        """Sort the secrets for the search."""
        secrets = self._given.union(*self._learnt)
        # Longest first, so that a secret that contains another one is replaced as a whole.
        ordered = sorted(secrets, key=len, reverse=True)
        # Not one pattern for all: the lines of a certificate would be thousands of branches, tried at each character.
        self._long = [secret for secret in ordered if len(secret) >= INSIDE_WORDS]
        words = [re.escape(secret) for secret in ordered if len(secret) < INSIDE_WORDS]
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None

    def __call__(self, text: str) -> str:
        """Return *text* without the secrets."""
        self._process_added()
        if self._long or self._short:
            text = _without_inputs(text)
        for secret in self._long:
            text = text.replace(secret, MASK)
        return self._short.sub(MASK, text) if self._short else text

    def json(self, value: Any) -> Any:
        """Return a JSON value without the secrets in its strings and keys."""
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

    def start(self, text: str, characters: int) -> str:
        """Return the first *characters* of *text* without the secrets.

        The text is cut after redaction, because half a secret would not be recognized.
        """
        return self(text)[:characters]

    def hides(self, text: str) -> bool:
        """Return True if *text* contains a secret."""
        return self(text) != text


def shown_url(url: str) -> str:
    """Return *url* in a form to show: without user-info, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def shown_proxy(url: str) -> str:
    """Return the URL of a proxy in a form to show; it may have no scheme."""
    return shown_url(url if "://" in url else f"http://{url}")


_CUT = re.compile(r"(?<=input_value=).*?(?=, input_type=)", re.DOTALL)
"""The value that pydantic quotes in its errors. It may be cut, and half a secret would not be recognized."""


def _without_inputs(text: str) -> str:
    # The text after the last end is not searched, because each beginning in it would be followed to the end.
    quoted, end, rest = text.rpartition(", input_type=")
    return _CUT.sub(lambda found: MASK if "..." in found[0] else found[0], quoted + end) + rest


def _url_secrets(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            # Proxies are often written without a scheme.
            parts = urlsplit(url if "://" in url else f"//{url}")
        except ValueError:
            yield from url.rpartition("@")[0].rpartition("/")[2].split(":", 1)
            continue
        yield from (secret for secret in (parts.username, parts.password, parts.query) if secret)
        for _, value in parse_qsl(parts.query):
            yield value
        if parts.username or parts.password:
            # The header that is sent for them.
            pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            yield f"Basic {base64.b64encode(pair.encode(errors='replace')).decode()}"
