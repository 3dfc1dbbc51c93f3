"""Whether and when a server that died is started again."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_launch.failures import UnusableInput

__all__ = ["Restart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Start a server again that was ready and died, after a wait that doubles from one time to the next.

    Raises:
        UnusableInput: one of them is negative, or no number.
    """

    tries: int = 5
    """Attempts in a row; they are counted anew once the server has been ready for as long as the `longest` wait."""
    first: float = 0.5
    """Seconds before the first attempt."""
    longest: float = 30.0
    """Seconds that no wait exceeds."""

    def __post_init__(self) -> None:
        for name in ("tries", "first", "longest"):
            value = getattr(self, name)
            # Not `value < 0`, which is false for NaN.
            if not (isinstance(value, int | float) and value >= 0):
                raise UnusableInput(f"{name} must be a number of at least 0, not {value!r}")

    def wait(self, tried: int) -> float | None:
        """Seconds until the next attempt, after `tried` of them; None when the server is given up."""
        # The exponent is bounded, because a float overflows.
        return None if tried >= self.tries else min(self.longest, self.first * 2 ** min(tried, 30))
