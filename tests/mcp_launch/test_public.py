"""What the package offers, and what it costs to look at it."""

from __future__ import annotations

import os
import subprocess
import sys

import mcp_launch
from mcp_launch.__main__ import NEEDED
from tests.mcp_launch.support import SOURCE


def test_the_public_names_are_sorted_and_there() -> None:
    assert mcp_launch.__all__ == sorted(mcp_launch.__all__)
    assert [name for name in mcp_launch.__all__ if not hasattr(mcp_launch, name)] == []
    assert dir(mcp_launch) == mcp_launch.__all__


def test_importing_the_package_imports_neither_the_sdk_nor_what_the_extra_brings() -> None:
    script = f"import sys, mcp_launch; print([name for name in {('pydantic', *NEEDED)} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        timeout=30,
        check=True,
    )

    assert done.stdout.strip() == "[]"


def test_without_the_extra_a_name_says_what_to_install() -> None:
    script = "import sys; sys.modules['anyio'] = None; import mcp_launch; mcp_launch.launch"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        timeout=30,
        check=False,
    )

    assert done.stderr.splitlines()[-1] == "ImportError: mcp_launch needs anyio: pip install 'acp-bindings[launch]'"
