"""What runners and interpreters say, and what the user is told."""

from __future__ import annotations

import pytest

from mcp_launch.hints import explain_stderr


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        (["npm error code E404", "npm error 404 Not Found", "npm error A complete log of this run"], "npm package"),
        (["Traceback", "ModuleNotFoundError: No module named 'weather.server'"], "no module weather.server"),
        (["/usr/bin/python: No module named weather"], "no module weather"),
        (
            ["Error: Cannot find module '/srv/build/index.js'", "    at node:internal"],
            "cannot find /srv/build/index.js",
        ),
        (["python: can't open file '/srv/x.py': [Errno 2] No such file"], "no file /srv/x.py"),
        (["Because weather-mcp was not found in the package registry"], "Python package does not exist"),
    ],
)
def test_what_to_try_is_said_for_what_is_known(lines: list[str], hint: str) -> None:
    found, line = explain_stderr(lines)

    assert found is not None
    assert hint in found
    assert line in lines[0] + lines[-1]


def test_otherwise_the_last_line_is_quoted() -> None:
    assert explain_stderr(["starting", "no licence "]) == (None, "no licence")
