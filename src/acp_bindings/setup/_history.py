"""The conversation of a session on the side of its agent: what is kept of it, and how it is replayed.

    history += user_chunks(v1, request)             # a prompt
    if is_history(update): history.append(update)   # what is streamed

    for notification in replay(v1, session_id, history):
        send(notification)                          # and then answer session/load

A history is a list of the updates that were streamed, nothing else, so it can be stored by a line for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast, overload

from acp_bindings._models.base import known_member
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.errors import InvalidParams, Remark

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import (
        HasChunks,
        HasUpdates,
        LoadSessionRequest,
        PromptRequest,
        ResumeSessionRequest,
        SessionNotification,
        SessionUpdate,
        T,
        Tells,
        UserMessageChunk,
    )


def asks_for_history(request: LoadSessionRequest | ResumeSessionRequest) -> bool:
    """Whether *request* wants the conversation replayed before it is answered: v1 by its method, v2 by `replayFrom`.

    Raises:
        InvalidParams: `replayFrom` is of a kind that this library does not know, which must be taken neither for the
            start nor for none (v2 `ResumeSessionRequest.replayFrom`).
    """
    start: Any = known_member(request, "replay_from")
    if start is not None and start.type != "start":
        raise InvalidParams(f'replayFrom: "{start.type}" is not supported; "start" is', data={"type": start.type})
    return is_replayed(request)


def is_replayed(request: LoadSessionRequest | ResumeSessionRequest) -> bool:
    """Whether *request* wants some of the conversation replayed, from wherever that is to begin."""
    return type(request).__name__ == "LoadSessionRequest" or known_member(request, "replay_from") is not None


def is_history(update: SessionUpdate) -> bool:
    """Whether *update* is part of the conversation.

    Notices are of the moment. State, mode, options and commands are sent as they are now: with the answer to the
    request, or in v2 by the `state_update` before it.
    """
    return update.session_update not in _OF_THE_MOMENT


@overload
def user_chunks(protocol: HasChunks[T], request: PromptRequest, *, message_id: str | None = None) -> list[T]: ...
@overload
def user_chunks(
    protocol: ProtocolPackage, request: PromptRequest, *, message_id: str | None = None
) -> list[UserMessageChunk]: ...
def user_chunks(protocol: Any, request: PromptRequest, *, message_id: str | None = None) -> list[Any]:
    """The user's message as it stands in a history: a chunk for each block of content.

    Args:
        protocol: the package of *request*.
        request: the prompt.
        message_id: the id that the agent gives the message, which v2 requires.

    Raises:
        pydantic.ValidationError: v2 got no *message_id*, or *request* is of another package.
    """
    type_: Any = protocol.UserMessageChunk
    more = {} if message_id is None else {"message_id": message_id}
    return [type_(content=each, **more) for each in request.prompt]


@overload
def replay(
    protocol: HasUpdates[T], session_id: str, history: Iterable[SessionUpdate], *, state: SessionUpdate | None = None
) -> Iterator[T]: ...
@overload
def replay(
    protocol: ProtocolPackage, session_id: str, history: Iterable[SessionUpdate], *, state: SessionUpdate | None = None
) -> Iterator[SessionNotification]: ...
def replay(
    protocol: Any,
    session_id: str,
    history: Iterable[SessionUpdate],
    *,
    state: SessionUpdate | None = None,
) -> Iterator[Any]:
    """Every update of *history* as a notification, in its order; to be sent before the request is answered.

    Pieces of text that follow each other in one message of the agent, or one thought, come as one: nobody should have
    to wait for each token again. Nothing else is merged, and nothing left out but what is no history. In v2 it ends
    with the state of the session, which is due also where there is no history.

    Args:
        protocol: the package that both sides speak.
        session_id: of the request.
        history: the conversation, by the types of *protocol*.
        state: the `state_update` of v2, where the session is not idle.

    Raises:
        pydantic.ValidationError: an update is of another package; `read_history` reads it by this one.
    """
    carries = protocol.METHODS["session/update"].notification.params
    for update in _merged(each for each in history if is_history(each)):
        yield carries(session_id=session_id, update=update)
    if version_of(protocol) >= 2:
        yield carries(session_id=session_id, update=protocol.SessionStateUpdateIdle() if state is None else state)


def history_line(update: SessionUpdate) -> bytes:
    """*update* as a line of JSON, to be appended to a file; the line feed is part of it."""
    return encode(update) + b"\n"


@overload
def read_history(
    protocol: HasUpdates[Tells[T]], lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None
) -> list[T]: ...
@overload
def read_history(
    protocol: ProtocolPackage, lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None
) -> list[SessionUpdate]: ...
def read_history(protocol: Any, lines: Iterable[bytes | str], *, remarks: list[Remark] | None = None) -> list[Any]:
    """What `history_line` wrote, in its order.

    Args:
        protocol: the package to read it by.
        lines: a file, or lines from elsewhere.
        remarks: a list that is added to for each line that is skipped because it is no update (`malformed-line`), as
            the last one after a crash.
    """
    type_: Any = protocol.SessionUpdate
    found: list[Any] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(decode(type_, line))
        except DecodeError as error:
            if remarks is not None:
                told = f"line {number} is skipped, because it is no update: {error.issues[0]}"
                remarks.append(Remark((), "malformed-line", told, facts={"line": number}))
    return found


_OF_THE_MOMENT = {
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "notice",
    "state_update",
}

_STREAMED = {"agent_message_chunk", "agent_thought_chunk"}
"""Updates whose pieces may be joined. Those of the user may be two messages, which v1 has no ids to tell apart."""


def _merged(updates: Iterable[SessionUpdate]) -> Iterator[SessionUpdate]:
    """*updates*, with pieces of plain text that belong together in one."""
    pieces: list[Any] = []
    for update in updates:
        if pieces and not _go_on(pieces[-1], update):
            yield _joined(pieces)
            pieces = []
        pieces.append(update)
    if pieces:
        yield _joined(pieces)


def _go_on(piece: Any, update: Any) -> bool:
    """Whether *update* is the next piece of the same text as *piece*, and neither says anything else."""
    return (
        _is_plain(piece)
        and _is_plain(update)
        and piece.session_update == update.session_update
        and piece.message_id == update.message_id
    )


def _is_plain(update: Any) -> bool:
    return (
        update.session_update in _STREAMED
        and update.model_fields_set <= {"session_update", "content", "message_id"}
        and update.content.type == "text"
        and update.content.model_fields_set <= {"type", "text"}
    )


def _joined(pieces: list[Any]) -> SessionUpdate:
    first: Any = pieces[0]
    if len(pieces) == 1:
        return cast("SessionUpdate", first)
    text = "".join(each.content.text for each in pieces)
    return cast("SessionUpdate", first.model_copy(update={"content": type(first.content)(text=text)}))
