"""A request with a secret, for tests of creating, writing and showing models, and the calls of Python functions."""

import sys
from collections.abc import Callable
from types import FrameType

from acp_bindings import v1

SECRET = "hunter2-hunter2"


def a_request() -> v1.NewSessionRequest:
    server = v1.McpServerStdio(name="s", command="/s", args=["-v"], env=[v1.EnvVariable(name="TOKEN", value=SECRET)])
    return v1.NewSessionRequest(cwd="/", mcp_servers=[server])


def python_calls(run: Callable[[], object]) -> list[tuple[str, str]]:
    """Return the file and the name of each Python function that *run* calls."""
    called: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            called.append((frame.f_code.co_filename, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return called[1:]
