"""The table of capabilities: their names, their places in each version, and the methods that need them.

The versions have most capabilities in different places: `session.load` is `agentCapabilities.loadSession` in v1, and
part of `capabilities.session` in v2. The names here are the same for all versions. Tests compare the table with every
schema.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic.alias_generators import to_snake

from acp_bindings._lazy import closest
from acp_bindings._models.base import Model
from acp_bindings._models.fields import parts_of
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.errors import UnknownCapability

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage

__all__ = ["AgentCapability", "Capability", "ClientCapability"]

Side: TypeAlias = Literal["agent", "client"]
"""The side that advertises a capability."""

AgentCapability: TypeAlias = Literal[
    "auth.login",
    "auth.logout",
    "auth.status",
    "mcp.acp",
    "mcp.http",
    "mcp.sse",
    "mcp.stdio",
    "prompt.audio",
    "prompt.embedded_context",
    "prompt.image",
    "providers",
    "session",
    "session.additional_directories",
    "session.archive",
    "session.close",
    "session.delete",
    "session.fork",
    "session.list",
    "session.load",
    "session.resume",
    "session.status",
    "session.system_prompt",
    "session.system_prompt.override",
    "session.title",
]
"""The name of a capability of agents, for type checkers."""

ClientCapability: TypeAlias = Literal[
    "auth.terminal",
    "compaction",
    "config_options.boolean",
    "elicitation",
    "elicitation.form",
    "elicitation.url",
    "fs.read_text_file",
    "fs.write_text_file",
    "notices",
    "plan",
    "subagents",
    "terminal",
]
"""The name of a capability of clients, for type checkers."""

Capability: TypeAlias = AgentCapability | ClientCapability
"""The name of a capability of either side."""

ALWAYS = ""
"""The place of a capability that every peer of a version has without advertising it."""


class Places(NamedTuple):
    """The path of a capability in the message of `initialize`, for each version.

    `ALWAYS` if every peer of the version has it, None if the version does not.
    """

    v1: str | None
    v2: str | None

    def of(self, version: int) -> str | None:
        """Return the place in *version*."""
        return {1: self.v1, 2: self.v2}[version]


AGENT: Mapping[AgentCapability, Places] = {
    "auth.login": Places("authMethods", "authMethods"),
    "auth.logout": Places("agentCapabilities.auth.logout", "authMethods"),
    "auth.status": Places("agentCapabilities.auth.status", "capabilities.auth.status"),
    "mcp.acp": Places("agentCapabilities.mcpCapabilities.acp", "capabilities.session.mcp.acp"),
    "mcp.http": Places("agentCapabilities.mcpCapabilities.http", "capabilities.session.mcp.http"),
    "mcp.sse": Places("agentCapabilities.mcpCapabilities.sse", None),
    "mcp.stdio": Places(ALWAYS, "capabilities.session.mcp.stdio"),
    "prompt.audio": Places("agentCapabilities.promptCapabilities.audio", "capabilities.session.prompt.audio"),
    "prompt.embedded_context": Places(
        "agentCapabilities.promptCapabilities.embeddedContext", "capabilities.session.prompt.embeddedContext"
    ),
    "prompt.image": Places("agentCapabilities.promptCapabilities.image", "capabilities.session.prompt.image"),
    "providers": Places("agentCapabilities.providers", "capabilities.providers"),
    "session": Places(ALWAYS, "capabilities.session"),
    "session.additional_directories": Places(
        "agentCapabilities.sessionCapabilities.additionalDirectories", "capabilities.session.additionalDirectories"
    ),
    "session.archive": Places("agentCapabilities.sessionCapabilities.archive", "capabilities.session.archive"),
    "session.close": Places("agentCapabilities.sessionCapabilities.close", "capabilities.session"),
    "session.delete": Places("agentCapabilities.sessionCapabilities.delete", "capabilities.session.delete"),
    "session.fork": Places("agentCapabilities.sessionCapabilities.fork", "capabilities.session.fork"),
    "session.list": Places("agentCapabilities.sessionCapabilities.list", "capabilities.session"),
    "session.load": Places("agentCapabilities.loadSession", "capabilities.session"),
    "session.resume": Places("agentCapabilities.sessionCapabilities.resume", "capabilities.session"),
    "session.status": Places("agentCapabilities.sessionCapabilities.status", "capabilities.session.status"),
    "session.system_prompt": Places(
        "agentCapabilities.sessionCapabilities.systemPrompt", "capabilities.session.systemPrompt"
    ),
    "session.system_prompt.override": Places(
        "agentCapabilities.sessionCapabilities.systemPrompt.mode.override",
        "capabilities.session.systemPrompt.mode.override",
    ),
    "session.title": Places("agentCapabilities.sessionCapabilities.title", "capabilities.session.title"),
}
"""The capabilities of agents."""

CLIENT: Mapping[ClientCapability, Places] = {
    "auth.terminal": Places("clientCapabilities.auth.terminal", "capabilities.auth.terminal"),
    "compaction": Places("clientCapabilities.session.compaction", ALWAYS),
    "config_options.boolean": Places("clientCapabilities.session.configOptions.boolean", ALWAYS),
    "elicitation": Places("clientCapabilities.elicitation", "capabilities.elicitation"),
    "elicitation.form": Places("clientCapabilities.elicitation.form", "capabilities.elicitation.form"),
    "elicitation.url": Places("clientCapabilities.elicitation.url", "capabilities.elicitation.url"),
    "fs.read_text_file": Places("clientCapabilities.fs.readTextFile", None),
    "fs.write_text_file": Places("clientCapabilities.fs.writeTextFile", None),
    "notices": Places("clientCapabilities.session.notices", ALWAYS),
    "plan": Places("clientCapabilities.plan", ALWAYS),
    "subagents": Places("clientCapabilities.subagents", None),
    "terminal": Places("clientCapabilities.terminal", None),
}
"""The capabilities of clients."""

TABLES: Mapping[Side, Mapping[Any, Places]] = {"agent": AGENT, "client": CLIENT}

AGENT_METHODS: Mapping[str, AgentCapability | None] = {
    "$/cancel_request": None,
    "auth/login": "auth.login",
    "auth/logout": "auth.logout",
    "auth/status": "auth.status",
    "authenticate": "auth.login",
    "initialize": None,
    "logout": "auth.logout",
    "mcp/message": "mcp.acp",
    "providers/disable": "providers",
    "providers/list": "providers",
    "providers/set": "providers",
    "session/archive": "session.archive",
    "session/cancel": "session",
    "session/close": "session.close",
    "session/delete": "session.delete",
    "session/fork": "session.fork",
    "session/list": "session.list",
    "session/load": "session.load",
    "session/new": "session",
    "session/prompt": "session",
    "session/resume": "session.resume",
    "session/set_config_option": "session",
    "session/set_mode": "session",
    "session/set_title": "session.title",
    "session/status": "session.status",
    "session/unarchive": "session.archive",
    "terminal/cancel": "session",
    "tool_call/cancel": "session",
}
"""The capability of the agent that each method needs; None if it does not need any."""

CLIENT_METHODS: Mapping[str, ClientCapability | None] = {
    "$/cancel_request": None,
    # For these two it is the agent that has advertised something.
    "auth/status_update": None,
    "mcp/message": None,
    "elicitation/complete": "elicitation.url",
    "elicitation/create": "elicitation",
    "fs/read_text_file": "fs.read_text_file",
    "fs/write_text_file": "fs.write_text_file",
    "session/request_permission": None,
    "session/update": None,
    "terminal/create": "terminal",
    "terminal/kill": "terminal",
    "terminal/output": "terminal",
    "terminal/release": "terminal",
    "terminal/wait_for_exit": "terminal",
}
"""The capability of the client that each method needs; None if it does not need any."""

METHODS: Mapping[Side, Mapping[str, Capability | None]] = {"agent": AGENT_METHODS, "client": CLIENT_METHODS}

OFFERED_IN_SESSIONS = frozenset(
    {"session/set_config_option", "session/set_mode", "terminal/cancel", "tool_call/cancel"}
)
"""Methods that are optional for agents with sessions; the updates of a session offer them."""

V2_BASELINE: frozenset[AgentCapability] = frozenset({"session.close", "session.list", "session.load", "session.resume"})
"""The capabilities of every v2 agent with sessions (`SessionCapabilities`)."""

CONTENT: Mapping[str, str | None] = {
    "audio": "prompt.audio",
    "image": "prompt.image",
    "resource": "prompt.embedded_context",
    "resource_link": None,
    "text": None,
}
"""The capability that each content type in a prompt needs; None if it does not need any."""


def known(side: Side, name: str) -> Places:
    """Return the places of a capability of *side*.

    Raises:
        UnknownCapability: *side* does not have a capability of this name.
    """
    table = TABLES[side]
    if name not in table:
        theirs: Side | None = next((other for other in TABLES if name in TABLES[other]), None)
        raise UnknownCapability(name, None if theirs else _meant(name, table), theirs)
    return table[name]


def _meant(name: str, table: Mapping[str, Places]) -> str | None:
    """Return the capability that *name* probably means: its name in a version, or a similar name."""
    for ours, places in table.items():
        if any(place and f".{place}".endswith(f".{name}") for place in places):
            return ours
    return closest(name, table)


def says(message: Mapping[str, Any], place: str) -> bool:
    """Return True if the value at *place* advertises the capability: `true`, an object, or a list that is not empty."""
    first, *way = place.split(".")
    value: Any = message[first]
    for step in way:
        value = getattr(value, to_snake(step), None)
    return value is True or isinstance(value, Model) or (isinstance(value, tuple) and value != ())


def written(protocol: ProtocolPackage, side: Side, names: Collection[str]) -> dict[str, Any]:
    """Return the JSON for the capabilities in *names*, for the message of `initialize`. Other booleans are `false`.

    Capabilities that the version or the package does not have are left out.
    """
    fields: dict[str, Any] = {}
    initialize, version = message_type(protocol, side), version_of(protocol)
    for name, places in TABLES[side].items():
        place = places.of(version)
        if not place or place == "authMethods":
            continue
        *way, last = steps = place.split(".")
        type_ = member_type(initialize, steps)
        if type_ is None or (type_ is not bool and name not in names):
            continue
        at = fields
        for step in way:
            at = at.setdefault(step, {})
        if type_ is bool:
            at[last] = name in names
        else:
            at.setdefault(last, {})
    return fields


def has_word(protocol: ProtocolPackage, side: Side, name: str) -> bool:
    """Return True if a protocol package has a capability, also if every peer has it."""
    place = known(side, name).of(version_of(protocol))
    if not place:
        return place == ALWAYS
    return member_type(message_type(protocol, side), place.split(".")) is not None


def message_type(protocol: ProtocolPackage, side: Side) -> type[Model]:
    """Return the class of the message of *side* in `initialize`: the agent's response or the client's request."""
    package: Any = protocol
    type_: type[Model] = package.InitializeResponse if side == "agent" else package.InitializeRequest
    return type_


def member_type(model: type[Model], way: Collection[str]) -> type | None:
    """Return the class of the field at the path *way* of wire names; None if it does not exist."""
    type_: type | None = model
    for step in way:
        if type_ is None or not issubclass(type_, Model):
            return None
        type_ = members(type_).get(step)
    return type_


@cache
def members(model: type[Model]) -> Mapping[str, type]:
    """Return the fields of a class by wire name, each with the first class in its annotation."""
    return {
        info.alias or name: next(
            (each for each in parts_of(info.annotation) if isinstance(each, type) and each is not NoneType), object
        )
        for name, info in model.__pydantic_fields__.items()
        if name != "meta"
    }
