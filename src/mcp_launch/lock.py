"""Lock files: the tools of servers as they were when you looked at them, and what has changed since.

    lock = ToolLock.read(".mcp.json.lock.json")
    async with launch(servers, cwd=cwd, options=Options(lock=lock)) as fleet:
        ...  # a server whose tools have changed has failed with the code "changed"

A lock file has the name, title, description, schemas and annotations of each tool, without secrets, and a digest of
them. The same tools always give the same text.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from mcp_launch._json_values import as_items, as_members, indented
from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from mcp_types import Tool

    from mcp_launch.fleet import Fleet

__all__ = ["LockedTools", "ToolChange", "ToolLock"]

LockedTools: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The fields of each tool of a server, by the name of the tool."""
_FIELDS = ("title", "description", "inputSchema", "outputSchema", "annotations")
_Kind: TypeAlias = Literal["added", "removed", "changed"]
_VERSION = 1
_ANEW = "delete it, look at the tools, and run mcp-launch lock"
_NAMED = 3
"""The maximum number of tools in the summary of a failure."""
_LONGEST = 20_000
"""The maximum length of a difference in the facts of a failure, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A tool that differs from its lock."""

    tool: str
    kind: _Kind
    fields: tuple[str, ...]
    """The names of the fields that differ, as MCP writes them."""
    diff: str
    """A unified difference of these fields: descriptions as text, schemas as JSON. Invisible characters are escaped."""

    def __str__(self) -> str:
        """`"search": description, inputSchema`, `"send" is new` or `"find" is gone`."""
        name = json.dumps(self.tool, ensure_ascii=False)
        match self.kind:
            case "added":
                return f"{name} is new"
            case "removed":
                return f"{name} is gone"
            case "changed":
                return f"{name}: {', '.join(self.fields)}"


@dataclass(frozen=True, slots=True)
class ToolLock:
    """The locked tools of servers."""

    servers: Mapping[str, LockedTools] = field(repr=False)
    """The tools of each server, by the name of the server."""
    source: str = "the lock"
    """The name of the lock in messages, such as its file."""

    @classmethod
    def of(cls, fleet: Fleet, *, source: str = "the lock") -> Self:
        """Return the lock of the tools of all servers in a fleet that are ready."""
        ready = (server for server in fleet if server.state == "ready")
        return cls({server.name: locked(server.tools, server.redact) for server in ready}, source)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a lock file.

        Raises:
            UnusableInput: the file cannot be read, is not a lock file, or was edited by hand.
        """
        source = os.fspath(path)
        try:
            document = as_members(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise UnusableInput(f"{source}: {error.strerror}") from None
        except ValueError:
            raise UnusableInput(f"{source}: is not JSON; {_ANEW}") from None
        if document.get("version") != _VERSION:
            raise UnusableInput(f"{source}: is not a lock file of this version; {_ANEW}")
        servers = as_members(document.get("servers"))
        return cls({name: dict(_read(as_members(tools), source, name)) for name, tools in servers.items()}, source)

    @property
    def text(self) -> str:
        """The content of the lock file: JSON with sorted names, and descriptions as lists of lines."""
        servers = {
            server: {name: {"digest": _digest(tool), **_written(tool)} for name, tool in tools.items()}
            for server, tools in self.servers.items()
        }
        document = {"version": _VERSION, "servers": servers}
        return _escaped(indented(document, sort_keys=True, ensure_ascii=False)) + "\n"

    def changes(self, server: str, tools: Iterable[Tool]) -> list[ToolChange]:
        """Return how the tools of a server differ from the lock. All tools of a server without a lock are new.

        The tools are compared as they are. `Options(lock=...)` removes secrets first, as the lock file does.
        """
        return list(changes(self.servers.get(server, {}), locked(tools)))


def locked(tools: Iterable[Tool], redact: Callable[[Any], Any] = lambda value: value) -> dict[str, dict[str, Any]]:
    """Return the fields of tools that a lock file stores. Of two tools with the same name, the first is used."""
    found: dict[str, dict[str, Any]] = {}
    for tool in tools:
        included = {name for name, info in type(tool).model_fields.items() if (info.alias or name) in _FIELDS}
        known = tool.model_dump(mode="json", by_alias=True, exclude_none=True, include=included)
        found.setdefault(redact(tool.name), redact({name: known[name] for name in _FIELDS if name in known}))
    return found


def changes(before: LockedTools, now: LockedTools) -> Iterator[ToolChange]:
    """Yield how tools differ from their lock, sorted by name."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        fields = tuple(each for each in _FIELDS if (old or {}).get(each) != (new or {}).get(each))
        if old is None or new is None or fields:
            diff = "".join(_diff(f"{name}: {each}", (old or {}).get(each), (new or {}).get(each)) for each in fields)
            kind: _Kind = "added" if old is None else "removed" if new is None else "changed"
            yield ToolChange(tool=name, kind=kind, fields=fields, diff=diff)


def summary(found: list[ToolChange], lock: ToolLock, server: str) -> str:
    """Return the message of a failure for a server whose tools have changed."""
    if server not in lock.servers:
        return f"is not in {lock.source}; look at its tools, then run mcp-launch lock --update"
    named = "; ".join(map(str, found[:_NAMED]))
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"its tools differ from {lock.source}: {named}{more}"


def facts(found: list[ToolChange], lock: ToolLock) -> dict[str, Any]:
    """Return the facts of a failure for a server whose tools have changed."""
    diff = "".join(each.diff for each in found)
    cut = f"{diff[:_LONGEST]}\n... and {len(diff) - _LONGEST:,} characters more\n" if len(diff) > _LONGEST else diff
    kinds: dict[str, list[str]] = {}
    for each in found:
        kinds.setdefault(each.kind, []).append(each.tool)
    return {"lock": lock.source, **kinds, "diff": cut}


def _written(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the description as lines, so that tools for text files can compare it."""
    description = tool.get("description")
    return {**tool, **({"description": description.split("\n")} if isinstance(description, str) else {})}


def _read(tools: Mapping[str, Any], source: str, server: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, written in tools.items():
        tool = dict(as_members(written))
        digest = tool.pop("digest", None)
        if "description" in tool:
            tool["description"] = "\n".join(map(str, as_items(tool["description"])))
        if digest != _digest(tool):
            wrong = f"the digest of {json.dumps(name)} of {server} does not match"
            raise UnusableInput(f"{source}: {wrong}, as after an edit by hand; {_ANEW}")
        yield name, tool


def _digest(tool: Mapping[str, Any]) -> str:
    canonical = json.dumps(tool, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def _diff(title: str, old: object, new: object) -> str:
    import difflib  # noqa: PLC0415 - only needed for changes

    lines = difflib.unified_diff(_lines(old), _lines(new), f"{title}, locked", f"{title}, now", n=2, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(value: object) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else indented(value, sort_keys=True, ensure_ascii=False)
    return [_escaped(line) for line in text.split("\n")]


def _escaped(text: str) -> str:
    """Return the text with invisible characters as JSON escapes, so that a change of them can be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)
