"""One side of a connection, as its part of `initialize` told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic.alias_generators import to_snake

from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup.capabilities import ALWAYS, TABLES, Side, has_word, known, says
from acp_bindings.setup.errors import BadProtocolVersion, UnsupportedProtocolVersion
from acp_bindings.setup.initialization.misspelt import initialize_remarks
from acp_bindings.setup.initialization.words import WORDS, message_type, repeated_version
from acp_bindings.setup.remarks import Remark
from acp_bindings.setup.shown import one_line
from acp_bindings.setup.versions import by_version, name_of, read_version, version_of

if TYPE_CHECKING:
    from acp_bindings.setup.unions import (
        AgentCapabilities,
        AuthMethod,
        ClientCapabilities,
        Implementation,
        InitializeRequest,
        InitializeResponse,
    )


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
        from acp_bindings.setup.initialization.newer import in_form_of  # noqa: PLC0415 - which reads clients by this class

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
