"""The tools of all servers in one catalogue, each by a name that every model accepts and that leads back to it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_launch.agents.tool_names import LONGEST, tool_names
from mcp_launch.failures import LaunchError, UnusableInput

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["Catalogue", "CatalogueEntry", "UnknownTool"]


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
