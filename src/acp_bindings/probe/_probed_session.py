"""Sessions and their turns, with the same names for both versions of the protocol."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, cast

from acp_bindings._json import items_of, members_of
from acp_bindings.probe._check import Failed, Skipped
from acp_bindings.probe._probed_agent import SHOWN, Agent, Call, Line, Message

LONGEST_TURN = 10
"""The longest time of a turn, as a multiple of the timeout."""
AUTH_REQUIRED = -32000
_REQUEST_CANCELLED = -32800
# "author" and "see the log in /tmp" are not about a login.
_OF_LOGIN = re.compile(
    r"(?i)\bauth(?!or(?!i[sz]))|(log|sign)in\b|(?<!\bthe )\b(log(ged)?|sign(ed)?)[ -]in\b(?! ['\"]?([~/$%.]|[a-z]:\\))"
    r"|api[ _-]?key|credential|unauthor|subscription|\bprovider\b.*\bconfigured"
)
_OF_PYTHON = re.compile(r"\b(Attribute|Key|Name|Type)Error\b")
"""A mistake of the agent, although it may be about `credentials`."""


def needs_login(error: Message | None) -> bool:
    """Return True if a request was refused with this *error* because it requires a login."""
    if error is None:
        return False
    # The n of an escaped line break would belong to the next word.
    text = str(error).replace("\\n", " ")
    return error.get("code") == AUTH_REQUIRED or bool(_OF_LOGIN.search(text) and not _OF_PYTHON.search(text))


def without_login(error: Message | None, what: str) -> Skipped:
    """Return the outcome of a check that needs a login, with the *error* that says so."""
    text = shorten(json.dumps(error, ensure_ascii=False), SHOWN, placeholder="…")
    return Skipped(f"the agent requires a login for {what}; see --auth; it responded with {text}")


@dataclass(eq=False)
class Session:
    """An open session."""

    agent: Agent
    version: int
    call: Call
    """The request that opened it."""

    id: str
    cwd: str
    turns: list[Turn] = field(default_factory=list["Turn"])

    async def prompt(self, *blocks: str | Message) -> Turn:
        """Send a prompt, and return its turn, which goes on."""
        prompt = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
        call = await self.agent.begin("session/prompt", {"sessionId": self.id, "prompt": prompt})
        turn = Turn(self, call)
        self.turns.append(turn)
        return turn

    async def turn(self, *blocks: str | Message) -> Turn:
        """Send a prompt, and return its turn once it has ended."""
        return await (await self.prompt(*blocks)).ended()

    async def begun(self, text: str) -> Turn:
        """Send a prompt, and return its turn once the agent has said something, or the turn has ended."""
        turn = await self.prompt(text)
        await self.agent.wait(lambda: turn.content or turn.end)
        return turn

    async def cancel(self) -> Line:
        """Send `session/cancel`."""
        return await self.agent.notify("session/cancel", {"sessionId": self.id})

    def updates(self, after: Line) -> list[tuple[Line, Message]]:
        """Return the updates of this session after a line, with their lines."""
        return [(line, update) for line in self.agent.since(after) if (update := self.update_in(line)) is not None]

    def update_in(self, line: Line) -> Message | None:
        """Return the update in a line; None if it is another message, or of another session."""
        session_id, update = update_of(line)
        return update if session_id == self.id else None


def update_of(line: Line) -> tuple[Any, Message | None]:
    """Return the session and the update of a line; `(None, None)` if it is another message."""
    if line.fields.get("method") != "session/update":
        return None, None
    params = members_of(line.fields.get("params"))
    return params.get("sessionId"), members_of(params.get("update"))


@dataclass(eq=False)
class Turn:
    """A prompt and what came of it."""

    session: Session
    call: Call
    _updates: list[tuple[Line, Message]] = field(default_factory=list[tuple[Line, Message]])
    _requests: list[Line] = field(default_factory=list[Line])
    _idle: Line | None = None
    """The first update to `idle` after another state, in v2."""
    _has_run: bool = False
    _next: int = 0
    """The number of the first line that was not read yet."""

    def __post_init__(self) -> None:
        self._next = self.call.request.number + 1

    def _read(self) -> None:
        """Read the lines that have come since the last time."""
        lines = self.session.agent.lines
        while self._next < len(lines):
            line = lines[self._next]
            self._next += 1
            if line.sender == "client":
                continue
            if "id" in line.fields and "method" in line.fields:
                self._requests.append(line)
            if (update := self.session.update_in(line)) is None:
                continue
            self._updates.append((line, update))
            if update.get("sessionUpdate") == "state_update":
                self._has_run = self._has_run or update.get("state") != "idle"
                if self._has_run and update.get("state") == "idle":
                    self._idle = self._idle or line

    @property
    def updates(self) -> list[tuple[Line, Message]]:
        """The updates of the turn so far, with their lines."""
        self._read()
        end = self.end
        return [each for each in self._updates if not end or each[0].number <= end.number]

    @property
    def late(self) -> list[tuple[Line, Message]]:
        """The updates after the end of the turn and before the client's next message for the session."""
        if not (end := self.end):
            return []
        after = self.session.agent.lines[end.number + 1 :]
        until = next(
            (at for at, each in enumerate(after) if each.sender == "client" and self.session.id in each.text), None
        )
        return [(line, update) for line in after[:until] if (update := self.session.update_in(line)) is not None]

    @property
    def end(self) -> Line | None:
        """The line that ends the turn: the response in v1, in v2 the update to `idle`. An error ends it in both."""
        if self.session.version == 1 or self.call.error:
            return self.call.response
        self._read()
        return self._idle if self.call.response else None

    @property
    def stop_reason(self) -> Any:
        """The stop reason; None if there is none."""
        if self.session.version > 1 and self.call.code == _REQUEST_CANCELLED:
            return "cancelled"  # before the message was inserted
        if self.call.error or not (end := self.end):
            return None
        if self.session.version > 1:
            return (self.session.update_in(end) or {}).get("stopReason")
        return members_of(self.call.result).get("stopReason")

    @property
    def stated_end(self) -> str:
        """The stop reason, as a sentence."""
        return "`stopReason` is missing" if self.stop_reason is None else f"the stop reason is {self.stop_reason!r}"

    @property
    def error(self) -> Message | None:
        """The error that ended the turn: of the response or, in v2, of the update to `idle`."""
        if self.call.error or not (end := self.end):
            return self.call.error
        error = (self.session.update_in(end) or {}).get("error")
        return cast("Message", error) if isinstance(error, dict) else None

    @property
    def content(self) -> list[tuple[Line, Message]]:
        """The updates in which the agent says or does something."""
        return [each for each in self.updates if is_of_turn(each[1])]

    @property
    def text(self) -> str:
        """The text of the agent."""
        return said(self.updates, "agent_message")

    def requests(self, prefix: str) -> list[Line]:
        """Return the requests of the agent in this turn whose method begins with *prefix*."""
        self._read()
        end = self.end
        return [
            each
            for each in self._requests
            if (not end or each.number <= end.number)
            and str(each.fields.get("method")).startswith(prefix)
            and each.fields.get("params", {}).get("sessionId") == self.session.id
        ]

    @property
    def lines(self) -> list[Line]:
        """The prompt, and the line that ended it or the last one so far."""
        last = self.end or (self.updates[-1][0] if self.updates else None)
        return [self.call.request, *([last] if last else [])]

    async def ended(self) -> Turn:
        """Wait for the end of the turn.

        Raises:
            Failed: it does not end, or the prompt is answered with an error.
            Skipped: the agent requires a login.
        """
        agent = self.session.agent
        # A model may work for a while, in which only silence is too long, but not after a cancel.
        is_cancelled = any(each.fields.get("method") == "session/cancel" for each in self._acts)
        most = agent.timeout * (2 if is_cancelled else LONGEST_TURN)
        if why := await agent.wait_while_active(lambda: self.end, most=most):
            more = agent.more_time("session/prompt")
            # The advice of the check is about what the client did in the turn, such as to cancel it.
            cure, hint = ("", more) if self._acts else (f"{more} Otherwise, it must end its turns.", "")
            problem = "the turn has not ended" if agent.has_ended else f"the turn has not ended: {why}"
            raise agent.without_response(self.call, problem, self.lines, cure=cure, hint=hint)
        if needs_login(self.error):
            raise without_login(self.error, "prompts")
        if self.call.error and self.stop_reason != "cancelled":
            raise Failed("the prompt was answered with an error", self.call.lines)
        return self

    @property
    def _acts(self) -> list[Line]:
        """The notifications and the responses of the client since the prompt."""
        after = self.session.agent.lines[self.call.request.number + 1 :]
        return [each for each in after if each.sender == "client" and not each.fields.keys() >= {"id", "method"}]


def is_of_turn(update: Message) -> bool:
    """Return True for an update in which the agent says or does something."""
    return str(update.get("sessionUpdate")).startswith(_OF_TURNS)


_OF_TURNS = ("agent_", "tool_call", "plan")


def said(updates: list[tuple[Line, Message]], kind: str) -> str:
    """Return the text of the messages of a kind: `agent_message` or `user_message`."""
    text = ""
    for _, update in updates:
        if update.get("sessionUpdate") == f"{kind}_chunk":
            text += _text_of(update.get("content"))
        elif update.get("sessionUpdate") == kind:
            text += "".join(map(_text_of, items_of(update.get("content"))))
    return text


def _text_of(block: Any) -> str:
    return str(members_of(block).get("text", ""))
