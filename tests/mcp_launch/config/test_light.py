"""Reading a config imports nothing slow."""

from __future__ import annotations

from tests.mcp_launch.support import run_python

HEAVY = {"anyio", "asyncio", "dataclasses", "difflib", "httpx", "mcp", "pydantic", "rich", "typer"}


def imported(code: str) -> set[str]:
    done = run_python("-c", f"import sys, mcp_launch.config as c\n{code}\nprint(*sys.modules)")
    assert done.stderr == ""
    return set(done.stdout.split())


def test_heavy_modules_are_not_imported() -> None:
    entry = '{"mcpServers": {"a": {"command": "x"}}}'
    there = imported(f"c.write_config(c.read_config('{entry}', source='f', env={{}}), 'vscode')")

    assert there & (HEAVY | {"ruamel.yaml", "tomlkit", "tomllib"}) == set()


def test_the_yaml_library_is_imported_only_for_yaml() -> None:
    assert "ruamel.yaml" in imported("c.read_config('extensions: {}', source='f.yaml', env={})")


def test_the_names_of_the_package_are_known_before_they_are_loaded() -> None:
    assert "mcp_launch.config._edit" not in imported("assert set(c.__all__) <= set(dir(c))")
