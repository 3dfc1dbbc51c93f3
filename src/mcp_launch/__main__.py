"""The command `mcp-launch`, which says what to install when its extra is missing."""

from __future__ import annotations

import gc
import sys
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
"""What the extra brings."""


def main() -> None:
    """Run the command."""
    # Imported here, because what they import may be missing; the signals first, since the rest takes time.
    from mcp_launch.command.signals import exit_on_signals  # noqa: PLC0415

    exit_on_signals()
    if told := what_is_missing("mcp-launch"):
        sys.stderr.write(f"{told}\n")
        raise SystemExit(2)
    from mcp_launch.command import cli  # noqa: PLC0415

    # Most of what is made from now on is imported, and stays: to look through it for garbage, again and again and once
    # more at the end, takes a sixth of the time.
    gc.set_threshold(200_000)
    try:
        cli.main()
    finally:
        gc.freeze()


def what_is_missing(user: str) -> str | None:
    """What to install before *user* can do anything, if that is not all there."""
    missing = [name for name in NEEDED if not _is_there(name)]
    return f"{user} needs {', '.join(missing)}: pip install 'acp-bindings[launch]'" if missing else None


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        # Of a module in a package, when the package is missing too.
        return False


if __name__ == "__main__":
    main()
