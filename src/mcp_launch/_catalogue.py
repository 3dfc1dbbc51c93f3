"""The name of a tool for models: one that each of them accepts, and that leads back to the server and the tool.

The rule is the strictest of what the references of the well-known APIs say of the name of a function or tool: a letter
first, then letters, digits, `_` and `-`, 60 characters at most. OpenAI, Anthropic and Amazon Bedrock take these
characters, and 64 of them or more; Google wants a letter or an underscore first and says 63 in one place; some gateways
stop at 60.

A name is made of the server's name and the tool's, and of nothing else:

    github__create_issue                where both fit as they are
    My_server__cafe_search__pqiomsj4    where they do not, as "My server" and "café.search": what is left of them, and
                                        eight characters made of the exact names

So a tool has the same name whatever other servers there are, in every session, and what a user once allowed by its name
stays allowed. The first form can be taken apart in one way only and never looks like the second; two of the second may
meet once in 2**40 pairs, and then the later tool gets eight other characters.
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
from mcp_launch.failures import LaunchError, UnusableInput
from mcp_launch.options import Transports
from mcp_launch.report import TransportName

if TYPE_CHECKING:
    from mcp_types import Tool

    from acp_bindings import v1, v1_unstable, v2, v2_unstable


LONGEST = 60
"""Characters of a name."""
_MARK = re.compile(r"__[a-z2-7]{8}\Z")
_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
"""A server's name that fits: without `__` and with no `_` at the end, so that the first `__` is where it ends."""
_TOOL = re.compile(r"[A-Za-z0-9_-]+")


def tool_names(server: str, tool: str) -> Iterator[str]:
    """The names for a tool, the one to use first."""
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


def _cleaned(text: str) -> str:
    """What is left of a name: no accents, and one underscore for whatever has no place."""
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
def capabilities(*, transports: Transports = ("stdio", "http")) -> frozenset[str]: ...
@overload
def capabilities(type_: type[T], *, transports: Transports = ("stdio", "http")) -> T: ...
def capabilities(type_: type[Any] | None = None, *, transports: Transports = ("stdio", "http")) -> Any:
    """The MCP part of what an agent advertises in its answer to `initialize`.

        AgentHandshake(capabilities={"session.load"} | capabilities(), …)
        v1.AgentCapabilities(mcp_capabilities=capabilities(v1.McpCapabilities))
        v2.SessionCapabilities(mcp=capabilities(v2.McpCapabilities))

    The forms do not have the same words: v1 takes stdio for granted, v2 has no SSE. A transport that a form has no word
    for goes unsaid. MCP servers that are reached through ACP itself, of the unstable schemas, cannot be launched and
    are not advertised.

    Args:
        type_: `McpCapabilities` of the protocol package that the agent speaks. Without it, they come as names, which
            `acp_bindings.setup.AgentHandshake` writes in the form of the version that it settles on.
        transports: those that the agent wants to use. SSE is not among them unless asked for: MCP has deprecated it.

    Raises:
        UnusableInput: there is no such transport.
    """
    wanted = frozenset[str]([transports] if isinstance(transports, str) else transports)
    if unknown := wanted.difference(_TRANSPORTS):
        raise UnusableInput(f'there is no transport "{min(unknown)}"; they are {", ".join(_TRANSPORTS)}')
    if type_ is None:
        return frozenset(f"mcp.{name}" for name in wanted)
    members = type_.model_fields.keys()
    said: dict[str, Any] = (
        {name: {} for name in wanted & members}
        if "stdio" in members
        else {name: name in wanted for name in ("http", "sse")}
    )
    return decode(type_, said)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One tool: what the model calls it, and what it is called on the server."""

    name: str
    """For the model."""
    server: str
    tool: Tool
    """The SDK's own; `tool.name` is what the server wants to hear."""


class UnknownTool(LaunchError, KeyError):  # noqa: N818 - says what is wrong, which a suffix would not
    """No tool has that name; the message can be given to the model that made it up."""

    def __init__(self, name: str, similar: Iterable[str]) -> None:
        self.name = name
        self.similar = list(similar)
        """Names there are that it may have meant, the likeliest first."""
        meant = " or ".join(f'"{each}"' for each in self.similar)
        super().__init__(f'there is no tool "{_clipped(name)}"' + (f"; did you mean {meant}?" if meant else ""))

    def __str__(self) -> str:
        """The message, which KeyError would put in quotation marks."""
        return str(self.args[0])


class Catalogue:
    """The tools of some servers; `catalogue["github__create_issue"]` is one of them.

        catalogue = Catalogue((server.name, server.tools) for server in fleet)
        entry = catalogue[name]
        result = await fleet[entry.server].session.call_tool(entry.tool.name, arguments)

    Iterating gives the entries, in the order of the servers and of their lists. A tool that a server lists twice under
    one name is in it once, as listed first: a call could not say which of them it means.
    """

    def __init__(self, servers: Iterable[tuple[str, Iterable[Tool]]]) -> None:
        """Build it of each server's name and its tools.

        Raises:
            UnusableInput: two servers that have tools have the same name.
        """
        self._entries: dict[str, CatalogueEntry] = {}
        named: set[str] = set()
        for server, tools in servers:
            first_of_each: dict[str, Tool] = {}
            for tool in tools:
                first_of_each.setdefault(tool.name, tool)
            if first_of_each:
                # A server of a name that is taken was not launched, and has no tools.
                if server in named:
                    raise UnusableInput(f'two servers of the catalogue are called "{server}"; names must differ')
                named.add(server)
            for tool in first_of_each.values():
                name = next(each for each in tool_names(server, tool.name) if each not in self._entries)
                self._entries[name] = CatalogueEntry(name, server, tool)

    def __repr__(self) -> str:
        return f"<Catalogue of {len(self)}>"

    def __getitem__(self, name: str) -> CatalogueEntry:
        """The tool of that name.

        Raises:
            UnknownTool: there is none; it is a KeyError too.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise UnknownTool(name, self._like(name))
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[CatalogueEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _like(self, name: str) -> list[str]:
        # Models like to leave the server out.
        without_server = [entry.name for entry in self if entry.tool.name == name]
        return (without_server or difflib.get_close_matches(_clipped(name), self._entries))[:3]


def _clipped(name: str) -> str:
    return name if len(name) <= 2 * LONGEST else name[: 2 * LONGEST] + "…"
