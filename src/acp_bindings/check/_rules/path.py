"""Rules for paths that must be absolute, on POSIX or Windows, wherever the check runs."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterator
from typing import Any

from acp_bindings._json import items_of, members_of
from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules.rule import OPENING, remark, rule
from acp_bindings.setup._paths import NotAbsolute, is_absolute, require_absolute
from acp_bindings.setup.errors import Remark


@rule("path.cwd", "error")
def cwd(observed: ObservedMessage) -> Iterator[Remark]:
    """The `cwd` of a session, of a filter of `session/list` or of a terminal is not an absolute path."""
    if observed.opens or observed.type_name in ("CreateTerminalRequest", "ListSessionsRequest"):
        yield from _absolute(observed, "path.cwd", "cwd")


@rule("path.additional-directory", "error", on=OPENING)
def additional_directory(observed: ObservedMessage) -> Iterator[Remark]:
    """One of the `additionalDirectories` of a session is not an absolute path."""
    for index, _ in enumerate(items_of(observed.members.get("additionalDirectories")) if observed.opens else ()):
        yield from _absolute(observed, "path.additional-directory", "additionalDirectories", index)


@rule("path.file", "error")
def file(observed: ObservedMessage) -> Iterator[Remark]:
    """The `path` of `fs/read_text_file` or `fs/write_text_file` is not an absolute path."""
    if observed.type_name in ("ReadTextFileRequest", "WriteTextFileRequest"):
        yield from _absolute(observed, "path.file", "path")


@rule("path.outside", "warning", on=["fs/read_text_file", "fs/write_text_file"])
def outside(observed: ObservedMessage) -> Iterator[Remark]:
    """`fs/read_text_file` or `fs/write_text_file` names a file outside of the directories of the session."""
    session = observed.session
    if session is None or observed.kind != "request":
        return
    path, directories = observed.members.get("path"), [each for each in session.directories if is_absolute(each)]
    if not isinstance(path, str) or not is_absolute(path) or not directories:
        return
    if not any(_is_within(path, each) for each in directories):
        message = "it is outside of cwd and additionalDirectories, so clients may refuse it"
        yield remark(observed, "path.outside", message, "path")


def _is_within(path: str, directory: str) -> bool:
    """Return True if *path* is in *directory*, without looking at the file system."""
    flavour: Any = posixpath if directory.startswith("/") else ntpath
    inner, outer = (flavour.normcase(flavour.normpath(each)).removeprefix("/private") for each in (path, directory))
    return bool(inner == outer or inner.startswith(outer.rstrip(flavour.sep) + flavour.sep))


@rule("path.line", "warning", on=["fs/read_text_file"])
def line(observed: ObservedMessage) -> Iterator[Remark]:
    """`fs/read_text_file` begins at line 0, but the first line is 1."""
    if observed.kind == "request" and observed.members.get("line") == 0:
        yield remark(observed, "path.line", "the first line is 1", "line")


@rule("path.location", "error")
def location(observed: ObservedMessage) -> Iterator[Remark]:
    """A tool call names a file, as a location or in a diff, by a path that is not absolute."""
    if observed.type_name not in _UPDATES:
        return
    members = members_of(observed.members.get("update"))
    for name in ("locations", "content"):
        for index, each in enumerate(items_of(members.get(name))):
            if name == "locations" or members_of(each).get("type") == "diff":
                yield from _absolute(observed, "path.location", "update", name, index, "path")


_UPDATES = frozenset({"SessionNotification", "UpdateSessionNotification"})


def _absolute(observed: ObservedMessage, id_: str, *path: str | int) -> Iterator[Remark]:
    value: object = observed.body
    for step in path:
        value = items_of(value)[step] if isinstance(step, int) else members_of(value).get(step)
    if not isinstance(value, str):
        return
    try:
        require_absolute(value, field=str(path[-1]))
    except NotAbsolute as error:
        yield remark(observed, id_, error.message.partition(": ")[2], *path)
