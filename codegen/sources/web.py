"""Schemas under a base URL, and the bounded download that every HTTP source uses."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx

from codegen.sources.delivery import Delivery
from codegen.sources.errors import (
    DownloadError,
    DownloadTimeoutError,
    HttpStatusError,
    IncompleteDownloadError,
    UnknownSourceError,
)
from codegen.sources.lock import FILES, UNKNOWN_VERSION

MAX_BYTES = 32 * 1024 * 1024
"""Many times what any release weighed so far; what is larger is something else."""

_GONE = {404, 410}


@dataclass(frozen=True, kw_only=True)
class WebSource:
    """A base URL that holds the files under the same relative paths as the schema folder."""

    base: str
    timeout: float
    covers: tuple[str, ...] = FILES

    def __post_init__(self) -> None:
        """Refuse what is no URL."""
        try:
            host = httpx.URL(self.base).host
        except httpx.InvalidURL:
            # Neither the text nor the reason is repeated: both may hold a password.
            raise UnknownSourceError("the URL", "it is not one") from None
        if not host:
            raise UnknownSourceError("the URL", "it has no host")

    def fetch(self, files: Sequence[str]) -> Delivery:
        """Those of `files` that the server has."""
        base = httpx.URL(self.base)
        path = base.path.rstrip("/")
        urls = {file: base.copy_with(path=f"{path}/{file}") for file in files}
        return Delivery(source=shown(base), version=UNKNOWN_VERSION, files=download(urls, timeout=self.timeout))


def download(urls: Mapping[str, httpx.URL], *, timeout: float) -> dict[str, bytes]:
    """The complete body of each URL, by key; a key whose URL the server does not know is left out.

    Raises:
        DownloadError: any other failure; at most `timeout` seconds for each URL.
    """
    with httpx.Client(follow_redirects=True, timeout=timeout) as client:
        client.max_redirects = 5
        bodies = {key: _download_one(client, url, timeout=timeout) for key, url in urls.items()}
    return {key: body for key, body in bodies.items() if body is not None}


def shown(url: httpx.URL) -> str:
    """The URL without what may be secret in it: user name, password, query and fragment."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def _download_one(client: httpx.Client, url: httpx.URL, *, timeout: float) -> bytes | None:
    deadline = time.monotonic() + timeout
    body = bytearray()
    try:
        with client.stream("GET", url) as response:
            if response.status_code in _GONE:
                return None
            if not response.is_success:
                raise HttpStatusError(shown(url), response.status_code)
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise DownloadError(shown(url), f"more than {MAX_BYTES} bytes: this is no schema")
                # The timeout of httpx is one for each read: a server that drips would never reach it.
                if time.monotonic() > deadline:
                    raise DownloadTimeoutError(shown(url), timeout)
    except httpx.TimeoutException as error:
        raise DownloadTimeoutError(shown(url), timeout) from error
    except httpx.TooManyRedirects as error:
        raise DownloadError(shown(url), "the server redirects without end") from error
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        raise IncompleteDownloadError(shown(url), len(body)) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise DownloadError(shown(url), f"{type(error).__name__}: {error}") from error
    return bytes(body)


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
