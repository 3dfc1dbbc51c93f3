import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.sources import (
    FILES,
    LOCK,
    LockedFile,
    check_digest,
    fetch,
    lock,
    parse,
    parse_schema,
    replace_together,
    web,
)
from codegen.sources.errors import (
    DownloadError,
    DownloadTimeoutError,
    HttpStatusError,
    IncompleteDownloadError,
    LockError,
    MissingFilesError,
    NotAnAcpSchemaError,
    NpmError,
    NpmNotFoundError,
    ReplaceError,
    UnknownSourceError,
    WrongDigestError,
)
from codegen.sources.folder import FolderSource
from codegen.sources.npm import NpmSource
from codegen.sources.web import RELEASES_VARIABLE, GitHubSource, WebSource
from tests.codegen import publishing
from tests.codegen.publishing import PACKAGE, Page, Site

SCHEMAS = Path(__file__).resolve().parents[2] / "schema"
V1 = ("v1/schema.json", "v1/schema.unstable.json")
V2 = ("v2/schema.json", "v2/schema.unstable.json")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with publishing.site() as running:
        yield running


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


class TestNamesOfSources:
    def test_each_kind_is_recognised(self, tmp_path: Path) -> None:
        assert parse("npm:@agentclientprotocol/sdk@2.4.0", timeout=5) == NpmSource(
            package="@agentclientprotocol/sdk@2.4.0", timeout=5
        )
        assert parse("github:schema-v1.21.0", timeout=5) == GitHubSource(tag="schema-v1.21.0", timeout=5)
        assert parse("https://example.org/acp", timeout=5) == WebSource(base="https://example.org/acp", timeout=5)
        assert parse(str(tmp_path)) == FolderSource(path=tmp_path)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "svn:acp",
            "ftp://example.org/acp",
            "no/such/folder",
            "npm:",
            "npm:@agentclientprotocol/sdk",
            "npm:@agentclientprotocol/sdk@^2",
            "npm:@agentclientprotocol/sdk@2 || 3",
            "npm:--registry=x@1",
            "npm:../sdk@1",
            "npm:sdk@https://example.org/sdk.tgz",
            "github:",
            "github:main",
            "github:schema-v3.0.0",
            "github:schema-v1.0.0/../../x",
            "github:v1.0.0",
            "http:",
            "https://",
            "http://example.org:port",
        ],
    )
    def test_everything_else_is_refused(self, text: str) -> None:
        with pytest.raises(UnknownSourceError):
            parse(text)

    def test_the_error_never_repeats_a_url_that_may_hold_a_password(self) -> None:
        with pytest.raises(UnknownSourceError) as caught:
            parse("http://user:hunter2")

        assert "hunter2" not in str(caught.value)


class TestNpm:
    def test_a_package_packed_by_the_real_client_gives_its_bytes_and_runs_no_script(
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

        delivery = fetch(parse(f"npm:{PACKAGE}@9.9.9"))

        assert delivery.source == f"npm:{PACKAGE}@9.9.9"
        assert delivery.version == "9.9.9"
        assert delivery.files == files
        assert not list(package.glob("*.ran"))

    def test_a_tag_is_resolved_to_the_exact_version(self, bin_folder: Path) -> None:
        archive = publishing.tarball({f"schema/{file}": data for file, data in publishing.release("3").items()})
        publishing.install_npm(bin_folder, report=publishing.packed("3.0.1", archive), archive=archive)

        delivery = fetch(parse(f"npm:{PACKAGE}@latest"))

        assert (delivery.source, delivery.version) == (f"npm:{PACKAGE}@3.0.1", "3.0.1")

    def test_the_flat_file_of_packages_before_2_is_the_unstable_schema_of_version_1(self, bin_folder: Path) -> None:
        unstable, draft = publishing.schema("flat"), publishing.schema("draft")
        archive = publishing.tarball({"schema/schema.json": unstable, "schema/v2/schema.unstable.json": draft})
        publishing.install_npm(bin_folder, report=publishing.packed("1.9.0", archive), archive=archive)
        source = parse(f"npm:{PACKAGE}@1.9.0")

        with pytest.raises(MissingFilesError) as caught:
            fetch(source)
        taken = fetch(source, only=["v1/schema.unstable.json", "v2/schema.unstable.json"])

        assert caught.value.missing == ("v1/schema.json", "v2/schema.json")
        assert caught.value.found == ("v1/schema.unstable.json", "v2/schema.unstable.json")
        assert taken.files == {"v1/schema.unstable.json": unstable, "v2/schema.unstable.json": draft}

    @pytest.mark.parametrize("other", V1)
    def test_a_flat_file_beside_the_others_is_none_of_them(self, bin_folder: Path, other: str) -> None:
        archive = publishing.tarball({"schema/schema.json": b"flat", f"schema/{other}": publishing.schema()})
        publishing.install_npm(bin_folder, report=publishing.packed("3.0.0", archive), archive=archive)

        with pytest.raises(MissingFilesError) as caught:
            fetch(parse(f"npm:{PACKAGE}@3.0.0"))

        assert caught.value.found == (other,)
        assert fetch(parse(f"npm:{PACKAGE}@3.0.0"), only=[other]).files == {other: publishing.schema()}

    def test_only_what_should_be_a_schema_has_a_largest_size(
        self, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = {f"schema/{file}": data for file, data in publishing.release("3").items()}
        archive = publishing.tarball({"index.js": b"x" * 1000, **files})
        publishing.install_npm(bin_folder, report=publishing.packed("3.0.0", archive), archive=archive)
        source = parse(f"npm:{PACKAGE}@3.0.0")

        monkeypatch.setattr("codegen.sources.npm._MAX_BYTES", 999)
        assert fetch(source).files == publishing.release("3")
        monkeypatch.setattr("codegen.sources.npm._MAX_BYTES", 20)
        with pytest.raises(NpmError, match=r"^npm pack .*: schema/v1/schema.json has \d+ bytes: this is no schema$"):
            fetch(source)

    def test_a_package_without_schemas_is_refused(self, bin_folder: Path) -> None:
        archive = publishing.tarball({"index.js": b"", "docs/schema/v1/schema.json": publishing.schema()})
        publishing.install_npm(bin_folder, report=publishing.packed("1.0.0", archive), archive=archive)

        with pytest.raises(MissingFilesError) as caught:
            fetch(parse("npm:other@1.0.0"))

        assert caught.value.missing == FILES
        assert caught.value.found == ()

    @pytest.mark.usefixtures("bin_folder")
    def test_a_missing_client_is_named(self) -> None:
        with pytest.raises(NpmNotFoundError) as caught:
            fetch(parse(f"npm:{PACKAGE}@2.4.0"))

        assert caught.value.package == f"{PACKAGE}@2.4.0"

    def test_a_failing_client_is_quoted(self, bin_folder: Path) -> None:
        publishing.install_npm(bin_folder, status=1, complaint="npm error code ETARGET\n")

        with pytest.raises(NpmError) as caught:
            fetch(parse(f"npm:{PACKAGE}@99.0.0"))

        assert (caught.value.status, caught.value.output) == (1, "npm error code ETARGET")

    def test_a_hanging_client_is_stopped(self, bin_folder: Path) -> None:
        publishing.install_hanging_npm(bin_folder)

        with pytest.raises(NpmError, match=r"no answer within 0\.2 s"):
            fetch(parse(f"npm:{PACKAGE}@2.4.0", timeout=0.2))

    def test_a_package_without_its_integrity_is_refused(self, bin_folder: Path) -> None:
        archive = publishing.tarball({f"schema/{file}": data for file, data in publishing.release("2").items()})
        report = publishing.packed("2.4.0", archive, integrity="sha512-AAAA")
        publishing.install_npm(bin_folder, report=report, archive=archive)

        with pytest.raises(WrongDigestError) as caught:
            fetch(parse(f"npm:{PACKAGE}@2.4.0"))

        assert caught.value.expected == "sha512-AAAA"

    @pytest.mark.parametrize("kept", [0.9, 0.5, 0.0])
    def test_half_a_package_is_refused(self, bin_folder: Path, kept: float) -> None:
        files = {f"schema/{file}": data for file, data in publishing.release("2").items()}
        archive = publishing.tarball(files)
        half = archive[: int(len(archive) * kept)]
        publishing.install_npm(bin_folder, report=publishing.packed("2.4.0", half), archive=half)

        with pytest.raises((NpmError, MissingFilesError)):
            fetch(parse(f"npm:{PACKAGE}@2.4.0"))

    @pytest.mark.parametrize("report", ["", "packed it", "{}", "[]", '[{"name": "sdk"}]', "null"])
    def test_a_report_that_cannot_be_read_is_refused(self, bin_folder: Path, report: str) -> None:
        publishing.install_npm(bin_folder, report=report)

        with pytest.raises(NpmError, match="its report"):
            fetch(parse(f"npm:{PACKAGE}@2.4.0"))


class TestBaseUrl:
    def test_the_files_are_fetched_from_their_relative_paths(self, site: Site) -> None:
        files = publishing.release("3")
        base = site.publish("acp/schema", files)

        assert fetch(parse(base)).files == files
        assert fetch(parse(base + "/")).files == files

    def test_what_may_be_secret_in_the_url_is_sent_but_not_recorded(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3")).replace("http://", "http://user:hunter2@")

        delivery = fetch(parse(f"{base}?token=hunter3"))

        assert delivery.source == f"{site.url}/acp"
        assert site.asked == [f"/acp/{file}?token=hunter3" for file in FILES]

    def test_a_redirect_is_followed(self, site: Site) -> None:
        files = publishing.release("3")
        site.publish("cdn", files)
        site.pages |= {f"/acp/{file}": Page(status=302, headers={"Location": f"/cdn/{file}"}) for file in files}

        assert fetch(parse(f"{site.url}/acp")).files == files

    def test_missing_files_are_named_with_those_that_are_there(self, site: Site) -> None:
        files = publishing.release("3")
        base = site.publish("acp", {file: files[file] for file in V1})

        with pytest.raises(MissingFilesError) as caught:
            fetch(parse(base))

        assert (caught.value.missing, caught.value.found) == (V2, V1)
        assert "--only v1/schema.json --only v1/schema.unstable.json" in str(caught.value)
        assert fetch(parse(base), only=V1).files == {file: files[file] for file in V1}

    def test_an_error_of_the_server_is_named(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3"))
        site.pages["/acp/v2/schema.json"] = Page(status=503)

        with pytest.raises(HttpStatusError) as caught:
            fetch(parse(base))

        assert (caught.value.status, caught.value.url) == (503, f"{base}/v2/schema.json")

    def test_redirects_without_end_are_given_up(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3"))
        site.pages["/acp/v1/schema.json"] = Page(status=302, headers={"Location": "/acp/v1/schema.json"})

        with pytest.raises(DownloadError, match="redirects without end"):
            fetch(parse(base))

        assert len(site.asked) == 6

    def test_half_a_download_is_refused(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3"))
        # What arrives is a whole schema: only the announced length tells that something is missing.
        site.pages["/acp/v1/schema.json"].announced = 100_000

        with pytest.raises(IncompleteDownloadError) as caught:
            fetch(parse(base))

        assert caught.value.received == len(site.pages["/acp/v1/schema.json"].body)

    def test_a_server_that_does_not_answer_is_given_up(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3"))
        site.pages["/acp/v1/schema.json"].stalls = True

        with pytest.raises(DownloadTimeoutError) as caught:
            fetch(parse(base, timeout=0.2))

        assert caught.value.seconds == 0.2

    def test_a_server_that_drips_is_given_up(self, site: Site) -> None:
        base = site.publish("acp", publishing.release("3"))
        site.pages["/acp/v1/schema.json"].drips = True

        with pytest.raises(DownloadTimeoutError):
            fetch(parse(base, timeout=0.3))

    def test_a_file_beyond_all_measure_is_refused(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        base = site.publish("acp", publishing.release("3"))
        monkeypatch.setattr(web, "MAX_BYTES", 20)

        with pytest.raises(DownloadError, match="more than 20 bytes"):
            fetch(parse(base))

    def test_a_server_that_is_not_there_is_named(self) -> None:
        with publishing.site() as closed:
            base = closed.url

        with pytest.raises(DownloadError) as caught:
            fetch(parse(base))

        assert caught.value.url == f"{base}/v1/schema.json"


class TestGitHub:
    @pytest.mark.parametrize(("tag", "files"), [("schema-v1.21.0", V1), ("schema-v2.0.0-alpha.3", V2)])
    def test_a_schema_release_is_one_protocol_version(
        self, site: Site, monkeypatch: pytest.MonkeyPatch, tag: str, files: tuple[str, ...]
    ) -> None:
        stable, unstable = publishing.schema("stable"), publishing.schema("unstable")
        mirror = site.publish("mirror", {f"{tag}/schema.json": stable, f"{tag}/schema.unstable.json": unstable})
        monkeypatch.setenv(RELEASES_VARIABLE, mirror)

        delivery = fetch(parse(f"github:{tag}"))

        assert delivery.source == f"github:{tag}"
        assert delivery.version == tag.removeprefix("schema-v")
        assert delivery.files == dict(zip(files, (stable, unstable), strict=True))

    def test_an_older_release_has_version_2_under_names_of_its_own(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assets = {
            "v0.13.0/schema.json": publishing.schema("v1"),
            "v0.13.0/schema.unstable.json": publishing.schema("v1 unstable"),
            "v0.13.0/schema.v2.unstable.json": publishing.schema("v2 unstable"),
        }
        monkeypatch.setenv(RELEASES_VARIABLE, site.publish("mirror", assets))
        source = parse("github:v0.13.0")

        with pytest.raises(MissingFilesError) as caught:
            fetch(source)

        assert caught.value.missing == ("v2/schema.json",)
        assert fetch(source, only=caught.value.found).files == dict(
            zip((*V1, "v2/schema.unstable.json"), assets.values(), strict=True)
        )

    def test_a_file_of_the_other_version_is_missing_not_mixed_up(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assets = {"schema-v1.21.0/schema.json": publishing.schema()}
        monkeypatch.setenv(RELEASES_VARIABLE, site.publish("mirror", assets))

        with pytest.raises(MissingFilesError) as caught:
            fetch(parse("github:schema-v1.21.0"), only=["v2/schema.json"])

        assert caught.value.missing == ("v2/schema.json",)


class TestFolder:
    def test_its_files_are_taken_and_its_place_is_not_recorded(self, tmp_path: Path) -> None:
        files = publishing.release("3")
        folder = publishing.write(tmp_path / "checkout", {**files, "v1/meta.json": b"{}"})

        delivery = fetch(parse(str(folder)))

        assert delivery.files == files
        assert (delivery.source, delivery.version) == ("folder:checkout", "unknown")

    def test_an_incomplete_one_is_refused(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path / "checkout", {"v2/schema.json": publishing.schema()})

        with pytest.raises(MissingFilesError) as caught:
            fetch(parse(str(folder)))

        assert caught.value.found == ("v2/schema.json",)


class TestChecks:
    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "it is empty"),
            (publishing.schema()[:-1], "it is cut off"),
            (publishing.schema()[:50], "it is cut off"),
            (b"<!DOCTYPE html>", "it is not JSON"),
            (b"\xff\xfe{}", "it is not UTF-8"),
            (b"[" * 100_000, "it is nested too deeply"),
            (b"[]", "not an object"),
            (b'{"$defs": {"A": {"x-side": "agent", "x-method": "a"}}}', r"it has no \$schema"),
            (b'{"$schema": "https://json-schema.org/draft/2020-12/schema"}', r"it has no \$defs"),
            (b'{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {}}}', "x-side and x-method"),
            (b"[" + b"1" * 5000 + b"]", "a number that Python does not read"),
            (b'{"version": 1, "agentMethods": {}}', r"it has no \$schema"),
        ],
    )
    def test_what_is_no_acp_schema_is_refused(self, data: bytes, reason: str) -> None:
        with pytest.raises(NotAnAcpSchemaError, match=reason) as caught:
            parse_schema("v1/schema.json", data)

        assert caught.value.file == "v1/schema.json"

    def test_every_file_of_a_source_is_checked(self, tmp_path: Path) -> None:
        for broken in FILES:
            folder = publishing.write(tmp_path / broken, {**publishing.release("3"), broken: b"{}"})

            with pytest.raises(NotAnAcpSchemaError) as caught:
                fetch(parse(str(folder)))

            assert caught.value.file == broken

    def test_a_demanded_digest_must_be_that_of_the_file(self, tmp_path: Path) -> None:
        files = publishing.release("3")
        source = parse(str(publishing.write(tmp_path, files)))
        right = {file: hashlib.sha256(data).hexdigest().upper() for file, data in files.items()}

        assert fetch(source, sha256=right).files == files
        with pytest.raises(WrongDigestError) as caught:
            fetch(source, sha256={**right, "v2/schema.json": "0" * 64})

        assert caught.value.file == "v2/schema.json"
        with pytest.raises(WrongDigestError):
            check_digest("v1/schema.json", b"", "0" * 64)


class TestLock:
    def test_what_is_written_is_read_again(self, tmp_path: Path) -> None:
        locked = {"v1/schema.json": LockedFile.of(b"{}", source='folder:a "b" \\ c', version="1.0.0")}
        (tmp_path / LOCK).write_text(lock.render(locked), encoding="utf-8")

        assert lock.read(tmp_path) == locked

    def test_a_file_is_given_only_as_recorded(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        recorded = (folder / "v1/schema.json").read_bytes()
        assert lock.verified_bytes(folder, "v1/schema.json") == recorded

        (folder / "v1/schema.json").write_bytes(recorded.replace(b"\n", b"\r\n") + b"\n")

        with pytest.raises(LockError) as caught:
            lock.verified_bytes(folder, "v1/schema.json")
        assert caught.value.file == "v1/schema.json"
        with pytest.raises(LockError):
            lock.load_schemas(folder)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        folder = publishing.schema_folder(tmp_path)
        (folder / "v2/schema.json").unlink()

        with pytest.raises(LockError) as caught:
            lock.load_schemas(folder)

        assert caught.value.file == "v2/schema.json"

    def test_a_file_that_is_not_locked_is_refused(self, tmp_path: Path) -> None:
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
        with pytest.raises(LockError, match="there is none"):
            lock.read(tmp_path)

    def test_the_schemas_of_this_project_are_those_recorded(self) -> None:
        schemas = lock.load_schemas(SCHEMAS)

        assert tuple(schemas) == FILES
        assert (SCHEMAS / LOCK).read_text(encoding="utf-8") == lock.render(lock.read(SCHEMAS))
        assert all(parse_schema(file, lock.verified_bytes(SCHEMAS, file)) == schema for file, schema in schemas.items())


class TestReplacing:
    def test_all_files_are_replaced_and_nothing_else_is_left(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "other": b"other"})

        replace_together(folder, {"a": b"new a", "new/b": b"new b"})

        assert publishing.contents(folder) == {"a": b"new a", "new/b": b"new b", "other": b"other"}

    def test_a_refusal_half_way_puts_everything_back(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "c/in the way": b""})
        before = publishing.contents(folder)

        with pytest.raises(ReplaceError) as caught:
            replace_together(folder, {"a": b"new a", "b": b"new b", "c": b"c is a folder"})

        assert (caught.value.path, caught.value.lost) == (folder / "c", ())
        assert publishing.contents(folder) == before

    def test_a_refusal_before_the_first_replacement_leaves_nothing_behind(self, tmp_path: Path) -> None:
        folder = publishing.write(tmp_path, {"a": b"old a", "b": b"b is a file"})
        before = publishing.contents(folder)

        with pytest.raises(ReplaceError):
            replace_together(folder, {"a": b"new a", "b/c": b"new c"})

        assert publishing.contents(folder) == before

    def test_an_interrupt_half_way_puts_everything_back(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_what_cannot_be_put_back_is_kept_and_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
