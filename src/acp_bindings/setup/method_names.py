"""Names of methods that no protocol package has, and which ones they are like."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from acp_bindings.setup.capabilities import METHODS
from acp_bindings.setup.versions import PACKAGES, name_of, package_named, version_of

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage

__all__ = ["CLOSE", "WITHDRAWN", "likely_meant", "why_not_let_through"]

WITHDRAWN = {"session/set_model": "session/set_config_option"}
"""What drafts of the protocol had and peers still say, and what is in its place."""

CLOSE = 0.8
"""How alike, of 1, names must be: those of one family begin alike, and only the rest of them tells."""


def likely_meant(method: str) -> str | None:
    """The method of some package that *method* is most like; None where it is or was one itself, or is like none."""
    # All but those of proxies are in this table, so that no package is loaded for most names.
    if method in WITHDRAWN or any(method in of_side for of_side in METHODS.values()):
        return None
    known = {name for each in PACKAGES for name in package_named(each).METHODS}
    if method in known:
        return None
    return next(iter(difflib.get_close_matches(method, sorted(known), n=1, cutoff=CLOSE)), None)


def why_not_let_through(method: str, protocol: ProtocolPackage) -> str | None:
    """Why a connection that speaks *protocol* does not let *method* through; None where the peer is to blame.

    It is where it calls what another version has: an agent of several has handlers for the methods of each.
    """
    if method in protocol.METHODS:
        return None
    having = [each for each in map(package_named, PACKAGES) if method in each.METHODS]
    if not having:
        return "no version of the protocol has it; pass_unknown=True lets it through"
    of_version = [name_of(each) for each in having if version_of(each) == version_of(protocol)]
    return f"{name_of(protocol)} does not have it, and {of_version[0]} has" if of_version else None
