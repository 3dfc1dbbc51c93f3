import json
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import lock
from codegen.lock import FILES, LOCK
from codegen.update import main
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publishing.schema_folder(tmp_path / "schema")


def run(folder: Path, *arguments: str) -> int:
    return main([*arguments, "--schema-folder", str(folder)])


class TestReplacing:
    def test_the_files_and_the_lock_are_replaced_together(
        self, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = publishing.release("3")
        source = publishing.write(tmp_path / "new", files)

        status = run(folder, str(source))

        assert status == 0
        assert publishing.contents(folder) == publishing.locked(files, "unknown", "folder:new")
        assert publishing.load_schemas(folder) == {file: json.loads(data) for file, data in files.items()}
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == "From folder:new:"
        assert [line.split()[0] for line in printed[1:5]] == list(FILES)
        assert all(line.endswith("changed") for line in printed[1:5])
        assert printed[5:9] == ["", "### v1/schema.json: 1.0.0 → unknown", "", "- 1 description changed"]
        assert printed[-1] == f"Wrote {folder}. Next: nox -s generate"

    def test_a_file_that_is_unchanged_in_a_folder_keeps_its_source(self, tmp_path: Path, folder: Path) -> None:
        new = {**publishing.release("the old release"), FILES[1]: publishing.schema("A new one.")}

        assert run(folder, str(publishing.write(tmp_path / "new", new))) == 0

        assert publishing.load_schemas(folder)
        sources = {file: entry.source for file, entry in lock.read(folder).items()}
        assert sources == {file: "folder:new" if file == FILES[1] else f"npm:{PACKAGE}@1.0.0" for file in FILES}

    def test_a_release_replaces_the_source_of_a_file_that_is_unchanged(self, folder: Path, npm: Path) -> None:
        publishing.install_npm(npm, {"2.0.0": publishing.release("the old release")})

        assert run(folder, f"npm:{PACKAGE}@2.0.0") == 0

        assert {entry.source for entry in lock.read(folder).values()} == {f"npm:{PACKAGE}@2.0.0"}

    def test_an_empty_folder_is_filled(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        files = publishing.release("3")
        source = publishing.write(tmp_path / "new", files)

        assert run(tmp_path / "schema", str(source)) == 0

        assert list(publishing.load_schemas(tmp_path / "schema")) == list(FILES)
        assert "###" not in capsys.readouterr().out

    def test_replacing_every_file_repairs_a_broken_lock(self, tmp_path: Path, folder: Path) -> None:
        (folder / LOCK).write_text("<<<<<<< ours", encoding="utf-8")
        (folder / "v1/schema.json").write_text("<<<<<<< ours", encoding="utf-8")

        assert run(folder, str(publishing.write(tmp_path / "new", publishing.release("3")))) == 0

        assert publishing.load_schemas(folder)

    def test_a_dry_run_and_a_second_update_replace_nothing(
        self, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = publishing.contents(folder)
        source = str(publishing.write(tmp_path / "new", publishing.release("3")))

        assert run(folder, source, "--dry-run") == 0
        dry = capsys.readouterr().out.splitlines()
        assert publishing.contents(folder) == before

        assert run(folder, source) == 0
        assert capsys.readouterr().out.splitlines()[:-1] == dry[:-1]
        assert dry[-1] == "Dry run: nothing was changed."
        once = publishing.contents(folder)

        assert run(folder, source) == 0
        assert publishing.contents(folder) == once


class TestTrouble:
    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("svn:acp", "svn:acp: not a folder"),
            ("schema", "this is the folder to update"),
            ("truncated", "v2/schema.unstable.json: not an ACP schema: not JSON"),
            ("incomplete", "does not have v2/schema.unstable.json"),
            (f"npm:{PACKAGE}@2.4.0", 'command not found: "npm"'),
        ],
    )
    @pytest.mark.usefixtures("no_programs")
    def test_a_failed_update_changes_nothing(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, message: str
    ) -> None:
        last, others = FILES[-1], publishing.release("3")
        data = others.pop(last)
        publishing.write(tmp_path / "incomplete", others)
        publishing.write(tmp_path / "truncated", {**others, last: data[:-20]})
        before = publishing.contents(folder)

        status = run(folder, source if ":" in source else str(tmp_path / source))

        assert status == 2
        assert publishing.contents(folder) == before
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert message in printed.err

    def test_the_module_without_a_source_shows_the_usage(self) -> None:
        command = [sys.executable, "-m", "codegen.update"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)

        assert done.returncode == 2
        assert "usage: nox -s update_schema -- " in done.stderr
