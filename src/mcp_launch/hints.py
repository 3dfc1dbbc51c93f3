"""What to try, for what package runners and interpreters say when they cannot start a server."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["explain_stderr"]

_HINTS = (
    (r"npm (?:error|ERR!) (?:code E)?404", "the npm package does not exist; is its name right?"),
    (r"(?:No module named|ModuleNotFoundError:.*) '?([\w.]+)'?", "the Python that runs it has no module {}"),
    (r"Cannot find module '([^']+)'", "node cannot find {}; is the path right, and was it built?"),
    (r"not found in the package registry", "the Python package does not exist; is its name right?"),
    (r"can't open file '([^']+)'", "there is no file {}; is the path right?"),
    (r"(?:EADDRINUSE|[Aa]ddress already in use)", "its port is taken; does it run already?"),
)


def explain_stderr(lines: Sequence[str]) -> tuple[str | None, str]:
    """Choose the line of standard error that tells most, and say what to try if that is known."""
    for line in lines:
        for pattern, hint in _HINTS:
            if match := re.search(pattern, line):
                return hint.format(*match.groups()), line.strip()
    return None, lines[-1].strip()
