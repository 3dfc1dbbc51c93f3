from pathlib import Path

import pytest

from release.__main__ import main
from release.changelog import Section, sections

REPOSITORY = "https://example.org/someone/acp"
OTHER = "https://example.org/other/acp"
CHANGES = """\
# Changelog

## Unreleased

## 1.1.0 - 2026-12-24

### Added

- **`one`**: what it does stands
  on two lines.
- two

## [1.0.0] - 2026-11-30

- The first.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    project = f'[project]\nversion = "1.1.0"\n[project.urls]\nRepository = "{REPOSITORY}"\n'
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    return tmp_path


def test_the_notes_are_the_changelog_section_with_unwrapped_paragraphs(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["v1.1.0", "--repository", REPOSITORY], root=root) == 0

    said = capsys.readouterr()
    assert said.out == "### Added\n\n- **`one`**: what it does stands on two lines.\n- two\n"
    assert said.err == ""


def test_the_notes_are_written_to_the_given_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["v1.1.0", "--output", str(root / "notes.md")], root=root) == 0

    assert (root / "notes.md").read_text(encoding="utf-8").startswith("### Added\n")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("changes", "options", "complaint"),
    [
        (CHANGES, ["1.1.0"], "the tag is 1.1.0, but the version in pyproject.toml is 1.1.0: expected v1.1.0"),
        (CHANGES, ["v1.2.0"], "the tag is v1.2.0, but the version in pyproject.toml is 1.1.0: expected v1.1.0"),
        ("# Changelog\n", ["v1.1.0"], 'CHANGELOG.md has no section "## 1.1.0 - YYYY-MM-DD"'),
        ("## 1.1.0\n\n- two\n", ["v1.1.0"], 'CHANGELOG.md: "## 1.1.0" needs its date, as in "## 1.1.0 - 2026-01-31"'),
        (
            "## 1.1.0 - soon\n\n- two\n",
            ["v1.1.0"],
            'CHANGELOG.md: "## 1.1.0" needs its date, as in "## 1.1.0 - 2026-01-31"',
        ),
        ("## 1.1.0 - 2026-12-24\n", ["v1.1.0"], 'CHANGELOG.md: there is no text below "## 1.1.0"'),
        (
            CHANGES.replace("## Unreleased\n", "## Unreleased\n\n- three\n"),
            ["v1.1.0"],
            'CHANGELOG.md: the changes below "## Unreleased" would be released, but are not in the notes',
        ),
        (
            CHANGES,
            ["v1.1.0", "--repository", OTHER],
            f"the repository is {OTHER}, but pyproject.toml says {REPOSITORY}, which the package's page links to",
        ),
    ],
)
def test_an_error_is_reported_and_no_notes_are_written(
    changes: str, options: list[str], complaint: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "CHANGELOG.md").write_text(changes, encoding="utf-8")

    assert main([*options, "--output", str(root / "notes.md")], root=root) == 1

    assert capsys.readouterr() == ("", f"error: {complaint}\n")
    assert not (root / "notes.md").exists()


def test_sections_are_found_with_and_without_brackets() -> None:
    assert sections(CHANGES)["1.0.0"] == Section("2026-11-30", "- The first.")
    assert list(sections(CHANGES)) == ["Unreleased", "1.1.0", "1.0.0"]


def test_the_changelog_here_can_be_read() -> None:
    text = (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert all(section.text or name == "Unreleased" for name, section in sections(text).items())
    assert "Unreleased" in sections(text)
