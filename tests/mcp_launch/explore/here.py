"""Shared by the tests of this folder: servers, and running the command."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Protocol

from tests.mcp_launch.support import SECRET, SERVERS

ODD: dict[str, Any] = {
    "command": sys.executable,
    "args": ["-S", str(SERVERS / "offers.py")],
    "env": {"SECRET": SECRET},
}
PLAIN: dict[str, Any] = {"command": sys.executable, "args": ["-S", str(SERVERS / "plain.py")]}


@dataclass(frozen=True, kw_only=True)
class Done:
    """The exit status and the output of a command."""

    status: object
    out: str
    err: str


class Command(Protocol):
    def __call__(self, *args: str, stdin: str = "") -> Done: ...
