"""Names of tools that every model API accepts, and the catalogue that maps them to servers and tools.

The rule is the strictest of the well-known APIs: a letter first, then letters, digits, `_` and `-`, 60 characters at
most. OpenAI, Anthropic and Amazon Bedrock accept these characters and at least 64 of them. Google requires a letter or
an underscore first and mentions 63 in one place. Some gateways stop at 60.

A name depends only on the names of the server and the tool:

    github__create_issue                if both are valid as they are
    My_server__cafe_search__pqiomsj4    otherwise, here for "My server" and "café.search": the valid characters of both
                                        and a hash of eight characters of the exact names

So a tool has the same name in every session, whatever other servers there are, and a permission by name stays valid.
The first form can be split in only one way and never looks like the second. Two names of the second form collide once
in 2**40 pairs; the later tool then gets another hash.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from acp_bindings import decode
from acp_bindings.setup.capabilities import AgentCapability
from mcp_launch.failures import LaunchError, LaunchFailure, UnusableInput
from mcp_launch.options import Transports
from mcp_launch.report import TransportName

if TYPE_CHECKING:
    from mcp_types import Tool

    from acp_bindings import v1, v1_unstable, v2, v2_unstable


LONGEST = 60
"""Characters of a name."""
_MARK = re.compile(r"__[a-z2-7]{8}\Z")
_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
"""A valid name of a server: no `__` in it and no `_` at the end, so that the first `__` ends it."""
_TOOL = re.compile(r"[A-Za-z0-9_-]+")


def tool_names(server: str, tool: str) -> Iterator[str]:
    """Yield names for a tool, in order of preference."""
    plain = f"{server}__{tool}"
    fits = _SERVER.fullmatch(server) and _TOOL.fullmatch(tool) and len(plain) <= LONGEST
    if fits and not _MARK.search(tool):
        yield plain
        return
    prefix, stem = _cleaned(server) or "server", _cleaned(tool) or "tool"
    if not prefix[0].isalpha():
        prefix = f"mcp_{prefix}"
    room = LONGEST - len("__") - len("__12345678")
    prefix = prefix[: max(room - len(stem), 20)].rstrip("_")
    stem = stem[: room - len(prefix)].rstrip("_")
    for attempt in count():
        yield f"{prefix}__{stem}__{_digest(server, tool, attempt)}"


def is_name_of(server: str, name: str) -> bool:
    """Return True if *name* begins as the names of the tools of *server* do."""
    return name.partition("__")[0] == next(tool_names(server, "tool")).partition("__")[0]


def _cleaned(text: str) -> str:
    """Return the name without accents, and with an underscore for each run of other characters."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9-]+", "_", letters).strip("_")


def _digest(server: str, tool: str, attempt: int) -> str:
    exact = json.dumps([server, tool, attempt]).encode()
    return base64.b32encode(hashlib.sha256(exact).digest()[:5]).decode().lower()


_TRANSPORTS: tuple[TransportName, ...] = get_args(TransportName)

T = TypeVar(
    "T", bound="v1.McpCapabilities | v1_unstable.McpCapabilities | v2.McpCapabilities | v2_unstable.McpCapabilities"
)


@overload
def capabilities(*, transports: Transports = ("stdio", "http")) -> frozenset[AgentCapability]: ...
@overload
def capabilities(type_: type[T], *, transports: Transports = ("stdio", "http")) -> T: ...
def capabilities(type_: type[Any] | None = None, *, transports: Transports = ("stdio", "http")) -> Any:
    """Return the MCP capabilities that an agent advertises in its response to `initialize`.

        AgentHandshake(capabilities={"session.load", *capabilities()}, …)
        v1.AgentCapabilities(mcp_capabilities=capabilities(v1.McpCapabilities))
        v2.SessionCapabilities(mcp=capabilities(v2.McpCapabilities))

    Protocol versions differ: v1 always includes stdio, v2 does not have SSE. Transports that a version cannot advertise
    are left out. MCP servers over ACP itself (unstable schemas) cannot be launched and are not advertised.

    Args:
        type_: `McpCapabilities` of the agent's protocol package. Without it, the result is a set of names, which
            `acp_bindings.setup.AgentHandshake` converts for the negotiated version.
        transports: the transports to advertise. SSE is not a default because MCP has deprecated it.

    Raises:
        UnusableInput: a transport is unknown.
    """
    wanted = frozenset[str]([transports] if isinstance(transports, str) else transports)
    if unknown := wanted.difference(_TRANSPORTS):
        raise UnusableInput(f'unknown transport "{min(unknown)}"; the transports are {", ".join(_TRANSPORTS)}')
    if type_ is None:
        return frozenset(f"mcp.{name}" for name in wanted)
    members = type_.model_fields.keys()
    advertised: dict[str, Any] = (
        {name: {} for name in wanted & members}
        if "stdio" in members
        else {name: name in wanted for name in ("http", "sse")}
    )
    return decode(type_, advertised)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One tool, with its name for the model and its name on the server."""

    name: str
    """For the model."""
    server: str
    tool: Tool
    """The SDK's own; `tool.name` is its name on the server."""


class UnknownTool(LaunchError, KeyError):  # noqa: N818 - says what is wrong, which a suffix would not
    """No tool has this name. The message can be given to the model that made it up."""

    def __init__(
        self, name: str, similar: Iterable[str], failure: LaunchFailure | None = None, *, starting: bool = False
    ) -> None:
        self.name = name
        self.similar = list(similar)
        """Similar names, the most likely one first."""
        self.failure = failure
        """The failure of the server that the name begins with; None if that did not fail."""
        names = " or ".join(f'"{each}"' for each in self.similar)
        reason = f"; did you mean {names}?" if names else ""
        if failure:
            reason = f", because its server failed: {failure}"
        elif starting:
            reason = "; servers are still starting, so try again later"
        super().__init__(f'unknown tool "{_clipped(name)}"{reason}')

    def __str__(self) -> str:
        """The message, which KeyError would put in quotation marks."""
        return str(self.args[0])


class Catalogue:
    """The tools of several servers. `catalogue["github__create_issue"]` returns one of them.

        catalogue = Catalogue((server.name, server.tools) for server in fleet)
        entry = catalogue[name]
        result = await fleet[entry.server].session.call_tool(entry.tool.name, arguments)

    Iteration yields the entries in the order of the servers and of their lists. If a server lists two tools with the
    same name, only the first is included, because a call cannot tell them apart.
    """

    def __init__(self, servers: Iterable[tuple[str, Iterable[Tool]]]) -> None:
        """Create a catalogue from pairs of a server's name and its tools.

        Raises:
            UnusableInput: two servers with tools have the same name.
        """
        self._entries: dict[str, CatalogueEntry] = {}
        named: set[str] = set()
        for server, tools in servers:
            first_of_each: dict[str, Tool] = {}
            for tool in tools:
                first_of_each.setdefault(tool.name, tool)
            if first_of_each:
                # A server whose name was taken was not launched, so it has no tools.
                if server in named:
                    raise UnusableInput(f'two servers in the catalogue are named "{server}"; names must differ')
                named.add(server)
            for tool in first_of_each.values():
                name = next(each for each in tool_names(server, tool.name) if each not in self._entries)
                self._entries[name] = CatalogueEntry(name, server, tool)

    def __repr__(self) -> str:
        return f"<Catalogue of {len(self)}>"

    def __getitem__(self, name: str) -> CatalogueEntry:
        """Return the entry with this name.

        Raises:
            UnknownTool: no tool has this name; also a KeyError.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise UnknownTool(name, self._similar(name))
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[CatalogueEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _similar(self, name: str) -> list[str]:
        # Models often omit the server.
        without_server = [entry.name for entry in self if entry.tool.name == name]
        return (without_server or difflib.get_close_matches(_clipped(name), self._entries))[:3]


def _clipped(name: str) -> str:
    return name if len(name) <= 2 * LONGEST else name[: 2 * LONGEST] + "…"
