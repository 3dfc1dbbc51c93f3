"""What the extra `launch` installs, and what of it is missing. Loads nothing of it."""

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
    "typer",
)
"""The modules that the extra installs."""


def what_is_missing(user: str) -> str | None:
    """What to install before *user* can do anything, if that is not all there."""
    missing = [name for name in NEEDED if not _is_installed(name)]
    return f"{user} needs {', '.join(missing)}: pip install 'acp-bindings[launch]'" if missing else None


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        # `find_spec("ruamel.yaml")` raises when there is no `ruamel` either.
        return False
