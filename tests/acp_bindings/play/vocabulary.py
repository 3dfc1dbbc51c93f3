"""The words of the protocol: the classes and the literal values that its types reach, and those in a message."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from acp_bindings import decode
from acp_bindings._json import items_of, members_of
from acp_bindings._models.base import Model

Word = tuple[str, str | None, Any]
"""A class; or a class, a field of it, and one of the values that its type names."""


def words_for_clients(package: ModuleType) -> set[Word]:
    """Return the words in all that clients receive, but for variants that are newer than the schema."""
    found: set[Word] = set()
    seen: set[Any] = set()
    for method in package.METHODS.values():
        for type_ in (method.request, method.notification):
            if type_ and type_.side in ("client", "protocol"):
                found |= set(_reached(type_.params, None, "", seen))
    return found


def words_in(package: ModuleType, message: Any) -> set[Word]:
    """Return the words in a message to a client."""
    method = package.METHODS.get(message.get("method"))
    if method is None:
        return set()
    type_ = method.request if "id" in message else method.notification
    return set(_used(decode(type_.params, message.get("params", {}))))


def _reached(type_: Any, owner: type | None, field: str, seen: set[Any]) -> Iterator[Word]:
    origin = get_origin(type_)
    if isinstance(type_, type) and issubclass(type_, Model):
        if type_ in seen or type_.__name__.startswith("Other") or type_.__name__.endswith("Other"):
            return
        seen.add(type_)
        yield _plain(type_), None, None
        for name, info in type_.__pydantic_fields__.items():
            if name != "meta":
                yield from _reached(info.annotation, type_, name, seen)
    elif origin is Literal and owner is not None:
        yield from ((_plain(owner), field, value) for value in get_args(type_))
    elif origin is Annotated:
        yield from _reached(get_args(type_)[0], owner, field, seen)
    elif origin in (Union, UnionType, list, dict):
        for each in get_args(type_):
            yield from _reached(each, owner, field, seen)


def _plain(type_: type) -> str:
    """Return the name of a class, or the one that it shares with others of the same fields."""
    name = type_.__name__
    if name in ("ToolCall", "ToolCallUpdate", "SessionToolCallUpdate"):
        return "ToolCall"
    return next((each for each in ("DiffChange", "SessionConfigOption") if name.startswith(each)), name)


def _used(value: Any) -> Iterator[Word]:
    if isinstance(value, Model):
        yield _plain(type(value)), None, None
        for name in type(value).__pydantic_fields__:
            item = getattr(value, name)
            for each in items_of(item) or [item]:
                if isinstance(each, str):
                    yield _plain(type(value)), name, each
            yield from _used(item)
    elif isinstance(value, dict):
        for each in members_of(value).values():
            yield from _used(each)
    else:
        for each in items_of(value):
            yield from _used(each)
