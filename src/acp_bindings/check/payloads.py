"""The type of a payload without its message: by its name, or by the members of the payload."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin

from pydantic_core import to_json

from acp_bindings._json.shapes import items_of, members_of
from acp_bindings._models.base import Model
from acp_bindings.check.reading import issues_as
from acp_bindings.check.said import Said
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding, Path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup.versions import PACKAGES, name_of, package_named


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
        raise UnknownType(f'there is no protocol package "{where}"; they are {", ".join(PACKAGES)}')
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
    raise UnknownType("nothing tells what this is; name its type, such as --type v1.NewSessionRequest")


def said_as(value: Any, type_: Type, *, at: Path = ()) -> Said:
    """A payload, read as *type_*."""
    said = Said(kind="payload", protocol=type_.protocol, body=value, at=at, message=value, top=at, type_name=type_.name)
    package: Any = type_.protocol
    type_to_read: Any = list[package.McpServer] if type_.name == "McpServers" else getattr(package, type_.name)
    found: list[Finding] = []
    try:
        said.typed = decode(type_to_read, to_json(value), findings=found)
        said.findings = tuple(found)
    except DecodeError as error:
        said.wrong = tuple(issues_as("schema.payload", error.issues, at))
    return said


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
