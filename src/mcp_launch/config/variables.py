"""How each client writes references: `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}`, `$VAR`.

A `Syntax` turns a text of one client into references and back, so that a text can be converted to another client's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from mcp_launch.config.places import Path, Place
from mcp_launch.config.references import Kind, Reference, Text

__all__ = ["CLAUDE_CODE", "CURSOR", "GEMINI", "GOOSE", "NONE", "VSCODE", "WINDSURF", "Syntax"]


class Syntax:
    """The syntax of a client without variables, in which every text means itself; the base of the others."""

    pattern: str = r"(?!)"
    """What a reference looks like; compiled where there is a dollar to begin one."""

    def read(self, found: re.Match[str]) -> Reference:
        """The reference that a match of the pattern means."""
        return Reference(found[0], "unknown")

    def write(self, reference: Reference) -> str | None:
        """How this client writes the reference, or None where it cannot."""
        del reference
        return None

    def parse(self, text: str, place: Place) -> str | Text:
        """The text with its references; a `str` where it has none."""
        parts: list[str | Reference] = []
        at = 0
        for found in self._found_in(text) if "$" in text else ():
            if found.start() > at:
                parts.append(text[at : found.start()])
            parts.append(self.read(found))
            at = found.end()
        if not parts:
            return text
        if at < len(text):
            parts.append(text[at:])
        return Text(tuple(parts), place)

    def _found_in(self, text: str) -> Iterator[re.Match[str]]:
        pattern = re.compile(self.pattern)
        closed = text.rfind("}") + 1
        yield from pattern.finditer(text, 0, closed)
        # Behind the last closing brace, opening ones are taken out: from each, all the rest would be searched in vain.
        yield from pattern.finditer(text.replace("{", " "), closed)

    def parse_all(self, value: Any, place: Callable[[Path], Place], path: Path) -> Any:
        """The same for each text of a JSON value; `place` says where the value at a path stands."""
        match value:
            case str():
                return self.parse(value, place(path)) if "$" in value else value
            case [*items]:
                return [self.parse_all(item, place, (*path, index)) for index, item in enumerate(items)]
            case dict():
                members = cast("dict[str, Any]", value)
                return {name: self.parse_all(item, place, (*path, name)) for name, item in members.items()}
            case _:
                return value


class _ClaudeCode(Syntax):
    pattern = r"\$\{([^}]+)\}"

    def read(self, found: re.Match[str]) -> Reference:
        name, colon, default = found[1].partition(":-")
        return Reference(found[0], "env", name, default if colon else None)

    def write(self, reference: Reference) -> str | None:
        name, default = reference.name, reference.default
        if reference.kind != "env" or "}" in name or ":-" in name:
            return None
        return f"${{{name}}}" if default is None else f"${{{name}:-{default}}}"


class _Editor(Syntax):
    """The syntax of VS Code and editors made from it: `${env:NAME}`, and words without a colon."""

    pattern = r"\$\{([^}]*)\}"

    def __init__(self, *prefixes: Kind, words: Mapping[str, Kind]) -> None:
        self._prefixes: Mapping[str, Kind] = {each: each for each in prefixes}
        self._words = words

    def read(self, found: re.Match[str]) -> Reference:
        kind, colon, name = found[1].partition(":")
        if not colon and kind in self._words:
            return Reference(found[0], self._words[kind])
        meant = self._prefixes.get(kind) if name else None
        return Reference(found[0], "unknown", found[1]) if meant is None else Reference(found[0], meant, name)

    def write(self, reference: Reference) -> str | None:
        if reference.kind in self._prefixes and reference.default is None and "}" not in reference.name:
            return f"${{{reference.kind}:{reference.name}}}"
        return next((f"${{{word}}}" for word, kind in self._words.items() if kind == reference.kind), None)


class _Gemini(Syntax):
    pattern = r"(?a)\$(?:(\w+)|\{([^}]+)\})"

    def read(self, found: re.Match[str]) -> Reference:
        return Reference(found[0], "env", found[1] or found[2])

    def write(self, reference: Reference) -> str | None:
        if reference.kind != "env" or reference.default is not None or "}" in reference.name:
            return None
        return f"${{{reference.name}}}"


class _Goose(_Gemini):
    """That of Gemini CLI, with stricter names; only for headers."""

    pattern = r"(?a)\$(?:([A-Za-z_]\w*)|\{\s*([A-Za-z_]\w*)\s*\})"

    def write(self, reference: Reference) -> str | None:
        return super().write(reference) if re.fullmatch(r"(?a)[A-Za-z_]\w*", reference.name) else None


_WORDS: dict[str, Kind] = {
    "workspaceFolder": "workspace",
    "workspaceFolderBasename": "workspace name",
    "userHome": "home",
    "pathSeparator": "separator",
    "/": "separator",
}

NONE = Syntax()
CLAUDE_CODE = _ClaudeCode()
VSCODE = _Editor("env", "input", words=_WORDS)
CURSOR = _Editor("env", words=_WORDS)
WINDSURF = _Editor("env", "file", words={})
GEMINI = _Gemini()
GOOSE = _Goose()
