"""The check of one input: it is read for what it is, and every rule looks at every message in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from pydantic_core import to_json

from acp_bindings._json.shapes import items_of
from acp_bindings.check.conversation import Conversation, Unanswered
from acp_bindings.check.found import Found
from acp_bindings.check.inputs import Document, Numbered, Unusable, read_input
from acp_bindings.check.lines import Line, is_message, unwrap
from acp_bindings.check.payloads import Type, UnknownType, said_as, type_named, types_of
from acp_bindings.check.places import Places
from acp_bindings.check.rules import END, LOOKS
from acp_bindings.check.rules.lifecycle import AFTER_CANCEL, CANCELLED
from acp_bindings.check.said import Said
from acp_bindings.errors import Path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup.remarks import Remark
from acp_bindings.setup.versions import name_of, package_named

InputKind: TypeAlias = Literal["conversation", "messages", "payloads"]

MOST_UNANSWERED = 20
"""How many requests without an answer are told."""

MOST_NO_JSON = 20
"""How many lines of a conversation that are no JSON are told one by one."""

LONGEST_VALUE = 200
"""How many characters of what stands at a place are shown."""


class Check:
    """The check of one input: iterate over it for what is found, as it is found; then it knows what there was.

    A conversation is read a line at a time, however long it is.
    """

    def __init__(
        self,
        raw: Iterable[bytes],
        *,
        protocol: ProtocolPackage | None = None,
        type: str | None = None,  # noqa: A002
        show_values: bool = False,
    ) -> None:
        """The check of what the lines in *raw* hold, such as a file that is open for reading bytes.

        Args:
            raw: lines, or pieces that end where lines do.
            protocol: what is spoken where no `initialize` tells it; `v1` unless it is given.
            type: the name of the type of each payload, such as `v1.NewSessionRequest`; without it its members tell.
            show_values: let findings have what stands at each place, which may be a secret.

        Raises:
            Unusable: the input is empty, is no JSON, or is no text in UTF-8; or there is no such type.
        """
        self.kind: InputKind = "payloads"
        self.messages = 0
        """How many messages or payloads there were."""
        self.read_as: list[str] = []
        """By which protocol packages, or as which types, they were read."""
        self.errors = 0
        self.warnings = 0
        self.unusable: str | None = None
        """Why it could not be used to its end."""
        self._protocol = protocol
        self._show_values = show_values
        try:
            self._type = None if type is None else type_named(type, protocol=protocol or package_named("v1"))
        except UnknownType as error:
            raise Unusable(str(error)) from None
        self._input = read_input(raw, of_messages=type is None)

    def __iter__(self) -> Iterator[Found]:
        """What is found, in the order of the input; once.

        Raises:
            Unusable: it cannot be told what a payload is.
        """
        for each in self._all():
            self.errors += each.severity == "error"
            self.warnings += each.severity == "warning"
            yield each

    def _all(self) -> Iterator[Found]:
        if not isinstance(self._input, Document):
            if self._type is None:
                yield from self._conversation(self._input)
            else:
                for number, line in self._input:
                    yield from self._one(line, number)
            return
        value = self._input.value
        if not isinstance(value, list) or self._is_list_of_servers(value):
            yield from self._placed(self._one(unwrap(self._input.text, value), None))
            return
        items = [_item(each, index) for index, each in enumerate(items_of(self._input.value))]
        if self._type is None and _begins_conversation(items):
            yield from self._placed(self._conversation(enumerate(items, start=1)))
        else:
            yield from self._placed(each for item in items for each in self._one(item, None))

    def _placed(self, found: Iterable[Found]) -> Iterator[Found]:
        """What is found in a document, each with its line, by which they are sorted."""
        places = Places(cast("Document", self._input).text)
        placed = [replace(each, line=places.line_of(each.path)) for each in found]
        yield from sorted(placed, key=lambda each: each.line or 0)

    def _conversation(self, lines: Iterable[Numbered]) -> Iterator[Found]:
        self.kind = "conversation"
        conversation = Conversation(self._protocol)
        unread: list[int] = []
        for number, line in lines:
            said = conversation.hear(line, number=number)
            self._count(name_of(said.protocol))
            unread += [number] if line.value is None else []
            if line.value is not None or len(unread) <= MOST_NO_JSON:
                yield from _found(said, number, show_values=self._show_values)
            conversation.take(said)
        if untold := unread[MOST_NO_JSON:]:
            told = f"this and {len(untold) - 1} more lines from here on are no JSON either"
            yield Found(rule="schema.json", severity="error", message=told, line=untold[0])
        # First what is a mistake, which others must not crowd out.
        unanswered = sorted(conversation.unanswered(), key=lambda each: each.cancelled is None)[:MOST_UNANSWERED]
        for each in sorted(unanswered, key=lambda each: each.asked.line):
            yield self._unanswered(each, more=conversation.heard - each.asked.line)

    def _unanswered(self, each: Unanswered, *, more: int) -> Found:
        """What to say of a request without an answer, after which *more* lines came."""
        rule = AFTER_CANCEL if each.cancelled else END
        if each.cancelled:
            told = (
                f"the client has cancelled the prompt in line {each.cancelled}, and does not answer this; {CANCELLED}"
            )
        elif each.ended:
            told = "it has no answer on its connection"
        else:
            told = f"it has no answer {self._behind(more)}; was the recording cut off?"
        return Found(
            rule=rule.id,
            severity=rule.severity,
            message=told,
            line=each.asked.line,
            path=(each.asked.line - 1,) if isinstance(self._input, Document) else (),
            sender=each.asked.sender,
            method=each.asked.method,
        )

    def _behind(self, more: int) -> str:
        what = "message" if isinstance(self._input, Document) else "line"
        return f"in the {f'{more} {what}s' if more > 1 else what} after it" if more else "here"

    def _one(self, line: Line, number: int | None) -> Iterator[Found]:
        """What there is to say of a message or a payload that stands alone."""
        value: Any = line.value
        if line.value is None and line.text.strip() != b"null":
            yield from self._unreadable(line, number, "schema.json", "it is no JSON; write one value on each line")
            return
        if not is_message(value):
            yield from self._payload(value, line.at, number)
            return
        self.kind = "messages"
        if self._type is None and "method" in value:
            said = Conversation(self._protocol).hear(line, number=1)
            # Alone, it has no right or wrong time.
            said.before, said.untimely = None, None
            self._count(name_of(said.protocol))
            yield from _found(said, number, show_values=self._show_values)
            return
        member = next((each for each in ("params", "result") if each in value), None)
        if value.get("jsonrpc") != "2.0":
            yield from self._unreadable(line, number, "schema.message", 'it lacks "jsonrpc": "2.0"')
        if member is None:
            yield from self._payload(value.get("error"), (*line.at, "error"), number, Type(self._package, "Error"))
        else:
            yield from self._payload(value[member], (*line.at, member), number)

    def _unreadable(self, line: Line, number: int | None, rule: str, told: str) -> Iterator[Found]:
        said = Said(kind="unreadable", protocol=self._package, wrong=(Remark(line.at, rule, told, "error"),))
        yield from _found(said, number, show_values=False)

    def _payload(self, value: Any, at: Path, number: int | None, type_: Type | None = None) -> Iterator[Found]:
        try:
            types = [type_ or self._type] if type_ or self._type else types_of(value, protocol=self._package)
        except UnknownType as error:
            raise Unusable(str(error)) from None
        likeliest = cast("Type", types[0])
        self._count(" or ".join(map(str, types[:3])) + (" or …" if len(types) > 3 else ""))
        yield from _found(said_as(value, likeliest, at=at), number, show_values=self._show_values)

    @property
    def _package(self) -> ProtocolPackage:
        return self._protocol or package_named("v1")

    def _is_list_of_servers(self, value: Any) -> bool:
        if self._type is not None:
            return False
        try:
            return types_of(value, protocol=self._package)[0].name == "McpServers"
        except UnknownType:
            return False

    def _count(self, read_as: str) -> None:
        self.messages += 1
        if read_as not in self.read_as:
            self.read_as.append(read_as)


def _found(said: Said, number: int | None, *, show_values: bool) -> Iterator[Found]:
    """What the rules say of a message."""
    covered: set[Path] = set()
    for look in LOOKS:
        for each in look.find(said):
            if each.rule.startswith("schema."):
                if each.rule in _GENERAL and not covered.isdisjoint(_ways_to(each.path)):
                    continue
                covered.add(each.path)
                if each.rule == "schema.server-type":
                    # It is read as another than it is meant to be, and all that is missing of that is no news.
                    covered.update((*each.path[:-1], name) for name in _BY_TYPE)
            yield Found(
                rule=each.rule,
                severity=each.severity,
                message=each.message,
                path=each.path,
                line=number,
                sender=said.sender,
                method=said.method,
                value=_value_at(said, each.path) if show_values else None,
            )


def _ways_to(path: Path) -> Iterator[Path]:
    """The *path*, and those to all that is around what it leads to."""
    return (path[:length] for length in range(len(path) + 1))


_GENERAL = frozenset({"schema.params", "schema.result", "schema.payload"})
"""What is not said of what a more special rule has said it of."""


_BY_TYPE = ("command", "args", "env", "url", "headers")
"""What an MCP server has by its type."""


def _value_at(said: Said, path: Path) -> str | None:
    """What stands at a place, as JSON, or the beginning of it; None where nothing does, and for a whole message."""
    value: Any = said.message
    if path == said.top:
        return None
    try:
        for step in path[len(said.top) :]:
            value = value[step]
        text = to_json(value).decode()
    except (LookupError, TypeError, ValueError):
        return None
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _begins_conversation(items: list[Line]) -> bool:
    """Whether a list of messages is a conversation: it begins as one does."""
    first: Any = items[0].value if items else None
    return len(items) > 1 and is_message(first) and first.get("method") == "initialize"


def _item(value: Any, index: int) -> Line:
    line = unwrap(to_json(value), value)
    return line._replace(at=(index, *line.at))
