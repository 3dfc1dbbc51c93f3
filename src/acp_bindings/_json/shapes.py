"""JSON that came from elsewhere and may have any shape, looked into without asking each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast


def members_of(value: Any) -> dict[str, Any]:
    """The members of an object; of anything else none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; of anything else none."""
    return [*cast("Iterable[Any]", value)] if isinstance(value, list) else []
