"""The command `acp-bindings`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command."""
    from acp_bindings.check.command import main as run  # noqa: PLC0415 - `import acp_bindings.__main__` loads nothing

    sys.exit(run())


if __name__ == "__main__":
    main()
