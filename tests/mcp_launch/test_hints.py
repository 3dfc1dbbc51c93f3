"""What runners, interpreters and shells say, as they said it, and what the user is told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcp_launch._diagnosis.hints import explain_end, explain_variable
from mcp_launch._diagnosis.process import explain_silence
from mcp_launch._executable import INHERITED
from mcp_launch.config._formats import format_called
from mcp_launch.failures import Wording

NPM_404 = """\
npm error code E404
npm error 404 Not Found - GET https://registry.example/@scope%2fserver
npm error 404
npm error 404  The requested resource '@scope/server@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log"""

NPM_OLD_404 = """\
npm ERR! code E404
npm ERR! 404 Not Found - GET https://registry.example/weather-mcp - Not found
npm ERR! 404
npm ERR! 404  'weather-mcp@*' is not in this registry."""

NPM_NO_VERSION = """\
npm error code ETARGET
npm error notarget No matching version found for is-odd@99.99.99.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist."""

NPM_NO_NETWORK = """\
npm error code ECONNREFUSED
npm error syscall connect
npm error If you are behind a proxy, please make sure that the 'proxy' config is set properly."""

NPX_NO_PROGRAM = """\
npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log"""

NPX_CACHE = """\
npm error code ENOENT
npm error syscall open
npm error path /home/me/.npm/_npx/5a9d879542beca3a/package.json
npm error ENOENT: no such file or directory, open '/home/me/.npm/_npx/5a9d879542beca3a/package.json'"""

UVX_404 = """\
error: No solution found when resolving tool dependencies
  cause: Because weather-mcp was not found in the package registry and you require weather-mcp, we can conclude that \
your requirements are unsatisfiable."""

UVX_NO_PROGRAM = """\
An executable named `nope` is not provided by package `ruff`.
The following executables are available:
- ruff"""

UVX_NO_NETWORK = """\
  cause: client error (Connect)
  cause: tunnel error: failed to create underlying connection
  cause: tcp connect error
  cause: Connection refused (os error 111)"""

PIP_404 = """\
ERROR: Could not find a version that satisfies the requirement weather-mcp (from versions: none)
ERROR: No matching distribution found for weather-mcp"""

NODE_NO_FILE = """\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/build/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
  code: 'MODULE_NOT_FOUND',
Node.js v20.20.2"""

NODE_NO_PACKAGE = """\
node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^
Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.mjs"""

NODE_SYNTAX = """\
file:///srv/d.mjs:1
export const x = 1 |> 2
                    ^
SyntaxError: Unexpected token '>'
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)"""

NODE_PORT = """\
node:events:502
Error: listen EADDRINUSE: address already in use :::9999
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)"""

PYTHON_SYNTAX = """\
  File "/srv/f.py", line 1
    type X = int
         ^
SyntaxError: invalid syntax"""

PYTHON_MOVED = """\
    from mcp.server.fastmcp import FastMCP
ModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x, where FastMCP was renamed to MCPServer; \
see the migration guide or pin mcp<2 to keep running v1 code."""

NPM_NO_FILE = """\
npm error code ENOENT
npm error path /srv/package.json
npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/srv/package.json'
npm error enoent This is related to npm not being able to find a file."""

DOCKER = """\
docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?

Run 'docker run --help' for more information"""


UV_CERTIFICATE = """\
error: Failed to fetch: `https://index.example/mcp-server/`
  Caused by: Request failed after 3 retries
  Caused by: error sending request for url (https://index.example/mcp-server/)
  Caused by: client error (Connect)
  Caused by: invalid peer certificate: UnknownIssuer
"""


UV_NO_DIRECTORY = "error: No such file or directory (os error 2)"

UV_NO_VERSION = """\
error: No solution found when resolving tool dependencies
  cause: Because there is no version of weather-mcp==99.9 and you require weather-mcp==99.9, we can conclude that your \
requirements are unsatisfiable."""

UV_OLD_PYTHON = """\
error: No solution found when resolving tool dependencies
  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.12 and all versions of weather-mcp \
depend on Python>=3.12, we can conclude that all versions of weather-mcp cannot be used."""

PYTHON_PACKAGES = """\
    from pydantic._internal._typing_extra import eval_type_backport
ImportError: cannot import name 'eval_type_backport' from 'pydantic._internal._typing_extra' \
(/srv/lib/python3.12/site-packages/pydantic/_internal/_typing_extra.py)"""

NPX_PACKAGES = """\
Fatal error in main(): Cannot find module '/home/me/.npm/_npx/909ffbc9/node_modules/sdk/server/mcp' imported from \
/home/me/.npm/_npx/909ffbc9/node_modules/weather/index.js"""


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        (NPM_404, "there is no npm package @scope/server"),
        (NPM_OLD_404, "there is no npm package weather-mcp"),
        (NPM_NO_VERSION, "npm has no is-odd@99.99.99; is the version right?"),
        (
            "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x/-/x-1.0.0.tgz",
            "the npm package does not exist",
        ),
        ("npm error code E401\nnpm error Incorrect or missing password.", "npm was refused by its registry"),
        ("npm ERR! code ENOTCACHED\nnpm ERR! request to https://registry.example/x failed", "npm is offline"),
        ("npm error code EACCES\nnpm error syscall mkdir", "npm may not write where it wants to"),
        (NPM_NO_NETWORK, "HTTPS_PROXY"),
        (NPX_NO_PROGRAM, "the npm package has no program"),
        (NPX_CACHE, "the cache of npx is damaged"),
        (UVX_404, "there is no Python package weather-mcp"),
        (UVX_NO_PROGRAM, "ruff has no program nope"),
        (UVX_NO_NETWORK, "HTTPS_PROXY"),
        (PIP_404, "there is no Python package weather-mcp"),
        (NODE_NO_FILE, "node cannot find /srv/build/index.js; is the path right, and was it built?"),
        (NODE_NO_PACKAGE, "node cannot find zod; was npm install run"),
        (NODE_SYNTAX, "newer version"),
        ("SyntaxError: Cannot use import statement outside a module", 'node wants "type": "module"'),
        ("error: Unsupported engine: wanted node >= 22", "it wants another version of Node.js"),
        (NODE_PORT, "its port is taken"),
        ("OSError: [Errno 98] Address already in use", "its port is taken"),
        (PYTHON_SYNTAX, "newer version"),
        ("ModuleNotFoundError: No module named 'weather.server'", "no module weather.server"),
        ("/usr/bin/python: No module named weather", "no module weather"),
        (PYTHON_MOVED, "no module mcp.server.fastmcp"),
        (NPM_NO_FILE, "there is no file /srv/package.json"),
        ("the input device is not a TTY", "take -t out"),
        ("cannot attach stdin to a TTY-enabled container because stdin is not a terminal", "take -t out"),
        ("python: can't open file '/srv/x.py': [Errno 2] No such file or directory", "no file /srv/x.py"),
        ("Error: Unable to access jarfile server.jar", "no file server.jar"),
        (DOCKER, "is the Docker daemon running?"),
        ("docker: Error response from daemon: pull access denied for me/mcp.", "there is no such image"),
        ("bash: nope-cmd: command not found", "no program nope-cmd"),
        ("bash: line 1: nope-cmd: command not found", "no program nope-cmd"),
        ("sh: 1: nope-cmd: not found", "no program nope-cmd"),
        ("/usr/bin/env: \u2018nope\u2019: No such file or directory", "no program nope"),
        ("/usr/bin/env: \u2018python3\\r\u2019: No such file or directory", "Windows line ends"),
        ("sh: 1: exec: /srv/server.py: Permission denied", "/srv/server.py may not be run; try chmod +x"),
        ("PermissionError: [Errno 13] Permission denied: '/data/db'", "look at the permissions"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error errno SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"),
        ("npm ERR! code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "npm does not trust the certificate"),
        (UV_CERTIFICATE, "uv does not trust the certificate"),
        (
            "error: Failed to spawn: `server.py`\n  Caused by: No such file or directory (os error 2)",
            "uv finds no program server.py; is its --directory right?",
        ),
        (
            "error: Failed to spawn: server.py\n  cause: No such file or directory (os error 2)",
            "uv finds no program server.py; is its --directory right?",
        ),
        (
            "fatal: unable to access 'https://example.com/weather/': Could not resolve host: example.com",
            "example.com is not found; is there a network, or a proxy to name (HTTPS_PROXY)?",
        ),
        ("error: unrecognized subcommand 'weather-mcp'\nUsage: uv [OPTIONS] <COMMAND>", "uvx runs packages"),
        ('Unknown command: "weather-mcp"\nTo see a list of supported npm commands, run:', "npx runs packages"),
        ("node: bad option: -y", "node runs a file, npx a package"),
        (UV_NO_DIRECTORY, 'is every path in its "args" right, such as its --directory?'),
        (UV_NO_VERSION, "there is no Python package weather-mcp==99.9; is the version right?"),
        (UV_OLD_PYTHON, "it wants Python>=3.12, which uvx takes with --python"),
        (PYTHON_PACKAGES, "the Python packages that it uses do not fit together; try another version of it"),
        (NPX_PACKAGES, "what is installed in /home/me/.npm/_npx/909ffbc9/node_modules is not whole"),
        (
            "Error: Cannot find module '/srv/~/weather/index.js'",
            'there is no file /srv/~/weather/index.js; a "~" is not expanded here; write the whole path',
        ),
        (
            "python: can't open file '/srv/$HOME/x.py': [Errno 2] No such file or directory",
            "there is no file /srv/$HOME/x.py; variables are not replaced here; write what it stands for",
        ),
        (
            "java.lang.UnsupportedClassVersionError: Main has been compiled by a more recent version",
            "it wants a newer Java",
        ),
        (
            "/srv/mcp: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /srv/mcp)",
            "it was built for a newer system than this one",
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "nothing answers at 127.0.0.1:5432; does what",
        ),
        (
            'TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".ts" for /srv/index.ts',
            "node does not run TypeScript by itself; build it, or run it with tsx",
        ),
    ],
)
def test_what_to_try_is_said_for_what_is_known(said: str, hint: str) -> None:
    found, line = explain_end(said.splitlines(), status=1)

    assert found is not None
    assert hint in found
    assert line is not None
    assert line in said


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ([sys.executable, "-m", "no_such_module"], "no module no_such_module"),
        ([sys.executable, "/no/such/file.py"], "no file /no/such/file.py"),
        ([sys.executable, "-c", "import no_such_module.sub"], "no module no_such_module"),
        (["/bin/sh", "-c", "no-such-program"], "no program no-such-program"),
        (["/usr/bin/env", "no-such-program"], "no program no-such-program"),
    ],
)
def test_it_is_what_the_programs_of_this_system_say_too(command: list[str], hint: str) -> None:
    ended = subprocess.run(command, stderr=subprocess.PIPE, check=False)

    found, _ = explain_end(ended.stderr.decode().splitlines(), status=ended.returncode)

    assert found is not None
    assert hint in found


@pytest.mark.parametrize(
    "said",
    [
        "ImportError: cannot import name 'forecast' from 'weather' (/home/me/weather.py)",
        "ImportError: cannot import name 'override' from 'typing' (/usr/lib/python3.11/typing.py)",
        "ImportError: cannot import name 'X' from partially initialized module 'mcp' (circular?) (/home/me/mcp.py)",
    ],
)
def test_a_name_that_a_file_of_the_users_own_or_python_lacks_is_no_fault_of_packages(said: str) -> None:
    assert explain_end([said]) == (None, said)


@pytest.mark.parametrize(
    "said",
    [
        ["error: unrecognized subcommand 'run'", "Usage: server <COMMAND>"],
        ['Unknown command: "run"', "To see a list of commands, run server help"],
    ],
)
def test_a_command_that_another_program_does_not_know_is_none_of_uv_or_npm(said: list[str]) -> None:
    assert explain_end(said)[0] is None


def test_a_path_with_escapes_of_urls_is_none_with_variables() -> None:
    hint, _ = explain_end(["Error: Cannot find module '/home/me/My%20MCP%20Server/caf%C3%A9.js'"])

    assert hint is not None
    assert hint.startswith("node cannot find /home/me/My%20MCP%20Server/caf%C3%A9.js")


def test_windows_variables_in_a_path_are_told() -> None:
    hint, _ = explain_end([r"Error: Cannot find module 'C:\srv\%USERPROFILE%\x.js'"])

    assert hint is not None
    assert "variables are not replaced here" in hint


@pytest.mark.parametrize(
    "option",
    [
        "  --token  API token (required unless you set the SERVICE_TOKEN environment variable)  [string]",
        "  -t, --token string   token (required; or set the SERVICE_TOKEN environment variable)",
        "  --token  SERVICE_TOKEN is required for uploads",
    ],
)
def test_the_help_of_an_option_does_not_say_why_a_server_ended(option: str) -> None:
    said = ["Options:", option, "unknown flag: --foo"]

    assert explain_end(said) == (None, "unknown flag: --foo")
    assert explain_variable(said, given=[]) is None


def test_a_list_of_lacking_variables_is_no_help_of_options() -> None:
    assert "SERVICE_TOKEN" in (explain_variable(["Missing:", "  - SERVICE_TOKEN is not set"], given=[]) or "")


def test_otherwise_the_last_line_is_quoted() -> None:
    assert explain_end(["starting", "no licence "]) == (None, "no licence")


PYTHON_KEY_ERROR = """\
  File "/srv/server.py", line 3, in <module>
    KEY = os.environ["SERVICE_KEY"]
  File "<frozen os>", line 679, in __getitem__
KeyError: 'SERVICE_KEY'"""

NODE_NO_KEY = """\
/srv/index.js:4
if (!process.env.SERVICE_KEY) throw new Error("SERVICE_KEY environment variable is required");
                              ^

Error: SERVICE_KEY environment variable is required
    at Object.<anonymous> (/srv/index.js:4:37)

Node.js v22.1.0"""


@pytest.mark.parametrize(
    ("said", "name", "line"),
    [
        ("GREETING is not set", "GREETING", 0),
        ("greeter: the environment variable GREETING is not set; try GREETING=hello", "GREETING", 0),
        ("Error: Missing environment variable: SERVICE_KEY", "SERVICE_KEY", 0),
        ("Error: missing required env var `TOKEN`", "TOKEN", 0),
        ("Missing SERVICE_KEY", "SERVICE_KEY", 0),
        ("Missing required SERVICE_KEY, see the documentation\nbye", "SERVICE_KEY", 0),
        ("'SERVICE_KEY' must be set", "SERVICE_KEY", 0),
        ("Error: environment variable TOKEN must be provided", "TOKEN", 0),
        ("environment variable not found: SERVICE_KEY is required", "SERVICE_KEY", 0),
        ("sh: 1: SERVICE_KEY: parameter not set", "SERVICE_KEY", 0),
        ("bash: line 1: TOKEN: unbound variable", "TOKEN", 0),
        ("Error: a token is required. Set SERVICE_TOKEN in your environment variables and retry.", "SERVICE_TOKEN", 0),
        ("Please provide a token with --token or set the SERVICE_TOKEN environment variable", "SERVICE_TOKEN", 0),
        ("API key not provided. Pass --api-key=$KEY or set the environment variable SERVICE_KEY.", "SERVICE_KEY", 0),
        ("Please set SERVICE_TOKEN and SERVICE_TEAM environment variables", "SERVICE_TOKEN", 0),
        ("Either SERVICE_KEY or SERVICE_TOKEN is required (by .env file)", "SERVICE_KEY", 0),
        (PYTHON_KEY_ERROR, "SERVICE_KEY", 3),
        (NODE_NO_KEY, "SERVICE_KEY", 4),
    ],
)
def test_a_variable_that_the_server_lacks_is_not_passed_on_by_itself(said: str, name: str, line: int) -> None:
    lines = said.splitlines()

    assert explain_variable(lines, given=["PATH"]) == (
        f'it was not given {name}, since variables are not passed on from here: name it in "env" '
        f"(on the command line, -e {name})"
    )
    assert explain_variable(lines, given=["PATH", name]) is None
    assert explain_end(lines, status=1) == (None, lines[line].strip())


@pytest.mark.parametrize("name", ["SERVICEKEY", "service_key", "SERVICE_API_KEY", "SERVICE-KEY"])
def test_a_variable_that_is_given_by_another_name_is_most_likely_misspelt(name: str) -> None:
    assert explain_variable(["SERVICE_KEY is not set"], given=[*INHERITED, "A", name]) == (
        f"it was given {name} and not SERVICE_KEY; is the name misspelt? "
        'If it wants both, name SERVICE_KEY in "env" too'
    )


@pytest.mark.parametrize(
    ("said", "name"), [("HTTPS_PROXIES is not set", "HTTPS_PROXIES"), ("SERVICE_KEY is not set", "SERVICE_KEY")]
)
def test_what_every_server_is_given_is_not_misspelt(said: str, name: str) -> None:
    assert f"it was not given {name}, " in (explain_variable([said], given=[*INHERITED, "SERVER_PORT"]) or "")


@pytest.mark.parametrize(
    "said",
    [
        "no licence",
        "Missing API key",
        "Missing HTTP header",
        "NameError: name 'SERVICE_KEY' is not defined",
        "ReferenceError: SERVICE_KEY is not defined",
        "KeyError: 'SERVICE_KEY'",
        "reading the environment variable SERVICE_KEY",
        "warning: SERVICE_KEY is not set",
        "LOG_LEVEL is not set, using INFO",
        "the port is not set",
        "for more, set the SERVICE_DEBUG environment variable",
        "PK is not set",
        "no " * 400 + "environment variable SERVICE_KEY",
    ],
)
def test_what_tells_of_no_lacking_variable_is_none(said: str) -> None:
    assert explain_variable([said], given=[]) is None


@pytest.mark.parametrize("what", ["jsonrpc:2.0", '{"jsonrpc":"2.0"}'])
def test_what_is_said_of_our_messages_is_no_reason_of_a_failed_start(what: str) -> None:
    said = f"bash: line 1: {what}: command not found"

    assert explain_end([said]) == (None, said)


def test_a_status_of_a_shell_is_explained_when_it_said_nothing() -> None:
    hint, line = explain_end([], status=127)

    assert hint is not None
    assert "did not find the command" in hint
    assert line is None


def test_a_silent_end_is_just_that() -> None:
    assert explain_end([], status=3) == (None, None)


@pytest.mark.parametrize(
    ("said", "where"),
    [
        (["INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)"], "at http://127.0.0.1:8000"),
        (["Weather server is up: http://localhost:3000/mcp."], "at http://localhost:3000/mcp"),
        (["starting", "Serving on <http://[::]:80/a/mcp?key=12#3>"], "at http://[::]:80/a/mcp"),
        (["\x1b[32mhttp://me:secret@0.0.0.0:8/\x1b[0m"], "at http://0.0.0.0:8/"),
        (["MCP Streamable HTTP Server listening on port 3000"], "on port 3000"),
        (["Listening on :8080"], "on port 8080"),
        (["listening on 127.0.0.1:8080"], "on port 8080"),
    ],
)
def test_a_server_that_listens_elsewhere_is_told_how_to_be_reached(said: list[str], where: str) -> None:
    hint = explain_silence(said, Wording())

    assert hint == f'it listens {where}; if it speaks MCP there, give that as "url", with "type": "http"'


def test_a_server_that_listens_for_sse_is_told_so() -> None:
    hint = explain_silence(["SSE at http://localhost:3000/sse"], Wording())

    assert hint is not None
    assert hint.endswith('give that as "url", with "type": "sse"')


@pytest.mark.parametrize(
    ("name", "line", "end"),
    [
        ("goose", "listening on port 3000", 'give that as "uri", with "type": "streamable_http"'),
        ("gemini", "listening on port 3000", 'give that as "httpUrl"'),
        ("gemini", "SSE at http://localhost:3000/sse", 'give that as "url"'),
    ],
)
def test_how_it_is_reached_is_said_in_the_words_of_the_file(name: str, line: str, end: str) -> None:
    hint = explain_silence([line], format_called(name).wording)

    assert hint is not None
    assert hint.endswith(f"; if it speaks MCP there, {end}")


@pytest.mark.parametrize(
    "line", ["see https://example.com/mcp for help", "connecting to http://10.0.0.1:80", "http://", "port 80 is free"]
)
def test_an_address_elsewhere_is_no_hint(line: str) -> None:
    assert explain_silence([line], Wording()) is None
