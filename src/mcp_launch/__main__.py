"""The command `mcp-launch`, which says what to install when its extra is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("anyio", "h11", "httpx", "httpx2", "httpx_sse", "jinja2", "mcp", "rich", "typer")
"""What the extra brings."""


def main() -> None:
    """Run the command."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        sys.stderr.write(f"mcp-launch needs {', '.join(missing)}: pip install 'acp-bindings[launch]'\n")
        raise SystemExit(2)
    try:
        from mcp_launch.command.cli import app  # noqa: PLC0415 - what it imports may be missing, see above

        app(prog_name="mcp-launch")
    except KeyboardInterrupt:
        # While it was being imported; later the command has its own way to stop.
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
