"""Recognises a process that listens on a port instead of its standard input, by the URL or port that it prints."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from acp_bindings._processes.process import how_it_ended, signal_name
from acp_bindings._redact import Redactor
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.hints import explain_end, explain_variable
from mcp_launch.failures import Wording
from mcp_launch.options import allow_more, megabytes


def explain_silence(lines: Iterable[str], wording: Wording) -> str | None:
    """What to try when a process sends no message, if one of its lines says that it listens on a URL or port."""
    for line in lines:
        if found := _LISTENS.search(line):
            scheme, place, port = found.groups(default="")
            where = f"on port {port}" if port else f"at {scheme}{place.rstrip('.,;:!')}"
            form = wording.given("sse" if where.endswith("/sse") else "http")
            return f"it listens {where}; if it speaks MCP there, give that as {form}"
    return None


_LISTENS = re.compile(
    r"(https?://)(?:[^\s/@]*@)?"
    r"((?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])(?![\w.-]*\w)(?::\d+)?(?:/[^\s\"'<>()?#\x1b]*)?)"
    r"|\blistening (?:on|at) (?:port |[\w.*\[\]:]*:)(\d+)\b",
    re.IGNORECASE,
)
"""A URL of this machine, without user-info and query, or a port."""


SHOWN = 300
"""Characters of a line that are shown."""
_LAST_LINES = 20
"""Lines of standard error that stand in the facts."""
_OTHER_PROGRAM = "is that the right program, and does it need an argument to speak MCP on stdio?"
"""What to ask of one that knows nothing of MCP, or is done as soon as it was started."""
_DOWNLOADERS = frozenset(("bunx", "docker", "npx", "pipx", "podman", "uvx"))
"""Programs that run what somebody has published."""
_OR_AN_ARGUMENT = ", or an argument to speak MCP on stdio?"
_NO_COMMAND = re.compile(r"^\S*sh: .*jsonrpc\"?:\"?2|^'.*jsonrpc.* is not recognized as ")
"""What shells say of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of a process. Only `stray` is redacted already."""

    command: str
    """The program that was started, as it was asked for."""
    spoke: bool
    """Whether it wrote a message."""
    stray: Sequence[str]
    """The first lines of its standard output that were no messages."""
    echoes: bool
    """Whether it sent back what it was sent."""
    unfinished: str
    """The start of a line that it never ended."""
    gave_up_at: int | None
    """The bytes after which a line that did not end was given up, if one was."""
    stderr: Sequence[str]
    """The last lines of its standard error."""
    status: int | None
    """Its exit status, negative for a signal; None while it runs, or when that is not known."""
    closed: Literal["input", "output"] | None
    """The standard stream that it closed first, if it closed any."""
    given: Collection[str]
    """The names of the variables that it was given, or inherits."""


def diagnose_process(seen: Seen, *, waited: float | None, hide: Redactor, wording: Wording) -> Diagnosis | None:
    """Why a process was of no use; None if the process is not to blame.

    `waited` are the seconds of the budget that was used up, if one was.
    """
    facts: dict[str, Any] = {"stderr": list(seen.stderr[-_LAST_LINES:])}
    if seen.stray:
        facts["stdout"] = list(seen.stray)
    if seen.gave_up_at is not None:
        message = f"wrote a line of more than {megabytes(seen.gave_up_at)}, and was given up; {allow_more('bytes')}"
        return Diagnosis("disconnected" if seen.spoke else "not_mcp", message, facts)
    if (status := seen.status) is not None:
        facts |= {"signal": signal_name(status)} if status < 0 else {"exit_code": status}
        return Diagnosis("exited", f"{how_it_ended(status)}{_last_words(seen, hide)}", facts)
    if waited is not None:
        told = f"did not answer within {waited:.1f} s{_last_words(seen, hide)}"
        wrong = None if seen.spoke else _no_mcp(seen, hide)
        return Diagnosis("not_mcp" if wrong else "timeout", f"{wrong or told}; {_advice(seen, hide, wording)}", facts)
    if seen.closed:
        return Diagnosis("disconnected", f"closed its standard {seen.closed}{_last_words(seen, hide)}", facts)
    return None


def _no_mcp(seen: Seen, hide: Redactor) -> str | None:
    """What it wrote instead of messages, if it did."""
    if seen.echoes:
        return "sends back what it is sent, and nothing else, so that it is no MCP server"
    if _is_shell(seen):
        return "is a shell, which takes the messages for commands"
    if seen.stray:
        return f'wrote "{seen.stray[0]}" on stdout, which is no JSON-RPC message'
    if seen.unfinished:
        shown = hide.start(seen.unfinished, SHOWN)
        return f'wrote "{shown}" on stdout without ending the line; messages end with a newline (LF)'
    return None


def _is_shell(seen: Seen) -> bool:
    return any(_NO_COMMAND.search(line) for line in seen.stderr)


def _other_form(seen: Seen) -> str | None:
    """What to change if it writes messages in another form than MCP's."""
    first = seen.stray[0] if seen.stray else ""
    if first.lower().startswith("content-length:"):
        return "does it frame messages as language servers do? MCP wants one on each line"
    if first.rstrip() == "{":
        return "a message must stand on one line"
    return "does it write UTF-16? Messages are UTF-8" if "\0" in first else None


def _last_words(seen: Seen, hide: Redactor) -> str:
    said = [line for line in seen.stderr if line.strip()]
    hint, line = explain_end(said, status=seen.status)
    if hint is None and seen.status is not None:
        hint = explain_variable(said, given=seen.given)
    told = f": {hint}" if hint else ""
    done = f"; {_OTHER_PROGRAM}" if hint is None and seen.status == 0 and not seen.spoke else ""
    if line:
        return f"{told}; it said on stderr: {hide.start(line, SHOWN)}{done}"
    if seen.stray:
        return f'{told}; it wrote "{seen.stray[0]}" on stdout, which is no JSON-RPC message{done}'
    return f"{told}; it {'wrote nothing on stderr' if seen.spoke else 'printed nothing'}{done}"


def _advice(seen: Seen, hide: Redactor, wording: Wording) -> str:
    """What to try; if it listens on a port instead, where."""
    if seen.spoke:
        return f"{wording.longer}?"
    # Redacted before a URL is cut out of a line: half of a secret would not be recognised.
    if hint := explain_silence((hide(line) for line in (*seen.stray, seen.unfinished, *seen.stderr)), wording):
        return hint
    if form := _other_form(seen):
        return form
    if _is_shell(seen):
        return 'do its "args" name what it is to run, each argument as an item of its own?'
    if seen.echoes or seen.stray or seen.unfinished:
        return _OTHER_PROGRAM
    program = Path(seen.command).stem
    why = f"? {program} first downloads what it has not got yet" if program in _DOWNLOADERS else _OR_AN_ARGUMENT
    return f"{wording.longer}{why}"
