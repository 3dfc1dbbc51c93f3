"""Puts the parts of the page together: one file that needs nothing else."""

from __future__ import annotations

import html
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files

_SCRIPTS = ("text", "briefs", "conversation", "diagram", "timeline", "panel", "page")


def page_of(rows: Iterable[str], *, name: str, live: str | None = None) -> Iterator[str]:
    """Yield the parts of the page.

    Args:
        rows: what it shows, from the beginning.
        name: the name of the recording.
        live: the URL of the event stream with further rows.
    """
    script, style = "\n".join(_read(f"{each}.js") for each in _SCRIPTS), _read("page.css")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:; "
        f"connect-src '{'self' if live else 'none'}'; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "style": style,
        "script": script,
        "name": html.escape(_visible(name)),
        "live": f' data-live="{html.escape(live)}"' if live else "",
    }
    before, after = _read("page.html").split("{{ rows }}\n")
    fill = re.compile(r"\{\{ (\w+) \}\}")
    yield fill.sub(lambda found: parts[found[1]], before)
    yield from (f"{row}\n" for row in rows)
    yield fill.sub(lambda found: parts[found[1]], after)


@cache
def _read(name: str) -> str:
    return files("acp_bindings.view").joinpath("page", name).read_text(encoding="utf-8")


def _digest(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def _visible(name: str) -> str:
    return "".join(
        each.encode("unicode_escape").decode() if unicodedata.category(each)[0] == "C" else each for each in name
    )
