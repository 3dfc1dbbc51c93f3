"""What the versions call the parts of `initialize`: its messages, and the members of these."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic.alias_generators import to_snake

from acp_bindings._json import members_of
from acp_bindings._models.base import Model
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding, Path
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import by_version, name_of, read_version, version_of
from acp_bindings.setup.capabilities import ALWAYS, TABLES, Side, has_word, known, members, says, written
from acp_bindings.setup.errors import BadProtocolVersion, Remark, UnsupportedProtocolVersion, one_line

if TYPE_CHECKING:
    from acp_bindings.setup.unions import (
        AgentCapabilities,
        AuthMethod,
        ClientCapabilities,
        Implementation,
        InitializeRequest,
        InitializeResponse,
    )


WORDS: Mapping[Side, Mapping[int, tuple[str, str]]] = {
    "agent": {1: ("agentCapabilities", "agentInfo"), 2: ("capabilities", "info")},
    "client": {1: ("clientCapabilities", "clientInfo"), 2: ("capabilities", "info")},
}
"""By side and version the members that say what the side can do, and who it is."""


def repeated_version(answer: object, version: int) -> str | None:
    """Why the *answer* of an agent is none of the *version* in it, where it is in the words of another; else None.

    Agents of v1 say so that give back whatever version they are asked for: fast-agent 0.10.48, deepagents-acp 0.0.13.
    """
    members = members_of(answer).keys()
    spoken = [each for each, words in WORDS["agent"].items() if not members.isdisjoint(words)]
    if not spoken or version in spoken:
        return None
    return f"the agent says {version}, and what it says beside that is of version {spoken[0]}; offer {spoken[0]} alone"


def message_type(protocol: ProtocolPackage, side: Side) -> type[Model]:
    """The class of what *side* says in `initialize`: the response of the agent, the request of the client."""
    package: Any = protocol
    type_: type[Model] = package.InitializeResponse if side == "agent" else package.InitializeRequest
    return type_


def initialize_remarks(message: Model, *, side: Side, version: int) -> Iterator[Remark]:
    """What is most likely a mistake in the *message* of *side*, although it could be read.

    The rules: `other-version`, a member that only another version has, in place of this one's own; `no-info`, name and
    version are missing; `unknown-capability`, a name that is nearly that of a capability. Any other may be a new one.
    """
    said = {info.alias for name, info in type(message).__pydantic_fields__.items() if name in message.model_fields_set}
    extra = message.model_extra or {}
    for there, words in WORDS[side].items():
        for ours, theirs in zip(WORDS[side][version], words, strict=True):
            if theirs in extra and ours not in said:
                told = f"this is of version {there} and is not read; in version {version} it is {ours}"
                yield Remark((theirs,), "other-version", told, facts={"member": theirs, "meant": ours})
    capabilities, info = WORDS[side][version]
    for name, field in type(message).__pydantic_fields__.items():
        value: Any = getattr(message, name)
        if field.alias == info and value is None:
            yield Remark((info,), "no-info", "it is missing; a name and a version help whoever reads a log", "info")
        elif field.alias == capabilities:
            yield from _misspelt(value, (capabilities,))


def _misspelt(capabilities: Model, path: Path) -> Iterator[Remark]:
    """The members of *capabilities*, and of those in it, that are spelt nearly like others."""
    names = members(type(capabilities))
    for name in map(str, capabilities.model_extra or {}):  # not the keys, which may equal nothing (`_models.reading`)
        if meant := _meant(name, names):
            told = f"there is no such capability, so that it is not read; did you mean {meant}?"
            yield Remark((*path, name), "unknown-capability", told, facts={"name": name, "meant": meant})
    for name, field in type(capabilities).__pydantic_fields__.items():
        value: Any = getattr(capabilities, name)
        if isinstance(value, Model):
            yield from _misspelt(value, (*path, field.alias or name))


def _meant(name: str, names: Mapping[str, object]) -> str | None:
    """Which of *names* is meant by *name*: the same in other letters, one that it begins, or one that is close."""
    plain = {_plain(each): each for each in names}
    if not (given := _plain(name)):
        return None
    if given in plain:
        return plain[given]
    begun = (each for each in plain if each.startswith(given))
    close = difflib.get_close_matches(given, plain, n=1, cutoff=0.8)
    return plain.get(next(begun, None) or next(iter(close), ""))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def in_form_of(
    version: int, raw: Mapping[str, Any], *, requested: int, findings: list[Finding]
) -> tuple[Mapping[str, Any], bool]:
    """The params *raw*, written for the version *requested*, in the form of *version*.

    What reading the newer form excuses is added to *findings*.

    Returns:
        The params, and whether the name in them is the client's own: if it has none that can be read, it is made up.
    """
    if version >= requested:
        return raw, True
    if version > 1:
        named = _is_info(raw.get("info"))
        return (raw if named else {**raw, "info": _UNKNOWN}), named
    if raw.keys() & set(WORDS["client"][1]):
        return raw, True
    from acp_bindings import v1, v2  # noqa: PLC0415 - packages are loaded by those who use them

    asked = {"protocolVersion": requested, "info": _UNKNOWN, "capabilities": raw.get("capabilities", {})}
    newer = ClientPeer.of(v2, decode(v2.InitializeRequest, asked, findings=findings))
    said = written(v1.InitializeRequest, "client", 1, newer.names())
    if newer.capabilities.meta is not None:
        said["clientCapabilities"]["_meta"] = newer.capabilities.meta
    return {**raw, **said, "clientInfo": raw.get("info")}, True


_UNKNOWN = {"name": "unknown", "version": "unknown"}
"""Stands for the `info` of a client that cannot be read."""


def _is_info(value: object) -> bool:
    from acp_bindings import v2  # noqa: PLC0415

    if not isinstance(value, dict):
        return False
    try:
        decode(v2.Implementation, value)
    except DecodeError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One side of a connection: what it is, and what it has said that it can do.

    To see the members of `capabilities` by their types, ask for their class: `isinstance(peer.capabilities,
    v1.AgentCapabilities)`.
    """

    side: ClassVar[Side]
    """Whether it is the agent or the client."""

    protocol: ProtocolPackage
    """The package whose types both sides speak from now on: `v1`, `v1_unstable`, `v2` or `v2_unstable`."""

    capabilities: Any
    """What it can do, as the package has it."""

    info: Implementation | None = None
    """Its name and version, if it said them."""

    findings: tuple[Finding | Remark, ...] = ()
    """What was wrong in its part of `initialize` and was excused, and what is most likely a mistake in it."""

    @property
    def version(self) -> int:
        """The version of the protocol that both sides speak."""
        return version_of(self.protocol)

    @property
    def display_name(self) -> str:
        """What to call it before a user: its title, else its name, else `the agent` or `the client`."""
        return (self.info.title or self.info.name) if self.info else f"the {self.side}"

    def supports(self, capability: str) -> bool:
        """Whether it has said that it can do this, or the version takes that for granted.

        Args:
            capability: a name of this library, the same for all versions: `session.load`, `mcp.http`,
                `fs.read_text_file`.

        Raises:
            UnknownCapability: there is none of this name for this side.
        """
        return self.lacks(capability) is None

    def lacks(self, capability: str) -> str | None:
        """Why it does not support a capability, in words for a message; None when it does.

        Omitted, `null`, of a wrong type and `{}` in place of a boolean are all unsupported; so is `false`.

        Raises:
            UnknownCapability: there is none of this name for this side.
        """
        place = known(self.side, capability).of(self.version)
        if place is None or not has_word(message_type(self.protocol, self.side), self.side, self.version, capability):
            return f"{name_of(self.protocol)} has no word for {capability}"
        if place == ALWAYS:
            return None
        if says(self._message, place):
            return None
        return f"the {self.side} has not advertised {place}{self._mistake_at(place)}"

    def ext(self, key: str, default: Any = None) -> Any:
        """What it says under *key* of the `_meta` of its capabilities, where custom ones stand; *default* if nothing.

        The value may be anything, and nobody may make assumptions about it.
        """
        meta: Mapping[str, Any] = self.capabilities.meta or {}
        return meta.get(key, default)

    def names(self) -> frozenset[str]:
        """The names of all capabilities that it supports."""
        return frozenset(name for name in TABLES[self.side] if self.supports(name))

    def __str__(self) -> str:
        """One line for a log: `Claude Code 1.2.3 (ACP v1)`."""
        version = f" {self.info.version}" if self.info else ""
        return f"{one_line(self.display_name + version)} (ACP v{self.version})"

    @property
    def _message(self) -> Mapping[str, Any]:
        """What it said in `initialize`, by the wire names that begin a `Places` of a capability, of either version."""
        raise NotImplementedError

    def _mistake_at(self, place: str) -> str:
        """What it said wrong that is likely why it lacks a capability: a part of *place*, or a misspelt name there."""
        way = tuple(place.split("."))
        for each in self.findings:
            if isinstance(each, Finding):
                if each.path == way[: len(each.path)]:
                    return f": what it sent as {'.'.join(map(str, each.path))} is wrong ({each.causes[0].message})"
            elif each.rule == "unknown-capability" and (*each.path[:-1], each.facts["meant"]) == way[: len(each.path)]:
                return f": it has written {'.'.join(map(str, each.path))}"
        return ""


@dataclass(frozen=True, kw_only=True)
class AgentPeer(Peer):
    """An agent, as it answered `initialize`."""

    side: ClassVar[Side] = "agent"

    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...] = ()
    """The ways to log in that it advertised."""

    @classmethod
    def read(cls, result: Any, protocols: Sequence[ProtocolPackage], *, requested: int | None = None) -> AgentPeer:
        """The agent that answered `initialize` with *result*.

        Args:
            result: JSON, as text or parsed.
            protocols: the packages that can be spoken, one for each version; that of the version in *result* is used.
            requested: the version that was asked for, for the error.

        Raises:
            BadProtocolVersion: *result* has no version that is one, or one that the rest of it is not of.
            UnsupportedProtocolVersion: it has one that is not among *protocols*.
            DecodeError: it is no answer of that version.
        """
        raw = parsed(result)
        known_ = by_version(protocols)
        version = read_version(raw)
        if version not in known_:
            raise UnsupportedProtocolVersion(requested=requested, answered=version, supported=known_)
        protocol = known_[version]
        findings: list[Finding] = []
        try:
            response: Any = decode(cast("Any", protocol).InitializeResponse, raw, findings=findings)
        except DecodeError:
            if reason := repeated_version(raw, version):
                raise BadProtocolVersion(version, reason) from None
            raise
        return cls.of(protocol, response, findings=findings)

    @classmethod
    def of(
        cls, protocol: ProtocolPackage, response: InitializeResponse, *, findings: Sequence[Finding] = ()
    ) -> AgentPeer:
        """The agent that answers `initialize` with *response*, of *protocol*, when reading excused *findings*."""
        message: Any = response
        capabilities, info = map(to_snake, WORDS["agent"][version_of(protocol)])
        return cls(
            protocol=protocol,
            info=getattr(message, info),
            capabilities=getattr(message, capabilities),
            auth_methods=tuple(message.auth_methods),
            findings=(*findings, *initialize_remarks(message, side="agent", version=version_of(protocol))),
        )

    def login_refusal(self, id: str) -> str | None:  # noqa: A002
        """Why it must not be asked to log in by the method *id*, in words for a message; None when it may."""
        found = next((each for each in self.auth_methods if method_id(each) == id), None)
        if found is None:
            return "the agent has not advertised it"
        if found.type == TERMINAL:
            return "it is for a terminal, in which the client runs the agent's command itself"
        return None

    @property
    def _message(self) -> Mapping[str, Any]:
        capabilities = self.capabilities
        return {"agentCapabilities": capabilities, "capabilities": capabilities, "authMethods": self.auth_methods}


@dataclass(frozen=True, kw_only=True)
class ClientPeer(Peer):
    """A client, as it asked to `initialize`."""

    side: ClassVar[Side] = "client"

    capabilities: ClientCapabilities

    @classmethod
    def read(cls, params: Any, protocol: ProtocolPackage) -> ClientPeer:
        """The client that asked to `initialize` with *params* and was answered in the version of *protocol*.

        A client that asked for a newer version is read leniently: what it wrote for that may look different there.

        Args:
            params: JSON, as text or parsed.
            protocol: what both sides speak from now on.

        Raises:
            BadProtocolVersion: *params* have no version that is one.
            DecodeError: they are none of that version.
        """
        raw = parsed(params)
        findings: list[Finding] = []
        form, named = in_form_of(version_of(protocol), raw, requested=read_version(raw), findings=findings)
        request: Any = decode(cast("Any", protocol).InitializeRequest, form, findings=findings)
        client = cls.of(protocol, request, findings=findings)
        return client if named else replace(client, info=None)

    @classmethod
    def of(
        cls, protocol: ProtocolPackage, request: InitializeRequest, *, findings: Sequence[Finding] = ()
    ) -> ClientPeer:
        """The client that asks to `initialize` with *request*, of *protocol*, when reading excused *findings*."""
        message: Any = request
        capabilities, info = map(to_snake, WORDS["client"][version_of(protocol)])
        return cls(
            protocol=protocol,
            info=getattr(message, info),
            capabilities=getattr(message, capabilities),
            findings=(*findings, *initialize_remarks(message, side="client", version=version_of(protocol))),
        )

    @property
    def _message(self) -> Mapping[str, Any]:
        return {"clientCapabilities": self.capabilities, "capabilities": self.capabilities}


TERMINAL = "terminal"
"""The type of the ways to log in for which a client runs the agent in a terminal, and asks it for nothing."""


def method_id(method: AuthMethod) -> str:
    """The id of a way to log in, which v1 calls `id` and v2 `methodId`."""
    either: Any = method
    id_: str = either.method_id if "method_id" in type(method).__pydantic_fields__ else either.id
    return id_


def parsed(message: Any) -> Any:
    """*message*, which is JSON as text or parsed, as parsed.

    Raises:
        DecodeError: it is text, and not JSON.
    """
    return decode(Any, message) if isinstance(message, str | bytes | bytearray) else message
