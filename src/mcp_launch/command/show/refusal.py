"""The JSON document of a command that cannot do what it was asked for: the one it always prints, with why."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from mcp_launch.command.show.text import write
from mcp_launch.failures import UnusableInput

__all__ = ["DOCUMENTS", "refusing", "write_refusal"]

_LISTED: dict[str, Any] = {"servers": []}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "check": {"servers": [], "findings": []},
    "tools": _LISTED,
    "resources": _LISTED,
    "prompts": _LISTED,
    "call": {"server": None, "tool": None, "result": None, "saved": [], "error": None, "failure": None},
}
"""By its name, what a command that has `--json` prints when nothing came of it."""


def write_refusal(command: str, reasons: Sequence[str], **known: str) -> None:
    """Print the document of a command that did nothing.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    write(json.dumps({"ok": False, **DOCUMENTS[command], **known, "unusable": list(reasons)}, indent=2))


@contextmanager
def refusing(command: str, *, as_json: bool) -> Generator[None]:
    """A block in which what cannot be used is told as a document too, if that is what is wanted."""
    try:
        yield
    except UnusableInput as error:
        if as_json:
            write_refusal(command, [str(error)])
        raise
