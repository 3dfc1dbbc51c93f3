"""The sections of CHANGELOG.md, which is in the form of Keep a Changelog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import mdformat

__all__ = ["UNRELEASED", "Section", "notes", "sections"]

UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## \[?(?P<name>[^\]\s]+)\]?(?: - (?P<date>\S.*?))?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """What changed in one version."""

    date: str
    """As it is written, empty when it is not."""
    text: str


def sections(changelog: str) -> Mapping[str, Section]:
    """The sections by their versions, newest first as they stand."""
    headings = list(HEADING.finditer(changelog))
    ends = [*(heading.start() for heading in headings), len(changelog)][1:]
    return {
        heading["name"]: Section(heading["date"] or "", changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    }


def notes(section: Section) -> str:
    """The text of a section as GitHub's pages of releases want it, where each line end is a line break."""
    # Its types are whole but for one argument, which is not for us.
    return mdformat.text(section.text, options={"wrap": "no"})  # pyright: ignore[reportUnknownMemberType]
