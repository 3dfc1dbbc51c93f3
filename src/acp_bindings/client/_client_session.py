"""A session of a client: prompts, cancellation, state, modes and options."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from acp_bindings import v1
from acp_bindings._models.base import Model
from acp_bindings._processes.process import to_the_end
from acp_bindings.client._prompt_turn import PromptTurn
from acp_bindings.client._state import SessionState
from acp_bindings.client._turns import Conversation, Running
from acp_bindings.connection.errors import ConnectionClosed, log
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError
from acp_bindings.setup._gates import check_message
from acp_bindings.setup.errors import RefusedServer

if TYPE_CHECKING:
    from acp_bindings.setup._records import SessionRecord


class Session:
    """An open session, made by a `ConnectedAgent`."""

    def __init__(self, conversation: Conversation, *, refused: tuple[RefusedServer, ...]) -> None:
        self._conversation = conversation
        self._host = conversation.host
        self._refused = refused

    def __repr__(self) -> str:
        return f"<Session {self.id}>"

    @property
    def id(self) -> str:
        """The id that the agent has given it."""
        return self._conversation.id

    @property
    def state(self) -> SessionState:
        """A snapshot of the session: messages, tool calls, plan, mode, options, commands, usage, title.

        It includes the history of a loaded session, and everything that was received before this call. Any thread may
        take a snapshot.
        """
        return self._conversation.folding.state

    @property
    def record(self) -> SessionRecord:
        """The record to store, for `ConnectedAgent.load` in a later connection."""
        return self._conversation.record

    @property
    def refused(self) -> tuple[RefusedServer, ...]:
        """The MCP servers that were left out because the agent does not support them, with the reasons."""
        return self._refused

    @property
    def opening(self) -> Any:
        """The response that opened the session, in the negotiated version, with what extensions have added to it."""
        return self._conversation.opening

    @property
    def is_busy(self) -> bool:
        """True while the agent answers a prompt."""
        return self._conversation.turn is not None

    def prompt(self, prompt: str | v1.ContentBlock | Iterable[v1.ContentBlock]) -> PromptTurn:
        """Return a turn for *prompt*: an async iterator of updates, which you can also await for the stop reason.

        Args:
            prompt: text, or blocks of content.

        Raises:
            SessionBusy: the session still answers another prompt.
            SessionClosed: the session was closed.
            CapabilityNotAdvertised: the agent does not support this kind of content.
            TypeError: *prompt* is not text or content.
            ValueError: *prompt* is empty.
        """
        self._conversation.check_free()
        blocks = _blocks(prompt)
        wire: Any = self._host.peer.protocol
        request = wire.PromptRequest(
            session_id=self.id,
            prompt=[each if wire is v1 else decode(wire.ContentBlock, encode(each)) for each in blocks],
        )
        check_message(self._host.peer, request, assume=self._conversation.assume)
        return PromptTurn(self._conversation, Running(request, blocks))

    async def cancel(self) -> None:
        """Cancel the turn. It ends with the stop reason `cancelled` as soon as the agent has stopped.

        Open permission requests of the session are answered with the outcome `cancelled`. Nothing happens if the
        session is idle.

        Raises:
            ConnectionClosed: the agent is gone.
        """
        await self._conversation.cancel()

    async def set_mode(self, mode: str) -> None:
        """Set the mode, by its id in `SessionState.modes`. This sets the config option of the category `mode`, if any.

        Raises:
            ValueError: the agent has not advertised this mode.
            RequestError: the agent responded with an error.
        """
        known = [each.id for each in self.state.modes]
        if mode not in known:
            raise ValueError(f'the agent has not advertised the mode "{mode}"; available: {", ".join(known) or "none"}')
        for option in self.state.config_options:
            if option.category == "mode" and option.type == "select":
                await self.set_option(option.id, mode)
                return
        wire: Any = self._host.peer.protocol
        await self._host.ask(wire.SetSessionModeRequest(session_id=self.id, mode_id=mode))
        self._conversation.folding.change(mode=mode)

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a config option, such as the model, by its id in `SessionState.config_options`.

        Raises:
            RequestError: the agent responded with an error, such as for an unknown option or value.
        """
        wire: Any = self._host.peer.protocol
        said: dict[str, Any] = {"sessionId": self.id, "configId": option_id, "value": value}
        if isinstance(value, bool):
            said["type"] = "boolean"
        elif self._host.peer.version > 1:
            said["type"] = "id"
        response = await self._host.ask(decode(wire.SetSessionConfigOptionRequest, said))
        self._conversation.folding.options(response.config_options)

    async def close(self) -> None:
        """End the session: cancel its turn, end its terminals, and let the agent free its resources.

        Open permission requests are answered with the outcome `cancelled`. `session/close` is only sent if the agent
        supports it, and not while the connection is lost. The session can be loaded again if the agent stores it.
        Closing twice has no effect.

        Raises:
            RequestError: the agent responded with an error.
            ConnectionClosed: the agent is gone.
        """
        if self._conversation.closed:
            return
        self._conversation.closed = True
        self._conversation.end_questions()
        try:
            if (turn := self._conversation.turn) is not None:
                await self._conversation.stop(turn)
            await self._host.end_terminals(self.id)
            if self._host.online.is_set() and self._host.peer.supports("session.close"):
                await self._host.close(self.id)
                self._host.updates.closed(self.id)
        finally:
            self._host.forget(self.id)

    async def leave(self) -> None:
        """Close the session at the end of its block, in limited time. Errors are logged."""

        async def close() -> None:
            with anyio.move_on_after(2 * self._host.patience) as limit:
                try:
                    await self.close()
                except ConnectionClosed:
                    pass
                except AcpError as error:
                    log.warning("session/close failed: %s", error)
            if limit.cancelled_caught:
                log.warning("the agent did not respond to session/close within %g s", 2 * self._host.patience)

        await to_the_end(close)


class SessionOpening:
    """A session that is about to be opened: `async with` closes it at the end, `await` leaves that to you."""

    def __init__(self, open_: Callable[[], Awaitable[Session]]) -> None:
        self._open = open_
        self._session: Session | None = None

    def __await__(self) -> Generator[Any, Any, Session]:
        """Open the session and return it."""
        return self._open().__await__()

    async def __aenter__(self) -> Session:
        """Open the session and return it."""
        self._session = await self._open()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the session, also on cancellation. Errors are logged."""
        if self._session is not None:
            await self._session.leave()


def _blocks(prompt: str | v1.ContentBlock | Iterable[v1.ContentBlock]) -> list[v1.ContentBlock]:
    if isinstance(prompt, str) and prompt:
        return [v1.TextContent(text=prompt)]
    # A model is iterable as well.
    given: Any = [prompt] if isinstance(prompt, Model) or not hasattr(prompt, "__iter__") else prompt
    blocks: list[v1.ContentBlock] = [*given]
    if not blocks:
        raise ValueError("the prompt is empty; pass text or at least one block of content")
    for each in blocks:
        if not hasattr(each, "type"):
            raise TypeError(f"a prompt is text or blocks such as v1.TextContent(text=…), not {type(each).__name__}")
    return blocks
