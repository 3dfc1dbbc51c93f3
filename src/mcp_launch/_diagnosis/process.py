"""Explain why the process of a stdio server failed."""

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
from mcp_launch.failures import Phrases
from mcp_launch.options import allow_more, megabytes


def explain_silence(lines: Iterable[str], phrases: Phrases) -> str | None:
    """Return what to try if a line says that the process listens on a URL or port instead of standard input."""
    for line in lines:
        if found := _LISTENS.search(line):
            scheme, place, port = found.groups(default="")
            where = f"on port {port}" if port else f"at {scheme}{place.rstrip('.,;:!')}"
            form = phrases.given("sse" if where.endswith("/sse") else "http")
            return f"it listens {where}; if it speaks MCP there, give that as {form}"
    return None


_LISTENS = re.compile(
    r"(https?://)(?:[^\s/@]*@)?"
    r"((?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])(?![\w.-]*\w)(?::\d+)?(?:/[^\s\"'<>()?#\x1b]*)?)"
    r"|\blistening (?:on|at) (?:port |[\w.*\[\]:]*:)(\d+)\b",
    re.IGNORECASE,
)
"""A URL of this machine without user-info and query, or a port."""


SHOWN = 300
"""Characters of a line that are shown."""
_LAST_LINES = 20
"""Lines of standard error in the facts."""
_OTHER_PROGRAM = "is that the right program, and does it need an argument to speak MCP on stdio?"
"""The advice for a program that does not speak MCP, or ends immediately."""
_DOWNLOADERS = frozenset(("bunx", "docker", "npx", "pipx", "podman", "uvx"))
"""Programs that download and run packages or images."""
_OR_AN_ARGUMENT = ", or an argument to speak MCP on stdio?"
_NO_COMMAND = re.compile(r"^\S*sh: .*jsonrpc\"?:\"?2|^'.*jsonrpc.* is not recognized as ")
"""Errors of shells about a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Observations of a process. Only `stray` is redacted already."""

    command: str
    """The program, as in the specification."""
    spoke: bool
    """True if it wrote a message."""
    stray: Sequence[str]
    """The first lines of its standard output that were not messages."""
    echoes: bool
    """True if it echoed its input."""
    unfinished: str
    """The start of a line without a newline."""
    gave_up_at: int | None
    """The limit in bytes that a line exceeded, if one did."""
    stderr: Sequence[str]
    """The last lines of its standard error."""
    status: int | None
    """Its exit status, negative for a signal; None if it is running or the status is unknown."""
    closed: Literal["input", "output"] | None
    """The standard stream that it closed first, if any."""
    given: Collection[str]
    """The names of its environment variables."""


def diagnose_process(seen: Seen, *, waited: float | None, hide: Redactor, phrases: Phrases) -> Diagnosis | None:
    """Return why the server failed; None if the process is not the reason.

    `waited` is the number of seconds of the budget that was exceeded, if one was.
    """
    facts: dict[str, Any] = {"stderr": list(seen.stderr[-_LAST_LINES:])}
    if seen.stray:
        facts["stdout"] = list(seen.stray)
    if seen.gave_up_at is not None:
        message = f"wrote a line of more than {megabytes(seen.gave_up_at)}; {allow_more('bytes')}"
        return Diagnosis("disconnected" if seen.spoke else "not_mcp", message, facts)
    if (status := seen.status) is not None:
        facts |= {"signal": signal_name(status)} if status < 0 else {"exit_code": status}
        return Diagnosis("exited", f"{how_it_ended(status)}{_last_words(seen, hide)}", facts)
    if waited is not None:
        late = f"did not answer within {waited:.1f} s{_last_words(seen, hide)}"
        wrong = None if seen.spoke else _no_mcp(seen, hide)
        return Diagnosis("not_mcp" if wrong else "timeout", f"{wrong or late}; {_advice(seen, hide, phrases)}", facts)
    if seen.closed:
        return Diagnosis("disconnected", f"closed its standard {seen.closed}{_last_words(seen, hide)}", facts)
    return None


def _no_mcp(seen: Seen, hide: Redactor) -> str | None:
    """Return what it wrote instead of messages, if anything."""
    if seen.echoes:
        return "only sends back its input, so it is not an MCP server"
    if _is_shell(seen):
        return "is a shell, which runs the messages as commands"
    if seen.stray:
        return f'wrote "{seen.stray[0]}" on stdout, which is not a JSON-RPC message'
    if seen.unfinished:
        shown = hide.start(seen.unfinished, SHOWN)
        return f'wrote "{shown}" on stdout without a newline; each message must end with one (LF)'
    return None


def _is_shell(seen: Seen) -> bool:
    return any(_NO_COMMAND.search(line) for line in seen.stderr)


def _other_form(seen: Seen) -> str | None:
    """Return what to change if it writes messages in another form than MCP's."""
    first = seen.stray[0] if seen.stray else ""
    if first.lower().startswith("content-length:"):
        return "does it frame messages like a language server? MCP requires one message per line"
    if first.rstrip() == "{":
        return "each message must be on a single line"
    return "does it write UTF-16? Messages must be UTF-8" if "\0" in first else None


def _last_words(seen: Seen, hide: Redactor) -> str:
    said = [line for line in seen.stderr if line.strip()]
    hint, line = explain_end(said, status=seen.status)
    if hint is None and seen.status is not None:
        hint = explain_variable(said, given=seen.given)
    reason = f": {hint}" if hint else ""
    done = f"; {_OTHER_PROGRAM}" if hint is None and seen.status == 0 and not seen.spoke else ""
    if line:
        return f"{reason}; it wrote on stderr: {hide.start(line, SHOWN)}{done}"
    if seen.stray:
        return f'{reason}; it wrote "{seen.stray[0]}" on stdout, which is not a JSON-RPC message{done}'
    return f"{reason}; it {'wrote nothing on stderr' if seen.spoke else 'printed nothing'}{done}"


def _advice(seen: Seen, hide: Redactor, phrases: Phrases) -> str:
    """Return what to try."""
    if seen.spoke:
        return f"{phrases.longer}?"
    # Redacted before a URL is cut out of a line, because part of a secret would not be recognized.
    if hint := explain_silence((hide(line) for line in (*seen.stray, seen.unfinished, *seen.stderr)), phrases):
        return hint
    if form := _other_form(seen):
        return form
    if _is_shell(seen):
        return 'do its "args" name the program to run, with each argument as a separate item?'
    if seen.echoes or seen.stray or seen.unfinished:
        return _OTHER_PROGRAM
    program = Path(seen.command).stem
    why = f"? {program} downloads missing packages first" if program in _DOWNLOADERS else _OR_AN_ARGUMENT
    return f"{phrases.longer}{why}"
