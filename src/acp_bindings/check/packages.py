"""The protocol packages by their names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from acp_bindings.setup.versions import PACKAGES


def package(name: str) -> Any:
    """A protocol package, such as `v1`, loaded; None where there is none of this name."""
    return import_module(f"acp_bindings.{name}") if name in PACKAGES else None


def name_of(protocol: Any) -> str:
    """The name of a protocol package: `v1`."""
    return str(getattr(protocol, "__name__", "")).rpartition(".")[2]
