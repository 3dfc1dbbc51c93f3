"""Tells whether what was typed for a server is a URL, and how to show it without secrets."""

from __future__ import annotations

import os
import re

__all__ = ["is_like_a_url", "is_program", "is_url", "source_of"]

_LIKE_A_URL = re.compile(r"\w{2,}:/|[\w.-]+:\d{1,5}(?:[/?#]|$)")


def is_url(given: str) -> bool:
    """Whether it is a URL that a server can have."""
    return given.lower().startswith(("http://", "https://"))


def is_like_a_url(given: str) -> bool:
    """Whether it was most likely meant as a URL: it has another scheme, or a port."""
    return _LIKE_A_URL.match(given) is not None


def is_program(given: str) -> bool:
    """Whether it is the name of a program, as a shell finds it."""
    import shutil  # noqa: PLC0415 - for what was typed wrong, and most is not

    return not os.path.dirname(given) and shutil.which(given) is not None


def source_of(given: str) -> str:
    """What messages call it, without the secrets that a URL may hold."""
    if is_url(given) or "://" in given:
        # Imported late: it takes as long as the start of a server.
        from acp_bindings._redact import shown_url  # noqa: PLC0415

        try:
            return shown_url(given)
        except ValueError:
            return "the URL"
    if given == "-":
        return "standard input"
    return given.partition("?")[0] if is_like_a_url(given) else given
