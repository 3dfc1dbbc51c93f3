"""Makes text from others safe to show in XML and HTML."""

from __future__ import annotations

import unicodedata

from acp_bindings._standard_streams import without_ci_commands

_KEPT = frozenset("\n\t\u200c\u200d")
"""Line ends and tabs; and the two joiners that Persian and emoji need, with which nothing can be hidden."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of direction and tags, halves of characters, separators."""


def visible(text: str) -> str:
    r"""Return the text with escapes like `\u202e` for invisible characters, so that UTF-8, XML and HTML can contain it.

    Nothing is removed: a secret with such a character in the middle was not redacted, and removing it would restore it.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def _visible(char: str) -> str:
    # The last two code points of each plane are not characters, and not allowed in XML.
    if char in _KEPT or (unicodedata.category(char) not in _UNSEEN and ord(char) & 0xFFFE != 0xFFFE):
        return char
    return char.encode("unicode_escape").decode("ascii")


def fit(text: str) -> str:
    """Return the text for JUnit XML, which CI systems interpret."""
    # Jenkins and GitLab publish the file at the path after this marker, which a server must not choose. Reporters
    # print the texts to a log, in which the runner looks for commands.
    return without_ci_commands(visible(text).replace("[[ATTACHMENT|", "[[ATTACHMENT |"))
