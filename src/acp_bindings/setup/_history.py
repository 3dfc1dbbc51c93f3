"""The history of a session in an agent, which is replayed when a client loads the session.

history = History(v1)
file.writelines(map(History.line, history.add_prompt(request)))
if history.add(update):
    file.write(History.line(update))

history = History.read(v1, file)
for notification in history.replay(session_id):
    await connection.notify(notification)  # before the response to session/load
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from acp_bindings._models.base import known_member
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.errors import InvalidParams, Remark

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import (
        HasUpdates,
        LoadSessionRequest,
        PromptRequest,
        ResumeSessionRequest,
        SessionNotification,
        SessionUpdate,
        T,
        UserMessageChunk,
    )

N = TypeVar("N")


class History(Generic[N]):
    """The conversation of one session, as the updates that were streamed.

    Updates about the current state are not part of it: notices, the state, the mode, options and commands. They are
    sent with the response to the request, or in v2 by the `state_update` before it.
    """

    @overload
    def __init__(self, protocol: HasUpdates[N], updates: Iterable[SessionUpdate] = ()) -> None: ...
    @overload
    def __init__(
        self: History[SessionNotification], protocol: ProtocolPackage, updates: Iterable[SessionUpdate] = ()
    ) -> None: ...
    def __init__(self, protocol: Any, updates: Iterable[SessionUpdate] = ()) -> None:
        """Create a history.

        Args:
            protocol: the package of the updates, in which they are replayed.
            updates: what `add` is called with first.
        """
        self._protocol = protocol
        self.updates: list[SessionUpdate] = []
        """The updates in the order in which they were streamed."""
        for update in updates:
            self.add(update)

    @overload
    @staticmethod
    def read(
        protocol: HasUpdates[T], lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None
    ) -> History[T]: ...
    @overload
    @staticmethod
    def read(
        protocol: ProtocolPackage, lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None
    ) -> History[SessionNotification]: ...
    @staticmethod
    def read(protocol: Any, lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None) -> History[Any]:
        """Return the history that was stored with `line`.

        Args:
            protocol: the package to read it with.
            lines: a file, or lines from elsewhere.
            remarks: a list to which a remark (`malformed-line`) is added for each line that is skipped because it is
                not an update, such as an incomplete last line after a crash.
        """
        history: History[Any] = History(protocol)
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                history.add(decode(protocol.SessionUpdate, line))
            except DecodeError as error:
                if remarks is not None:
                    text = f"line {number} is skipped because it is not an update: {error.issues[0]}"
                    remarks.append(Remark((), "malformed-line", text, facts={"line": number}))
        return history

    @staticmethod
    def line(update: SessionUpdate) -> bytes:
        """Return *update* as one line of JSON with its line feed, to be appended to a file."""
        return encode(update) + b"\n"

    @staticmethod
    def is_requested(request: LoadSessionRequest | ResumeSessionRequest) -> bool:
        """Return True if the history must be replayed before *request* is answered.

        In v1 the method decides, in v2 `replayFrom`.

        Raises:
            InvalidParams: `replayFrom` has an unknown type, which must not be taken for the start or ignored (v2
                `ResumeSessionRequest.replayFrom`).
        """
        start: Any = known_member(request, "replay_from")
        if start is not None and start.type != "start":
            raise InvalidParams(f'replayFrom: "{start.type}" is not supported; "start" is', data={"type": start.type})
        return is_replayed(request)

    def add(self, update: SessionUpdate) -> bool:
        """Add *update*, and return True, if it is part of the conversation."""
        if update.session_update in _OF_THE_MOMENT:
            return False
        self.updates.append(update)
        return True

    def add_prompt(self, request: PromptRequest, *, message_id: str | None = None) -> list[UserMessageChunk]:
        """Add the user's message, and return it as updates: a chunk for each content block.

        Args:
            request: the prompt.
            message_id: the id that the agent gives the message; required by v2.

        Raises:
            pydantic.ValidationError: *message_id* is missing in v2, or *request* belongs to another package.
        """
        more = {} if message_id is None else {"message_id": message_id}
        chunks = [self._protocol.UserMessageChunk(content=each, **more) for each in request.prompt]
        self.updates += chunks
        return chunks

    def replay(self, session_id: str, *, state: SessionUpdate | None = None) -> Iterator[N]:
        """Yield the updates in order, as notifications to send before the response.

        Consecutive chunks of text that belong to one message or thought of the agent are merged into one. Other updates
        are not merged. In v2 the last notification is the state of the session, also when the history is empty.

        Args:
            session_id: the id in the request.
            state: the `state_update` of v2, if the session is not idle.

        Raises:
            pydantic.ValidationError: an update belongs to another package.
        """
        type_ = self._protocol.METHODS["session/update"].notification.params
        for update in merged(self.updates):
            yield type_(session_id=session_id, update=update)
        if version_of(self._protocol) >= 2:
            idle = self._protocol.SessionStateUpdateIdle
            yield type_(session_id=session_id, update=idle() if state is None else state)


def is_replayed(request: LoadSessionRequest | ResumeSessionRequest) -> bool:
    """Return True if *request* asks for a replay, whatever its start."""
    return type(request).__name__ == "LoadSessionRequest" or known_member(request, "replay_from") is not None


_OF_THE_MOMENT = {
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "notice",
    "state_update",
}

_STREAMED = {"agent_message_chunk", "agent_thought_chunk"}
"""Updates whose chunks may be merged. Chunks of the user may belong to two messages, and v1 has no ids for them."""


def _message_of(update: Any) -> object:
    """Return the kind and the id of the message that *update* continues, or a unique object if it is not plain text."""
    is_plain = (
        update.session_update in _STREAMED
        and update.model_fields_set <= {"session_update", "content", "message_id"}
        and update.content.type == "text"
        and update.content.model_fields_set <= {"type", "text"}
    )
    return (update.session_update, update.message_id) if is_plain else object()


def merged(
    updates: Iterable[SessionUpdate], message_of: Callable[[Any], object] = _message_of
) -> Iterator[SessionUpdate]:
    """Yield *updates*, with consecutive chunks of text of one message merged; by default only plain ones."""
    for _, chunks in groupby(updates, key=message_of):
        pieces: list[Any] = list(chunks)
        whole = pieces[0]
        if len(pieces) > 1:
            text = "".join(each.content.text for each in pieces)
            whole = whole.model_copy(update={"content": whole.content.model_copy(update={"text": text})})
        yield whole
