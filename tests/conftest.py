"""What holds for all tests."""

import gc
import signal
from collections.abc import Generator

import pytest

# Where the tests run in the background of a shell, Ctrl-C is ignored, and so would be what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", autouse=True)
def garbage_is_looked_for_in_what_is_new() -> Generator[None]:
    """Leave out what was there before the tests of a module: all tests, all models and validators.

    There are so many of them that a test which collects garbage a hundred times would take a minute for it.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
