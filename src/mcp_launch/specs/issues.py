"""Describes what is wrong with the shape of an entry, and what to write instead, where that is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from acp_bindings import Issue as SchemaIssue
from mcp_launch.json_values import as_items, as_members
from mcp_launch.wording import Wording

__all__ = ["Issue", "issue_at", "no_target_issue", "schema_issue", "whose"]

Issue: TypeAlias = dict[str, str]
"""One thing that is wrong: `path` (a JSON pointer into the entry), `rule`, `message`."""


def issue_at(path: str, rule: str, message: str) -> Issue:
    """The issue with this path, rule and message."""
    return {"path": path, "rule": rule, "message": message}


def no_target_issue(members: dict[str, Any], wording: Wording) -> Issue:
    """The issue of an entry that has neither a command nor a URL, or has misspelt them."""
    for member in ("command", "url"):
        if meant := _meant(member, members):
            return issue_at(f"/{member}", "missing", f"field required{meant}")
    return issue_at("", "missing", f"a server must be a map with {wording.needs}")


def _meant(member: str, entry: object) -> str:
    """A hint which member is most likely a misspelt form of the missing one."""
    import difflib  # noqa: PLC0415 - for what is misspelt, and most is not

    near = difflib.get_close_matches(member, sorted({*map(str, as_members(entry))} - _MEMBERS), n=1)
    return f'; is "{near[0]}" meant to be {member}?' if near else ""


_MEMBERS = frozenset(("name", "type", "command", "args", "env", "url", "headers"))


def schema_issue(issue: SchemaIssue, entry: object) -> Issue:
    """An issue of the schema, with what to write instead where that is known."""
    message = issue.message[:1].lower() + issue.message[1:]
    match issue.path, entry:
        case _ if "; " in message:
            pass  # What to write instead is said already.
        case (str() as member,), _ if issue.rule == "missing" and (meant := _meant(member, entry)):
            message += meant
        case ("args" | "env" | "headers",), _ if issue.rule == "missing":
            message += "; send [] when there is nothing to say"
        case ("args",), _ if isinstance(as_members(entry).get("args"), str):
            message += '; write ["…", "…"], with each argument in quotes of its own'
        case ("env" | "headers", int(), *_), _:
            message += whose(as_members(_at(entry, issue.path[:2])).get("name"))
        case _:
            pass
    if isinstance(_at(entry, issue.path), int | float) and issue.rule == "string_type":
        message += "; write it in quotes"
    return issue_at("".join(f"/{step}" for step in issue.path), issue.rule, message)


def _at(entry: object, path: Sequence[str | int]) -> object:
    """What stands there in the entry, or None."""
    for step in path:
        entry = as_members(entry).get(step) if isinstance(step, str) else next(iter(as_items(entry)[step:]), None)
    return entry


def whose(name: object) -> str:
    """The name of a variable or header, which is no secret, for a config file with a map, where paths have numbers.

    Whoever writes `TOKEN=secret` or `Authorization: secret` in place of a name has a secret in it.
    """
    plain = re.split(r"[=:\s]", name, maxsplit=1)[0] if isinstance(name, str) else ""
    return f" (that of {plain})" if plain else ""
