"""Tries the remedies of failing servers, shows the edits of those that become ready, and writes them on request."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

from acp_bindings._atomic_write import atomic_write
from acp_bindings._redact import Redactor
from acp_bindings._secrets import argument_secrets
from acp_bindings._standard_streams import printable
from mcp_launch._command.find_servers import config_sessions, inputs_of, started_ahead, text_of
from mcp_launch._command.fix.draft import Draft, Remedy
from mcp_launch._command.fix.members import shape
from mcp_launch._command.fix.packages import exists
from mcp_launch._command.fix.programs import (
    interpreter,
    other_directory,
    other_files,
    other_options,
    other_package,
    other_program,
)
from mcp_launch._command.fix.urls import credentials, other_origin, other_paths, other_transport, through_program
from mcp_launch._command.fix.variables import missing, references
from mcp_launch._command.inputs import Session, Typed, is_url, name_of, only_named
from mcp_launch._command.run import launched, run
from mcp_launch._command.show.text import (
    confirmed,
    diff_style,
    found_in,
    has_terminal,
    print_findings,
    remark,
    write,
    write_json,
)
from mcp_launch._executable import words_of
from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.config._detection import HOLDERS, format_of_path, project_above
from mcp_launch.config._edit import Edit, edit_text
from mcp_launch.config._entries import Config, Entry
from mcp_launch.config._formats import format_called
from mcp_launch.config._read import read_config, read_document
from mcp_launch.failures import UnusableInput
from mcp_launch.fleet import Fleet
from mcp_launch.report import FailureJson, ServerReport, Stage

_MOST = 16
"""The maximum number of attempts for one server."""
_DEEPEST = 3
"""The maximum number of remedies that are combined."""


@dataclass(slots=True)
class Outcome:
    """The result for one server."""

    name: str
    failure: FailureJson | None
    """The failure of the entry as it is."""
    warned: bool = False
    """True if a warning about the file concerns this server."""
    cure: tuple[Remedy, ...] = ()
    """The remedies with which it became ready."""
    tried: list[tuple[str, FailureJson]] = field(default_factory=list[tuple[str, FailureJson]])
    """The remedies that did not suffice, and the failures after them."""
    withheld: dict[str, str] = field(default_factory=dict[str, str])
    """The edits that need confirmation: the program, package or variable, and the remedy."""
    recovered: bool = False
    """True if the unedited entry became ready in a second attempt."""

    @property
    def kind(self) -> str:
        """The outcome in one word."""
        if self.cure:
            return "fixed"
        return "ready" if self.failure is None or self.recovered else "refused"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {
            "name": self.name,
            "outcome": self.kind,
            "failure": self.failure,
            "changes": [each.what for each in self.cure],
            "tried": [{"change": what, "failure": failure} for what, failure in self.tried],
            "needs_trust": list(self.withheld),
        }


_NOT_EDITED = frozenset(("opencode", "registry"))
"""Formats whose entries have another structure than a command and its args."""


class _File:
    """The config file as it is, and texts of it with edits."""

    def __init__(self, typed: Typed) -> None:
        (self.path,) = typed.servers
        if self.path == "-" or is_url(self.path):
            raise UnusableInput("fix needs a FILE that can be edited")
        self.typed = typed
        self._inputs = inputs_of(typed.inputs)
        self.text = text_of(self.path)
        self.data = Path(self.path).read_bytes()
        self.config = self.read(self.text)
        self.form = format_called(self.config.format)
        if self.config.format in _NOT_EDITED:
            raise UnusableInput(f"{self.path}: fix does not edit files of {self.form.title}")

    def read(self, text: str) -> Config:
        """Read a text as the content of the file."""
        workspace = self.typed.workspace and os.path.abspath(self.typed.workspace)
        return read_config(text, source=self.path, workspace=workspace or None, inputs=self._inputs)

    def value(self, text: str) -> Any:
        """Return the JSON value of a text."""
        return read_document(text, source=self.path, grammar=self.form.grammar).value

    def edited(self, text: str, chain: Sequence[Remedy]) -> str:
        """Return a text with the edits of all remedies."""
        edits = [edit for remedy in chain for edit in remedy.edits]
        return edit_text(text, edits, source=self.path, grammar=self.form.grammar)

    def sessions(self, config: Config) -> list[Session]:
        """Return the servers of a config that may be started."""
        sessions = config_sessions(config, self.typed, origin="file")
        return only_named(sessions, self.typed.only) if self.typed.only else sessions

    @property
    def folder(self) -> str:
        """The directory that relative paths in the file probably mean."""
        return project_above(self.path) or os.path.dirname(os.path.abspath(self.path))

    def redactor(self, *others: str) -> Redactor:
        """Return the redactor of what may be secret in the file and in other texts of it."""
        hide = Redactor()
        for text in (self.text, *others):
            hide.add(_secrets(self.value(text)))
            for entry in self.read(text).entries:
                server = as_members(entry.server)
                hide.add(entry.secrets, urls=texts([server.get("url")]))
                hide.add(argument_secrets([*_words(server.get("command")), *_words(server.get("args"))]))
        return hide


def fix(typed: Typed, *, write_it: bool, as_json: bool) -> int:
    """Try to fix the failing servers of a file, show the edits, and return the exit status."""
    file = _File(typed)
    sessions = file.sessions(file.config)
    with started_ahead(sessions):
        reports = run(typed, sessions, _reports, quiet=as_json)
    warned = {each.server for each in file.config.findings if not each.is_note}
    # The client of this path finds none of the servers if the file is in the format of another client.
    is_lost = format_of_path(file.path) not in (None, file.config.format)
    outcomes = [Outcome(each["name"], each["failure"], warned=is_lost or each["name"] in warned) for each in reports]
    _search(file, outcomes, allowed=None if typed.trust else frozenset())
    withheld = {thing: what for each in outcomes if each.kind == "refused" for thing, what in each.withheld.items()}
    intro = "To go on, these would be used, which the file does not name:"
    asked = (f"{thing}: {what}" for thing, what in withheld.items())
    if withheld and has_terminal() and confirmed(intro, asked, "Try them?"):
        _search(file, outcomes, allowed=frozenset(withheld))
    for each in outcomes:
        _add_type(file, each)
    text = file.edited(file.text, [remedy for each in outcomes for remedy in each.cure])
    if any(each.code == "byte_order_mark" for each in file.config.findings):
        text = text.removeprefix("\ufeff")
    _verify(file, text, outcomes)
    hide = file.redactor(text)
    backup = _write(file, text) if write_it and text != file.text else None
    lines = difflib.unified_diff(
        file.text.splitlines(), text.splitlines(), fromfile=file.path, tofile=file.path, lineterm=""
    )
    shown = [printable(hide(line)) for line in lines]
    if as_json:
        document = {
            "ok": all(each.kind != "refused" for each in outcomes),
            "servers": [each.to_json() for each in outcomes],
            "diff": "".join(f"{line}\n" for line in shown),
            "written": backup is not None,
            "backup": backup,
            "findings": found_in(file.path, file.config.findings),
            "unusable": [],
        }
        write_json(hide.json(document))
    else:
        print_findings(found_in(file.path, file.config.findings))
        _print(outcomes, shown, hide, backup=backup, path=file.path, write_it=write_it)
    return 0 if all(each.kind != "refused" for each in outcomes) else 1


async def _reports(fleets: Sequence[Fleet]) -> list[ServerReport]:
    return [server for fleet in fleets for server in fleet.report["servers"]]


def _search(file: _File, outcomes: list[Outcome], *, allowed: frozenset[str] | None) -> None:
    """Look for a cure of each server that has none. *allowed* is what may be used without being in the file."""
    failing = [each for each in outcomes if each.kind == "refused"]
    if not failing:
        return

    async def use(_: Sequence[Fleet]) -> None:
        for outcome in failing:
            await _Cure(file, outcome, allowed).find()

    run(file.typed, [], use)


class _Cure:
    """Looks for remedies with which one server becomes ready."""

    def __init__(self, file: _File, outcome: Outcome, allowed: frozenset[str] | None) -> None:
        self._file = file
        self._outcome = outcome
        self._allowed = allowed
        self._seen = {file.text}
        self._before = _codes(file.config, outcome.name)
        outcome.tried.clear()
        outcome.withheld.clear()

    async def find(self) -> None:
        """Try remedies, and remedies of the failures that follow, in the order of their number."""
        failures = [self._outcome.failure] if self._outcome.failure else []
        queue: list[tuple[tuple[Remedy, ...], FailureJson]] = [((), failure) for failure in failures]
        while queue:
            chain, failure = queue.pop(0)
            text = self._file.edited(self._file.text, chain)
            for remedy in self._remedies(text, failure):
                longer = (*chain, remedy)
                if not await self._is_allowed(remedy) or not (changed := self._new(longer)):
                    continue
                after = await self._attempt(changed)
                if after is None:
                    await self._accept(longer)
                    return
                self._outcome.tried.append(("; ".join(each.what for each in longer), after))
                if len(longer) < _DEEPEST and (after["code"], after["message"]) != (
                    failure["code"],
                    failure["message"],
                ):
                    queue.append((longer, after))
                if len(self._outcome.tried) >= _MOST:
                    return

    async def _accept(self, chain: tuple[Remedy, ...]) -> None:
        """Take the remedies, unless the entry works without them by now, such as after a download."""
        if await self._attempt(self._file.text) is None:
            self._outcome.recovered = True
        else:
            self._outcome.cure = chain

    def _remedies(self, text: str, failure: FailureJson) -> Iterator[Remedy]:
        config = self._file.read(text)
        found = _of_name(self._file.sessions(config), self._outcome.name)
        if found is None:
            return
        session, entry = found
        raw = self._file.value(text)
        for step in entry.path:
            raw = raw[step]
        draft = Draft(
            form=self._file.form,
            entry=entry,
            raw=as_members(raw),
            failure=failure,
            folder=self._file.folder,
            cwd=session.cwd,
        )
        for propose in (shape, references, *_BY_CODE.get(draft.code, ())):
            yield from (remedy for remedy in propose(draft) if remedy.edits)

    async def _is_allowed(self, remedy: Remedy) -> bool:
        if remedy.package and not await exists(remedy.package):
            return False
        if remedy.beyond is None or self._allowed is None or remedy.beyond in self._allowed:
            return True
        self._outcome.withheld[remedy.beyond] = remedy.what
        return False

    def _new(self, chain: tuple[Remedy, ...]) -> str | None:
        """Return the text with these remedies; None if it was tried, cannot be made, or is wrong for the client."""
        try:
            text = self._file.edited(self._file.text, chain)
            config = self._file.read(text)
        except UnusableInput:
            return None
        if text in self._seen or _codes(config, self._outcome.name) - self._before:
            return None
        self._seen.add(text)
        return text

    async def _attempt(self, text: str) -> FailureJson | None:
        """Start the server as in a text, and return its failure."""
        config = self._file.read(text)
        found = _of_name(self._file.sessions(config), self._outcome.name)
        if found is None:
            return self._outcome.failure
        session, entry = found
        async with launched(replace(session, entries=[entry]), timeout=self._file.typed.timeout) as fleet:
            await fleet.settled()
            return fleet.report["servers"][0]["failure"]


_OF_PROCESS = (other_files, other_options, missing, other_package)
_OF_URL = (other_transport, other_paths, other_origin)
_BY_CODE: dict[str, tuple[Callable[[Draft], Iterator[Remedy]], ...]] = {
    "invalid_spec": (through_program, other_directory),
    "command_not_found": (other_program,),
    "not_executable": (other_program, interpreter),
    "exited": _OF_PROCESS,
    "not_mcp": (*_OF_PROCESS, *_OF_URL),
    "timeout": (other_options,),
    "disconnected": (other_options, other_origin),
    "refused": (other_origin,),
    "tls": (other_origin,),
    "redirected": (other_origin, other_paths),
    "not_found": _OF_URL,
    "method_not_allowed": _OF_URL,
    "wrong_transport": (other_transport, other_paths),
    "http_error": _OF_URL,
    "unauthorized": (credentials,),
    "forbidden": (credentials, other_origin),
}
"""What may cure a server, by the code of its failure; the most certain first."""


def _of_name(sessions: Sequence[Session], name: str) -> tuple[Session, Entry] | None:
    return next(((session, entry) for session in sessions for entry in session.entries if _called(entry) == name), None)


def _called(entry: Entry) -> str:
    return name_of(entry.server) or entry.name


_REFUSED = frozenset({"asks_user", "missing_type", "other_transport", "unknown_member", "unused_member", "wrong_type"})
"""Findings about an entry that its client does not start as we do."""


def _add_type(file: _File, outcome: Outcome) -> None:
    """Add the type of a URL to a server that works, if its client requires a type."""
    if outcome.kind == "refused":
        return
    config = file.read(file.edited(file.text, outcome.cure))
    found = _of_name(file.sessions(config), outcome.name)
    if found and "missing_type" in _codes(config, outcome.name):
        kind = file.form.types[found[1].server["type"]]
        edit = Edit((*found[1].path, "type"), kind, after="url")
        outcome.cure = (*outcome.cure, Remedy(what=f"set type to {kind}", edits=(edit,)))


def _codes(config: Config, name: str) -> set[str]:
    return {each.code for each in config.findings if each.server == name} & _REFUSED


def _verify(file: _File, text: str, outcomes: Sequence[Outcome]) -> None:
    """Raise unless all entries without a cure are as before."""
    cured = {each.name for each in outcomes if each.cure}
    before, after = ({_called(each): each.server for each in read.entries} for read in (file.config, file.read(text)))
    if {name for name in before if before[name] != after.get(name)} - cured or before.keys() != after.keys():
        raise UnusableInput(f"{file.path}: cannot be edited without changing other servers")


def _write(file: _File, text: str) -> str:
    """Write the text into the file, and return the path of the backup."""
    target = Path(os.path.realpath(file.path))
    try:
        if target.read_bytes() != file.data:
            raise UnusableInput(f"{file.path}: has changed in the meantime; try again")
        backup = _backup(target)
        atomic_write(str(target), text.encode())
    except OSError as error:
        raise UnusableInput(f"{file.path}: {error.strerror}") from None
    return backup


def _backup(target: Path) -> str:
    """Copy the file beside itself, with its permissions, and never over another file."""
    number = 0
    while True:
        path = f"{target}.bak{number or ''}"
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            number += 1
            continue
        os.close(descriptor)
        shutil.copy2(target, path)
        return path


def _print(
    outcomes: Sequence[Outcome], shown: Sequence[str], hide: Redactor, *, backup: str | None, path: str, write_it: bool
) -> None:
    for line in shown:
        write((line, diff_style(line)))
    width = max((len(each.name) for each in outcomes), default=0)
    for each in outcomes:
        remark(_MARKS[each.kind], (printable(each.name).ljust(width), "bold"), printable(hide(_sentence(each))))
        if each.kind == "refused" and (furthest := _furthest(each)):
            what, failure = furthest
            remark(printable(hide(f'  with "{what}": {failure["message"]}')))
    if backup:
        remark(f"wrote {path}; the old file is {backup}")
    elif shown and not write_it:
        remark("nothing was written; use --write to change the file")


_MARKS = {"ready": ("ready  ", "green"), "fixed": ("fixed  ", "green"), "refused": ("refused", "red")}


def _sentence(outcome: Outcome) -> str:
    if outcome.cure:
        return "; ".join(each.what for each in outcome.cure)
    if outcome.kind == "ready" and outcome.warned:
        return "starts, but see the warning"
    if outcome.failure is None:
        return "works as it is"
    if outcome.recovered:
        return "works in a second attempt; not changed"
    count = len(outcome.tried)
    tried = f"{count} edit{'' if count == 1 else 's'} did not help" if count else "no edit is known"
    asks = f"; not tried without --trust: {', '.join(outcome.withheld)}" if outcome.withheld else ""
    return f"{outcome.failure['message']} ({tried}{asks})"


def _furthest(outcome: Outcome) -> tuple[str, FailureJson] | None:
    """Return the remedies with which the server failed at the latest stage, if that is later than without them."""
    as_it_is = [("", outcome.failure)] if outcome.failure else []
    stages = get_args(Stage)
    # The first of equals: as it is, then the longest chain.
    found = max([*as_it_is, *reversed(outcome.tried)], key=lambda each: stages.index(each[1]["stage"]))
    return found if found[0] else None


def _words(value: Any) -> list[str]:
    """Return the words of a command or of arguments, which may be one string by mistake."""
    return words_of(value) if isinstance(value, str) else texts(value)


_SECRET = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_MAPS = frozenset(("env", "envs", "environment", "headers", "http_headers", "requestinit"))
_NAMED = frozenset((*HOLDERS, "extensions", "projects"))
"""Fields whose keys are names of servers or directories of projects, so that a key such as "auth0" means no secret."""


def _secrets(value: Any, *, inside: bool = False, named: bool = False) -> Iterator[str]:
    """Yield what may be secret in a document: variables, headers, and values whose names say so."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        pair = isinstance(members.get("name"), str) and "value" in members
        for name, each in members.items():
            hidden = inside and not (pair and name == "name")
            says_so = name.lower() in _MAPS or bool(_SECRET.search(name))
            is_entry = named and isinstance(each, dict)
            yield from _secrets(
                each, inside=hidden or (says_so and not is_entry), named=name in _NAMED and not is_entry
            )
    elif as_items(value):
        for each in as_items(value):
            yield from _secrets(each, inside=inside)
    elif inside and isinstance(value, str | int | float) and not isinstance(value, bool):
        # The scheme is not a secret, and may be what an edit adds.
        text = re.sub(r"^(?:Bearer|Basic|Token)\s+", "", str(value))
        if not re.fullmatch(r"\$\{[^}]*\}", text):
            yield text
