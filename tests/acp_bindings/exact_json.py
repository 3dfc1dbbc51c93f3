"""JSON values compared without Python's leniency: 1 is not 1.0, 0 is not false, -0.0 is not 0.0."""

import json
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Any


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Return True if the value is an object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Return True if the value is an array."""
    return isinstance(value, list)


def same(left: Json, right: Json) -> bool:
    """Compare two JSON documents; only the order of object members does not matter."""
    if type(left) is not type(right):
        return False
    if is_object(left):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if is_array(left):
        return len(left) == len(right) and all(map(same, left, right))
    # -0.0 == 0.0, yet they are two documents: their spelling distinguishes them. NaN is not JSON.
    return left == right and (not isinstance(left, float) or repr(left) == repr(right))


def difference(left: Json, right: Json, path: str = "") -> str:
    """Return the first place where two JSON values differ; empty if they do not."""
    if same(left, right):
        return ""
    if is_object(left) and is_object(right):
        for name in {**left, **right}:
            if name not in right:
                return f"{path}/{name}: {spell(left[name])} became nothing"
            if name not in left:
                return f"{path}/{name}: nothing became {spell(right[name])}"
            if found := difference(left[name], right[name], f"{path}/{name}"):
                return found
    if is_array(left) and is_array(right) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return next(found for n, (one, other) in pairs if (found := difference(one, other, f"{path}/{n}")))
    return f"{path or '(root)'}: {spell(left)} became {spell(right)}"


def spell(value: Json, limit: int = 400) -> str:
    """Write a JSON value for a failure message, shortened if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else text[:limit] + "…"
