"""What is said of a name that a package does not have: which ones are like it, and which packages have it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from importlib import import_module

from acp_bindings.setup.versions import PACKAGES, package_named

CLOSE = 0.7
"""How alike, of 1, names must be for one to be a guess at what the other should have been."""


_BESIDE = ("acp_bindings.setup", "acp_bindings.connection", "acp_bindings.jsonrpc")
"""What has names that no protocol package has."""


def misnamed(package: str, name: str) -> str:
    """The text of the error."""
    said = [f"module {package!r} has no attribute {name!r}"]
    if beside := next((each for each in _BESIDE if name in import_module(each).__all__), None):
        return f"{said[0]}; it is in {beside}"
    if homes := [f"acp_bindings.{each}" for each in PACKAGES if name in package_named(each).__all__]:
        said.append(f"it is in {_listed(homes, 'and')}")
    if close := _closest(name, import_module(package).__all__):
        said.append(f"did you mean {_listed(close, 'or')}?")
    return "; ".join(said)


def _closest(name: str, known: list[str]) -> list[str]:
    """At most three of the *known* names, the likest first."""
    found = sorted(((_likeness(name, each), each) for each in known), reverse=True)
    return [each for likeness, each in found[:3] if likeness >= CLOSE]


def _likeness(one: str, other: str) -> float:
    """Of the letters, or of the words in any order: the schema's `McpServerStdio` is a `StdioMcpServer` elsewhere."""
    spelt = SequenceMatcher(None, one.lower(), other.lower()).ratio()
    return max(spelt, SequenceMatcher(None, _words(one), _words(other)).ratio())


def _words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[A-Z]?[^A-Z_]+|[A-Z]+", name))).lower()


def _listed(names: list[str], last: str) -> str:
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
