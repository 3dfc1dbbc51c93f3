"""The format of the MCP registry, which describes how one server is installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from acp_bindings._lazy import closest
from mcp_launch._executable import WITH_VALUE, WITH_VALUE_OF_DOCKER
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._detection import described, meant_by
from mcp_launch.config._documents import Path
from mcp_launch.config._entries import Entry, input_ids
from mcp_launch.config._formats.format import EntryReading, Format, Reading, Writing
from mcp_launch.config._references import Reference, Text
from mcp_launch.failures import NoServers, Phrases

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
"""The newest released schema."""
_LISTS = ("packages", "remotes")
_TYPES = {"stdio": "stdio", "streamable-http": "http", "sse": "sse"}


class _Runner(NamedTuple):
    """The programs that start the packages of a registry."""

    programs: tuple[str, ...]
    version: str
    """The separator between the name of a package and its version."""
    before: tuple[str, ...] = ()
    """The arguments before those of the file."""
    with_value: frozenset[str] = frozenset()
    """The options that are followed by a value."""
    of_package: tuple[str, ...] = ()
    """The options that name the package, so that the program may have another name."""


_RUNNERS = {
    "npm": _Runner(("npx", "bunx", "pnpx"), "@", ("-y",), WITH_VALUE, ("-p", "--package")),
    "pypi": _Runner(("uvx",), "==", (), WITH_VALUE, ("--from",)),
    "oci": _Runner(("docker", "podman"), ":", ("run", "-i", "--rm"), WITH_VALUE_OF_DOCKER),
    "nuget": _Runner(("dnx",), "@"),
}


class Registry(Format):
    """The `server.json` of the MCP registry: one server as `packages` that are installed, and as `remotes`.

    Each package and each remote is an entry. An input without a value is given by `inputs`, has a default, is left out
    if it is optional, and otherwise prevents the start. `{NAME}` in a value is replaced by an input of `variables`.
    Source: `docs/reference/server-json` in the repository of the registry, with schema 2025-12-11 and its changelog.
    It does not define the commands; they are those of `mcpManagementService.ts` in the repository of VS Code, which
    installs from the registry, except that `npx` gets `-y`, and that the tag of an image is not repeated.
    """

    name = "registry"
    title = "server.json"
    phrases = Phrases(
        absolute="",
        http='set "type" to "streamable-http"',
        needs='a "type" and a "url", or a "registryType" and an "identifier"',
        words=(("http", "streamable-http"), ("args", "packageArguments"), ("env", "environmentVariables")),
    )
    at = (("packages",), ("remotes",))

    def read(self, reading: Reading) -> Iterator[Entry]:
        value = reading.document.value
        server = described(value)
        path: Path = () if server is value else ("server",)
        if server.keys().isdisjoint(_LISTS):
            meant = meant_by(server, "packages")
            raise NoServers(str(reading.refuse(f"contains no packages or remotes{meant}", path=path)))
        reading.rest.update({name: each for name, each in server.items() if name not in (*_LISTS, "$schema")})
        given = server.get("name")
        short = given.rsplit("/", 1)[-1] if isinstance(given, str) and given else "server"
        options = [
            ((*path, member, index), as_members(each))
            for member in _LISTS
            for index, each in enumerate(as_items(server.get(member)))
        ]
        taken: set[str] = set()
        for at, raw in options:
            kind = raw.get("registryType") or raw.get("type")
            name = short if len(options) == 1 else f"{short}-{_TYPES.get(str(kind), kind)}"
            name += "" if name not in taken else f"-{at[-1]}"
            taken.add(name)
            option = _Option(raw, EntryReading(reading, name, at))
            if (entry := option.package() if at[-2] == "packages" else option.remote()) is not None:
                yield entry

    def write(self, writing: Writing) -> Any:
        config = writing.config
        known = {"$schema": SCHEMA, **{name: each for name, each in config.rest.items() if name != "inputs"}}
        found: dict[str, list[Any]] = {"packages": []}
        if config.format == self.name:
            for entry in config.entries:
                found.setdefault(_LISTS["registryType" not in entry.raw], []).append(entry.raw)
            return {**known, **{member: each for member, each in found.items() if each}}
        for member in sorted(config.rest.keys() - {"inputs"}):
            self.omit(writing, None, member)
        written: Entry | None = None
        for entry in config.entries:
            if written is not None:
                writing.note(entry, "left_out", f"server.json describes one server, {written.name}; this was omitted")
            elif (each := self._write_entry(entry, writing)) is not None:
                written, found = entry, {each[0]: [each[1]]}
        name = "server" if written is None else re.sub(r"[^\w.-]+", "-", written.name, flags=re.ASCII)
        writing.note(None, "not_said", "fill in name, description and version, which only server.json has")
        return {"$schema": SCHEMA, "name": f"io.github.OWNER/{name}", "description": name, "version": "0.0.0", **found}

    def _write_entry(self, entry: Entry, writing: Writing) -> tuple[str, dict[str, Any]] | None:
        server = as_members(entry.written)
        kind = server.get("type", "stdio")
        if entry.disabled:
            self.omit(writing, entry, "disabled servers", "left_out")
            return None
        if kind == "stdio":
            found = self._package(entry, server, writing)
        else:
            theirs = next((theirs for theirs, ours in _TYPES.items() if ours == kind), None)
            if theirs is None or "url" not in server:
                self.omit(writing, entry, "servers of this type", "left_out")
                return None
            headers = [self._pair(entry, each, writing) for each in as_items(server.get("headers"))]
            url = self._value(entry, server["url"], writing)
            url = {("url" if name == "value" else name): each for name, each in url.items()}
            found = {"type": theirs, **url, **({"headers": headers} if headers else {})}
        if found is None:
            return None
        self.omit_more(writing, entry)
        return ("packages" if kind == "stdio" else "remotes"), found

    def _package(self, entry: Entry, server: Mapping[str, Any], writing: Writing) -> dict[str, Any] | None:
        """Return the package that a command starts."""
        command = server.get("command")
        program = os.path.basename(command).removesuffix(".cmd") if isinstance(command, str) else ""
        kind = next((kind for kind, runner in _RUNNERS.items() if program in runner.programs), None)
        options, rest = ([], []) if kind is None else _split(as_items(server.get("args")), _RUNNERS[kind])
        if kind is None or not rest or not isinstance(rest[0], str):
            self.omit(writing, entry, "commands other than npx, uvx, docker or dnx with a package", "left_out")
            return None
        if any(str(each).partition("=")[0] in _RUNNERS[kind].of_package for each in options):
            self.omit(writing, entry, "a program whose package is named by an option", "left_out")
            return None
        identifier, *args = rest
        name, version = (identifier, "") if kind == "oci" else _versioned(identifier)
        if kind != "oci" and version in ("", "latest"):
            version = ""
            writing.note(entry, "not_said", "the registry requires the version of a package; add one")
        if kind == "nuget":
            args = [each for each in args if each not in ("--yes", "--")]
        members = {
            "registryType": kind,
            "identifier": name,
            "version": version,
            "runtimeHint": program,
            "transport": {"type": "stdio"},
            "runtimeArguments": [self._argument(entry, each, writing) for each in options],
            "packageArguments": [self._argument(entry, each, writing) for each in args],
            "environmentVariables": [self._pair(entry, each, writing) for each in as_items(server.get("env"))],
        }
        return {member: value for member, value in members.items() if value}

    def _argument(self, entry: Entry, value: Any, writing: Writing) -> dict[str, Any]:
        return {"type": "positional", **self._value(entry, value, writing)}

    def _pair(self, entry: Entry, pair: Any, writing: Writing) -> dict[str, Any]:
        name, value = as_members(pair).get("name"), as_members(pair).get("value")
        if isinstance(value, Text) and len(value.parts) == 1:
            (reference,) = value.parts
            if isinstance(reference, Reference) and reference.name == name and reference.kind in ("env", "input"):
                return {"name": name, **_input(reference, writing)}
        return {"name": name, **self._value(entry, value, writing)}

    def _value(self, entry: Entry, value: Any, writing: Writing) -> dict[str, Any]:
        if not isinstance(value, Text):
            return {"value": value}
        text, known = "", dict[str, Any]()
        for part in value.parts:
            if isinstance(part, Reference) and part.kind in ("env", "input"):
                text += f"{{{part.name}}}"
                known[part.name] = _input(part, writing)
            elif isinstance(part, Reference):
                text += part.literal
                message = f"server.json does not replace {part.shown}"
                writing.note(entry, "variable_not_said", message, place=value.place)
            else:
                text += part
        return {"value": text, **({"variables": known} if known else {})}


class _Option(NamedTuple):
    """A package or remote that is being read."""

    raw: dict[str, Any]
    at: EntryReading

    def package(self) -> Entry | None:
        """Return the entry of a package, or None, with a finding, if it cannot be started here."""
        raw = self.raw
        kind, identifier = raw.get("registryType"), raw.get("identifier")
        if as_members(raw.get("transport")).get("type", "stdio") != "stdio":
            return self._unread("a package that serves a URL is not started here; start it, and check its URL")
        if kind == "mcpb":
            return self._unread("a bundle is not downloaded here; unpack it, and check the command in its manifest")
        if (runner := _RUNNERS.get(str(kind))) is None or not isinstance(identifier, str):
            self._note_unknown()
            return self._entry({"name": self.at.name}, raw, ())
        hint = raw.get("runtimeHint")
        if hint is not None and hint not in runner.programs:
            message = f"only {' or '.join(runner.programs)} can start this package by its name; runtimeHint is ignored"
            self.at.note("not_read", message, "runtimeHint")
        program = str(hint) if hint in runner.programs else runner.programs[0]
        left: dict[str, Any] = {}
        before = [*self._arguments("runtimeArguments", left)]
        args = [*self._arguments("packageArguments", left)]
        env = [*self._pairs("environmentVariables", left)]
        start = list(runner.before) if program != "bunx" and runner.before[:1] != tuple(before[:1]) else []
        if kind == "oci":
            before += [word for pair in env for word in ("-e", pair["name"])]
        if kind == "nuget":
            args = ["--yes", *(["--", *args] if args else [])]
        version = raw.get("version")
        has_version = not isinstance(version, str) or (kind == "oci" and re.search(r"[:@][^/]*$", identifier))
        package = identifier if has_version else f"{identifier}{runner.version}{version}"
        server = {"type": "stdio", "name": self.at.name, "command": program, "args": [*start, *before, package, *args]}
        used = (*("registryType", "identifier", "version", "runtimeHint", "transport"), *_INPUTS)
        return self._entry({**server, "env": env}, left, used)

    def remote(self) -> Entry | None:
        """Return the entry of a remote."""
        raw, left = self.raw, dict[str, Any]()
        kind = _TYPES.get(str(raw.get("type")))
        if kind not in ("http", "sse"):
            message = "a remote must have a type of streamable-http or sse"
            self.at.note("wrong_type", message)
        url = self._filled(raw.get("url"), raw, ("url",))
        headers = [*self._pairs("headers", left)]
        server = {"type": kind or raw.get("type"), "name": self.at.name, "url": url, "headers": headers}
        return self._entry(server, left, ("type", "url", "variables", "headers"))

    def _entry(self, server: dict[str, Any], left: Mapping[str, Any], used: tuple[str, ...]) -> Entry:
        lost = {member: value for member, value in self.raw.items() if member not in used} if used else {}
        extra = {**lost, **left}
        return Entry(self.at.name, None, self.at.place(), server, extra=extra, path=self.at.path, raw=self.raw)

    def _unread(self, message: str) -> None:
        self.at.note("not_read", message)

    def _note_unknown(self) -> None:
        """Report that a package has no known type or no name, perhaps because the file is older than 2025-09-16."""
        member = "identifier" if str(self.raw.get("registryType")) in _RUNNERS else "registryType"
        near = None if member in self.raw else closest(member, sorted(self.raw))
        meant = f'; is "{near}" meant to be {member}?' if near else ""
        message = f"a package must have an identifier, and a registryType of {', '.join(_RUNNERS)} or mcpb{meant}"
        self.at.note("wrong_type", message, member)

    def _arguments(self, member: str, left: dict[str, Any]) -> Iterator[Any]:
        for index, raw in enumerate(map(as_members, as_items(self.raw.get(member)))):
            option = raw.get("name") if raw.get("type") == "named" else None
            if isinstance(option, str) and raw.keys() <= {"type", "name", "isRepeated"}:
                yield option  # a flag
                continue
            name = option.lstrip("-") if isinstance(option, str) else raw.get("valueHint")
            if (value := self._input(raw, name, (member, index), left)) is not None:
                yield from ((option, value) if option else (value,))

    def _pairs(self, member: str, left: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for index, each in enumerate(map(as_members, as_items(self.raw.get(member)))):
            name = each.get("name")
            if (value := self._input(each, name, (member, index), left)) is not None:
                yield {"name": name, "value": value}

    def _input(self, raw: Mapping[str, Any], name: Any, path: Path, left: dict[str, Any]) -> Any:
        """Return the value of the input at a path in the option; None if it is optional and was not given."""
        if "value" in raw:
            return self._filled(raw["value"], raw, (*path, "value"))
        if not isinstance(name, str) or not name:
            message = "must have a value, or a name by which the value is given (of an argument, valueHint)"
            self.at.note("wrong_type", message, *path)
            return None
        if not raw.get("isRequired") and "default" not in raw and name not in self.at.reading.values.inputs:
            left[name] = raw
            return None
        return Text((self._reference(raw, name, path),), self.at.place(*path))

    def _filled(self, value: Any, raw: Mapping[str, Any], path: Path) -> Any:
        """Return a value with references to its variables."""
        known = as_members(raw.get("variables"))
        if not isinstance(value, str) or not known:
            return value
        pieces = re.split(f"\\{{({'|'.join(map(re.escape, known))})\\}}", value)
        place = self.at.place(*path)
        parts = [
            self._reference(as_members(known[piece]), piece, (*path[:-1], "variables", piece)) if index % 2 else piece
            for index, piece in enumerate(pieces)
        ]
        return Text(tuple(part for part in parts if part != ""), place) if len(parts) > 1 else value

    def _reference(self, raw: Mapping[str, Any], name: str, path: Path) -> str | Reference:
        """Return the reference to an input, and remember the input in the form of VS Code."""
        if isinstance(value := raw.get("value"), str):
            return value
        given, choices = self.at.reading.values.inputs.get(name), as_items(raw.get("choices"))
        if given is not None and choices and given not in choices:
            message = f"{name} must be one of {', '.join(map(str, choices))}"
            raise self.at.reading.refuse(message, path=(*self.at.path, *path, "choices"))
        default, secret = raw.get("default"), bool(raw.get("isSecret"))
        more = {"description": raw.get("description"), "default": default, "options": choices or None}
        asked: dict[str, Any] = {"type": "pickString" if choices else "promptString", "id": name, **more}
        asked |= {"password": True} if secret else {}
        inputs: list[Any] = self.at.reading.rest.setdefault("inputs", [])
        if name not in input_ids(self.at.reading.rest):
            inputs.append({member: value for member, value in asked.items() if value is not None})
        default = default if isinstance(default, str) else None
        return Reference(f"{{{name}}}", "input", name, default, is_required=True, is_secret=secret)


_INPUTS = ("runtimeArguments", "packageArguments", "environmentVariables")


_OF_INPUT = {"description": "description", "default": "default", "options": "choices", "password": "isSecret"}
"""The members of an input of VS Code, and their names here."""


def _input(reference: Reference, writing: Writing) -> dict[str, Any]:
    """Return the input for a reference."""
    inputs = map(as_members, as_items(writing.config.rest.get("inputs")))
    raw = next((each for each in inputs if reference.kind == "input" and each.get("id") == reference.name), None)
    found: dict[str, Any]
    if raw is None:
        found = {"default": reference.default, "isSecret": reference.is_secret or None}
    else:
        for member in sorted(raw.keys() - {"id", "type", *_OF_INPUT}):
            message = f"server.json does not support the {member} of the input {reference.name}; it was omitted"
            if message not in [each.message for each in writing.findings]:
                writing.note(None, "not_said", message)
        found = {ours: raw.get(theirs) for theirs, ours in _OF_INPUT.items()}
        found["isSecret"] = found["isSecret"] or None
        # An option may be an object with a label.
        found["choices"] = [as_members(each).get("value", each) for each in as_items(found["choices"])] or None
    required = {"isRequired": True} if found["default"] is None else {}
    return {**required, **{member: value for member, value in found.items() if value is not None}}


def _versioned(package: str) -> tuple[str, str]:
    """Return the name of a package and its version; a scope begins with the same character as a version."""
    found = re.fullmatch(r"(.[^@=]*)(?:@|==)(.*)", package)
    return (found[1], found[2]) if found else (package, "")


def _split(args: list[Any], runner: _Runner) -> tuple[list[Any], list[Any]]:
    """Return the options of the runner, without those that it gets anyway, and the package with its arguments."""
    options: list[Any] = []
    rest = list(args)
    while rest and (rest[0] in runner.before or (isinstance(rest[0], str) and rest[0].startswith("-"))):
        option = rest.pop(0)
        is_pair = option in runner.with_value and bool(rest)
        words = [option, *([rest.pop(0)] if is_pair else [])]
        # A variable that is passed on by its name is in the environment too.
        is_passed_on = option in ("-e", "--env") and not (isinstance(words[-1], Text) or "=" in str(words[-1]))
        if option not in (*runner.before, "--yes") and not is_passed_on:
            options += words
    return options, rest
