"""Connections to agents at a URL that are made again when they are lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskStatus

from acp_bindings.connection._connection import Connection
from acp_bindings.connection.errors import ConnectionClosed, log
from acp_bindings.errors import AcpError

if TYPE_CHECKING:
    from acp_bindings.client._agent_link import AgentLink
    from acp_bindings.client._client_session import Session
    from acp_bindings.setup import ClientHandshake

_LASTING = 10.0
"""Seconds after which a connection counts as stable, so that the waits begin again with the shortest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnect:
    """The policy by which a lost connection to a URL is made again."""

    attempts: int = 8
    """The failed attempts, one after the other, before the connection is abandoned."""
    wait: float = 0.5
    """Seconds before the second attempt. The first is made at once, and each wait is twice the one before."""
    longest: float = 30.0
    """The longest of these waits, in seconds."""

    def before(self, attempt: int) -> float:
        """Return the seconds to wait before an attempt, which count from 0."""
        return min(self.longest, self.wait * 2 ** (attempt - 1)) if attempt else 0.0


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The state of the sessions after a connection was made again."""

    reason: ConnectionClosed
    """Why the connection before was lost."""
    sessions: Sequence[Session]
    """The sessions that were loaded again. Their state is that of the agent."""
    interrupted: Sequence[Session]
    """Those of them whose prompt failed with `reason`. The agent may have worked on it."""
    lost: Mapping[str, AcpError]
    """The ids of sessions that could not be loaded again, with the reasons. They are closed."""


async def stay_connected(
    link: AgentLink,
    connect: Callable[[], AbstractAsyncContextManager[Connection]],
    handshake: ClientHandshake,
    *,
    reconnect: Reconnect | None,
    on_reconnect: Callable[[Reconnected], object] | None,
    timeout: float | None,
    task_status: TaskStatus[None],
) -> None:
    """Connect, and connect again whenever the connection is lost. Errors of the first connection are raised."""
    reason: ConnectionClosed | None = None
    attempt = failures = 0
    link.reconnects = reconnect is not None
    while True:
        try:
            async with connect() as connection:
                await link.open(connection, handshake, timeout=timeout)
                began = anyio.current_time()
                if reason is None:
                    link.online.set()
                    task_status.started()
                else:
                    report = await link.restore(reason)
                    link.online.set()
                    log.info("connected again after: %s", reason)
                    if on_reconnect is not None:
                        on_reconnect(report)
                failures = 0
                ended = await connection.wait_ended()
                if anyio.current_time() - began > _LASTING:
                    attempt = 0
        except AcpError as error:
            if reason is None:
                raise
            ended = error if isinstance(error, ConnectionClosed) else reason
            failures += 1
            log.info("attempt %d to connect again failed: %s", failures, error)
            wait = getattr(error, "retry_after", None) or 0.0
        else:
            reason, wait = ended, 0.0
        if reconnect is None or failures >= reconnect.attempts:
            if failures:
                ended = ended.of(None)
                ended.reason = f"gave up after attempt {failures}: {ended.reason}"
            link.give_up(ended)
            return
        link.go_offline()
        await link.clear()
        await anyio.sleep(max(reconnect.before(attempt), min(wait, reconnect.longest)))
        attempt += 1
