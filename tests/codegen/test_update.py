import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codegen.sources import FILES, LOCK, LockedFile, lock
from codegen.sources.web import RELEASES_VARIABLE
from codegen.update import main
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE, Page, Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with publishing.site() as running:
        yield running


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

    def test_a_release_of_one_protocol_version_keeps_the_files_of_the_other(
        self, folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before, old = publishing.contents(folder), lock.read(folder)
        assets = {
            f"schema-v2.0.0-alpha.9/{name}": publishing.schema(name) for name in ("schema.json", "schema.unstable.json")
        }
        monkeypatch.setenv(RELEASES_VARIABLE, site.publish("mirror", assets))

        assert run(folder, "github:schema-v2.0.0-alpha.9") == 0

        after, new = publishing.contents(folder), lock.read(folder)
        assert [file for file in FILES if after[file] != before[file]] == ["v2/schema.json", "v2/schema.unstable.json"]
        assert [file for file in FILES if new[file] != old[file]] == ["v2/schema.json", "v2/schema.unstable.json"]
        assert new["v2/schema.json"].source == "github:schema-v2.0.0-alpha.9"
        assert lock.load_schemas(folder)
        assert capsys.readouterr().out.count("kept, from npm:old@1.0.0") == 2

    def test_only_the_named_files_are_replaced(self, tmp_path: Path, folder: Path) -> None:
        before = publishing.contents(folder)
        source = publishing.write(tmp_path / "new", {"v1/schema.json": publishing.schema("the one")})

        assert run(folder, str(source), "--only", "v1/schema.json") == 0

        after = publishing.contents(folder)
        assert {file for file in before if after[file] != before[file]} == {"v1/schema.json", LOCK}
        assert lock.load_schemas(folder)

    def test_a_broken_lock_is_no_obstacle_when_every_file_is_replaced(self, tmp_path: Path, folder: Path) -> None:
        (folder / LOCK).write_text("<<<<<<< ours", encoding="utf-8")
        (folder / "v1/schema.json").write_text("<<<<<<< ours", encoding="utf-8")

        assert run(folder, str(publishing.write(tmp_path / "new", publishing.release("3")))) == 0

        assert lock.load_schemas(folder)

    def test_a_dry_run_prints_the_same_and_replaces_nothing(
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

    def test_the_demanded_digests_let_the_right_bytes_pass(self, tmp_path: Path, folder: Path) -> None:
        files = publishing.release("3")
        digests = [
            f"--sha256={file}={LockedFile.of(data, source='', version='').sha256}" for file, data in files.items()
        ]

        assert run(folder, str(publishing.write(tmp_path / "new", files)), *digests) == 0

    def test_the_same_release_again_changes_no_byte(self, tmp_path: Path, folder: Path) -> None:
        source = str(publishing.write(tmp_path / "new", publishing.release("3")))
        run(folder, source)
        once = publishing.contents(folder)

        assert run(folder, source) == 0

        assert publishing.contents(folder) == once


class Trouble:
    """The ways in which a source is unusable: each returns the arguments of the command."""

    def __init__(self, tmp_path: Path, folder: Path, site: Site, bin_folder: Path) -> None:
        self.tmp_path, self.folder, self.site, self.bin_folder = tmp_path, folder, site, bin_folder
        self.files = publishing.release("3")

    def an_unknown_source(self) -> list[str]:
        return ["svn:acp"]

    def the_folder_itself(self) -> list[str]:
        return [str(self.folder)]

    def a_wrong_digest(self) -> list[str]:
        return [self.site.publish("acp", self.files), "--sha256", f"v2/schema.unstable.json={'0' * 64}"]

    def half_a_download(self) -> list[str]:
        base = self.site.publish("acp", self.files)
        self.site.pages["/acp/v2/schema.unstable.json"].announced = 100_000
        return [base]

    def half_a_file(self) -> list[str]:
        cut = {"v2/schema.unstable.json": self.files["v2/schema.unstable.json"][:-20]}
        return [self.site.publish("acp", {**self.files, **cut})]

    def no_acp_schema(self) -> list[str]:
        return [self.site.publish("acp", {**self.files, "v2/schema.unstable.json": b'{"$defs": {}}'})]

    def a_file_that_is_not_there(self) -> list[str]:
        base = self.site.publish("acp", self.files)
        del self.site.pages["/acp/v2/schema.unstable.json"]
        return [base]

    def an_error_of_the_server(self) -> list[str]:
        base = self.site.publish("acp", self.files)
        self.site.pages["/acp/v2/schema.unstable.json"] = Page(status=500)
        return [base]

    def redirects_without_end(self) -> list[str]:
        base = self.site.publish("acp", self.files)
        self.site.pages["/acp/v2/schema.unstable.json"] = Page(
            status=302, headers={"Location": f"{base}/v2/schema.unstable.json"}
        )
        return [base]

    def no_answer(self) -> list[str]:
        base = self.site.publish("acp", self.files)
        self.site.pages["/acp/v2/schema.unstable.json"].stalls = True
        return [base, "--timeout", "0.2"]

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
        return [str(publishing.write(self.tmp_path / "new", self.files))]

    def a_kept_file_that_is_not_the_recorded_one(self) -> list[str]:
        (self.folder / "v2/schema.json").write_bytes(publishing.schema("edited by hand"))
        return [str(publishing.write(self.tmp_path / "new", self.files)), "--only", "v1/schema.json"]

    def no_lock_to_keep_the_others_in(self) -> list[str]:
        (self.folder / LOCK).unlink()
        return [str(publishing.write(self.tmp_path / "new", self.files)), "--only", "v1/schema.json"]


@pytest.fixture
def surroundings(tmp_path: Path, folder: Path, site: Site, bin_folder: Path) -> Trouble:
    return Trouble(tmp_path, folder, site, bin_folder)


TROUBLES: list[tuple[Callable[[Trouble], list[str]], str]] = [
    (Trouble.an_unknown_source, "svn:acp: there is no such folder"),
    (Trouble.the_folder_itself, "this is the very folder to update"),
    (Trouble.a_wrong_digest, "v2/schema.unstable.json: expected sha256 000000"),
    (Trouble.half_a_download, "v2/schema.unstable.json: the download stopped half-way"),
    (Trouble.half_a_file, "v2/schema.unstable.json: not an ACP schema: it is cut off"),
    (Trouble.no_acp_schema, "v2/schema.unstable.json: not an ACP schema"),
    (Trouble.a_file_that_is_not_there, "has no v2/schema.unstable.json"),
    (Trouble.an_error_of_the_server, "v2/schema.unstable.json: the server answered HTTP 500"),
    (Trouble.redirects_without_end, "v2/schema.unstable.json: the server redirects without end"),
    (Trouble.no_answer, "v2/schema.unstable.json: no complete answer within 0.2 s"),
    (Trouble.no_npm, 'command not found: "npm"'),
    (Trouble.an_npm_that_fails, "npm error code ETARGET"),
    (Trouble.a_package_with_another_integrity, "expected sha512-AAAA"),
    (Trouble.a_disk_that_refuses_the_lock, "lock.toml: "),
    (Trouble.a_kept_file_that_is_not_the_recorded_one, "v2/schema.json: it is not the file that lock.toml records"),
    (Trouble.no_lock_to_keep_the_others_in, "lock.toml: there is none"),
]


class TestTrouble:
    @pytest.mark.parametrize(("trouble", "message"), TROUBLES, ids=[trouble.__name__ for trouble, _ in TROUBLES])
    def test_what_was_there_stays_untouched(
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
    def test_wrong_arguments_are_explained(
        self, folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as caught:
            run(folder, *arguments)

        assert caught.value.code == 2
        assert "usage: nox -s update_schema -- " in capsys.readouterr().err


class TestCommand:
    def test_it_runs_as_a_module(self, tmp_path: Path, folder: Path) -> None:
        source = publishing.write(tmp_path / "new", publishing.release("3"))
        command = [sys.executable, "-m", "codegen.update", str(source), "--schema-folder", str(folder)]

        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)

        assert done.stdout.endswith("Next: nox -s generate\n")
        assert lock.read(folder)["v1/schema.json"].source == "folder:new"
