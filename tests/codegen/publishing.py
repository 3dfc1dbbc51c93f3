"""Sources of schemas for tests: an npm client and a folder."""

import io
import json
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from codegen import lock
from codegen.lock import FILES, LOCK, records_of, write_files
from codegen.watch import PACKAGE


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
    write_files(folder, files)
    return folder


def locked(files: Mapping[str, bytes], version: str, source: str = "") -> dict[str, bytes]:
    """Return the files of a release and their lock."""
    records = records_of(files, source=source or f"npm:{PACKAGE}@{version}", version=version)
    return {**files, LOCK: lock.render(records).encode()}


def schema_folder(folder: Path) -> Path:
    """Write a complete schema folder with its lock."""
    return write(folder, locked(release("the old release"), "1.0.0"))


def load_schemas(folder: Path) -> dict[str, object]:
    """Return the schemas of the folder as parsed JSON, each verified against the lock."""
    return {file: json.loads(lock.verified_bytes(folder, file)) for file in FILES}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below the folder, including hidden ones."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def install_npm(folder: Path, releases: Mapping[str, Mapping[str, bytes]]) -> Path:
    """Write an `npm` with these versions of the package, each with files below `schema/`. Return the folder for PATH.

    The last version is `latest`, unless the file `latest` in the folder contains another. The file `asked` records the
    commands.
    """
    for version, files in releases.items():
        with tarfile.open(folder / f"{version}.tgz", mode="w:gz") as archive:
            for file, data in files.items():
                member = tarfile.TarInfo(f"sdk/schema/{file}")  # of npm itself, it is "package"
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    (folder / "latest").write_text(list(releases)[-1], encoding="utf-8")
    return _command(
        folder,
        f"""
        folder, versions = {str(folder)!r}, {list(releases)!r}
        with open(f"{{folder}}/asked", "a") as asked:
            asked.write(" ".join(sys.argv[1:3]) + "\\n")
        latest = open(f"{{folder}}/latest").read()
        if sys.argv[1] == "view":
            print(json.dumps(latest if sys.argv[3] == "version" else versions))
        else:
            version = sys.argv[2].rpartition("@")[2].replace("latest", latest)
            to = next(option for option in sys.argv if option.startswith("--pack-destination=")).partition("=")[2]
            shutil.copy(f"{{folder}}/{{version}}.tgz", f"{{to}}/sdk.tgz")
            print(json.dumps([{{"name": {PACKAGE!r}, "version": version, "filename": "sdk.tgz"}}]))
        """,
    )


def install_failing_npm(folder: Path, complaint: str) -> Path:
    """Write an `npm` that prints *complaint* and fails."""
    return _command(folder, f"sys.exit({complaint!r})")


def install_hanging_npm(folder: Path) -> Path:
    """Write an `npm` that does not exit for 30 s."""
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
