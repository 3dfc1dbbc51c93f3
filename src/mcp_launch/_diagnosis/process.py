"""Explain why the process of a stdio server failed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from acp_bindings._processes.process import how_it_ended, signal_name
from acp_bindings._redact import Redactor, shown_url
from mcp_launch._diagnosis import Diagnosis, advised
from mcp_launch._diagnosis.hints import INCOMPATIBLE, NEEDS_PROXY, explain_end, explain_variable, unwrapped
from mcp_launch._executable import INHERITED, WITH_VALUE, operand_in
from mcp_launch._spec import StdioServer
from mcp_launch._unexpanded import PLACEHOLDER
from mcp_launch.failures import Phrases
from mcp_launch.options import allow_more, megabytes


def explain_silence(lines: Iterable[str], phrases: Phrases) -> str | None:
    """Return what to try if a line says that the process listens on a URL or port instead of standard input."""
    places: list[str] = []
    for line in lines:
        if (found := _LISTENS.search(line)) and not _CONNECTS.match(line, 0, found.start()):
            scheme, place, port = found.groups(default="")
            places.append(f"on port {port}" if port else f"at {scheme}{place.rstrip('.,;:!')}")
    places = [place for place in places if not place.endswith(("/health", "/metrics"))]
    if not places:
        return None
    where = next((place for place in places if place.endswith(("/mcp", "/sse"))), places[0])
    form = phrases.given("sse" if where.endswith("/sse") else "http")
    return f"it listens {where}; if it speaks MCP there, give that as {form}"


_LISTENS = re.compile(
    r"(https?://)(?:[^\s/@]*@)?"
    r"((?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])(?![\w.-]*\w)(?::\d+)?(?:/[^\s\"'<>()?#\x1b]*)?)"
    r"|\b(?:listening (?:on|at) [\w.*\[\]:]*:|(?:listening (?:on|at)|running on|starting server on) port )(\d+)\b",
    re.IGNORECASE,
)
"""A URL of this machine without user-info and query, or a port."""
_CONNECTS = re.compile(
    r"(?!.*\b(?:listen|runn|serv|start)(?:ed|ing)\b).*"
    r"\b(?:connect(?:ed|ing|ion) to|not connect|waiting for (?!conn|req|client)|fetching|request|using)\b",
    re.IGNORECASE,
)
"""Words before the URL of something that the process uses itself."""


SHOWN = 300
"""Characters of a line that are shown."""
_LAST_LINES = 20
"""Lines of standard error in the facts."""
_OTHER_PROGRAM = "is that the right program, and does it need an argument to speak MCP on stdio?"
"""The advice for a program that does not speak MCP, or ends immediately."""
_DOWNLOADERS = frozenset(("bunx", "docker", "npx", "pipx", "podman", "uvx"))
"""Programs that download and run packages or images."""
_COMPLAINT = re.compile(r"\berror\b|not a valid", re.IGNORECASE)
"""An error, although the status is 0."""
_NOTICE = re.compile("npm (?:notice(?! Access token expired)|warn|WARN)")
_OF_GIT = re.compile(r"((?:git|bitbucket|https?|ssh)[\w+]*:)\S+|[\w.-]+/[\w.-]+")
_NO_COMMAND = re.compile(r"^\S*sh: .*jsonrpc\"?:\"?2|^'.*jsonrpc.* is not recognized as ")
"""Errors of shells about a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Observations of a process. Only `stray` and `logged` are redacted already."""

    spec: StdioServer
    phrases: Phrases
    spoke: bool
    """True if it wrote a message."""
    stray: Sequence[str]
    """The first lines of its standard output that were not messages."""
    logged: list[str]
    """The lines of the last error that it logged by a message."""
    echoes: bool
    """True if it echoed its input."""
    only_echoes: bool
    """True if it echoed its input and wrote nothing else for long enough."""
    unfinished: str
    """The start of a line without a newline."""
    stderr: Sequence[str]
    """The last lines of its standard error."""
    status: int | None
    """Its exit status, negative for a signal; None if it is running or the status is unknown."""
    gave_up_at: int | None = None
    """The limit in bytes that a line exceeded, if one did."""
    closed: Literal["input", "output"] | None = None
    """The standard stream that it closed first, if any."""
    proxy: tuple[str, str] | None = None
    """The variable that sets the proxy for its downloads, and the URL without user-info."""
    proxy_is_dead: bool = False
    """True if the proxy did not accept a connection."""


def diagnose_process(seen: Seen, *, waited: float | None) -> Diagnosis | None:
    """Return why the server failed; None if the process is not the reason.

    `waited` is the number of seconds of the budget that was exceeded, if one was.
    """
    facts: dict[str, Any] = {"stderr": list(seen.stderr[-_LAST_LINES:])}
    if seen.stray:
        facts["stdout"] = list(seen.stray)
    if seen.logged:
        facts["logged"] = seen.logged
    if seen.gave_up_at is not None:
        event, more = f"wrote a line of more than {megabytes(seen.gave_up_at)}", allow_more("bytes")
        return advised("invalid_response" if seen.spoke else "not_mcp", event, more, facts | {"limit": "bytes"})
    if seen.only_echoes:
        return advised("not_mcp", _ECHO, _OTHER_PROGRAM, facts)
    # npm writes notices about itself and warnings about packages, whether or not anything is wrong.
    said = unwrapped(line for line in seen.stderr if line.strip() and not _NOTICE.match(line))
    said, verb = (said, "wrote on stderr") if said else (seen.logged, "logged")
    # A shell of npx says what it cannot run, unless that is in an install script.
    is_hidden = not said and _package(seen)
    hint, line = explain_end(said, status=None if is_hidden else seen.status)
    quoted = line and f"{verb}: {seen.spec.redactor.start(line, SHOWN)}"
    if (status := seen.status) is not None:
        facts |= {"signal": signal_name(status)} if status < 0 else {"exit_code": status}
        if any(_SEVERAL.match(each) and each in (line or "") for each in seen.spec.args):
            hint, edit = 'an item of its "args" contains several arguments; write each as a separate item', None
        else:
            hint, edit = _refined(seen, hint) if hint else (_cause_in_entry(seen, said, line or ""), None)
        facts |= {"edit": edit} if edit else {}
        # A program that ends at once without an error was not meant to be a server.
        complains = hint is not None or _COMPLAINT.search(line or "")
        other = _OTHER_PROGRAM if status == 0 and not complains and not seen.spoke else None
        words = f"{_last_words(seen, hint, quoted)}{f'; {other}' if other else ''}"
        return Diagnosis("exited", f"{how_it_ended(status)}{words}", facts, advice=hint or other)
    words = _last_words(seen, hint, quoted)
    if waited is not None:
        late = f"did not answer within {waited:.1f} s{words}"
        wrong = None if seen.spoke else _no_mcp(seen)
        found = _advice(seen)
        event = f"{wrong or late}; {found or _longer(seen)}"
        return Diagnosis("not_mcp" if wrong else "timeout", event, facts, advice=found or hint)
    if seen.closed:
        return Diagnosis("disconnected", f"closed its standard {seen.closed}{words}", facts, advice=hint)
    return None


def _refined(seen: Seen, hint: str) -> tuple[str, dict[str, Any] | None]:  # noqa: PLR0911 - a list of cases
    """Return a hint together with what is known of the entry, and the change of the entry, if there is one."""
    if older := re.search('pip install "(.+)"', hint):
        return _with_older(seen, hint, older[1])
    absent = re.match(r"the (?:\w+ )?package ((@?[\w./-]+)\S*) was not found", hint)
    if absent and downloads(seen.spec.command):
        # uv writes names of packages in their normal form.
        name, *args = (re.sub("[-_.]+", "-", each).lower() for each in (absent[2], *seen.spec.args))
        if not any(name in each for each in args):
            return f"it requires the package {absent[1]}, which was not found; try another version of the server", None
    # The status of a shell that did not find the command.
    if seen.status == 127 and _OF_GIT.fullmatch(_package(seen)):
        return "the repository does not contain its program; clone and build it, or use a published package", None
    if NEEDS_PROXY in hint and seen.proxy:
        name, url = seen.proxy
        return hint.replace(NEEDS_PROXY, f"is the proxy {url} ({name}) right, and does it run?"), None
    if re.search("is (?:the|every) path", hint):
        if wrong := seen.phrases.unexpanded(hint, "args"):
            return f"{hint.partition('; ')[0]}; its path {wrong}", None
        return _windows_path(seen) or hint, None
    return hint, None


def _cause_in_entry(seen: Seen, said: Sequence[str], line: str) -> str | None:  # noqa: PLR0911 - a list of cases
    """Return why it ended, if its entry makes that likely and its output has no hint; `line` is the most relevant."""
    env = dict(seen.spec.env)
    empty = {name for name, value in env.items() if not value.strip()}
    if hint := explain_variable([*said, line], given={*INHERITED, *env}, empty=empty):
        return hint
    is_silent = (seen.status or 0) > 0 and not (said or seen.spoke or _odd_output(seen))
    if package := _package(seen):
        # The status of Git, whose error npx does not show.
        if seen.status == 128 and (git := _OF_GIT.fullmatch(package)):
            if not git[1]:
                return f"npx takes {package} for a repository on GitHub; is it @{package}?"
            # Not its URL, which may contain a password.
            return "npx gets it with git, which failed; does the repository exist, and need a login (git ls-remote …)?"
        if is_silent:
            if seen.status == 128:
                return f"npm gets a package that it requires with git, which failed; npm install {package} shows why"
            hidden = "npx hides the errors of install scripts; if one failed, npx --foreground-scripts … shows it"
            return _unfilled(seen) or hidden
    if wrong := _windows_path(seen) or _absent_path(seen, line):
        return wrong
    if seen.status == 0 and has_no_input(seen.spec.command, seen.spec.args):
        return 'without -i, its container gets no input; add -i after "run" in its "args"'
    if (is_silent or any(map(_REFUSED.search, said))) and (wrong := _unfilled(seen)):
        return wrong
    if _CRASH.match(line) and (found := _ENGINE.findall("\n".join(seen.stderr))):
        return "npm says that {} requires Node.js {}, but this is {}".format(*found[-1])
    return _advice_on_mcp_remote(seen)


def has_no_input(command: str, args: Sequence[str]) -> bool:
    """Return True if the command runs a container without standard input."""
    reads = any(re.fullmatch(r"-\w*i\w*|--interactive(=true)?", each) for each in args)
    # Not "docker compose run", which keeps it open, and not "docker mcp gateway run".
    return Path(command).stem in ("docker", "podman") and "run" in args[:1] and not reads


def _advice_on_mcp_remote(seen: Seen) -> str | None:
    """Return how to find out what is wrong with the URL of mcp-remote or mcp-proxy; None for other servers."""
    words = (Path(seen.spec.command).name, *seen.spec.args)
    url = next((each for each in words if each.startswith(("http://", "https://"))), None)
    if not (url and any(re.match(r"mcp-(?:proxy|remote)\b", each) for each in words)):
        return None
    return f'to see what is wrong with its URL, or that it requires a login, run "mcp-launch check {shown_url(url)}"'


def _package(seen: Seen) -> str:
    """Return the package that npx runs; empty for other programs."""
    if Path(seen.spec.command).stem != "npx":
        return ""
    at = operand_in(seen.spec.args, with_value=WITH_VALUE.difference(("-p", "--package")))
    return "" if at is None else seen.spec.args[at]


def _windows_path(seen: Seen) -> str | None:
    is_odd = os.name != "nt" and any(map(_WINDOWS_PATH.search, seen.spec.args))
    return 'a path in its "args" is a Windows path, and this system is not Windows' if is_odd else None


def _unfilled(seen: Seen) -> str | None:
    for name, value in seen.spec.env:
        if wrong := seen.phrases.unfilled(value, "env"):
            return f"the value of {name} {wrong}"
    # Not variables, because a shell or the server itself may expand them.
    has_placeholder = any(map(PLACEHOLDER.search, seen.spec.args))
    return 'an item of its "args" contains a placeholder; replace it' if has_placeholder else None


def _absent_path(seen: Seen, line: str) -> str | None:
    """Return which path of the entry does not exist, if the error says that."""
    if not _ABSENT.search(line):
        return None
    paths = [(f"the path in {name}", value) for name, value in seen.spec.env]
    paths += [('a path in its "args"', each.rpartition("=")[2]) for each in seen.spec.args]
    for where, path in paths:
        # Something in a file that exists may be what was not found.
        exists = os.path.isabs(path) and os.path.exists(path)
        if not exists and _PATH.match(path) and re.search(rf"(?<![\w.-]){re.escape(path)}(?!\.?[\w/\\-])", line):
            cure = '"~" is not expanded here; write the full path' if path[0] == "~" else "is it right?"
            return f"{where} was not found; {cure}"
    return None


def _no_mcp(seen: Seen) -> str | None:
    """Return what it wrote instead of messages, if anything."""
    if seen.echoes:
        return _ECHO
    if _is_shell(seen):
        return "is a shell, which runs the messages as commands"
    return _odd_output(seen)


def _odd_output(seen: Seen) -> str | None:
    return odd_output(seen.stray[0] if seen.stray else "", seen.unfinished, seen.spec.redactor)


def odd_output(stray: str, unfinished: str, hide: Redactor) -> str | None:
    """Return what it wrote that is not a message: a redacted line, or the start of one; None if both are empty."""
    if stray:
        return f'wrote "{stray}" on stdout, which is not a JSON-RPC message'
    if unfinished:
        shown = hide.start(unfinished, SHOWN)
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


_ECHO = "only sends back its input, so it is not an MCP server"
_SEVERAL = re.compile(r"(?:-[^\s=]*|@\S+|\S+(?=\s--?\w))\s")
"""The start of an argument that contains an option and more, or an npm package and more."""
_WINDOWS_PATH = re.compile(r"(?:^|=)(?:[A-Za-z]:\\|\\\\\w)")
_ABSENT = re.compile(r"ENOENT|(?i:no such file|(?:not|n't) (?:found|exist)|cannot find)")
"""Words about a file that does not exist."""
_PATH = re.compile(r"(?:~|\.{0,2}|[A-Za-z]:)[/\\].")
"""The start of a path that cannot be the name of a package or an image, or a URL."""
_REFUSED = re.compile(
    r"\b40[13]\b|unauthori[sz]ed|forbidden|authentication (?:\w+ )?failed"
    r"|(?:invalid|incorrect|bad|wrong)\W+(?:\w+\W+){0,2}(?:key|token|credential|password)",
    re.IGNORECASE,
)
"""A service that refused a login."""
_CRASH = re.compile(r"(?:Range|Reference|Syntax|Type)Error|Error \[ERR_")
"""An error of JavaScript that a server does not raise on purpose."""
_ENGINE = re.compile(
    r"EBADENGINE   package: '(\S+)',\n.*required: \{ node: '([^'\n]+)'.*\n.*current: \{ node: '(v[\d.]+)'"
)
"""The warning of npm that a package requires another version of Node.js."""


def _with_older(seen: Seen, hint: str, package: str) -> tuple[str, dict[str, Any] | None]:
    """Return how to run a server with the version of a package that it requires, and the change of its entry."""
    program, args = Path(seen.spec.command).stem, list(seen.spec.args)
    if any(re.match(rf"{package.partition('<')[0]}[<=>~]", each) for each in args):
        return INCOMPATIBLE, None
    if program == "uvx":
        at, where, shown = 0, "at the start of", "uvx"
    elif program == "uv" and "run" in args:
        at, where, shown = args.index("run") + 1, 'after "run" in', "uv … run"
    else:
        return hint, None
    why = hint.partition("; ")[0]
    advice = f'put "--with", "{package}" {where} its "args" ({shown} --with \'{package}\' …)'
    return f"{why}; {advice}", {"insert": ["--with", package], "at": at}


def _last_words(seen: Seen, hint: str | None, quoted: str | None) -> str:
    reason = f": {hint}" if hint else ""
    if wrote := quoted or _odd_output(seen):
        return f"{reason}; it {wrote}"
    if any(map(str.strip, seen.stderr)):
        return reason
    return f"{reason}; it {'wrote nothing on stderr' if seen.spoke else 'printed nothing'}"


def _advice(seen: Seen) -> str | None:  # noqa: PLR0911 - a list of cases
    """Return what to try if it did not respond, if more is known than that it may need longer."""
    if seen.spoke:
        return None
    # It logs that it listens too, for the response of a login. Without a log, it may still be downloaded.
    if any(map(str.strip, seen.stderr)) and (advice := _advice_on_mcp_remote(seen)):
        return advice
    # Redacted before a URL is cut out of a line, because part of a secret would not be recognized.
    lines = map(seen.spec.redactor, (*seen.stray, seen.unfinished, *seen.stderr))
    if hint := explain_silence(lines, seen.phrases):
        return hint
    if form := _other_form(seen):
        return form
    if _is_shell(seen):
        return 'do its "args" name the program to run, with each argument as a separate item?'
    if seen.echoes or seen.stray or seen.unfinished:
        return _OTHER_PROGRAM
    if seen.proxy and seen.proxy_is_dead:
        name, url = seen.proxy
        why = f"the proxy {url} does not accept connections; start it, or correct or unset {name}"
        return f"{Path(seen.spec.command).stem} downloads missing packages first, and {why}"
    return None


def _longer(seen: Seen) -> str:
    command, longer = seen.spec.command, seen.phrases.longer
    if seen.spoke:
        return f"{longer}?"
    downloading = f" {Path(command).stem} downloads missing packages first" if downloads(command) else ""
    return f"{longer}, or an argument to speak MCP on stdio?{downloading}"


def downloads(command: str) -> bool:
    """Return True if a program downloads and runs packages or images."""
    return Path(command).stem in _DOWNLOADERS
