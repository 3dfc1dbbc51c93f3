"""The command `mcp-launch`; if its extra is missing, it says what to install."""

from __future__ import annotations

import gc
import sys

from mcp_launch._extra import what_is_missing


def main() -> None:
    """Run the command."""
    # Imported here because their dependencies may be missing; signals first, because the rest takes time.
    from mcp_launch._command.signals import exit_on_signals  # noqa: PLC0415

    exit_on_signals()
    if message := what_is_missing("mcp-launch"):
        sys.stderr.write(f"{message}\n")
        raise SystemExit(2)
    from mcp_launch._command import cli  # noqa: PLC0415

    # Nearly all objects created from here on belong to imported modules and stay. Searching them for garbage again
    # and again, and once more at the end, would take a sixth of the time.
    gc.set_threshold(200_000)
    try:
        cli.main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
