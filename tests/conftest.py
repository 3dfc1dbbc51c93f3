"""What holds for all tests."""

import gc
import signal

import pytest

# Where the tests run in the background of a shell, Ctrl-C is ignored, and so would be what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", autouse=True)
def garbage_is_looked_for_in_what_is_new() -> None:
    """Leave out what was there before the tests of a module: all tests, all models and validators.

    There are so many of them that a test which collects garbage a hundred times would take a minute for it. They are
    left out for good, as looking through all of them before each module would take as long as a third of the tests.
    """
    gc.collect()
    gc.freeze()
