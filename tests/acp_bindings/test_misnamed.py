"""An unknown name of a package: the error suggests the right one, which is only computed if the error is read."""

import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import acp_bindings
from acp_bindings import connection, setup, v1, v1_unstable, v2
from acp_bindings._lazy import OFFICIAL


def refused(package: Any, name: str) -> AttributeError:
    with pytest.raises(AttributeError) as caught:
        getattr(package, name)
    assert caught.value.name == name
    return caught.value


def said_of(package: Any, name: str) -> str:
    return str(refused(package, name))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NewSesionRequest", "NewSessionRequest"),
        ("newsessionrequest", "NewSessionRequest"),
        ("new_session_request", "NewSessionRequest"),
        ("EnvVar", "EnvVariable"),
        ("METHOD", "METHODS"),
    ],
)
def test_a_misspelled_name_suggests_the_right_one(name: str, meant: str) -> None:
    assert said_of(v1, name) == f"module 'acp_bindings.v1' has no attribute '{name}'; did you mean {meant}?"


@pytest.mark.parametrize(
    ("package", "name", "said"),
    [
        (acp_bindings, "FileSystemCapabilities", "it is in acp_bindings.v1 and acp_bindings.v1_unstable"),
        (
            setup,
            "Diff",
            "it is in acp_bindings.v1, acp_bindings.v1_unstable, acp_bindings.v2 and acp_bindings.v2_unstable",
        ),
        # Not the most similar name of v1, which is SelectedPermissionOutcome.
        (v1, "CancelledPermissionOutcome", "it is in acp_bindings.v2 and acp_bindings.v2_unstable"),
        (acp_bindings, "Codec", "it is in acp_bindings.jsonrpc"),
        (setup, "AgentHandlers", "it is in acp_bindings.connection"),
        (connection, "OPENING", "it is in acp_bindings.setup"),
    ],
)
def test_a_name_of_another_package_is_reported_with_that_package(package: ModuleType, name: str, said: str) -> None:
    assert said_of(package, name) == f"module {package.__name__!r} has no attribute {name!r}; {said}"


def test_a_name_of_the_official_sdk_leads_to_the_name_here() -> None:
    assert said_of(v1, "AllowedOutcome") == (
        "module 'acp_bindings.v1' has no attribute 'AllowedOutcome'; "
        "it is the official SDK's name for SelectedPermissionOutcome"
    )
    assert said_of(v2, "TextContentBlock").endswith("; it is the official SDK's name for TextContent")
    assert "official" not in said_of(v2, "HttpMcpServer_")
    assert "official" not in said_of(v2, "SseMcpServer")


def test_the_hints_for_the_official_sdk_are_the_tables_of_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "official_sdk.md").read_text(encoding="utf-8")
    names, _, _ = page.partition("## Equivalents")
    assert dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", names, re.MULTILINE)) == OFFICIAL
    assert all(hasattr(v1, name) for name in OFFICIAL.values())
    assert not any(hasattr(v1, name) for name in OFFICIAL)


@pytest.mark.parametrize("name", ["Nonsense", "x", "_", "__wrapped__", ""])
def test_a_dissimilar_name_has_no_suggestion(name: str) -> None:
    assert said_of(v1_unstable, name) == f"module 'acp_bindings.v1_unstable' has no attribute {name!r}"


def test_hasattr_does_not_compute_suggestions() -> None:
    code = """
import sys
from acp_bindings import v1
before = set(sys.modules)
print(hasattr(v1, "Nonsense"), getattr(v1, "Nonsense", None), *set(sys.modules) - before)
"""
    assert run(code).stdout == "False None\n"


def test_python_guesses_no_second_name() -> None:
    last = run("from acp_bindings import v1; v1.CancelledPermissionOutcome").stderr.splitlines()[-1]
    assert last == f"AttributeError: {said_of(v1, 'CancelledPermissionOutcome')}"


def test_the_error_can_be_shown_and_pickled() -> None:
    error = refused(v1, "Nonsense")
    assert repr(error).startswith(f"AttributeError({str(error)!r}")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def run(code: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
