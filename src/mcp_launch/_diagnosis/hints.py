"""Hints for servers that ended: a table of known error messages, and the most relevant line of standard error.

To add a hint, add a row to `HINTS` with a sample of what the program writes. The sample is also the test of the row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from math import inf
from typing import NamedTuple

from acp_bindings._lazy import closest
from mcp_launch._executable import INHERITED


class Hint(NamedTuple):
    """One known error message."""

    pattern: str
    """Searched in the lines of standard error, with `re.MULTILINE`."""
    advice: str
    """The advice; its braces are filled with the groups of the pattern that matched."""
    sample: str
    """A sample of what a program writes."""


def explain_end(lines: Sequence[str], *, status: int | None = None) -> tuple[str | None, str | None]:
    """Return what to try, if that is known, and the most relevant line of standard error, if there is one.

    `lines` must not contain blank lines. `status` is the exit status; shells give a meaning to 126 and 127.
    """
    if known := _known_error(lines):
        return known
    if found := missing_variables(lines):
        return None, found[1].strip()
    relevant = most_relevant_line(lines)
    # Only in this line, because a server may go on without the service.
    if relevant and _NO_CONNECTION.search(relevant):
        return "a service that it needs does not accept connections; does it run?", relevant
    is_of_shell = relevant is None or _SHELL.match(relevant)
    return _STATUS.get(status or 0) if is_of_shell else None, relevant


def explain_variable(lines: Sequence[str], *, given: Collection[str], empty: Collection[str] = ()) -> str | None:
    """Return what to try if the server ended because a variable is `empty`, or is not among the `given`.

    The variable may well be set in the user's shell, whose environment servers do not get.
    """
    names, _ = missing_variables(lines) or ([], None)
    if name := next((name for name in names if name in empty), None):
        return f"the value of {name} is empty"
    missing = [name for name in names if name not in given]
    if not missing:
        return None
    name, others = missing[0], set(given).difference(names)
    if meant := similar_variable(name, others):
        # Both may be real names, such as those of two services.
        return f'it was given {meant}, not {name}; is the name misspelled? If it needs both, add {name} to "env"'
    return (
        f"it was not given {' and '.join(missing)}, because servers do not inherit your environment; "
        f'add {"them" if missing[1:] else "it"} to "env" (on the command line, -e {" -e ".join(missing)})'
    )


def _known_error(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the advice of the first hint that applies, and the line with its error; None if there is none."""
    text = "\n".join(lines)
    # The program handled the exceptions before this line, and went on.
    start = max(text.rfind("During handling of the above exception"), 0)
    for pattern, advice in _COMPILED:
        for match in pattern.finditer(text, start):
            line = lines[text.count("\n", 0, match.start())]
            # A shell or interpreter that complains about our messages did start; a syntax error is after its line.
            is_about_messages = _MESSAGE.search(text if match[0].startswith("SyntaxError") else line)
            # The words of a later sentence are often advice, and those of the error itself may be names of packages.
            around = line[:_READ].replace(match[0], "").partition(". ")[0]
            if not is_about_messages and not _HARMLESS.search(around):
                return advice.format(*filter(None, match.groups())), line.strip()
    return None


_NPM = r"npm (?:error|ERR!) "
NEEDS_PROXY = "is there a network, and does it need a proxy (HTTPS_PROXY)?"
INCOMPATIBLE = "its Python packages are incompatible with each other; try another version of the server"
_OLDER = "; install the older one where it runs (pip install "

HINTS = (
    # The first row that matches is used, so specific rows come first. Old versions of Node.js and Python:
    Hint(
        r"npm v\S+ (?:is known not to run on|does not support) Node\.js v|No such built-in module: node:"
        r"|^ReferenceError: (?:(?:Readable|Transform)Stream|Blob|File|FormData|Headers|crypto|fetch) is not defined"
        r"|^TypeError: webidl\.util\.markAsUncloneable is not a function",
        "it requires a newer Node.js; which node comes first on the PATH that the server gets?",
        "ERROR: npm v10.9.9 is known not to run on Node.js v14.21.3.  This version of npm supports the following\n"
        "SyntaxError: Unexpected token '&&='",
    ),
    Hint(
        r"^TypeError: unsupported operand type\(s\) for \|: '(?:type|.*Meta.*|.*Alias)' and '(?:NoneType|type)'"
        r"|^ImportError: cannot import name '\w+' from '(?:datetime|enum|typing)'|No module named '?tomllib",
        "it requires a newer Python than the one that runs it",
        "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'",
    ),
    # npm:
    Hint(
        # The registry then says that packages do not exist.
        r"^npm notice Access token expired",
        "the login of npm has expired; run npm login, or remove the token from .npmrc",
        "npm notice Access token expired or revoked. Please try logging in again.\nnpm error code E404",
    ),
    Hint(
        _NPM + r"404\s+(?:The requested resource )?'((?:@[^@'\n]+)?[^@'\n]+)@[^'\n]*' (?:could not|is not)"
        rf"|{_NPM}No versions available for (\S+)$",
        "the npm package {} was not found; is its name right?",
        "npm error code E404\n"
        "npm error 404  The requested resource '@scope/server@*' could not be found or you do not have permission",
    ),
    Hint(
        _NPM + r"(?:code )?E404",
        "the npm package does not exist; is its name right?",
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x/-/x-1.0.0.tgz",
    ),
    Hint(
        _NPM + r"code E40[13]",
        "the npm registry refused access; is a login needed (.npmrc)?",
        "npm error code E401\nnpm error Incorrect or missing password.",
    ),
    Hint(
        _NPM + r"npx canceled due to missing packages and no YES option: \[\"([^\"\n]+)\"",
        'npx was told not to install {}; install it, or write -y before it in "args", without --no or --no-install',
        'npm error npx canceled due to missing packages and no YES option: ["weather@1.0.0"]',
    ),
    Hint(
        _NPM + r"could not determine executable|^Package `\S+` does not provide any executables",
        "the package has no program; is it a server?",
        "npm error could not determine executable to run",
    ),
    Hint(
        _NPM + r"code ENOTCACHED",
        "the npm package is not in the cache, and npm is offline; run it once online",
        "npm ERR! code ENOTCACHED\nnpm ERR! request to https://registry.example/x failed",
    ),
    Hint(
        _NPM + r"(?:(?:code )?EACCES(?!(?s:.*) sudo chown)|  sudo chown .*)",
        "npm has no permission to write; check who owns its cache and directory",
        "npm error code EACCES\nnpm error To permanently fix this problem, please run:\n"
        'npm error   sudo chown -R 501:20 "/me/.npm"',
    ),
    Hint(
        _NPM + r"enoent Could not read package\.json: .*[/\\]git-clone\w+[/\\]package\.json'",
        "the Git repository has no package.json, so npx cannot run it",
        "npm error code ENOENT\nnpm error enoent Could not read package.json: Error: ENOENT: no such file, "
        "open '/me/.npm/_cacache/tmp/git-cloneUMyr9f/package.json'",
    ),
    Hint(
        _NPM + r"enoent An unknown git error occurred",
        "npm gets it with Git; is that installed, and on the PATH that the server gets?",
        "npm error syscall spawn git\nnpm error enoent An unknown git error occurred",
    ),
    Hint(
        _NPM + "gyp ERR! stack ",
        "npm has to compile a part of it, which requires Python and a C++ compiler; try an LTS version of Node.js",
        "npm error code 1\nnpm error command failed\nnpm error gyp ERR! find Python\n"
        "npm error gyp ERR! stack Error: Could not find any Python installation to use",
    ),
    Hint(
        _NPM + r".*(?:ENOENT|ENOTEMPTY|EEXIST).*[/\\]_(?:npx|cacache)[/\\]",
        "the cache of npx is damaged; delete the directory and try again",
        "npm error code ENOENT\nnpm error ENOENT: no such file or directory, open '/me/.npm/_npx/5a9/package.json'",
    ),
    Hint(
        r'^Unknown command: "([^"\n]+)"\nTo see a list of supported npm commands',
        "npm has no command {}; npx runs packages",
        'Unknown command: "weather-mcp"\nTo see a list of supported npm commands, run:',
    ),
    # uv and pip:
    Hint(
        # A package for another Python is not used, so that uv tries older ones, which may not exist.
        r"does not satisfy (Python[<>=!~][^ ,\n]+)",
        "it requires {}; pass --python to uvx",
        "  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.12 and all",
    ),
    Hint(
        r"Because (\S+) was not found in the package registry|No matching distribution found for (\S+)",
        "the Python package {} was not found; is its name right?",
        "  cause: Because weather-mcp was not found in the package registry and you require weather-mcp",
    ),
    Hint(
        rf"Because there is no version of (\S+)|{_NPM}notarget No matching version found for (\S+?)\.?$",
        "the package {} was not found; is the version right?",
        "  cause: Because there is no version of weather-mcp==99.9 and you require weather-mcp==99.9, we can conclude",
    ),
    Hint(
        r"executable named `([^`\n]+)` is not provided by package `([^`\n]+)`(?=(?s:.*)^Use `uvx --from \S+ (\w\S*)`)",
        "the program of {1} is called {2}, not {0}; start it with uvx --from {1} {2}",
        "An executable named `w-mcp` is not provided by package `w-mcp`.\nThe following executables are available:\n"
        "- w_mcp\nUse `uvx --from w-mcp w_mcp` instead.",
    ),
    Hint(
        r"executable named `([^`\n]+)` is not provided by package `([^`\n]+)`",
        "{1} has no program {0}; run the command by hand to see which it has, and start one with uvx --from {1}",
        "An executable named `nope` is not provided by package `ruff`.",
    ),
    Hint(
        r"invalid peer certificate|CERTIFICATE_VERIFY_FAILED",
        'it does not trust a certificate; set SSL_CERT_FILE in "env" to the certificate of its issuer',
        "  Caused by: error sending request for url (https://index.example/)\n"
        "  Caused by: invalid peer certificate: UnknownIssuer",
    ),
    Hint(
        r"^error: Invalid version request: (@[\w.-]+/\S+)",
        "{} is an npm package; start it with npx -y",
        "error: Invalid version request: @modelcontextprotocol/server-memory",
    ),
    Hint(
        r"error: Failed to spawn: `?([^`\n]+?)`?$",
        "uv cannot find the program {}; is its --directory right, or is it a package for uvx?",
        "error: Failed to spawn: `server.py`\n  Caused by: No such file or directory (os error 2)",
    ),
    Hint(
        r"^error: (?:No such file or|Not a) directory \(os error \d+\)$",
        'is every path in its "args" right, such as its --directory?',
        "error: No such file or directory (os error 2)",
    ),
    Hint(
        r"Failed to download `?https://\S+/python-build-standalone/\S+/cpython-(\d+\.\d+)",
        f"uv cannot download Python {{}}, which is not installed; {NEEDS_PROXY}",
        "  cause: Failed to download `https://github.com/astral-sh/python-build-standalone/releases/download/20261110/"
        "cpython-3.12.16%2B20261110-x86_64-unknown-linux-gnu-install_only_stripped.tar.gz`\n"
        "  cause: error sending request for url (https://github.com/astral-sh/python-build-standalone/)",
    ),
    Hint(
        # Packages also come from other hosts than the registry. Servers in Rust write the same error.
        rf"(?:{_NPM}network request to |error sending request for url \()https?://(?!localhost|127\.)([\w.-]+)",
        f"{{}} cannot be reached; {NEEDS_PROXY}",
        "npm error code ENOTFOUND\n"
        "npm error network request to https://example.com/w.tgz failed, reason: getaddrinfo ENOTFOUND example.com",
    ),
    Hint(
        rf"tunnel error|{_NPM}code (?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONN\w+|ENETUNREACH)",
        f"the package registry cannot be reached; {NEEDS_PROXY}",
        "  cause: tunnel error: failed to create underlying connection\n  cause: tcp connect error",
    ),
    Hint(
        r"^error: unrecognized subcommand '([^'\n]+)'\nUsage: uv ",
        "uv has no command {}; uvx runs packages",
        "error: unrecognized subcommand 'weather-mcp'\nUsage: uv [OPTIONS] <COMMAND>",
    ),
    Hint(
        r"Could not resolve host: ([\w.-]+)",
        f"{{}} cannot be resolved; {NEEDS_PROXY}",
        "fatal: unable to access 'https://example.com/weather/': Could not resolve host: example.com",
    ),
    # Docker:
    Hint(
        r"permission denied while trying to connect to the [Dd]ocker"
        r"|^docker\.errors\.DockerException: .*PermissionError|connect EACCES \S+docker",
        "this user has no permission to use Docker; add it to the group docker, and log in again",
        "docker: permission denied while trying to connect to the docker API at unix:///var/run/docker.sock",
    ),
    Hint(
        r"Cannot connect to the Docker daemon|failed to connect to the docker API|docker: error during connect"
        r"|^Docker Desktop is not running"
        r"|^docker\.errors\.DockerException: Error while fetching server API|connect E\w+ \S+docker",
        "is the Docker daemon running?",
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ),
    Hint(
        r"docker: .*(?:pull access denied|manifest unknown|repository does not exist)",
        "the image was not found",
        "docker: Error response from daemon: pull access denied for me/mcp.",
    ),
    Hint(
        r"(?:input device is not a TTY|TTY-enabled container)",
        'a server has no terminal; remove -t from its "args" (-i instead of -it)',
        "the input device is not a TTY",
    ),
    Hint(
        r"could not be found in this WSL 2 distro",
        "turn on the WSL integration of Docker Desktop for this distribution",
        "The command 'docker' could not be found in this WSL 2 distro.\nhttps://docs.docker.com/go/wsl2/",
    ),
    Hint(
        r"OCI runtime .*exec: \"([^\"\n]+)\": .*(?:not found|no such file|permission denied)",
        "the image cannot run {}; are the arguments after its name right?",
        'docker: Error from daemon: OCI runtime create failed: exec: "stdio": executable file not found in $PATH',
    ),
    # Shells:
    Hint(
        r"env: [\u2018'`]?(.+)(?:\\r|\n)[\u2019'`]?: No such file",
        "its script has Windows line endings (CR LF); save it with LF",
        "/usr/bin/env: \u2018python3\\r\u2019: No such file or directory",
    ),
    Hint(
        r"^(\S*[/\\]\.bin[/\\]\S+): (?:line )?\d+: (?:import|const|var|use strict|[Ss]yntax error)\b",
        '{} has no "#!" line, so a shell runs it; start the file that it links to with node',
        "/srv/node_modules/.bin/weather: 1: import: not found",
    ),
    Hint(
        r"env: [\u2018'`]?([^\u2019'`:\n]+)[\u2019'`]?: No such file"
        r"|^\S*sh: (?:line \d+: |\d+: )?(?:exec: )?(\S+): (?:command )?not found"
        r"|^'([^'\n]+)' is not recognized as an internal or external command"
        # After the last line of Python's subprocess.py.
        r"|(?<=err_filename\)\n)FileNotFoundError: .*: '([^'/\n]+)'$"
        r"|^Error: spawn ([^/\n]+) ENOENT$",
        "the program {} was not found; is it installed, and on the PATH that the server gets?",
        "/usr/bin/env: \u2018nope\u2019: No such file or directory",
    ),
    Hint(
        r"^\S*sh: (?:line \d+: |\d+: )?(?:exec: )?(\S+): Permission denied",
        "{} is not executable; try chmod +x",
        "sh: 1: exec: /srv/server.py: Permission denied",
    ),
    # Python:
    Hint(
        r"No module named '?mcp\.(?:(?:server|client|shared)\.\w|types\b)(?!.* not a package)"
        r"|^ImportError: cannot import name .* from '?mcp[\w.]*'? \(.*[/\\]site-packages[/\\]mcp[/\\]"
        r"|^AttributeError: 'Server' object has no attribute '(?:list|call|get|read|set|subscribe|unsubscribe)_\w+'",
        f'it was written for version 1 of the MCP SDK, but got version 2{_OLDER}"mcp<2")',
        "ModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x, where FastMCP was renamed",
    ),
    Hint(
        r"No module named '?(httpx|httpx_sse|pydantic_settings|dotenv)\b",
        "the Python that runs it has no module {}, which is installed with version 1 of the MCP SDK, but not with "
        f'version 2{_OLDER}"mcp<2")',
        "ModuleNotFoundError: No module named 'httpx'",
    ),
    Hint(
        r"No module named '?(\w+\.[\w.]+)(?!.* not a package)",
        "a Python package that it imports has no module {}; is the package complete, and of the right version?",
        "ModuleNotFoundError: No module named 'weather.server'",
    ),
    Hint(
        r"No module named '?(\w[\w.]*)",
        "the Python that runs it has no module {}; is its package installed there (pip install …, uvx --with …)?",
        "ModuleNotFoundError: No module named 'weather'",
    ),
    Hint(
        r"^ImportError: cannot import name 'eval_type_backport' from 'pydantic\.",
        f'it requires an older version of pydantic{_OLDER}"pydantic<2.14")',
        "ImportError: cannot import name 'eval_type_backport' from 'pydantic._internal._typing_extra' "
        "(/srv/lib/python3.12/site-packages/pydantic/_internal/_typing_extra.py)",
    ),
    Hint(
        r"^ImportError: cannot import name .*[/\\](?:site|dist)-packages[/\\]",
        INCOMPATIBLE,
        "ImportError: cannot import name 'backport' from 'pydantic' (/srv/lib/python3.12/site-packages/pydantic/x.py)",
    ),
    # Paths:
    Hint(
        r"(?:Cannot find module '|can't open file '|access jarfile )((?:[^'\n]*[/\\])?~[/\\][^'\n]*)",
        'the file {} was not found; "~" is not expanded here; write the full path',
        "Error: Cannot find module '/srv/~/weather/index.js'",
    ),
    Hint(
        r"(?:can't open file '(?!.*\[Errno 13?\])|access jarfile |enoent Could not read package\.json: .*')([^'\n]+)",
        "the file {} was not found; is the path right?",
        "python: can't open file '/srv/x.py': [Errno 2] No such file or directory",
    ),
    # Node.js:
    Hint(
        r"^\S*node: bad option: (?:-y|--yes)$",
        "node runs a file, npx runs a package; which one do you mean?",
        "node: bad option: -y",
    ),
    Hint(
        r"Cannot find (?:module|package) '[^'\n]+'(?: imported from |\nRequire stack:\n- )(\S*?[/\\]node_modules)[/\\]",
        "the installation in {} is incomplete; install it again, or another version",
        "Error: Cannot find module '/_npx/909ffbc9/node_modules/sdk/server/mcp' imported from "
        "/_npx/909ffbc9/node_modules/weather/index.js",
    ),
    Hint(
        r"Cannot find module '([./].*?|[A-Za-z]:.*?)'(?![/'])",
        "node cannot find {}; is the path right, and was it built?",
        "  throw err;\nError: Cannot find module '/srv/build/index.js'\n    at Module._resolveFilename (node:internal)",
    ),
    Hint(
        r"Cannot find (?:module|package) '([^'\n]+)'",
        "node cannot find {}; was npm install run where the server is?",
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.mjs",
    ),
    Hint(
        r"The module '[^'\n]+'\nwas compiled against a different Node\.js version using"
        r"|^Error: Could not locate the bindings file",
        "a part of it was not compiled for this version of Node.js; install it again with this version (npm rebuild)",
        "Error: The module '/srv/node_modules/better-sqlite3/build/Release/better_sqlite3.node'\n"
        "was compiled against a different Node.js version using",
    ),
    Hint(
        r"Unknown file extension \"\.[cm]?tsx?\"",
        "node does not run TypeScript by itself; build it, or run it with tsx",
        'TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".ts" for /srv/index.ts',
    ),
    Hint(
        r"Unsupported engine(?!$)|notsup Required: ",
        "it requires another version of Node.js",
        'npm ERR! code EBADENGINE\nnpm ERR! engine Unsupported engine\nnpm ERR! notsup Required: {"node":">=20.0.0"}',
    ),
    Hint(
        r"Cannot use import statement outside a module",
        'node requires "type": "module" in its package.json',
        "SyntaxError: Cannot use import statement outside a module",
    ),
    # Others:
    Hint(
        # The filesystem server.
        r"^Warning: Cannot access directory (.+), skipping(?=\n(?s:.*)^Error: None of the specified directories)",
        "the directory {} cannot be accessed; is the path right?",
        "Warning: Cannot access directory /srv/files, skipping\n"
        "Error: None of the specified directories are accessible",
    ),
    Hint(
        r"UnsupportedClassVersionError",
        "it requires a newer Java",
        "java.lang.UnsupportedClassVersionError: Main has been compiled by a more recent version",
    ),
    Hint(
        r"Could not start dynamically linked executable: (\S+)",
        "NixOS does not run {}, which was built for other systems; use its package in Nix, or nix-ld",
        "Could not start dynamically linked executable: /home/me/.cache/uv/archive-v0/x/bin/python",
    ),
    Hint(
        r"\b[Ee]xec format error\b|\b[Bb]ad CPU type in executable\b",
        'it is not a program for this kind of machine; was it built for another, or is it a script with no "#!"?',
        "exec /usr/local/bin/docker-entrypoint.sh: exec format error",
    ),
    Hint(
        r"error while loading shared libraries: (\S+):|Library not loaded: (\S+)",
        "this system does not have the library {}",
        "/srv/mcp: error while loading shared libraries: libssl.so.1.1: cannot open shared object file",
    ),
    Hint(
        r"^xcode-select: .*No developer tools were found|^xcrun: error: invalid active developer path",
        "it needs the developer tools of macOS; install them (xcode-select --install)",
        "xcode-select: note: No developer tools were found, requesting install.\n"
        "See `man xcode-select` for more details.",
    ),
    Hint(
        r"version [`']GLIBC\w*_[\d.]+' not found",
        "it was built for a newer system than this one",
        "/srv/mcp: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /srv/mcp)",
    ),
    Hint(
        # JSON.parse raises it too, and so does an import of a name that a package does not have.
        r"^SyntaxError: (?!.*(?:\bJSON\b|The requested module))",
        "it has a syntax error; is it written for a newer version, or in another language?",
        "    type X = int\n         ^\nSyntaxError: invalid syntax",
    ),
    Hint(
        r"(?:EADDRINUSE|[Aa]ddress already in use)",
        "its port is in use; is it already running?",
        "Error: listen EADDRINUSE: address already in use :::9999",
    ),
    Hint(
        r"connect ECONNREFUSED (\S+)|error sending request for url \(https?://([\w.:]+)",
        "it cannot connect to {}; is the service that it needs running?",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    ),
    Hint(
        r"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)",
        "it cannot resolve {}; is the host name right?",
        "TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND api.weather.example",
    ),
    Hint(
        r"Error: (?:self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate)"
        rf"|{_NPM}code (?:(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))",
        'it does not trust a certificate; set NODE_EXTRA_CA_CERTS in "env" to the certificate of its issuer',
        "TypeError: fetch failed\n  [cause]: Error: self-signed certificate in certificate chain",
    ),
    Hint(
        r"^(?:Error: E(?:ACCES|PERM)\b|PermissionError)|can't open file '.*\[Errno 13?\]",
        "it was denied access; check the permissions",
        "PermissionError: [Errno 13] Permission denied: '/data/db'",
    ),
)
_COMPILED = tuple((re.compile(hint.pattern, re.MULTILINE), hint.advice) for hint in HINTS)
_STATUS = {
    126: "a shell was not allowed to run the command",
    127: "a shell did not find the command; is it installed, and on the PATH that the server gets?",
}
_NO_CONNECTION = re.compile(r"[Cc]onnection refused|Connect call failed")
_SHELL = re.compile(r"\S*sh:|\S+: (?:line )?\d+: ")
"""The start of an error of a shell."""


def missing_variables(lines: Sequence[str]) -> tuple[list[str], str] | None:
    """Return the variables whose absence made a server end, or the first if one suffices; and the line that says so."""
    joined = _LISTED.sub(lambda found: f": {', '.join(_LISTED_NAME.findall(found[0]))}", "\n".join(lines))
    for line in (each[:_READ] for each in reversed(joined.split("\n"))):
        if line.startswith("KeyError:") and not any(_PYTHON_OS.search(each[:_READ]) for each in lines):
            continue
        found = next((match for pattern in _MISSING if (match := pattern.search(line))), None)
        if found and not _HARMLESS.search(line):
            said = found[found.lastindex or 0]
            names = re.findall(r"^\w+|[A-Z]\w*_\w+", said)
            return names[:1] if re.search(r"/| or ", said) else names, line
    return None


def similar_variable(name: str, given: Collection[str]) -> str | None:
    """Return the given name that is most likely a misspelling of *name*, leaving out those that every server has."""
    plain = {re.sub("[-_]", "", each).upper(): each for each in sorted(set(given) - INHERITED)}
    return plain.get(closest(name.replace("_", ""), plain, cutoff=0.8) or "")


_MESSAGE = re.compile(r'"jsonrpc"|jsonrpc:')
_READ = 1000
"""Characters of a line that are searched, since a server may write lines of any length."""
_VARIABLE = r"(?i:environment variables?|env(?:ironment)? vars?|env variables?)"
_OTHERS = r"(?:[\"'`]?(?:,|/| or| and)+ ?[\"'`]?\b[A-Z][A-Z0-9_]+\b){0,9}"
_SURE_NAME = rf"[\"'`]?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+\b{_OTHERS})[\"'`]?"
"""One or more names. A word in capitals can be anything; with an underscore it is almost certainly a variable."""
_NAME = rf"(?:{_SURE_NAME}|[\"'`]?\b([A-Z][A-Z0-9_]{{2,}})\b[\"'`]?)"
_IS_UNSET = r"(?i:(?:is |are |was )?(?:not set|unset|missing|required|not provided|empty|must be (?:set|provided)))\b"
_IS_NEEDED = r"(?i:required|missing|must|not provided|please provide|no (?:\w+ ){1,3}(?:provided|found))\b"
_MISSING = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_VARIABLE}\W{{1,3}}{_NAME}.*(?:{_IS_UNSET}|(?i:not found|not defined|undefined))",
        rf"(?i:missing|not found|not set|no)\W.*{_VARIABLE}\W{{1,3}}{_NAME}",
        rf"\b{_NAME} {_VARIABLE} (?:{_IS_UNSET}|(?i:(?:is |was )?(?:not found|not defined|undefined)))",
        rf"\b{_NAME} is not set\b",
        rf"{_SURE_NAME} {_IS_UNSET}",
        rf"{_IS_NEEDED}.*\b(?i:set (?:it in )?(?:the )?){_SURE_NAME}.*{_VARIABLE}",
        rf"{_IS_NEEDED}.*\b(?i:set (?:the )?){_VARIABLE}\W{{1,3}}{_NAME}",
        rf"{_IS_NEEDED}.*?\b(?i:via|pass) .*?{_SURE_NAME}",
        rf"^(?i:please set) (?i:the )?{_SURE_NAME} {_VARIABLE}",
        rf"^(?i:(?:or )?set (?:the )?)(?:{_SURE_NAME} {_VARIABLE}|{_VARIABLE}\W{{1,3}}{_SURE_NAME}(?:, etc)?)\W*$",
        rf"(?i:missing)(?: (?i:required))?(?: (?i:config\w*|settings?|variables?))?:? {_SURE_NAME}",
        rf"\b(?i:cannot|unable to) .* without (?:the )?{_SURE_NAME} env",
        # The validation of zod.
        rf"{_SURE_NAME}: {{ _errors: \[ '(?:Required|.* received undefined)'",
        rf"\b{_NAME}: (?:unbound variable|parameter (?:null or )?not set)",
        rf"^KeyError: {_NAME}$",
    )
)
"""Patterns for messages that variables are not set; their names are the only group that matched."""
_LISTED_NAME = re.compile(rf"\n[^\w\n]*{_SURE_NAME}(?:$|[:=]| \W).*", re.MULTILINE)
_LISTED = re.compile(rf":(?:{_LISTED_NAME.pattern})+", re.MULTILINE)
"""The colon at the end of a line, and the lines after it, each with a variable and perhaps its description."""
_PYTHON_OS = re.compile(r"<frozen os>|\bos\.py\b|\bos\.environ\b")
_HARMLESS = re.compile(
    r"(?<![/\\])\b(?:warn|warning|info|debug|defaults?|defaulting|optional|falling back|using)\b|^\s+--?\w",
    re.IGNORECASE,
)
"""Words, except in paths, in a line after which a program goes on; or the beginning of the help of an option."""


def unwrapped(lines: Iterable[str]) -> list[str]:
    """Return the lines, with each message that Rich has wrapped in the columns of its log as one line."""
    found: list[str] = []
    in_rich = False
    for line in lines:
        text = line.strip()
        if _RICH.match(line):
            in_rich = True
            found.append(_SOURCE.sub("", text))
        elif in_rich and line.startswith(" " * 20):
            if text.startswith(_BOX) or found[-1].startswith(_BOX):
                found.append(text)
            else:
                found[-1] += f" {text}"
        else:
            in_rich = False
            found.append(line)
    return found


_RICH = re.compile(r"\[\d\d/\d\d/\d\d [\d:]{8}\] | {20}(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) ")
"""The beginning of a message; the time is left out if it is that of the message before."""
_BOX = ("╭", "│", "╰")
_SOURCE = re.compile(r"\s+\w+\.py:\d+$")


def most_relevant_line(lines: Sequence[str]) -> str | None:
    """Return the line that explains most, or the whole message of an error with a stack trace as one line."""
    last = _LastError()
    # The stack traces of Go have no fixed form.
    for line in takewhile(lambda line: not re.match(r"goroutine \d+ \[", line), lines):
        if not _NOISE.search(line):
            last.add(_BAR.sub("", line))
    return " ".join(line.strip() for line in last.lines or lines[-1:]) or None


class _LastError:
    """The last error among the lines added so far, or the last line if there is none."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._recent: list[str] = []
        """The lines since the last stack trace; one of them is the error of the next stack trace."""
        self._skips = False
        """True while indented lines are skipped, as parts of a stack trace or fields of an error."""
        self._awaits = False
        """True if the next line without indentation is the error of the stack trace before it."""
        self._more = 0.0
        """The number of further lines without indentation may belong to the error."""
        self._lists = False
        """True if the next line belongs to the error, provided that it is indented."""
        self._in_help = False
        """True within the help text that a program prints after saying what is wrong."""

    def add(self, line: str) -> None:
        """Add the next line."""
        if line == _FIELDS:
            self._skips = True
        elif _FRAME.search(line):
            self._keep_error_of_stack()
        elif line.endswith("Traceback (most recent call last):"):
            self._forget(awaits=True)
        elif line.lstrip().startswith("[cause]: "):
            self.lines.append(line)
        elif not (self._skips and line[0].isspace()) and not self._is_help(line):
            self._keep(line)

    def _keep_error_of_stack(self) -> None:
        begins = [number for number, line in enumerate(self._recent) if _ERROR.search(line)]
        if begins:
            self.lines = self._recent[begins[-1] :]
        self._forget(awaits=False)

    def _forget(self, *, awaits: bool) -> None:
        self._recent, self._skips, self._awaits = [], True, awaits
        self._more, self._in_help = 0, False

    def _is_help(self, line: str) -> bool:
        if _USAGE.match(line):
            self._in_help = bool(_COMPLAINT.search(" ".join(self.lines)))
        elif _LOG_START.match(line) or _ERROR_START.match(line):
            self._in_help = False
        return self._in_help

    def _keep(self, line: str) -> None:
        indented, starts_error, cause = line[0].isspace(), bool(_ERROR_START.match(line)), line == "Caused by:"
        if starts_error or _LOG_START.match(line):
            self._more = 0
        if _CAUSE.match(line):
            # The last of a chain of causes explains most.
            del self.lines[1:]
        continues = cause or self._more > 0 or (indented and self._lists)
        if continues:
            self.lines.append(line)
        elif not (_NPM_NOISE.match(line) and self.lines and _NPM_NOISE.match(self.lines[0])):
            self.lines = [line]
        if self._awaits or cause:
            self._more = inf
        elif starts_error:
            self._more = _FOLLOW
        elif not indented:
            self._more -= 1
        self._lists = (indented and self._lists) or line.endswith((":", "[", "{"))
        self._awaits = False
        self._recent.append(line)
        self._skips = line.endswith(_FIELDS)


_FIELDS = "] {"
"""The end of an error without a stack trace in Node.js, before its fields."""
_NOISE = re.compile(
    r"^(?!\] \{$)[\W_]*$"
    r"|^(?:Node\.js|Bun) v[\d.]+"
    r"|^npm (?:error|ERR!)(?: (?:code|syscall|path|errno|location|workspace)\b.*| A complete log .*| [\w-]*)?$"
    r"|^\[notice\]"
    r"|^note: run with `?RUST_BACKTRACE"
    r"|^Emitted 'error' event on "
    r"|^exit status \d+$"
    r"|^[\s+|-]*-{4,} \d+ -{4,}$"
    r"|^\s*For further information visit "
    r"|^(?:See|Run|Try|For more information).*--help|^For the full documentation",
    re.IGNORECASE,
)
"""Lines without information: delimiters, versions, and where to find more."""
_BAR = re.compile(r"^\s*[|+] (?=.)")
"""The prefix of each line in the traceback of an exception group."""
_FRAME = re.compile(r"^\s+(?:at \S|from \S+:\d+:in |\d+: \S|\.\.\. \d+ (?:more|common frames))")
"""A line of a stack trace, in JavaScript, Java and C#, in Ruby, in Rust."""
_ERROR = re.compile(r"^(?!\s).*?(?:Error|Exception|Caused by)\b")
_LOG_START = re.compile(r"\[|\d{4}[-/]\d|\d\d:\d\d|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
"""The start of a log line."""
_ERROR_START = re.compile(r"^(?:\[[\w.-]+\] |[\w./-]+: )?(?:fatal )?(?:error|fatal):\s", re.IGNORECASE)
"""The start of a message by which a program itself says what is wrong."""
_FOLLOW = 2
"""Lines after such a message that may belong to it, such as what to do about it."""
_NPM_NOISE = re.compile(r"^npm (?:error|ERR!) ")
"""The first line of npm explains more than those after it."""
_CAUSE = re.compile(r"^\s+cause: ")
_USAGE = re.compile(r"^(?:\[[\w.-]+\] )?usage(?: of .+)?:", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"error|fatal|not (?:defined|found|provided)|unknown|unrecogni[sz]ed|un(?:expected|supported)|invalid|missing"
    r"|require[ds]|no such",
    re.IGNORECASE,
)
"""A message that is worth more than the usage text after it."""
