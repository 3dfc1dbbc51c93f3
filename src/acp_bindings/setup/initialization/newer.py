"""The params of an `initialize` that was written for a newer version than it gets, in the form of the older one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_bindings.decoding import decode
from acp_bindings.errors import DecodeError, Finding
from acp_bindings.setup.capabilities import written
from acp_bindings.setup.initialization.words import WORDS
from acp_bindings.setup.peer import ClientPeer


def in_form_of(
    version: int, raw: Mapping[str, Any], *, requested: int, findings: list[Finding]
) -> tuple[Mapping[str, Any], bool]:
    """The params *raw*, written for the version *requested*, in the form of *version*.

    What reading the newer form excuses is added to *findings*.

    Returns:
        The params, and whether the name in them is the client's own: if it has none that can be read, it is made up.
    """
    if version >= requested:
        return raw, True
    if version > 1:
        named = _is_info(raw.get("info"))
        return (raw if named else {**raw, "info": _UNKNOWN}), named
    if raw.keys() & set(WORDS["client"][1]):
        return raw, True
    from acp_bindings import v1, v2  # noqa: PLC0415 - packages are loaded by those who use them

    asked = {"protocolVersion": requested, "info": _UNKNOWN, "capabilities": raw.get("capabilities", {})}
    newer = ClientPeer.of(v2, decode(v2.InitializeRequest, asked, findings=findings))
    said = written(v1.InitializeRequest, "client", 1, newer.names())
    if newer.capabilities.meta is not None:
        said["clientCapabilities"]["_meta"] = newer.capabilities.meta
    return {**raw, **said, "clientInfo": raw.get("info")}, True


_UNKNOWN = {"name": "unknown", "version": "unknown"}
"""Stands for the `info` of a client that cannot be read."""


def _is_info(value: object) -> bool:
    from acp_bindings import v2  # noqa: PLC0415

    if not isinstance(value, dict):
        return False
    try:
        decode(v2.Implementation, value)
    except DecodeError:
        return False
    return True
