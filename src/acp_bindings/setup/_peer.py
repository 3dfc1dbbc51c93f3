"""The two sides of a connection, as described in `initialize`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from pydantic.alias_generators import to_snake

from acp_bindings._json import members_of
from acp_bindings._lazy import closest
from acp_bindings._models.base import Model
from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding, Path, one_line
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup._versions import by_version, name_of, read_version, version_of
from acp_bindings.setup.capabilities import ALWAYS, TABLES, Capability, Side, has_word, known, members, says, written
from acp_bindings.setup.errors import BadProtocolVersion, Remark, UnsupportedProtocolVersion

if TYPE_CHECKING:
    from acp_bindings.setup.unions import (
        AgentCapabilities,
        AuthMethod,
        ClientCapabilities,
        Implementation,
    )


WORDS: Mapping[Side, Mapping[int, tuple[str, str]]] = {
    "agent": {1: ("agentCapabilities", "agentInfo"), 2: ("capabilities", "info")},
    "client": {1: ("clientCapabilities", "clientInfo"), 2: ("capabilities", "info")},
}
"""The fields for capabilities and info, by side and version."""


def repeated_version(answer: object, version: int) -> str | None:
    """Return an error text if the *answer* of an agent has fields of another version than *version*; else None.

    Some agents of v1 repeat the requested version: fast-agent 0.10.48, deepagents-acp 0.0.13. The example echo_agent.py
    of the official SDK sends nothing else, which only v1 allows.
    """
    members = members_of(answer).keys()
    spoken = [each for each, words in WORDS["agent"].items() if not members.isdisjoint(words)]
    if version == 2 and not members - {"protocolVersion", "authMethods", "_meta"}:
        return f"the agent responded with {version}, but without the info that version {version} requires; offer only 1"
    if not spoken or version in spoken:
        return None
    return (
        f"the agent responded with {version}, but its other fields are of version {spoken[0]}; offer only {spoken[0]}"
    )


def initialize_remarks(message: Model, *, side: Side, version: int) -> Iterator[Remark]:
    """Yield likely mistakes in the *message* of *side*, although it could be read.

    The rules: `other-version`, a field of another version instead of that of this version; `no-info`, name and version
    are missing; `unknown-capability`, a name that is similar to a capability. Other unknown names may be new.
    """
    present = {
        info.alias for name, info in type(message).__pydantic_fields__.items() if name in message.model_fields_set
    }
    extra = message.model_extra or {}
    for there, words in WORDS[side].items():
        for ours, theirs in zip(WORDS[side][version], words, strict=True):
            if theirs in extra and ours not in present:
                text = f"this field of version {there} is ignored; in version {version} it is {ours}"
                yield Remark((theirs,), "other-version", text, facts={"member": theirs, "meant": ours})
    capabilities, info = WORDS[side][version]
    for name, field in type(message).__pydantic_fields__.items():
        value: Any = getattr(message, name)
        if field.alias == info and value is None:
            yield Remark((info,), "no-info", "it is missing; a name and a version help when reading logs", "info")
        elif field.alias == capabilities:
            yield from _misspelt(value, (capabilities,))


def _misspelt(capabilities: Model, path: Path) -> Iterator[Remark]:
    """Yield a remark for each field of *capabilities*, at any depth, that is probably misspelled."""
    names = members(type(capabilities))
    for name in capabilities.model_extra or {}:
        if meant := _meant(name, names):
            text = f"this capability is unknown and ignored; did you mean {meant}?"
            yield Remark((*path, name), "unknown-capability", text, facts={"name": name, "meant": meant})
    for name, field in type(capabilities).__pydantic_fields__.items():
        value: Any = getattr(capabilities, name)
        if isinstance(value, Model):
            yield from _misspelt(value, (*path, field.alias or name))


def _meant(name: str, names: Mapping[str, object]) -> str | None:
    """Return the name that *name* probably means, apart from case: a continuation of it, or a similar one."""
    plain = {_plain(each): each for each in names}
    given = _plain(name)
    begun = next((each for each in plain if given and each.startswith(given)), None)
    return plain.get(begun or closest(given, plain, cutoff=0.8) or "")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def in_form_of(version: int, raw: Mapping[str, Any], *, requested: int, findings: list[Finding]) -> Mapping[str, Any]:
    """Return the params *raw* of the version *requested* in the form of *version*.

    Errors that are tolerated in the newer form are added to *findings*. An `info` that cannot be read is `_UNKNOWN`.
    """
    if version >= requested:
        return raw
    if version > 1:
        match raw.get("info"):
            case {"name": str(), "version": str()}:
                return raw
            case _:
                return {**raw, "info": _UNKNOWN}
    if raw.keys() & set(WORDS["client"][1]):
        return raw
    from acp_bindings import v1, v2  # noqa: PLC0415 - packages are loaded only when they are used

    asked = {"protocolVersion": requested, "info": _UNKNOWN, "capabilities": raw.get("capabilities", {})}
    newer = ClientPeer.of(v2, decode(v2.InitializeRequest, asked, findings=findings))
    fields = written(v1, "client", newer.names())
    if newer.capabilities.meta is not None:
        fields["clientCapabilities"]["_meta"] = newer.capabilities.meta
    return {**raw, **fields, "clientInfo": raw.get("info")}


_UNKNOWN = {"name": "unknown", "version": "unknown"}
"""The placeholder for the `info` of a client that cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One side of a connection and its capabilities.

    For typed access to `capabilities`, check their class: `isinstance(peer.capabilities, v1.AgentCapabilities)`.
    """

    side: ClassVar[Side]
    """`agent` or `client`."""

    protocol: ProtocolPackage
    """The negotiated protocol package: `v1`, `v1_unstable`, `v2` or `v2_unstable`."""

    capabilities: Any
    """The capabilities, as an object of the package."""

    info: Implementation | None = None
    """Its name and version, if it sent them."""

    findings: tuple[Finding | Remark, ...] = ()
    """Tolerated errors and likely mistakes in its message of `initialize`."""

    @property
    def version(self) -> int:
        """The negotiated protocol version."""
        return version_of(self.protocol)

    @property
    def display_name(self) -> str:
        """The name for users: its title, its name, or `the agent` or `the client`."""
        return (self.info.title or self.info.name) if self.info else f"the {self.side}"

    def supports(self, capability: Capability) -> bool:
        """Return True if it has advertised a capability, or every peer of the version has it.

        Args:
            capability: a name of this library, the same for all versions: `session.load`, `mcp.http`,
                `fs.read_text_file`.

        Raises:
            UnknownCapability: this side does not have a capability of this name.
        """
        return self.lacks(capability) is None

    def lacks(self, capability: Capability) -> str | None:
        """Return the reason why it does not support a capability; None if it does.

        A value that is missing, `null`, `false`, of a wrong type, or `{}` instead of a boolean means unsupported.

        Raises:
            UnknownCapability: this side does not have a capability of this name.
        """
        place = known(self.side, capability).of(self.version)
        if place is None or not has_word(self.protocol, self.side, capability):
            return f"{name_of(self.protocol)} does not have the capability {capability}"
        if place == ALWAYS or says(self._message, place):
            return None
        return f"the {self.side} has not advertised {place}{self._mistake_at(place)}"

    def ext(self, key: str, default: Any = None) -> Any:
        """Return the value of *key* in the `_meta` of its capabilities, where custom ones are; or *default*.

        The value may be any JSON value.
        """
        meta: Mapping[str, Any] = self.capabilities.meta or {}
        return meta.get(key, default)

    def names(self) -> frozenset[Capability]:
        """Return the names of all supported capabilities."""
        return frozenset(name for name in TABLES[self.side] if self.supports(name))

    def __str__(self) -> str:
        """Return one line for a log: `Claude Code 1.2.3 (ACP v1)`."""
        version = f" {self.info.version}" if self.info else ""
        return f"{one_line(self.display_name + version)} (ACP v{self.version})"

    @property
    def _message(self) -> Mapping[str, Any]:
        """Its message of `initialize`, by the wire names that begin the `Places` of a capability."""
        names = (f"{self.side}Capabilities", "capabilities")
        return {"authMethods": getattr(self, "auth_methods", ()), **dict.fromkeys(names, self.capabilities)}

    @classmethod
    def of(cls, protocol: ProtocolPackage, message: Any, *, findings: Sequence[Finding] = ()) -> Self:
        """Return the sender of *message*, an object of `initialize`, which was read with *findings*."""
        version = version_of(protocol)
        capabilities, info = map(to_snake, WORDS[cls.side][version])
        login = {"auth_methods": tuple(message.auth_methods)} if cls.side == "agent" else {}
        return cls(
            protocol=protocol,
            info=getattr(message, info),
            capabilities=getattr(message, capabilities),
            findings=(*findings, *initialize_remarks(message, side=cls.side, version=version)),
            **login,
        )

    def _mistake_at(self, place: str) -> str:
        """Return the mistake that probably explains why a capability is missing at *place*, or an empty string."""
        way = tuple(place.split("."))
        for each in self.findings:
            if isinstance(each, Finding):
                if each.path == way[: len(each.path)]:
                    return f": its {'.'.join(map(str, each.path))} is invalid ({each.causes[0].message})"
            elif each.rule == "unknown-capability" and (*each.path[:-1], each.facts["meant"]) == way[: len(each.path)]:
                return f"; it has advertised {'.'.join(map(str, each.path))}"
        return ""


@dataclass(frozen=True, kw_only=True)
class AgentPeer(Peer):
    """An agent, as described in its response to `initialize`."""

    side: ClassVar[Side] = "agent"

    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...] = ()
    """The login methods that it has advertised."""

    @classmethod
    def read(cls, result: Any, protocols: Sequence[ProtocolPackage], *, requested: int | None = None) -> AgentPeer:
        """Return the agent that responded to `initialize` with *result*.

        Args:
            result: JSON, as a string or parsed.
            protocols: the supported packages, one for each version. That of the version in *result* is used.
            requested: the requested version, for the error.

        Raises:
            BadProtocolVersion: *result* does not have a valid version, or the rest of it is of another version.
            UnsupportedProtocolVersion: the version is not among *protocols*.
            DecodeError: *result* is not valid in that version.
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

    def login_refusal(self, id: str) -> str | None:  # noqa: A002
        """Return the reason why the login method *id* is not available; None if it is."""
        found = next((each for each in self.auth_methods if method_id(each) == id), None)
        if found is None:
            return "the agent has not advertised it"
        if found.type == TERMINAL:
            return "it is for a terminal, in which the client runs the agent's command"
        return None


@dataclass(frozen=True, kw_only=True)
class ClientPeer(Peer):
    """A client, as described in its `initialize` request."""

    side: ClassVar[Side] = "client"

    capabilities: ClientCapabilities

    @classmethod
    def read(cls, params: Any, protocol: ProtocolPackage) -> ClientPeer:
        """Return the client that sent `initialize` with *params*, and gets a response in the version of *protocol*.

        If the client requested a newer version, its params are read leniently, because they may have another form
        there.

        Args:
            params: JSON, as a string or parsed.
            protocol: the negotiated package.

        Raises:
            BadProtocolVersion: *params* do not have a valid version.
            DecodeError: *params* are not valid in that version.
        """
        raw = parsed(params)
        findings: list[Finding] = []
        form = in_form_of(version_of(protocol), raw, requested=read_version(raw), findings=findings)
        request: Any = decode(cast("Any", protocol).InitializeRequest, form, findings=findings)
        client = cls.of(protocol, request, findings=findings)
        return replace(client, info=None) if form.get("info") is _UNKNOWN else client


TERMINAL = "terminal"
"""The type of login methods for which the client runs the agent in a terminal instead of sending a request."""


def method_id(method: AuthMethod) -> str:
    """Return the id of a login method: `id` in v1, `methodId` in v2."""
    either: Any = method
    id_: str = either.method_id if "method_id" in type(method).__pydantic_fields__ else either.id
    return id_


def parsed(message: Any) -> Any:
    """Return *message*, JSON as a string or parsed, as parsed JSON.

    Raises:
        DecodeError: the string is not valid JSON.
    """
    return decode(Any, message) if isinstance(message, str | bytes | bytearray) else message
