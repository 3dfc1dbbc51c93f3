"""Rules for modes, config options and commands that the agent has not offered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from acp_bindings._json import items_of, members_of
from acp_bindings.check._observed import PROMPT, UPDATE, ObservedMessage
from acp_bindings.check._rules.rule import OPENING, remark, rules
from acp_bindings.check._turn_order import Offers, text_in, values_of
from acp_bindings.setup.errors import Remark


@rules(
    {
        "warning": {
            "offer.config-option": "A config option, or its value, was never offered by the agent.",
            "offer.current-value": "The current mode, or the value of a config option, is not among those offered.",
            "offer.mode": "A mode was never offered by the agent.",
        },
        "info": {"offer.command": "A prompt begins with a command that the agent has never offered."},
    },
    on=[UPDATE, PROMPT, "session/set_mode", "session/set_config_option", *OPENING],
)
def chosen(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield what is chosen although it was not offered."""
    yield from _current(observed)
    session = observed.session
    if session is None or not session.turns.has_offers or session.phase != "open":
        return
    offers, params = session.turns.offers, observed.members
    if observed.method == UPDATE:
        update = observed.update
        if update.get("sessionUpdate") == "current_mode_update" and text_in(update, "currentModeId") - offers.modes:
            yield from _mode(observed, offers, "update", "currentModeId")
    elif observed.kind != "request":
        return
    elif observed.method == "session/set_mode":
        if text_in(params, "modeId") - offers.modes:
            yield from _mode(observed, offers, "modeId")
    elif observed.method == "session/set_config_option":
        yield from _option(observed, offers)
    else:
        yield from _command(observed, offers)


def _current(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the current values, in a response or an update, that are not among the values offered with them."""
    path = ["update"] if observed.method == UPDATE else list[str]()
    offered = observed.update if path else observed.members
    modes = members_of(offered.get("modes"))
    known = {id_ for each in items_of(modes.get("availableModes")) for id_ in text_in(each, "id")}
    if text_in(modes, "currentModeId") - known:
        message = f"it is not one of availableModes: {_listed(known)}"
        yield remark(observed, "offer.current-value", message, *path, "modes", "currentModeId")
    for index, option in enumerate(items_of(offered.get("configOptions"))):
        values = set(values_of(members_of(option)))
        if members_of(option).get("type") == "select" and text_in(option, "currentValue") - values:
            where = ("configOptions", index, "currentValue")
            message = f"it is not one of the options: {_listed(values)}"
            yield remark(observed, "offer.current-value", message, *path, *where)


def _mode(observed: ObservedMessage, offers: Offers, *path: str) -> Iterator[Remark]:
    message = f"the agent has not offered this mode; it has offered {_listed(offers.modes)}"
    yield remark(observed, "offer.mode", message, *path)


def _option(observed: ObservedMessage, offers: Offers) -> Iterator[Remark]:
    for id_ in text_in(observed.members, "configId"):
        if id_ not in offers.options:
            message = f"the agent has not offered this config option; it has offered {_listed(offers.options)}"
            yield remark(observed, "offer.config-option", message, "configId")
        elif (values := offers.options[id_]) is not None and not text_in(observed.members, "value") & values:
            message = f"the agent has not offered this value; it has offered {_listed(values)}"
            yield remark(observed, "offer.config-option", message, "value")


def _command(observed: ObservedMessage, offers: Offers) -> Iterator[Remark]:
    first = members_of(next(iter(items_of(observed.members.get("prompt"))), None)).get("text")
    found = _COMMAND.match(first) if isinstance(first, str) else None
    # Without any command, the text is for the model.
    if offers.commands and found and found[1] not in offers.commands:
        message = f"the agent has not offered this command; it has offered {_listed(offers.commands)}"
        yield remark(observed, "offer.command", message, "prompt", 0)


_COMMAND = re.compile(r"/([^\s/]+)(?=\s|$)")
"""A command at the beginning of a prompt, but not a path."""


def _listed(names: Collection[str]) -> str:
    """Return the first of some names, or that there are none."""
    shown = ", ".join(sorted(names)[:_MOST_LISTED])
    return f"{shown}, …" if len(names) > _MOST_LISTED else shown or "none"


_MOST_LISTED = 5
