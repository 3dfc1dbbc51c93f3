"""Rules for paths that must be absolute, on POSIX or Windows, wherever the check runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from acp_bindings._json import items_of, members_of
from acp_bindings.check._conversation import ObservedMessage
from acp_bindings.check._rules.rule import remark, rule
from acp_bindings.setup._paths import NotAbsolute, require_absolute
from acp_bindings.setup.errors import Remark


@rule("path.cwd", "error")
def cwd(observed: ObservedMessage) -> Iterator[Remark]:
    """The `cwd` of a session, of a filter of `session/list` or of a terminal is not an absolute path."""
    if observed.opens or observed.type_name in ("CreateTerminalRequest", "ListSessionsRequest"):
        yield from _absolute(observed, "path.cwd", "cwd")


@rule("path.additional-directory", "error")
def additional_directory(observed: ObservedMessage) -> Iterator[Remark]:
    """One of the `additionalDirectories` of a session is not an absolute path."""
    for index, _ in enumerate(items_of(observed.members.get("additionalDirectories")) if observed.opens else ()):
        yield from _absolute(observed, "path.additional-directory", "additionalDirectories", index)


@rule("path.command", "warning")
def command(observed: ObservedMessage) -> Iterator[Remark]:
    """The `command` of an MCP server is not an absolute path; agents refuse it, or look for it in different places."""
    for each in observed.servers_remarks:
        if each.rule == "relative-command":
            yield replace(each, rule="path.command")


@rule("path.file", "error")
def file(observed: ObservedMessage) -> Iterator[Remark]:
    """The `path` of `fs/read_text_file` or `fs/write_text_file` is not an absolute path."""
    if observed.type_name in ("ReadTextFileRequest", "WriteTextFileRequest"):
        yield from _absolute(observed, "path.file", "path")


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
        message = error.message.partition(": ")[2]
        if error.likeness in ("url", "not unicode"):
            # A URL may have a password in it.
            found = re.search(r".* is not an absolute path(.*)", message, re.DOTALL)
            message = "it is not an absolute path" + (found[1] if found else "")
        yield remark(observed, id_, message, *path)
