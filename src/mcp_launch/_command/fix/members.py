"""Proposes the names and types that the members of an entry should have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from acp_bindings._http import is_loopback
from acp_bindings._lazy import closest
from mcp_launch._command.fix.draft import Draft, Remedy, each_value, renamed
from mcp_launch._command.fix.paths import corrected_command, program_at
from mcp_launch._executable import words_of
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._documents import Path
from mcp_launch.config._edit import Edit
from mcp_launch.config._formats.map import ends_in_sse

_ALIASES = {
    "arg": "args",
    "argument": "args",
    "arguments": "args",
    "argv": "args",
    "baseurl": "url",
    "cmd": "command",
    "endpoint": "url",
    "environment": "env",
    "envs": "env",
    "executable": "command",
    "header": "headers",
    "httpurl": "url",
    "program": "command",
    "serverurl": "url",
    "transporttype": "type",
    "uri": "url",
    "vars": "env",
}
"""Names of members in other clients, and what they mean here."""
_MEMBERS = ("command", "args", "env", "url", "headers", "type")


def shape(draft: Draft) -> Iterator[Remedy]:
    """Propose to write members with their names and types. All at once, because each one alone may not suffice."""
    whats: list[str] = []
    edits: list[Edit] = []
    names = {each: draft.name_of(each) for each in _MEMBERS}
    known = draft.form.known()
    raw = dict(draft.raw)
    for member in [each for each in raw if each not in known]:
        meant = _ALIASES.get(member.lower()) or closest(member.lower(), _MEMBERS, cutoff=0.75)
        if meant and names[meant] not in raw:
            edits.append(Edit(draft.at(member), names[meant], "rename"))
            whats.append(f"rename {member} to {names[meant]}")
            raw[names[meant]] = raw.pop(member)
    for step in (_whole_command, _pairs, _url_form, _type):
        step(draft, raw, names, whats, edits)
    yield Remedy(what="; ".join(whats), edits=tuple(edits))


def _whole_command(
    draft: Draft, raw: dict[str, Any], names: dict[str, str], whats: list[str], edits: list[Edit]
) -> None:
    """Split a command line into the program and its arguments."""
    command, args = raw.get(names["command"]), raw.get("args")
    words = words_of(args) if isinstance(args, str) else [_text(each) for each in as_items(args)]
    if isinstance(args, str):
        whats.append("write args as a list")
    elif words != as_items(args):
        whats.append("write the arguments as strings")
    if as_items(command):
        program, *more = [_text(each) for each in as_items(command)]
        whats.append("split the command into the program and its arguments")
    elif isinstance(command, str) and (split := _split_command(command, draft)):
        program, *more = split
        whats.append("split the command into the program and its arguments")
    else:
        program, more = command, []
    if program != command:
        edits.append(Edit(draft.at(names["command"]), program))
    if more or (words != args and "args" in raw):
        edits.append(Edit(draft.at("args"), [*more, *words], after=names["command"]))


def _split_command(command: str, draft: Draft) -> list[str] | None:
    """Return the words of a command line; None if it is the name of one program."""
    if draft.code != "command_not_found" or not any(each.isspace() for each in command.strip()):
        return None
    words = words_of(command)
    # A path with a space is one word if its first part is not a program.
    is_program = bool(words) and (program_at(words[0], draft) or corrected_command(words[0], draft))
    return words if len(words) > 1 and is_program else None


def _text(value: Any) -> Any:
    """Return a number or a boolean as a string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _pairs(draft: Draft, raw: dict[str, Any], names: dict[str, str], whats: list[str], edits: list[Edit]) -> None:
    """Write variables and headers as the format requires, and their values as strings."""
    for member, splitter in (("env", "="), ("headers", ":")):
        called, value = names[member], raw.get(names[member])
        at = draft.at(called)
        if draft.is_map and isinstance(value, list):
            pairs = [_pair(each, splitter) for each in as_items(value)]
            if pairs and all(pairs):
                edits.append(Edit(at, dict(cast("list[tuple[str, str]]", pairs))))
                whats.append(f"write {called} as a map")
        elif not draft.is_map and isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            edits.append(Edit(at, [{"name": name, "value": _text(each)} for name, each in members.items()]))
            whats.append(f"write {called} as a list of names and values")
        else:
            _values(at, value, member, whats, edits)


def _values(at: Path, value: Any, member: str, whats: list[str], edits: list[Edit]) -> None:
    for path, name, each in each_value(at, value):
        given = _text(each)
        given = given.strip() if member == "headers" and isinstance(given, str) else given
        if given != each:
            edits.append(Edit(path, given))
            whats.append(f"write the value of {name} as a string" if each != str(each) else f"trim the value of {name}")
    for path, name, _ in each_value(at, value):
        plain = name.strip().rstrip(":") if member == "headers" else name.strip()
        if plain != name:
            edits.append(renamed(path, plain))
            whats.append(f"rename {name.strip()} to {plain}")


def _pair(item: Any, splitter: str) -> tuple[str, str] | None:
    members = as_members(item)
    if members.keys() >= {"name", "value"}:
        return str(members["name"]), _text(members["value"])
    name, found, value = item.partition(splitter) if isinstance(item, str) else ("", "", "")
    return (name.strip(), value.strip()) if found and name else None


def _url_form(draft: Draft, raw: dict[str, Any], names: dict[str, str], whats: list[str], edits: list[Edit]) -> None:
    """Write the URL with a scheme, and a URL that was given as a command as the URL."""
    command = raw.get(names["command"])
    if isinstance(command, str) and re.match(r"https?://", command.strip()) and names["url"] not in raw:
        edits[:] = [each for each in edits if each.path != draft.at(names["command"])]
        edits.append(Edit(draft.at(names["command"]), names["url"], "rename"))
        if not raw.get("args") and "args" in raw:
            edits.append(Edit(draft.at("args"), action="remove"))
        whats.append(f"give the URL as {names['url']}")
        raw[names["url"]] = raw.pop(names["command"])
    url = raw.get(names["url"])
    if not isinstance(url, str):
        return
    plain = url.strip().strip("\"'<>")
    plain = re.sub(r"^(https?)(?::/|/{1,2}|:)(?!/)", r"\1://", plain)
    if plain and "://" not in plain and not plain.startswith(("$", "%")):
        host = plain.partition("/")[0].rpartition(":")[0] or plain
        plain = f"{'http' if is_loopback(host.strip('[]')) else 'https'}://{plain}"
    if plain != url and draft.code in ("invalid_spec", "unsupported_transport"):
        edits.append(Edit(draft.at(names["url"]), plain))
        whats.append("write the URL with its scheme and without other characters")
        raw[names["url"]] = plain


def _type(draft: Draft, raw: dict[str, Any], names: dict[str, str], whats: list[str], edits: list[Edit]) -> None:
    """Set the type that the other members mean."""
    if draft.code not in ("invalid_spec", "unsupported_transport"):
        return
    has_url, has_command = isinstance(raw.get(names["url"]), str), names["command"] in raw
    if has_url == has_command:
        return
    kind = raw.get("type", raw.get("transport"))
    meant = "stdio" if has_command else "sse" if ends_in_sse(raw[names["url"]]) else "http"
    types = draft.form.types
    member = "transport" if "transport" in raw and "type" not in raw and draft.is_map else "type"
    if kind in types.values() and (kind == types.get("stdio", "stdio")) == has_command:
        return
    if meant in types:
        needed = kind is not None or meant != "stdio"
        if needed and kind != types[meant]:
            edits.append(Edit(draft.at(member), types[meant], after=names["url"] if has_url else None))
            whats.append(f"set {member} to {types[meant]}")
    elif kind is not None and kind != meant:
        edits.append(Edit(draft.at(member), action="remove"))
        whats.append(f"remove {member}")
