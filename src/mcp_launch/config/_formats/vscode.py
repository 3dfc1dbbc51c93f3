"""VS Code: `.vscode/mcp.json` and the user's `mcp.json`, and `mcp` in `settings.json`; comments and trailing commas.

`${env:VAR}`, `${input:id}`, `${workspaceFolder}` and other words of its configuration are replaced everywhere. Source:
"MCP configuration reference" and "Variables reference" of its documentation, and `mcpConfiguration.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_launch._json_values import as_members
from mcp_launch.config import _references as variables
from mcp_launch.config._documents import Path
from mcp_launch.config._formats.format import MEMBERS, Draft, Reading
from mcp_launch.config._formats.map import MapFormat


class VsCode(MapFormat):
    """A map format with `inputs`, and with values of `env` that may be numbers or null."""

    name = "vscode"
    title = "VS Code"
    grammar = "jsonc"
    syntax = variables.VSCODE
    at = (("servers",), ("mcp", "servers"))
    types = {"stdio": "stdio", "http": "http", "sse": "sse"}  # noqa: RUF012 - a Mapping is not written to
    cwd = "cwd"
    others = frozenset({"dev", "gallery", "version", "oauth"})
    unread = frozenset({"envFile", "sandbox", "sandboxEnabled"})
    expands = frozenset({*MEMBERS, "cwd"})
    keeps = ("inputs",)

    def read(self, reading: Reading) -> Iterator[Draft]:
        value = as_members(reading.document.value)
        holder = value if "servers" in value else as_members(value.get("mcp"))
        if "inputs" in holder:
            reading.rest["inputs"] = holder["inputs"]
        return super().read(reading)

    def shape(
        self, name: str, kind: Any, raw: Mapping[str, Any], path: Path, reading: Reading
    ) -> tuple[dict[str, Any], set[str]]:
        env = raw.get("env")
        if isinstance(env, dict):
            raw = {**raw, "env": self._texts(cast("dict[str, Any]", env), name, path, reading)}
        return super().shape(name, kind, raw, path, reading)

    def _texts(self, env: dict[str, Any], name: str, path: Path, reading: Reading) -> dict[str, Any]:
        """The variables, with numbers as texts; null would remove a variable, which ACP cannot do."""
        found: dict[str, Any] = {}
        for variable, value in env.items():
            if value is None:
                message = f"null takes {variable} out of the environment, which is not done here"
                reading.note("not_read", message, path=(*path, "env", variable), server=name)
            else:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                found[variable] = str(value) if is_number else value
        return found


FORMAT = VsCode()
