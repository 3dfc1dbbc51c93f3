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
    """The changes of one version."""

    date: str
    """The date as written; empty if it is missing."""
    text: str


def sections(changelog: str) -> Mapping[str, Section]:
    """Return the sections by version, in their order."""
    headings = list(HEADING.finditer(changelog))
    ends = [*(heading.start() for heading in headings), len(changelog)][1:]
    return {
        heading["name"]: Section(heading["date"] or "", changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    }


def notes(section: Section) -> str:
    """Return the text of a section for a GitHub release page, where each line end is a line break."""
    # Only an argument that is not used here lacks a type.
    return mdformat.text(section.text, options={"wrap": "no"})  # pyright: ignore[reportUnknownMemberType]
