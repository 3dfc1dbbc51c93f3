"""The public names of the package, and the error message if its extra is not installed."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature

import pytest

from acp_bindings.connection import Connection
from acp_bindings.connection._connection import Options


@pytest.fixture(autouse=True)
def nothing_left() -> None:
    """Replace the fixture of conftest.py, because there is no event loop here."""


def test_importing_the_package_imports_nothing_of_the_extra() -> None:
    code = "import sys, acp_bindings.connection; print('anyio' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_importing_a_name_without_the_extra_names_the_package_to_install() -> None:
    done = run("import sys; sys.modules['anyio'] = None; from acp_bindings.connection import connect_stdio")
    says = "ImportError: acp_bindings.connection.connect_stdio needs anyio: pip install 'acp-bindings[connection]'"
    assert done.stderr.splitlines()[-1] == says


def test_the_options_passed_on_are_those_of_a_connection() -> None:
    passed = signature(Connection).parameters.keys() - {"source", "sink", "protocol", "role", "grace"}
    assert Options.__annotations__.keys() == passed


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
