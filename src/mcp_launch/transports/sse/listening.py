"""The event stream of an SSE session: first where messages are posted, then messages, and at last how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import httpx
from anyio.abc import TaskStatus
from httpx_sse import SSEError
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.http import UNMAPPED, TooLong
from mcp_launch.failures import Stage
from mcp_launch.transports.sse.client import EventClient
from mcp_launch.transports.sse.endpoint import endpoint_of
from mcp_launch.transports.unanswered import Unanswered

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream

__all__ = ["Listener"]


class Listener:
    """Reads the event stream for one session, and answers in its place what it leaves open."""

    def __init__(
        self,
        client: EventClient,
        unanswered: Unanswered,
        *,
        warn: Callable[[str], None],
        on_lost: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self.endpoint: httpx.URL | None = None
        """Where messages are posted, once it is known."""
        self.found: Diagnosis | None = None
        """Why it ended, or is of no use."""
        self.refusing = anyio.Lock()
        """Held while somebody is told that no answer will come, for which the session must still be there."""
        self._client = client
        self._unanswered = unanswered
        self._warn = warn
        self._warned = False
        self._on_lost = on_lost
        self._give_up = give_up

    @property
    def stage(self) -> Stage | None:
        """The stage of what goes wrong now, where the session does not know better."""
        return None if self.endpoint is not None else "connect"

    async def run(
        self,
        url: str,
        to_session: MemoryObjectSendStream[SessionMessage],
        *,
        task_status: TaskStatus[httpx.URL],
    ) -> None:
        """Read the event stream; started, with the endpoint, once it has named that."""
        try:
            await self._read(url, to_session, task_status)
            self._end("its event stream ended")
        except SSEError:
            # Not an event stream; the memory has what came instead.
            pass
        except TooLong as error:
            self._end(str(error))
        except (httpx.RequestError, *UNMAPPED) as error:
            # Where nothing came at all, the memory knows why.
            if self._client.reads:
                self._end("its event stream broke off", error=type(error).__name__)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            await self._tell(to_session)
            self._on_lost()
            if self.endpoint is None:
                self._give_up()

    async def _read(
        self,
        url: str,
        to_session: MemoryObjectSendStream[SessionMessage],
        task_status: TaskStatus[httpx.URL],
    ) -> None:
        async with self._client.events(url) as events:
            async for event in events.aiter_sse():
                if event.event == "endpoint" and self.endpoint is None:
                    match endpoint_of(event.data, stream=events.response.request.url):
                        case Diagnosis() as wrong:
                            self.found = wrong
                            # Not a return, which would leave httpx's generators unfinished for the garbage collector.
                            self._give_up()
                        case endpoint:
                            self.endpoint = endpoint
                            task_status.started(endpoint)
                elif event.event == "message" and event.data:
                    try:
                        await self._deliver(event.data, to_session)
                    except anyio.get_cancelled_exc_class():
                        # It comes again at the next read, and ends httpx's generators, which otherwise would be left
                        # for the garbage collector.
                        continue

    async def _deliver(self, data: str, to_session: MemoryObjectSendStream[SessionMessage]) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(data, by_name=False)
        except ValidationError:
            if not self._warned:
                self._warned = True
                self._warn("sent an event that is no JSON-RPC message")
            return
        self._unanswered.received(message)
        await to_session.send(SessionMessage(message))

    def _end(self, message: str, **facts: str) -> None:
        answer = self._client.memory.answer
        shown = {**(answer.facts if answer else {}), **facts}
        self.found = self.found or Diagnosis("disconnected", message, shown, stage=self.stage)

    async def _tell(self, to_session: MemoryObjectSendStream[SessionMessage]) -> None:
        """Answer the requests that will not be answered any more."""
        if self.found is not None:
            error = ErrorData(code=CONNECTION_CLOSED, message=self.found.message)
            async with self.refusing:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    for reply in self._unanswered.refused(error):
                        await to_session.send(SessionMessage(reply))
