"""Reading a config imports nothing slow, and only the format that it needs."""

from __future__ import annotations

from tests.mcp_launch.support import run_python

HEAVY = {"acp_bindings", "anyio", "asyncio", "dataclasses", "difflib", "httpx", "mcp", "pydantic", "rich", "typer"}


def imported(code: str) -> set[str]:
    done = run_python("-c", f"import sys, mcp_launch.config as c\n{code}\nprint(*sys.modules)")
    assert done.stderr == ""
    return set(done.stdout.split())


def test_nothing_heavy_is_imported() -> None:
    entry = '{"mcpServers": {"a": {"command": "x"}}}'
    there = imported(f"c.write_config(c.read_config('{entry}', source='f', env={{}}), 'vscode')")

    assert there & (HEAVY | {"ruamel.yaml"}) == set()
    home = "mcp_launch.config._formats."
    formats = {each.removeprefix(home) for each in there if each.startswith(home)}
    assert formats == {"format", "map", "claude", "editors"}


def test_the_yaml_library_is_imported_only_for_yaml() -> None:
    assert "ruamel.yaml" in imported("c.read_config('extensions: {}', source='f.yaml', env={})")
