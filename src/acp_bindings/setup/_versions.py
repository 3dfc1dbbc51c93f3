"""The versions of the protocol and their negotiation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

from acp_bindings._json import members_of, package_of
from acp_bindings._lazy import PACKAGES
from acp_bindings.methods import ProtocolPackage
from acp_bindings.setup.errors import BadProtocolVersion, UnsupportedProtocolVersion

HIGHEST = 0xFFFF
"""The highest version number (`ProtocolVersion`)."""


def package_named(name: str) -> Any:
    """Load and return the protocol package of this name, such as `v1`; None if it does not exist."""
    return import_module(f"acp_bindings.{name}") if name in PACKAGES else None


def name_of(protocol: object) -> str:
    """Return the name of a protocol package: `v1`."""
    return str(getattr(protocol, "__name__", "")).rpartition(".")[2]


def version_of(protocol: ProtocolPackage) -> int:
    """Return the version of a protocol package: 1 for `v1` and `v1_unstable`.

    Raises:
        TypeError: *protocol* is not a protocol package.
    """
    package = package_of(getattr(protocol, "__name__", ""))
    if package is None:
        raise TypeError(f"{protocol!r} is not a protocol package; the packages are {', '.join(PACKAGES)}")
    return int(package.removeprefix("v").removesuffix("_unstable"))


def by_version(protocols: Iterable[ProtocolPackage]) -> dict[int, ProtocolPackage]:
    """Return the packages that one side offers, by version, the latest first.

    Raises:
        TypeError: an item is not a protocol package.
        ValueError: *protocols* is empty or contains two packages of one version.
    """
    if isinstance(protocols, ModuleType):
        raise TypeError(f"protocols must be a list: [{name_of(protocols)}]")
    found: dict[int, ProtocolPackage] = {}
    for each in protocols:
        if found.setdefault(version_of(each), each) is not each:
            raise ValueError("two packages have the same version; offer the stable or the unstable one, which has more")
    if not found:
        raise ValueError("offer at least one protocol package, such as acp_bindings.v1")
    return dict(sorted(found.items(), reverse=True))


def negotiate(requested: int, supported: Collection[int]) -> int:
    """Return the version with which an agent that supports *supported* responds to a client that requests *requested*.

    The rule of v1, for agents without newer versions: the requested version, or else the latest. The rule of v2, for
    other agents: the highest version that is not above the requested one (`InitializeResponse.protocolVersion`).

    Raises:
        UnsupportedProtocolVersion: by the rule of v2, no version is low enough.
    """
    if set(supported) == {1}:
        return 1
    below = [each for each in supported if each <= requested]
    if not below:
        raise UnsupportedProtocolVersion(requested=requested, answered=None, supported=supported)
    return max(below)


def read_version(message: Any) -> int:
    """Return the `protocolVersion` in the params or the result of `initialize`, as parsed JSON.

    Raises:
        BadProtocolVersion: it is missing or not an ACP version; the message says what it looks like.
    """
    members = members_of(message)
    value: object = members.get("protocolVersion")
    if type(value) is int and 0 <= value <= HIGHEST:
        return value
    if value is None and "jsonrpc" in members:
        raise BadProtocolVersion(value, "this is a whole JSON-RPC message; pass its params or its result")
    if value is None:
        from acp_bindings._problems.mistakes import other_spelling  # noqa: PLC0415 - only errors need it

        spelt = other_spelling("protocolVersion", members)
        missing = f'it is missing, spelt "{spelt}"' if spelt else "it is missing"
        raise BadProtocolVersion(value, f"{missing}; {_REQUIRED}")
    raise BadProtocolVersion(value, f"{_REQUIRED}; {_reason(value)}")


def _reason(value: object) -> str:
    """Return what *value* looks like. Only a short string is quoted."""
    if type(value) is int:
        return f"this one is not between 0 and {HIGHEST}"
    for pattern, likeness in _LOOKS_LIKE:
        if isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII):
            return f'"{value}" {likeness}'
    return f"this is {_KINDS.get(type(value), 'an object')}"


_KINDS: dict[type, str] = {bool: "a boolean", float: "a float", list: "a list", str: "a string"}

_REQUIRED = "ACP versions are integers, such as 1"

_LOOKS_LIKE = (
    (r"\d{4}-\d\d-\d\d", "looks like an MCP version"),
    (r"[vV]?\d{1,4}", "is a string; write it without quotes"),
    (r"[vV]?[\d.]{1,20}", "looks like the version of a program"),
)
