"""Rules for messages at the wrong time, on a connection and in a session."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import to_json

from acp_bindings._json import members_of
from acp_bindings.check._observed import PERMISSION, PROMPT, ObservedMessage
from acp_bindings.check._rules.rule import remark, rule, rules, whole
from acp_bindings.check._turn_order import OF_TURNS
from acp_bindings.setup._handshake import version_in
from acp_bindings.setup.capabilities import CLIENT_METHODS
from acp_bindings.setup.errors import InitializedAlready, NotInitialized, Remark, Severity


@rule("lifecycle.not-initialized", "error")
def not_initialized(observed: ObservedMessage) -> Iterator[Remark]:
    """A message is sent before the response to `initialize`."""
    if isinstance(observed.untimely, NotInitialized):
        advice = "if the recording begins after the handshake, use acp-bindings check --protocol"
        yield whole(observed, "lifecycle.not-initialized", f"{observed.untimely.message}; {advice}")


@rule("lifecycle.initialized-again", "error")
def initialized_again(observed: ObservedMessage) -> Iterator[Remark]:
    """`initialize` is sent again."""
    if isinstance(observed.untimely, InitializedAlready):
        yield whole(observed, "lifecycle.initialized-again", observed.untimely.message)


@rule("lifecycle.version", "error")
def version(observed: ObservedMessage) -> Iterator[Remark]:
    """The agent chose a version that the client does not support, and the client continues."""
    before = observed.before
    requested = version_in(observed.request.body) if observed.request else None
    if observed.type_name == "InitializeResponse" and requested is not None:
        answered = observed.members.get("protocolVersion")
        if type(answered) is int and answered != observed.version:
            message = f"version {answered} is not supported here; the rest is read as version {observed.version}"
            yield remark(observed, "lifecycle.version", message, "protocolVersion", severity="warning")
        if type(answered) is int and answered > requested:
            message = f"the agent chose version {answered}, but the client requested {requested}"
            yield remark(observed, "lifecycle.version", message, "protocolVersion", severity="warning")
    elif (
        observed.sender == "client"
        and observed.kind == "request"
        and observed.method != "initialize"
        and before.mismatched
    ):
        answered, requested = before.mismatched
        message = (
            f"the agent chose version {answered}, but the client supports at most {requested}; "
            "it should close the connection and inform the user"
        )
        yield whole(observed, "lifecycle.version", message)


@rule("lifecycle.id-reused", "error")
def id_reused(observed: ObservedMessage) -> Iterator[Remark]:
    """A request has the id of another open request."""
    if observed.kind == "request" and (open_ := observed.before.open_request(observed.sender, observed.id)):
        message = f"{open_.method} with this id has no response yet (line {open_.line}); use another id"
        yield whole(observed, "lifecycle.id-reused", message, "id")


@rule("lifecycle.unasked", "error")
def unasked(observed: ObservedMessage) -> Iterator[Remark]:
    """A response has an id that no open request has."""
    # An error without an id is the response to an invalid message.
    is_response = observed.kind == "response" or (observed.kind == "error" and observed.id is not None)
    if is_response and observed.request is None:
        message = "no request with this id is open; it already has a response, or was never sent"
        if meant := observed.before.similar_request(observed.sender, observed.id):
            ids = [to_json(each).decode() for each in (meant.id, observed.id)]
            message = f"the request of line {meant.line} has the id {ids[0]}, not {ids[1]}"
        severity: Severity = "warning" if observed.before.begun_before else "error"
        yield whole(observed, "lifecycle.unasked", message, "id", severity=severity)


@rule("lifecycle.session-id-reused", "error")
def session_id_reused(observed: ObservedMessage) -> Iterator[Remark]:
    """The agent gives a new session the id of another one."""
    new = observed.typed if observed.type_name in ("NewSessionResponse", "ForkSessionResponse") else None
    if new is not None and new.session_id in observed.before.sessions:
        message = "the agent gave a new session the id of another one, so their messages cannot be distinguished"
        yield remark(observed, "lifecycle.session-id-reused", message, "sessionId")


@rule("lifecycle.unknown-session", "warning")
def unknown_session(observed: ObservedMessage) -> Iterator[Remark]:
    """The client uses a session that was not created, loaded or resumed on this connection."""
    if observed.method in _IN_A_SESSION and observed.session_id is not None and not observed.before.begun_before:
        session = observed.before.sessions.get(observed.session_id)
        if session is None or session.phase in ("known", "loading"):
            message = "no session/new, session/load or session/resume on this connection has opened this session"
            yield remark(observed, "lifecycle.unknown-session", message, "sessionId")


@rule("lifecycle.closed-session", "error")
def closed_session(observed: ObservedMessage) -> Iterator[Remark]:
    """The client uses a session that it has closed."""
    if observed.method in _IN_A_SESSION and observed.session_id is not None:
        session = observed.before.sessions.get(observed.session_id)
        if session and session.phase == "closed":
            message = "the session is closed; load or resume it first"
            yield remark(observed, "lifecycle.closed-session", message, "sessionId")


_OF_AGENTS = frozenset(
    CLIENT_METHODS.keys() - {"$/cancel_request", "auth/status_update", "elicitation/complete", "mcp/message"}
)
"""What an agent sends in a session."""


@rules(
    {
        "error": {
            "lifecycle.no-session": "The agent names a session that does not exist.",
            "lifecycle.update-before-session": "An update of a turn of v1 comes before the response to `session/new`.",
        }
    },
    on=_OF_AGENTS,
)
def no_session(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield what the agent sends for a session that was not created, loaded, resumed or listed."""
    before, id_ = observed.before, observed.session_id
    if before.begun_before or before.is_unclear or id_ is None:
        return
    if observed.kind not in ("request", "notification") or id_ in before.sessions or id_ == before.last_unknown:
        return
    if not before.is_creating:
        message = "no session/new, session/load or session/resume on this connection has opened this session"
        yield remark(observed, "lifecycle.no-session", message, "sessionId")
    elif observed.version == 1 and observed.update.get("sessionUpdate") in OF_TURNS:
        message = "the client does not know the session yet; send it after the response to session/new"
        yield remark(observed, "lifecycle.update-before-session", message, "sessionId")


CANCELLED = "respond with the outcome cancelled, which agents wait for"


@rule("lifecycle.permission-after-cancel", "error")
def permission_after_cancel(observed: ObservedMessage) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and the response to its permission request is not `cancelled`."""
    if observed.kind == "response" and observed.method == PERMISSION and (line := _cancelled(observed)):
        outcome = members_of(observed.members.get("outcome")).get("outcome")
        if outcome != "cancelled":
            message = f"the client cancelled the prompt in line {line}; {CANCELLED}"
            yield remark(observed, AFTER_CANCEL.id, message, "outcome")


(AFTER_CANCEL,) = permission_after_cancel.rules


@rule("lifecycle.error-after-cancel", "warning")
def error_after_cancel(observed: ObservedMessage) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and the response is an error instead of the stop reason `cancelled`."""
    if observed.kind == "error" and observed.method == PROMPT and (line := _cancelled(observed)):
        message = f"the client cancelled the prompt in line {line}; the response needs the stop reason cancelled"
        yield whole(observed, "lifecycle.error-after-cancel", message, "error")


def _cancelled(observed: ObservedMessage) -> int | None:
    return observed.before.cancelled(observed.request) if observed.request else None


@rule("lifecycle.replay-incomplete", "error")
def replay_incomplete(observed: ObservedMessage) -> Iterator[Remark]:
    """A session is loaded, and less of the user's messages is replayed than this connection has seen."""
    if observed.kind == "response" and (message := observed.before.replay_of(observed)):
        session, replayed = message
        had, has = session.transcript.turns_of_user, replayed.turns_of_user
        if had > has and not replayed.has_users_text(session.transcript):
            text = f"{has} of {had} messages of the user are replayed; the entire conversation should be"
            yield whole(observed, "lifecycle.replay-incomplete", text)


@rule("lifecycle.replay-differs", "warning")
def replay_differs(observed: ObservedMessage) -> Iterator[Remark]:
    """The replay of a loaded session differs from the messages before, or is in another order."""
    if observed.kind == "response" and observed.version == 1 and (message := observed.before.replay_of(observed)):
        session, replayed = message
        had, has = session.transcript.turns_of_user, replayed.turns_of_user
        if had <= has and session.is_comparable and session.transcript != replayed:
            text = "the replayed messages differ from those on this connection, or are in another order"
            yield whole(observed, "lifecycle.replay-differs", text)


_IN_A_SESSION = frozenset({"session/prompt", "session/cancel", "session/set_mode", "session/set_config_option"})
