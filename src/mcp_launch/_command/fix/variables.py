"""Proposes the variables that a server needs, and references to variables that its client understands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from acp_bindings._lazy import closest
from mcp_launch._command.fix.draft import Draft, Remedy, each_value, renamed
from mcp_launch._diagnosis.hints import missing_variables, similar_variable
from mcp_launch._json_values import as_items
from mcp_launch.config._edit import Edit
from mcp_launch.config._formats.format import strings_in
from mcp_launch.config._references import Reference, Text

_LOOSE = re.compile(r"\$\{(?:env:)?([A-Z_][A-Z0-9_]*)\}|\$([A-Z_][A-Z0-9_]*)|%([A-Z_][A-Z0-9_]{2,})%")
"""A reference to a variable in the syntax of any client or shell."""


def references(draft: Draft) -> Iterator[Remedy]:
    """Propose the syntax of the client for variables that the file writes in another one, if they are set."""
    edits: list[Edit] = []
    named: list[str] = []
    renamed: list[str] = []
    for path, value in strings_in(draft.raw, draft.entry.path):
        member = path[len(draft.entry.path)]
        changed = value if member not in draft.form.expands else _in_syntax(value, draft, named, renamed)
        if changed != value:
            edits.append(Edit(path, changed))
    if named:
        yield Remedy(what=f"write {', '.join(named)} in the syntax of {draft.form.title}", edits=tuple(edits))
    elif renamed:
        names = ", ".join(renamed)
        yield Remedy(what=f"use the variable {names}", edits=tuple(edits), beyond=f"the variable {names}")


def _in_syntax(value: str, draft: Draft, named: list[str], renamed: list[str]) -> str:
    place = draft.entry.place
    parsed = draft.form.syntax.parse(value, place)
    known = {each.name for each in parsed.references if each.kind == "env"} if isinstance(parsed, Text) else set[str]()

    def write(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        if name in known:
            near = None if name in os.environ else closest(name, os.environ, cutoff=0.85)
            if near is None:
                return found[0]
            renamed.append(near)
            return draft.form.syntax.write(Reference("", "env", near)) or found[0]
        written = draft.form.syntax.write(Reference("", "env", name)) if name in os.environ else None
        if written is None:
            return found[0]
        named.append(name)
        return written

    return _LOOSE.sub(write, value)


def missing(draft: Draft) -> Iterator[Remedy]:
    """Propose the name of the first variable that a server misses: of one that it gets, or of one that is set here."""
    names, _ = missing_variables(draft.errors) or ([], None)
    called = draft.name_of("env")
    given = {name: at for at, name, _ in each_value(draft.at(called), draft.raw.get(called))}
    missing = next((name for name in names if name not in given), None)
    if missing is None:
        return
    if near := similar_variable(missing, set(given).difference(names)):
        yield Remedy(what=f"rename {near} to {missing}", edits=(renamed(given[near], missing),))
    if missing not in os.environ:
        return
    beyond = f"the variable {missing}"
    what = f"pass {missing} on from the environment"
    for listed in draft.form.others & {"env_keys", "env_vars"}:  # Goose and Codex list such variables
        names = [*as_items(draft.raw.get(listed)), missing]
        yield Remedy(what=what, edits=(Edit(draft.at(listed), names),), beyond=beyond)
        return
    reference = Reference("", "env", missing)
    if written := draft.form.syntax.write(reference) if called in draft.form.expands else None:
        new = {missing: written}
        edit = Edit(draft.at(called, missing), written) if called in draft.raw else Edit(draft.at(called), new)
        yield Remedy(what=what, edits=(edit,), beyond=beyond)
