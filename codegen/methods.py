"""The method table of a package, from `x-method` and `x-side`."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.tree import CodegenError, Definitions, kind

MODULE = "methods"
NAME = "METHODS"
SIDES = ("agent", "both", "client", "protocol", "proxy")


def methods_source(defs: Definitions) -> str:
    """Return the source of the module `methods`, without its header.

    Raises:
        CodegenError: two definitions are the same part of one method, a response has no request, or a side is unknown.
    """
    found = parts_of_methods(defs)
    requests = {method: _request(parts, defs) for method, parts in found.items() if parts.keys() != {"Notification"}}
    notifications = {
        method: (_side(parts["Notification"], defs), parts["Notification"])
        for method, parts in found.items()
        if "Notification" in parts
    }
    return "\n".join(
        [
            "from acp_bindings.methods import Methods",
            "",
            f"{NAME} = Methods(",
            "    __name__,",
            f"    requests={_table(requests)},",
            f"    notifications={_table(notifications)},",
            ")",
            '"""For each method, the side that handles it and the types of its params and its result."""',
            "",
        ]
    )


def parts_of_methods(defs: Definitions) -> dict[str, dict[str, str]]:
    """Return the definitions of each method, by kind: `Request`, `Response` or `Notification`.

    Raises:
        CodegenError: two definitions are the same part of one method.
    """
    found: dict[str, dict[str, str]] = {}
    for name, node in sorted(defs.items()):
        if part := kind(name, node):
            parts = found.setdefault(node["x-method"], {})
            if part in parts:
                raise CodegenError(f"{name} and {parts[part]} are both the {part.lower()} of {node['x-method']}")
            parts[part] = name
    return found


def _request(parts: dict[str, str], defs: Definitions) -> tuple[str | None, ...]:
    params, result = parts.get("Request"), parts.get("Response")
    if params is None:
        raise CodegenError(f"{result}: the response of a method without a request")
    side = _side(params, defs)
    if result is not None and _side(result, defs) != side:
        raise CodegenError(f"{params} and {result} have different sides")
    return side, params, result


def _side(name: str, defs: Definitions) -> str:
    side = str(defs[name].get("x-side"))
    if side not in SIDES:
        raise CodegenError(f"{name}: no rule for the side {side!r}; known sides are {', '.join(SIDES)}")
    return side


def _table(rows: Mapping[str, tuple[str | None, ...]]) -> str:
    return "{" + "".join(f"\n        {method!r}: {row!r}," for method, row in sorted(rows.items())) + "\n    }"
