"""What servers wrote, made fit to be shown: nothing in it recolours, reorders or hides itself."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]

_KEPT = frozenset("\n\t\u200c\u200d")
"""Ends of lines; and what Persian is joined by, and emoji are, and nothing can be hidden with."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of direction and tags, halves of characters, separators."""


def visible(text: str) -> str:
    r"""The text with escapes like `\u202e` for what cannot be seen; UTF-8, XML and HTML can hold what comes out.

    Nothing is taken out: a secret that was not found because of what stands in its middle must not become whole.
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
