"""The check of one input: it finds the type of a payload and reports the findings of the rules."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from json import JSONDecoder
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from pydantic_core import to_json

from acp_bindings._json import items_of, members_of
from acp_bindings._lazy import PACKAGES, closest
from acp_bindings._models.base import Model
from acp_bindings._models.fields import parts_of
from acp_bindings.check._conversation import Conversation
from acp_bindings.check._inputs import Document, Line, Numbered, Unusable, is_message, read_input, unwrap
from acp_bindings.check._live import Found, LiveCheck, found_in
from acp_bindings.check._observed import ObservedMessage, issues_as
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding, Path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import name_of, package_named


class Places:
    """The line numbers of paths in a document. Only the parts on the requested paths are read."""

    def __init__(self, text: bytes) -> None:
        """Prepare *text*, which is JSON."""
        self._document = text.decode(errors="replace")
        self._line_ends = [each.start() for each in re.finditer("\n", self._document)]
        self._members: dict[int, dict[str | int, int]] = {}
        """The offsets of the fields or items of an object or a list, by its own offset."""

    def line_of(self, path: Path) -> int:
        """Return the line, from 1, of the value at *path*, or of the innermost existing value around it."""
        at = self._skip(0)
        for step in path:
            if at not in self._members:
                self._members[at] = self._members_at(at)
            if step not in self._members[at]:
                break
            at = self._members[at][step]
        return bisect_left(self._line_ends, at) + 1

    def _members_at(self, at: int) -> dict[str | int, int]:
        """Return the offset of each field or item of the value at *at*. Of duplicate fields, the last one counts."""
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
        """Return the offset after any white space at *at*."""
        found = _SPACE.match(self._document, at)
        return found.end() if found else at


_SPACE = re.compile(r"[ \t\r\n]*")
_JSON = JSONDecoder()


class Type(NamedTuple):
    """A type of a protocol package."""

    protocol: ProtocolPackage
    name: str

    def __str__(self) -> str:
        """`v1.NewSessionRequest`."""
        return f"{name_of(self.protocol)}.{self.name}"


def type_named(name: str, *, protocol: ProtocolPackage) -> Type:
    """Return the type called *name*, such as `v1.NewSessionRequest`. Without a package it is a type of *protocol*.

    Raises:
        Unusable: it does not exist.
    """
    where, _, what = name.rpartition(".")
    of: Any = package_named(where) if where else protocol
    if of is None:
        raise Unusable(f'unknown protocol package "{where}"; the packages are {", ".join(PACKAGES)}')
    if what not in of.__all__ or what == "METHODS":
        close = closest(what, of.__all__)
        hint = f"; did you mean {close}?" if close else ""
        raise Unusable(f'{name_of(of)} has no type "{what}"{hint}')
    return Type(of, what)


def types_of(value: object, *, protocol: ProtocolPackage) -> list[Type]:
    """Return the most likely types of a payload, all equally likely.

    An MCP server, a list of servers and a session update are recognized by their form. Anything else is read as params
    or a result, of the type that has most of its fields. If several do, those with the fewest missing required fields
    are returned, and of these those with the most required fields.

    Raises:
        Unusable: no type has any of its fields, or it is the configuration of a desktop client.
    """
    members = members_of(value)
    # VS Code has a map `servers` among other settings. `mcpServers` with other fields is that of a request.
    in_file = members if members.keys() == {"mcpServers"} else {"servers": members.get("servers")}
    if any(_is_server(each) for held in in_file.values() for each in members_of(held).values()):
        raise Unusable(
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
    raise Unusable("the type is not clear; pass it, such as --type v1.NewSessionRequest")


def payload_as(value: Any, type_: Type, *, at: Path) -> ObservedMessage:
    """Return a payload, read as *type_*, in the form for rules."""
    before = Conversation(type_.protocol)
    observed = ObservedMessage(
        kind="payload", before=before, body=value, at=at, message=value, top=at, type_name=type_.name
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
    """Return the names of the types that have most of *members* and the fewest missing required ones."""
    given = frozenset(members) - {"_meta"}
    scores = {
        name: (len(given & known), -len(required - given), len(required & given))
        for name, (known, required) in _members(cast("Hashable", protocol)).items()
    }
    best = max(scores.values())
    return [name for name, score in scores.items() if score == best] if best[0] else []


@cache
def _members(protocol: Hashable) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the fields of each type of params or results, and the required ones, by the name of the type."""
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
    for each in parts_of(type_):
        if not (isinstance(each, type) and issubclass(each, Model)):
            continue
        fields = {info.alias or name: info for name, info in each.__pydantic_fields__.items() if name != "meta"}
        known |= fields.keys()
        needed = {name for name, info in fields.items() if info.is_required()}
        required = needed if required is None else required & needed
    return frozenset(known), frozenset(required or ())


InputKind: TypeAlias = Literal["conversation", "messages", "payloads"]


class Check:
    """The check of one input. Iterate over it to get the findings; its attributes are complete afterwards.

    A conversation is read one line at a time, so it may have any length.
    """

    def __init__(
        self,
        raw: Iterable[bytes],
        *,
        protocol: ProtocolPackage | None = None,
        type: str | None = None,  # noqa: A002
        show_values: bool = False,
    ) -> None:
        """Read the beginning of *raw*, such as a file that is open for reading bytes.

        Args:
            raw: lines, or chunks that end at the end of a line.
            protocol: the protocol package to use if the input has no `initialize`; by default `v1`.
            type: the name of the type of each payload, such as `v1.NewSessionRequest`; by default it is inferred from
                the fields.
            show_values: add the value at each path to the findings. It may be a secret.

        Raises:
            Unusable: the input is empty, not JSON or not UTF-8, or *type* does not exist.
        """
        self.kind: InputKind = "payloads"
        self.messages = 0
        """The number of messages or payloads."""
        self.read_as: list[str] = []
        """The protocol packages, or the types, by which they were read."""
        self.errors = 0
        self.warnings = 0
        self._protocol = protocol
        self._show_values = show_values
        self._type = None if type is None else type_named(type, protocol=self._package)
        self._input = read_input(raw, of_messages=type is None)

    def __iter__(self) -> Iterator[Found]:
        """Yield the findings in the order of the input. This works once.

        Raises:
            Unusable: the type of a payload is not clear, or a recording has no messages.
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
        if not isinstance(value, list) or (self._type is None and all(map(_is_server, items_of(value)))):
            yield from self._placed(self._one(unwrap(self._input.text, value), None))
            return
        lines = (unwrap(to_json(each), each) for each in items_of(self._input.value))
        items = [line._replace(at=(index, *line.at)) for index, line in enumerate(lines)]
        if self._type is None and _begins_conversation(items):
            yield from self._placed(self._conversation(enumerate(items, start=1)))
        else:
            yield from self._placed(each for item in items for each in self._one(item, None))

    def _placed(self, found: Iterable[Found]) -> Iterator[Found]:
        """Yield the findings in a document with their lines, sorted by line."""
        places = Places(cast("Document", self._input).text)
        placed = [replace(each, line=places.line_of(each.path)) for each in found]
        yield from sorted(placed, key=lambda each: each.line or 0)

    def _conversation(self, lines: Iterable[Numbered]) -> Iterator[Found]:
        self.kind = "conversation"
        check = LiveCheck(self._protocol, show_values=self._show_values, in_list=isinstance(self._input, Document))
        for number, line in lines:
            yield from check.hear(line, number)
            self.messages, self.read_as = check.messages, check.read_as
        if not self.messages:
            raise Unusable("it has no messages; acp-bindings view shows what else it has")
        yield from check.finish()

    def _one(self, line: Line, number: int | None) -> Iterator[Found]:
        """Yield the findings for a message or a payload outside of a conversation."""
        value: Any = line.value
        if line.value is None and line.text.strip() != b"null":
            message = "it is not JSON; write one value on each line"
            yield Found(rule="schema.json", severity="error", message=message, path=line.at, line=number)
            return
        if not is_message(value):
            yield from self._payload(value, line.at, number)
            return
        self.kind = "messages"
        if self._type is None and "method" in value:
            observed = Conversation(self._protocol).hear(line, number=1)
            # Outside of a conversation, it cannot be sent at the wrong time.
            observed.untimely = None
            self._count(name_of(observed.protocol))
            yield from found_in(observed, number, show_values=self._show_values)
            return
        member = next((each for each in ("params", "result") if each in value), None)
        if value.get("jsonrpc") != "2.0":
            message = 'it lacks "jsonrpc": "2.0"'
            yield Found(rule="schema.message", severity="error", message=message, path=line.at, line=number)
        if member is None:
            yield from self._payload(value.get("error"), (*line.at, "error"), number, Type(self._package, "Error"))
        else:
            yield from self._payload(value[member], (*line.at, member), number)

    def _payload(self, value: Any, at: Path, number: int | None, type_: Type | None = None) -> Iterator[Found]:
        named = type_ or self._type
        types = [named] if named else types_of(value, protocol=self._package)
        self._count(" or ".join(map(str, types[:3])) + (" or …" if len(types) > 3 else ""))
        yield from found_in(payload_as(value, types[0], at=at), number, show_values=self._show_values)

    @property
    def _package(self) -> ProtocolPackage:
        return self._protocol or package_named("v1")

    def _count(self, read_as: str) -> None:
        self.messages += 1
        if read_as not in self.read_as:
            self.read_as.append(read_as)


def _begins_conversation(items: list[Line]) -> bool:
    """Return True if a list of messages is a conversation, because it begins with `initialize`."""
    first: Any = items[0].value if items else None
    return len(items) > 1 and is_message(first) and first.get("method") == "initialize"
