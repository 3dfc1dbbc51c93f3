"""Reads config files: detects the format, replaces references and reports problems. Writes them too."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, cast

from mcp_launch._executable import HARMLESS
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._detection import HOLDERS, format_of_path, format_of_shape, meant_by, project_of, shapes_of
from mcp_launch.config._documents import Document, Grammar, read_json, unusable
from mcp_launch.config._entries import Config, Entry, Finding, input_ids
from mcp_launch.config._formats import format_called
from mcp_launch.config._formats.acp import ACCEPTED
from mcp_launch.config._formats.format import Format, Reading, Writing
from mcp_launch.config._references import Reference, Text, Values, replaced, texts_in
from mcp_launch.failures import UnusableInput, did_you_mean

_PATH = re.compile(r"[^:/?#]+://[^/?#]*([^?#]*)")
_KEY = 8
"""The minimum length of a part of a path that may be a key."""
_NO_WORKSPACE = "{} was not replaced, because no workspace is known; specify one (on the command line, --workspace DIR)"


def read_config(
    text: str,
    *,
    source: str,
    format: str | None = None,  # noqa: A002 - the word of the command line
    env: Mapping[str, str] | None = None,
    workspace: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Config:
    """Read the servers in a config file.

    Args:
        text: the content of the file.
        source: its path, or another name for error messages.
        format: the name of its format. By default, the path and the content determine it.
        env: the variables to replace references with; by default those of this process.
        workspace: the value of `${workspaceFolder}`, and the project to read from `~/.claude.json`; by default the
            project that the file belongs to.
        inputs: the values that a client would ask its user for, by name: the inputs of `server.json` and of VS Code.

    Raises:
        UnusableInput: the file is invalid or contains no servers, or a value is not one of the choices of its input;
            the message begins with `source:line:column`, both from 1. Or the format is unknown.
    """
    variables = os.environ if env is None else env
    if workspace is None:
        workspace = project_of(source, variables)
    unmarked = text.removeprefix("\ufeff")
    document, chosen, client = recognized(unmarked, format, source=source)
    values = Values(variables, workspace, inputs or {}, source)
    reading = Reading(document, source=source, client=client.name if client else None, values=values)
    entries = tuple([_replaced(entry, chosen, reading) for entry in chosen.read(reading)])
    if client is not None and client.rejects_mark and unmarked != text:
        message = f"{client.title} rejects the byte order mark with which the file begins; save it as UTF-8 without one"
        reading.note("byte_order_mark", message, path=())
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
        phrases=chosen.all_phrases(),
    )


def write_config(config: Config, format: str) -> tuple[str, list[Finding]]:  # noqa: A002 - the word of the command line
    """Return the text of a file for a client, and findings about what its format cannot express.

    Findings have positions in the original file. References are written in the syntax of the client, and secrets are
    kept.

    Raises:
        UnusableInput: the format is unknown, or two servers have the same name, which only ACP allows.
    """
    target = format_called(format)
    writing = Writing(config)
    value = target.write(writing)
    write = {"yaml": _yaml, "toml": _toml}.get(target.grammar, _json)
    return write(value), sorted(writing.findings, key=lambda found: found.place)


def read_document(text: str, *, source: str, grammar: Grammar = "json") -> Document:
    """Parse a text; *source* is its name in error messages.

    Raises:
        UnusableInput: it is invalid, repeats a name in an object, or is nested too deeply. The message begins with
            `source:line:column`, both from 1 in characters.
    """
    text = text.removeprefix("\ufeff")
    # The others are imported late, because most files are JSON.
    if grammar == "yaml":
        from mcp_launch.config._yaml import read_yaml  # noqa: PLC0415

        return read_yaml(text, source=source)
    if grammar == "toml":
        from mcp_launch.config._toml import read_toml  # noqa: PLC0415

        return read_toml(text, source=source)
    return read_json(text, source=source, comments=grammar != "json", trailing_commas=grammar == "jsonc")


def recognized(text: str, said: str | None, *, source: str) -> tuple[Document, Format, Format | None]:
    """Return the document, its format, and the format of the client that reads it, if path or user specify that."""
    if (name := said or format_of_path(source)) is not None:
        known = format_called(name)
        document = read_document(text, source=source, grammar=known.grammar)
        if said is not None or not _is_of_another(document.value, known):
            return document, known, known
        # The path fits, but not the shape: it is the file of another client.
        return document, _by_shape(document, source=source), known
    if source.lower().endswith((".yaml", ".yml")):
        return read_document(text, source=source, grammar="yaml"), format_called("goose"), None
    if source.lower().endswith(".toml") or re.search(r"(?m)^\s*\[mcp_servers\.", text):
        return read_document(text, source=source, grammar="toml"), format_called("codex"), None
    try:
        document = read_document(text, source=source)
    except UnusableInput as error:
        # Parse it with comments to detect the format, then by that format, which may not allow comments.
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
    shapes = shapes_of(value)
    return bool(shapes) and known.name not in shapes


def _by_shape(document: Document, *, source: str) -> Format:
    if name := format_of_shape(document.value):
        return format_called(name)
    meant = meant_by(document.value, "mcpServers") or f"; expected {ACCEPTED}"
    raise unusable(source, document.place(), f"contains no mcpServers{meant}")


def _note_misnamed(client: Format, chosen: Format, reading: Reading) -> None:
    """Report a file whose path belongs to one client, but whose content is in the format of another."""
    members = as_members(reading.document.value)
    wanted = client.at[0][0]
    looks = f"needs a map as {wanted}" if wanted in members else f"looks for {wanted}"
    message = f"{client.title} will not find these servers: it {looks}, but they are in the format of {chosen.title}"
    there = next((member for member, *_ in chosen.at if member in members), None)
    reading.note("other_client", message, path=() if there is None else (there,))


def _note_others(chosen: Format, reading: Reading) -> None:
    """Report servers in a member that only another client reads."""
    for member in HOLDERS if len(as_members(reading.document.value)) > 1 else ():
        there = as_members(as_members(reading.document.value).get(member))
        if there and member not in {first for first, *_ in chosen.at}:
            message = f"{member} is not used by {chosen.title}, so these servers are not read: {', '.join(there)}"
            reading.note("other_client", message, path=(member,))


def _replaced(entry: Entry, chosen: Format, reading: Reading) -> Entry:
    """Return the entry with its references replaced, and report those without a value."""
    if entry.disabled:
        reading.findings = [
            each for each in reading.findings if (each.server, each.code) != (entry.name, "unexpanded_variable")
        ]
        where = chosen.title if reading.client else "the file"
        reading.note_at("disabled", f"is disabled in {where} and not started", place=entry.place, server=entry.name)
    else:
        inputs = input_ids(reading.rest)
        for text in texts_in([entry.written, entry.written_cwd]):
            for reference in text.references:
                if reference.value(reading.values) is None:
                    code, message = _unset(reference, chosen, inputs)
                    reading.note_at(code, message, place=text.place, server=entry.name)
    cwd = replaced(entry.written_cwd, reading.values)
    if cwd is not None and reading.values.workspace is not None:
        cwd = os.path.normpath(os.path.join(reading.values.workspace, cwd))
    secrets = tuple(_secrets(as_members(entry.written), reading.values))
    server = replaced(_without_unset(entry.written, reading.values), reading.values)
    return entry._replace(server=server, cwd=cwd, secrets=secrets)


def _without_unset(server: Any, values: Values) -> Any:
    """Return the server without the variables and headers that are forwarded from a variable that is not set."""

    def is_set(pair: Any) -> bool:
        references = (each for text in texts_in(pair) for each in text.references)
        return all(each.text or each.value(values) is not None for each in references)

    lists = {member: as_items(as_members(server).get(member)) for member in ("env", "headers")}
    kept = {member: [*filter(is_set, pairs)] for member, pairs in lists.items() if pairs}
    return {**server, **kept} if kept else server


def _secrets(server: Mapping[str, Any], values: Values) -> Iterator[str]:
    """Yield the values of variables and inputs in arguments and URL paths, which are not redacted otherwise."""
    for arg in as_items(server.get("args")):
        if isinstance(arg, Text):
            yield from (value for _, name, value in arg.given(values) if name not in HARMLESS)
    url = server.get("url")
    if not isinstance(url, Text) or (path := _PATH.match(whole := url.replaced(values) or "")) is None:
        return
    for at, _, value in url.given(values):
        inside = whole[max(at, path.start(1)) : min(at + len(value), path.end(1))]
        # A variable may contain a whole URL; only long parts of its path can be keys.
        yield from (part for part in inside.split("/") if len(part) >= (_KEY if "/" in value else 1))


def _unset(reference: Reference, chosen: Format, inputs: Sequence[str]) -> tuple[str, str]:  # noqa: PLR0911 - a list of cases
    match reference.kind:
        case "env" if not reference.text:
            return "unset_variable", f"{reference.shown} is not set; {chosen.title} may have its value elsewhere"
        case "env":
            hint = _hint(reference.name.removeprefix("env:"), chosen) if reference.name.startswith("env:") else ""
            return "unset_variable", f"{reference.shown} is not set and was not replaced{hint}"
        case "input" if inputs and reference.name not in inputs:
            hint = did_you_mean(reference.name, inputs)
            return "unknown_variable", f"{reference.shown} is not one of the inputs of the file{hint}"
        case "input":
            advice = f"pass --set {reference.name}=VALUE" if re.fullmatch(r"[\w.-]+", reference.name) else "pass it"
            return "asks_user", f"{chosen.title} asks the user for {reference.shown}; {advice} (in Python, inputs=)"
        case "workspace" | "workspace name":
            return "unset_variable", _NO_WORKSPACE.format(reference.shown)
        case "file":
            return "not_read", f"{reference.shown} is not supported here and was not replaced"
        case _:
            hint = _hint(reference.name, chosen)
            return "unknown_variable", f"{reference.shown} is not a known variable and was not replaced{hint}"


def _hint(name: str, chosen: Format) -> str:
    is_name = re.fullmatch(r"[A-Z_][A-Z0-9_]*", name)
    said = chosen.syntax.write(Reference("", "env", name)) if is_name else None
    return f"; in {chosen.title}, write {said}" if said else ""


def _json(value: Any) -> str:
    # A lone surrogate can be escaped in JSON, but not encoded in UTF-8.
    text = json.dumps(value, indent=2, ensure_ascii=False).encode(errors="backslashreplace").decode()
    return f"{text}\n"


def _toml(value: Any) -> str:
    import tomlkit  # noqa: PLC0415 - slow to import, and most files are JSON

    return tomlkit.dumps(_without_null(value))


def _without_null(value: Any) -> Any:
    """Return a JSON value without null, which TOML does not have: the members of objects and items of arrays go."""
    match value:
        case dict():
            members = cast("dict[str, Any]", value)
            return {name: _without_null(item) for name, item in members.items() if item is not None}
        case [*items]:
            return [_without_null(item) for item in items if item is not None]
        case _:
            return value


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
