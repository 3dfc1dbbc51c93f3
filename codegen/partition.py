"""The assignment of definitions to modules.

    `extras`        definitions that no method reaches and that refer to several modules
    domain          definitions that only one domain's methods reach: `fs`, `terminal`, `session`, `session_update`, …
    `{area}_types`  definitions that domains of one area share: `session` and `session_update` share `session_types`
    family          a large tagged union with all definitions that only it reaches: `content_block`
    `common`        all others, and those that families need

Modules import only from further down this list, so that there are no import cycles. A domain that refers to the params
or result of another domain's method imports them, but does not reach the definitions inside.
"""

from __future__ import annotations

import keyword
from graphlib import CycleError, TopologicalSorter

from codegen.naming import snake
from codegen.tree import CodegenError, Definitions, kind, reachable, targets

COMMON = "common"
CONNECTION = "connection"
EXTRAS = "extras"
LARGE_FAMILY = 10


def partition(defs: Definitions) -> dict[str, str]:
    """Return the module of every definition.

    Raises:
        CodegenError: modules would have to import each other, because their methods refer to each other.
    """
    roots: dict[str, set[str]] = {}
    for name, node in defs.items():
        if method_kind := kind(name, node):
            roots.setdefault(domain(node["x-method"], method_kind), set()).add(name)
    owned = {name: module for module, names in roots.items() for name in names}
    reached = {module: _reached(defs, module, names, owned) for module, names in roots.items()}
    modules = {name: _home({module for module, names in reached.items() if name in names}) for name in defs}
    _settle_unreached(defs, modules, set(defs).difference(*reached.values()))
    _split_families(defs, modules)
    _check_arrows(defs, modules)
    return modules


def domain(method: str, method_kind: str) -> str:
    """Return the domain of a method: `fs` for `fs/read_text_file`, `session_update` for `session/update`."""
    area, _, action = method.rpartition("/")
    if not area.isidentifier() or area.startswith("_") or keyword.iskeyword(area):
        return CONNECTION
    if action == "update" and method_kind == "Notification":
        return f"{area}_{action}"
    return area


def _reached(defs: Definitions, module: str, roots: set[str], owned: dict[str, str]) -> set[str]:
    foreign = {name for name, owner in owned.items() if owner != module}
    closed = {name: {} if name in foreign else node for name, node in defs.items()}
    return reachable(closed, roots) - foreign


def _home(domains: set[str]) -> str:
    """Return the module of a definition that *domains* reach."""
    if len(domains) == 1:
        return domains.pop()
    areas = {each.removesuffix("_update") for each in domains}
    return f"{areas.pop()}_types" if len(areas) == 1 else COMMON


def _settle_unreached(defs: Definitions, modules: dict[str, str], names: set[str]) -> None:
    """Put definitions that no method reaches next to the definitions that they refer to."""
    waiting = set(names)
    while waiting:
        ready = [{name} for name in waiting if not (targets(defs[name]) & waiting) - {name}]
        for group in ready or [set(waiting)]:  # a cycle stays together
            beside = {modules[part] for name in group for part in targets(defs[name])} - {COMMON}
            home = beside.pop() if len(beside) == 1 else EXTRAS if beside else COMMON
            modules.update(dict.fromkeys(group, home))
            waiting -= group


def _split_families(defs: Definitions, modules: dict[str, str]) -> None:
    """Move large families of shared definitions into their own modules."""
    shared = {name for name, module in modules.items() if module.endswith("_types")}
    families = {name: _family(defs, name, shared) for name in sorted(shared) if "x-tag" in defs[name]}
    for name, family in families.items():
        if len(family) < LARGE_FAMILY or snake(name) in modules.values():
            continue
        needed = reachable(defs, {name}) - family
        if name in reachable(defs, needed | {other for other, module in modules.items() if module == COMMON} - family):
            continue  # the two modules would import each other
        if needed & {other for other, module in modules.items() if module not in (COMMON, modules[name])}:
            continue  # its module would import one that may import it later
        modules.update(dict.fromkeys(family, snake(name)))
        modules.update(dict.fromkeys(needed, COMMON))


def _check_arrows(defs: Definitions, modules: dict[str, str]) -> None:
    """Refuse import cycles, because the generator would merge such modules."""
    imports: dict[str, set[str]] = {}
    for name, node in sorted(defs.items()):
        home = modules[name]
        imports.setdefault(home, set()).update({modules[part] for part in targets(node)} - {home})
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise CodegenError(f"modules cannot import each other: {' and '.join(sorted({*error.args[1]}))}") from None


def _family(defs: Definitions, union: str, shared: set[str]) -> set[str]:
    """Return *union* and those *shared* definitions that are only reached through it."""
    inside = reachable(defs, {union})
    closed = {name: {} if name == union else node for name, node in defs.items()}
    return shared - reachable(closed, set(defs) - inside) | {union}
