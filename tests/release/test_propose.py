"""The script that pushes a proposal, with a repository in a folder and a `gh` that records its calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "propose"
BRANCH = "schema-2.1.0"


@pytest.fixture(autouse=True)
def who_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "schema-watch")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "schema-watch@example.org")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout as in the workflow, without history, and a proposal in it."""
    origin, work, checkout = (tmp_path / name for name in ("origin.git", "work", "checkout"))
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    git(tmp_path, "clone", "--quiet", str(origin), str(work))
    git(work, "switch", "--quiet", "-c", "main")
    for subject in ("First", "Second"):
        git(work, "commit", "--quiet", "--allow-empty", "-m", subject)
    git(work, "push", "--quiet", "origin", "main")
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(checkout))
    proposal = checkout / "proposal"
    proposal.mkdir()
    git(work, "switch", "--quiet", "-c", BRANCH)
    git(work, "commit", "--quiet", "--allow-empty", "-m", "Proposed")
    git(work, "bundle", "create", "--quiet", str(proposal / "branch.bundle"), f"main..{BRANCH}")
    for name, text in (("branch", BRANCH), ("title", "Take $(this) as it is"), ("body.md", "`What` changed")):
        (proposal / name).write_text(f"{text}\n", encoding="utf-8")
    return checkout


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def propose(checkout: Path) -> tuple[str, list[str]]:
    """Run the script and return its output and the calls of `gh`."""
    commands = checkout.parent / "bin"
    commands.mkdir(exist_ok=True)
    gh, asked = commands / "gh", commands / "asked"
    note = f"import sys\nopen({str(asked)!r}, 'a').write(' | '.join(sys.argv[1:]) + '\\n')\n"
    gh.write_text(f"#!{sys.executable}\n{note}", encoding="utf-8")
    gh.chmod(0o755)
    asked.unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", str(SCRIPT), "proposal"],
        cwd=checkout,
        env=os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, asked.read_text(encoding="utf-8").splitlines()


def test_the_branch_is_pushed_and_its_pull_request_opened(checkout: Path) -> None:
    _, asked = propose(checkout)

    assert asked == [
        "auth | setup-git",
        f"pr | create | --head | {BRANCH} | --title | Take $(this) as it is | --body-file | proposal/body.md",
    ]
    origin = checkout.parent / "origin.git"
    assert git(origin, "log", "--format=%s", BRANCH).splitlines() == ["Proposed", "Second", "First"]


def test_an_existing_proposal_is_not_changed(checkout: Path) -> None:
    propose(checkout)
    origin = checkout.parent / "origin.git"
    git(origin, "branch", "--force", BRANCH, "main")

    said, asked = propose(checkout)

    assert said == f"{BRANCH} was proposed before\n"
    assert asked == ["auth | setup-git"]
    assert git(origin, "log", "-1", "--format=%s", BRANCH) == "Second"
