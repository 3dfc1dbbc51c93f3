"""The state of a session's turns: tool calls, terminals and plans, and what the agent has offered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from acp_bindings._json import items_of, members_of

OF_TURNS = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")
"""The updates of v1 that belong to a turn. The others may be sent at any time."""

_FINAL = ("completed", "failed", "cancelled")
"""The states in which a tool call has ended."""


@dataclass
class Terminal:
    """A terminal. In v2 the agent runs it, in v1 the client, or the agent if the client shows it (`own_terminal`)."""

    line: int
    """The line in which the agent has requested it; 0 if the agent runs it."""
    is_released: bool = False
    is_shown: bool = False
    """True if it was part of a tool call before its release."""


class Unfinished(NamedTuple):
    """Something that a session still lacks at the end of the conversation."""

    what: Literal["run", "end", "message", "release"]
    line: int
    """The line that made it necessary."""


class Offers:
    """The offers of an agent so far. Withdrawn offers are included, because the client may not know that yet."""

    def __init__(self) -> None:
        self.modes: set[str] = set()
        self.options: dict[str, set[str] | None] = {}
        """The values of each config option; None if it is not a selection."""
        self.commands: set[str] = set()

    def take(self, offered: dict[str, Any]) -> None:
        """Add the offers in a response or an update."""
        for mode in items_of(members_of(offered.get("modes")).get("availableModes")):
            self.modes |= text_in(mode, "id")
        for option in items_of(offered.get("configOptions")):
            for id_ in text_in(option, "id") | text_in(option, "configId"):
                values = set(values_of(option)) if isinstance(option.get("options"), list) else None
                self.options[id_] = values if values is None else values | (self.options.get(id_) or set())
        for command in items_of(offered.get("availableCommands")):
            self.commands |= text_in(command, "name")


@dataclass
class Turns:
    """The turns of one session, and what they refer to."""

    is_known: bool = False
    """True if all tool calls and terminals are known, because the session was created or replayed on this connection.

    The others are only checked for what is certain without that."""
    has_offers: bool = False
    """True if the response that opened the session is known."""
    offers: Offers = field(default_factory=Offers)
    tool_calls: dict[str, bool] = field(default_factory=dict[str, bool])
    """The tool calls that were mentioned. True if a `tool_call` began it."""
    unfinished: dict[str, None] = field(default_factory=dict[str, None])
    """The tool calls of this turn that have not ended."""
    terminals: dict[str, Terminal] = field(default_factory=dict[str, Terminal])
    plans: set[str] = field(default_factory=set[str])
    open_prompts: set[int] = field(default_factory=set[int])
    """The lines of the prompts that have no response yet. An agent may refuse a second one, and the turn goes on."""
    is_over: bool = False
    """True if the last message of the session that belongs to a turn is the response to a prompt of v1."""
    was_late: bool = False
    """True if an update has come after that response."""
    reopened: bool = False
    """True from the response that loads or resumes the session to the next prompt."""
    repeats: bool = False
    """True if the agent has sent history since then."""
    refused: bool = False
    """True if the user has refused something in this turn, for which some agents end it."""
    began: int = 0
    """The line in which the turn has begun: the prompt, or in v2 the state if there was no prompt."""
    prompted: int = 0
    """The line of a prompt of v2 for which the agent does not run yet; 0 if there is none."""
    inserted: bool = False
    """True if the agent has responded to that prompt."""
    state: str = "idle"
    """The state in v2."""
    user_messages: set[str] = field(default_factory=set[str])
    """The messages of the user in v2."""
    missing: dict[str, int] = field(default_factory=dict[str, int])
    """The messages of v2 that the agent has acknowledged and not sent, with the line of the response."""

    def update(self, update: dict[str, Any], *, line: int, is_history: bool, version: int) -> None:
        """Take an update."""
        kind = update.get("sessionUpdate")
        if self.is_over and not is_history and kind in OF_TURNS:
            self.was_late = True
        if kind in ("tool_call", "tool_call_update", "tool_call_content_chunk"):
            self.repeats = self.repeats or (self.reopened and self.begins_again(update))
            self._tool_call(update, begins=kind == "tool_call", is_history=is_history)
        elif kind == "state_update" and version > 1:
            self._state(update, line)
        elif kind in ("user_message", "user_message_chunk"):
            self.repeats = self.repeats or self.reopened
            for id_ in text_in(update, "messageId"):
                self.user_messages.add(id_)
                self.missing.pop(id_, None)
        elif kind in ("terminal_update", "terminal_output_chunk"):
            for id_ in text_in(update, "terminalId"):
                self.terminals.setdefault(id_, Terminal(0))
        elif kind == "plan_update":
            self.plans |= text_in(update.get("plan"), "planId")
        elif kind == "plan_removed":
            self.plans -= text_in(update, "planId")
        elif kind in ("available_commands_update", "config_option_update"):
            self.offers.take(update)

    def begins_again(self, update: dict[str, Any]) -> bool:
        """Return True if an update begins a tool call of v1 that has begun before."""
        is_first = update.get("sessionUpdate") == "tool_call"
        return is_first and any(self.tool_calls.get(id_) for id_ in text_in(update, "toolCallId"))

    def _tool_call(self, update: dict[str, Any], *, begins: bool, is_history: bool) -> None:
        for id_ in text_in(update, "toolCallId"):
            self.tool_calls[id_] = begins or self.tool_calls.get(id_, False)
            if update.get("status") in _FINAL:
                self.unfinished.pop(id_, None)
            elif begins and not is_history:
                self.unfinished[id_] = None
        for id_ in own_terminal(update):  # which the agent need not release, and may show at any time
            self.terminals.setdefault(id_, Terminal(0, is_released=True, is_shown=True))
        for id_, _ in embedded_terminals(update):
            if id_ in self.terminals:
                self.terminals[id_].is_shown = True

    def _state(self, update: dict[str, Any], line: int) -> None:
        state = str(update.get("state"))
        if state != "idle":
            if self.state == "idle" and not self.prompted:
                self.began, self.refused = line, False
            self.prompted = 0
        self.state = state

    def request(self, method: str, params: dict[str, Any], *, line: int, version: int) -> None:
        """Take a request in the session."""
        if method == "session/prompt":
            self.reopened = self.is_over = self.was_late = self.inserted = False
            if self.state == "idle" if version > 1 else not self.open_prompts:
                self.began, self.refused = line, False
            self.open_prompts.add(line)
            if version > 1 and self.state == "idle":
                self.prompted = line
        elif method == "session/request_permission":
            for id_ in tool_call_of(params):
                self.tool_calls.setdefault(id_, False)
        elif method == "terminal/release":
            for id_ in text_in(params, "terminalId") & self.terminals.keys():
                self.terminals[id_].is_released = True

    def response(
        self, method: str, params: dict[str, Any], result: dict[str, Any] | None, *, line: int, asked: int, version: int
    ) -> None:
        """Take the response to a request in the session, which came in the line *asked*. None is an error."""
        if method == "session/prompt":
            # A prompt before one that has had its turn is not answered any more.
            had_turn = result is not None and result.get("stopReason") != "cancelled"
            self.open_prompts -= {each for each in self.open_prompts if each == asked or (had_turn and each < asked)}
            self._prompt_response(result, line, version)
        elif method == "session/request_permission":
            allowed = {id_ for each in items_of(params.get("options")) for id_ in _allowing(each)}
            self.refused = self.refused or not text_in(members_of(result).get("outcome"), "optionId") & allowed
        elif method == "elicitation/create":
            self.refused = self.refused or members_of(result).get("action") != "accept"
        elif method == "terminal/create":
            self.terminals |= {id_: Terminal(asked) for id_ in text_in(result, "terminalId")}
        elif method == "session/set_config_option" and result is not None:
            self.offers.take(result)

    def _prompt_response(self, result: dict[str, Any] | None, line: int, version: int) -> None:
        if version == 1:
            self.is_over, self.was_late = not self.open_prompts, False
            if self.is_over or result is not None:
                self.unfinished.clear()
        elif result is None:
            self.prompted = 0
        else:
            self.inserted = True
            for id_ in text_in(result, "messageId") - self.user_messages:
                self.missing[id_] = line

    def open(self, result: dict[str, Any], *, is_known: bool) -> None:
        """Take the response that creates the session, which *is_known* from then on."""
        self.is_known, self.has_offers = is_known, True
        self.offers.take(result)

    def reopen(self, result: dict[str, Any], *, is_replayed: bool) -> None:
        """Take the response that loads or resumes the session."""
        self.open(result, is_known=self.is_known or is_replayed)
        self.reopened, self.is_over, self.repeats = True, False, False
        self.open_prompts.clear()

    def at_end(self, *, cancelled: int) -> Iterator[Unfinished]:
        """Yield what is left to do if the conversation ends now.

        *cancelled* is the line in which the client last cancelled a turn of the session, or 0.
        """
        if self.state != "idle":
            yield Unfinished("end", self.began)
        elif self.inserted and self.prompted > cancelled:
            yield Unfinished("run", self.prompted)
        else:
            yield from (Unfinished("message", line) for line in self.missing.values())
        if self.is_over and self.terminals:
            kept = (each.line for each in self.terminals.values() if not each.is_released)
            yield from (Unfinished("release", line) for line in kept)


def tool_call_of(params: dict[str, Any]) -> set[str]:
    """Return the id of the tool call for which a permission is requested, or nothing."""
    subject = members_of(params.get("subject"))
    return text_in(params.get("toolCall") or subject.get("toolCall"), "toolCallId")


def _allowing(option: Any) -> set[str]:
    return text_in(option, "optionId") if str(members_of(option).get("kind")).startswith("allow") else set()


def text_in(value: Any, name: str) -> set[str]:
    """Return the string in a field, or nothing."""
    text = members_of(value).get(name)
    return {text} if isinstance(text, str) else set()


def values_of(option: dict[str, Any]) -> Iterator[str]:
    """Yield the values of a config option, in groups or not."""
    for each in items_of(option.get("options")):
        yield from text_in(each, "value")
        yield from values_of(members_of(each))


def own_terminal(update: dict[str, Any]) -> set[str]:
    """Return the terminal that an agent of v1 runs itself, or nothing.

    Clients such as Zed advertise `terminal_output` in the `_meta` of their capabilities, and show what follows there.
    """
    return text_in(members_of(update.get("_meta")).get("terminal_info"), "terminal_id")


def embedded_terminals(update: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the terminals in the content of a tool call, with their indices."""
    for index, each in enumerate(items_of(update.get("content"))):
        if members_of(each).get("type") == "terminal":
            for id_ in text_in(each, "terminalId"):
                yield id_, index
