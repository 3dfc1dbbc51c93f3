"""Names of methods that no protocol package has, and which ones they are like."""

from __future__ import annotations

import difflib

from acp_bindings.setup.capabilities import METHODS
from acp_bindings.setup.versions import PACKAGES, package_named

WITHDRAWN = {"session/set_model": "session/set_config_option"}
"""What drafts of the protocol had and peers still say, and what is in its place."""


def likely_meant(method: str) -> str | None:
    """The method of some package that *method* is most like; None where it is or was one itself, or is like none."""
    # All but those of proxies are in this table, so that no package is loaded for most names.
    if method in WITHDRAWN or any(method in of_side for of_side in METHODS.values()):
        return None
    known = {name for each in PACKAGES for name in package_named(each).METHODS}
    if method in known:
        return None
    return next(iter(difflib.get_close_matches(method, sorted(known), n=1, cutoff=0.8)), None)
