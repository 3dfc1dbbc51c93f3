"""The command `mcp-launch`, which says what to install when its extra is missing."""

from __future__ import annotations

import gc
import sys

from mcp_launch._extra import what_is_missing


def main() -> None:
    """Run the command."""
    # Imported here, because what they import may be missing; the signals first, since the rest takes time.
    from mcp_launch._command.signals import exit_on_signals  # noqa: PLC0415

    exit_on_signals()
    if told := what_is_missing("mcp-launch"):
        sys.stderr.write(f"{told}\n")
        raise SystemExit(2)
    from mcp_launch._command import cli  # noqa: PLC0415

    # Nearly all objects made from now on belong to imported modules, and stay. To search them for garbage again and
    # again, and once more at the end, would take a sixth of the time.
    gc.set_threshold(200_000)
    try:
        cli.main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
