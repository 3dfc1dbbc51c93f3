"""The public names of the package, and the error message if an extra is not installed."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from acp_bindings import v1
from acp_bindings.agent import StopReason


def test_importing_the_package_imports_nothing_of_the_extras() -> None:
    code = "import sys, acp_bindings.agent; print('anyio' in sys.modules, 'redis' in sys.modules)"
    assert run(code).stdout == "False False\n"


def test_only_redis_sessions_import_redis() -> None:
    code = "import sys; from acp_bindings.agent import FolderSessions, MemorySessions; print('redis' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_the_copy_of_the_stop_reasons_in_session_py_is_complete() -> None:
    assert get_args(StopReason) == get_args(v1.StopReason)


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [("anyio", "FolderSessions", "connection"), ("redis", "RedisSessions", "redis")],
)
def test_importing_a_name_without_its_extra_names_the_package_to_install(package: str, name: str, extra: str) -> None:
    done = run(f"import sys; sys.modules['{package}'] = None; from acp_bindings.agent import {name}")
    says = f"ImportError: acp_bindings.agent.{name} needs {package}: pip install 'acp-bindings[{extra}]'"
    assert done.stderr.splitlines()[-1] == says


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
