import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import lock
from codegen.lock import FILES, LOCK, LockedFile
from codegen.update import main
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publishing.schema_folder(tmp_path / "schema")


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = publishing.write(tmp_path / "bin", {})
    monkeypatch.setenv("PATH", str(folder))
    return folder


def run(folder: Path, *arguments: str) -> int:
    return main([*arguments, "--schema-folder", str(folder)])


class TestReplacing:
    def test_the_files_and_the_lock_are_replaced_together(
        self, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = publishing.release("3")
        source = publishing.write(tmp_path / "new", files)

        status = run(folder, str(source), "--release", "1.22.0")

        locked = {file: LockedFile.of(data, source="folder:new", version="1.22.0") for file, data in files.items()}
        assert status == 0
        assert publishing.contents(folder) == {**files, LOCK: lock.render(locked).encode()}
        assert lock.load_schemas(folder) == {file: json.loads(data) for file, data in files.items()}
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == "From folder:new:"
        assert [line.split()[0] for line in printed[1:5]] == list(FILES)
        assert all(line.endswith("changed") for line in printed[1:5])
        assert printed[5:9] == ["", "### v1/schema.json: 1.0.0 → 1.22.0", "", "- 1 description changed"]
        assert printed[-1] == f"Wrote {folder}. Next: nox -s generate"

    def test_an_empty_folder_is_filled(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        files = publishing.release("3")
        source = publishing.write(tmp_path / "new", files)

        assert run(tmp_path / "schema", str(source)) == 0

        assert list(lock.load_schemas(tmp_path / "schema")) == list(FILES)
        assert "###" not in capsys.readouterr().out

    def test_only_the_named_files_are_replaced(
        self, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = publishing.contents(folder)
        source = publishing.write(tmp_path / "new", {"v1/schema.json": publishing.schema("the one")})

        assert run(folder, str(source), "--only", "v1/schema.json") == 0

        after = publishing.contents(folder)
        assert {file for file in before if after[file] != before[file]} == {"v1/schema.json", LOCK}
        assert lock.load_schemas(folder)
        assert capsys.readouterr().out.count("kept, from npm:old@1.0.0") == 3

    def test_replacing_every_file_repairs_a_broken_lock(self, tmp_path: Path, folder: Path) -> None:
        (folder / LOCK).write_text("<<<<<<< ours", encoding="utf-8")
        (folder / "v1/schema.json").write_text("<<<<<<< ours", encoding="utf-8")

        assert run(folder, str(publishing.write(tmp_path / "new", publishing.release("3")))) == 0

        assert lock.load_schemas(folder)

    def test_a_dry_run_prints_the_report_and_replaces_nothing(
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

    def test_files_with_the_required_digests_are_accepted(self, tmp_path: Path, folder: Path) -> None:
        files = publishing.release("3")
        digests = [
            f"--sha256={file}={LockedFile.of(data, source='', version='').sha256}" for file, data in files.items()
        ]

        assert run(folder, str(publishing.write(tmp_path / "new", files)), *digests) == 0

    def test_updating_to_the_same_release_changes_nothing(self, tmp_path: Path, folder: Path) -> None:
        source = str(publishing.write(tmp_path / "new", publishing.release("3")))
        run(folder, source)
        once = publishing.contents(folder)

        assert run(folder, source) == 0

        assert publishing.contents(folder) == once


class Trouble:
    """The ways in which an update fails. Each method returns the arguments of the command."""

    def __init__(self, tmp_path: Path, folder: Path, bin_folder: Path) -> None:
        self.tmp_path, self.folder, self.bin_folder = tmp_path, folder, bin_folder
        self.files = publishing.release("3")

    def published(self, files: dict[str, bytes]) -> str:
        return str(publishing.write(self.tmp_path / "new", files))

    def an_unknown_source(self) -> list[str]:
        return ["svn:acp"]

    def the_folder_itself(self) -> list[str]:
        return [str(self.folder)]

    def a_wrong_digest(self) -> list[str]:
        return [self.published(self.files), "--sha256", f"v2/schema.unstable.json={'0' * 64}"]

    def half_a_file(self) -> list[str]:
        cut = {"v2/schema.unstable.json": self.files["v2/schema.unstable.json"][:-20]}
        return [self.published({**self.files, **cut})]

    def no_acp_schema(self) -> list[str]:
        return [self.published({**self.files, "v2/schema.unstable.json": b'{"$defs": {}}'})]

    def a_file_that_is_not_there(self) -> list[str]:
        del self.files["v2/schema.unstable.json"]
        return [self.published(self.files)]

    def no_npm(self) -> list[str]:
        return [f"npm:{PACKAGE}@2.4.0"]

    def an_npm_that_fails(self) -> list[str]:
        publishing.install_npm(self.bin_folder, status=1, complaint="npm error code ETARGET")
        return [f"npm:{PACKAGE}@99.0.0"]

    def a_package_with_another_integrity(self) -> list[str]:
        archive = publishing.tarball({f"schema/{file}": data for file, data in self.files.items()})
        report = publishing.packed("3.0.0", archive, integrity="sha512-AAAA")
        publishing.install_npm(self.bin_folder, report=report, archive=archive)
        return [f"npm:{PACKAGE}@3.0.0"]

    def a_disk_that_refuses_the_lock(self) -> list[str]:
        (self.folder / LOCK).unlink()
        publishing.write(self.folder / LOCK, {"in the way": b"a lock that is a folder"})
        return [self.published(self.files)]

    def a_kept_file_that_is_not_the_recorded_one(self) -> list[str]:
        (self.folder / "v2/schema.json").write_bytes(publishing.schema("edited by hand"))
        return [self.published(self.files), "--only", "v1/schema.json"]

    def no_lock_to_keep_the_others_in(self) -> list[str]:
        (self.folder / LOCK).unlink()
        return [self.published(self.files), "--only", "v1/schema.json"]


@pytest.fixture
def surroundings(tmp_path: Path, folder: Path, bin_folder: Path) -> Trouble:
    return Trouble(tmp_path, folder, bin_folder)


TROUBLES: list[tuple[Callable[[Trouble], list[str]], str]] = [
    (Trouble.an_unknown_source, "svn:acp: not a folder"),
    (Trouble.the_folder_itself, "this is the folder to update"),
    (Trouble.a_wrong_digest, "v2/schema.unstable.json: expected sha256 000000"),
    (Trouble.half_a_file, "v2/schema.unstable.json: not an ACP schema: truncated"),
    (Trouble.no_acp_schema, "v2/schema.unstable.json: not an ACP schema"),
    (Trouble.a_file_that_is_not_there, "does not have v2/schema.unstable.json"),
    (Trouble.no_npm, 'command not found: "npm"'),
    (Trouble.an_npm_that_fails, "npm error code ETARGET"),
    (Trouble.a_package_with_another_integrity, "expected sha512-AAAA"),
    (Trouble.a_disk_that_refuses_the_lock, "lock.toml: "),
    (Trouble.a_kept_file_that_is_not_the_recorded_one, "v2/schema.json: differs from the file that lock.toml records"),
    (Trouble.no_lock_to_keep_the_others_in, "lock.toml: the file is missing"),
]


class TestTrouble:
    @pytest.mark.parametrize(("trouble", "message"), TROUBLES, ids=[trouble.__name__ for trouble, _ in TROUBLES])
    def test_a_failed_update_changes_nothing(
        self,
        surroundings: Trouble,
        capsys: pytest.CaptureFixture[str],
        trouble: Callable[[Trouble], list[str]],
        message: str,
    ) -> None:
        folder, arguments = surroundings.folder, trouble(surroundings)
        before = publishing.contents(folder)

        status = run(folder, *arguments)

        assert status == 2
        assert publishing.contents(folder) == before
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert message in printed.err
        assert printed.err.endswith("Nothing was changed.\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["x", "--only", "v3/schema.json"],
            ["x", "--sha256", "v1/schema.json=12"],
            ["x", "--sha256", f"a={'0' * 64}"],
        ],
    )
    def test_wrong_arguments_show_the_usage(
        self, folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as caught:
            run(folder, *arguments)

        assert caught.value.code == 2
        assert "usage: nox -s update_schema -- " in capsys.readouterr().err


class TestCommand:
    def test_the_command_runs_as_a_module(self, tmp_path: Path, folder: Path) -> None:
        source = publishing.write(tmp_path / "new", publishing.release("3"))
        command = [sys.executable, "-m", "codegen.update", str(source), "--schema-folder", str(folder)]

        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)

        assert done.stdout.endswith("Next: nox -s generate\n")
        assert lock.read(folder)["v1/schema.json"].source == "folder:new"
