"""What the exit status of a process says."""

from __future__ import annotations

import signal

__all__ = ["how_it_ended", "signal_name"]


def how_it_ended(status: int) -> str:
    """How a process left, to stand behind its name."""
    return f"was ended by {signal_name(status)}" if status < 0 else f"exited with status {status}"


def signal_name(status: int) -> str:
    """The signal that a negative status stands for, as far as this system knows it."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
