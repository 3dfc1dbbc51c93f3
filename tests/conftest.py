"""Fixtures and settings for all tests."""

import gc
import signal

import pytest

FULL = (
    *(f"tests/docs/test_{each}.py" for each in ("conversation", "documents", "embedded", "testing")),
    *(f"tests/acp_bindings/{each}/" for each in ("play", "probe", "remote", "tap", "view")),
    *(f"tests/acp_bindings/test_{each}.py" for each in ("damage", "fuzz")),
    "tests/examples/",
    "tests/mcp_launch/config/test_hostile.py",
    *(f"tests/mcp_launch/{each}/" for each in ("explore", "fix", "testing")),
    "tests/mcp_launch/show/test_ci.py",
    *(f"tests/mcp_launch/test_{each}.py" for each in ("command", "command_terminal", "lock", "login")),
)
"""Tests that only `nox -s tests_full` runs; single tests are marked `full` where they are defined."""

# A background job of a shell ignores SIGINT, and `nohup` ignores SIGHUP. Programs that tests start would inherit that,
# but a handler is reset to the default in a new program.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in `FULL` and the Trio variants of all tests as `full`, before pytest deselects by marker."""
    for item in items:
        parameters: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
        if "trio" in parameters.values() or item.nodeid.startswith(FULL):
            item.add_marker("full")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The supported event loops."""
    return request.param


@pytest.fixture(scope="module", autouse=True)
def garbage_is_looked_for_in_what_is_new() -> None:
    """Exclude objects that exist before the tests of a module, such as models, from garbage collection.

    There are so many of them that a test with a hundred collections would take a minute. They are excluded permanently,
    because examining all of them before each module would take a third of the time of the tests.
    """
    gc.collect()
    gc.freeze()
