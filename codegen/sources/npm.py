"""Schemas inside a package of the npm registry, fetched by the npm client.

Since 2.0.0 `@agentclientprotocol/sdk` ships the four files under `schema/`. Before, it shipped one
`schema/schema.json`, which in spite of its name is the *unstable* schema of protocol version 1
(the file of 1.9.0 is byte for byte the `v1/schema.unstable.json` of 2.0.0), and some releases
`schema/v2/schema.unstable.json` beside it.
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from codegen.sources.delivery import Delivery
from codegen.sources.errors import NpmError, NpmNotFoundError, UnknownSourceError, WrongDigestError
from codegen.sources.lock import FILES

__all__ = ["NpmSource", "newest_version", "published_versions"]

_PACKAGE = re.compile(
    r"(?P<name>(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)@(?P<version>[0-9A-Za-z][0-9A-Za-z.+-]*)"
)
_MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class NpmSource:
    """One version of a package, or what a tag such as `latest` points at now."""

    package: str
    timeout: float
    covers: tuple[str, ...] = FILES

    def __post_init__(self) -> None:
        """Refuse ranges, URLs, paths and options: npm would take them, and they are not exact."""
        if not _PACKAGE.fullmatch(self.package):
            raise UnknownSourceError(f"npm:{self.package}", "this is no package with a version")

    def fetch(self, files: Sequence[str]) -> Delivery:  # noqa: ARG002 - all of them cost nothing here
        """The schemas that the package ships."""
        with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
            packed = _pack(self.package, Path(scratch), timeout=self.timeout)
            members = _schemas(self.package, packed.tarball)
        found = {file: members[f"schema/{file}"] for file in FILES if f"schema/{file}" in members}
        if "schema/schema.json" in members and not any(file.startswith("v1/") for file in found):
            found["v1/schema.unstable.json"] = members["schema/schema.json"]
        return Delivery(source=f"npm:{packed.name}@{packed.version}", version=packed.version, files=found)


def newest_version(name: str, *, timeout: float) -> str:
    """The version of a package that npm installs when asked for none.

    Raises:
        NpmError: npm cannot say.
    """
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        report = _npm("view", f"{name}@latest", "version", cwd=Path(scratch), timeout=timeout)
    try:
        version: object = json.loads(report)
    except ValueError:
        version = None
    # Only such a version can be fetched, and part of the name of a branch.
    if not isinstance(version, str) or not _PACKAGE.fullmatch(f"{name}@{version}"):
        raise NpmError(name, "its report names no version. Is this npm 8 or later?", command="view")
    return version


def published_versions(name: str, *, timeout: float) -> tuple[str, ...]:
    """Every version of a package that can be fetched, in the order in which npm lists them.

    Raises:
        NpmError: npm cannot say.
    """
    with tempfile.TemporaryDirectory(prefix="acp-schema-") as scratch:
        report = _npm("view", name, "versions", cwd=Path(scratch), timeout=timeout)
    try:
        listed: object = json.loads(report)
    except ValueError:
        raise NpmError(name, "its report is not JSON. Is this npm 8 or later?", command="view") from None
    versions = cast("list[object]", listed if isinstance(listed, list) else [listed])
    if not versions or not all(isinstance(version, str) for version in versions):
        raise NpmError(name, "its report lists no versions. Is this npm 8 or later?", command="view")
    return tuple(map(str, versions))


@dataclass(frozen=True)
class _Packed:
    name: str
    version: str
    tarball: Path


def _pack(package: str, scratch: Path, *, timeout: float) -> _Packed:
    options = ["--ignore-scripts", f"--pack-destination={scratch}"]
    return _checked(package, scratch, _npm("pack", package, *options, cwd=scratch, timeout=timeout))


def _npm(command: str, package: str, *options: str, cwd: Path, timeout: float) -> bytes:
    """What npm reports, as JSON.

    It runs in *cwd*, an empty folder, so that no package.json and no .npmrc of a project has a say.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NpmNotFoundError(package, command=command)
    words = [npm, command, package, *options, "--json", "--loglevel=error"]
    try:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        reason = f"no answer within {timeout:g} s. Try again, or give more with --timeout"
        raise NpmError(package, reason, command=command) from None
    except OSError as error:
        raise NpmError(package, f"it cannot be started: {error.strerror}", command=command) from error
    if done.returncode != 0:
        output = done.stderr.decode(errors="replace").strip()
        raise NpmError(
            package, f"exit status {done.returncode}", command=command, status=done.returncode, output=output
        )
    return done.stdout


def _checked(package: str, scratch: Path, report: bytes) -> _Packed:
    """The tarball that npm reports to have written, if it has the integrity that npm reports."""
    try:
        listed: object = json.loads(report)
    except ValueError:
        raise NpmError(package, "its report is not JSON. Is this npm 8 or later?") from None
    match cast("list[dict[str, object]]", listed):
        case [{"name": str(name), "version": str(version), "filename": str(filename), "integrity": str(integrity)}]:
            tarball = scratch / Path(filename).name
        case _:
            raise NpmError(package, "its report does not describe one package. Is this npm 8 or later?")
    try:
        digest = hashlib.sha512(tarball.read_bytes()).digest()
    except OSError as error:
        raise NpmError(package, f"it reports {filename}, which cannot be read: {error.strerror}") from error
    actual = f"sha512-{base64.b64encode(digest).decode()}"
    if integrity != actual:
        raise WrongDigestError(filename, expected=integrity, actual=actual)
    return _Packed(name, version, tarball)


def _schemas(package: str, tarball: Path) -> dict[str, bytes]:
    """The files under `schema/`, by their path in the package."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                # A tarball has one top folder, usually but not always called "package".
                path = member.name.partition("/")[2]
                if not (member.isfile() and path.startswith("schema/")):
                    continue
                if member.size > _MAX_BYTES:
                    raise NpmError(package, f"{path} has {member.size} bytes: this is no schema")
                if (content := archive.extractfile(member)) is not None:
                    members[path] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise NpmError(package, f"{tarball.name} is no package: {error}") from error
    return members
