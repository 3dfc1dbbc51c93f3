import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from codegen import watch
from codegen.lock import FILES, LOCK
from codegen.watch import PACKAGE, main
from tests.codegen import publishing

ROOT = Path(__file__).resolve().parents[2]
TOOK = "Random instances of every definition survive a round trip"

# It writes what it is given, and has no rule for "odd".
GENERATOR = """
import pathlib, sys
schema = pathlib.Path("schema/v1/schema.json").read_text()
if "odd" in schema:
    sys.exit(f"codegen: {pathlib.Path.cwd()}/schema: no rule for odd")
pathlib.Path("src/acp_bindings/v1.py").write_text(schema)
"""


@pytest.fixture(autouse=True)
def who_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "schema-watch")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "schema-watch@example.org")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the schemas of 2.0.0 and a generator of one line."""
    release = publishing.locked(publishing.release("2.0.0"), "2.0.0")
    schemas = {f"schema/{file}": data for file, data in release.items()}
    code = {"codegen/__main__.py": GENERATOR.encode(), "src/acp_bindings/v1.py": release["v1/schema.json"]}
    return committed(tmp_path / "repository", {**schemas, **code})


def committed(folder: Path, files: Mapping[str, bytes]) -> Path:
    publishing.write(folder, files)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "All that was")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def published(*versions: str) -> dict[str, dict[str, bytes]]:
    return {version: publishing.release(version) for version in versions}


def commits(proposal: Path, repository: Path) -> list[tuple[str, list[str]]]:
    """Return the subjects of the commits of a proposal with the files of each, as fetched from the repository."""
    branch = (proposal / "branch").read_text(encoding="utf-8").strip()
    clone = proposal.parent / "clone"
    git(proposal.parent, "clone", "--quiet", "--depth=1", repository.as_uri(), str(clone))
    git(clone, "fetch", "--quiet", str(proposal / "branch.bundle"), f"{branch}:{branch}")
    ids = git(clone, "rev-list", "--reverse", f"HEAD..{branch}").splitlines()
    return [
        (git(clone, "show", "-s", "--format=%s", each), git(clone, "show", "--format=", "--name-only", each).split())
        for each in ids
    ]


def test_the_newest_version_is_proposed_as_two_commits_with_the_changes_and_checks(
    tmp_path: Path, npm: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publishing.install_npm(npm, published("2.0.0", "2.1.0"))
    before = git(repository, "for-each-ref"), git(repository, "worktree", "list")

    assert main([str(tmp_path / "out")], root=repository, gates=(("Python starts", ("platform",)),)) == 0

    assert commits(tmp_path / "out", repository) == [
        ("Update the schemas to 2.1.0", [f"schema/{LOCK}", *(f"schema/{file}" for file in FILES)]),
        ("Regenerate for schema 2.1.0", ["src/acp_bindings/v1.py"]),
    ]
    assert (tmp_path / "out" / "title").read_text(encoding="utf-8") == "Update to the schemas of 2.1.0\n"
    assert (git(repository, "for-each-ref"), git(repository, "worktree", "list")) == before
    assert git(repository, "status", "--porcelain") == ""
    assert "the schemas of 2.1.0" in capsys.readouterr().out
    body = (tmp_path / "out" / "body.md").read_text(encoding="utf-8")
    assert body.startswith(f"npm has `{PACKAGE}` 2.1.0. The schemas here are from 2.0.0.\n\n- [x] ")
    assert "- [x] Python starts\n" in body
    changed = body.partition('"A new schema".\n\n')[2]
    assert changed.startswith("### ")
    for file in FILES:
        assert f"### {file}: 2.0.0 → 2.1.0\n\n- 1 description changed\n" in changed


def test_a_schema_without_a_rule_is_proposed_with_the_error(tmp_path: Path, npm: Path, repository: Path) -> None:
    odd = publishing.release("2.1.0") | {"v1/schema.json": publishing.schema("odd")}
    publishing.install_npm(npm, {"2.1.0": odd})

    assert main([str(tmp_path / "out")], root=repository, gates=(("Never tried", ("platform",)),)) == 0

    assert [subject for subject, _ in commits(tmp_path / "out", repository)] == ["Update the schemas to 2.1.0"]
    body = (tmp_path / "out" / "body.md").read_text(encoding="utf-8")
    assert f"- [ ] {watch.GENERATE[0]}\n" in body
    assert "~~~text\ncodegen: ./schema: no rule for odd\nexit status 1\n~~~\n" in body
    assert "Never tried" not in body


def test_the_body_shows_the_last_lines_of_a_failed_gate(tmp_path: Path, npm: Path, repository: Path) -> None:
    publishing.install_npm(npm, published("2.1.0"))
    status = '3 if os.environ["PYTHONPATH"] == os.path.abspath("src") else 4'
    gate = f'import os\nprint(*range(100), sep="\\n")\nraise SystemExit({status})\n'
    (repository / "lossy.py").write_text(gate, encoding="utf-8")
    git(repository, "add", "lossy.py")
    git(repository, "commit", "--quiet", "-m", "A gate")

    assert main([str(tmp_path / "out")], root=repository, gates=((TOOK, ("lossy",)),)) == 0

    assert len(commits(tmp_path / "out", repository)) == 2
    body = (tmp_path / "out" / "body.md").read_text(encoding="utf-8")
    assert f"- [ ] {TOOK}\n" in body
    shown = "\n".join(map(str, range(100 - watch.OUTPUT_LINES, 100)))
    assert f"### python -m lossy\n\n~~~text\n{shown}\nexit status 3\n~~~\n" in body


def test_a_body_too_long_for_github_is_truncated(
    tmp_path: Path, npm: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing.install_npm(npm, published("2.1.0"))
    main([str(tmp_path / "whole")], root=repository, gates=())
    monkeypatch.setattr(watch, "BODY_LIMIT", 300)

    main([str(tmp_path / "out")], root=repository, gates=())

    body = (tmp_path / "out" / "body.md").read_text(encoding="utf-8")
    assert len(body) < 500
    kept = body.partition("\n\nTruncated.")[0]
    assert (tmp_path / "whole" / "body.md").read_text(encoding="utf-8").startswith(f"{kept}\n")
    assert body.endswith(f"`nox -s update_schema -- npm:{PACKAGE}@2.1.0 --dry-run`\n")


@pytest.mark.parametrize(
    ("latest", "told"),
    [
        ("2.0.0", "The schemas are from 2.0.0. The latest version on npm is 2.0.0.\n"),
        ("1.9.0", "The schemas are from 2.0.0. The latest version on npm is 1.9.0.\n"),
        ("2.0.1", "2.0.1 has the same schemas. Nothing to do.\n"),
    ],
    ids=["the same", "an older one", "the same schemas"],
)
def test_nothing_is_proposed_without_newer_schemas(
    *, latest: str, told: str, tmp_path: Path, npm: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publishing.install_npm(npm, published("1.9.0", "2.0.0") | {"2.0.1": publishing.release("2.0.0")})
    (npm / "latest").write_text(latest, encoding="utf-8")

    assert main([str(tmp_path / "out")], root=repository, gates=()) == 0

    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().out == told


@pytest.mark.parametrize("latest", ["", "main; rm -rf .", "../2.1.0"])
def test_an_invalid_version_is_refused(
    latest: str, tmp_path: Path, npm: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publishing.install_npm(npm, published("2.1.0"))
    (npm / "latest").write_text(latest, encoding="utf-8")

    assert main([str(tmp_path / "out")], root=repository, gates=()) == 2

    assert not (tmp_path / "out").exists()
    assert "is not a version" in capsys.readouterr().err


def test_an_existing_branch_is_not_changed(
    tmp_path: Path, npm: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publishing.install_npm(npm, published("2.1.0"))
    git(repository, "branch", "schema-2.1.0")

    assert main([str(tmp_path / "out")], root=repository, gates=()) == 2

    assert git(repository, "branch", "--list", "schema-2.1.0") == "schema-2.1.0"
    assert "schema-2.1.0" in capsys.readouterr().err


@pytest.mark.full
def test_a_new_release_becomes_a_pull_request(tmp_path: Path, npm: Path) -> None:
    copy = tmp_path / "copy"
    for folder in ("codegen", "schema", "src"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    # The other three packages would be built as this one is, but take three times as long.
    build = (copy / "codegen" / "build.py").read_text(encoding="utf-8")
    only, others = re.subn(r'^    "v.+json": \("v(1_unstable|2.*)", ".+"\),\n', "", build, flags=re.MULTILINE)
    assert others == 3
    (copy / "codegen" / "build.py").write_text(only, encoding="utf-8")
    committed(copy, {".gitignore": b"__pycache__/\n"})
    newer = {file: (copy / "schema" / file).read_bytes() for file in FILES}
    v1 = json.loads(newer["v1/schema.json"])
    v1["$defs"]["Implementation"]["properties"]["shoeSize"] = {"type": ["integer", "null"], "format": "int64"}
    newer["v1/schema.json"] = json.dumps(v1).encode()

    publishing.install_npm(npm, {"99.0.0": newer})

    assert main([str(tmp_path / "out")], root=copy, gates=watch.GATES[:1]) == 0

    (_, updated), (subject, generated) = commits(tmp_path / "out", copy)
    assert updated == [f"schema/{LOCK}", "schema/v1/schema.json"]
    assert subject == "Regenerate for schema 99.0.0"
    assert "src/acp_bindings/v1/connection.py" in generated
    body = (tmp_path / "out" / "body.md").read_text(encoding="utf-8")
    assert "- `Implementation.shoe_size` added" in body
    assert "- [ ]" not in body
