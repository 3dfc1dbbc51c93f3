"""Recognises a server that ended because an environment variable is not set, by what it writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import pairwise
from math import inf

from mcp_launch._executable import INHERITED


def explain_variable(lines: Sequence[str], *, given: Collection[str]) -> str | None:
    """What to try when a server that ended says that a variable is not set, unless it was among the `given`.

    It may well be set where the user looked: in the environment of a shell, which servers do not get.
    """
    name, _ = lacking(lines) or (None, None)
    if name is None or name in given:
        return None
    if meant := _misspelt(name, given):
        # Both may be real names, such as those of two services.
        return f'it was given {meant} and not {name}; is the name misspelt? If it wants both, name {name} in "env" too'
    return (
        f'it was not given {name}, since variables are not passed on from here: name it in "env" '
        f"(on the command line, -e {name})"
    )


def _misspelt(name: str, given: Collection[str]) -> str | None:
    """The one of the given names that is meant to be *name*, however it is written; none that every server has."""
    plain = {re.sub("[-_]", "", each).upper(): each for each in sorted(set(given) - INHERITED)}
    near = get_close_matches(name.replace("_", ""), plain, n=1, cutoff=0.8)
    return plain[near[0]] if near else None


def lacking(lines: Sequence[str]) -> tuple[str, str] | None:
    """The variable that a server ended without, and the line that says so."""
    for line in (each[:_READ] for each in reversed(lines)):
        if line.startswith("KeyError:") and not any(_PYTHON_OS.search(each[:_READ]) for each in lines):
            continue
        found = next((match for pattern in _LACKING if (match := pattern.search(line))), None)
        if found and not _HARMLESS.search(line):
            return found[1], line
    return None


_READ = 1000
"""Characters of a line that are searched, since a server may write lines of any length."""
_VARIABLE = r"(?i:environment variables?|env(?:ironment)? vars?|env variables?)"
_CALLED = r"[\"'`]?([A-Z][A-Z0-9_]{2,})\b[\"'`]?"
_CALLED_SURELY = r"[\"'`]?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[\"'`]?"
"""A word in capitals may be anything; with an underline in it, it is hardly anything but a variable."""
_OTHERS = r"(?:(?:,|/| or| and)+ ?[\"'`]?\b[A-Z][A-Z0-9_]+\b[\"'`]?)*"
"""What may follow where a line names several."""
_LACKED = r"(?i:(?:is |are |was )?(?:not set|unset|missing|required|not provided|empty|must be (?:set|provided)))\b"
_NEEDED = r"(?i:required|missing|must|not provided|please provide)\b"
_LACKING = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_VARIABLE}\W{{1,3}}{_CALLED}.*(?:{_LACKED}|(?i:not found|not defined|undefined))",
        rf"(?i:missing|not found|not set|no)\W.*{_VARIABLE}\W{{1,3}}{_CALLED}",
        rf"\b{_CALLED} {_VARIABLE} (?:{_LACKED}|(?i:(?:is |was )?(?:not found|not defined|undefined)))",
        rf"\b{_CALLED} is not set\b",
        rf"{_CALLED_SURELY}{_OTHERS} {_LACKED}",
        rf"{_NEEDED}.*\b(?i:set (?:the )?){_CALLED_SURELY}.*{_VARIABLE}",
        rf"{_NEEDED}.*\b(?i:set (?:the )?){_VARIABLE}\W{{1,3}}{_CALLED}",
        rf"^(?i:please set) (?i:the )?{_CALLED_SURELY}{_OTHERS} {_VARIABLE}",
        rf"(?i:missing)(?: (?i:required))?:? {_CALLED_SURELY}",
        rf"\b{_CALLED}: (?:unbound variable|parameter (?:null or )?not set)",
        rf"^KeyError: {_CALLED}$",
    )
)
"""How programs say that a variable is not set, which is their first group."""
_PYTHON_OS = re.compile(r"<frozen os>|\bos\.py\b|\bos\.environ\b")
_HARMLESS = re.compile(
    r"\b(?:warn|warning|info|debug|defaults?|defaulting|optional|falling back|using)\b|^\s+--?\w", re.IGNORECASE
)
"""What tells that the variable in a line is not needed: such words, or that it is the help of an option."""


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
        elif not (_NPM_NOISE.match(line) and self.said and _NPM_NOISE.match(self.said[0])):
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
_NPM_NOISE = re.compile(r"^npm (?:error|ERR!) ")
"""What npm says first tells more than what it says then."""
_CAUSE = re.compile(r"^\s+cause: ")
_USAGE = re.compile(r"^usage(?: of .+)?:", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"error|fatal|not (?:defined|found|provided)|unknown|unrecogni[sz]ed|un(?:expected|supported)|invalid|missing"
    r"|required|no such",
    re.IGNORECASE,
)
"""What says more than the usage that follows it."""


def explain_end(lines: Sequence[str], *, status: int | None = None) -> tuple[str | None, str | None]:
    """What to try if that is known, and the line of standard error that tells most, if there is one.

    `status` is the exit status; two values of it have a meaning in shells.
    """
    # A program that complains about our messages was started and is no server: no hint about starting it is right.
    known = () if any('"jsonrpc"' in line or "jsonrpc:" in line for line in lines) else _HINTS
    for pattern, hint in known:
        for line in lines:
            if match := pattern.search(line):
                return hint.format(*match.groups()), line.strip()
    for line, following in pairwise(lines):
        for begins, goes_on, hint in _NO_SUCH_COMMAND:
            if (match := begins.search(line)) and goes_on.search(following):
                return hint.format(*match.groups()), line.strip()
    if found := lacking(lines):
        return None, found[1].strip()
    return _STATUS.get(status or 0), telling(lines)


_NPM = r"npm (?:error|ERR!) "
_NO_PROGRAM = "there is no program {}; is it installed, and on the PATH that the server gets?"
_NO_FILE = r"(?:Cannot find module|can't open file) '"
_NO_PYTHON_PACKAGE = "there is no Python package {}; is its name right?"

# The first pattern that matches a line is taken, so that more specific ones stand first.
_HINTS = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (
            _NPM + r"404\s+(?:The requested resource )?'((?:@[^@']+)?[^@']+)@[^']*' (?:could not|is not)",
            "there is no npm package {}; is its name right?",
        ),
        (_NPM + r"notarget No matching version found for (\S+?)\.?$", "npm has no {}; is the version right?"),
        (_NPM + r"(?:code )?E404", "the npm package does not exist; is its name right?"),
        (_NPM + r"code E40[13]", "npm was refused by its registry; is a login needed (.npmrc)?"),
        (_NPM + r"could not determine executable", "the npm package has no program; is it a server?"),
        (
            _NPM + r"code (?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONN\w+|ENETUNREACH)",
            "npm cannot reach its registry; is there a network, or a proxy to name (HTTPS_PROXY)?",
        ),
        (_NPM + r"enoent Could not read package\.json: .*'([^']+)'", "there is no file {}; is the path right?"),
        (_NPM + r"code ENOTCACHED", "the npm package is not in the cache, and npm is offline; run it once online"),
        (
            _NPM + r"code (?:SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))",
            'npm does not trust the certificate that it is shown; name who issued it in "env" (NODE_EXTRA_CA_CERTS)',
        ),
        (_NPM + r"(?:code )?EACCES", "npm may not write where it wants to; who owns its cache and its directory?"),
        (
            r"(?:ENOENT|ENOTEMPTY|EEXIST).*[/\\]_(?:npx|cacache)[/\\]",
            "the cache of npx is damaged; delete the directory and try again",
        ),
        (r"Because (\S+) was not found in the package registry", _NO_PYTHON_PACKAGE),
        (r"No matching distribution found for (\S+)", _NO_PYTHON_PACKAGE),
        (r"Because there is no version of (\S+)", "there is no Python package {}; is the version right?"),
        (r"does not satisfy (Python[<>=!~][^ ,]+)", "it wants {}, which uvx takes with --python"),
        (r"executable named `([^`]+)` is not provided by package `([^`]+)`", "{1} has no program {0}; try uvx --from"),
        (
            r"invalid peer certificate",
            'uv does not trust the certificate that it is shown; name who issued it in "env" (SSL_CERT_FILE)',
        ),
        (r"error: Failed to spawn: `?([^`]+?)`?$", "uv finds no program {}; is its --directory right?"),
        (
            r"^error: No such file or directory \(os error 2\)$",
            'is every path in its "args" right, such as its --directory?',
        ),
        (
            r"tunnel error|error sending request for url",
            "the Python registry cannot be reached; is there a network, or a proxy to name (HTTPS_PROXY)?",
        ),
        (
            r"Could not resolve host: ([\w.-]+)",
            "{} is not found; is there a network, or a proxy to name (HTTPS_PROXY)?",
        ),
        (
            r"docker: .*(?:Cannot connect to the Docker daemon|permission denied.*docker)",
            "is the Docker daemon running?",
        ),
        (r"docker: .*(?:pull access denied|manifest unknown|repository does not exist)", "there is no such image"),
        (
            r"(?:input device is not a TTY|TTY-enabled container)",
            'a server has no terminal: take -t out of its "args" (-i for -it)',
        ),
        (
            r"env: [\u2018'`](.+)\\r[\u2019'`]: No such file",
            "its script has Windows line ends (CR LF); save it with LF",
        ),
        (r"env: [\u2018'`]?([^\u2019'`:]+)[\u2019'`]?: No such file", _NO_PROGRAM),
        (r"^\S*sh: (?:line \d+: |\d+: )?(?:exec: )?(\S+): (?:command )?not found", _NO_PROGRAM),
        (r"^\S*sh: (?:line \d+: |\d+: )?(?:exec: )?(\S+): Permission denied", "{} may not be run; try chmod +x"),
        (r"No module named '?(\w[\w.]*)", "the Python that runs it has no module {}"),
        (
            r"^ImportError: cannot import name .*[/\\](?:site|dist)-packages[/\\]",
            "the Python packages that it uses do not fit together; try another version of it",
        ),
        (
            rf"{_NO_FILE}([^']*[/\\]~[/\\][^']*)'",
            'there is no file {}; a "~" is not expanded here; write the whole path',
        ),
        (
            rf"{_NO_FILE}([^']*(?:\$\{{?\w|%[A-Za-z_]{{3,}}%)[^']*)'",
            "there is no file {}; variables are not replaced here; write what it stands for",
        ),
        (r"^\S*node: bad option: (?:-y|--yes)$", "node runs a file, npx a package; which is meant?"),
        (r"can't open file '([^']+)'", "there is no file {}; is the path right?"),
        (
            r"Cannot find (?:module|package) '[^']+' imported from (\S*?[/\\]node_modules)[/\\]",
            "what is installed in {} is not whole; install it again, or another version",
        ),
        (
            r"Cannot find module '([./][^']*|[A-Za-z]:[^']*)'",
            "node cannot find {}; is the path right, and was it built?",
        ),
        (r"Cannot find (?:module|package) '([^']+)'", "node cannot find {}; was npm install run where the server is?"),
        (r"Unable to access jarfile (\S+)", "there is no file {}; is the path right?"),
        (
            r"Unknown file extension \"\.[cm]?tsx?\"",
            "node does not run TypeScript by itself; build it, or run it with tsx",
        ),
        (r"Unsupported engine|EBADENGINE", "it wants another version of Node.js"),
        (r"Cannot use import statement outside a module", 'node wants "type": "module" in its package.json'),
        (r"UnsupportedClassVersionError", "it wants a newer Java"),
        (r"version [`']GLIBC\w*_[\d.]+' not found", "it was built for a newer system than this one"),
        (r"^SyntaxError: ", "it cannot be read: is it written for a newer version, or another language?"),
        (r"(?:EADDRINUSE|[Aa]ddress already in use)", "its port is taken; does it run already?"),
        (r"connect ECONNREFUSED (\S+)", "nothing answers at {}; does what it needs run there?"),
        (r"^(?:Error: EACCES|PermissionError)", "it may not do what it tries to; look at the permissions"),
    )
)
_NO_SUCH_COMMAND = tuple(
    (re.compile(begins), re.compile(goes_on), hint)
    for begins, goes_on, hint in (
        (
            r"^error: unrecognized subcommand '([^']+)'$",
            r"^Usage: uv ",
            "uv has no command {}; uvx runs packages",
        ),
        (
            r'^Unknown command: "([^"]+)"$',
            r"^To see a list of supported npm commands",
            "npm has no command {}; npx runs packages",
        ),
    )
)
"""What others may say too, so that it is the line behind it that tells whose words they are."""
_STATUS = {
    126: "a shell was not allowed to run the command",
    127: "a shell did not find the command; is it installed, and on the PATH that the server gets?",
}
