"""Schemas attached to a release of the protocol's repository.

Two layouts were published. A `schema-v1.*` or `schema-v2.*` tag is one protocol version and has
`schema.json` and `schema.unstable.json` of it. An older `v0.*` tag has those two for protocol
version 1 and, for a while, `schema.v2.unstable.json` beside them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from codegen.sources.delivery import Delivery
from codegen.sources.errors import UnknownSourceError
from codegen.sources.lock import FILES
from codegen.sources.web import download

__all__ = ["RELEASES", "RELEASES_VARIABLE", "GitHubSource"]

RELEASES = "https://github.com/agentclientprotocol/agent-client-protocol/releases/download"
RELEASES_VARIABLE = "ACP_SCHEMA_RELEASES"
"""The environment variable that names a mirror of `RELEASES`."""


@dataclass(frozen=True, kw_only=True)
class GitHubSource:
    """One release, by its tag."""

    tag: str
    timeout: float

    def __post_init__(self) -> None:
        """Refuse a tag of another kind."""
        if not _assets(self.tag):
            raise UnknownSourceError(f"github:{self.tag}", "the tag is none of schema-v1.*, schema-v2.* and v0.*")

    @property
    def covers(self) -> tuple[str, ...]:
        """The files of the protocol version that the tag names, or all if it names none."""
        return tuple(_assets(self.tag))

    def fetch(self, files: Sequence[str]) -> Delivery:
        """Those of `files` that are attached to the release."""
        releases = httpx.URL(os.environ.get(RELEASES_VARIABLE) or RELEASES)
        path = releases.path.rstrip("/")
        assets = _assets(self.tag)
        urls = {file: releases.copy_with(path=f"{path}/{self.tag}/{assets[file]}") for file in files if file in assets}
        return Delivery(
            source=f"github:{self.tag}",
            version=self.tag.removeprefix("schema-").removeprefix("v"),
            files=download(urls, timeout=self.timeout),
        )


def _assets(tag: str) -> dict[str, str]:
    """The name of the asset that becomes each file."""
    if one := re.fullmatch(r"schema-(v[12])\.[0-9A-Za-z.-]+", tag):
        return {f"{one[1]}/{asset}": asset for asset in ("schema.json", "schema.unstable.json")}
    if re.fullmatch(r"v0\.[0-9A-Za-z.-]+", tag):
        return dict(
            zip(
                FILES, ("schema.json", "schema.unstable.json", "schema.v2.json", "schema.v2.unstable.json"), strict=True
            )
        )
    return {}
