"""What a command with --json prints when it cannot do what it was asked for: its usual document, with the reasons."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from mcp_launch.command.show.text import write_json
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
"""The members of each command's document when it did nothing."""


def write_refusal(command: str, reasons: Sequence[str], **known: str) -> None:
    """Print the document of a command that did nothing.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    write_json({"ok": False, **DOCUMENTS[command], **known, "unusable": list(reasons)})


@contextmanager
def refusing(command: str, *, as_json: bool) -> Generator[None]:
    """A block in which the reason of an UnusableInput is printed as a document too, if `as_json`."""
    try:
        yield
    except UnusableInput as error:
        if as_json:
            write_refusal(command, [str(error)])
        raise
