"""The `server.json` of the MCP registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_launch import UnusableInput
from mcp_launch.config import Config, read_config, write_config
from tests.mcp_launch.config.test_hostile import SAMPLES
from tests.mcp_launch.support import SECRET, run_python

SERVER = {"name": "io.github.ada/w", "description": "d", "version": "1.0.0"}
STDIO = {"version": "1.0.0", "transport": {"type": "stdio"}}


def read(*packages: dict[str, Any], inputs: dict[str, str] | None = None, **more: Any) -> Config:
    text = json.dumps({**SERVER, "packages": list(packages), **more})
    return read_config(text, source="server.json", env={}, inputs=inputs)


def npm(**more: Any) -> dict[str, Any]:
    return {"registryType": "npm", "identifier": "w-mcp", **STDIO, **more}


def words(config: Config) -> list[Any]:
    return [[entry.server["command"], *entry.server["args"]] for entry in config.entries]


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ({"registryType": "npm", "identifier": "@a/w"}, "npx -y @a/w@1.0.0"),
        ({"registryType": "npm", "identifier": "w", "runtimeHint": "bunx"}, "bunx w@1.0.0"),
        (npm(runtimeArguments=[{"type": "positional", "value": "-y"}]), "npx -y w-mcp@1.0.0"),
        (npm(packageArguments=[{"type": "named", "name": "--x", "isRepeated": False}]), "npx -y w-mcp@1.0.0 --x"),
        ({"registryType": "pypi", "identifier": "w", "runtimeHint": "uvx"}, "uvx w==1.0.0"),
        ({"registryType": "oci", "identifier": "ghcr.io/a/w"}, "docker run -i --rm ghcr.io/a/w:1.0.0"),
        ({"registryType": "oci", "identifier": "h:5000/a/w"}, "docker run -i --rm h:5000/a/w:1.0.0"),
        ({"registryType": "oci", "identifier": "h:5000/a/w:2"}, "docker run -i --rm h:5000/a/w:2"),
        ({"registryType": "oci", "identifier": "a/w@sha256:0"}, "docker run -i --rm a/w@sha256:0"),
        ({"registryType": "nuget", "identifier": "W"}, "dnx W@1.0.0 --yes"),
    ],
)
def test_a_package_is_started_by_the_runner_of_its_registry(package: dict[str, Any], command: str) -> None:
    config = read({**STDIO, **package})

    assert (config.findings, [" ".join(each) for each in words(config)]) == ((), [command])


ARGUMENTS: list[dict[str, Any]] = [
    {"type": "positional", "valueHint": "root", "isRequired": True},
    {"type": "named", "name": "--mode", "default": "slow", "choices": ["slow", "fast"]},
    {"type": "named", "name": "--stdio"},
    {"type": "named", "name": "--depth", "description": "optional"},
    {"type": "positional", "value": "{a}/{b}", "variables": {"a": {"default": "x"}}},
]


@pytest.mark.parametrize(
    ("inputs", "args"),
    [
        ({"root": "/r"}, ["/r", "--mode", "slow", "--stdio", "x/{b}"]),
        (
            {"root": "/r", "mode": "fast", "depth": "2", "a": "y"},
            ["/r", "--mode", "fast", "--stdio", "--depth", "2", "y/{b}"],
        ),
        ({}, [None, "--mode", "slow", "--stdio", "x/{b}"]),
    ],
)
def test_inputs_fill_in_arguments(inputs: dict[str, str], args: list[str | None]) -> None:
    config = read(npm(packageArguments=ARGUMENTS), inputs=inputs)

    assert words(config)[0][3:] == args
    assert [each.code for each in config.findings] == ["asks_user"] * (None in args)


def test_a_value_that_is_not_one_of_the_choices_is_refused_with_its_position() -> None:
    with pytest.raises(UnusableInput, match=r"^server\.json:1:\d+: mode must be one of slow, fast$"):
        read(npm(packageArguments=ARGUMENTS), inputs={"mode": SECRET})


def test_only_secret_inputs_in_arguments_are_redacted() -> None:
    arguments = [{"type": "named", "name": f"--{name}", "isSecret": name == "key"} for name in ("key", "root")]
    config = read(npm(packageArguments=arguments), inputs={"key": "k3y", "root": "/r"})

    assert config.entries[0].secrets == ("k3y",)


@pytest.mark.parametrize(
    ("package", "code", "says"),
    [
        ({"registryType": "mcpb", "identifier": "https://h/w.mcpb"}, "not_read", "a bundle is not downloaded here"),
        ({**npm(), "transport": {"type": "sse", "url": "http://h"}}, "not_read", "a package that serves a URL is not"),
        ({**npm(), "runtimeHint": "node"}, "not_read", "only npx or bunx or pnpx can start this package by its name"),
        (
            {"registry_type": "npm", "identifier": "w"},
            "wrong_type",
            'or mcpb; is "registry_type" meant to be registryType?',
        ),
        ({"registryType": "npm"}, "wrong_type", "a package must have an identifier, and a registryType of npm, pypi"),
        (npm(environmentVariables=[{"isRequired": True}]), "wrong_type", "must have a value, or a name by which"),
    ],
)
def test_a_package_that_cannot_be_started_is_a_finding(package: dict[str, Any], code: str, says: str) -> None:
    (found,) = read(package).findings

    assert (found.server, found.code) == ("w", code)
    assert says in found.message


def test_a_finding_about_a_package_has_the_position_of_the_field() -> None:
    text = '{"name": "w", "packages": [\n  {"registryType": "npm", "identifier": "w", "runtimeHint": "node"}]}'
    (found,) = read_config(text, source="server.json").findings

    assert found.place == (2, 46)


def test_the_response_of_the_registry_is_read_too() -> None:
    text = json.dumps({"server": {**SERVER, "remotes": [{"type": "sse", "url": "https://h/sse"}]}, "_meta": {}})

    assert read_config(text, source="standard input").servers == [
        {"type": "sse", "name": "w", "url": "https://h/sse", "headers": []}
    ]


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("npx -y @a/w@1.2.0 --flag x", {"registryType": "npm", "identifier": "@a/w", "version": "1.2.0"}),
        ("npx.cmd -y w@1", {"registryType": "npm", "runtimeHint": "npx"}),
        ("npx -y --registry https://r/ w@1", {"registryType": "npm", "identifier": "w", "version": "1"}),
        ("uvx --with w==1 run-w==2", {"registryType": "pypi", "identifier": "run-w", "version": "2"}),
        (
            "docker run -i --rm -e TOKEN -v /a:/b ghcr.io/a/w:1 x",
            {"registryType": "oci", "identifier": "ghcr.io/a/w:1"},
        ),
        ("dnx W@1.0.0 --yes -- mcp", {"registryType": "nuget", "identifier": "W", "version": "1.0.0"}),
    ],
)
def test_a_command_becomes_a_package_and_the_same_command_again(command: str, package: dict[str, str]) -> None:
    program, *args = command.split()
    entry = {"command": program, "args": args, "env": {"TOKEN": "${TOKEN}"}}
    given = read_config(json.dumps({"mcpServers": {"w": entry}}), source=".mcp.json", env={})
    text, lost = write_config(given, "registry")
    (written,) = json.loads(text)["packages"]

    assert [each.server for each in lost] == [None]
    assert written | package == written
    assert "-e" not in [each["value"] for each in written.get("runtimeArguments", [])]
    assert written["environmentVariables"] == [{"name": "TOKEN", "isRequired": True, "isSecret": True}]
    again = read_config(text, source="server.json", env={}, inputs={"TOKEN": "t"})
    assert sorted(words(again)[0]) == sorted(command.replace(".cmd", "").split())
    assert again.findings == ()


def test_a_variable_in_an_option_of_docker_is_kept() -> None:
    args = ["run", "-e", "TOKEN=${TOKEN}", "--env", "${PAIR}", "w:1"]
    entry = {"command": "docker", "args": args}
    given = read_config(json.dumps({"mcpServers": {"w": entry}}), source=".mcp.json", env={})
    (package,) = json.loads(write_config(given, "registry")[0])["packages"]

    assert [each["value"] for each in package["runtimeArguments"]] == ["-e", "TOKEN={TOKEN}", "--env", "{PAIR}"]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"command": "/opt/w", "args": ["x@1"]}, "commands other than npx, uvx, docker or dnx with a package"),
        ({"command": "npx", "args": ["-y"]}, "commands other than npx, uvx, docker or dnx with a package"),
        ({"command": "uvx", "args": ["--from", "git+https://h/w", "serve"]}, "whose package is named by an option"),
        ({"command": "uvx", "args": ["--from=w", "serve==1"]}, "whose package is named by an option"),
        ({"command": "npx", "args": ["-y", "-p", "w", "serve@1"]}, "whose package is named by an option"),
        ({"command": "npx", "args": ["w"]}, "requires the version of a package; add one"),
        ({"command": "npx", "args": ["w@latest"]}, "requires the version of a package; add one"),
        ({"type": "ws", "url": "ws://h"}, "servers of this type"),
    ],
)
def test_what_a_server_json_cannot_express_is_reported(entry: dict[str, Any], says: str) -> None:
    config = read_config(json.dumps({"mcpServers": {"w": entry}}), source=".mcp.json", env={})

    (found,) = [each for each in write_config(config, "registry")[1] if each.server]
    assert says in found.message


def test_the_second_server_is_left_out() -> None:
    servers = {name: {"type": "http", "url": f"https://{name}.example/mcp"} for name in "ab"}
    text, lost = write_config(read_config(json.dumps({"mcpServers": servers}), source="f", env={}), "registry")

    assert [each["url"] for each in json.loads(text)["remotes"]] == ["https://a.example/mcp"]
    assert [(each.server, each.code) for each in lost] == [(None, "not_said"), ("b", "left_out")]


def test_the_inputs_become_those_of_vscode() -> None:
    config = read_config((SAMPLES / "server.json").read_text("utf-8"), source="server.json", env={})
    text, lost = write_config(config, "vscode")

    value = json.loads(text)
    assert value["servers"]["weather-npm"]["env"] == {"WEATHER_KEY": "${input:WEATHER_KEY}"}
    assert {"type": "promptString", "id": "token", "password": True} in value["inputs"]
    assert "variable_not_said" not in [each.code for each in lost]
    given = read_config(text, source=".vscode/mcp.json", env={}, inputs={"WEATHER_KEY": "k"})
    assert given.servers[0]["env"] == [{"name": "WEATHER_KEY", "value": "k"}]


def test_the_inputs_of_vscode_become_inputs() -> None:
    prompt = {"type": "promptString", "id": "key", "description": "The key", "password": True}
    choices = ["a", {"label": "B", "value": "b"}]
    pick = {"type": "pickString", "id": "mode", "options": choices, "default": "a", "password": False}
    run = {"type": "command", "id": "name", "command": "ask.name"}
    headers = {"Authorization": "Bearer ${input:key}", "Mode": "${input:mode}", "Name": "${input:name}"}
    server = {"type": "http", "url": "https://h.example/mcp", "headers": headers}
    file = json.dumps({"inputs": [prompt, pick, run, {**run, "id": "unused"}], "servers": {"w": server}})
    text, lost = write_config(read_config(file, source=".vscode/mcp.json", env={}), "registry")

    assert [each["variables"] for each in json.loads(text)["remotes"][0]["headers"]] == [
        {"key": {"isRequired": True, "description": "The key", "isSecret": True}},
        {"mode": {"default": "a", "choices": ["a", "b"]}},
        {"name": {"isRequired": True}},
    ]
    assert [each.message for each in lost][:-1] == [
        "server.json does not support the command of the input name; it was omitted"
    ]


def command(*arguments: str) -> Any:
    return run_python("-m", "mcp_launch", *arguments)


def test_set_gives_inputs_on_the_command_line(tmp_path: Path) -> None:
    package = npm(environmentVariables=[{"name": "KEY", "isRequired": True, "isSecret": True}])
    file = tmp_path / "server.json"
    file.write_text(json.dumps({**SERVER, "packages": [package]}))

    missing = command("check", str(file))
    assert missing.returncode == 1
    assert "/environmentVariables/0/value: has no value (of KEY)" in missing.stdout
    assert "server.json asks the user for {KEY}; pass --set KEY=VALUE" in missing.stderr
    unknown = command("tools", str(file), "--set", "KYE=x")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        'mcp-launch: --set KYE: no file asks for this; did you mean "KEY"?\n',
    )
    listed = command("check", "--list", str(file), "--set", f"KEY={SECRET}")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert SECRET not in listed.stdout
