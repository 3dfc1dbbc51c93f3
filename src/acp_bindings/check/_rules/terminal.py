"""Rules for terminals, which later messages refer to by their ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_bindings._json import items_of, members_of
from acp_bindings.check._conversation import ObservedMessage
from acp_bindings.check._rules.rule import remark, rules
from acp_bindings.check._turns import Terminal, embedded_terminals, text_in
from acp_bindings.setup.errors import Remark

NOT_CREATED = "no terminal with this id was created in this session"


@rules(
    {
        "error": {
            "terminal.released": "A terminal is used after it was released.",
            "terminal.unknown": "A message names a terminal that was not created.",
        }
    }
)
def reference(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the terminals that do not exist, or do not exist any longer."""
    if (session := observed.session) is None or session.phase != "open" or observed.kind == "response":
        return
    known = session.turns.terminals
    if observed.method in _USING:
        for id_ in text_in(observed.members, "terminalId"):
            if id_ not in known:
                yield remark(observed, "terminal.unknown", NOT_CREATED, "terminalId")
            elif known[id_].is_released:
                yield remark(observed, "terminal.released", "the terminal was released before", "terminalId")
    elif observed.method == "session/update" and session.turns.is_known and not session.turns.reopened:
        update = members_of(observed.members.get("update"))
        yield from (_embedded if observed.version == 1 else _in_background)(observed, known, update)


def _embedded(observed: ObservedMessage, known: dict[str, Terminal], update: dict[str, Any]) -> Iterator[Remark]:
    if update.get("sessionUpdate") not in ("tool_call", "tool_call_update"):
        return
    for id_, index in embedded_terminals(update):
        path = ("update", "content", index, "terminalId")
        if id_ not in known:
            yield remark(observed, "terminal.unknown", NOT_CREATED, *path)
        elif known[id_].is_released and not known[id_].is_shown:
            message = "the terminal was released before; add it to the tool call first"
            yield remark(observed, "terminal.released", message, *path)


def _in_background(observed: ObservedMessage, known: dict[str, Terminal], update: dict[str, Any]) -> Iterator[Remark]:
    for index, each in enumerate(items_of(update.get("background"))):
        if text_in(each, "terminalId") - known.keys():
            path = ("update", "background", index, "terminalId")
            yield remark(observed, "terminal.unknown", "send terminal_update first", *path)


_USING = frozenset(
    {"terminal/cancel", "terminal/kill", "terminal/output", "terminal/release", "terminal/wait_for_exit"}
)
