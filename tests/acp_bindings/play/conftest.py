"""The protocol versions, and patience with turns that are still running when the client has left."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The protocol versions."""
    number: int = request.param
    return number


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let turns end on a slow machine before the agent leaves."""
    monkeypatch.setattr("acp_bindings.play._scripted_agent.GRACE", 10)
