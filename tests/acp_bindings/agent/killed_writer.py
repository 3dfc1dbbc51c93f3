"""Processes that append to a session each and kill themselves at a random byte; what returned is printed."""

from __future__ import annotations

import importlib
import io
import os
import random
import signal
import sys
from unittest.mock import patch

import anyio

from acp_bindings.agent import FolderSessions, StoredSession
from acp_bindings.agent._stores import encode_head

Call = tuple[StoredSession, list[bytes]]


def calls(seed: int) -> list[Call]:
    """Return the calls of `append` that the writer of a seed makes."""
    dice = random.Random(seed)
    made: list[Call] = []
    title = None
    for number in range(12):
        if dice.random() < 0.3:
            title = f"title {number}"
        updates = [b'{"n":"%d.%d %b"}' % (number, n, b"x" * dice.randrange(200)) for n in range(dice.randrange(4))]
        made.append((StoredSession(session_id=f"sess_{seed}", cwd="/", title=title), updates))
    return made


def write(folder: str, backend: str, seed: int, stale: int) -> None:
    """Make the calls of a seed, and end at a random byte."""
    left = random.Random(-seed).randrange(4000 if stale > 0 else 20_000)

    class Mortal(io.FileIO):
        def write(self, data: object, /) -> int:
            nonlocal left
            some = memoryview(data)[: min(left, 64)]  # type: ignore[arg-type]
            written = super().write(some)
            left -= written
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return written

    async def main() -> None:
        store = FolderSessions(folder)
        for number, (session, updates) in enumerate(calls(seed), start=1):
            await store.append(session, updates)
            os.write(1, b"%d %d\n" % (seed, number))

    with patch("io.FileIO", Mortal), patch("acp_bindings.agent._folder._STALE", stale):
        anyio.run(main, backend=backend)


if __name__ == "__main__":
    # Once, and not in each process.
    importlib.import_module(f"anyio._backends._{sys.argv[2]}")
    encode_head(calls(0)[0][0])
    for each in range(int(sys.argv[3])):
        if not (child := os.fork()):
            write(sys.argv[1], sys.argv[2], each, int(sys.argv[4]))
            os._exit(0)
        os.waitpid(child, 0)
