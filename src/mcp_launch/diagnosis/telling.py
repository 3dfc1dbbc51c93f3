"""Picks the lines of standard error that say why a program ended: the error above or below a stack, not the stack."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
        self._goes_on = False
        """Whether that error may have further lines."""

    def add(self, line: str) -> None:
        """Take the next line."""
        if _FRAME.search(line):
            self._say_what_has_the_stack()
        elif line.endswith("Traceback (most recent call last):"):
            self._forget(awaits=True)
        elif not (self._skips and line[0].isspace()):
            self._say(line)

    def _say_what_has_the_stack(self) -> None:
        begins = [number for number, line in enumerate(self._recent) if _ERROR.search(line)]
        if begins:
            self.said = self._recent[begins[-1] :]
        self._forget(awaits=False)

    def _forget(self, *, awaits: bool) -> None:
        self._recent, self._skips, self._awaits, self._goes_on = [], True, awaits, False

    def _say(self, line: str) -> None:
        self._goes_on = line == "Caused by:" or (self._goes_on and not _LOGGED.match(line))
        of_the_last = line[0].isspace() and bool(self.said) and self.said[-1].endswith(":")
        if self._goes_on or of_the_last:
            self.said.append(line)
        elif not any(follows.match(line) and error.search(" ".join(self.said)) for error, follows in _EXPLAINED):
            self.said = [line]
        self._goes_on = self._goes_on or self._awaits
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
_LOGGED = re.compile(r"\[|\d{4}-\d|\d\d:\d\d|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
"""How a line of a log begins."""
_EXPLAINED = (
    (re.compile("^npm (?:error|ERR!) "), re.compile("npm (?:error|ERR!) ")),
    (re.compile("error", re.IGNORECASE), re.compile("usage: ", re.IGNORECASE)),
)
"""What says more than the lines that follow it."""
