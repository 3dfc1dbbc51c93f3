"""Check a built site for broken links and anchors: `python docs/making/links.py SITE`.

Sphinx checks the links in the pages; this also checks those of the theme. It also reports everything that a browser
would load from other hosts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["complaints"]

FETCHED = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}
"""Elements whose address a browser loads automatically."""
NAMES_ONLY = {"canonical", "next", "prev"}
"""Links in the head that a browser does not load."""


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchors and links of an element."""
        said = {name: value for name, value in attrs if value}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        address = said.get("href") or said.get("src") or said.get("srcset")
        if address and said.get("rel") not in NAMES_ONLY:
            (self.fetched if tag in FETCHED else self.links).add(address)


def complaints(site: Path) -> Iterator[str]:
    """Return a line for each broken link, and for each resource of another host."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.glob("**/*.html"))}
    if not pages:
        yield f"{site}: there are no pages"
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        yield from (
            f"{where}: fetched from elsewhere: {each}" for each in sorted(page.fetched) if urlsplit(each).netloc
        )
        for link in sorted(page.links | page.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{where}: there is no {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: there is no anchor {link}"


def main() -> int:
    """Print the complaints; return 1 if there are any."""
    found = list(complaints(Path(sys.argv[1])))
    sys.stdout.write("".join(f"{each}\n" for each in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
