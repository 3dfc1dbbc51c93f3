"""The entry point of `acp-bindings`, which says what to install if the extra is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command."""
    if find_spec("typer") is None:
        sys.stderr.write("acp-bindings needs typer: pip install 'acp-bindings[tools]'\n")
        raise SystemExit(2)
    try:
        from acp_bindings._command.cli import main as run  # noqa: PLC0415 - `import acp_bindings.__main__` loads nothing

        run()
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 raises a RuntimeError instead if Ctrl-C arrives while a class is made.
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):
            raise
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
