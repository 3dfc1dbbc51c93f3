"""Reads the servers from a text: finds out its format, replaces its references, and notes what is odd in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from mcp_launch._executable import HARMLESS
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._documents import Document, Grammar, read_json, unusable
from mcp_launch.config._entries import (
    HOLDERS,
    Config,
    Entry,
    Finding,
    format_of_path,
    format_of_shape,
    has_shape_of,
    meant_by,
    project_of,
)
from mcp_launch.config._formats import FORMATS, format_called
from mcp_launch.config._formats.format import Draft, Format, Reading, Writing
from mcp_launch.config._references import Reference, Text, replaced, walk
from mcp_launch.failures import UnusableInput


def read_config(
    text: str,
    *,
    source: str,
    format: str | None = None,  # noqa: A002 - the word of the command line
    env: Mapping[str, str] | None = None,
    workspace: str | None = None,
) -> Config:
    """Read the servers that a text asks for.

    `source` is its path, or what else to call it in errors; it tells the format where it can, and else the shape does.
    `env` has the variables (those of this process, if it is None), `workspace` is what `${workspaceFolder}` stands for
    and the project whose servers are read of `~/.claude.json`; without it, it is where the file of a project stands.

    Raises:
        UnusableInput: it cannot be read, or holds nothing that could be servers; the message begins with
            `source:line:column`, both counted from 1. Or there is no such format.
    """
    variables = os.environ if env is None else env
    if workspace is None:
        workspace = project_of(source, home=variables.get("HOME") or variables.get("USERPROFILE"))
    document, chosen, client = _recognised(text, format, source=source)
    reading = Reading(document, source=source, client=client.name if client else None, workspace=workspace)
    entries = tuple([_entry(draft, chosen, reading, variables) for draft in chosen.read(reading)])
    if client is not None and client.name != chosen.name:
        _note_misnamed(client, chosen, reading)
    _note_others(chosen, reading)
    return Config(
        entries=entries,
        format=chosen.name,
        source=source,
        cwd=reading.cwd,
        findings=tuple(sorted(reading.findings, key=lambda found: found.place)),
        rest=reading.rest,
    )


def _recognised(text: str, said: str | None, *, source: str) -> tuple[Document, Format, Format | None]:
    """The document, whose format it is, and that of the client that reads it, if its path or the user tells."""
    if (name := said or format_of_path(source)) is not None:
        known = format_called(name)
        document = read_document(text, source=source, grammar=known.grammar)
        if said is not None or not _is_of_another(document.value, known):
            return document, known, known
        # The path fits, but not the shape: it is a settings.json of another client, or was only named like that.
        return document, _by_shape(document, source=source), known
    if source.lower().endswith((".yaml", ".yml")):
        return read_document(text, source=source, grammar="yaml"), format_called("goose"), None
    try:
        document = read_document(text, source=source)
    except UnusableInput as error:
        # Read it with comments, to see by its shape whose format it is; then by that format, which may not allow them.
        try:
            document = read_document(text, source=source, grammar="jsonc")
        except UnusableInput:
            raise error from None
        chosen = _by_shape(document, source=source)
        return read_document(text, source=source, grammar=chosen.grammar), chosen, None
    return document, _by_shape(document, source=source), None


def _is_of_another(value: Any, known: Format) -> bool:
    if any(isinstance(as_members(value).get(member), dict) for member, *_ in known.at):
        return False
    return not has_shape_of(known.name, value) and any(has_shape_of(each, value) for each in FORMATS)


def _by_shape(document: Document, *, source: str) -> Format:
    if name := format_of_shape(document.value):
        return format_called(name)
    from mcp_launch.config._formats.acp import ACCEPTED  # noqa: PLC0415

    meant = meant_by(document.value, "mcpServers") or f"; expected {ACCEPTED}"
    raise unusable(source, document.place(), f"contains no mcpServers{meant}")


def _note_misnamed(client: Format, chosen: Format, reading: Reading) -> None:
    """Note a file that one client reads, by its path, but whose servers are written as for another client."""
    members = as_members(reading.document.value)
    wanted = client.at[0][0]
    looks = f"needs a map as {wanted}" if wanted in members else f"looks for {wanted}"
    message = f"{client.title} will not find these servers: it {looks}, but they are in the format of {chosen.title}"
    there = next((member for member, *_ in chosen.at if member in members), None)
    reading.note("other_client", message, path=() if there is None else (there,))


def _note_others(chosen: Format, reading: Reading) -> None:
    """Note servers that stand where only another client looks for them."""
    for member in HOLDERS if len(as_members(reading.document.value)) > 1 else ():
        there = as_members(as_members(reading.document.value).get(member))
        if there and member not in {first for first, *_ in chosen.at}:
            message = f"{member} is not used by {chosen.title}, so these servers are not read: {', '.join(there)}"
            reading.note("other_client", message, path=(member,))


def _entry(draft: Draft, chosen: Format, reading: Reading, env: Mapping[str, str]) -> Entry:
    place = draft.place or reading.document.key_place(draft.path)
    if draft.disabled:
        reading.note_at("disabled", f"is disabled in {chosen.title} and not started", place=place, server=draft.name)
    else:
        walk([draft.server, draft.cwd], lambda text: _note_unset(text, draft, chosen, reading, env))
    return Entry(
        name=draft.name,
        server=replaced(draft.server, env, reading.workspace),
        place=place,
        written=draft.server,
        written_cwd=draft.cwd,
        disabled=draft.disabled,
        cwd=_directory(replaced(draft.cwd, env, reading.workspace), reading.workspace),
        timeout=draft.timeout,
        extra=draft.extra,
        secrets=tuple(_secrets(as_members(draft.server), env, reading.workspace)),
    )


def _secrets(server: Mapping[str, Any], env: Mapping[str, str], workspace: str | None) -> Iterator[str]:
    """The values of variables that nothing else hides, as it does those in `env`, headers and the query of a URL."""
    for arg in as_items(server.get("args")):
        if isinstance(arg, Text):
            yield from (env[name] for _, name in arg.from_env(env, workspace) if name not in HARMLESS)
    url = server.get("url")
    if not isinstance(url, Text) or (path := _PATH.match(whole := url.replaced(env, workspace))) is None:
        return
    for at, name in url.from_env(env, workspace):
        value = env[name]
        inside = whole[max(at, path.start(1)) : min(at + len(value), path.end(1))]
        # A variable may hold all of a URL, of whose path only what is long can be a key.
        yield from (part for part in inside.split("/") if len(part) >= (_KEY if "/" in value else 1))


_PATH = re.compile(r"[^:/?#]+://[^/?#]*([^?#]*)")
_KEY = 8
"""Characters of a part of a path that may be a key."""


def _directory(cwd: str | None, workspace: str | None) -> str | None:
    """The directory that a server names for itself; clients take it as relative to the project."""
    return cwd if cwd is None or workspace is None else os.path.normpath(os.path.join(workspace, cwd))


def _note_unset(text: Text, draft: Draft, chosen: Format, reading: Reading, env: Mapping[str, str]) -> None:
    for reference in text.references:
        if reference.value(env, reading.workspace) is None:
            code, message = _unset(reference, chosen)
            reading.note_at(code, message, place=text.place, server=draft.name)


def _unset(reference: Reference, chosen: Format) -> tuple[str, str]:
    match reference.kind:
        case "env":
            hint = _hint(reference.name.removeprefix("env:"), chosen) if reference.name.startswith("env:") else ""
            return "unset_variable", f"{reference.shown} is not set and was not replaced{hint}"
        case "input":
            return "asks_user", f"{chosen.title} asks the user for {reference.shown}, which is not supported here"
        case "workspace" | "workspace name":
            return "unset_variable", _NO_WORKSPACE.format(reference.shown)
        case "file":
            return "not_read", f"{reference.shown} is not supported here and was not replaced"
        case _:
            hint = _hint(reference.name, chosen)
            return "unknown_variable", f"{reference.shown} is not a known variable and was not replaced{hint}"


_NO_WORKSPACE = "{} was not replaced, because no workspace is known; specify one (on the command line, --workspace DIR)"


def _hint(name: str, chosen: Format) -> str:
    is_name = re.fullmatch(r"[A-Z_][A-Z0-9_]*", name)
    said = chosen.syntax.write(Reference("", "env", name)) if is_name else None
    return f"; in {chosen.title}, write {said}" if said else ""


def write_config(config: Config, format: str) -> tuple[str, list[Finding]]:  # noqa: A002 - the word of the command line
    """The text of a file for the client, and what it cannot say, placed in the file that the config is from.

    References stay references, in the way of the client; secrets stay where they stand.

    Raises:
        UnusableInput: there is no such format, or two servers have the same name, which only ACP can say.
    """
    target = format_called(format)
    writing = Writing(config)
    value = target.write(writing)
    text = _yaml(value) if target.grammar == "yaml" else _json(value)
    return text, sorted(writing.findings, key=lambda found: found.place)


def _json(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair: JSON can escape it, but UTF-8 cannot hold it.
        text = json.dumps(value, indent=2)
    return f"{text}\n"


def _yaml(value: Any) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - most files are JSON

    writer: Any = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False
    writer.allow_unicode = True
    writer.width = 1_000_000
    written = StringIO()
    writer.dump(value, written)
    return written.getvalue()


def read_document(text: str, *, source: str, grammar: Grammar = "json") -> Document:
    """Read a text; `source` is what to call it in errors.

    Raises:
        UnusableInput: it is not what the grammar wants, a name occurs twice in one object, or it is nested too deeply.
            The message begins with `source:line:column`, both counted from 1 in characters.
    """
    text = text.removeprefix("\ufeff")
    if grammar != "yaml":
        return read_json(text, source=source, comments=grammar != "json", trailing_commas=grammar == "jsonc")
    from mcp_launch.config._yaml import read_yaml  # noqa: PLC0415 - slow to import, and most files are JSON

    return read_yaml(text, source=source)
