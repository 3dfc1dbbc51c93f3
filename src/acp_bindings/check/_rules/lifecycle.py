"""What comes at the wrong time: on the connection, and in a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acp_bindings._json import members_of
from acp_bindings.check._conversation import PERMISSION, PROMPT, ObservedMessage
from acp_bindings.check._rules.rule import Look, of_initialize, remark, rule, rules, under, whole
from acp_bindings.setup._records import SessionRecord, load_remarks, new_session_remarks
from acp_bindings.setup.errors import InitializedAlready, NotInitialized, Remark


@rule("lifecycle.not-initialized", "error")
def not_initialized(observed: ObservedMessage) -> Iterator[Remark]:
    """A message comes before `initialize` is answered."""
    if isinstance(observed.untimely, NotInitialized):
        message = f"{observed.untimely.message}; if the recording begins later than the connection, name its --protocol"
        yield whole(observed, "lifecycle.not-initialized", message)


@rule("lifecycle.initialized-again", "error")
def initialized_again(observed: ObservedMessage) -> Iterator[Remark]:
    """`initialize` comes again when it could no more."""
    if isinstance(observed.untimely, InitializedAlready):
        yield whole(observed, "lifecycle.initialized-again", observed.untimely.message)


@rule("lifecycle.version", "error")
def version(observed: ObservedMessage) -> Iterator[Remark]:
    """The agent chose a version that the client did not offer, and the client does not close the connection."""
    before = observed.before
    if before is None:
        return
    if observed.type_name == "InitializeResponse" and before.requested is not None:
        answered = observed.members.get("protocolVersion")
        if type(answered) is int and answered != observed.version:
            message = f"version {answered} is not known here; what follows is read by version {observed.version}"
            yield remark(observed, "lifecycle.version", message, "protocolVersion", severity="warning")
        if type(answered) is int and answered > before.requested:
            message = f"the agent chose version {answered}, of {before.requested} asked for; a client without it closes"
            yield remark(observed, "lifecycle.version", message, "protocolVersion", severity="warning")
    elif (
        observed.sender == "client"
        and observed.kind == "request"
        and observed.method != "initialize"
        and before.mismatched
    ):
        answered, requested = before.mismatched
        message = (
            f"the agent answered with version {answered}, and the client offered none after {requested}; "
            "it should close the connection and tell the user"
        )
        yield whole(observed, "lifecycle.version", message)


@rule("lifecycle.no-info", "warning")
def no_info(observed: ObservedMessage) -> Iterator[Remark]:
    """A client or an agent of v1 does not say its name and version; v2 requires both."""
    yield from of_initialize(observed, "no-info", "lifecycle.no-info", severity="warning")


@rule("lifecycle.id-reused", "error")
def id_reused(observed: ObservedMessage) -> Iterator[Remark]:
    """A request has the id of another one that is not answered yet."""
    if (
        observed.kind == "request"
        and observed.before
        and (open_ := observed.before.open_request(observed.sender, observed.id))
    ):
        message = f"{open_.method} with this id is not answered yet (line {open_.line}); take another id"
        yield whole(observed, "lifecycle.id-reused", message, "id")


@rule("lifecycle.unasked", "error")
def unasked(observed: ObservedMessage) -> Iterator[Remark]:
    """A response has an id that no open request has."""
    # An error without an id is the answer to what could not be read.
    if (
        observed.kind in ("response", "error")
        and observed.before
        and observed.request is None
        and (observed.has_id or observed.kind != "error")
    ):
        message = "no request with this id is open; it was answered already, or never sent"
        yield whole(
            observed,
            "lifecycle.unasked",
            message,
            "id",
            severity="warning" if observed.before.begun_before else "error",
        )


@rule("lifecycle.session-id-reused", "error")
def session_id_reused(observed: ObservedMessage) -> Iterator[Remark]:
    """The agent gives a new session the id of another one."""
    if (
        observed.before
        and observed.typed is not None
        and observed.type_name in ("NewSessionResponse", "ForkSessionResponse")
    ):
        for each in new_session_remarks(observed.typed.session_id, observed.before.sessions):
            yield under(observed, each, "lifecycle.session-id-reused")


@rule("lifecycle.unknown-session", "warning")
def unknown_session(observed: ObservedMessage) -> Iterator[Remark]:
    """The client speaks to a session that this connection has not made, loaded or resumed."""
    if (
        observed.before
        and not observed.before.begun_before
        and observed.method in _IN_A_SESSION
        and observed.session_id is not None
    ):
        session = observed.before.sessions.get(observed.session_id)
        if session is None or session.phase in ("known", "loading"):
            message = "no session/new, session/load or session/resume on this connection has opened this session"
            yield remark(observed, "lifecycle.unknown-session", message, "sessionId", severity="warning")


@rule("lifecycle.closed-session", "error")
def closed_session(observed: ObservedMessage) -> Iterator[Remark]:
    """The client speaks to a session that it has closed."""
    if observed.before and observed.method in _IN_A_SESSION and observed.session_id is not None:
        session = observed.before.sessions.get(observed.session_id)
        if session and session.phase == "closed":
            message = "the session is closed; load or resume it first"
            yield remark(observed, "lifecycle.closed-session", message, "sessionId")


CANCELLED = "it is to be answered with the outcome cancelled, for which agents wait"


@rule("lifecycle.permission-after-cancel", "error")
def permission_after_cancel(observed: ObservedMessage) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and what was asked for it is not answered with `cancelled`."""
    if observed.kind == "response" and observed.method == PERMISSION and (line := _cancelled(observed)):
        outcome = members_of(observed.members.get("outcome")).get("outcome")
        if outcome != "cancelled":
            message = f"the client has cancelled the prompt in line {line}; {CANCELLED}"
            yield remark(observed, AFTER_CANCEL.id, message, "outcome")


(AFTER_CANCEL,) = permission_after_cancel.rules


@rule("lifecycle.error-after-cancel", "warning")
def error_after_cancel(observed: ObservedMessage) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and answered with an error and not with the stop reason `cancelled`."""
    if observed.kind == "error" and observed.method == PROMPT and (line := _cancelled(observed)):
        message = f"the client has cancelled the prompt in line {line}; whatever it meets then, it ends as cancelled"
        yield whole(observed, "lifecycle.error-after-cancel", message, "error", severity="warning")


def _cancelled(observed: ObservedMessage) -> int | None:
    return observed.before.cancelled(observed.request) if observed.before and observed.request else None


@rules(
    {
        "warning": {
            "lifecycle.load-before-prompt": "A session is loaded that had no prompt; many agents store none before.",
        },
        "error": {
            "lifecycle.session-id-altered": "A session is loaded by an id that is not its own to the letter.",
            "path.cwd-mismatch": "A session is loaded with another `cwd` than it was made or listed with.",
        },
    }
)
def load(observed: ObservedMessage) -> Iterator[Remark]:
    """What `load_remarks` says of a session that is loaded or resumed."""
    before = observed.before
    if (
        before is None
        or observed.typed is None
        or observed.type_name not in ("LoadSessionRequest", "ResumeSessionRequest")
    ):
        return
    session = before.sessions.get(observed.typed.session_id)
    record = SessionRecord.of(observed.typed)
    if session is not None:
        record = replace(record, prompted=session.prompted)
    for each in load_remarks(record, listed=before.listing(record.session_id)):
        if id_ := _OF_LOADS.get(each.rule):
            yield under(observed, each, id_)


_OF_LOADS = {each.id.partition(".")[2]: each.id for each in load.rules}


@rules(
    {
        "error": {
            "lifecycle.replay-after-answer": "History comes after the answer to the request that asked for it.",
            "lifecycle.replay-on-resume": "History comes although `session/resume` did not ask for it.",
            "lifecycle.update-after-close": "An update comes of a session that is closed.",
        }
    }
)
def replay(observed: ObservedMessage) -> Iterator[Remark]:
    """What `ReplayCollector` remarks on."""
    for each in observed.replayed:
        if (id_ := f"lifecycle.{each.rule}") in _OF_REPLAYS:
            yield under(observed, each, id_)


_OF_REPLAYS = frozenset(each.id for each in replay.rules)


@rule("lifecycle.replay-incomplete", "error")
def replay_incomplete(observed: ObservedMessage) -> Iterator[Remark]:
    """A session is loaded, and less of the user's messages is replayed than this connection has seen."""
    if observed.before and observed.kind == "response" and (message := observed.before.replay_of(observed)):
        session, replayed = message
        if (had := session.transcript.turns_of_user) > (has := replayed.turns_of_user):
            text = f"{has} of {had} messages of the user are replayed; the entire conversation should be"
            yield whole(observed, "lifecycle.replay-incomplete", text)


@rule("lifecycle.replay-differs", "warning")
def replay_differs(observed: ObservedMessage) -> Iterator[Remark]:
    """A session is loaded, and what is replayed is not what was said before, or not in that order."""
    if (
        observed.before
        and observed.kind == "response"
        and observed.version == 1
        and (message := observed.before.replay_of(observed))
    ):
        session, replayed = message
        if session.transcript.turns_of_user <= replayed.turns_of_user and session.transcript != replayed:
            text = (
                "the messages that are replayed are not those that were said on this connection, or not in that order"
            )
            yield whole(observed, "lifecycle.replay-differs", text, severity="warning")


_IN_A_SESSION = frozenset({"session/prompt", "session/cancel", "session/set_mode", "session/set_config_option"})

LOOKS: tuple[Look, ...] = (
    not_initialized,
    initialized_again,
    version,
    no_info,
    id_reused,
    unasked,
    session_id_reused,
    unknown_session,
    closed_session,
    permission_after_cancel,
    error_after_cancel,
    load,
    replay,
    replay_incomplete,
    replay_differs,
)
