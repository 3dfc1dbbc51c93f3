"""The findings of a conversation, one line at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic_core import to_json

from acp_bindings._json import members_of
from acp_bindings._problems.mistakes import part_at
from acp_bindings.check._conversation import Conversation, Unanswered
from acp_bindings.check._inputs import Line, is_event, line_of
from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules import END, UNFINISHED, looks_on
from acp_bindings.check._rules.lifecycle import AFTER_CANCEL, CANCELLED
from acp_bindings.check._rules.rule import Rule
from acp_bindings.errors import Path, format_path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import name_of
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Severity


@dataclass(frozen=True, kw_only=True)
class Found:
    """A broken rule, a likely mistake or a hint. Only `value` may contain a secret."""

    rule: str
    """The id of the rule: its family, a dot and its name."""
    severity: Severity
    message: str
    """The problem and what to do."""
    path: Path = ()
    """The path in the JSON of the line, or in the document, by wire name and index."""
    line: int | None = None
    """The line in the input, from 1; None if it is about the whole input."""
    sender: Side | None = None
    """The sender, in a conversation."""
    method: str | None = None
    """The method of the message, or of the request that it answers."""
    value: str | None = None
    """The JSON at `path`, which may be a secret. It is only set if the check has `show_values=True`."""

    def __str__(self) -> str:
        """`3: error[capability.load]: …`, in the form of compilers. Put the file name and a colon before it."""
        line = f"{self.line}: " if self.line is not None else " "
        value = f" (it is {self.value})" if self.value is not None else ""
        return f"{line}{self.severity}[{self.rule}]: {format_path(self.path)}{self.message}{value}"


MOST_UNANSWERED = 20
"""The maximum number of requests without a response that are reported."""

MOST_NO_JSON = 20
"""The maximum number of lines without valid JSON that are reported one by one."""

LONGEST_VALUE = 200
"""The maximum number of characters of a value that are shown."""


class LiveCheck:
    """The check of a conversation while it happens, such as by a program between client and agent.

        check = LiveCheck()
        for line in lines:
            report(check.feed(line))
        report(check.finish())

    It uses the same rules as `Check`.
    """

    def __init__(
        self, protocol: ProtocolPackage | None = None, *, show_values: bool = False, in_list: bool = False
    ) -> None:
        """Start before the first line.

        Args:
            protocol: the protocol package to use if the conversation has no `initialize`; by default `v1`.
            show_values: add the value at each path to the findings. It may be a secret.
            in_list: the messages are items of a JSON list instead of lines.
        """
        self.messages = 0
        """The number of messages."""
        self.read_as: list[str] = []
        """The protocol packages by which they were read."""
        self.sender: Side | None = None
        """The sender of the last message, which may be inferred."""
        self._lines = 0
        """The number of the last line."""
        self._conversation = Conversation(protocol)
        self._show_values = show_values
        self._in_list = in_list
        self._not_json = 0
        self._not_reported: int | None = None
        """The number of the first line that is not JSON and was not reported."""

    def feed(self, line: bytes) -> list[Found]:
        """Return the findings for the next line of a recording: a message, possibly in a wrapper, or an event.

        Each line is counted. Events of a recording and empty lines have no findings.
        """
        self._lines += 1
        return [*self.hear(line_of(line), self._lines)] if line.strip() else []

    def hear(self, line: Line, number: int) -> Iterator[Found]:
        """Yield the findings for a line that is parsed already, in place of `feed`."""
        self._lines = number
        if is_event(line.value):
            if "end" in line.value:
                self._conversation.exit_status = members_of(line.value["end"]).get("exitStatus")
            self._conversation.has_left = self._conversation.has_left or "closed" in line.value
            if "dropped" in line.value:
                self._conversation.skip()
            return
        observed = self._conversation.hear(line, number=number)
        self.messages += 1
        self.sender = observed.sender
        if (read_as := name_of(observed.protocol)) not in self.read_as:
            self.read_as.append(read_as)
        self._not_json += line.value is None
        if line.value is not None or self._not_json <= MOST_NO_JSON:
            yield from found_in(observed, number, show_values=self._show_values)
        elif self._not_reported is None:
            self._not_reported = number
        self._conversation.take(observed)

    def finish(self) -> list[Found]:
        """Return the findings that are only known at the end of the conversation, such as requests without a response.

        Do not call `feed` after this.
        """
        return [*self._at_end()]

    def _at_end(self) -> Iterator[Found]:
        if self._not_reported is not None:
            message = f"this line and {self._not_json - MOST_NO_JSON - 1} more are not JSON either"
            yield Found(rule="schema.json", severity="error", message=message, line=self._not_reported)
        # Mistakes come first, so that the limit does not drop them.
        unanswered = sorted(self._conversation.unanswered(), key=lambda each: each.cancelled is None)[:MOST_UNANSWERED]
        for each in sorted(unanswered, key=lambda each: each.request.line):
            yield self._unanswered(each)
        for what, line in self._conversation.unfinished()[:MOST_UNANSWERED]:
            rule, message = UNFINISHED[what]
            if what == "end":
                rule, message = self._explained(rule, message, "the session was idle")
            yield self._at(line, rule, message, "client" if what == "run" else "agent")

    def _unanswered(self, each: Unanswered) -> Found:
        """Return the finding for a request without a response."""
        request, rule = each.request, END
        if each.cancelled:
            rule = AFTER_CANCEL
            message = (
                f"the client cancelled the prompt in line {each.cancelled} and has not responded to this; {CANCELLED}"
            )
        elif each.ended:
            message = "it has no response on its connection"
        else:
            more, what = self._lines - request.line, "message" if self._in_list else "line"
            where = f"in the {f'{more} {what}s' if more > 1 else what} after it" if more else "here"
            rule, message = self._explained(rule, f"it has no response {where}", "the response")
        return self._at(request.line, rule, message, request.sender, request.method)

    def _explained(self, rule: Rule, missing: str, before: str) -> tuple[Rule, str]:
        """Return the rule and the message for what is *missing* at the end, with the reason if the recording has it."""
        status = self._conversation.exit_status
        ends = ["the client closed the connection"] if self._conversation.has_left else []
        if status or (status is not None and not ends):
            ends.append(f"the agent exited with status {status}")
        # After a gap, it may be in the gap.
        if not ends or self._conversation.begun_before:
            return rule, f"{missing}; was the recording cut off?"
        return (replace(rule, severity="warning") if status else rule), f"{' and '.join(ends)} before {before}"

    def _at(self, line: int, rule: Rule, message: str, sender: Side | None, method: str | None = None) -> Found:
        """Return the finding of *rule* for a whole line."""
        path = (line - 1,) if self._in_list else ()
        return Found(
            rule=rule.id, severity=rule.severity, message=message, path=path, line=line, sender=sender, method=method
        )


def found_in(observed: ObservedMessage, number: int | None, *, show_values: bool) -> Iterator[Found]:
    """Yield the findings of all rules for a message."""
    covered: set[Path] = set()
    for look in looks_on(observed.method):
        for each in look.find(observed):
            if each.rule.startswith("schema."):
                around = (each.path[:length] for length in range(len(each.path) + 1))
                if each.rule in _GENERAL and not covered.isdisjoint(around):
                    continue
                covered.add(each.path)
                if each.rule == "schema.server-type":
                    # It is read as another type than intended, so the missing fields of that type are not reported.
                    covered.update((*each.path[:-1], name) for name in _BY_TYPE)
            yield Found(
                rule=each.rule,
                severity=each.severity,
                message=each.message,
                path=each.path,
                line=number,
                sender=observed.sender,
                method=observed.method,
                value=_value_at(observed, each.path) if show_values else None,
            )


_GENERAL = frozenset({"schema.params", "schema.result", "schema.payload"})
"""The rules that do not report a value if a more specific rule has reported it."""


_BY_TYPE = ("command", "args", "env", "url", "headers")
"""The fields of an MCP server that depend on its type."""


def _value_at(observed: ObservedMessage, path: Path) -> str | None:
    """Return the JSON at *path*, cut to `LONGEST_VALUE`; None if it has no value, and for a whole message."""
    if path == observed.top:
        return None
    try:
        text = to_json(part_at(observed.message, path[len(observed.top) :])).decode()
    except (LookupError, TypeError, ValueError):
        return None
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
