"""Suggests the known name that was most likely meant by a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "nearest", "there_are"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean "this"?`, or nothing when no name is near."""
    near = nearest(name, known)
    return "" if near is None else f'; did you mean "{near}"?'


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the *known* names that is nearest, if one is near."""
    return next(iter(get_close_matches(name, list(known), n=1)), None)


def there_are(known: Iterable[str]) -> str:
    """`there are one, two`."""
    names = ", ".join(known)
    return f"there are {names}" if names else "there are none"
