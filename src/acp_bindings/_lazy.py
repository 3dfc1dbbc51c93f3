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
            # With a name, Python adds no guess of its own, which is by letters alone and may be another.
            raise AttributeError(_Misnamed(package, name), name=name)
        value = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(sys.modules[package]), *children, *homes})

    return sorted(homes), getattr_, dir_


class _Misnamed:
    """The text of an error, made when it is read: `hasattr` does not read it."""

    def __init__(self, package: str, name: str) -> None:
        self.package, self.name = package, name

    def __str__(self) -> str:
        from acp_bindings.setup._versions import misnamed  # noqa: PLC0415 - what only this error needs

        return misnamed(self.package, self.name)

    def __repr__(self) -> str:
        return repr(str(self))
