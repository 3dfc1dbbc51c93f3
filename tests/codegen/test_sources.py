import json
import os
import shutil
from pathlib import Path

import pytest

from codegen import lock, sources
from codegen.lock import FILES, LOCK, LockError, SourceError, records_of
from codegen.sources import Delivery, fetch, from_npm, parse_schema
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE

SCHEMAS = Path(__file__).resolve().parents[2] / "schema"
V1 = ("v1/schema.json", "v1/schema.unstable.json")


class TestNamesOfSources:
    @pytest.mark.parametrize(
        "text",
        [
            *("", "svn:acp", "no/such/folder", "npm:", f"npm:{PACKAGE}", f"npm:{PACKAGE}@^2", "npm:--registry=x@1"),
            *("npm:../sdk@1", "npm:sdk@https://example.org/sdk.tgz"),
        ],
    )
    def test_anything_but_an_exact_package_or_a_folder_is_refused(self, text: str) -> None:
        with pytest.raises(SourceError, match=r"not a folder|not a package with a version"):
            fetch(text)


class TestNpm:
    def test_the_real_npm_packs_the_schemas_and_runs_no_script(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if (real := shutil.which("npm")) is None:
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
        publishing.install_npm_for(publishing.write(tmp_path / "bin", {}), npm=real, package=package)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

        delivery = fetch(f"npm:{PACKAGE}@9.9.9")

        assert delivery == Delivery(source=f"npm:{PACKAGE}@9.9.9", version="9.9.9", files=files)
        assert not list(package.glob("*.ran"))

    def test_a_tag_is_resolved_to_the_exact_version(self, npm: Path) -> None:
        publishing.install_npm(npm, {"3.0.1": publishing.release("3")})

        delivery = fetch(f"npm:{PACKAGE}@latest")

        assert (delivery.source, delivery.version) == (f"npm:{PACKAGE}@3.0.1", "3.0.1")

    def test_the_single_schema_of_old_packages_is_the_unstable_v1_schema(self, npm: Path) -> None:
        unstable, draft = publishing.schema("flat"), publishing.schema("draft")
        publishing.install_npm(npm, {"1.9.0": {"schema.json": unstable, "v2/schema.unstable.json": draft}})

        taken = from_npm(f"{PACKAGE}@1.9.0")

        assert taken.files == {"v1/schema.unstable.json": unstable, "v2/schema.unstable.json": draft}
        with pytest.raises(SourceError, match=r"does not have v1/schema\.json, v2/schema\.json\."):
            fetch(f"npm:{PACKAGE}@1.9.0")

    @pytest.mark.parametrize("other", V1)
    def test_a_single_schema_next_to_v1_schemas_is_ignored(self, npm: Path, other: str) -> None:
        publishing.install_npm(npm, {"3.0.0": {"schema.json": b"flat", other: publishing.schema()}})

        assert from_npm(f"{PACKAGE}@3.0.0").files == {other: publishing.schema()}

    def test_a_package_without_schemas_is_refused(self, npm: Path) -> None:
        publishing.install_npm(npm, {"1.0.0": {"docs/v1/schema.json": publishing.schema()}})

        with pytest.raises(SourceError, match=r"does not have v1/schema\.json, "):
            fetch("npm:other@1.0.0")

    def test_the_output_of_a_failing_npm_is_shown(self, npm: Path) -> None:
        publishing.install_failing_npm(npm, "npm error code ETARGET")

        with pytest.raises(SourceError, match=r"exit status 1\nnpm error code ETARGET$"):
            fetch(f"npm:{PACKAGE}@99.0.0")

    def test_a_hanging_npm_is_stopped(self, npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        publishing.install_hanging_npm(npm)
        monkeypatch.setattr(sources, "TIMEOUT", 0.2)

        with pytest.raises(SourceError, match=r"no answer within 0\.2 s"):
            fetch(f"npm:{PACKAGE}@2.4.0")


class TestFolder:
    def test_the_name_of_a_folder_is_recorded_and_not_its_path(self, tmp_path: Path) -> None:
        files = publishing.release("3")
        folder = publishing.write(tmp_path / "checkout", {**files, "v1/meta.json": b"{}"})

        assert fetch(str(folder)) == Delivery(source="folder:checkout", version="unknown", files=files)


class TestChecks:
    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "not JSON"),
            (publishing.schema()[:-1], "not JSON"),
            (b"\xff\xfe{}", "not JSON"),
            (b"[]", r"\$schema"),
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


class TestLock:
    def test_a_written_lock_is_read_back(self, tmp_path: Path) -> None:
        locked = records_of({"v1/schema.json": b"{}"}, source='folder:a "b" \\ c', version="1.0.0")
        (tmp_path / LOCK).write_text(lock.render(locked), encoding="utf-8")

        assert lock.read(tmp_path) == locked

    def test_a_file_that_is_not_in_the_lock_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        locked = {file: entry for file, entry in lock.read(folder).items() if file != "v2/schema.json"}
        (folder / LOCK).write_text(lock.render(locked), encoding="utf-8")

        with pytest.raises(LockError, match=r"^v2/schema\.json: missing"):
            publishing.load_schemas(folder)

    @pytest.mark.parametrize("text", ["<<<<<<< ours", "version = 1", '["v1/schema.json"]\nsource = "x"'])
    def test_a_broken_lock_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / LOCK).write_text(text, encoding="utf-8")

        with pytest.raises(LockError, match=rf"^{LOCK}: not valid"):
            lock.read(tmp_path)

    def test_the_schemas_of_this_project_match_the_lock(self) -> None:
        schemas = publishing.load_schemas(SCHEMAS)

        assert tuple(schemas) == FILES
        assert (SCHEMAS / LOCK).read_text(encoding="utf-8") == lock.render(lock.read(SCHEMAS))
        assert all(parse_schema(file, lock.verified_bytes(SCHEMAS, file)) == schema for file, schema in schemas.items())
