"""Numbers that callers give, who may use no type checker."""

from __future__ import annotations

from mcp_launch.failures import UnusableInput

__all__ = ["refuse_no_numbers"]


def refuse_no_numbers(**given: object) -> None:
    """Refuse, by the name of its argument, what is no number of at least 0: nobody would wait for it in the end.

    Raises:
        UnusableInput: one of them is negative, NaN, or no number.
    """
    for argument, value in given.items():
        # Not `value < 0`, which is false for NaN.
        if not (isinstance(value, int | float) and value >= 0):
            raise UnusableInput(f"{argument} must be a number of at least 0, not {value!r}")
