"""The public names of `acp_bindings.agent`."""

import inspect
import subprocess
import sys
from typing import Any

import pytest

from acp_bindings import agent

NAMES: list[str] = vars(agent)["__all__"]
CLASSES = [name for name in NAMES if name not in ("RedisSessions", "StopReason")]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_has_a_docstring(name: str) -> None:
    type_: Any = getattr(agent, name)
    names: list[str] = [*vars(type_)]
    public = [each for each in names if not each.startswith("_") and callable(getattr(type_, each, None))]
    assert inspect.getdoc(type_)
    assert [each for each in public if not inspect.getdoc(getattr(type_, each))] == []


def test_importing_the_package_loads_nothing() -> None:
    program = "import sys, acp_bindings.agent; assert not {'anyio', 'pydantic', 'opentelemetry'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_agents_do_not_import_the_mcp_launcher() -> None:
    program = """
import sys
from acp_bindings.agent import Agent, FolderSessions, Turn
assert not {"mcp", "mcp_launch", "redis"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    name = "Agnt"
    with pytest.raises(AttributeError, match=name):
        getattr(agent, name)
