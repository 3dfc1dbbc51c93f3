"""Where in a message something stands, as a line about it begins: `mcpServers[0].url: `."""

from __future__ import annotations

import re


def at(path: tuple[str | int, ...]) -> str:
    """`mcpServers[0].url: `, the beginning of a line; nothing for the whole."""
    where = "".join(map(_step, path)).removeprefix(".")
    return f"{where}: " if where else ""


def _step(step: str | int) -> str:
    # The names in a map are anybody's, also the ones with line breaks.
    if isinstance(step, str) and re.fullmatch(r"[\w$-]+", step):
        return f".{step}"
    import json  # noqa: PLC0415 - two milliseconds that only odd names need

    return f"[{json.dumps(step)}]"
