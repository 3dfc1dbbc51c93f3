"""What to try, in the words of whatever named the servers: not each file has a `type`, a command line has options."""

from __future__ import annotations

from mcp_launch.command.inputs import Session
from mcp_launch.shapes import Report, ServerReport

__all__ = ["in_words_of"]


def in_words_of(session: Session, report: Report) -> Report:
    """The report of a session with what can be done where its servers were named."""
    return {**report, "servers": [_reworded(each, session) for each in report["servers"]]}


def _reworded(server: ServerReport, session: Session) -> ServerReport:
    failure = server["failure"]
    if failure is None:
        return server
    message = failure["message"]
    if failure["code"] == "wrong_transport":
        for kind, said in session.said.items():
            message = message.replace(f'set "type" to "{kind}"', said)
    elif failure["code"] == "timeout":
        message = message.replace("; does it need longer", "; does it need longer (--timeout)")
    return {**server, "failure": {**failure, "message": message}}
