"""One thing that a check has found: which rule, where, what is wrong and what to do."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from json import JSONDecoder
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, cast, get_args, get_origin

from pydantic_core import to_json

from acp_bindings._json import items_of, members_of
from acp_bindings._lazy import PACKAGES
from acp_bindings._models.base import Model
from acp_bindings.check._conversation import Conversation, ObservedMessage, Unanswered, issues_as
from acp_bindings.check._inputs import Document, Line, Numbered, Unusable, is_message, read_input, unwrap
from acp_bindings.check._rules import END, LOOKS
from acp_bindings.check._rules.lifecycle import AFTER_CANCEL, CANCELLED
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding, Path, format_path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import name_of, package_named
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark, Severity


@dataclass(frozen=True, kw_only=True)
class Found:
    """A broken rule, a likely mistake, or what is good to know. It holds no secret, but for `value`."""

    rule: str
    """The id of the rule: its family, a dot, its name."""
    severity: Severity
    message: str
    """What is wrong, and what to do."""
    path: Path = ()
    """The way to it in what stands on the line, or in the document, by wire name and index."""
    line: int | None = None
    """Where in the input, from 1; None where the whole input is meant."""
    sender: Side | None = None
    """Who said it, in a conversation."""
    method: str | None = None
    """Of which method it is, also of the answer to one."""
    value: str | None = None
    """What stands there, as JSON, which may be a secret; only where that was asked for."""

    def __str__(self) -> str:
        """`3: error[capability.load]: …`, as compilers say it, for a file name and a colon to stand before it."""
        line = f"{self.line}: " if self.line is not None else " "
        value = f" (it is {self.value})" if self.value is not None else ""
        return f"{line}{self.severity}[{self.rule}]: {format_path(self.path)}{self.message}{value}"


class Places:
    """The lines of a document, which is looked through as far as it is asked about."""

    def __init__(self, text: bytes) -> None:
        """The lines of *text*, which is JSON."""
        self._document = text.decode(errors="replace")
        self._line_ends = [each.start() for each in re.finditer("\n", self._document)]
        self._members: dict[int, dict[str | int, int]] = {}
        """By where an object or a list begins, where what is in it begins."""

    def line_of(self, path: Path) -> int:
        """The line, from 1, of what *path* leads to, or of what is there around it."""
        at = self._skip(0)
        for step in path:
            if at not in self._members:
                self._members[at] = self._members_at(at)
            if step not in self._members[at]:
                break
            at = self._members[at][step]
        return bisect_left(self._line_ends, at) + 1

    def _members_at(self, at: int) -> dict[str | int, int]:
        """Where each member or item of what begins at *at* begins; of members with one name the last counts."""
        found: dict[str | int, int] = {}
        opening = self._document[at]
        if opening not in "{[":
            return found
        at = self._skip(at + 1)
        while self._document[at] not in "}]":
            step: str | int = len(found)
            if opening == "{":
                step, end = _JSON.raw_decode(self._document, at)
                at = self._skip(self._skip(end) + 1)  # past the colon
            found[step] = at
            _, end = _JSON.raw_decode(self._document, at)
            at = self._skip(end)
            if self._document[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        """Where the white space that may be at *at* ends."""
        found = _SPACE.match(self._document, at)
        return found.end() if found else at


_SPACE = re.compile(r"[ \t\r\n]*")
_JSON = JSONDecoder()


class UnknownType(ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """There is no type of this name, or nothing tells the type of a payload."""


class Type(NamedTuple):
    """A type of a protocol package."""

    protocol: ProtocolPackage
    name: str

    def __str__(self) -> str:
        """`v1.NewSessionRequest`."""
        return f"{name_of(self.protocol)}.{self.name}"


def type_named(name: str, *, protocol: ProtocolPackage) -> Type:
    """The type that *name* names, such as `v1.NewSessionRequest`, or one of *protocol* without the package.

    Raises:
        UnknownType: there is none.
    """
    where, _, what = name.rpartition(".")
    of: Any = package_named(where) if where else protocol
    if of is None:
        raise UnknownType(f'unknown protocol package "{where}"; the packages are {", ".join(PACKAGES)}')
    if what not in of.__all__ or what == "METHODS":
        names: list[str] = of.__all__
        close = difflib.get_close_matches(what, names, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UnknownType(f'{name_of(of)} has no type "{what}"{hint}')
    return Type(of, what)


def types_of(value: object, *, protocol: ProtocolPackage) -> list[Type]:
    """The types that a payload most likely is of, all equally likely.

    An MCP server, a list of them, and an update of a session are known by their form. Anything else is taken for params
    or a result: of the type that knows most of its members and, of several such, lacks the fewest that are required
    or else has the most of these.

    Raises:
        UnknownType: none has any of its members, or it is the configuration of a desktop client.
    """
    members = members_of(value)
    # VS Code has a map `servers` among other settings. `mcpServers` beside other members is that of a request.
    in_file = members if members.keys() == {"mcpServers"} else {"servers": members.get("servers")}
    if any(_is_server(each) for held in in_file.values() for each in members_of(held).values()):
        raise UnknownType(
            "this is a map of MCP servers, as desktop clients write it; ACP has an array of servers with names. "
            "mcp-launch check reads the map"
        )
    if items_of(value) or value == []:
        if all(map(_is_server, items_of(value))):
            return [Type(protocol, "McpServers")]
    elif _is_server(value):
        return [Type(protocol, "McpServer")]
    elif "sessionUpdate" in members:
        return [Type(protocol, "SessionUpdate")]
    elif likely := _by_members(members, protocol):
        return [Type(protocol, each) for each in likely]
    raise UnknownType("the type is not clear; pass it, such as --type v1.NewSessionRequest")


def payload_as(value: Any, type_: Type, *, at: Path = ()) -> ObservedMessage:
    """A payload, read as *type_*."""
    observed = ObservedMessage(
        kind="payload", protocol=type_.protocol, body=value, at=at, message=value, top=at, type_name=type_.name
    )
    package: Any = type_.protocol
    type_to_read: Any = list[package.McpServer] if type_.name == "McpServers" else getattr(package, type_.name)
    found: list[Finding] = []
    try:
        observed.typed = decode(type_to_read, to_json(value), findings=found)
        observed.findings = tuple(found)
    except DecodeError as error:
        observed.wrong = tuple(issues_as("schema.payload", error.issues, at))
    return observed


def _is_server(value: object) -> bool:
    members = members_of(value).keys()
    return bool(members & {"command", "url"}) and not members & {"sessionId", "sessionUpdate", "message"}


def _by_members(members: Iterable[str], protocol: ProtocolPackage) -> list[str]:
    """The names of the types that have most of *members*, and require least besides."""
    given = frozenset(members) - {"_meta"}
    scores = {
        name: (len(given & known), -len(required - given), len(required & given))
        for name, (known, required) in _members(cast("Hashable", protocol)).items()
    }
    best = max(scores.values())
    return [name for name, score in scores.items() if score == best] if best[0] else []


@cache
def _members(protocol: Hashable) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """By name of each type of params or results its members, and those that it requires."""
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for method in cast("ProtocolPackage", protocol).METHODS.values():
        for type_ in filter(None, (method.request, method.notification)):
            found[type_.params_name] = _members_of(type_.params)
        if method.request and method.request.result_name:
            found[method.request.result_name] = _members_of(method.request.result)
    return found


def _members_of(type_: Any) -> tuple[frozenset[str], frozenset[str]]:
    known: set[str] = set()
    required: set[str] | None = None
    for each in _classes(type_):
        fields = {info.alias or name: info for name, info in each.__pydantic_fields__.items() if name != "meta"}
        known |= fields.keys()
        needed = {name for name, info in fields.items() if info.is_required()}
        required = needed if required is None else required & needed
    return frozenset(known), frozenset(required or ())


def _classes(type_: Any) -> Iterator[type[Model]]:
    """The class that a type is, or those of a union."""
    if isinstance(type_, type):
        if issubclass(type_, Model):
            yield type_
    elif get_origin(type_) is Annotated:
        yield from _classes(get_args(type_)[0])
    else:
        for each in get_args(type_):
            yield from _classes(each)


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
            observed = conversation.hear(line, number=number)
            self._count(name_of(observed.protocol))
            unread += [number] if line.value is None else []
            if line.value is not None or len(unread) <= MOST_NO_JSON:
                yield from _found(observed, number, show_values=self._show_values)
            conversation.take(observed)
        if untold := unread[MOST_NO_JSON:]:
            message = f"this line and {len(untold) - 1} more are not JSON either"
            yield Found(rule="schema.json", severity="error", message=message, line=untold[0])
        # First what is a mistake, which others must not crowd out.
        unanswered = sorted(conversation.unanswered(), key=lambda each: each.cancelled is None)[:MOST_UNANSWERED]
        for each in sorted(unanswered, key=lambda each: each.request.line):
            yield self._unanswered(each, more=conversation.heard - each.request.line)

    def _unanswered(self, each: Unanswered, *, more: int) -> Found:
        """What to say of a request without an answer, after which *more* lines came."""
        rule = AFTER_CANCEL if each.cancelled else END
        if each.cancelled:
            message = (
                f"the client cancelled the prompt in line {each.cancelled} and has not responded to this; {CANCELLED}"
            )
        elif each.ended:
            message = "it has no response on its connection"
        else:
            message = f"it has no answer {self._behind(more)}; was the recording cut off?"
        return Found(
            rule=rule.id,
            severity=rule.severity,
            message=message,
            line=each.request.line,
            path=(each.request.line - 1,) if isinstance(self._input, Document) else (),
            sender=each.request.sender,
            method=each.request.method,
        )

    def _behind(self, more: int) -> str:
        what = "message" if isinstance(self._input, Document) else "line"
        return f"in the {f'{more} {what}s' if more > 1 else what} after it" if more else "here"

    def _one(self, line: Line, number: int | None) -> Iterator[Found]:
        """What there is to say of a message or a payload that stands alone."""
        value: Any = line.value
        if line.value is None and line.text.strip() != b"null":
            yield from self._unreadable(line, number, "schema.json", "it is not JSON; write one value on each line")
            return
        if not is_message(value):
            yield from self._payload(value, line.at, number)
            return
        self.kind = "messages"
        if self._type is None and "method" in value:
            observed = Conversation(self._protocol).hear(line, number=1)
            # Alone, it has no right or wrong time.
            observed.before, observed.untimely = None, None
            self._count(name_of(observed.protocol))
            yield from _found(observed, number, show_values=self._show_values)
            return
        member = next((each for each in ("params", "result") if each in value), None)
        if value.get("jsonrpc") != "2.0":
            yield from self._unreadable(line, number, "schema.message", 'it lacks "jsonrpc": "2.0"')
        if member is None:
            yield from self._payload(value.get("error"), (*line.at, "error"), number, Type(self._package, "Error"))
        else:
            yield from self._payload(value[member], (*line.at, member), number)

    def _unreadable(self, line: Line, number: int | None, rule: str, message: str) -> Iterator[Found]:
        observed = ObservedMessage(
            kind="unreadable", protocol=self._package, wrong=(Remark(line.at, rule, message, "error"),)
        )
        yield from _found(observed, number, show_values=False)

    def _payload(self, value: Any, at: Path, number: int | None, type_: Type | None = None) -> Iterator[Found]:
        try:
            types = [type_ or self._type] if type_ or self._type else types_of(value, protocol=self._package)
        except UnknownType as error:
            raise Unusable(str(error)) from None
        likeliest = cast("Type", types[0])
        self._count(" or ".join(map(str, types[:3])) + (" or …" if len(types) > 3 else ""))
        yield from _found(payload_as(value, likeliest, at=at), number, show_values=self._show_values)

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


def _found(observed: ObservedMessage, number: int | None, *, show_values: bool) -> Iterator[Found]:
    """What the rules say of a message."""
    covered: set[Path] = set()
    for look in LOOKS:
        for each in look.find(observed):
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
                sender=observed.sender,
                method=observed.method,
                value=_value_at(observed, each.path) if show_values else None,
            )


def _ways_to(path: Path) -> Iterator[Path]:
    """The *path*, and those to all that is around what it leads to."""
    return (path[:length] for length in range(len(path) + 1))


_GENERAL = frozenset({"schema.params", "schema.result", "schema.payload"})
"""What is not said of what a more special rule has said it of."""


_BY_TYPE = ("command", "args", "env", "url", "headers")
"""What an MCP server has by its type."""


def _value_at(observed: ObservedMessage, path: Path) -> str | None:
    """What stands at a place, as JSON, or the beginning of it; None where nothing does, and for a whole message."""
    value: Any = observed.message
    if path == observed.top:
        return None
    try:
        for step in path[len(observed.top) :]:
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
