"""Whether and when a server that died is started again."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_launch.numbers import refuse_no_numbers

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
        refuse_no_numbers(tries=self.tries, first=self.first, longest=self.longest)

    def wait(self, tried: int) -> float | None:
        """Seconds until the next attempt, after `tried` of them; None when the server is given up."""
        # The exponent is bounded, because a float overflows.
        return None if tried >= self.tries else min(self.longest, self.first * 2 ** min(tried, 30))
