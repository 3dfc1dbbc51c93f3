"""Broken config files: what each says, and its entry after the fix, or None if no edit may be proposed.

`DIR` is the project, `BIN` the directory of the programs, `HOME` the home directory, `WEB` the origin of a server.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Broken(NamedTuple):
    """A file with one broken server, and the entry that makes it work."""

    about: str
    path: str
    text: str
    fixed: Any
    asks: bool = False
    """True if it is only fixed with --trust."""


def _map(member: str, entry: str) -> str:
    return f'{{\n  "{member}": {{\n    "one": {entry}\n  }}\n}}\n'


def desktop(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    return Broken(f"desktop {about}", "claude_desktop_config.json", _map("mcpServers", entry), fixed, **more)


def claude(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    return Broken(f"claude {about}", ".mcp.json", _map("mcpServers", entry), fixed, **more)


def vscode(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    text = _map("servers", entry).replace("{\n", "{\n  // mine\n", 1).replace("}\n  }", "},\n  }")
    return Broken(f"vscode {about}", ".vscode/mcp.json", text, fixed, **more)


def cursor(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    return Broken(f"cursor {about}", ".cursor/mcp.json", _map("mcpServers", entry), fixed, **more)


def windsurf(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    return Broken(f"windsurf {about}", "mcp_config.json", _map("mcpServers", entry), fixed, **more)


def zed(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    text = _map("context_servers", entry).replace("{\n", '{\n  /* look */ "theme": "dark",\n', 1)
    return Broken(f"zed {about}", ".zed/settings.json", text, fixed, **more)


def gemini(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    text = _map("mcpServers", entry).replace("{\n", "{ // settings\n", 1)
    return Broken(f"gemini {about}", ".gemini/settings.json", text, fixed, **more)


def goose(about: str, lines: str, fixed: Any, **more: bool) -> Broken:
    indented = "".join(f"    {line}\n" for line in lines.split("\n"))
    return Broken(f"goose {about}", "goose/config.yaml", f"# mine\nextensions:\n  one:\n{indented}", fixed, **more)


def codex(about: str, lines: str, fixed: Any, **more: bool) -> Broken:
    text = f'model = "x"  # mine\n\n[mcp_servers.one]\n{lines}\n'
    return Broken(f"codex {about}", ".codex/config.toml", text, fixed, **more)


def acp(about: str, entry: str, fixed: Any, **more: bool) -> Broken:
    return Broken(f"acp {about}", "request.json", f'{{"cwd": "DIR", "mcpServers": [\n  {entry}\n]}}\n', fixed, **more)


SERVER = "DIR/tools/server.py"
PYTHON = {"command": "python3", "args": [SERVER]}
MEMORY = "@modelcontextprotocol/server-memory"

BROKEN = (
    # A command line, and members with another name or type.
    desktop("one string", f'{{"command": "python3 {SERVER}"}}', PYTHON),
    claude(
        "one string, args", f'{{"command": "npx -y", "args": ["{MEMORY}"]}}', {"command": "npx", "args": ["-y", MEMORY]}
    ),
    claude("args as a string", f'{{"command": "python3", "args": "{SERVER}"}}', PYTHON),
    vscode("command as a list", f'{{"command": ["python3", "{SERVER}"]}}', PYTHON),
    zed("older command in a string", f'{{"command": {{"path": "python3 {SERVER}"}}}}', None),
    cursor("misspelled command", f'{{"comand": "python3", "args": ["{SERVER}"]}}', PYTHON),
    cursor(
        "cmd and a comment",
        f'{{"comment": "mine", "cmd": "python3", "args": ["{SERVER}"]}}',
        {"comment": "mine", **PYTHON},
    ),
    cursor(
        "cmd beside the command",
        f'{{"cmd": "x", "command": "python3 {SERVER}"}}',
        {"cmd": "x", **PYTHON},
    ),
    windsurf("cmd and arguments", f'{{"cmd": "python3", "arguments": ["{SERVER}"]}}', PYTHON),
    goose(
        "command",
        f"type: stdio\ncommand: python3\nargs:\n  - {SERVER}",
        {"type": "stdio", "cmd": "python3", "args": [SERVER]},
    ),
    gemini(
        "a number in env",
        f'{{"command": "python3", "args": ["{SERVER}"], "env": {{"PORT": 80}}}}',
        {**PYTHON, "env": {"PORT": "80"}},
    ),
    claude(
        "a boolean in env",
        f'{{"command": "python3", "args": ["{SERVER}"], "env": {{"ON": true}}}}',
        {**PYTHON, "env": {"ON": "true"}},
    ),
    claude(
        "a number in args",
        f'{{"command": "python3", "args": ["{SERVER}", "works", 8]}}',
        {"command": "python3", "args": [SERVER, "works", "8"]},
    ),
    cursor(
        "env as a list",
        f'{{"command": "python3", "args": ["{SERVER}"], "env": ["A=b"]}}',
        {**PYTHON, "env": {"A": "b"}},
    ),
    acp(
        "env as a map",
        f'{{"name": "one", "command": "BIN/python3", "args": ["{SERVER}"], "env": {{"A": "b"}}}}',
        {"name": "one", "command": "BIN/python3", "args": [SERVER], "env": [{"name": "A", "value": "b"}]},
    ),
    acp(
        "a type of stdio for a URL",
        '{"type": "stdio", "name": "one", "url": "WEB/mcp", "headers": []}',
        {"type": "http", "name": "one", "url": "WEB/mcp", "headers": []},
    ),
    # Programs and paths.
    desktop(
        "a path of another machine",
        f'{{"command": "/opt/homebrew/bin/python3", "args": ["{SERVER}"]}}',
        {"command": "BIN/python3", "args": [SERVER]},
    ),
    claude(
        "a misspelled runner",
        f'{{"command": "nxp", "args": ["-y", "{MEMORY}"]}}',
        {"command": "BIN/npx", "args": ["-y", MEMORY]},
    ),
    vscode(
        "a program that is not on PATH",
        '{"command": "deno", "args": ["works"]}',
        {"command": "HOME/.local/bin/deno", "args": ["works"]},
    ),
    cursor("Windows' shell", f'{{"command": "cmd", "args": ["/c", "python3", "{SERVER}"]}}', PYTHON),
    claude("quotes in the command", f'{{"command": "\\"python3\\"", "args": ["{SERVER}"]}}', PYTHON),
    goose(
        "a tilde in cmd",
        "type: stdio\ncmd: ~/project/tools/serve.sh\nargs: []",
        {"type": "stdio", "cmd": "DIR/tools/serve.sh", "args": []},
    ),
    windsurf("a tilde in args", '{"command": "python3", "args": ["~/project/tools/server.py"]}', PYTHON),
    desktop("a relative path", '{"command": "python3", "args": ["tools/server.py"]}', PYTHON),
    claude("a path of Windows", '{"command": "python3", "args": ["tools\\\\server.py"]}', PYTHON),
    desktop("a path with another suffix", '{"command": "python3", "args": ["DIR/tools/server.js"]}', None),
    windsurf(
        "a relative command", '{"command": "tools/serve.sh", "args": []}', {"command": "DIR/tools/serve.sh", "args": []}
    ),
    vscode(
        "a path in the project with another cwd",
        '{"command": "python3", "args": ["tools/server.py"], "cwd": "HOME"}',
        {**PYTHON, "cwd": "HOME"},
    ),
    claude("a misspelled path", '{"command": "python3", "args": ["DIR/tools/servr.py"]}', PYTHON, asks=True),
    vscode("another case", '{"command": "python3", "args": ["DIR/tools/Server.py"]}', PYTHON, asks=True),
    desktop(
        "a script that is not executable",
        '{"command": "DIR/tools/plain.sh"}',
        {"command": "sh", "args": ["DIR/tools/plain.sh"]},
    ),
    claude("a Python script as the command", f'{{"command": "{SERVER}"}}', PYTHON),
    goose(
        "the wrong Python for a script in another directory",
        "type: stdio\ncmd: python3\nargs: [HOME/scripts/src/needs.py]",
        {"type": "stdio", "cmd": "HOME/scripts/.venv/bin/python", "args": ["HOME/scripts/src/needs.py"]},
    ),
    claude(
        "the wrong Python",
        '{"command": "python3", "args": ["DIR/tools/needs.py"]}',
        {"command": "DIR/.venv/bin/python", "args": ["DIR/tools/needs.py"]},
    ),
    gemini(
        "a directory that is misspelled",
        '{"command": "python3", "args": ["server.py"], "cwd": "DIR/tool"}',
        {"command": "python3", "args": ["server.py"], "cwd": "DIR/tools"},
        asks=True,
    ),
    vscode(
        "a directory as a URL",
        '{"command": "python3", "args": ["server.py"], "cwd": "file://DIR/tools"}',
        {"command": "python3", "args": ["server.py"], "cwd": "DIR/tools"},
    ),
    # Packages and their runners.
    claude(
        "a misspelled npm package",
        '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memry"]}',
        {"command": "npx", "args": ["-y", MEMORY]},
        asks=True,
    ),
    cursor(
        "a misspelled PyPI package",
        '{"command": "uvx", "args": ["mcp-server-tme"]}',
        {"command": "uvx", "args": ["mcp-server-time"]},
        asks=True,
    ),
    desktop(
        "npx for a PyPI package",
        '{"command": "npx", "args": ["-y", "mcp-server-fetch"]}',
        {"command": "uvx", "args": ["mcp-server-fetch"]},
        asks=True,
    ),
    vscode(
        "uvx for an npm package",
        '{"command": "uvx", "args": ["weather-mcp"]}',
        {"command": "npx", "args": ["-y", "weather-mcp"]},
        asks=True,
    ),
    gemini(
        "uvx for an npm package with a scope",
        '{"command": "uvx", "args": ["@modelcontextprotocol/server-memory"]}',
        {"command": "npx", "args": ["-y", MEMORY]},
        asks=True,
    ),
    claude(
        "a version that is not there",
        '{"command": "npx", "args": ["-y", "-p", "weather-mcp@99.0.0", "weather-mcp"]}',
        {"command": "npx", "args": ["-y", "-p", "weather-mcp", "weather-mcp"]},
    ),
    goose(
        "a version that is not there",
        "type: stdio\ncmd: uvx\nargs: [--python, '3.12', weather-tool==99]",
        {"type": "stdio", "cmd": "uvx", "args": ["--python", "3.12", "weather-tool"]},
    ),
    claude(
        "the SDK's version 2",
        '{"command": "uvx", "args": ["old-sdk"]}',
        {"command": "uvx", "args": ["--with", "mcp<2", "old-sdk"]},
    ),
    zed(
        "the SDK's version 2, uv",
        '{"command": "uv", "args": ["run", "old-sdk"]}',
        {"command": "uv", "args": ["run", "--with", "mcp<2", "old-sdk"]},
    ),
    gemini(
        "a newer Python",
        '{"command": "uvx", "args": ["new-python"]}',
        {"command": "uvx", "args": ["--python", "3.12", "new-python"]},
    ),
    claude(
        "another program in the package",
        '{"command": "uvx", "args": ["toolbox"]}',
        {"command": "uvx", "args": ["--from", "toolbox", "toolbox-mcp"]},
    ),
    claude(
        "npm for npx", '{"command": "npm", "args": ["weather-mcp"]}', {"command": "npx", "args": ["-y", "weather-mcp"]}
    ),
    cursor(
        "node for npx",
        '{"command": "node", "args": ["-y", "weather-mcp"]}',
        {"command": "npx", "args": ["-y", "weather-mcp"]},
    ),
    desktop(
        "a command line for a shell",
        '{"command": "sh", "args": ["npx -y weather-mcp"]}',
        {"command": "sh", "args": ["-c", "npx -y weather-mcp"]},
    ),
    claude(
        "docker with a terminal",
        '{"command": "docker", "args": ["run", "-it", "--rm", "me/mcp"]}',
        {"command": "docker", "args": ["run", "-i", "--rm", "me/mcp"]},
    ),
    claude(
        "docker with a terminal, in words",
        '{"command": "docker", "args": ["run", "--rm", "--tty", "me/mcp"]}',
        {"command": "docker", "args": ["run", "-i", "--rm", "me/mcp"]},
    ),
    windsurf(
        "an argument for stdio",
        '{"command": "npx", "args": ["-y", "chatty-mcp"]}',
        {"command": "npx", "args": ["-y", "chatty-mcp", "--transport", "stdio"]},
    ),
    claude(
        "two mistakes",
        '{"command": "npx -y @modelcontextprotocol/server-memry"}',
        {"command": "npx", "args": ["-y", MEMORY]},
        asks=True,
    ),
    # Variables.
    desktop(
        "a misspelled variable",
        '{"command": "npx", "args": ["-y", "keyed-mcp"], "env": {"WEATHERKEY": "x"}}',
        {"command": "npx", "args": ["-y", "keyed-mcp"], "env": {"WEATHER_KEY": "x"}},
    ),
    claude(
        "a missing variable",
        '{"command": "npx", "args": ["-y", "keyed-mcp"]}',
        {"command": "npx", "args": ["-y", "keyed-mcp"], "env": {"WEATHER_KEY": "${WEATHER_KEY}"}},
        asks=True,
    ),
    claude(
        "one of two variables is missing",
        '{"command": "npx", "args": ["-y", "keyed-mcp"], "env": {"WEATHER_KEYS": "x"}}',
        {"command": "npx", "args": ["-y", "keyed-mcp"], "env": {"WEATHER_KEYS": "x", "WEATHER_KEY": "${WEATHER_KEY}"}},
        asks=True,
    ),
    goose(
        "a missing variable",
        "type: stdio\ncmd: npx\nargs: [-y, keyed-mcp]\nenv_keys: [TOKEN]",
        {"type": "stdio", "cmd": "npx", "args": ["-y", "keyed-mcp"], "env_keys": ["TOKEN", "WEATHER_KEY"]},
        asks=True,
    ),
    claude(
        "a variable that is not set",
        '{"command": "python3", "args": ["-c", "import os; os.environ[\'NO_KEY\']"]}',
        None,
    ),
    cursor(
        "a misspelled reference",
        '{"url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer ${env:WEATHERKEY}"}}',
        {"url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer ${env:WEATHER_KEY}"}},
        asks=True,
    ),
    desktop("a variable that cannot be passed on", '{"command": "npx", "args": ["-y", "keyed-mcp"]}', None),
    # URLs.
    claude("without a path", '{"type": "http", "url": "WEB"}', {"type": "http", "url": "WEB/mcp"}),
    cursor("another path", '{"url": "WEB/api"}', {"url": "WEB/mcp"}),
    gemini("sse for http", '{"type": "sse", "url": "WEB/mcp"}', {"httpUrl": "WEB/mcp"}),
    claude("sse for http", '{"type": "sse", "url": "WEB/mcp"}', {"type": "http", "url": "WEB/mcp"}),
    acp(
        "the path of SSE",
        '{"type": "sse", "name": "one", "url": "WEB/sse", "headers": []}',
        {"type": "http", "name": "one", "url": "WEB/mcp", "headers": []},
    ),
    goose("no scheme", "type: streamable_http\nuri: 'HOST/mcp'", {"type": "streamable_http", "uri": "WEB/mcp"}),
    vscode("a URL as the command", '{"command": "WEB/mcp", "args": []}', {"type": "http", "url": "WEB/mcp"}),
    desktop(
        "a URL as the command",
        '{"command": "WEB/mcp"}',
        {"command": "npx", "args": ["-y", "mcp-remote", "WEB/mcp"]},
        asks=True,
    ),
    windsurf("https on this machine", '{"serverUrl": "httpsWEB/mcp"}', {"serverUrl": "WEB/mcp"}),
    claude(
        "no Bearer",
        '{"type": "http", "url": "WEB/guarded/mcp", "headers": {"Authorization": "SECRET"}}',
        {"type": "http", "url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer SECRET"}},
    ),
    vscode(
        "a misspelled header",
        '{"type": "http", "url": "WEB/guarded/mcp", "headers": {"Authorisation": "Bearer SECRET"}}',
        {"type": "http", "url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer SECRET"}},
    ),
    claude(
        "a header with a colon",
        '{"type": "http", "url": "WEB/mcp", "headers": {"X-Key:": "SECRET"}}',
        {"type": "http", "url": "WEB/mcp", "headers": {"X-Key": "SECRET"}},
    ),
    cursor(
        "a variable of another client",
        '{"url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer $TOKEN"}}',
        {"url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
    ),
    # No edit helps, or none may be tried.
    claude(
        "a redirect to another host",
        '{"type": "http", "url": "WEB/to/http/localhost/PORT", "headers": {"A": "SECRET"}}',
        {"type": "http", "url": "WEB/mcp", "headers": {"A": "SECRET"}},
    ),
    claude(
        "a token that is wrong",
        '{"type": "http", "url": "WEB/guarded/mcp", "headers": {"Authorization": "Bearer no"}}',
        None,
    ),
    desktop("a program that nobody has", '{"command": "/no/such/program", "args": ["x"]}', None),
    claude("a package that nobody has", '{"command": "npx", "args": ["-y", "no-such-thing"]}', None),
    vscode(
        "another name of this machine",
        '{"type": "http", "url": "WEB/local/mcp"}',
        {"type": "http", "url": "localWEB/local/mcp"},
    ),
    vscode("nothing listens", '{"type": "http", "url": "http://127.0.0.1:9/mcp"}', None),
    zed("a crash", '{"command": "python3", "args": ["-c", "raise SystemExit(3)"]}', None),
    cursor("an echo", '{"command": "cat"}', None),
    codex("one string", f'command = "python3 {SERVER}"  # note', {"command": "python3", "args": [SERVER]}),
    codex("misspelled", f'comand = "python3"\nargs = ["{SERVER}"]', {"command": "python3", "args": [SERVER]}),
    codex(
        "a missing variable",
        'command = "npx"\nargs = ["-y", "keyed-mcp"]',
        {"command": "npx", "args": ["-y", "keyed-mcp"], "env_vars": ["WEATHER_KEY"]},
        asks=True,
    ),
    codex(
        "headers of another client",
        'url = "WEB/guarded/mcp"\nHeaders = { Authorization = "Bearer SECRET" }',
        {"url": "WEB/guarded/mcp", "http_headers": {"Authorization": "Bearer SECRET"}},
    ),
    codex("no scheme", 'url = "HOST/mcp"', {"url": "WEB/mcp"}),
    goose("anchors", "type: stdio\ncmd: &cmd python3 DIR/tools/server.py\ndescription: *cmd", None),
)
