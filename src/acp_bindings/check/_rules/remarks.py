"""Rules for what `acp_bindings.setup` remarks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules.rule import rules
from acp_bindings.setup._auth import login_remarks
from acp_bindings.setup._peer import AgentPeer, initialize_remarks
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._servers import servers_remarks
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark


@rules(
    {
        "error": {
            "capability.auth-terminal": "The agent offers a login in a terminal, but the client has not advertised "
            "one.",
            "lifecycle.replay-after-answer": "History is sent after the response to the request for it.",
            "lifecycle.replay-on-resume": "History is sent although `session/resume` did not request it.",
            "lifecycle.session-id-altered": "A session is loaded by an id that differs from its own.",
            "lifecycle.update-after-close": "An update is sent for a closed session.",
            "path.cwd-mismatch": "A session is loaded with a `cwd` that differs from its own.",
            "schema.header-line-break": "A header of an MCP server contains a line break.",
            "schema.server-list": "`args`, `env` or `headers` of an MCP server is missing; v1 requires it.",
            "schema.server-map": "`env` or `headers` of an MCP server is a map instead of a list of `{name, value}`.",
            "schema.server-type": "An MCP server lacks a `type`, or its type does not exist in this version.",
        },
        "warning": {
            "capability.other-version": "A field of `initialize` belongs to another version, so that it is ignored.",
            "capability.sse-deprecated": "An MCP server uses SSE, which MCP has deprecated and v2 does not support.",
            "capability.unknown": "A capability is misspelled, such as `mcp` for `mcpCapabilities`, and is ignored.",
            "lifecycle.load-before-prompt": "A session without a prompt is loaded; many agents have not stored it.",
            "lifecycle.no-info": "A client or an agent of v1 does not send its name and version, which v2 requires.",
            "path.command": "The `command` of an MCP server is not an absolute path; agents refuse it, or look for it "
            "in different places.",
            "schema.duplicate-env": "`env` of an MCP server contains a variable twice.",
            "schema.duplicate-server": "Two MCP servers of a request have the same name; an error in v2.",
            "schema.server-name": "An MCP server has a name that some agents refuse.",
            "schema.transport-header": "A header of an MCP server is set by the transport itself.",
        },
    }
)
def known(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the remarks on a message, under the ids of these rules."""
    for each in _remarks(observed):
        # A recording may lack what other remarks are about, such as an early update.
        if id_ := _IDS.get(each.rule):
            yield replace(each, path=(*observed.at, *each.path), rule=id_)


_IDS = {each.id.partition(".")[2]: each.id for each in known.rules} | {
    "relative-command": "path.command",
    "terminal-login": "capability.auth-terminal",
    "unknown-capability": "capability.unknown",
}
"""The id of the rule for each kind of remark, whose name is usually the same."""


def _remarks(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the remarks on a message, with paths in its body."""
    entries = [entry for entry, _ in observed.servers]
    for each in servers_remarks(entries, version=observed.version, path=()):
        index, *rest = each.path
        _, path = observed.servers[cast("int", index)]
        yield replace(each, path=(*path, *rest))
    yield from _on_history(observed)
    if observed.typed is None:
        return
    if side := _SIDES.get(observed.type_name or ""):
        for each in initialize_remarks(observed.typed, side=side, version=observed.version):
            yield replace(each, severity="warning")
    asked = observed.request
    if observed.type_name == "InitializeResponse" and asked and (client := observed.before.client_of(asked.body)):
        yield from login_remarks(AgentPeer.of(observed.protocol, observed.typed), client)
    if observed.type_name in ("LoadSessionRequest", "ResumeSessionRequest"):
        record = SessionRecord.of(observed.typed)
        if session := observed.before.sessions.get(record.session_id):
            record = replace(record, prompted=session.prompted)
        yield from record.load_remarks(listed=observed.before.listing(record.session_id))


def _on_history(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the remarks of `ReplayCollector`, and late history that begins with a known tool call."""
    turns = observed.session.turns if observed.session else None
    if turns and turns.reopened and not turns.repeats and turns.begins_again(observed.update):
        message = "this tool call is history, which must be sent before the response to the request"
        yield Remark(("update",), "replay-after-answer", message, "error")
    for each in observed.replayed:
        if not (each.rule == "replay-after-answer" and turns and turns.repeats):
            yield each


_SIDES: dict[str, Side] = {"InitializeRequest": "client", "InitializeResponse": "agent"}
