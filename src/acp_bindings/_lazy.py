"""Names of a package that load the module they live in when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of *package*, each of whose *modules* holds the names listed.

    A module may be one of a folder: `sessions.records`.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    children = {module.partition(".")[0] for module in modules}

    def getattr_(name: str) -> Any:
        if name in children:
            return import_module(f"{package}.{name}")
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(sys.modules[package]), *children, *homes})

    return sorted(homes), getattr_, dir_
