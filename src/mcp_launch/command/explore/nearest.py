"""The name that was meant, of those that there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "there_are"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean "this"?`, or nothing when no name is near."""
    near = get_close_matches(name, list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def there_are(known: Iterable[str]) -> str:
    """`there are one, two`."""
    names = ", ".join(known)
    return f"there are {names}" if names else "there are none"
