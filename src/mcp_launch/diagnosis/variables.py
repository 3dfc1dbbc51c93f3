"""Recognises a server that ended because an environment variable is not set, by what it writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches

from mcp_launch.processes.env import INHERITED

__all__ = ["explain_variable", "lacking"]


def explain_variable(lines: Sequence[str], *, given: Collection[str]) -> str | None:
    """What to try when a server that ended says that a variable is not set, unless it was among the `given`.

    It may well be set where the user looked: in the environment of a shell, which servers do not get.
    """
    name, _ = lacking(lines) or (None, None)
    if name is None or name in given:
        return None
    if meant := _misspelt(name, given):
        # Both may be real names, such as those of two services.
        return f'it was given {meant} and not {name}; is the name misspelt? If it wants both, name {name} in "env" too'
    return (
        f'it was not given {name}, since variables are not passed on from here: name it in "env" '
        f"(on the command line, -e {name})"
    )


def _misspelt(name: str, given: Collection[str]) -> str | None:
    """The one of the given names that is meant to be *name*, however it is written; none that every server has."""
    plain = {re.sub("[-_]", "", each).upper(): each for each in sorted(set(given) - INHERITED)}
    near = get_close_matches(name.replace("_", ""), plain, n=1, cutoff=0.8)
    return plain[near[0]] if near else None


def lacking(lines: Sequence[str]) -> tuple[str, str] | None:
    """The variable that a server ended without, and the line that says so."""
    for line in (each[:_READ] for each in reversed(lines)):
        if line.startswith("KeyError:") and not any(_PYTHON_OS.search(each[:_READ]) for each in lines):
            continue
        found = next((match for pattern in _LACKING if (match := pattern.search(line))), None)
        if found and not _HARMLESS.search(line):
            return found[1], line
    return None


_READ = 1000
"""Characters of a line that are searched, since a server may write lines of any length."""
_VARIABLE = r"(?i:environment variables?|env(?:ironment)? vars?|env variables?)"
_CALLED = r"[\"'`]?([A-Z][A-Z0-9_]{2,})\b[\"'`]?"
_CALLED_SURELY = r"[\"'`]?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[\"'`]?"
"""A word in capitals may be anything; with an underline in it, it is hardly anything but a variable."""
_OTHERS = r"(?:(?:,|/| or| and)+ ?[\"'`]?\b[A-Z][A-Z0-9_]+\b[\"'`]?)*"
"""What may follow where a line names several."""
_LACKED = r"(?i:(?:is |are |was )?(?:not set|unset|missing|required|not provided|empty|must be (?:set|provided)))\b"
_NEEDED = r"(?i:required|missing|must|not provided|please provide)\b"
_LACKING = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_VARIABLE}\W{{1,3}}{_CALLED}.*(?:{_LACKED}|(?i:not found|not defined|undefined))",
        rf"(?i:missing|not found|not set|no)\W.*{_VARIABLE}\W{{1,3}}{_CALLED}",
        rf"\b{_CALLED} {_VARIABLE} (?:{_LACKED}|(?i:(?:is |was )?(?:not found|not defined|undefined)))",
        rf"\b{_CALLED} is not set\b",
        rf"{_CALLED_SURELY}{_OTHERS} {_LACKED}",
        rf"{_NEEDED}.*\b(?i:set (?:the )?){_CALLED_SURELY}.*{_VARIABLE}",
        rf"{_NEEDED}.*\b(?i:set (?:the )?){_VARIABLE}\W{{1,3}}{_CALLED}",
        rf"^(?i:please set) (?i:the )?{_CALLED_SURELY}{_OTHERS} {_VARIABLE}",
        rf"(?i:missing)(?: (?i:required))?:? {_CALLED_SURELY}",
        rf"\b{_CALLED}: (?:unbound variable|parameter (?:null or )?not set)",
        rf"^KeyError: {_CALLED}$",
    )
)
"""How programs say that a variable is not set, which is their first group."""
_PYTHON_OS = re.compile(r"<frozen os>|\bos\.py\b|\bos\.environ\b")
_HARMLESS = re.compile(
    r"\b(?:warn|warning|info|debug|defaults?|defaulting|optional|falling back|using)\b|^\s+--?\w", re.IGNORECASE
)
"""What tells that the variable in a line is not needed: such words, or that it is the help of an option."""
