"""The event stream of an SSE session: first where messages are posted, then messages, and at last how it ended."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import httpx
from anyio.abc import TaskStatus

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.no_answer import UNMAPPED, TooLong
from mcp_launch.failures import Stage
from mcp_launch.transports.messages import Invalid, dropped
from mcp_launch.transports.sse.client import EventClient, NoEventsError
from mcp_launch.transports.sse.endpoint import endpoint_of
from mcp_launch.transports.sse.inbox import Inbox
from mcp_launch.transports.unanswered import farewell

__all__ = ["Listener"]


class Listener:
    """Reads the event stream for one session."""

    def __init__(
        self,
        client: EventClient,
        *,
        warn: Callable[[str], None],
        on_lost: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self.endpoint: httpx.URL | None = None
        """Where messages are posted, once it is known."""
        self.found: Diagnosis | None = None
        """Why it ended, or is of no use."""
        self.misshapen: Diagnosis | None = None
        """What was wrong with the last answer that could not be read."""
        self._client = client
        self._warn = warn
        self._warned = False
        self._on_lost = on_lost
        self._give_up = give_up

    @property
    def stage(self) -> Stage | None:
        """The stage of what goes wrong now, where the session does not know better."""
        return None if self.endpoint is not None else "connect"

    async def run(self, url: str, inbox: Inbox, *, task_status: TaskStatus[httpx.URL]) -> None:
        """Read the event stream; started, with the endpoint, once it has named that."""
        try:
            await self._read(url, inbox, task_status)
            self._end("its event stream ended")
        except NoEventsError:
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
            if self.found is not None:
                await inbox.end(farewell(self.found, hide=self._client.hide))
            self._on_lost()
            if self.endpoint is None:
                self._give_up()

    async def _read(self, url: str, inbox: Inbox, task_status: TaskStatus[httpx.URL]) -> None:
        async with self._client.events(url) as events:
            async for event in events:
                if event.name == "endpoint" and self.endpoint is None:
                    match endpoint_of(event.data.decode(errors="replace"), stream=events.url):
                        case Diagnosis() as wrong:
                            self.found = wrong
                            # Not a return, which would leave httpx's generators unfinished for the garbage collector.
                            self._give_up()
                        case endpoint:
                            self.endpoint = endpoint
                            task_status.started(endpoint)
                elif event.name == "message":
                    try:
                        await self._deliver(event.data, inbox)
                    except anyio.get_cancelled_exc_class():
                        # It comes again at the next read, and ends httpx's generators, which otherwise would be left
                        # for the garbage collector.
                        continue

    async def _deliver(self, data: bytes, inbox: Inbox) -> None:
        found = await self._client.reader.read(data)
        if not isinstance(found, Invalid):
            self.misshapen = None
            await inbox.put(found)
        elif found.answers is not None and inbox.awaits(found.answers):
            self.misshapen = found.diagnosis()
            await inbox.refuse(found.answers, farewell(self.misshapen, hide=self._client.hide))
        elif not self._warned:
            self._warned = True
            self._warn(dropped(found.why) if found.limit else "sent an event that is no JSON-RPC message")

    def _end(self, message: str, **facts: str) -> None:
        answer = self._client.memory.answer
        shown = {**(answer.facts if answer else {}), **facts}
        self.found = self.found or Diagnosis("disconnected", message, shown, stage=self.stage)
