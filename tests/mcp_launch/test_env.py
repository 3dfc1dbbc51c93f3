"""The environment that a process inherits."""

from __future__ import annotations

import pytest

from mcp_launch._executable import child_environment

PARENT = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LANG": "C",
    "LC_ALL": "C.UTF-8",
    "https_proxy": "http://proxy",
    "SSL_CERT_FILE": "/certs",
    "TMPDIR": "/scratch",
    "AWS_SECRET_ACCESS_KEY": "x",
}


@pytest.fixture(autouse=True)
def parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", dict(PARENT))


@pytest.mark.requirement("R77")
def test_a_child_inherits_needed_variables_but_no_keys() -> None:
    assert child_environment() == {key: PARENT[key] for key in PARENT if key != "AWS_SECRET_ACCESS_KEY"}


@pytest.mark.requirement("R77", "X8")
def test_env_overrides_inherited_variables_and_the_last_duplicate_wins() -> None:
    environment = child_environment([("PATH", "/opt"), ("K", "first"), ("K", "last")])

    assert (environment["PATH"], environment["K"]) == ("/opt", "last")
