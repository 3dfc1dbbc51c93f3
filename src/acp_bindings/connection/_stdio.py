"""A connection over our own standard streams, such as an agent's to the client that started it.

While it lasts, the streams are its own: what the process prints goes to standard error instead, whoever prints it, and
what reads standard input finds it empty. Otherwise one forgotten `print` would end up between two messages.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from acp_bindings._processes.pipes import ThreadedSink, ThreadedSource
from acp_bindings.connection._connection import GRACE, LONGEST, MOST_BYTES, MOST_REQUESTS, ByteSource, Connection, Trace
from acp_bindings.connection._handlers import Handle, Handlers
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
    handlers: Handlers | Mapping[Any, Handle[Any]] | None = None,
    pass_unknown: bool = False,
    limit: int = LONGEST,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
    grace: float = GRACE,
    trace: Trace | None = None,
) -> AsyncGenerator[Connection]:
    """Connect to whoever started this process, for the time of the block.

        async with connect_stdio(protocol=v1, handlers=handlers) as connection:
            await connection.wait_ended()

    In the block `print`, C code and child processes write to standard error in place of standard output, and standard
    input is empty to them. Afterwards the streams are what they were.

    Args:
        protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` until one is settled on.
        role: who we are.
        handlers: the handlers of what the peer sends, as `Handlers`, or by class of params or method.
        pass_unknown: let methods through that the protocol does not have, as if they were extensions.
        limit: bytes that a line may have. A longer one is answered with an error, and ends the connection.
        most_requests: how many requests of the peer are handled at a time. While there are as many, nothing is read.
            While a handler waits for a response of the peer, ten times as many (at least 10,000) are handled: otherwise
            both sides might wait for ever.
        most_bytes: how many bytes the peer's requests in progress may have. Another one is refused with an error; a
            single request may have more.
        grace: seconds that handlers get for the peer's last requests when standard input has ended.
        trace: called with who sends it and each line, as it is read or about to be written. Lines hold secrets.
    """
    with _standard_streams() as (source, sink):
        try:
            connection = Connection(
                source,
                sink,
                protocol=protocol,
                role=role,
                handlers=handlers,
                pass_unknown=pass_unknown,
                limit=limit,
                most_requests=most_requests,
                most_bytes=most_bytes,
                grace=grace,
                trace=trace,
            )
        except BaseException:
            # The connection did not come to be, and closes nothing.
            await source.aclose()
            await sink.aclose()
            raise
        async with connection:
            yield connection


@contextmanager
def _standard_streams() -> Generator[tuple[ByteSource, ByteSink]]:
    """Standard input and output for us alone. In the block all others get something else in their place."""
    # Opened first: where there is no standard error, this may get its number, which must not go to one of our streams.
    with open(os.devnull, "r+b", buffering=0) as nothing, contextlib.ExitStack() as at_end:
        meanwhile = STDERR if sys.__stderr__ else nothing.fileno()
        inwards = _taken(STDIN, nothing.fileno(), at_end) if sys.__stdin__ else os.dup(nothing.fileno())
        outwards = _taken(STDOUT, meanwhile, at_end) if sys.__stdout__ else os.dup(nothing.fileno())
        # Python's buffer may hold what was printed before the block, and at its end what was printed in it.
        _flush()
        at_end.callback(_flush)
        yield _source(inwards), _sink(outwards, at_end)


def _taken(descriptor: int, meanwhile: int, at_end: contextlib.ExitStack) -> int:
    """A copy of *descriptor*, whose number stands for *meanwhile* until the end.

    It must be open as a standard stream: without one the number may be anybody's, such as the event loop's.
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
    if sys.platform != "win32" and (_flows(descriptor) or os.isatty(descriptor)):
        return Reader(descriptor)
    return ThreadedSource(descriptor)


def _sink(descriptor: int, at_end: contextlib.ExitStack) -> ByteSink:
    if sys.platform != "win32" and _flows(descriptor):
        # This changes the stream for all who share it, such as the shell that started us.
        was_blocking = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)
        copy = os.dup(descriptor)
        at_end.callback(os.close, copy)
        at_end.callback(os.set_blocking, copy, was_blocking)
        return Writer(descriptor)
    return ThreadedSink(descriptor)


def _flows(descriptor: int) -> bool:
    """Whether it is a pipe or a socket: for these the system tells when they can be read or written."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
