"""What the options and the ini-file of pytest say: which config file, the timeout, and the working directory."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from mcp_launch._command.find_servers import read_file
from mcp_launch.config._entries import Config


def config_file(config: pytest.Config) -> Path | None:
    """The file that the servers are in: as typed, or as the ini-file says, from where that is."""
    if given := config.getoption("mcp_config"):
        return Path(os.path.abspath(config.invocation_params.dir / given))
    if given := config.getini("mcp_config"):
        return Path(os.path.abspath((config.inipath.parent if config.inipath else config.rootpath) / given))
    return None


def timeout(config: pytest.Config) -> float:
    """Seconds until a server is ready, and until it answers.

    Raises:
        UsageError: what was given is no number of seconds above 0.
    """
    given = config.getoption("mcp_timeout")
    if given is None:
        given = config.getini("mcp_timeout") or 30.0
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise pytest.UsageError(f"mcp_timeout must be a positive number of seconds, not {given!r}")
    return seconds


def directory(config: pytest.Config, *named: str | None) -> str:
    """The working directory of a server: as typed, or as its file names it, or the root of the tests.

    `named` is the directory of the file's session, then that of the server, which may be relative to the first.
    """
    given: str | None = config.getoption("mcp_cwd")
    of_file, *own = named or (None,)
    shared = os.path.abspath(config.invocation_params.dir / given) if given else of_file or str(config.rootpath)
    return os.path.normpath(os.path.join(shared, *(each for each in own if each)))


def read_servers(path: Path) -> Config:
    """Return the servers that the file asks for.

    Raises:
        UnusableInput: it cannot be read, is too large, or holds none.
    """
    return read_file(str(path))
