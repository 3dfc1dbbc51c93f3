"""Call functions in a separate process, which is killed if a call takes too long or is cancelled.

This also ends calls that cannot be interrupted otherwise, such as a search for a regular expression.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from acp_bindings._processes.process import ChildProcess
from mcp_launch import _called as called
from mcp_launch._executable import child_environment

MEMORY = 512 * 1024 * 1024
"""Bytes of memory for the process, where the system can limit it (not on macOS and Windows)."""
_STARTING = 30.0
"""Seconds for the process to start."""
_DAY = 86_400.0
_LONGEST = 64 * 1024 * 1024
"""Bytes of a result."""


class CallFailed(Exception):  # noqa: N818 - says what happened, which a suffix would not
    """A function raised or took too long, or the process could not be started; the message says why."""

    def __init__(self, message: str, *, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """The name of the exception that the function raised, or an empty string."""


class KillableProcess:
    """Calls functions in another process, one at a time. The process is started when it is needed.

    Arguments and results are JSON values.
    """

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._child: ChildProcess | None = None
        self._turn = anyio.Lock()

    async def call(self, function: str, *args: Any) -> Any:
        """Call a function, given as `module:function`, and return its result.

        Raises:
            CallFailed: the function did not return in time, or not at all.
        """
        request = json.dumps([function, *args]).encode()
        async with self._turn:
            line: bytes | None = None
            try:
                child = self._child or await self._start()
                with anyio.fail_after(self._seconds):
                    await child.send(request + b"\n")
                    line = await child.receive_line(longest=_LONGEST)
            except TimeoutError:
                raise CallFailed(f"took longer than {self._seconds:g} s") from None
            except anyio.BrokenResourceError:
                pass
            finally:
                if line is None:
                    await self.aclose()
        if line is None:
            raise CallFailed("crashed the process that it ran in")
        reply = json.loads(line)
        if "raised" in reply:
            raise CallFailed(reply["message"], kind=reply["raised"])
        return reply["returned"]

    async def aclose(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            await child.stop(patience=0)

    async def _start(self) -> ChildProcess:
        if not sys.executable or getattr(sys, "frozen", False):
            raise CallFailed("needs a Python interpreter, but this program has none")
        script = str(Path(called.__file__))
        # Python ignores entries of other types, and JSON does not have them.
        path = [each for each in sys.path if isinstance(each, str)]  # pyright: ignore[reportUnnecessaryIsInstance]
        limits = {"path": path, "memory": MEMORY, "seconds": math.ceil(min(self._seconds, _DAY)) + 1}
        # Isolated from the environment and the current directory, but with our module path.
        command = [sys.executable, "-I", "-W", "ignore", script, json.dumps(limits)]
        with anyio.move_on_after(_STARTING):
            try:
                self._child = await ChildProcess.start(command, cwd=os.curdir, env=child_environment())
            except OSError as error:
                raise CallFailed(f"needs a process, which could not be started ({error.strerror})") from None
            if await self._child.receive_line(longest=_LONGEST) is not None:
                return self._child
        raise CallFailed("needs a process, which could not be started")
