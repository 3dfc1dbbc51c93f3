"""Writes lines to standard output and standard error, with colours on a terminal, and makes text safe to show."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import unicodedata
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, TypeAlias

from acp_bindings._cli import discard_unwritable, shown_on
from mcp_launch.config._entries import Finding
from mcp_launch.failures import Code, UnusableInput
from mcp_launch.report import CheckReport, FindingReport, ServerReport

Styled: TypeAlias = tuple[str, str]
"""A text and its style, as rich calls it."""

_writing = threading.Lock()
"""Threads write what servers say on standard error; this keeps each line whole."""


def printable(text: str) -> str:
    """The text without characters that could move the cursor or recolour the terminal: it may come from a server."""
    return "".join(char if char.isprintable() else " " for char in text)


def harmless(text: str) -> str:
    """The same for a text of several lines; line ends and tabs are kept."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.splitlines())


def write(*parts: str | Styled) -> None:
    """Write a line to standard output, its parts with a space between them.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked():
        _write(sys.stdout, parts)


def write_json(document: object) -> None:
    """Write a JSON document to standard output, as it is.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked(), _writing:
        sys.stdout.write(f"{json.dumps(document, indent=2)}\n")
        sys.stdout.flush()


def write_file(text: str) -> None:
    """Write the text of a file to standard output, as it is: programs read UTF-8, whatever the terminal shows.

    Raises:
        UnusableInput: it cannot be written, for another reason than that nobody reads it any more.
    """
    with _checked():
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()


def remark(*parts: str | Styled) -> None:
    """Write a line to standard error; an error is ignored, since the exit status still tells."""
    with contextlib.suppress(OSError):
        _write(sys.stderr, parts)


def complain(message: str) -> None:
    """Say on standard error why the command cannot do what it was asked for."""
    remark(f"mcp-launch: {printable(message)}")


@contextlib.contextmanager
def _checked() -> Generator[None]:
    """A block that writes to standard output, and whose errors become UnusableInput."""
    try:
        yield
    except BrokenPipeError:
        # The reader has closed the pipe. typer ends the command quietly then.
        raise
    except OSError as error:
        discard_unwritable(sys.stdout)
        raise UnusableInput(f"standard output: {error.strerror}") from None


def _write(stream: TextIO, parts: tuple[str | Styled, ...]) -> None:
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    # Here, through which all goes that servers and files say.
    styled = [(shown_on(stream, text), style) for text, style in pairs]
    with _writing:
        _write_line(stream, styled)


def _write_line(stream: TextIO, styled: list[Styled]) -> None:
    if stream.isatty() or os.environ.get("FORCE_COLOR"):
        # Imported late: it takes as long as the start of a server, and what goes into a pipe needs none of it.
        from rich.console import Console  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        console = Console(file=stream, highlight=False, soft_wrap=True)
        console.print(*(Text(text, style) for text, style in styled))
    else:
        print(*(text for text, _ in styled), file=stream)
    stream.flush()


_KEPT = frozenset("\n\t\u200c\u200d")
"""Line ends and tabs; and the two joiners that Persian and emoji need, with which nothing can be hidden."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of direction and tags, halves of characters, separators."""


def visible(text: str) -> str:
    r"""The text with escapes like `\u202e` for what cannot be seen; UTF-8, XML and HTML can hold what comes out.

    Nothing is removed: a secret with such a character in its middle was not recognised, and would become whole.
    """
    if text.isprintable():
        return text
    return "".join(char if _is_seen(char) else _escaped(char) for char in text.replace("\r\n", "\n"))


def _is_seen(char: str) -> bool:
    if char in _KEPT:
        return True
    # The last two of each plane are no characters, and XML cannot hold those of the first.
    return unicodedata.category(char) not in _UNSEEN and ord(char) & 0xFFFE != 0xFFFE


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def found_in(source: str, findings: Iterable[Finding]) -> list[FindingReport]:
    """The findings of a file, as a report has them."""
    return [
        FindingReport(
            source=source,
            line=each.line,
            column=each.column,
            level="note" if each.is_note else "warning",
            server=each.server,
            code=each.code,
            message=each.message,
        )
        for each in findings
    ]


def of_server(report: CheckReport, server: ServerReport) -> list[FindingReport]:
    """The findings about this server."""
    return [each for each in report["findings"] if each["server"] == server["name"]]


def of_files(report: CheckReport) -> list[FindingReport]:
    """The findings about no server that was started."""
    names = {server["name"] for server in report["servers"]}
    return [each for each in report["findings"] if each["server"] not in names]


def with_findings(report: CheckReport) -> list[ServerReport]:
    """The servers, each with the findings about it among its warnings."""
    return [
        {**server, "warnings": [*map(placed, of_server(report, server)), *server["warnings"]]}
        for server in report["servers"]
    ]


def shown(found: FindingReport) -> str:
    """A line for people, as compilers write it: `source:line:column: warning: server: message [code]`."""
    place = f"{found['source']}:{found['line']}:{found['column']}"
    return f"{place}: {found['level']}: {_about(found)}{found['message']} [{found['code']}]"


def placed(found: FindingReport, *, named: bool = False) -> str:
    """The same without the level, and without the server unless it is to be `named`."""
    place = f"{found['source']}:{found['line']}:{found['column']}"
    return f"{place}: {_about(found) if named else ''}{found['message']} [{found['code']}]"


def _about(found: FindingReport) -> str:
    return "" if found["server"] is None else f"{found['server']}: "


def print_lines(found: CheckReport) -> None:
    """Print for each server whether it works.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    servers = found["servers"]
    width = max((len(server["name"]) for server in servers), default=0)
    print_findings(of_files(found))
    if not servers:
        write("no servers")
    for server in servers:
        write(*_line(server, width=width))
        print_findings(of_server(found, server))
        remark_warnings(server)


def remark_failure(server: ServerReport) -> None:
    """Say on standard error why a server cannot be used, where standard output is for other things."""
    remark(*_line(server))


def remark_warnings(server: ServerReport) -> None:
    """Say on standard error what the user should know of a server."""
    for warning in server["warnings"]:
        remark((printable(f"warning: {server['name']}: {warning}"), "yellow"))


def print_findings(findings: Iterable[FindingReport]) -> None:
    """Print what is odd in files, by its place."""
    for each in findings:
        remark((printable(shown(each)), "dim" if each["level"] == "note" else "yellow"))


def _line(server: ServerReport, *, width: int = 0) -> list[str | Styled]:
    mark = ("ok  ", "green") if server["failure"] is None else ("FAIL", "red")
    name = printable(server["name"]).ljust(width)
    kind = (server["transport"] or "?").ljust(5)
    return [mark, (name, "bold"), (kind, "dim"), printable(_outcome(server))]


def _outcome(server: ServerReport) -> str:
    if failure := server["failure"]:
        return f"{failure['code']} in {failure['stage']} after {failure['elapsed']:.1f} s: {failure['message']}"
    tools = [tool["name"] for tool in server["tools"] or ()]
    count = "no tools" if not tools else f"{len(tools)} tool{'s' if len(tools) > 1 else ''}: {', '.join(tools)}"
    return f"{count} ({sum(server['seconds'].values()):.1f} s)"


_LISTED: dict[str, Any] = {"servers": []}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "check": {"servers": [], "findings": []},
    "tools": _LISTED,
    "resources": _LISTED,
    "prompts": _LISTED,
    "call": {"server": None, "tool": None, "result": None, "saved": [], "error": None, "failure": None},
}
"""The members of each command's document when it did nothing."""


def write_refusal(command: str, reasons: Sequence[str], **known: str) -> None:
    """Print the document of a command that did nothing.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    write_json({"ok": False, **DOCUMENTS[command], **known, "unusable": list(reasons)})


@contextmanager
def refusing(command: str, *, as_json: bool) -> Generator[None]:
    """A block in which the reason of an UnusableInput is printed as a document too, if `as_json`."""
    try:
        yield
    except UnusableInput as error:
        if as_json:
            write_refusal(command, [str(error)])
        raise


ADVICE: Mapping[Code, str] = {
    "invalid_spec": "Correct the entry where the message points; nothing of it was started.",
    "duplicate_name": "Give one of the two another name; the first was started, this one was not.",
    "unsupported_transport": "Ask for a transport that the agent takes: stdio always, http and sse where it says so.",
    "invalid_options": "Correct the option or the directory that the message names; nothing was started.",
    "command_not_found": (
        "Give the command as an absolute path, or install it. Servers get a small environment: a program that your "
        "shell finds may not be on the PATH here."
    ),
    "not_executable": "Make the file executable, or name its interpreter as the command and the file as an argument.",
    "exited": (
        "Run the command by hand in the same directory. What works there and not here most often lacks a variable, "
        "which the entry's env has to name."
    ),
    "refused": "Start the server, and compare host and port with where it says that it listens.",
    "dns": (
        "Check how the host is spelt. Some names are known only inside a company or a container, or through a proxy "
        "(HTTPS_PROXY)."
    ),
    "tls": (
        "Open the URL in a browser. If that complains too, the certificate is wrong; if not, name the file of the "
        "authority that issued it in SSL_CERT_FILE."
    ),
    "disconnected": "Look into the server's own log at that moment; a proxy on the way may have cut it off too.",
    "unauthorized": "Put a valid token into the entry's headers, as Authorization, or log in as the server asks.",
    "forbidden": "The login is known but not allowed: ask whoever runs the server, or use another token.",
    "not_found": "Compare the path of the URL with the server's documentation; most end in /mcp, older ones in /sse.",
    "method_not_allowed": "Something else answers at this URL: compare its path with the server's documentation.",
    "rate_limited": "Wait as long as the answer says, and start fewer servers of this host at once.",
    "http_error": "Look for this status in the log of the server, or of the gateway in front of it.",
    "redirected": "Put the URL to which it was sent into the entry, if that is a place you trust.",
    "wrong_transport": "Change the entry's type to the transport that the message names.",
    "cross_origin_endpoint": (
        "Use the server's own address. A gateway that changes the host has to change it in the endpoint event too."
    ),
    "session_lost": (
        "Start again. If it comes back, the server restarts, or several of it share an address but not their sessions."
    ),
    "not_mcp": (
        "See that this is the server itself and not its web page, that it logs to standard error, and whether it "
        "needs an argument to speak MCP."
    ),
    "timeout": (
        "Run it once by hand, since a first start may download packages; if it is only slow, give it longer with "
        "--timeout."
    ),
    "rejected": "The server understood and refused: what it says in the message is most often a setting it lacks.",
    "unsupported_version": "Update the server, or this package if the server is the newer one.",
    "invalid_response": "Update the server; if there is no newer release, show its makers the field in the facts.",
    "failed": "Nothing more is known than the message and the facts say; a report of it to us would be welcome.",
}


def elapsed(server: ServerReport) -> float:
    """Seconds from the start of a server until it was ready or had failed."""
    spent = sum(server["seconds"].values())
    # Each stage is rounded on its own, so that their sum may be a little longer than `elapsed`.
    return max(spent, server["failure"]["elapsed"]) if server["failure"] else spent
