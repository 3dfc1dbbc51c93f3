"""A connection over standard input and output, such as that of an agent to the client that started it.

While it is open, everything else that the process prints goes to standard error, and standard input is empty for
everything else. Otherwise a forgotten `print` would end up between two messages.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Unpack

from acp_bindings._processes.threaded import ThreadedSink, ThreadedSource
from acp_bindings.connection._connection import GRACE, ByteSource, Connection, Options
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.jsonrpc import ProtocolPackage, Role

if sys.platform != "win32":
    from acp_bindings._processes.pipes import Reader, Writer

STDIN, STDOUT, STDERR = 0, 1, 2


@asynccontextmanager
async def connect_stdio(
    *,
    protocol: ProtocolPackage,
    role: Role = "agent",
    grace: float = GRACE,
    **options: Unpack[Options],
) -> AsyncGenerator[Connection]:
    """Connect to the process that started this one, over standard input and output.

        async with connect_stdio(protocol=v1, handlers=handlers) as connection:
            await connection.wait_ended()

    In the block, `print`, C code and child processes write to standard error instead of standard output, and standard
    input is empty for them. The streams are restored at its end.

    Args:
        protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` to negotiate the version.
        role: the role of this side.
        grace: seconds for handlers to finish the peer's last requests after standard input has ended.
        **options: `handlers`, `pass_unknown`, `limit`, `most_requests`, `most_bytes` and `trace`, as for `Connection`.
    """
    with standard_streams() as (source, sink):
        async with Connection(source, sink, protocol=protocol, role=role, grace=grace, **options) as connection:
            yield connection


@contextmanager
def standard_streams() -> Generator[tuple[ByteSource, ByteSink]]:
    """Take over standard input and output, and replace them for everything else in the process."""
    # Opened first: without standard error, this may get its number, which must not go to one of the streams.
    with open(os.devnull, "r+b", buffering=0) as nothing, contextlib.ExitStack() as at_end:
        meanwhile = STDERR if sys.__stderr__ else nothing.fileno()
        inwards = _taken(STDIN, nothing.fileno(), at_end) if sys.__stdin__ else os.dup(nothing.fileno())
        outwards = _taken(STDOUT, meanwhile, at_end) if sys.__stdout__ else os.dup(nothing.fileno())
        # Python may have buffered output from before the block and, at its end, from the block.
        _flush()
        at_end.callback(_flush)
        yield _source(inwards), _sink(outwards, at_end)


def _taken(descriptor: int, meanwhile: int, at_end: contextlib.ExitStack) -> int:
    """Return a copy of *descriptor*, and let its number refer to *meanwhile* until the end.

    It must be open as a standard stream. Otherwise its number may belong to something else, such as the event loop.
    """
    ours, kept = os.dup(descriptor), os.dup(descriptor)

    def restore() -> None:
        os.dup2(kept, descriptor)
        os.close(kept)

    at_end.callback(restore)
    os.dup2(meanwhile, descriptor)
    return ours


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout:
            sys.stdout.flush()


def _source(descriptor: int) -> ByteSource:
    if sys.platform != "win32" and (flows(descriptor) or os.isatty(descriptor)):
        return Reader(descriptor)
    return ThreadedSource(descriptor)


def _sink(descriptor: int, at_end: contextlib.ExitStack) -> ByteSink:
    if sys.platform != "win32" and flows(descriptor):
        # This changes the stream for all processes that share it, such as the shell.
        was_blocking = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)
        copy = os.dup(descriptor)
        at_end.callback(os.close, copy)
        at_end.callback(os.set_blocking, copy, was_blocking)
        return Writer(descriptor)
    return ThreadedSink(descriptor)


def flows(descriptor: int) -> bool:
    """Return True for a pipe or a socket, for which the system reports when they can be read or written."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
