"""The code blocks of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SECONDS", "Block", "blocks", "program", "versions"]

BLOCK = re.compile(r"(?:^<!-- walk: ([^\n]*) -->\n)?^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SECONDS = re.compile(r"\d+\.\d s")
"""Seconds in the output of a program, which differ each time."""


@dataclass(frozen=True)
class Block:
    """A fenced block with a language; drawings have none and are not included."""

    line: int
    """The line number of its first line in the page, from 1."""
    language: str
    mark: str
    """The word after the language: `step`, `shared`, …, or an empty string."""
    body: str
    left_out: str
    """The reason why `nox -s walk` skips it, from a comment before it: `<!-- walk: the reason -->`."""

    def commands(self) -> list[tuple[str, str]]:
        """Return the commands of a console block, each with its output."""
        typed = re.split(r"^\$ (.*)\n", self.body, flags=re.MULTILINE)[1:]
        return list(zip(typed[::2], typed[1::2], strict=True))


def blocks(page: str) -> list[Block]:
    """Return the blocks of a Markdown page, in order."""
    return [
        Block(page.count("\n", 0, found.start(4)) + 1, found[2], found[3] or "", found[4], found[1] or "")
        for found in BLOCK.finditer(page)
    ]


def versions(page: str) -> list[str]:
    """Return the versions of the program that a page builds step by step."""
    return [block.body for block in blocks(page) if (block.language, block.mark) == ("python", "step")]


def program(page: str) -> str:
    """Return the last version of the program."""
    return versions(page)[-1]
