"""Hints for the error messages of package runners, interpreters and shells."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from mcp_launch._diagnosis.hints import HINTS, Hint, explain_end, explain_variable
from mcp_launch._diagnosis.process import explain_silence
from mcp_launch._executable import INHERITED
from mcp_launch.config._formats import format_called
from mcp_launch.failures import Phrases


@pytest.mark.parametrize("hint", HINTS, ids=[hint.advice for hint in HINTS])
def test_each_hint_is_given_for_its_sample(hint: Hint) -> None:
    advice, line = explain_end(hint.sample.splitlines(), status=1)

    found = re.search(hint.pattern, hint.sample, re.MULTILINE)
    assert found is not None
    assert advice == hint.advice.format(*found.groups())
    assert "{" not in (advice or "")
    assert line in [each.strip() for each in hint.sample.splitlines()]


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("ReferenceError: ReadableStream is not defined", "a newer Node.js"),
        ("TypeError: webidl.util.markAsUncloneable is not a function", "a newer Node.js"),
        ("Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite", "a newer Node.js"),
        ("ModuleNotFoundError: No module named 'tomllib'", "a newer Python"),
        (
            "ImportError: cannot import name 'override' from 'typing' (/usr/lib/python3.11/typing.py)",
            "a newer Python",
        ),
        ("env: node\\r: No such file or directory", "Windows line endings"),
        ("env: node\r: No such file or directory", "Windows line endings"),  # of macOS
        ("npm error code EACCES\nnpm error syscall mkdir", "npm has no permission to write;"),
        ("npm error EACCES: permission denied, rename '/a' -> '/b'", "npm has no permission to write;"),
        ("error: Unsupported engine: wanted node >= 22", "another version of Node.js"),
        ("Package `run` does not provide any executables.", "the package has no program;"),
        ("httpx.ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "set SSL_CERT_FILE"),
        ("error: Not a directory (os error 20)", "is every path"),
        ("Error: Unable to access jarfile ~/a.jar", 'the file ~/a.jar was not found; "~" is not expanded'),
        ("Error: Cannot find module '/srv/'/srv/a.js''", "node cannot find /srv/'/srv/a.js';"),
        (
            "npm error code ETARGET\nnpm error notarget No matching version found for is-odd@99.99.99.",
            "the package is-odd@99.99.99 was not found; is the version right?",
        ),
        (
            "cause: Because there is no version of pglast==7.2.0 and\nBecause (3.12.1) does not satisfy Python>=3.13 a",
            "it requires Python>=3.13; pass --python to uvx",
        ),
        (
            "An executable named `w` is not provided by package `w-mcp`.\nUse `uvx --from w-mcp <EXECUTABLE-NAME>`",
            "w-mcp has no program w; run the command by hand to see which it has,",
        ),
        ("npm error No versions available for weather-mcp", "the npm package weather-mcp was not found;"),
        ("ERROR: No matching distribution found for weather-mcp", "the Python package weather-mcp was not found;"),
        ("npm error code ECONNREFUSED\nnpm error syscall connect", "the package registry cannot be reached;"),
        (
            "  cause: error sending request for url (https://index.example/w/)\n  cause: tunnel error",
            "index.example cannot be reached; is there a network",
        ),
        ("error sending request for url (http://localhost:11434/api)", "it cannot connect to localhost:11434;"),
        ("npm ERR! 404  'weather-mcp@*' is not in this registry.", "the npm package weather-mcp was not found;"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error errno SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"),
        (
            "error: Failed to spawn: w-mcp\n  cause: No such file",
            "the program w-mcp; is its --directory right, or is it a",
        ),
        ("OSError: [Errno 98] Address already in use", "its port is in use"),
        ("/usr/bin/python: No module named weather", "no module weather; is its package installed there"),
        ("ModuleNotFoundError: No module named 'mcp.shared.session'", "for version 1 of the MCP SDK"),
        (
            "ImportError: cannot import name 'FastMCP' from 'mcp.server' (/srv/site-packages/mcp/server/__init__.py)",
            "for version 1 of the MCP SDK",
        ),
        ("AttributeError: 'Server' object has no attribute 'list_tools'", "for version 1 of the MCP SDK"),
        ("ModuleNotFoundError: No module named 'dotenv'", "version 2; install the older one where it runs"),
        ("Error: Unable to access jarfile server.jar", "the file server.jar was not found;"),
        (
            "npm error enoent Could not read package.json: Error: ENOENT: no such file, open '/package.json'",
            "the file /package.json was not found;",
        ),
        ("npm ERR! code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "NODE_EXTRA_CA_CERTS"),
        ("ModuleNotFoundError: No module named 'mcp.server'; 'mcp' is not a package", "no module mcp.server"),
        ("docker: failed to connect to the docker API at unix:///var/run/docker.sock", "is the Docker daemon running?"),
        (
            'docker: error during connect: Head "http://%2F%2F.%2Fpipe%2Fdocker/_ping": open //./pipe/docker',
            "is the Docker daemon running?",
        ),
        ("Docker Desktop is not running", "is the Docker daemon running?"),
        ("Error: connect ENOENT /var/run/docker.sock", "is the Docker daemon running?"),
        ("Error: connect EACCES /var/run/docker.sock", "has no permission to use Docker;"),
        (
            "docker.errors.DockerException: Error while fetching server API version: (PermissionError(13, 'Permission",
            "has no permission to use Docker;",
        ),
        (
            "docker.errors.DockerException: Error while fetching server API version: (FileNotFoundError(2, 'No such",
            "is the Docker daemon running?",
        ),
        (
            "docker: permission denied while trying to connect to the Docker daemon socket at unix:///docker.sock",
            "has no permission to use Docker;",
        ),
        (
            "Error: Could not locate the bindings file. Tried:\n → /srv/node_modules/better-sqlite3/build/a.node",
            "not compiled for this version of Node.js;",
        ),
        (
            "Error: Cannot find module 'es/toString'\nRequire stack:\n- /me/.npm/_npx/1f/node_modules/weather/index.js",
            "the installation in /me/.npm/_npx/1f/node_modules is incomplete;",
        ),
        ("zsh: exec format error: /srv/weather-mcp", "was it built for another, or"),
        ("OSError: [Errno 8] Exec format error: '/srv/weather-mcp'", "was it built for another, or"),
        ("cannot attach stdin to a TTY-enabled container because stdin is not a terminal", "remove -t from"),
        ("bash: nope-cmd: command not found", "the program nope-cmd was not found;"),
        ("bash: line 1: nope-cmd: command not found", "the program nope-cmd was not found;"),
        ("sh: 1: nope-cmd: not found", "the program nope-cmd was not found;"),
        ("Error: spawn nope-cmd ENOENT\n    at onErrorNT (node:internal)", "the program nope-cmd was not found;"),
        (
            "'nope-cmd' is not recognized as an internal or external command,\noperable program or batch file.",
            "the program nope-cmd was not found;",
        ),
        ("python: can't open file '/srv/x.py': [Errno 13] Permission denied", "it was denied access;"),
        ("python: can't open file '/Users/me/x.py': [Errno 1] Operation not permitted", "it was denied access;"),
        ("Error: EPERM: operation not permitted, open '/Users/me/x.json'", "it was denied access;"),
        (
            "dyld[815]: Library not loaded: /opt/icu4c/lib/libicui18n.74.dylib\n  Reason: tried: (no such file)",
            "does not have the library /opt/icu4c/lib/libicui18n.74.dylib",
        ),
        ("xcrun: error: invalid active developer path (/Library/Developer), missing xcrun", "xcode-select --install"),
        ("/bin/sh: /srv/weather-mcp: Bad CPU type in executable", "not a program for this kind of machine;"),
        (
            "Error: Cannot find module '/me/My%20MCP%20Server/caf%C3%A9.js'",
            "node cannot find /me/My%20MCP%20Server/caf",
        ),
    ],
)
def test_other_forms_of_known_errors_have_hints(said: str, hint: str) -> None:
    found, _ = explain_end(said.splitlines(), status=1)

    assert found is not None
    assert hint in found


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ([sys.executable, "-m", "no_such_module"], "no module no_such_module"),
        ([sys.executable, "/no/such/file.py"], "the file /no/such/file.py was not found"),
        ([sys.executable, "-c", "import no_such_module.sub"], "no module no_such_module"),
        ([sys.executable, "-c", "import subprocess; subprocess.run('no-such')"], "the program no-such was not found"),
        (["/bin/sh", "-c", "no-such-program"], "the program no-such-program was not found"),
        (["/usr/bin/env", "no-such-program"], "the program no-such-program was not found"),
    ],
)
def test_installed_programs_write_known_errors(command: list[str], hint: str) -> None:
    ended = subprocess.run(command, stderr=subprocess.PIPE, check=False)

    found, _ = explain_end(ended.stderr.decode().splitlines(), status=ended.returncode)

    assert found is not None
    assert hint in found


@pytest.mark.parametrize(
    "said",
    [
        "ImportError: cannot import name 'forecast' from 'weather' (/home/me/weather.py)",
        "ImportError: cannot import name 'X' from partially initialized module 'mcp' (circular?) (/home/me/mcp.py)",
        # Every file of a package that npx started is in the cache of npx.
        "Error: ENOENT: no such file or directory, open '/me/.npm/_npx/a23c/node_modules/weather/keys.json'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'settings'",
        # Complaints about our messages.
        "bash: line 1: jsonrpc:2.0: command not found",
        'bash: line 1: {"jsonrpc":"2.0"}: command not found',
        '[stdin]:1\n{"jsonrpc":"2.0"}\n   ^\nSyntaxError: invalid syntax',
        "no licence ",
    ],
)
def test_other_lines_are_quoted_without_a_hint(said: str) -> None:
    lines = said.splitlines()

    assert explain_end(["starting", *lines]) == (None, lines[-1].strip())


HANDLED = """\
ModuleNotFoundError: No module named 'orjson'
During handling of the above exception, another exception occurred:
Traceback (most recent call last):
  File "/srv/x.py", line 4, in <module>
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (HANDLED, "ValueError: WEATHER_KEY is not set"),
        (HANDLED, "ValueError: unknown region"),
        ("WARNING: No module named 'redis', using memory\n", "ValueError: unknown region"),
        ("INFO port 3000: address already in use, using 3001\n", "Error: bad token"),
        ("Warning: Cannot access directory /srv/files, skipping\n", "Error: bad token"),
        ("ERROR:root:redis: Connection refused; continuing without cache\n", "ValueError: unknown region"),
        ("", "SyntaxError: Unexpected end of JSON input"),
        ("", "SyntaxError: The requested module './a.js' does not provide an export named 'b'"),
        ("", "SyntaxError: Named export 'b' not found. The requested module 'a' is a CommonJS module"),
    ],
)
def test_errors_after_which_a_program_went_on_have_no_hint(before: str, said: str) -> None:
    assert explain_end([*before.splitlines(), said], status=1) == (None, said)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        (f"{HANDLED}ModuleNotFoundError: No module named 'ujson'", "no module ujson"),
        ("python: can't open file '/srv/debug/x.py'", "/srv/debug/x.py was not found"),
        ("/srv/target/debug/x: libc.so.6: version `GLIBC_2.38' not found", "built for a newer system"),
        ("Error: Cannot find module 'debug'", "cannot find debug;"),
        ("the input device is not a TTY.  If you are using mintty, try winpty", "remove -t"),
        ("WARNING: No module named 'redis'\nModuleNotFoundError: No module named 'weather'", "no module weather"),
        ('sends {"jsonrpc":"2.0"}\nError: connect ECONNREFUSED 127.0.0.1:9', "cannot connect to 127.0.0.1:9"),
        ("Error: dial tcp 127.0.0.1:9: connect: connection refused\nexit status 1", "does not accept connections;"),
        ("a.ConnectError: Connect call failed ('127.0.0.1', 9)", "a service that it needs does not accept"),
    ],
)
def test_the_error_that_ended_a_program_has_its_hint(said: str, hint: str) -> None:
    assert hint in (explain_end(said.splitlines(), status=1)[0] or "")


@pytest.mark.parametrize(
    "last", ['npm error   sudo chown -R 501:20 "/me/.npm"', 'npm ERR! notsup Required: {"node":">=20.0.0"}']
)
def test_the_line_that_says_what_to_do_is_quoted(last: str) -> None:
    [sample] = [hint.sample for hint in HINTS if hint.sample.endswith(last)]

    assert explain_end(sample.splitlines(), status=1)[1] == last


@pytest.mark.parametrize(("status", "says"), [(126, "was not allowed"), (127, "did not find the command"), (3, "")])
def test_the_exit_status_is_explained_without_output(status: int, says: str) -> None:
    hint, line = explain_end([], status=status)

    assert (says in (hint or ""), bool(hint), line) == (True, bool(says), None)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("zsh:1: command not found: nope", "a shell did not find"),
        ("/srv/run: line 3: nope: not found here", "a shell did not find"),
        ("no such image", None),
    ],
)
def test_the_exit_status_is_explained_with_the_output_of_a_shell(said: str, says: str | None) -> None:
    hint, _ = explain_end([said], status=127)

    assert (hint or "").partition(" the command")[0] == (says or "")


@pytest.mark.parametrize(
    "said",
    [
        ["error: unrecognized subcommand 'run'", "Usage: server <COMMAND>"],
        ['Unknown command: "run"', "To see a list of commands, run server help"],
    ],
)
def test_unknown_commands_of_other_programs_have_no_hint(said: list[str]) -> None:
    assert explain_end(said)[0] is None


@pytest.mark.parametrize(
    "option",
    [
        "  --token  API token (required unless you set the SERVICE_TOKEN environment variable)  [string]",
        "  -t, --token string   token (required; or set the SERVICE_TOKEN environment variable)",
        "  --token  SERVICE_TOKEN is required for uploads",
    ],
)
def test_the_help_of_an_option_is_not_an_error(option: str) -> None:
    said = ["Options:", option, "unknown flag: --foo"]

    assert explain_end(said) == (None, "unknown flag: --foo")
    assert explain_variable(said, given=[]) is None


def test_a_list_of_missing_variables_is_not_the_help_of_options() -> None:
    assert "SERVICE_TOKEN" in (explain_variable(["Missing:", "  - SERVICE_TOKEN is not set"], given=[]) or "")


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
        ("Missing required configuration: SERVICE_KEY", "SERVICE_KEY", 0),
        ("Missing required SERVICE_KEY, see the documentation\nbye", "SERVICE_KEY", 0),
        ("'SERVICE_KEY' must be set", "SERVICE_KEY", 0),
        ("Error: environment variable TOKEN must be provided", "TOKEN", 0),
        ("environment variable not found: SERVICE_KEY is required", "SERVICE_KEY", 0),
        ("sh: 1: SERVICE_KEY: parameter not set", "SERVICE_KEY", 0),
        ("bash: line 1: TOKEN: unbound variable", "TOKEN", 0),
        ("Error: a token is required. Set SERVICE_TOKEN in your environment variables and retry.", "SERVICE_TOKEN", 0),
        ("Please provide a token with --token or set the SERVICE_TOKEN environment variable", "SERVICE_TOKEN", 0),
        ("API key not provided. Pass --api-key=$KEY or set the environment variable SERVICE_KEY.", "SERVICE_KEY", 0),
        ("No API key provided. Set it in the `SERVICE_KEY` environment variable", "SERVICE_KEY", 0),
        ("FATAL: No credentials found. Set SERVICE_KEY in the environment variables, or log in", "SERVICE_KEY", 0),
        ("Error: A key is required via --key, SERVICE_KEY, --key-file, or SERVICE_KEY_FILE.", "SERVICE_KEY", 0),
        ("No token was provided. Log in, or pass `--token` / `SERVICE_TOKEN`.", "SERVICE_TOKEN", 0),
        ("Cannot run the server without SERVICE_TOKEN env", "SERVICE_TOKEN", 0),
        ("Unable to start without the SERVICE_TOKEN env variable", "SERVICE_TOKEN", 0),
        ("Invalid: { _errors: [], SERVICE_KEY: { _errors: [ 'Required' ] } }", "SERVICE_KEY", 0),
        ("{ SERVICE_KEY: { _errors: [ 'expected string, received undefined' ] } }", "SERVICE_KEY", 0),
        ("SERVICE_KEY/SERVICE_TOKEN must be set", "SERVICE_KEY", 0),
        ("Either SERVICE_KEY or SERVICE_TOKEN is required (by .env file)", "SERVICE_KEY", 0),
        (PYTHON_KEY_ERROR, "SERVICE_KEY", 3),
        (NODE_NO_KEY, "SERVICE_KEY", 4),
    ],
)
def test_a_missing_variable_is_named(said: str, name: str, line: int) -> None:
    lines = said.splitlines()

    assert explain_variable(lines, given=["PATH"]) == (
        f'it was not given {name}, because servers do not inherit your environment; add it to "env" '
        f"(on the command line, -e {name})"
    )
    assert explain_variable(lines, given=["PATH", name]) is None
    empty = f"the value of {name} is empty"
    assert explain_variable(lines, given=["PATH", name], empty=[name]) == empty
    assert explain_end(lines, status=1) == (None, lines[line].strip())


@pytest.mark.parametrize(
    "said",
    [
        "Please set SERVICE_KEY and SERVICE_TOKEN environment variables",
        "Error: SERVICE_KEY and SERVICE_TOKEN environment variables are required",
        "Missing required environment variables: SERVICE_KEY, SERVICE_TOKEN",
        "Missing: `SERVICE_KEY`, `SERVICE_TOKEN`. See the documentation",
        "❌ Missing required environment variables:\n   SERVICE_KEY\n   SERVICE_TOKEN\n💡 Set these variables.",
        "Missing required environment variables:\n  - SERVICE_KEY: from example.com\n  - SERVICE_TOKEN (a token)\nbye",
        "Usage: weather --token TOKEN\nOr set SERVICE_KEY and SERVICE_TOKEN environment variables.",
        "No configuration.\nSet environment variables (SERVICE_KEY, SERVICE_TOKEN, etc.)\nor run weather setup",
        "2026-11-29,ERROR,SERVICE_KEY, URL, and SERVICE_TOKEN must be set",
    ],
)
def test_each_missing_variable_of_a_list_is_named(said: str) -> None:
    def explained(*given: str, empty: str = "") -> str:
        return explain_variable(said.splitlines(), given=given, empty=[empty]) or ""

    assert explained() == (
        "it was not given SERVICE_KEY and SERVICE_TOKEN, because servers do not inherit your environment; "
        'add them to "env" (on the command line, -e SERVICE_KEY -e SERVICE_TOKEN)'
    )
    assert explained("SERVICE_KEY").startswith("it was not given SERVICE_TOKEN, ")
    assert explained("SERVICE_TOKEN").startswith("it was not given SERVICE_KEY, ")
    assert not explained("SERVICE_KEY", "SERVICE_TOKEN")
    assert explained("SERVICE_KEY", "SERVICE_TOKEN", empty="SERVICE_TOKEN") == "the value of SERVICE_TOKEN is empty"


def test_a_given_variable_of_a_list_is_not_a_misspelling_of_another() -> None:
    said = ["SERVICE_API_KEY and SERVICE_API_KEYS are required"]

    assert (explain_variable(said, given=["SERVICE_API_KEY"]) or "").startswith("it was not given SERVICE_API_KEYS, ")


@pytest.mark.parametrize("name", ["SERVICEKEY", "service_key", "SERVICE_API_KEY", "SERVICE-KEY"])
def test_a_similar_variable_is_taken_for_a_misspelling(name: str) -> None:
    assert explain_variable(["SERVICE_KEY is not set"], given=[*INHERITED, "A", name]) == (
        f'it was given {name}, not SERVICE_KEY; is the name misspelled? If it needs both, add SERVICE_KEY to "env"'
    )


@pytest.mark.parametrize(
    ("said", "name"), [("HTTPS_PROXIES is not set", "HTTPS_PROXIES"), ("SERVICE_KEY is not set", "SERVICE_KEY")]
)
def test_inherited_variables_are_not_taken_for_misspellings(said: str, name: str) -> None:
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
        "running without SERVICE_CACHE env",
        "{ SERVICE_KEY: { _errors: [ 'Too short' ] } }",
        "PK is not set",
        "Optional environment variables:\n  SERVICE_KEY\n  SERVICE_TOKEN",
        "Set the SERVICE_DEBUG environment variable to see more.",
        "no " * 400 + "environment variable SERVICE_KEY",
    ],
)
def test_other_lines_do_not_name_a_missing_variable(said: str) -> None:
    assert explain_variable(said.splitlines(), given=[]) is None


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
        (["Waiting for connections at http://localhost:80"], "at http://localhost:80"),
        (["Using Express, listening at http://localhost:80"], "at http://localhost:80"),
        (["Proxy server running at http://localhost:80"], "at http://localhost:80"),
        (["Starting, using streamable-http at http://localhost:80"], "at http://localhost:80"),
        (["Open this to connect: http://localhost:80"], "at http://localhost:80"),
        (["starting server on port 9884"], "on port 9884"),
        (["Server is running on port 3001"], "on port 3001"),
        # Several places, of which one is the most likely:
        (
            ["metrics at http://127.0.0.1:9464/metrics", "up at http://localhost:9814/mcp"],
            "at http://localhost:9814/mcp",
        ),
        (
            ["up at http://127.0.0.1:80", "http://localhost:80/health", "http://localhost:80/mcp"],
            "at http://localhost:80/mcp",
        ),
        (["listening on port 80", "up at http://localhost:80"], "on port 80"),
        (["health at http://localhost:80/health", "listening on port 81"], "on port 81"),
    ],
)
def test_a_server_that_listens_on_a_port_is_recognized(said: list[str], where: str) -> None:
    hint = explain_silence(said, Phrases())

    assert hint == f'it listens {where}; if it speaks MCP there, give that as "url", with "type": "http"'


@pytest.mark.parametrize(
    ("name", "line", "end"),
    [
        ("acp", "SSE at http://localhost:3000/sse", 'give that as "url", with "type": "sse"'),
        ("goose", "listening on port 3000", 'give that as "uri", with "type": "streamable_http"'),
        ("gemini", "listening on port 3000", 'give that as "httpUrl"'),
        ("gemini", "SSE at http://localhost:3000/sse", 'give that as "url"'),
    ],
)
def test_the_advice_for_a_listening_server_uses_the_terms_of_the_file(name: str, line: str, end: str) -> None:
    hint = explain_silence([line], format_called(name).phrases)

    assert hint is not None
    assert hint.endswith(f"; if it speaks MCP there, {end}")


@pytest.mark.parametrize(
    "line",
    [
        "Connecting to Qdrant at http://localhost:6333",
        "Could not connect to http://127.0.0.1:6333, trying again",
        "Waiting for Ollama (http://localhost:11434)",
        "Using http://localhost:11434",
        'HTTP Request: GET http://localhost:6333/collections "HTTP/1.1 200 OK"',
    ],
)
def test_a_server_does_not_listen_where_it_connects(line: str) -> None:
    hint = explain_silence([line, "Connected to the database; running at http://localhost:3000"], Phrases())

    assert (hint or "").startswith("it listens at http://localhost:3000;")


@pytest.mark.parametrize(
    "line", ["see https://example.com/mcp for help", "connecting to http://10.0.0.1:80", "http://", "port 80 is free"]
)
def test_addresses_of_other_machines_are_ignored(line: str) -> None:
    assert explain_silence([line], Phrases()) is None
