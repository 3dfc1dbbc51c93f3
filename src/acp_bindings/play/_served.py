"""Base class of agents that serve one client: over standard streams, or in the same process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings.connection import Connection, Handlers
from acp_bindings.connection._connection import ByteSource, Trace
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.connection._stdio import standard_streams
from acp_bindings.setup import OPENING

GRACE = 2.0
"""Seconds for an agent in this process to end when the client has left. Rude agents do not."""


class Served(ABC):
    """An agent that serves one client at a time."""

    @abstractmethod
    async def serve_over(self, source: ByteSource, sink: ByteSink) -> None:
        """Serve one client over two byte streams, until it leaves."""

    async def serve(self) -> None:
        """Serve the client that started this process, over standard input and output, until it leaves."""
        with standard_streams() as (source, sink):
            await self.serve_over(source, sink)

    @asynccontextmanager
    async def connected(self, *, trace: Trace | None = None) -> AsyncGenerator[Connection]:
        """Serve one client in this process, and yield its connection, for tests of your client.

        Instead of exiting, the agent closes the connection. If it ignores the end of its input, it is cancelled.

        Args:
            trace: called with the sender and each line, as for `Connection`.
        """
        to_agent, from_client = anyio.create_memory_object_stream[bytes](100)
        to_client, from_agent = anyio.create_memory_object_stream[bytes](100)
        source = BufferedByteReceiveStream(from_agent)
        client = Connection(source, to_agent, protocol=OPENING, role="client", handlers=Handlers(), trace=trace)
        async with anyio.create_task_group() as tasks:
            async with client:
                tasks.start_soon(self.serve_over, BufferedByteReceiveStream(from_client), to_client)
                yield client
            tasks.cancel_scope.deadline = anyio.current_time() + GRACE
