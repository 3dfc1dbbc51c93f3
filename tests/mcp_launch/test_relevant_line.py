"""The most relevant line of the error messages of programs in many languages."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from mcp_launch._diagnosis.hints import missing_variables, most_relevant_line, unwrapped

NODE_THROWS = """\
/srv/index.js:4
    throw new Error("Invalid Error in the configuration");
    ^

Error: no projects are configured
    at Object.<anonymous> (/srv/index.js:4:11)
    at node:internal/main/run_main_module:28:49 {
  code: 'NO_PROJECTS',
  detail: { file: 'projects.json' }
}

Node.js v22.1.0"""

NODE_FETCHES = """\
[18597] Fatal error: TypeError: fetch failed
    at node:internal/deps/undici/undici:14976:13
    at async file:///srv/index.js:1:1 {
  [cause]: Error: bad port
      at fetch (node:internal/deps/undici/undici:10576:20) {
    errno: -3008
  }
}"""

NODE_EMITS = """\
node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: SQLITE_CANTOPEN: unable to open database file
Emitted 'error' event on Database instance at:
    at process.processTimers (node:internal/timers:519:7) {
  errno: 14,
  code: 'SQLITE_CANTOPEN'
}

Node.js v22.1.0"""

NODE_REJECTS = """\
node:internal/process/promises:394
      triggerUncaughtException(err, true /* fromPromise */);
      ^

[UnhandledPromiseRejection: The promise rejected with the reason "no projects".] {
  code: 'ERR_UNHANDLED_REJECTION'
}

Node.js v22.1.0"""

NODE_VALIDATES = """\
ZodError: [
  {
    "code": "invalid_type",
    "path": [ "API_KEY" ],
    "message": "Required"
  }
]
    at parse (/srv/zod.js:1:2)

Node.js v22.1.0"""

NODE_GOES_ON = """\
Error: cannot write the cache
    at save (/srv/index.js:4:11) {
  errno: -13
}
no projects are configured"""

PYTHON_VALIDATES = """\
Traceback (most recent call last):
  File "/srv/server.py", line 4, in <module>
    Settings()
pydantic_core.ValidationError: 1 validation error for Settings
api_key
  Field required [type=missing]
    For further information visit https://errors.pydantic.dev/2.14/v/missing"""

PYTHON_GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/srv/server.py", line 8, in <module>
  |     anyio.run(main)
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/server.py", line 3, in main
    |     raise RuntimeError
    | RuntimeError: no projects are configured
    +------------------------------------"""

JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: cannot start
\tat Main.main(Main.java:3)
Caused by: java.io.IOException: no projects are configured
\tat Main.read(Main.java:5)
\t... 1 more"""

GO = """\
panic: no projects are configured

goroutine 1 [running]:
main.main()
\t/srv/main.go:5 +0x18
exit status 2"""

RUST_PANICS = """\
thread 'main' panicked at src/main.rs:5:10:
no projects are configured
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""

RUST_FAILS = """\
Error: cannot read the configuration

Caused by:
    No such file or directory (os error 2)"""

CLAP = """\
error: the following required arguments were not provided:
  --db <DB>

Usage: server --db <DB>

For more information, try '--help'."""

HELPS_AT_LENGTH = """\
Error: No access token was provided.
Log in first, or pass --access-token.
Usage: server [--access-token=TOKEN]
       server auth login

Commands:
  auth login    Log in; an error is no reason to worry

All skills: inspect, triage

Examples:
  server --access-token=TOKEN"""

HELPS_WITHOUT_USAGE = """\
Usage: server [OPTIONS]
Try 'server --help' for help.

Error: Databases in memory require --read-write.
Options:
  - Add --read-write
  - Use --db-path with a file"""

HELPS_AND_FAILS = """\
Error: unknown flag: --db
Usage:
  server [flags]

2026/01/01 12:00:00 no projects are configured"""

HELPS_AND_SAYS_ANOTHER_ERROR = """\
Error: unknown flag: --db
Usage:
  server [flags]
fatal: no projects are configured"""

HELPS_AND_RAISES = """\
warning: unknown option --db
usage: server [-h]
Traceback (most recent call last):
  File "server.py", line 3, in <module>
RuntimeError: no projects are configured"""

HELPS_WITH_A_PREFIX = """\
[18597] Error: only HTTPS is allowed
[18597] Usage: server <https://server-url>"""

SAYS_MORE_TWICE = """\
error: cannot read the configuration
It is not there.
Run the setup first."""

DOCKER_WITHOUT_IMAGE = """\
docker: 'docker run' requires at least 1 argument

Usage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]

See 'docker run --help' for more information"""

NPX_6 = """\
ERROR: You must supply a command.

For the full documentation, see the manual page for npx(1)."""

GO_FLAGS = """\
flag provided but not defined: -db
Usage of server:
  -transport string
    \tstdio, sse or streamable-http (default "stdio")
  -version
    \tPrint the version and exit"""

SAYS_MUCH_MORE = """\
Error: cannot write the cache
going on without
connecting
connected
no projects are configured"""

SEVERAL_ERRORS = """\
Error: cannot write the cache
going on without
[server] Error: no projects are configured"""

UV_CAUSES = """\
error: Failed to resolve
  cause: Git operation failed
  cause: failed to fetch into: /home/me/.cache/uv/git-v2/db/42910dfe8296368e
  cause: `git fetch` did not exit successfully
         --- stderr
         fatal: unable to access"""

PRINTS_JSON = """\
Server error: [
  {
    "code": "too_small",
    "message": "URL cannot be empty",
    "path": [
      "url"
    ]
  }
]"""

RUBY = """\
server.rb:1:in `start': no projects are configured (RuntimeError)
\tfrom server.rb:3:in `<main>'"""

NPM = """\
npm error code EBADPLATFORM
npm error notsup Unsupported platform for weather@1.0.0
npm error notsup Valid os: darwin
npm error notsup
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log"""

DOCKER = """\
docker: Error response from daemon: Conflict. The container name "/weather" is already in use.

Run 'docker run --help' for more information"""

RICH_LOGS = """\
[11/29/26 10:37:30] INFO     Starting                                 cli.py:69
                    ERROR    File not found:                    filesystem.py:69
                             /srv/weather.py"""

RICH_RAISES = """\
[11/29/26 10:36:55] Failed to run: 'WEATHER_KEY'
                    ╭─────────── Traceback (most recent call last) ────────────╮
                    │ ❱ 2 key = os.environ["WEATHER_KEY"]                      │
                    ╰──────────────────────────────────────────────────────────╯
                    KeyError: 'WEATHER_KEY'"""

RICH_GOES_ON = """\
[11/29/26 10:36:55] Failed to read the cache
cannot read:
                       the configuration"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (NODE_THROWS, "Error: no projects are configured"),
        (
            "[Error: CANTOPEN: no file\nEmitted 'error' event on Database instance at:\n] {\n  code: 'CANTOPEN'\n}",
            "[Error: CANTOPEN: no file",
        ),
        (NODE_EMITS, "Error: SQLITE_CANTOPEN: unable to open database file"),
        (NODE_FETCHES, "[18597] Fatal error: TypeError: fetch failed [cause]: Error: bad port"),
        (NODE_REJECTS, '[UnhandledPromiseRejection: The promise rejected with the reason "no projects".] {'),
        (NODE_VALIDATES, 'ZodError: [ "code": "invalid_type", "path": [ "API_KEY" ], "message": "Required"'),
        (NODE_GOES_ON, "no projects are configured"),
        (
            PYTHON_VALIDATES,
            "pydantic_core.ValidationError: 1 validation error for Settings api_key Field required [type=missing]",
        ),
        (PYTHON_GROUP, "RuntimeError: no projects are configured"),
        (JAVA, "Caused by: java.io.IOException: no projects are configured"),
        (GO, "panic: no projects are configured"),
        (RUST_PANICS, "no projects are configured"),
        (RUST_FAILS, "Error: cannot read the configuration Caused by: No such file or directory (os error 2)"),
        (CLAP, "error: the following required arguments were not provided: --db <DB>"),
        (HELPS_AT_LENGTH, "Error: No access token was provided. Log in first, or pass --access-token."),
        (
            HELPS_WITHOUT_USAGE,
            "Error: Databases in memory require --read-write. Options: - Add --read-write - Use --db-path with a file",
        ),
        (HELPS_AND_FAILS, "2026/01/01 12:00:00 no projects are configured"),
        (HELPS_AND_SAYS_ANOTHER_ERROR, "fatal: no projects are configured"),
        (HELPS_AND_RAISES, "RuntimeError: no projects are configured"),
        (HELPS_WITH_A_PREFIX, "[18597] Error: only HTTPS is allowed"),
        (SAYS_MORE_TWICE, "error: cannot read the configuration It is not there. Run the setup first."),
        (DOCKER_WITHOUT_IMAGE, "docker: 'docker run' requires at least 1 argument"),
        (NPX_6, "ERROR: You must supply a command."),
        (GO_FLAGS, "flag provided but not defined: -db"),
        (SAYS_MUCH_MORE, "no projects are configured"),
        (SEVERAL_ERRORS, "[server] Error: no projects are configured"),
        (
            UV_CAUSES,
            "error: Failed to resolve cause: `git fetch` did not exit successfully --- stderr fatal: unable to access",
        ),
        (PRINTS_JSON, 'Server error: [ "code": "too_small", "message": "URL cannot be empty", "path": [ "url"'),
        (RUBY, "server.rb:1:in `start': no projects are configured (RuntimeError)"),
        (NPM, "npm error notsup Unsupported platform for weather@1.0.0"),
        (DOCKER, 'docker: Error response from daemon: Conflict. The container name "/weather" is already in use.'),
        ("INFO starts\nUsage: server DIRECTORY\n\nSee server --help", "Usage: server DIRECTORY"),
        ("one\n  two\n}", "two"),
        ("  two", "two"),
        ("Error: no\n    at main (/srv/index.js:4:11)\none\ntwo", "two"),
        ("Node.js v22.1.0", "Node.js v22.1.0"),
        ("", None),
        ("Traceback (most recent call last):\n  File 's.py'\nValueError: no\nINFO goes on\nno licence", "no licence"),
    ],
)
def test_the_most_relevant_line_is_found(said: str, line: str | None) -> None:
    assert most_relevant_line([each for each in said.splitlines() if each.strip()]) == line


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (RICH_LOGS, "ERROR    File not found: /srv/weather.py"),
        (RICH_RAISES, "KeyError: 'WEATHER_KEY'"),
    ],
)
def test_a_message_that_rich_has_wrapped_is_one_line(said: str, line: str) -> None:
    assert most_relevant_line(unwrapped(said.splitlines())) == line


def test_lines_after_a_message_of_rich_are_not_joined() -> None:
    assert unwrapped(RICH_GOES_ON.splitlines())[1:] == RICH_GOES_ON.splitlines()[1:]


def test_a_variable_is_named_that_is_missing_in_a_traceback_of_rich() -> None:
    assert missing_variables(unwrapped(RICH_RAISES.splitlines())) == (["WEATHER_KEY"], "KeyError: 'WEATHER_KEY'")


GROUP = "raise ExceptionGroup('several', [ValueError('no projects')])"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ([sys.executable, "-c", "raise ValueError('no', 'projects')"], "ValueError: ('no', 'projects')"),
        ([sys.executable, "-c", GROUP], "ExceptionGroup: several (1 sub-exception) ValueError: no projects"),
        (["node", "-e", "throw new Error('no projects')"], "Error: no projects"),
        (["node", "-e", "Promise.reject(new TypeError('no projects'))"], "TypeError: no projects"),
        (
            ["node", "-e", "console.error(new Error('no projects', { cause: new Error('x') }))"],
            "Error: no projects [cause]: Error: x",
        ),
    ],
)
def test_installed_programs_write_such_lines(command: list[str], line: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} here")
    ended = subprocess.run(command, stderr=subprocess.PIPE, check=False)

    assert most_relevant_line([each for each in ended.stderr.decode().splitlines() if each.strip()]) == line
