"""The broken agents: each name is the check that is meant for it and, after a slash, a variant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from acp_bindings.probe import CHECKS

SOURCE = Path(__file__).with_name("agent.py")
# Imported, because Python compiles a script each time.
AGENT = [
    sys.executable,
    "-I",
    "-S",
    "-c",
    f"import sys; sys.path[:0] = [{str(SOURCE.parent)!r}]; import agent; agent.main()",
]

NAMES = """
negotiation.initialize
negotiation.initialize/version
negotiation.response
negotiation.info
negotiation.newer-version
negotiation.newer-version/refused
negotiation.version-zero
negotiation.negative-version
negotiation.text-version
negotiation.missing-version
negotiation.missing-version/stuck
negotiation.unknown-fields
negotiation.unknown-fields/differs
negotiation.before-initialize
negotiation.before-initialize/works
negotiation.initialize-twice
messages.unknown-method
messages.unknown-method/code
messages.unknown-method/silent
messages.unknown-notification
messages.unknown-notification/cancel
messages.unasked-response
messages.unasked-response/answer
messages.ids
messages.ids/type
messages.ids/zero
messages.unknown-fields
messages.invalid-params
messages.invalid-params/code
messages.malformed
messages.malformed/silent
messages.malformed/code
messages.not-a-message
messages.not-a-message/silent
messages.batch
messages.batch/silent
messages.duplicate-id
messages.huge-line
messages.split-line
messages.crlf
messages.empty-line
capabilities.load-unadvertised
capabilities.load-unadvertised/works
capabilities.list-unadvertised
capabilities.resume-unadvertised
capabilities.close-unadvertised
capabilities.delete-unadvertised
capabilities.logout-unadvertised
auth.methods
auth.unknown-method
auth.required
auth.login
sessions.new
sessions.new/refused
sessions.unique
sessions.relative-cwd
sessions.missing-servers
sessions.omitted-servers
sessions.additional-directories
sessions.unknown
sessions.missing-prompt
sessions.list
sessions.list/twice
sessions.list/relative
sessions.list-by-cwd
sessions.list-by-cwd/none
sessions.load-unknown
sessions.load
sessions.load/empty
sessions.load/late
sessions.load-equal
sessions.load-equal/user
sessions.resume
sessions.resume/refused
sessions.resume/state
sessions.resume/unusable
sessions.close
sessions.close/refused
sessions.close-in-turn
sessions.delete
sessions.modes
sessions.modes/current
sessions.modes/refused
sessions.config-options
sessions.config-options/current
sessions.config-unknown
sessions.config-unknown/value
servers.stdio
servers.stdio/uninitialized
servers.stdio-environment
servers.stdio-environment/args
servers.listed
servers.http
servers.http/uninitialized
servers.http-headers
servers.http-headers/later
servers.sse
servers.sse/uninitialized
servers.sse-headers
servers.sse-headers/later
servers.unadvertised
servers.unadvertised/code
servers.broken
servers.broken/refused
prompts.turn
prompts.turn/cancelled
prompts.turn/open
prompts.turn/without-reason
prompts.turn/link
prompts.output
prompts.output/unknown
prompts.user-message
prompts.user-message/missing
prompts.late-updates
prompts.image
prompts.audio
prompts.embedded-resource
prompts.unknown-content
prompts.unknown-content/code
prompts.cancel-at-once
prompts.cancel
prompts.cancel/deaf
prompts.cancel/error
prompts.cancel/end-turn
prompts.cancel-twice
prompts.after-cancel
prompts.cancel-idle
prompts.two-sessions
prompts.two-sessions/other
prompts.two-prompts
permission.question
permission.question/kind
permission.allow
permission.reject
permission.reject/error
permission.cancelled
permission.error
permission.error/open
client-methods.paths
client-methods.paths/relative
client-methods.release
client-methods.refused
client-methods.refused/open
client-methods.unadvertised
ending.stdin
ending.stdin/status
ending.in-turn
ending.children
ending.children/sleep
ending.sigterm
ending.killed
ending.killed/server
conversation.capability
conversation.leniency
conversation.lifecycle
conversation.offer
conversation.path
conversation.permission
conversation.schema
conversation.stdout
conversation.terminal
conversation.tool-call
conversation.turn
""".split()  # noqa: SIM905 - easier to read

ONLY_IN = {
    "sessions.resume/state": (2,),
    "prompts.turn/without-reason": (2,),
    "conversation.tool-call": (1,),
    "conversation.terminal": (1,),
}
"""What can only be done wrong in one version, apart from what the checks are only for."""

WARNED = """
auth.required
capabilities.load-unadvertised/works
client-methods.refused
conversation.leniency
conversation.offer
conversation.turn
ending.sigterm
ending.stdin/status
messages.batch/silent
messages.invalid-params/code
messages.malformed/code
messages.malformed/silent
messages.not-a-message/silent
negotiation.before-initialize/works
prompts.cancel/end-turn
prompts.output
prompts.output/unknown
prompts.turn/without-reason
servers.broken/refused
servers.listed
sessions.missing-servers
sessions.relative-cwd
""".split()  # noqa: SIM905 - easier to read
"""What is a warning; the rest is a failure."""

WARNED_IN_1 = ("negotiation.info", "servers.stdio", "sessions.unknown")
"""What is a warning in v1, and a failure in v2, which requires it."""

WITH = {"auth.login": {"auth": "none"}}
"""Options of the probe."""

WITHOUT = {
    # Whether a tool is called is up to the agent.
    "servers.called",
}
"""Checks that no agent can fail."""


class Mutant(NamedTuple):
    """A broken agent in one version."""

    name: str
    version: int

    @property
    def check(self) -> str:
        """The id of the check that is meant for it."""
        return self.name.partition("/")[0]

    @property
    def status(self) -> str:
        """The outcome of that check."""
        is_warned = self.name in WARNED or (self.version == 1 and self.name in WARNED_IN_1)
        return "warn" if is_warned else "fail"

    @property
    def command(self) -> list[str]:
        """Its command."""
        return [*AGENT, self.name]


_VERSIONS = {each.id: each.versions for each in CHECKS}
MUTANTS = [Mutant(name, version) for name in NAMES for version in ONLY_IN.get(name, _VERSIONS[name.partition("/")[0]])]
