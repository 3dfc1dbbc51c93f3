"""What comes at the wrong time: on the connection, and in a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acp_bindings._json import members_of
from acp_bindings.check._conversation import PERMISSION, PROMPT, Said
from acp_bindings.check._rules.rule import Look, of_initialize, remark, rule, rules, under, whole
from acp_bindings.setup._records import SessionRecord, new_session_remarks
from acp_bindings.setup.errors import InitializedAlready, NotInitialized, Remark


@rule("lifecycle.not-initialized", "error")
def not_initialized(said: Said) -> Iterator[Remark]:
    """A message comes before `initialize` is answered."""
    if isinstance(said.untimely, NotInitialized):
        told = f"{said.untimely.message}; if the recording begins later than the connection, name its --protocol"
        yield whole(said, "lifecycle.not-initialized", told)


@rule("lifecycle.initialized-again", "error")
def initialized_again(said: Said) -> Iterator[Remark]:
    """`initialize` comes again when it could no more."""
    if isinstance(said.untimely, InitializedAlready):
        yield whole(said, "lifecycle.initialized-again", said.untimely.message)


@rule("lifecycle.version", "error")
def version(said: Said) -> Iterator[Remark]:
    """The agent chose a version that the client did not offer, and the client does not close the connection."""
    before = said.before
    if before is None:
        return
    if said.type_name == "InitializeResponse" and before.requested is not None:
        answered = said.members.get("protocolVersion")
        if type(answered) is int and answered != said.version:
            told = f"version {answered} is not known here; what follows is read by version {said.version}"
            yield remark(said, "lifecycle.version", told, "protocolVersion", severity="warning")
        if type(answered) is int and answered > before.requested:
            told = f"the agent chose version {answered}, of {before.requested} asked for; a client without it closes"
            yield remark(said, "lifecycle.version", told, "protocolVersion", severity="warning")
    elif said.sender == "client" and said.kind == "request" and said.method != "initialize" and before.mismatched:
        answered, requested = before.mismatched
        told = (
            f"the agent answered with version {answered}, and the client offered none after {requested}; "
            "it should close the connection and tell the user"
        )
        yield whole(said, "lifecycle.version", told)


@rule("lifecycle.no-info", "warning")
def no_info(said: Said) -> Iterator[Remark]:
    """A client or an agent of v1 does not say its name and version; v2 requires both."""
    yield from of_initialize(said, "no-info", "lifecycle.no-info", severity="warning")


@rule("lifecycle.id-reused", "error")
def id_reused(said: Said) -> Iterator[Remark]:
    """A request has the id of another one that is not answered yet."""
    if said.kind == "request" and said.before and (open_ := said.before.open_request(said.sender, said.id)):
        told = f"{open_.method} with this id is not answered yet (line {open_.line}); take another id"
        yield whole(said, "lifecycle.id-reused", told, "id")


@rule("lifecycle.unasked", "error")
def unasked(said: Said) -> Iterator[Remark]:
    """A response has an id that no open request has."""
    # An error without an id is the answer to what could not be read.
    if (
        said.kind in ("response", "error")
        and said.before
        and said.asked is None
        and (said.has_id or said.kind != "error")
    ):
        told = "no request with this id is open; it was answered already, or never sent"
        yield whole(said, "lifecycle.unasked", told, "id", severity="warning" if said.before.begun_before else "error")


@rule("lifecycle.session-id-reused", "error")
def session_id_reused(said: Said) -> Iterator[Remark]:
    """The agent gives a new session the id of another one."""
    if said.before and said.typed is not None and said.type_name in ("NewSessionResponse", "ForkSessionResponse"):
        for each in new_session_remarks(said.typed.session_id, said.before.sessions):
            yield under(said, each, "lifecycle.session-id-reused")


@rule("lifecycle.unknown-session", "warning")
def unknown_session(said: Said) -> Iterator[Remark]:
    """The client speaks to a session that this connection has not made, loaded or resumed."""
    if said.before and not said.before.begun_before and said.method in _IN_A_SESSION and said.session_id is not None:
        session = said.before.sessions.get(said.session_id)
        if session is None or session.phase in ("known", "loading"):
            told = "no session/new, session/load or session/resume on this connection has opened this session"
            yield remark(said, "lifecycle.unknown-session", told, "sessionId", severity="warning")


@rule("lifecycle.closed-session", "error")
def closed_session(said: Said) -> Iterator[Remark]:
    """The client speaks to a session that it has closed."""
    if said.before and said.method in _IN_A_SESSION and said.session_id is not None:
        session = said.before.sessions.get(said.session_id)
        if session and session.phase == "closed":
            told = "the session is closed; load or resume it first"
            yield remark(said, "lifecycle.closed-session", told, "sessionId")


CANCELLED = "it is to be answered with the outcome cancelled, for which agents wait"


@rule("lifecycle.permission-after-cancel", "error")
def permission_after_cancel(said: Said) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and what was asked for it is not answered with `cancelled`."""
    if said.kind == "response" and said.method == PERMISSION and (line := _cancelled(said)):
        outcome = members_of(said.members.get("outcome")).get("outcome")
        if outcome != "cancelled":
            told = f"the client has cancelled the prompt in line {line}; {CANCELLED}"
            yield remark(said, AFTER_CANCEL.id, told, "outcome")


(AFTER_CANCEL,) = permission_after_cancel.rules


@rule("lifecycle.error-after-cancel", "warning")
def error_after_cancel(said: Said) -> Iterator[Remark]:
    """A prompt of v1 is cancelled, and answered with an error and not with the stop reason `cancelled`."""
    if said.kind == "error" and said.method == PROMPT and (line := _cancelled(said)):
        told = f"the client has cancelled the prompt in line {line}; whatever it meets then, it ends as cancelled"
        yield whole(said, "lifecycle.error-after-cancel", told, "error", severity="warning")


def _cancelled(said: Said) -> int | None:
    return said.before.cancelled(said.asked) if said.before and said.asked else None


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
def load(said: Said) -> Iterator[Remark]:
    """What `SessionRecord.load_remarks` says of a session that is loaded or resumed."""
    before = said.before
    if before is None or said.typed is None or said.type_name not in ("LoadSessionRequest", "ResumeSessionRequest"):
        return
    session = before.sessions.get(said.typed.session_id)
    record = SessionRecord.of(said.typed)
    if session is not None:
        record = replace(record, prompted=session.prompted)
    for each in record.load_remarks(listed=before.listing(record.session_id)):
        if id_ := _OF_LOADS.get(each.rule):
            yield under(said, each, id_)


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
def replay(said: Said) -> Iterator[Remark]:
    """What `ReplayCollector` remarks on."""
    for each in said.replayed:
        if (id_ := f"lifecycle.{each.rule}") in _OF_REPLAYS:
            yield under(said, each, id_)


_OF_REPLAYS = frozenset(each.id for each in replay.rules)


@rule("lifecycle.replay-incomplete", "error")
def replay_incomplete(said: Said) -> Iterator[Remark]:
    """A session is loaded, and less of the user's messages is replayed than this connection has seen."""
    if said.before and said.kind == "response" and (told := said.before.replay_of(said)):
        session, replayed = told
        if (had := session.transcript.turns_of_user) > (has := replayed.turns_of_user):
            text = f"{has} of {had} messages of the user are replayed; the entire conversation should be"
            yield whole(said, "lifecycle.replay-incomplete", text)


@rule("lifecycle.replay-differs", "warning")
def replay_differs(said: Said) -> Iterator[Remark]:
    """A session is loaded, and what is replayed is not what was said before, or not in that order."""
    if said.before and said.kind == "response" and said.version == 1 and (told := said.before.replay_of(said)):
        session, replayed = told
        if session.transcript.turns_of_user <= replayed.turns_of_user and session.transcript != replayed:
            text = (
                "the messages that are replayed are not those that were said on this connection, or not in that order"
            )
            yield whole(said, "lifecycle.replay-differs", text, severity="warning")


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
