"""How a text that comes from elsewhere is shown in one line of a message or a log."""

from __future__ import annotations

__all__ = ["one_line"]

_MOST = 200


def one_line(text: str) -> str:
    """*text* in letters that any log takes, line breaks escaped, and cut off where it is long."""
    short = text if len(text) <= _MOST else text[:_MOST] + "…"
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in short)
