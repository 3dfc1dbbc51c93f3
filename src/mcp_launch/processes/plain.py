"""Reads raw JSON of stdio servers that is surely valid, without the libraries that take time to load."""

from __future__ import annotations

from typing import NamedTuple, cast

from mcp_launch.json_values import as_members

__all__ = ["Plain", "plain_entry"]


class Plain(NamedTuple):
    """The members of such an entry."""

    name: str
    command: str
    args: list[str]
    env: list[tuple[str, str]]


def plain_entry(entry: object) -> Plain | None:
    """The members of an entry that is surely valid; None for any that the launcher may refuse."""
    members = as_members(entry)
    if members.get("type", "stdio") != "stdio":
        return None
    # Only where the tag is written may these be left out.
    absent: list[object] | None = [] if "type" in members else None
    name, command = members.get("name"), members.get("command")
    args, env = _texts(members.get("args", absent)), _variables(members.get("env", absent))
    if not (isinstance(name, str) and name and isinstance(command, str) and command) or args is None or env is None:
        return None
    return Plain(name, command, args, env)


def _texts(value: object) -> list[str] | None:
    """The value, if it is an array of texts."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else None


def _variables(value: object) -> list[tuple[str, str]] | None:
    """Names and values, if it is an array of variables."""
    if not isinstance(value, list):
        return None
    pairs: list[tuple[str, str]] = []
    for item in cast("list[object]", value):
        match item:
            case {"name": str(name), "value": str(text)}:
                pairs.append((name, text))
            case _:
                return None
    return pairs
