"""Whether a limit that is new or another takes away values that were valid before."""

from __future__ import annotations

import math
from typing import Any

from codegen.passes.numbers import RANGES
from codegen.tree import Node

__all__ = ["narrows_values"]


def narrows_values(keyword: str, limit: Any, before: Node) -> bool:
    """Whether a keyword with this value narrows what `before` allows; True too where there is no proof."""
    least, most = _range(before)
    match keyword:
        case "minimum":
            return bool(limit > least)
        case "maximum":
            return bool(limit < most)
        case "minLength" | "minItems":
            return bool(limit > before.get(keyword, 0))
        case "format" if limit in RANGES:
            return RANGES[limit][0] > least or RANGES[limit][1] < most
        case _:
            return True


def _range(node: Node) -> tuple[float, float]:
    """The least and the greatest number that a schema allows."""
    least, most = RANGES.get(node.get("format", ""), (-math.inf, math.inf))
    return max(node.get("minimum", least), least), min(node.get("maximum", most), most)
