"""The GitHub workflows: their permissions, pinned actions, and sessions that exist in noxfile.py."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def jobs(workflow: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github" / "workflows" / workflow).read_text(encoding="utf-8"))["jobs"]


def steps() -> list[dict[str, Any]]:
    return [step for file in WORKFLOWS for job in jobs(file.name).values() for step in job["steps"]]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_by_commit_with_their_version_in_a_comment(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("uses: ") == len(PINNED.findall(text)) > 0


def test_every_job_has_only_the_permissions_that_it_needs() -> None:
    allowed = {
        ("ci.yml", "checks"): None,
        ("ci.yml", "tests"): None,
        ("release.yml", "build"): {"contents": "read"},
        ("release.yml", "test"): {"contents": "read"},
        ("release.yml", "publish"): {"attestations": "write", "id-token": "write"},
        ("release.yml", "announce"): {"contents": "write"},
        ("schema-watch.yml", "look"): {"contents": "read"},
        ("schema-watch.yml", "propose"): {"contents": "write", "pull-requests": "write"},
    }
    assert {
        (file.name, name): job.get("permissions") for file in WORKFLOWS for name, job in jobs(file.name).items()
    } == allowed
    whole = {file.name: yaml.safe_load(file.read_text(encoding="utf-8"))["permissions"] for file in WORKFLOWS}
    assert whole == {"ci.yml": {"contents": "read"}, "release.yml": {}, "schema-watch.yml": {}}


def test_every_job_ends() -> None:
    assert all(job["timeout-minutes"] <= 60 for file in WORKFLOWS for job in jobs(file.name).values())


def test_jobs_with_write_permission_run_no_code_of_the_checkout() -> None:
    for name in ("publish", "announce"):
        assert not any("actions/checkout" in step.get("uses", "") for step in jobs("release.yml")[name]["steps"])
    ran = [step["run"] for step in jobs("schema-watch.yml")["propose"]["steps"] if "run" in step]
    assert ran == ["bash .ci/propose proposal"]


def test_only_a_tag_that_was_built_and_tested_is_published() -> None:
    release = jobs("release.yml")
    assert release["publish"]["if"] == "github.ref_type == 'tag'"
    assert (release["publish"]["needs"], release["announce"]["needs"]) == (["build", "test"], "publish")
    assert release["publish"]["environment"] == "pypi"
    builds = [name for name, job in release.items() for step in job["steps"] if "nox -s package" in step.get("run", "")]
    assert builds == ["build"]


def test_the_built_wheel_is_tested_on_every_python_that_is_promised() -> None:
    promised = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if ":: Python :: 3." in each]
    assert jobs("release.yml")["test"]["strategy"]["matrix"]["python"] == promised


def test_every_session_that_is_run_exists() -> None:
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    ran = [line for step in steps() for line in step.get("run", "").replace("\\\n", " ").splitlines()]
    ran += (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    sessions = {
        name
        for line in ran
        if "python -m nox -s" in line
        for name in shlex.split(line.partition("nox -s ")[2].partition(" -")[0])
        if name.isidentifier()
    }
    assert {"package", "installed", "release_notes", "watch_schema", "tests_all", "lint"} <= sessions
    assert [name for name in sorted(sessions) if f"\ndef {name}(" not in noxfile] == []


def test_the_citation_matches_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["title"] == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert set(citation["keywords"]) <= set(PROJECT["keywords"])
