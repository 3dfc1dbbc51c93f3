"""Asks before servers are started that files of the project ask for, where the user did not name these files.

A file that `--discover` finds in a project comes with it, perhaps from a stranger, and its commands run as the user. VS
Code and Claude Code ask before they start such servers too. A file that the user names needs no confirmation; VS Code
does not ask either when a server is started from its open file. The answer is forgotten at the end of the command.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

from mcp_launch.command.inputs import Session
from mcp_launch.failures import UnusableInput
from mcp_launch.json_values import as_members

__all__ = ["trusted"]

_confirmed: set[str] = set()
"""The servers that the user confirmed; with `--watch` they are asked for again only when they change."""


def trusted(sessions: list[Session], *, unusable: Callable[[UnusableInput], object] | None = None) -> list[Session]:
    """Return the sessions that may be started; at a terminal, the user is asked for those of the project.

    `unusable` is called with an error for each file that is left out.

    Raises:
        UnusableInput: servers must not be started, and there is no `unusable` to call or nothing else to start.
    """
    doubtful = [each for each in sessions if each.origin == "project" and each.entries and _key(each) not in _confirmed]
    if not doubtful:
        return sessions
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if is_terminal and _confirm(doubtful):
        _confirmed.update(map(_key, doubtful))
        return sessions
    why = (
        "not confirmed" if is_terminal else "comes with the project; --list shows its servers, and --trust starts them"
    )
    errors = [UnusableInput(f"{source}: {why}") for source in dict.fromkeys(each.source for each in doubtful)]
    rest = [each for each in sessions if each not in doubtful]
    if unusable is None or not any(each.entries for each in rest):
        raise UnusableInput("; ".join(map(str, errors)))
    for error in errors:
        unusable(error)
    return rest


def _confirm(sessions: Sequence[Session]) -> bool:
    # Imported late: most servers need no confirmation.
    from mcp_launch.command.show.planned import lines_of, planned  # noqa: PLC0415
    from mcp_launch.command.show.text import remark  # noqa: PLC0415

    remark("The project asks for these servers. Their commands run as you, with the variables that they name:")
    for line in lines_of(planned(sessions)):
        remark(f"  {line}")
    sys.stderr.write("Start them? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _key(session: Session) -> str:
    # Without their names, which are longer where another file has the same.
    servers = [{**as_members(each.server), "name": each.name} for each in session.entries]
    return json.dumps([session.source, session.cwd, servers])
