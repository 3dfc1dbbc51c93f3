"""What the other protocol has no place for in a block travels in its `_meta`, and returns from there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from mcp_launch.failures import LaunchError

__all__ = ["KEPT", "ContentError", "Unfit", "fitted"]

T = TypeVar("T")

KEPT = "acp-bindings/kept"
"""The member of `_meta` that holds what the other protocol has no place for, by JSON pointers into the block."""


class ContentError(LaunchError):
    """A block of content that the other protocol cannot express, also not with the help of `_meta`."""


class Unfit(Exception):  # noqa: N818 - no error yet: what is in the way may be kept elsewhere
    """What a block could not be read for: paths into its JSON, and why."""

    def __init__(self, issues: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
        self.issues = list(issues)
        super().__init__("; ".join(f"{'.'.join(map(str, path)) or 'the block'}: {why}" for path, why in self.issues))


def fitted(data: dict[str, Any], read: Callable[[dict[str, Any]], T], *, into: str) -> T:
    """What *read* makes of a block, with the members that it refuses kept in `_meta`."""
    kind, data = data["type"], _restored(data)
    kept: dict[str, Any] = {}
    first: Unfit | None = None
    while True:
        if kept and data.get("_meta") == {}:
            kept["/_meta"] = data.pop("_meta")
        try:
            return read({**data, "_meta": {**(data.get("_meta") or {}), KEPT: kept}} if kept else data)
        except Unfit as unfit:
            first = first or unfit
            taken = [_take(data, path) for path, _ in unfit.issues]
            kept.update(each for each in taken if each)
            if not any(taken):
                raise ContentError(f'{into} cannot express a block of type "{kind}": {first}') from None


def _restored(data: dict[str, Any]) -> dict[str, Any]:
    """The block with what was kept in `_meta` back in its place; as it is, if that is not of our making."""
    meta: dict[str, Any] = data.get("_meta") or {}
    kept = meta.get(KEPT)
    if not kept or not isinstance(kept, dict):
        return data
    whole = copy.deepcopy(data)
    del whole["_meta"][KEPT]
    if not whole["_meta"]:
        del whole["_meta"]
    try:
        for pointer, value in cast("dict[str, Any]", kept).items():
            _put(whole, pointer, value)
    except (LookupError, TypeError, ValueError):
        return data
    return whole


def _put(data: dict[str, Any], pointer: str, value: Any) -> None:
    start, *steps, name = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/"))
    here: Any = data
    for step in steps:
        here = here[int(step) if isinstance(here, list) else step]
    if start or name in here:
        raise ValueError(pointer)
    here[name] = value


def _take(data: dict[str, Any], path: tuple[str | int, ...]) -> tuple[str, Any] | None:
    """Take the member that is meant out of the block: its pointer and its value, or None if it is not there."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    holder: Any = data
    try:
        for step in path[:-1]:
            holder = holder[step]
        value = holder.pop(path[-1])
    except (LookupError, TypeError, AttributeError):
        return None
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path), value
