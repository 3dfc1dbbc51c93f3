"""What classes are called in an error: with their package where that is one of the protocol, as `v1.TextContent`."""

from __future__ import annotations

import re


def full_name(cls: type) -> str:
    """The name of *cls*, with its protocol package if it has one."""
    package = package_of(cls.__module__)
    return f"{package}.{cls.__name__}" if package else cls.__name__


def kind_of(value: object) -> str:
    """The class of *value*, or that it is a class itself."""
    return f"the class {full_name(value)}" if isinstance(value, type) else full_name(type(value))


def package_of(module: str) -> str | None:
    """The protocol package that the module of this name is in, or is: `v1`, …; None for any other."""
    found = re.match(r"acp_bindings\.(v\d+(?:_unstable)?)(?:\.|$)", module)
    return found and found[1]
