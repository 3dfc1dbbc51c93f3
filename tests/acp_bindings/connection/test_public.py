"""What the package shows, and what it says where its extra is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import acp_bindings.connection


@pytest.fixture(autouse=True)
def nothing_left() -> None:
    """There is no loop here."""


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


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
