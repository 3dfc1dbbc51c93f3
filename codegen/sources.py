"""The sources of schemas: npm packages and local folders. No other module of the pipeline uses the network.

Since 2.0.0, `@agentclientprotocol/sdk` ships the four schemas in `schema/`. Earlier versions ship one
`schema/schema.json`, which is the *unstable* schema of protocol version 1 (the file of 1.9.0 equals
`v1/schema.unstable.json` of 2.0.0). Some also ship `schema/v2/schema.unstable.json`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from codegen.lock import FILES, SourceError
from codegen.tree import Node


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The schemas of one source."""

    source: str
    """The exact source: a tag such as `latest` is resolved."""
    version: str
    """The release that the source names, or "unknown"."""
    files: Mapping[str, bytes]
    """The content by path in the schema folder; files that the source lacks are absent."""


def fetch(source: str) -> Delivery:
    """Return all schemas of *source*, complete and checked.

    Args:
        source: `npm:PACKAGE@VERSION` or a folder with the layout of `schema/`.

    Raises:
        SourceError: the source is unknown or unreachable, lacks a file, or a file is not an ACP schema.
    """
    if source.startswith("npm:"):
        delivery = from_npm(source.removeprefix("npm:"))
    elif source and Path(source).is_dir():
        files = {file: (Path(source) / file).read_bytes() for file in FILES if (Path(source) / file).is_file()}
        # The lock is committed, so it does not contain the path of the folder.
        delivery = Delivery(source=f"folder:{Path(source).resolve().name}", version="unknown", files=files)
    else:
        raise SourceError(
            f"{source}: not a folder. A source is npm:PACKAGE@VERSION or a folder with the layout of schema/"
        )
    if missing := [file for file in FILES if file not in delivery.files]:
        raise SourceError(f"{delivery.source} does not have {', '.join(missing)}. Is this the right version or folder?")
    for file, data in delivery.files.items():
        parse_schema(file, data)
    return delivery


_PACKAGE = re.compile(r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@[0-9A-Za-z][0-9A-Za-z.+-]*")


def from_npm(package: str) -> Delivery:
    """Return the schemas of one version of an npm package, or of the version that a tag such as `latest` names.

    Raises:
        SourceError: *package* is not `NAME@VERSION`, or npm failed.
    """
    # Ranges, URLs, paths and options are refused: npm would accept them, but they are not exact.
    if not _PACKAGE.fullmatch(package):
        raise SourceError(f"npm:{package}: not a package with a version. Write npm:NAME@VERSION")
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        options = ["--ignore-scripts", f"--pack-destination={scratch}"]
        (packed,) = _npm("pack", package, *options, cwd=scratch)
        members = _schemas(Path(scratch) / packed["filename"])
    found = {file: members[f"schema/{file}"] for file in FILES if f"schema/{file}" in members}
    if "schema/schema.json" in members and not any(file.startswith("v1/") for file in found):
        found["v1/schema.unstable.json"] = members["schema/schema.json"]
    return Delivery(source=f"npm:{packed['name']}@{packed['version']}", version=packed["version"], files=found)


def newest_version(package: str) -> str:
    """Return the version of a package that npm installs by default.

    Raises:
        SourceError: npm failed.
    """
    version = str(_view(f"{package}@latest", "version"))
    # Only such a version can be fetched, and can be part of the name of a branch.
    if not _PACKAGE.fullmatch(f"{package}@{version}"):
        raise SourceError(f"npm view {package}: {version!r} is not a version")
    return version


def published_versions(package: str) -> tuple[str, ...]:
    """Return every version of a package, in the order of npm.

    Raises:
        SourceError: npm failed.
    """
    return tuple(_view(package, "versions"))


TIMEOUT = 120.0
"""The seconds for each response of npm."""


def _view(package: str, key: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        return _npm("view", package, key, cwd=scratch)


def _npm(command: str, package: str, *options: str, cwd: str) -> Any:
    """Return the report of npm, as parsed JSON.

    npm runs in *cwd*, an empty folder, so that it does not read the package.json and .npmrc of a project.
    """
    what = f"npm {command} {package}"
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError(f'{what}: command not found: "npm". Install Node.js, or use a folder as the source')
    words = [npm, command, package, *options, "--json", "--loglevel=error"]
    try:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"{what}: no answer within {TIMEOUT:g} s. Try again later") from None
    if done.returncode != 0:
        output = done.stderr.decode(errors="replace").strip()
        raise SourceError(f"{what}: exit status {done.returncode}\n{output}")
    return json.loads(done.stdout)


def _schemas(tarball: Path) -> dict[str, bytes]:
    """Return the files below `schema/`, by their path in the package."""
    members: dict[str, bytes] = {}
    with tarfile.open(tarball, "r:gz") as archive:
        for member in archive:
            # A tarball has one top folder, which is usually but not always called "package".
            path = member.name.partition("/")[2]
            if path.startswith("schema/") and (content := archive.extractfile(member)) is not None:
                members[path] = content.read()
    return members


def parse_schema(file: str, data: bytes) -> dict[str, Any]:
    """Return the schema in *data*.

    Raises:
        SourceError: *data* is not JSON, or is not an ACP schema.
    """
    try:
        schema: Any = json.loads(data)
    except ValueError as error:
        raise SourceError(f"{file}: not an ACP schema: not JSON: {error}") from None
    if not isinstance(schema, dict) or "json-schema.org" not in str(cast("Node", schema).get("$schema")):
        raise SourceError(f"{file}: not an ACP schema: $schema does not name json-schema.org")
    document = cast("dict[str, Any]", schema)
    # Every ACP schema since 0.4 marks the params and results of methods with these keywords.
    definitions: dict[str, Node | bool] = document.get("$defs", {})
    if not any(isinstance(node, dict) and {"x-side", "x-method"} <= node.keys() for node in definitions.values()):
        raise SourceError(f"{file}: not an ACP schema: $defs has no definition with x-side and x-method")
    return document
