import errno
import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from codegen import lock
from codegen.errors import LockError, ReplaceError, SourceError
from codegen.lock import FILES, LOCK, LockedFile
from codegen.replace import replace_together
from codegen.sources import Delivery, fetch, parse_schema
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE

SCHEMAS = Path(__file__).resolve().parents[2] / "schema"
V1 = ("v1/schema.json", "v1/schema.unstable.json")


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


class TestNamesOfSources:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "svn:acp",
            "https://example.org/acp",
            "no/such/folder",
            "npm:",
            "npm:@agentclientprotocol/sdk",
            "npm:@agentclientprotocol/sdk@^2",
            "npm:@agentclientprotocol/sdk@2 || 3",
            "npm:--registry=x@1",
            "npm:../sdk@1",
            "npm:sdk@https://example.org/sdk.tgz",
        ],
    )
    def test_anything_but_an_exact_package_or_a_folder_is_refused(self, text: str) -> None:
        with pytest.raises(SourceError, match=r"not a folder|not a package with a version"):
            fetch(text)


class TestNpm:
    def test_the_real_npm_packs_the_schemas_and_runs_no_script(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if (npm := shutil.which("npm")) is None:
            pytest.skip("npm is not installed here")
        files = publishing.release("9.9.9")
        scripts = {
            name: f"node -e \"require('fs').writeFileSync('{name}.ran', '')\"" for name in ("prepack", "prepare")
        }
        manifest = {"name": PACKAGE, "version": "9.9.9", "scripts": scripts}
        package = publishing.write(
            tmp_path / "sdk",
            {"package.json": json.dumps(manifest).encode(), **{f"schema/{file}": data for file, data in files.items()}},
        )
        publishing.install_npm_for(publishing.write(tmp_path / "bin", {}), npm=npm, package=package)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

        delivery = fetch(f"npm:{PACKAGE}@9.9.9")

        assert delivery == Delivery(source=f"npm:{PACKAGE}@9.9.9", version="9.9.9", files=files)
        assert not list(package.glob("*.ran"))

    def test_a_tag_is_resolved_to_the_exact_version(self, bin_folder: Path) -> None:
        archive = publishing.tarball({f"schema/{file}": data for file, data in publishing.release("3").items()})
        publishing.install_npm(bin_folder, report=publishing.packed("3.0.1", archive), archive=archive)

        delivery = fetch(f"npm:{PACKAGE}@latest")

        assert (delivery.source, delivery.version) == (f"npm:{PACKAGE}@3.0.1", "3.0.1")

    def test_the_single_schema_of_old_packages_is_the_unstable_v1_schema(self, bin_folder: Path) -> None:
        unstable, draft = publishing.schema("flat"), publishing.schema("draft")
        archive = publishing.tarball({"schema/schema.json": unstable, "schema/v2/schema.unstable.json": draft})
        publishing.install_npm(bin_folder, report=publishing.packed("1.9.0", archive), archive=archive)
        source = f"npm:{PACKAGE}@1.9.0"

        with pytest.raises(SourceError, match=r"does not have v1/schema\.json, v2/schema\.json\.") as caught:
            fetch(source)

        assert str(caught.value).endswith("--only v1/schema.unstable.json --only v2/schema.unstable.json")
        taken = fetch(source, only=["v1/schema.unstable.json", "v2/schema.unstable.json"])
        assert taken.files == {"v1/schema.unstable.json": unstable, "v2/schema.unstable.json": draft}

    @pytest.mark.parametrize("other", V1)
    def test_a_single_schema_next_to_v1_schemas_is_ignored(self, bin_folder: Path, other: str) -> None:
        archive = publishing.tarball({"schema/schema.json": b"flat", f"schema/{other}": publishing.schema()})
        publishing.install_npm(bin_folder, report=publishing.packed("3.0.0", archive), archive=archive)

        with pytest.raises(SourceError, match=f"add: --only {other}$"):
            fetch(f"npm:{PACKAGE}@3.0.0")

        assert fetch(f"npm:{PACKAGE}@3.0.0", only=[other]).files == {other: publishing.schema()}

    def test_a_package_without_schemas_is_refused(self, bin_folder: Path) -> None:
        archive = publishing.tarball({"index.js": b"", "docs/schema/v1/schema.json": publishing.schema()})
        publishing.install_npm(bin_folder, report=publishing.packed("1.0.0", archive), archive=archive)

        with pytest.raises(SourceError, match="nor any other schema"):
            fetch("npm:other@1.0.0")

    @pytest.mark.usefixtures("bin_folder")
    def test_a_missing_npm_is_reported(self) -> None:
        with pytest.raises(SourceError, match='command not found: "npm"'):
            fetch(f"npm:{PACKAGE}@2.4.0")

    def test_the_output_of_a_failing_npm_is_shown(self, bin_folder: Path) -> None:
        publishing.install_npm(bin_folder, status=1, complaint="npm error code ETARGET\n")

        with pytest.raises(SourceError, match=r"exit status 1\nnpm error code ETARGET$"):
            fetch(f"npm:{PACKAGE}@99.0.0")

    def test_a_hanging_npm_is_stopped(self, bin_folder: Path) -> None:
        publishing.install_hanging_npm(bin_folder)

        with pytest.raises(SourceError, match=r"no answer within 0\.2 s"):
            fetch(f"npm:{PACKAGE}@2.4.0", timeout=0.2)

    def test_a_package_with_another_integrity_is_refused(self, bin_folder: Path) -> None:
        archive = publishing.tarball({f"schema/{file}": data for file, data in publishing.release("2").items()})
        report = publishing.packed("2.4.0", archive, integrity="sha512-AAAA")
        publishing.install_npm(bin_folder, report=report, archive=archive)

        with pytest.raises(SourceError, match="expected sha512-AAAA"):
            fetch(f"npm:{PACKAGE}@2.4.0")

    @pytest.mark.parametrize("part", [0.9, 0.0])
    def test_a_truncated_package_is_refused(self, bin_folder: Path, part: float) -> None:
        files = {f"schema/{file}": data for file, data in publishing.release("2").items()}
        archive = publishing.tarball(files)
        truncated = archive[: int(len(archive) * part)]
        publishing.install_npm(bin_folder, report=publishing.packed("2.4.0", truncated), archive=truncated)

        with pytest.raises(SourceError, match=r"sdk\.tgz is not a package|nor any other schema"):
            fetch(f"npm:{PACKAGE}@2.4.0")

    @pytest.mark.parametrize("report", ["", "packed it", "{}", "[]", '[{"name": "sdk"}]', "null"])
    def test_an_unknown_report_of_npm_is_refused(self, bin_folder: Path, report: str) -> None:
        publishing.install_npm(bin_folder, report=report)

        with pytest.raises(SourceError, match="the report"):
            fetch(f"npm:{PACKAGE}@2.4.0")


class TestFolder:
    def test_the_name_of_a_folder_is_recorded_and_not_its_path(self, tmp_path: Path) -> None:
        files = publishing.release("3")
        folder = publishing.write(tmp_path / "checkout", {**files, "v1/meta.json": b"{}"})

        assert fetch(str(folder)) == Delivery(source="folder:checkout", version="unknown", files=files)

    def test_an_incomplete_folder_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path / "checkout", {"v2/schema.json": publishing.schema()})

        with pytest.raises(SourceError, match=r"add: --only v2/schema\.json$"):
            fetch(str(folder))


class TestChecks:
    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "the file is empty"),
            (publishing.schema()[:-1], "truncated"),
            (publishing.schema()[:50], "truncated"),
            (b"<!DOCTYPE html>", "not JSON"),
            (b"\xff\xfe{}", "not UTF-8"),
            (b"[]", "not an object"),
            (b'{"$defs": {"A": {"x-side": "agent", "x-method": "a"}}}', r"\$schema"),
            (b'{"$schema": "https://json-schema.org/draft/2020-12/schema"}', r"\$defs"),
            (b'{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {}}}', "x-side and x-method"),
        ],
    )
    def test_a_file_that_is_not_an_acp_schema_is_refused(self, data: bytes, reason: str) -> None:
        with pytest.raises(SourceError, match=rf"^v1/schema\.json: not an ACP schema: .*{reason}"):
            parse_schema("v1/schema.json", data)

    def test_every_file_of_a_source_is_checked(self, tmp_path: Path) -> None:
        for broken in FILES:
            folder = publishing.write(tmp_path / broken, {**publishing.release("3"), broken: b"{}"})

            with pytest.raises(SourceError, match=f"^{broken}: not an ACP schema"):
                fetch(str(folder))

    def test_a_file_with_another_digest_than_required_is_refused(self, tmp_path: Path) -> None:
        files = publishing.release("3")
        source = str(publishing.write(tmp_path, files))
        right = {file: hashlib.sha256(data).hexdigest().upper() for file, data in files.items()}

        assert fetch(source, sha256=right).files == files
        with pytest.raises(SourceError, match=r"^v2/schema\.json: expected sha256 0000"):
            fetch(source, sha256={**right, "v2/schema.json": "0" * 64})


class TestLock:
    def test_a_written_lock_is_read_back(self, tmp_path: Path) -> None:
        locked = {"v1/schema.json": LockedFile.of(b"{}", source='folder:a "b" \\ c', version="1.0.0")}
        (tmp_path / LOCK).write_text(lock.render(locked), encoding="utf-8")

        assert lock.read(tmp_path) == locked

    def test_a_file_that_differs_from_the_lock_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        recorded = (folder / "v1/schema.json").read_bytes()
        assert lock.verified_bytes(folder, "v1/schema.json") == recorded

        (folder / "v1/schema.json").write_bytes(recorded.replace(b"\n", b"\r\n") + b"\n")

        with pytest.raises(LockError) as caught:
            lock.verified_bytes(folder, "v1/schema.json")
        assert caught.value.file == "v1/schema.json"
        with pytest.raises(LockError):
            lock.load_schemas(folder)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        (folder / "v2/schema.json").unlink()

        with pytest.raises(LockError) as caught:
            lock.load_schemas(folder)

        assert caught.value.file == "v2/schema.json"

    def test_a_file_that_is_not_in_the_lock_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        locked = lock.read(folder)
        del locked["v2/schema.json"]
        (folder / LOCK).write_text(lock.render(locked), encoding="utf-8")

        with pytest.raises(LockError) as caught:
            lock.load_schemas(folder)

        assert caught.value.file == "v2/schema.json"

    @pytest.mark.parametrize(
        "text",
        [
            "<<<<<<< ours",
            "version = 1",
            '["v1/schema.json"]\nsource = "x"',
            '["v1/schema.json"]\nsource = "x"\nversion = "1"\nsize = 2\nsha256 = "abc"',
        ],
    )
    def test_a_broken_lock_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / LOCK).write_text(text, encoding="utf-8")

        with pytest.raises(LockError) as caught:
            lock.read(tmp_path)

        assert caught.value.file == LOCK

    def test_a_missing_lock_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(LockError, match="the file is missing"):
            lock.read(tmp_path)

    def test_the_schemas_of_this_project_match_the_lock(self) -> None:
        schemas = lock.load_schemas(SCHEMAS)

        assert tuple(schemas) == FILES
        assert (SCHEMAS / LOCK).read_text(encoding="utf-8") == lock.render(lock.read(SCHEMAS))
        assert all(parse_schema(file, lock.verified_bytes(SCHEMAS, file)) == schema for file, schema in schemas.items())


class TestReplacing:
    def test_all_files_are_replaced_and_no_copies_remain(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "other": b"other"})

        replace_together(folder, {"a": b"new a", "new/b": b"new b"})

        assert publishing.contents(folder) == {"a": b"new a", "new/b": b"new b", "other": b"other"}

    def test_a_failed_replacement_restores_all_files(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "c/in the way": b""})
        before = publishing.contents(folder)

        with pytest.raises(ReplaceError) as caught:
            replace_together(folder, {"a": b"new a", "b": b"new b", "c": b"c is a folder"})

        assert (caught.value.path, caught.value.lost) == (folder / "c", ())
        assert publishing.contents(folder) == before

    def test_a_failure_before_the_first_replacement_leaves_no_copies(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "b": b"b is a file"})
        before = publishing.contents(folder)

        with pytest.raises(ReplaceError):
            replace_together(folder, {"a": b"new a", "b/c": b"new c"})

        assert publishing.contents(folder) == before

    def test_an_interrupt_restores_all_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "b": b"old b"})
        before = publishing.contents(folder)
        replace = os.replace

        def interrupted(source: Path, target: Path) -> None:
            replace(source, target)
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            replace_together(folder, {"a": b"new a", "b": b"new b"})

        assert publishing.contents(folder) == before

    def test_a_file_that_is_not_restored_keeps_its_copy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "b": b"old b"})
        replace = os.replace

        def refused(source: Path, target: Path) -> None:
            if source.name != ".a.new":
                raise OSError(errno.EIO, "Input/output error")
            replace(source, target)

        monkeypatch.setattr(os, "replace", refused)
        with pytest.raises(ReplaceError) as caught:
            replace_together(folder, {"a": b"new a", "b": b"new b"})

        assert (caught.value.path, caught.value.lost) == (folder / "b", (folder / ".a.old", folder / ".b.old"))
        assert publishing.contents(folder) == {"a": b"new a", "b": b"old b", ".a.old": b"old a", ".b.old": b"old b"}
