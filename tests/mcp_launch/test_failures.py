"""Every case of the failure catalogue, and tests of the search for secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_bindings import _redact as secret_forms
from acp_bindings._redact import Redactor
from tests.mcp_launch.failures.catalogue import CASES, Case, Scenario
from tests.mcp_launch.failures.command import check_all
from tests.mcp_launch.failures.play import play
from tests.mcp_launch.failures.scene import Entry, Scene
from tests.mcp_launch.failures.secrets import Planted, leaks
from tests.mcp_launch.servers.leak import forms

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_each_failure_matches_the_catalogue(case: Case | Scenario, tmp_path: Path) -> None:
    outcome = await play(case, tmp_path, grace=8)

    assert outcome.wrong == []


@pytest.mark.full
def test_the_command_reports_all_failures_in_one_run(tmp_path: Path) -> None:
    # As JSON, of which the lines for people are made; `nox -s failures` has both.
    assert check_all(tmp_path, as_json=True).wrong == []


def named(name: str) -> Case:
    """Return the case of the catalogue with that name."""
    [case] = [case for case in CASES if isinstance(case, Case) and str(case) == name]
    return case


@pytest.mark.parametrize(
    ("name", "channels"),
    [
        (
            "stdio: exits with a message on stderr",
            {"changes", "failures", "report", "repr", "tracebacks", "variables in tracebacks"},
        ),
        ("stdio: a banner on stdout, then works", {"log", "report", "repr"}),
        (
            "stdio: answers initialize with an error",
            {"changes", "failures", "report", "repr", "tracebacks", "variables in tracebacks"},
        ),
        (
            "Streamable HTTP: 401 that tells the error",
            {"changes", "failures", "log", "report", "repr", "tracebacks", "variables in tracebacks"},
        ),
        ("SSE: 500", {"changes", "failures", "log", "report", "repr", "tracebacks", "variables in tracebacks"}),
    ],
)
async def test_unredacted_secrets_are_found_in_every_output(
    name: str, channels: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hide_nothing(_: Redactor, text: str) -> str:
        return text

    monkeypatch.setattr(Redactor, "__call__", hide_nothing)

    outcome = await play(named(name), tmp_path, grace=8)

    assert {leak.channel.partition(" (")[0] for leak in outcome.leaks} >= channels
    assert {leak.form for leak in outcome.leaks} == {"plain", "base64"}


@pytest.mark.parametrize(("part", "form"), [("_coded", "base64"), ("_quoted", "plain")])
async def test_an_unredacted_encoding_is_found(
    part: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_: str) -> tuple[str, ...]:
        return ()

    monkeypatch.setattr(secret_forms, part, nothing)

    outcome = await play(named("stdio: exits with a message on stderr"), tmp_path, grace=8)

    assert {leak.form for leak in outcome.leaks} == {form}


async def test_a_secret_on_a_command_line_is_found(tmp_path: Path) -> None:
    def server(scene: Scene) -> Entry:
        entry = scene.plain()
        entry["args"].append(scene.planted["argument"])
        return entry

    outcome = await play(Case(group="stdio", what="has an argument", server=server), tmp_path, grace=8)

    assert {leak.channel for leak in outcome.leaks} == {"process titles (open)"}


@pytest.mark.parametrize("kind", ["env", "awkward env"])
def test_the_search_finds_every_form_and_part_of_a_secret(kind: str) -> None:
    planted = Planted("nobody")
    value = planted[kind]

    for said in (*forms(value), value[:15], value[15:]):
        assert leaks({"anywhere": f"it said {said}."}, [planted]), said
    assert leaks({"anywhere": "it said nothing"}, [planted]) == []
