"""What to try, by what package runners, interpreters and shells write when they cannot start a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from mcp_launch.diagnosis.telling import telling
from mcp_launch.diagnosis.variables import lacking

__all__ = ["explain_end"]


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
