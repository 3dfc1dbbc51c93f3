"""The program of a page that shows it in several versions, in blocks that are marked `python step`."""

from __future__ import annotations

import re

__all__ = ["program"]

STEP = re.compile(r"^```python step\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page: str) -> str:
    """Return the last version of the program."""
    return STEP.findall(page)[-1]
