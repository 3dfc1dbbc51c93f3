"""The advice of a failure agrees with its diagnosis, in attributes, facts and messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import mcp_launch
from mcp_launch import Budgets, LaunchFailure, Options
from mcp_launch._advice import ADVICE
from mcp_launch.config import read_config
from mcp_launch.config._formats import format_called
from tests.mcp_launch.servers.raw import raw_server, reply
from tests.mcp_launch.support import Marked, http

pytestmark = pytest.mark.anyio

SHORT = Budgets(connect=2.0, handshake=2.0, probe=0.3, close=0.5)


async def failed(
    server: dict[str, Any], *, cwd: Path, options: Options | None = None, budgets: Budgets = SHORT
) -> LaunchFailure:
    async with mcp_launch.launch([server], cwd=cwd, options=options, budgets=budgets) as fleet:
        [failure] = fleet.failures
    assert fleet.report["servers"][0]["failure"] == failure.to_json()
    return failure


OLD_NODE = """\
npm warn EBADENGINE Unsupported engine {
npm warn EBADENGINE   package: 'undici@8.13.1',
npm warn EBADENGINE   required: { node: '>=22.19.0' },
npm warn EBADENGINE   current: { node: 'v20.20.2', npm: '11.19.1' }
npm warn EBADENGINE }
"""
NPM_404 = "npm error 404  'weather@*' is not in this registry."
REFUSED = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('401 invalid API key')"]}
DENIED = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('All authentication methods failed.')"]}
SILENT = {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}
NEEDS_KEY = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('W_KEY is required')"]}
NO_VERSION = "Because there is no version of weather-mcp==9 and you require weather-mcp==9, we can conclude"
REQUIRES = "It requires the package {}, which was not found; try another version of the server."
SEVERAL = 'An item of its "args" contains several arguments; write each as a separate item.'
TELLS_KEY = {
    "command": sys.executable,
    "args": ["-c", "import sys; sys.exit('Error: No key provided.\\nOr pass W_KEY.')"],
}
OLDER = "it was written for version 1 of the MCP SDK, but got version 2"


@pytest.mark.parametrize(
    ("program", "args", "says", "edit", "advice"),
    [
        ("npx", ["weather"], NPM_404, None, "The npm package weather was not found; is its name right?"),
        ("npx", ["@w/server"], NPM_404, None, REQUIRES.format("weather")),
        ("uvx", ["w"], "Because there is no version of ab==7 and w", None, REQUIRES.format("ab==7")),
        (
            "uvx",
            ["Weather_MCP==9"],
            NO_VERSION,
            None,
            "The package weather-mcp==9 was not found; is the version right?",
        ),
        ("npx", ["weather"], "no licence", None, ADVICE["exited"]),
        ("npx", ["weather", "<YOUR_KEY>"], "", None, 'An item of its "args" contains a placeholder; replace it.'),
        (
            "npx",
            ["mcp-remote", "https://h.example/mcp"],
            f"{OLD_NODE}TypeError: Cannot read properties of undefined (reading 'bind')",
            None,
            "Npm says that undici@8.13.1 requires Node.js >=22.19.0, but this is v20.20.2.",
        ),
        ("npx", ["weather"], f"{OLD_NODE}Error: no licence", None, ADVICE["exited"]),
        (
            "uvx",
            ["weather"],
            "ModuleNotFoundError: No module named 'mcp.server.fastmcp'",
            {"insert": ["--with", "mcp<2"], "at": 0},
            f'It{OLDER[2:]}; put "--with", "mcp<2" at the start of its "args" (uvx --with \'mcp<2\' …).',
        ),
        (
            "uvx",
            ["--with", "weather", "forecast"],
            "ImportError: cannot import name 'eval_type_backport' from 'pydantic._internal._typing_extra' (/srv/x.py)",
            {"insert": ["--with", "pydantic<2.14"], "at": 0},
            (
                'It requires an older version of pydantic; put "--with", "pydantic<2.14" at the start of its "args" '
                "(uvx --with 'pydantic<2.14' …)."
            ),
        ),
        (
            "uvx",
            ["--with", "mcp<2", "weather"],
            "ImportError: cannot import name 'stdio_server' from 'mcp.server' (/srv/site-packages/mcp/server/a.py)",
            None,
            "Its Python packages are incompatible with each other; try another version of the server.",
        ),
        (
            "uv",
            ["--directory", "/srv", "run", "server.py"],
            "AttributeError: 'Server' object has no attribute 'list_tools'",
            {"insert": ["--with", "mcp<2"], "at": 3},
            f'It{OLDER[2:]}; put "--with", "mcp<2" after "run" in its "args" (uv … run --with \'mcp<2\' …).',
        ),
        (
            "python",
            ["server.py"],
            "ImportError: cannot import name 'McpError' from 'mcp' (/srv/site-packages/mcp/__init__.py)",
            None,
            f'It{OLDER[2:]}; install the older one where it runs (pip install "mcp<2").',
        ),
        ("node", ["a.js --stdio"], "Error: Cannot find module '/srv/a.js --stdio'", None, SEVERAL),
        ("uvx", ["--from weather-mcp", "w"], "error: unexpected argument '--from weather-mcp' found", None, SEVERAL),
        (
            "npx",
            ["-y", "@weather/server /srv"],
            "npm error enoent Could not read package.json: Error: open '/a/@weather/server /srv/package.json'",
            None,
            SEVERAL,
        ),
        (
            "node",
            ["/srv/My Server - old/a.js"],
            "Error: Cannot find module '/srv/My Server - old/a.js'",
            None,
            "Node cannot find /srv/My Server - old/a.js; is the path right, and was it built?",
        ),
        ("sh", ["-c", "weather --stdio"], "weather: no licence", None, ADVICE["exited"]),
        ("bash", ["-c", "cd /srv && ( npx -y w"], "bash: line 1: `cd /srv && ( npx -y w'", None, ADVICE["exited"]),
        (
            "node",
            [r"C:\Users\me\server.js"],
            r"Error: Cannot find module '/srv/C:\Users\me\server.js'",
            None,
            'A path in its "args" is a Windows path, and this system is not Windows.',
        ),
        (
            "tool",
            [r"--folder=C:\Users\me"],
            "cannot start",
            None,
            'A path in its "args" is a Windows path, and this system is not Windows.',
        ),
    ],
)
async def test_the_advice_for_a_process_that_exited(  # noqa: PLR0917 - the columns of the table
    program: str, args: list[str], says: str, edit: object, advice: str, marked: Marked, tmp_path: Path
) -> None:
    script = tmp_path / program
    script.write_text(f'#!/bin/sh\necho "{says}" >&2; exit 1\n')
    script.chmod(0o755)

    failure = await failed(marked.stdio("tool", str(script), *args), cwd=tmp_path)

    assert (failure.code, failure.advice, failure.facts.get("edit")) == ("exited", advice, edit)


@pytest.mark.parametrize(
    ("command", "args", "shown", "edit"),
    [
        (
            "npx -y 'a b'",
            [],
            'write "command": "npx", "args": ["-y", "a b"]',
            {"command": "npx", "insert": ["-y", "a b"], "at": 0},
        ),
        (["npx", "-y", "weather", "--key", "k"], [], 'write "command": "npx", "args": ["-y", "weather", "…"]', None),
        (["npx"], ["-y"], 'write "command": "npx", "args": ["…"]', None),
    ],
)
async def test_a_whole_command_in_one_field_is_shown_as_an_entry(  # noqa: PLR0917 - the same
    command: Any, args: list[str], shown: str, edit: object, marked: Marked, tmp_path: Path
) -> None:
    failure = await failed({**marked.stdio("tool", "x", *args), "command": command}, cwd=tmp_path)

    assert failure.message.endswith(shown)
    assert failure.facts.get("edit") == edit


async def test_a_variable_that_was_not_expanded_is_suspected_if_a_login_is_refused(
    marked: Marked, tmp_path: Path
) -> None:
    script = "import sys; sys.exit('openai: 401 invalid API key')"
    server = marked.stdio("tool", sys.executable, "-c", script, env={"API_KEY": "${TOKEN}"})
    process = await failed(server, cwd=tmp_path)
    with raw_server(lambda _: [reply(401)]) as web:
        url = f"http://127.0.0.1:{web.port}/mcp"
        headers = await failed(http(url, headers={"X-Key": "a", "Authorization": "Bearer $TOKEN"}), cwd=tmp_path)
        query = await failed(http(f"{url}?key=${{env:TOKEN}}", headers={"Authorization": "Bearer t"}), cwd=tmp_path)
        password = await failed(http(url, headers={"Authorization": "Bearer pa$$W0RD"}), cwd=tmp_path)

    end = "contains a variable that was not expanded (TOKEN); write the value."
    assert process.advice == f"The value of API_KEY {end}"
    assert (headers.advice, query.advice) == (f"Its Authorization header {end}", f"Its URL {end}")
    assert password.advice == "Is its Authorization header still valid?"


@pytest.mark.parametrize(
    ("format_", "entry", "token", "advice"),
    [
        (
            "goose",
            {"type": "streamable_http", "uri": "URL"},
            "$TOKEN",
            " (TOKEN); set it, and list its name in env_keys.",
        ),
        ("cursor", {"url": "URL"}, "$TOKEN", " (TOKEN); write ${env:TOKEN}."),
        ("cursor", {"url": "URL"}, "${env:TOKEN}", " (TOKEN); set it."),
        ("claude-code", {"type": "sse", "url": "URL"}, "$TOKEN", " (TOKEN); write ${TOKEN}."),
        ("claude-code", {"type": "http", "url": "URL"}, "${input:pat}", "; give it a value."),
        ("zed", {"url": "URL"}, "$TOKEN", " (TOKEN); write the value."),
        ("gemini", {"httpUrl": "URL"}, "$TOKEN", " (TOKEN); set it."),
        ("gemini", {"httpUrl": "URL"}, "${TOKEN}", " (TOKEN); set it."),
    ],
)
async def test_the_advice_for_a_variable_is_that_of_the_client(
    format_: str, entry: dict[str, Any], token: str, advice: str, marked: Marked
) -> None:
    with raw_server(lambda _: [reply(401)]) as web:
        holder = format_called(format_).at[0][0]
        filled = {**entry, "headers": {"Authorization": f"Bearer {token}"}}
        text = json.dumps({holder: {"n": filled}}).replace("URL", f"http://127.0.0.1:{web.port}/mcp")
        config = read_config(text, source="f", format=format_, env={})
        async with mcp_launch.launch(config.servers, cwd=Path.cwd(), options=Options(phrases=config.phrases)) as fleet:
            [failure] = fleet.failures

    assert failure.advice == f"Its Authorization header contains a variable that was not expanded{advice}"


@pytest.mark.parametrize(
    ("format_", "entry", "advice"),
    [
        ("zed", {**REFUSED, "env": {"KEY": "<YOUR_API_KEY>"}}, "The value of KEY contains a placeholder; replace it."),
        (
            "zed",
            {**DENIED, "env": {"KEY": "/path/to/your/key.json"}},
            "The value of KEY contains a placeholder; replace it.",
        ),
        ("zed", {**SILENT, "env": {"KEY": "your_password"}}, "The value of KEY contains a placeholder; replace it."),
        (
            "zed",
            {**SILENT, "args": ["-c", "raise SystemExit(1)", "<YOUR_KEY>"]},
            'An item of its "args" contains a placeholder; replace it.',
        ),
        (
            "zed",
            {"command": "/bin/sh", "args": ["-c", "kill -9 $$"], "env": {"KEY": "your_password"}},
            ADVICE["exited"],
        ),
        ("zed", {"command": "/bin/sh", "args": ["-c", "exit $STATUS"], "env": {"STATUS": "1"}}, ADVICE["exited"]),
        ("zed", {**NEEDS_KEY, "env": {"W_KEY": ""}}, "The value of W_KEY is empty."),
        ("zed", {**TELLS_KEY, "env": {"W_KEY": ""}}, "The value of W_KEY is empty."),
        ("claude-code", {"command": "${X_PY}"}, "It {} (X_PY); set it."),
        ("claude-code", {"command": "$HOME/bin/server"}, "It {} (HOME); write ${{HOME}}."),
        ("zed", {"command": "$HOME/bin/server"}, "It {} (HOME); write the value."),
        ("zed", {"command": "/opt/$HOME/bin/server"}, "It {} (HOME); write the value."),
        ("goose", {"cmd": "$HOME/bin/server", "type": "stdio"}, "It {} (HOME); write the value."),
        (
            "claude-code",
            {"command": sys.executable, "args": ["/${X_DIR}/a.py"]},
            "The file /${{X_DIR}}/a.py was not found; its path {} (X_DIR); set it.",
        ),
        (
            "vscode",
            {"command": sys.executable, "args": ["/${workspaceFolder}/a.py"]},
            "The file /${{workspaceFolder}}/a.py was not found; its path {} (workspaceFolder); give it a value.",
        ),
        (
            "zed",
            {"command": sys.executable, "args": ["/$HOME/a.py"]},
            "The file /$HOME/a.py was not found; its path {} (HOME); write the value.",
        ),
        (
            "zed",
            {"command": sys.executable, "args": ["/$home/a.py"]},
            "The file /$home/a.py was not found; is the path right?",
        ),
        ("claude-code", {**REFUSED, "env": {"KEY": "${env:KEY}"}}, "The value of KEY {} (KEY); write ${{KEY}}."),
        ("vscode", {**REFUSED, "env": {"KEY": "${input:tok}"}}, "The value of KEY {}; give it a value."),
        ("zed", {**REFUSED, "env": {"KEY": "$TOKEN"}}, "The value of KEY {} (TOKEN); write the value."),
        ("cursor", {"url": "https://${env:X_HOST}/mcp"}, "/url: {} (X_HOST); set it"),
        ("claude-code", {"type": "http", "url": "${X_URL}"}, "/url: {} (X_URL); set it"),
        ("vscode", {"type": "http", "url": "https://${input:host}/mcp"}, "/url: {}; give it a value"),
    ],
)
async def test_values_that_were_not_filled_in_are_named(
    format_: str, entry: dict[str, Any], advice: str, marked: Marked
) -> None:
    text = json.dumps({format_called(format_).at[0][0]: {"n": entry}})
    config = read_config(text, source="f", format=format_, env={})
    async with mcp_launch.launch(config.servers, cwd=Path.cwd(), options=Options(phrases=config.phrases)) as fleet:
        [failure] = fleet.failures

    said = failure.message if failure.code == "invalid_spec" else failure.advice
    assert said == advice.format("contains a variable that was not expanded")


@pytest.mark.parametrize(
    ("args", "env", "says", "advice"),
    [
        (
            [],
            "/srv/a.json",
            "ENOENT: no such file or directory, open '/srv/a.json'",
            "The path in KEYS {}; is it right?",
        ),
        ([], "~/a.json", "File /srv/~/a.json was not found.", "The path in KEYS {}; {}."),
        (["~/weather"], "", "ERROR: ~/weather does not exist", 'A path in its "args" {}; {}.'),
        (["--db=/srv/w.db"], "", "/srv/w.db doesn't exist", 'A path in its "args" {}; is it right?'),
        (["/srv"], "/srv", "FileNotFoundError: No such file or directory: '/srv/a.json'", ADVICE["exited"]),
        (["me/weather"], "https://h.example", "me/weather not found at https://h.example", ADVICE["exited"]),
        ([], "/srv/a.json", "/srv/a.json is not valid JSON", ADVICE["exited"]),
        ([sys.executable], "", f"section w was not found in {sys.executable}", ADVICE["exited"]),
    ],
)
async def test_a_path_of_the_entry_that_does_not_exist_is_named(  # noqa: PLR0917 - the columns of the table
    args: list[str], env: str, says: str, advice: str, marked: Marked, tmp_path: Path
) -> None:
    script = f"import sys; sys.exit({says!r})"
    server = marked.stdio("tool", sys.executable, "-c", script, *args, env={"KEYS": env})

    failure = await failed(server, cwd=tmp_path)

    assert failure.advice == advice.format("was not found", '"~" is not expanded here; write the full path')


async def test_a_sign_in_page_is_recognized_by_its_title(marked: Marked, tmp_path: Path) -> None:
    page = b"<html><head>" + b"<meta>" * 200 + b"<title>\n Sign in &middot; Example</title></head></html>"
    with raw_server(lambda _: [reply(200, page, content_type="text/html")]) as web:
        failure = await failed(http(f"http://127.0.0.1:{web.port}/mcp"), cwd=tmp_path)

    assert failure.advice == "It is a page for signing in, so the server requires credentials."
    assert '; the page is titled "Sign in \u00b7 Example"; it is a page for signing in' in failure.message


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_wrong_certificates_and_proxies_are_named_with_their_variables(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = http("https://server.invalid/mcp", kind=kind)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pass@127.0.0.1:9")
    dead = await failed(server, cwd=tmp_path)
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "socksio", None)
    socks = await failed(server, cwd=tmp_path)
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such.pem")
    certificates = await failed(server, cwd=tmp_path)

    assert dead.message == "the proxy http://127.0.0.1:9 (HTTPS_PROXY) does not accept connections; is it running?"
    assert (dead.facts["proxy"], dead.facts["proxy_variable"]) == ("http://127.0.0.1:9", "HTTPS_PROXY")
    assert dead.advice.endswith("or correct or unset HTTPS_PROXY.")
    library = {"http": "httpx2", "sse": "httpx"}[kind]
    assert socks.message.startswith("the proxy of HTTPS_PROXY cannot be used: SOCKS")
    assert f'pip install "{library}[socks]"' in socks.advice
    assert certificates.message == (
        'the certificates of SSL_CERT_FILE="/no/such.pem" cannot be used: No such file or directory; '
        "correct or unset SSL_CERT_FILE"
    )
    assert certificates.facts == {"variable": "SSL_CERT_FILE", "path": "/no/such.pem"}


@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        ("exec sleep 60", "timeout", "npx downloads missing packages first, and the proxy http://127.0.0.1:9 does not"),
        (
            "echo npm error code ECONNREFUSED >&2; exit 1",
            "exited",
            "is the proxy http://127.0.0.1:9 (HTTPS_PROXY) right",
        ),
    ],
)
async def test_a_dead_proxy_of_a_package_runner_is_named(
    script: str, code: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    npx = tmp_path / "npx"
    npx.write_text(f"#!/bin/sh\n{script}\n")
    npx.chmod(0o755)
    server = marked.stdio("tool", str(npx), env={"HTTPS_PROXY": "http://user:pass@127.0.0.1:9"})

    failure = await failed(server, cwd=tmp_path)

    assert (failure.code, says in failure.message, says.lower() in failure.advice.lower()) == (code, True, True)


FILE = '{"mcpServers": {"a": {"command": "python-of-this-test", "args": []}}}'


@pytest.mark.parametrize(("format_", "warns"), [("claude-code", False), ("goose", False), ("acp", True)])
async def test_only_acp_requires_absolute_commands(format_: str, warns: bool, marked: Marked, tmp_path: Path) -> None:
    phrases = {each: read_config(FILE, source="f", format=each).phrases for each in ("claude-code", "acp")}
    phrases["goose"] = read_config("extensions: {}", source="f", format="goose").phrases
    server = marked.plain()
    server["command"] = "python-of-this-test"
    (tmp_path / "python-of-this-test").symlink_to(sys.executable)
    server["env"].append({"name": "PATH", "value": str(tmp_path)})
    options = Options(phrases=phrases[format_])

    async with mcp_launch.launch([server], cwd=tmp_path, options=options) as fleet:
        assert fleet["plain"].state == "ready"
        assert [warning.rpartition("; ")[2] for warning in fleet["plain"].warnings] == (
            ["ACP requires an absolute path"] if warns else []
        )
    failure = await failed(marked.stdio("tool", "no-such-program"), cwd=tmp_path, options=options)
    assert ("ACP" in failure.message) is warns
