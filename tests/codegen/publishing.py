"""Sources of schemas for tests: a web server, an npm client and a folder."""

import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from codegen import lock
from codegen.lock import FILES, LOCK, LockedFile

PACKAGE = "@agentclientprotocol/sdk"


def schema(description: str = "A small one.") -> bytes:
    """Return a minimal ACP schema."""
    ping = {"description": description, "type": "object", "x-side": "agent", "x-method": "ping"}
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Ping": ping}}).encode()


def release(name: str) -> dict[str, bytes]:
    """Return the four files of a release, all different."""
    return {file: schema(f"{file} of {name}") for file in FILES}


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files below the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    return folder


def schema_folder(folder: Path) -> Path:
    """Write a complete schema folder with its lock."""
    files = release("the old release")
    locked = {file: LockedFile.of(data, source="npm:old@1.0.0", version="1.0.0") for file, data in files.items()}
    return write(folder, {**files, LOCK: lock.render(locked).encode()})


def load_schemas(folder: Path) -> dict[str, object]:
    """Return the schemas of the folder as parsed JSON, each verified against the lock."""
    return {file: json.loads(lock.verified_bytes(folder, file)) for file in FILES}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below the folder, including hidden ones."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass(kw_only=True)
class Site:
    """A running web server."""

    url: str
    pages: dict[str, bytes]
    """The response bodies by path."""


@contextmanager
def site() -> Generator[Site]:
    """Serve on the loopback interface until the block ends."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path.partition("?")[0])
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Site(url=f"http://127.0.0.1:{server.server_port}", pages=pages)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def registry(site: Site, archives: Mapping[str, bytes]) -> None:
    """Make *site* a registry for the real npm, with these versions of the package; the last is `latest`."""
    versions: dict[str, object] = {}
    for version, archive in archives.items():
        path = f"/tarballs/sdk-{version}.tgz"
        site.pages[path] = archive
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        dist = {"tarball": f"{site.url}{path}", "integrity": integrity, "shasum": hashlib.sha1(archive).hexdigest()}
        versions[version] = {"name": PACKAGE, "version": version, "dist": dist}
    document = {"name": PACKAGE, "dist-tags": {"latest": list(archives)[-1]}, "versions": versions}
    site.pages[f"/{PACKAGE.replace('/', '%2f')}"] = json.dumps(document).encode()


def tarball(files: Mapping[str, bytes]) -> bytes:
    """Return a package with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for file, data in files.items():
            member = tarfile.TarInfo(f"package/{file}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def packed(version: str) -> str:
    """Return the report of `npm pack`."""
    return json.dumps([{"name": PACKAGE, "version": version, "filename": "sdk.tgz"}])


def install_npm(folder: Path, *, report: str = "", archive: bytes = b"", status: int = 0, complaint: str = "") -> Path:
    """Write an `npm` that packs *archive* and prints *report*. Return the folder for PATH."""
    (folder / "sdk.tgz").write_bytes(archive)
    return _command(
        folder,
        f"""
        for option in sys.argv:
            if option.startswith("--pack-destination="):
                shutil.copy({str(folder / "sdk.tgz")!r}, option.partition("=")[2])
        sys.stdout.write({report!r})
        sys.stderr.write({complaint!r})
        sys.exit({status})
        """,
    )


def install_npm_of(folder: Path, archives: Mapping[str, bytes]) -> Path:
    """Write an `npm` with these versions of the package. It records its commands in the file `asked`.

    The last version is `latest`, unless the file `latest` in the folder contains another.
    """
    for version, archive in archives.items():
        (folder / f"{version}.tgz").write_bytes(archive)
    reports = {version: packed(version) for version in archives}
    (folder / "latest").write_text(list(archives)[-1], encoding="utf-8")
    return _command(
        folder,
        f"""
        with open({str(folder / "asked")!r}, "a") as asked:
            asked.write(" ".join(sys.argv[1:3]) + "\\n")
        if sys.argv[1:4:2] == ["view", "version"]:
            sys.stdout.write(json.dumps(open({str(folder / "latest")!r}).read()))
        elif sys.argv[1] == "view":
            sys.stdout.write({json.dumps(list(archives))!r})
        else:
            version = sys.argv[2].rpartition("@")[2]
            for option in sys.argv:
                if option.startswith("--pack-destination="):
                    shutil.copy(f"{folder}/{{version}}.tgz", option.partition("=")[2] + "/sdk.tgz")
            sys.stdout.write({reports!r}[version])
        """,
    )


def install_hanging_npm(folder: Path) -> Path:
    """Write an `npm` that does not exit for 30 s. Return the folder for PATH."""
    return _command(folder, "signal.alarm(30)\nsignal.pause()")


def install_npm_for(folder: Path, *, npm: str, package: Path) -> Path:
    """Write an `npm` that calls the real one, but takes every package from a local folder."""
    return _command(folder, f'os.execv({npm!r}, ["npm", "pack", {str(package)!r}, *sys.argv[3:]])')


def _command(folder: Path, body: str) -> Path:
    lines = [line.removeprefix("        ") for line in body.splitlines()]
    script = folder / "npm"
    script.write_text(
        "\n".join([f"#!{sys.executable}", "import json, os, shutil, signal, sys", *lines]), encoding="utf-8"
    )
    script.chmod(0o755)
    return folder
