"""The settings from pytest's options and its ini-file, for the plugin, its tests and its fixtures."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest


def config_file(config: pytest.Config) -> Path | None:
    """Return the config file: relative to the current directory, or in the ini-file relative to that file."""
    if given := config.getoption("mcp_config"):
        return Path(os.path.abspath(config.invocation_params.dir / given))
    if given := config.getini("mcp_config"):
        return Path(os.path.abspath((config.inipath.parent if config.inipath else config.rootpath) / given))
    return None


def timeout(config: pytest.Config) -> float:
    """Return the seconds until a server must be ready, and until it must respond.

    Raises:
        UsageError: the setting is not a positive number.
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
    """Return the working directory of a server: from the option, from its file, or pytest's root directory.

    *named* are the directory of the file's session and that of the server, which may be relative to the first.
    """
    given: str | None = config.getoption("mcp_cwd")
    of_file, *own = named or (None,)
    shared = os.path.abspath(config.invocation_params.dir / given) if given else of_file or str(config.rootpath)
    return os.path.normpath(os.path.join(shared, *(each for each in own if each)))
