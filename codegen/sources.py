"""The sources of schemas: npm packages and local folders. No other module of the pipeline uses the network.

Since 2.0.0, `@agentclientprotocol/sdk` ships the four schemas in `schema/`. Earlier versions ship one
`schema/schema.json`, which is the *unstable* schema of protocol version 1 (the file of 1.9.0 equals
`v1/schema.unstable.json` of 2.0.0). Some also ship `schema/v2/schema.unstable.json`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from codegen.checks import check_shape
from codegen.errors import SourceError
from codegen.lock import FILES, UNKNOWN_VERSION
from codegen.tree import CodegenError, Node


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The schemas of one source."""

    source: str
    """The exact source: a tag such as `latest` is resolved."""
    version: str
    """The release that the source names, or "unknown"."""
    files: Mapping[str, bytes]
    """The content by path in the schema folder; files that the source lacks are absent."""


def fetch(
    source: str, *, only: Sequence[str] = (), sha256: Mapping[str, str] | None = None, timeout: float = 120.0
) -> Delivery:
    """Return all schemas of *source*, or *only* the named files, complete and checked.

    Args:
        source: `npm:PACKAGE@VERSION` or a folder with the layout of `schema/`.
        only: the files to return; all four by default.
        sha256: the digests that files must have.
        timeout: the seconds that npm may take.

    Raises:
        SourceError: the source is unknown or unreachable, lacks a file, or a file is not an ACP schema.
    """
    delivery = _read(source, timeout=timeout)
    files = tuple(only) or FILES
    if missing := [file for file in files if file not in delivery.files]:
        raise SourceError(_describe_missing(delivery, missing))
    for file in files:
        actual, expected = hashlib.sha256(delivery.files[file]).hexdigest(), (sha256 or {}).get(file)
        if expected and actual != expected.lower():
            raise SourceError(f"{file}: expected sha256 {expected.lower()}, got sha256 {actual}")
        parse_schema(file, delivery.files[file])
    return Delivery(
        source=delivery.source, version=delivery.version, files={file: delivery.files[file] for file in files}
    )


def _read(source: str, *, timeout: float) -> Delivery:
    """Return the schemas that *source* has, unchecked."""
    if source.startswith("npm:"):
        return from_npm(source.removeprefix("npm:"), timeout=timeout)
    if not source or not Path(source).is_dir():
        raise SourceError(
            f"{source}: not a folder. A source is npm:PACKAGE@VERSION or a folder with the layout of schema/"
        )
    return from_folder(Path(source))


def _describe_missing(delivery: Delivery, missing: Sequence[str]) -> str:
    message = f"{delivery.source} does not have {', '.join(missing)}"
    if not delivery.files:
        return f"{message}, nor any other schema. Is this the right version or folder?"
    only = " ".join(f"--only {file}" for file in sorted(delivery.files))
    return f"{message}. To replace only the files that it has, add: {only}"


def from_folder(folder: Path) -> Delivery:
    """Return the schemas of a local folder.

    Raises:
        SourceError: a file cannot be read.
    """
    try:
        files = {file: (folder / file).read_bytes() for file in FILES if (folder / file).is_file()}
    except OSError as error:
        raise SourceError(f"{error.filename or folder}: cannot be read: {error.strerror}") from error
    # The lock is committed, so it does not contain the path of the folder.
    return Delivery(source=f"folder:{folder.resolve().name}", version=UNKNOWN_VERSION, files=files)


_PACKAGE = re.compile(
    r"(?P<name>(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)@(?P<version>[0-9A-Za-z][0-9A-Za-z.+-]*)"
)


def from_npm(package: str, *, timeout: float) -> Delivery:
    """Return the schemas of one version of an npm package, or of the version that a tag such as `latest` names.

    Raises:
        SourceError: *package* is not `NAME@VERSION`, or npm failed.
    """
    # Ranges, URLs, paths and options are refused: npm would accept them, but they are not exact.
    if not _PACKAGE.fullmatch(package):
        raise SourceError(f"npm:{package}: not a package with a version. Write npm:NAME@VERSION")
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        options = ["--ignore-scripts", f"--pack-destination={scratch}"]
        report = _npm("pack", package, *options, cwd=scratch, timeout=timeout)
        name, version, tarball = _verify_pack(package, scratch, report)
        members = _schemas(package, tarball)
    found = {file: members[f"schema/{file}"] for file in FILES if f"schema/{file}" in members}
    if "schema/schema.json" in members and not any(file.startswith("v1/") for file in found):
        found["v1/schema.unstable.json"] = members["schema/schema.json"]
    return Delivery(source=f"npm:{name}@{version}", version=version, files=found)


def newest_version(package: str, *, timeout: float) -> str:
    """Return the version of a package that npm installs by default.

    Raises:
        SourceError: npm failed.
    """
    version = _view(f"{package}@latest", "version", timeout=timeout)
    # Only such a version can be fetched, and can be part of the name of a branch.
    if not isinstance(version, str) or not _PACKAGE.fullmatch(f"{package}@{version}"):
        raise SourceError(f"npm view {package}: the report does not name a version. {_NPM_8}")
    return version


def published_versions(package: str, *, timeout: float) -> tuple[str, ...]:
    """Return every version of a package, in the order of npm.

    Raises:
        SourceError: npm failed.
    """
    listed = _view(package, "versions", timeout=timeout)
    versions = cast("list[object]", listed if isinstance(listed, list) else [listed])
    if not versions or not all(isinstance(version, str) for version in versions):
        raise SourceError(f"npm view {package}: the report does not list versions. {_NPM_8}")
    return tuple(map(str, versions))


_NPM_8 = "Is this npm 8 or later?"


def _view(package: str, key: str, *, timeout: float) -> object:
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        report = _npm("view", package, key, cwd=scratch, timeout=timeout)
    try:
        return json.loads(report)
    except ValueError:
        raise SourceError(f"npm view {package}: the report is not JSON. {_NPM_8}") from None


def _npm(command: str, package: str, *options: str, cwd: str, timeout: float) -> bytes:
    """Return the report of npm as JSON.

    npm runs in *cwd*, an empty folder, so that it does not read the package.json and .npmrc of a project.
    """
    what = f"npm {command} {package}"
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError(f'{what}: command not found: "npm". Install Node.js, or use a folder as the source')
    words = [npm, command, package, *options, "--json", "--loglevel=error"]
    try:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise SourceError(
            f"{what}: no answer within {timeout:g} s. Try again, or allow more time with --timeout"
        ) from None
    except OSError as error:
        raise SourceError(f"{what}: npm cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        output = done.stderr.decode(errors="replace").strip()
        raise SourceError(f"{what}: exit status {done.returncode}\n{output}")
    return done.stdout


def _verify_pack(package: str, scratch: str, report: bytes) -> tuple[str, str, Path]:
    """Return name, version and tarball of the package, whose integrity must be that of the report."""
    try:
        listed: object = json.loads(report)
    except ValueError:
        raise SourceError(f"npm pack {package}: the report is not JSON. {_NPM_8}") from None
    match cast("list[dict[str, object]]", listed):
        case [{"name": str(name), "version": str(version), "filename": str(filename), "integrity": str(integrity)}]:
            tarball = Path(scratch) / Path(filename).name
        case _:
            raise SourceError(f"npm pack {package}: the report does not describe one package. {_NPM_8}")
    try:
        digest = hashlib.sha512(tarball.read_bytes()).digest()
    except OSError as error:
        raise SourceError(f"npm pack {package}: {filename} cannot be read: {error.strerror}") from error
    actual = f"sha512-{base64.b64encode(digest).decode()}"
    if integrity != actual:
        raise SourceError(f"npm pack {package}: {filename}: expected {integrity}, got {actual}")
    return name, version, tarball


def _schemas(package: str, tarball: Path) -> dict[str, bytes]:
    """Return the files below `schema/`, by their path in the package."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                # A tarball has one top folder, which is usually but not always called "package".
                path = member.name.partition("/")[2]
                if path.startswith("schema/") and (content := archive.extractfile(member)) is not None:
                    members[path] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise SourceError(f"npm pack {package}: {tarball.name} is not a package: {error}") from error
    return members


def parse_schema(file: str, data: bytes) -> dict[str, Any]:
    """Return the schema in *data*.

    Raises:
        SourceError: *data* is truncated, is not JSON, or is not an ACP schema.
    """
    try:
        return _parse(data)
    except CodegenError as error:
        raise SourceError(f"{file}: not an ACP schema: {error}") from None


def _parse(data: bytes) -> dict[str, Any]:
    try:
        schema: Any = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise CodegenError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise CodegenError(_describe_json_error(error)) from None
    if not isinstance(schema, dict):
        raise CodegenError("a JSON value, but not an object")
    document = cast("dict[str, Any]", schema)
    if "json-schema.org" not in str(document.get("$schema")):
        raise CodegenError("$schema does not name json-schema.org")
    check_shape(document)
    # Every ACP schema since 0.4 marks the params and results of methods with these keywords.
    definitions: dict[str, Node | bool] = document.get("$defs", {})
    if not any(isinstance(node, dict) and {"x-side", "x-method"} <= node.keys() for node in definitions.values()):
        raise CodegenError("$defs has no definition with x-side and x-method")
    return document


def _describe_json_error(error: json.JSONDecodeError) -> str:
    text = error.doc
    if not text.strip():
        return "the file is empty"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"truncated after {len(text)} characters"
    start = " ".join(text[:40].split())
    return f"not JSON: line {error.lineno}, column {error.colno}: {error.msg} (it starts with {start!r})"
