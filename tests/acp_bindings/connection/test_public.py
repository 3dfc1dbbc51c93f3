"""The public names of the package, and the error message if its extra is not installed."""

from __future__ import annotations

import re
import subprocess
import sys
from inspect import getdoc, signature
from typing import Any

import pytest

import acp_bindings.connection
from acp_bindings.connection import Connection, connect_process, connect_stdio


@pytest.fixture(autouse=True)
def nothing_left() -> None:
    """Replace the fixture of conftest.py, because there is no event loop here."""


def test_the_public_names_are_sorted_and_there() -> None:
    names = acp_bindings.connection.__all__
    assert names == sorted(names)
    assert [name for name in names if not hasattr(acp_bindings.connection, name)] == []


def test_importing_the_package_imports_nothing_of_the_extra() -> None:
    code = "import sys, acp_bindings.connection; print('anyio' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_without_the_extra_a_name_says_what_to_install() -> None:
    done = run("import sys; sys.modules['anyio'] = None; from acp_bindings.connection import connect_stdio")
    says = "ImportError: acp_bindings.connection needs anyio: pip install 'acp-bindings[connection]'"
    assert done.stderr.splitlines()[-1] == says


@pytest.mark.parametrize("connect", [connect_process, connect_stdio])
def test_what_a_way_to_connect_has_in_common_with_a_connection_is_the_same(connect: Any) -> None:
    ours, theirs = signature(connect).parameters, signature(Connection).parameters
    common = ours.keys() & theirs.keys() - {"role"}  # whose default is who connects so
    assert common >= {"protocol", "handlers", "pass_unknown", "limit", "most_requests", "trace"}
    assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}
    said, wanted = described(connect), described(Connection.__init__)
    common -= {"grace"}  # where it is known what ends
    assert {name: said[name] for name in common} == {name: wanted[name] for name in common}


def described(function: Any) -> dict[str, str]:
    """Return the description of each argument in the docstring."""
    arguments = str(getdoc(function)).partition("Args:\n")[2].partition("\n\n")[0]
    pairs = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", arguments, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in pairs}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
