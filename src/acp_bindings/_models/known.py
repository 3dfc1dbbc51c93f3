"""Members of a message that its class declares: by any other name there may be an unknown member of the peer's."""

from __future__ import annotations

from typing import Any

__all__ = ["known_member"]


def known_member(message: object, name: str) -> Any:
    """The member of *message* with the Python name *name*; None where its class has no such member."""
    return getattr(message, name) if name in getattr(type(message), "__pydantic_fields__", ()) else None
