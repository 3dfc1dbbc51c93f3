"""The entry point of `mcp-launch`, which says what to install if the extra is missing."""

from __future__ import annotations

import gc
import sys

from mcp_launch._extra import what_is_missing


def main() -> None:
    """Run the command."""
    # Imported here, because their dependencies may be missing; the signals first, because the rest takes time.
    from mcp_launch._command.signals import exit_if_signalled, exit_on_signals  # noqa: PLC0415

    exit_on_signals()
    if message := what_is_missing("mcp-launch"):
        sys.stderr.write(f"{message}\n")
        raise SystemExit(2)
    # Nearly all new objects belong to imported modules and live until the end. Collecting garbage among them would take
    # a sixth of the time.
    gc.set_threshold(200_000)
    try:
        from mcp_launch._command import cli  # noqa: PLC0415

        cli.main()
    except Exception:
        exit_if_signalled()
        raise
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
