"""Small places that publish schemas: a web server, an npm client, a folder."""

import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from codegen.sources import FILES, LOCK, LockedFile, lock

PACKAGE = "@agentclientprotocol/sdk"


def schema(description: str = "A small one.") -> bytes:
    """The least that is an ACP schema."""
    ping = {"description": description, "type": "object", "x-side": "agent", "x-method": "ping"}
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Ping": ping}}).encode()


def release(name: str) -> dict[str, bytes]:
    """The four files of one release, all different."""
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


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass(kw_only=True)
class Page:
    """One answer of a site."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    announced: int | None = None
    """The Content-Length, if it is not that of the body."""
    stalls: bool = False
    """Send no answer until the site closes."""
    drips: bool = False
    """Send the body byte by byte, a little apart."""


@dataclass(kw_only=True)
class Site:
    """A running web server."""

    url: str
    pages: dict[str, Page]
    asked: list[str]
    """The targets of the requests so far."""

    def publish(self, prefix: str, files: Mapping[str, bytes]) -> str:
        """Publish the files under `/prefix/`; the base URL for them."""
        self.pages |= {f"/{prefix}/{file}": Page(body=data) for file, data in files.items()}
        return f"{self.url}/{prefix}"


@contextmanager
def site() -> Generator[Site]:
    """Serve on the loopback interface for as long as the block lasts."""
    pages: dict[str, Page] = {}
    asked: list[str] = []
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            page = pages.get(self.path.partition("?")[0], Page(status=404))
            if page.stalls:
                closing.wait(30)
                return
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body) if page.announced is None else page.announced))
            self.end_headers()
            try:
                step = 1 if page.drips else max(len(page.body), 1)
                for start in range(0, len(page.body), step):
                    self.wfile.write(page.body[start : start + step])
                    if page.drips and closing.wait(0.05):
                        return
            except ConnectionError:
                pass

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Site(url=f"http://127.0.0.1:{server.server_port}", pages=pages, asked=asked)
    finally:
        closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def registry(site: Site, archives: Mapping[str, bytes]) -> None:
    """Make of a site what the real npm takes for its registry: the package in these versions, the last as `latest`."""
    versions: dict[str, object] = {}
    for version, archive in archives.items():
        path = f"/tarballs/sdk-{version}.tgz"
        site.pages[path] = Page(body=archive)
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        dist = {"tarball": f"{site.url}{path}", "integrity": integrity, "shasum": hashlib.sha1(archive).hexdigest()}
        versions[version] = {"name": PACKAGE, "version": version, "dist": dist}
    document = {"name": PACKAGE, "dist-tags": {"latest": list(archives)[-1]}, "versions": versions}
    page = Page(body=json.dumps(document).encode(), headers={"Content-Type": "application/json"})
    site.pages[f"/{PACKAGE.replace('/', '%2f')}"] = page


def tarball(files: Mapping[str, bytes]) -> bytes:
    """A package that holds the files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for file, data in files.items():
            member = tarfile.TarInfo(f"package/{file}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def packed(version: str, archive: bytes, *, integrity: str | None = None) -> str:
    """What npm reports after packing the archive."""
    integrity = integrity or "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    return json.dumps([{"name": PACKAGE, "version": version, "filename": "sdk.tgz", "integrity": integrity}])


def install_npm(folder: Path, *, report: str = "", archive: bytes = b"", status: int = 0, complaint: str = "") -> Path:
    """Write an `npm` that leaves the archive where it was told to, and says the rest; the folder for PATH."""
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
    """Write an `npm` that knows these versions of the package, and notes in `asked` what it is asked for.

    The last is `latest`, unless the file `latest` in the folder names another.
    """
    for version, archive in archives.items():
        (folder / f"{version}.tgz").write_bytes(archive)
    reports = {version: packed(version, archive) for version, archive in archives.items()}
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
    """Write an `npm` that does not end for half a minute; the folder for PATH."""
    return _command(folder, "signal.alarm(30)\nsignal.pause()")


def install_npm_for(folder: Path, *, npm: str, package: Path) -> Path:
    """Write an `npm` that is the real one, except that it finds every package in a local folder."""
    return _command(folder, f'os.execv({npm!r}, ["npm", "pack", {str(package)!r}, *sys.argv[3:]])')


def _command(folder: Path, body: str) -> Path:
    lines = [line.removeprefix("        ") for line in body.splitlines()]
    script = folder / "npm"
    script.write_text(
        "\n".join([f"#!{sys.executable}", "import json, os, shutil, signal, sys", *lines]), encoding="utf-8"
    )
    script.chmod(0o755)
    return folder
