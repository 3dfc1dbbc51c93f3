"""The public names of `acp_bindings.setup`, and what importing it loads."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_bindings import AcpError, jsonrpc, setup
from acp_bindings.setup import errors
from tests.acp_bindings.schemas import PACKAGES, load

NAMES: list[str] = vars(setup)["__all__"]
SOURCE = Path(setup.__file__)


def test_importing_setup_loads_no_models_and_each_name_only_its_own() -> None:
    loaded = "print(*(name for name in sys.modules if name.startswith('acp_bindings.v')))"
    for code, modules in (
        ("import acp_bindings.setup", []),
        ("from acp_bindings.setup import AgentPeer, Lifecycle, History, check_message, SessionListing, OPENING", []),
        ("from acp_bindings.setup import ClientHandshake; ClientHandshake(anonymous=True).request()", ["v1"]),
    ):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", f"import sys; {code}; {loaded}"],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert {"acp_bindings." + each for each in modules} <= set(done.stdout.split())
        assert modules or not done.stdout.split()
        assert "acp_bindings.v2" not in done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_each_error_code_of_the_schema_is_in_errors_py_or_jsonrpc_py(package: str) -> None:
    named = {value for module in (errors, jsonrpc) for value in vars(module).values() if type(value) is int}
    codes = {each["const"] for each in load(package).definitions["ErrorCode"]["anyOf"] if "const" in each}
    assert codes - named == set()


def test_only_paths_access_the_file_system_and_nothing_else_does_io() -> None:
    does = (
        r"^(?:import|from) (?:anyio|asyncio|trio|socket|subprocess|mcp|httpx|httpx2|shutil|pathlib)\b|\bopen\(|os\.path"
    )
    texts = {path.name: path.read_text(encoding="utf-8") for path in SOURCE.parent.rglob("*.py")}
    assert [name for name, text in texts.items() if re.search(does, text, re.MULTILINE)] == ["_paths.py"]


def test_the_drawn_tree_of_errors_matches_their_base_classes() -> None:
    # Imported are they all, or not all of them would be found.
    for name in NAMES:
        getattr(setup, name)
    assert errors.__doc__
    drawn = re.findall(r"^([│ ]*)[├└]── (\w+)(?: \(also an? (\w+)\))?(?: |$)", errors.__doc__, re.MULTILINE)
    tree: dict[str, tuple[str, ...]] = {}
    above = ["AcpError"]
    for indent, name, builtin in drawn:
        del above[len(indent) // 4 + 1 :]
        tree[name] = (above[-1], *filter(None, [builtin]))
        above.append(name)
    assert tree == {each.__name__: tuple(base.__name__ for base in each.__bases__) for each in _errors(AcpError)}
    assert tree.keys() <= {*NAMES, *vars(errors)}
    assert all(each.__doc__ for each in _errors(AcpError))


def _errors(root: type[AcpError]) -> list[type[AcpError]]:
    """Return the subclasses of *root* in setup."""
    below = [found for each in root.__subclasses__() for found in (each, *_errors(each))]
    return [each for each in below if each.__module__.startswith("acp_bindings.setup.")]
