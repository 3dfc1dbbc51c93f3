"""The child process of `_killable`: calls the functions named on standard input and writes their results."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

_MESSAGE = 20_000
"""Characters of an exception's message."""


def main() -> None:
    """Call one function for each line, until standard input ends."""
    limits: dict[str, Any] = json.loads(sys.argv[1])
    sys.path[:] = limits["path"]
    _limit_memory(limits["memory"])
    replies, sys.stdout = sys.stdout, sys.stderr
    # Imported first: both take a tenth of a second, which must not count against the time of a call.
    import_module("jsonschema")
    import_module("mcp_launch._validation")
    print("{}", file=replies, flush=True)
    for line in sys.stdin:
        _end_after(limits["seconds"])
        print(_reply(line), file=replies, flush=True)
        _end_after(0)


def _reply(line: str) -> str:
    try:
        function, *args = json.loads(line)
        module, _, name = function.partition(":")
        return json.dumps({"returned": getattr(import_module(module), name)(*args)})
    except BaseException as error:  # noqa: BLE001 - the other side reports it; what Rust raises is not an Exception
        return json.dumps({"raised": type(error).__name__, "message": str(error)[:_MESSAGE]})


def _limit_memory(size: int) -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not there on Windows

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _end_after(seconds: int) -> None:
    """Have a signal end this process after *seconds*, in case the parent has been killed; 0 cancels that."""
    if sys.platform != "win32":
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
