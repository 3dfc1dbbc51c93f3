"""Rules for terminals, which later messages refer to by their ids."""

from __future__ import annotations

from collections.abc import Iterator

from acp_bindings._json import items_of
from acp_bindings.check._observed import UPDATE, ObservedMessage
from acp_bindings.check._rules.rule import remark, rules
from acp_bindings.check._turn_order import Terminal, embedded_terminals, own_terminal, text_in
from acp_bindings.setup.errors import Remark

_USING = frozenset(
    {"terminal/cancel", "terminal/kill", "terminal/output", "terminal/release", "terminal/wait_for_exit"}
)

NOT_CREATED = "no terminal with this id was created in this session"


@rules(
    {
        "error": {
            "terminal.released": "A terminal is used after it was released.",
            "terminal.unknown": "A message names a terminal that was not created.",
        }
    },
    on=[UPDATE, *_USING],
)
def reference(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the terminals that do not exist, or do not exist any longer."""
    if (session := observed.session) is None or session.phase != "open" or observed.kind == "response":
        return
    known = session.turns.terminals
    if observed.method != UPDATE:
        for id_ in text_in(observed.members, "terminalId"):
            if id_ not in known:
                yield remark(observed, "terminal.unknown", NOT_CREATED, "terminalId")
            elif known[id_].is_released:
                yield remark(observed, "terminal.released", "the terminal was released before", "terminalId")
    elif session.turns.is_known and not session.turns.reopened:
        yield from (_embedded if observed.version == 1 else _in_background)(observed, known)


def _embedded(observed: ObservedMessage, known: dict[str, Terminal]) -> Iterator[Remark]:
    if observed.update.get("sessionUpdate") not in ("tool_call", "tool_call_update"):
        return
    client = observed.before.client
    own = own_terminal(observed.update) if client is None or client.ext("terminal_output") else set[str]()
    for id_, index in embedded_terminals(observed.update):
        path = ("update", "content", index, "terminalId")
        if id_ not in known and id_ not in own:
            yield remark(observed, "terminal.unknown", NOT_CREATED, *path)
        elif id_ in known and known[id_].is_released and not known[id_].is_shown:
            message = "the terminal was released before; add it to the tool call first"
            yield remark(observed, "terminal.released", message, *path)


def _in_background(observed: ObservedMessage, known: dict[str, Terminal]) -> Iterator[Remark]:
    for index, each in enumerate(items_of(observed.update.get("background"))):
        if text_in(each, "terminalId") - known.keys():
            path = ("update", "background", index, "terminalId")
            yield remark(observed, "terminal.unknown", "send terminal_update first", *path)
