"""The public names of the package, and the cost of importing it."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import pytest
from mcp_types import CallToolResult

import mcp_launch
from mcp_launch import (
    InvalidResult,
    LaunchError,
    LaunchFailure,
    NoTransport,
    NotReady,
    UnknownServer,
    UnknownTool,
    UnusableInput,
)
from mcp_launch._extra import NEEDED
from tests.mcp_launch.support import SOURCE, run_python


def test_the_public_names_are_sorted_and_there() -> None:
    assert mcp_launch.__all__ == sorted(mcp_launch.__all__)
    assert [name for name in mcp_launch.__all__ if not hasattr(mcp_launch, name)] == []
    assert dir(mcp_launch) == mcp_launch.__all__


def test_importing_the_package_imports_neither_sdk_nor_extra() -> None:
    script = f"import sys, mcp_launch; print([name for name in {('pydantic', *NEEDED)} if name in sys.modules])"
    done = run_python("-c", script)

    assert (done.stderr, done.stdout.strip()) == ("", "[]")


def test_private_attributes_of_the_other_package_are_not_used() -> None:
    """Private modules are shared by the two packages, because they are always installed together."""
    sources = (SOURCE / "mcp_launch").glob("**/*.py")

    assert [path for path in sources if re.search(r"from acp_bindings\.\S+ import .*\b_[a-z]", path.read_text())] == []


def test_importing_a_name_without_the_extra_names_the_package_to_install() -> None:
    script = "import sys; sys.modules['anyio'] = None; import mcp_launch; mcp_launch.launch"
    done = run_python("-c", script)

    assert done.stderr.splitlines()[-1] == "ImportError: mcp_launch needs anyio: pip install 'acp-bindings[launch]'"


def pickled(error: LaunchError) -> LaunchError:
    """Return the exception as another process receives it."""
    return pickle.loads(pickle.dumps(error))


RESULT = CallToolResult(content=[], structured_content={"n": "x"})
FAILURE = LaunchFailure("is away", server="one", stage="call", code="failed", elapsed=1.5, facts={"exit_code": 1})


@pytest.mark.parametrize(
    "error",
    [
        FAILURE,
        NoTransport(["acp"]),
        InvalidResult("is no number", server="one", method="tools/call", name="add", path="n", result=RESULT),
        NotReady([FAILURE], {"ok": True, "servers": []}),
        UnknownServer("one", ["two"]),
        UnknownTool("one", ["two"]),
        UnusableInput("no list"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_an_error_can_be_copied_and_sent_to_another_process(
    error: LaunchError, again: Callable[[LaunchError], LaunchError]
) -> None:
    copied = again(error)

    assert (type(copied), str(copied)) == (type(error), str(error))
    assert repr(vars(copied)) == repr(vars(error))
