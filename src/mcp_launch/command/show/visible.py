"""Makes text from servers safe to show: escapes what would recolour, reorder or hide text."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]

_KEPT = frozenset("\n\t\u200c\u200d")
"""Line ends and tabs; and the two joiners that Persian and emoji need, with which nothing can be hidden."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of direction and tags, halves of characters, separators."""


def visible(text: str) -> str:
    r"""The text with escapes like `\u202e` for what cannot be seen; UTF-8, XML and HTML can hold what comes out.

    Nothing is removed: a secret with such a character in its middle was not recognised, and would become whole.
    """
    if text.isprintable():
        return text
    return "".join(char if _is_seen(char) else _escaped(char) for char in text.replace("\r\n", "\n"))


def _is_seen(char: str) -> bool:
    if char in _KEPT:
        return True
    # The last two of each plane are no characters, and XML cannot hold those of the first.
    return unicodedata.category(char) not in _UNSEEN and ord(char) & 0xFFFE != 0xFFFE


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
