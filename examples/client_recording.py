"""Records a conversation: a line of JSON for each message, with its sender and without secrets."""

from __future__ import annotations

import json
from typing import Any, Literal, TextIO, cast

HIDDEN = "…"


class Recorder:
    """The `trace` of a client's connection."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __call__(self, who: Literal["us", "peer"], line: bytes) -> None:
        """Write a message to the file."""
        said: dict[str, Any] = {"from": "client" if who == "us" else "agent"}
        try:
            said["message"] = without_secrets(json.loads(line))
        except ValueError:
            # It may contain anything, even a secret.
            said["message"] = f"[{len(line)} bytes that are not JSON]"
        self._file.write(json.dumps(said, ensure_ascii=False) + "\n")


def without_secrets(value: object) -> object:
    """Return a message with only the names of environment variables and headers of its MCP servers."""
    if isinstance(value, list):
        return [without_secrets(each) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: _hidden(each) if name in ("env", "headers") else without_secrets(each)
        for name, each in cast("dict[str, object]", value).items()
    }


def _hidden(pairs: object) -> object:
    if isinstance(pairs, list):
        return [{**each, "value": HIDDEN} for each in cast("list[dict[str, Any]]", pairs)]
    return dict.fromkeys(cast("dict[str, Any]", pairs), HIDDEN) if isinstance(pairs, dict) else HIDDEN
