"""What the class of a message knows of it: a peer may have sent anything else under any name, also one of Python's."""

from __future__ import annotations

from typing import Any

__all__ = ["known_member"]


def known_member(message: object, name: str) -> Any:
    """The member *name* of a *message*, by its Python name; None where its class has none."""
    return getattr(message, name) if name in getattr(type(message), "__pydantic_fields__", ()) else None
