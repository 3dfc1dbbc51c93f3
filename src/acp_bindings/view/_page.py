"""Puts the parts of the page together: one file that needs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import chain

from acp_bindings._reports import digest, visible
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.view._reading import rows_of

_SCRIPTS = ("text", "briefs", "conversation", "diagram", "timeline", "panel", "page")


def page_of(
    lines: Iterable[bytes], *, name: str, protocol: ProtocolPackage | None = None, show_secrets: bool = False
) -> Iterator[str]:
    """Yield the parts of the page for a recording.

    Args:
        lines: the recording, such as a file that is open for reading bytes. All inputs of `acp-bindings check` with
            whole messages are read.
        name: the name of the recording, which the page shows.
        protocol: as in `Check`, the protocol package to use if the recording begins after `initialize`, or if
            `initialize` negotiates its version.
        show_secrets: True to show the values of `env` and `headers`, and other secrets.

    Raises:
        Unusable: *lines* contains no messages.
    """
    return filled(rows_of(lines, protocol=protocol, show_secrets=show_secrets), name=name)


def filled(rows: Iterable[str], *, name: str, live: str | None = None) -> Iterator[str]:
    """Yield the parts of a page with *rows*, which are those of `rows_of`; more come from the event stream *live*."""
    script, style = "\n".join(_read(f"{each}.js") for each in _SCRIPTS), _read("page.css")
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        f"connect-src '{'self' if live else 'none'}'; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "style": style,
        "script": script,
        "name": html.escape(visible(name)),
        "live": f' data-live="{html.escape(live)}"' if live else "",
    }
    before, after = _read("page.html").split("{{ rows }}\n")
    fill = re.compile(r"\{\{ (\w+) \}\}")
    # The first row comes first, because there may be none: then nothing is written.
    rows = iter(rows)
    first = next(rows, None)
    yield fill.sub(lambda found: parts[found[1]], before)
    yield from (f"{row}\n" for row in (() if first is None else chain((first,), rows)))
    yield fill.sub(lambda found: parts[found[1]], after)


@cache
def _read(name: str) -> str:
    return files("acp_bindings.view").joinpath("page", name).read_text(encoding="utf-8")
