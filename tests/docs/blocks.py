"""The blocks of code in a page, as they are written there."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SECONDS", "Block", "blocks"]

BLOCK = re.compile(r"(?:^<!-- walk: ([^\n]*) -->\n)?^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SECONDS = re.compile(r"\d+\.\d s")
"""What is another one each time a program runs."""


@dataclass(frozen=True)
class Block:
    """What stands between two fences; a page's drawings, which are in no language, are no blocks."""

    line: int
    """Of the page, from 1, on which its first line is."""
    language: str
    mark: str
    """The word behind the language: `step`, `shared`, …; most have none."""
    body: str
    left_out: str
    """Why the walk of `nox -s walk` does not run it, from a comment before it: `<!-- walk: the reason -->`."""

    def commands(self) -> list[tuple[str, str]]:
        """What is typed on a console, and what is printed below each."""
        typed = re.split(r"^\$ (.*)\n", self.body, flags=re.MULTILINE)[1:]
        return list(zip(typed[::2], typed[1::2], strict=True))


def blocks(page: str) -> list[Block]:
    """The blocks of a page, which is Markdown, in their order."""
    return [
        Block(page.count("\n", 0, found.start(4)) + 1, found[2], found[3] or "", found[4], found[1] or "")
        for found in BLOCK.finditer(page)
    ]
