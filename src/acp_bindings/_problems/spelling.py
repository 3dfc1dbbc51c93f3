"""Names that differ in their spelling alone: `mcp_servers`, `MCPServers` and `mcp-servers` are all `mcpServers`."""

from __future__ import annotations

import re
from collections.abc import Iterable


def other_spelling(name: str, names: Iterable[str]) -> str | None:
    """Which of *names* is *name* in another case, or with its words joined otherwise; None for itself."""
    return next((each for each in names if _letters(each) == _letters(name) and each != name), None)


def _letters(name: str) -> str:
    """The letters of *name*, in small ones; nothing where it cannot be the name of a member."""
    return re.sub("[_ -]", "", name).lower() if re.fullmatch(r"[\w -]{1,40}", name) else ""
