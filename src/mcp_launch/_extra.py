"""The modules that the extra `launch` installs; loads none of them."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = (
    "anyio",
    "h11",
    "httpx",
    "httpx2",
    "httpx_sse",
    "jinja2",
    "jsonschema",
    "mcp",
    "prompt_toolkit",
    "rich",
    "ruamel.yaml",
    "tomlkit",
    "typer",
)
"""The modules that the extra installs."""


def what_is_missing(user: str) -> str | None:
    """Return what to install before *user* works; None if nothing is missing."""
    missing = [name for name in NEEDED if not _is_installed(name)]
    return f"{user} needs {', '.join(missing)}: pip install 'acp-bindings[launch]'" if missing else None


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        # `find_spec("ruamel.yaml")` raises if there is no `ruamel`.
        return False
