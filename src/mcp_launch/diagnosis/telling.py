"""Picks the lines of standard error that say why a program ended: the error above or below a stack, not the stack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

__all__ = ["telling"]


def telling(lines: Sequence[str]) -> str | None:
    """The line that tells most, or the whole message of an error with a stack, as one line. No line may be blank."""
    last = _Last()
    for line in _before_goroutines(lines):
        if not _NOISE.search(line):
            last.add(_BAR.sub("", line))
    told = last.said or lines[-1:]
    return " ".join(line.strip() for line in told) or None


class _Last:
    """Keeps the last error, or the last line, while lines are added."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._recent: list[str] = []
        """The lines since the last stack, among which is the error whose stack comes next."""
        self._skips = False
        """Whether indented lines are skipped now, as parts of a stack or members of an error."""
        self._awaits = False
        """Whether the next line without indentation is the error of the stack before it."""
        self._room = 0.0
        """How many more lines without indentation may belong to what was said."""
        self._lists = False
        """Whether the next line belongs to what was said, if it is indented."""
        self._helps = False
        """Whether what comes is the help of a program that has said what is wrong."""

    def add(self, line: str) -> None:
        """Take the next line."""
        if _FRAME.search(line):
            self._say_what_has_the_stack()
        elif line.endswith("Traceback (most recent call last):"):
            self._forget(awaits=True)
        elif not (self._skips and line[0].isspace()) and not self._is_help(line):
            self._say(line)

    def _say_what_has_the_stack(self) -> None:
        begins = [number for number, line in enumerate(self._recent) if _ERROR.search(line)]
        if begins:
            self.said = self._recent[begins[-1] :]
        self._forget(awaits=False)

    def _forget(self, *, awaits: bool) -> None:
        self._recent, self._skips, self._awaits = [], True, awaits
        self._room, self._helps = 0, False

    def _is_help(self, line: str) -> bool:
        if _USAGE.match(line):
            self._helps = bool(_COMPLAINT.search(" ".join(self.said)))
        elif _LOGGED.match(line) or _SAYS_ERROR.match(line):
            self._helps = False
        return self._helps

    def _say(self, line: str) -> None:
        indented, begins, cause = line[0].isspace(), bool(_SAYS_ERROR.match(line)), line == "Caused by:"
        if begins or _LOGGED.match(line):
            self._room = 0
        if _CAUSE.match(line):
            # Of a chain of causes, the last tells most.
            del self.said[1:]
        of_the_last = cause or self._room > 0 or (indented and self._lists)
        if of_the_last:
            self.said.append(line)
        elif not (_NPM.match(line) and self.said and _NPM.match(self.said[0])):
            self.said = [line]
        if self._awaits or cause:
            self._room = inf
        elif begins:
            self._room = _FOLLOW
        elif not indented:
            self._room -= 1
        self._lists = (indented and self._lists) or line.endswith((":", "[", "{"))
        self._awaits = False
        self._recent.append(line)
        self._skips = line.endswith("] {")


def _before_goroutines(lines: Sequence[str]) -> Sequence[str]:
    """The lines before the stacks of Go, which look like anything."""
    stop = next((number for number, line in enumerate(lines) if re.match(r"goroutine \d+ \[", line)), len(lines))
    return lines[:stop]


_NOISE = re.compile(
    r"^[\W_]*$"
    r"|^(?:Node\.js|Bun) v[\d.]+"
    r"|^npm (?:error|ERR!)(?: (?:code|syscall|path|errno|location|workspace)\b.*| A complete log .*| [\w-]*)?$"
    r"|^npm notice|^\[notice\]"
    r"|^note: run with `?RUST_BACKTRACE"
    r"|^exit status \d+$"
    r"|^[\s+|-]*-{4,} \d+ -{4,}$"
    r"|^\s*For further information visit "
    r"|^(?:See|Run|Try|For more information).*--help",
    re.IGNORECASE,
)
"""Lines that only close what was said before, or say where more stands."""
_BAR = re.compile(r"^\s*[|+] (?=.)")
"""What stands before each line in a trace of several errors."""
_FRAME = re.compile(r"^\s+(?:at \S|from \S+:\d+:in |\d+: \S|\.\.\. \d+ (?:more|common frames))")
"""A line of a stack, in JavaScript, Java and C#, in Ruby, in Rust."""
_ERROR = re.compile(r"^(?!\s).*?(?:Error|Exception|Caused by)\b")
_LOGGED = re.compile(r"\[|\d{4}[-/]\d|\d\d:\d\d|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
"""How a line of a log begins."""
_SAYS_ERROR = re.compile(r"^(?:\[[\w.-]+\] |[\w./-]+: )?(?:fatal )?(?:error|fatal):\s", re.IGNORECASE)
"""How a program begins that says in words of its own what is wrong."""
_FOLLOW = 2
"""Lines after that which may belong to it: what to do about it, or what follows from it."""
_NPM = re.compile(r"^npm (?:error|ERR!) ")
"""What npm says first tells more than what it says then."""
_CAUSE = re.compile(r"^\s+cause: ")
_USAGE = re.compile(r"^usage(?: of .+)?:", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"error|fatal|not (?:defined|found|provided)|unknown|unrecogni[sz]ed|un(?:expected|supported)|invalid|missing"
    r"|required|no such",
    re.IGNORECASE,
)
"""What says more than the usage that follows it."""
