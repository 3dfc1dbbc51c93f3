"""References to variables, such as `${HOME}`, in the syntax of each client.

A reference without a known value is not replaced, and is reported. `repr` does not show strings, because defaults may
be secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from mcp_launch.config._documents import Path, Place

Kind: TypeAlias = Literal[
    "env", "input", "file", "folder", "workspace", "workspace name", "home", "separator", "unknown"
]


class Values(NamedTuple):
    env: Mapping[str, str]
    workspace: str | None
    inputs: Mapping[str, str]
    source: str
    """The path of the file."""


class Reference(NamedTuple):
    """A reference. Two are equal if they mean the same, even if they are written differently."""

    text: str
    """The reference as written in the file; empty if the file only contains the name."""
    kind: Kind
    name: str = ""
    default: str | None = None
    is_required: bool = False
    """True for an input without which the server must not be started."""
    is_secret: bool = True

    @property
    def shown(self) -> str:
        """The reference as written, without anything that may be a secret: defaults, and text that cannot be a name."""
        if self.text.endswith("}"):
            opening, _, inside = self.text[:-1].partition("{")
            start, colon, _ = inside.partition(":-")
            is_name = re.fullmatch(r"[\w./\\:~-]*", start.strip())
            return f"{opening}{{{start}{':-…' if colon else ''}}}" if is_name else f"{opening}{{…}}"
        # Lower-case letters may be a password.
        word = self.text or self.name
        return word if re.fullmatch(r"\$?[A-Z_][A-Z0-9_]*", word) else "$…"

    @property
    def literal(self) -> str:
        """The text for a format that cannot express the reference."""
        return self.text or f"${{{self.name}}}"

    def value(self, values: Values) -> str | None:  # noqa: PLR0911 - a list of cases
        """Return its value, or None if that is unknown."""
        match self.kind:
            case "env":
                # A variable that is set to an empty string is set.
                return values.env.get(self.name, self.default)
            case "input":
                return values.inputs.get(self.name, self.default)
            case "folder":
                return os.path.dirname(os.path.abspath(values.source))
            case "workspace":
                return values.workspace
            case "workspace name":
                return None if values.workspace is None else os.path.basename(values.workspace)
            case "home":
                return values.env.get("HOME") or values.env.get("USERPROFILE")
            case "separator":
                return os.sep
            case _:
                return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self[1:4] == other[1:4]

    def __hash__(self) -> int:
        return hash(self[1:4])

    def __repr__(self) -> str:
        return f"<Reference {self.shown}>"


class Text:
    """A string with references, and its position in the file."""

    __slots__ = ("parts", "place")

    def __init__(self, parts: tuple[str | Reference, ...], place: Place) -> None:
        self.parts = parts
        self.place = place

    @property
    def references(self) -> Iterator[Reference]:
        """The references in the string."""
        return (part for part in self.parts if isinstance(part, Reference))

    def written(self) -> str:
        """Return the string as written in the file."""
        return "".join(part if isinstance(part, str) else part.literal for part in self.parts)

    def replaced(self, values: Values) -> str | None:
        """Return the string with all known references replaced; None if a required input is missing."""
        if any(each.is_required and each.value(values) is None for each in self.references):
            return None
        return "".join(part if isinstance(part, str) else _replaced(part, values) for part in self.parts)

    def given(self, values: Values) -> Iterator[tuple[int, str, str]]:
        """Yield the position in the replaced string, the name and the value of each variable and secret input."""
        at = 0
        for part in self.parts:
            if isinstance(part, Reference) and part.kind in ("env", "input") and part.is_secret:
                source = values.env if part.kind == "env" else values.inputs
                if part.name in source:
                    yield at, part.name, source[part.name]
            at += len(part if isinstance(part, str) else _replaced(part, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "<Text>"


def replaced(value: Any, values: Values) -> Any:
    """Return a JSON value with all known references replaced."""
    return map_leaves(value, lambda leaf, _: leaf.replaced(values) if isinstance(leaf, Text) else leaf)


def texts_in(value: Any) -> list[Text]:
    return [leaf for _, leaf in leaves_in(value) if isinstance(leaf, Text)]


def leaves_in(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Return everything in a JSON value that is not an array or object, with its path."""
    found: list[tuple[Path, Any]] = []
    map_leaves(value, lambda leaf, at: found.append((at, leaf)), path)
    return found


def map_leaves(value: Any, change: Callable[[Any, Path], Any], path: Path = ()) -> Any:
    """Return a JSON value with a function applied to everything in it that is not an array or object, and its path."""
    match value:
        case [*items]:
            return [map_leaves(item, change, (*path, index)) for index, item in enumerate(items)]
        case dict():
            members = cast("dict[str, Any]", value)
            return {name: map_leaves(item, change, (*path, name)) for name, item in members.items()}
        case _:
            return change(value, path)


def _replaced(reference: Reference, values: Values) -> str:
    value = reference.value(values)
    return reference.literal if value is None else value


class Syntax:
    """The syntax of a client without variables; the base class of the others."""

    pattern: str = r"(?!)"
    """A regular expression for references, compiled only if a string contains the marker."""
    marker: str = "$"
    """The character that references begin with."""
    forms: Mapping[str, str] = {}
    """The form of each kind of reference, with `*` for the name."""

    def read(self, found: re.Match[str]) -> Reference:
        """Return the reference that a match of the pattern means."""
        return Reference(found[0], "unknown")

    def write(self, reference: Reference) -> str | None:
        """Return the reference in the syntax of this client, or None if it cannot express it."""
        form = self.forms.get(reference.kind)
        # The default of an input is in the list of inputs.
        has_default = reference.default is not None and reference.kind != "input"
        return None if form is None or has_default else form.replace("*", reference.name)

    def parse(self, text: str, place: Place) -> str | Text:
        """Return the string with its references; a `str` if it has none."""
        parts: list[str | Reference] = []
        at = 0
        for found in re.finditer(self.pattern, text) if self.marker in text else ():
            if found.start() > at:
                parts.append(text[at : found.start()])
            parts.append(self.read(found))
            at = found.end()
        if not parts:
            return text
        if at < len(text):
            parts.append(text[at:])
        return Text(tuple(parts), place)

    def parse_all(self, value: Any, place: Callable[[Path], Place], path: Path) -> Any:
        """Parse all strings of a JSON value; *place* returns the position of the value at a path."""

        def parse(leaf: Any, at: Path) -> Any:
            return self.parse(leaf, place(at)) if isinstance(leaf, str) and self.marker in leaf else leaf

        return map_leaves(value, parse, path)


class _ClaudeCode(Syntax):
    pattern = r"\$\{([^}]+)\}"
    forms = {"env": "${*}"}  # noqa: RUF012 - a Mapping is not written to

    def read(self, found: re.Match[str]) -> Reference:
        name, colon, default = found[found.lastindex or 0].partition(":-")
        return Reference(found[0], "env", name, default if colon else None)

    def write(self, reference: Reference) -> str | None:
        form = None if ":-" in reference.name else super().write(reference._replace(default=None))
        return form if form is None or reference.default is None else f"{form[:-1]}:-{reference.default}}}"


class _Editor(Syntax):
    """The syntax of VS Code and its forks: `${env:NAME}`, and words without a colon."""

    pattern = r"\$\{([^}]*)\}"

    def __init__(self, *prefixes: Kind, words: Mapping[str, Kind]) -> None:
        self._words = words
        self._prefixes: Mapping[str, Kind] = {each: each for each in prefixes}
        of_words: dict[str, str] = {kind: f"${{{word}}}" for word, kind in words.items()}
        self.forms = {**of_words, **{each: f"${{{each}:*}}" for each in prefixes}}

    def read(self, found: re.Match[str]) -> Reference:
        kind, colon, name = found[1].partition(":")
        if not colon and kind in self._words:
            return Reference(found[0], self._words[kind])
        meant = self._prefixes.get(kind) if name else None
        return Reference(found[0], "unknown", found[1]) if meant is None else Reference(found[0], meant, name)


class _OpenCode(Syntax):
    """The syntax of OpenCode: `{env:NAME}` and `{file:path}`."""

    pattern = r"\{(env|file):([^}]+)\}"
    marker = "{"
    forms = {"env": "{env:*}", "file": "{file:*}"}  # noqa: RUF012

    def read(self, found: re.Match[str]) -> Reference:
        return Reference(found[0], "env" if found[1] == "env" else "file", found[2])


class _Gemini(_ClaudeCode):
    pattern = r"(?a)\$(?:(\w+)|\{([^}]+)\})"

    def read(self, found: re.Match[str]) -> Reference:
        reference = super().read(found)
        return reference._replace(kind=_WORDS_OF_EXTENSIONS.get(reference.name, "env"))


_WORDS_OF_EXTENSIONS: dict[str, Kind] = {
    "extensionPath": "folder",
    "workspacePath": "workspace",
    "/": "separator",
    "pathSeparator": "separator",
}
"""The words of gemini-extension.json, which other files of Gemini CLI do not have."""


class _Goose(Syntax):
    """The syntax of Gemini CLI with stricter names and without defaults."""

    pattern = r"(?a)\$(?:([A-Za-z_]\w*)|\{\s*([A-Za-z_]\w*)\s*\})"
    forms = {"env": "${*}"}  # noqa: RUF012

    def read(self, found: re.Match[str]) -> Reference:
        return Reference(found[0], "env", found[1] or found[2])

    def write(self, reference: Reference) -> str | None:
        return super().write(reference) if re.fullmatch(r"(?a)[A-Za-z_]\w*", reference.name) else None


_WORDS: dict[str, Kind] = {
    "workspaceFolder": "workspace",
    "workspaceFolderBasename": "workspace name",
    "userHome": "home",
    "/": "separator",
    "pathSeparator": "separator",
}
"""The words of VS Code. Of several with one meaning, the last is written."""

NONE = Syntax()
CLAUDE_CODE = _ClaudeCode()
VSCODE = _Editor("env", "input", words=_WORDS)
CURSOR = _Editor("env", words=_WORDS)
WINDSURF = _Editor("env", "file", words={})
OPENCODE = _OpenCode()
GEMINI = _Gemini()
GOOSE = _Goose()
