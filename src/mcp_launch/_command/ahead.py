"""Starts the processes of servers first, so that they get ready while the launcher is still being imported."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from mcp_launch._command.inputs import Session
from mcp_launch._command.signals import held
from mcp_launch._spawn_ahead import end_the_rest, start_ahead


@contextmanager
def started_ahead(sessions: Iterable[Session], *, strict: bool = False) -> Generator[None]:
    """A block in which the processes of these servers run already; those that nobody took are ended with it."""
    try:
        # Otherwise a signal right after the start of a process, before it is noted, would leave it running.
        with held():
            for session in sessions:
                start_ahead(session.servers, cwd=session.cwd, strict=strict)
        yield
    finally:
        with held():
            end_the_rest()
