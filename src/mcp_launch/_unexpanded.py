"""Recognizes references to variables, and placeholders, that were not replaced by their values."""

from __future__ import annotations

import re

UNEXPANDED = re.compile(
    r"\$\{[^{}]{1,100}\}|(?<![^\s=:/\"'])\$[A-Z_][A-Z0-9_]+(?![^\s/:\"'])|%(?![0-9A-F]{2})[A-Z_][A-Z0-9_]+%"
)
"""A reference to a variable as shells and clients write it. Uppercase only, because a password may contain a dollar."""

PLACEHOLDER = re.compile(r"(?<![\w/.-])your[-_ ]\w|\bpath[/\\_]to[/\\_]", re.IGNORECASE)
"""The start of a placeholder in examples, such as `YOUR_API_KEY`, `<your-token>` or `/path/to/x`."""


def name_in(reference: str) -> str | None:
    """Return the name of the variable in a reference; None if it refers to something else."""
    found = re.fullmatch(r"[$%{]*(?:env:)?([A-Za-z_]\w*)(?::-.*)?[%}]*", reference)
    return found and found[1]
