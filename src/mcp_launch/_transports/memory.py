"""What a server with a URL answered, kept because its last answer is why a session ends."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

import anyio

from acp_bindings._redact import Redactor, shown_url
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.responses import Answer, judge, trouble
from mcp_launch._http_types import Headers, Request, Response, Url, media_type
from mcp_launch._transports.network import Network
from mcp_launch._transports.web import ENOUGH, HeaderRule
from mcp_launch.failures import Stage, Wording

_SHOWN = 500
"""Characters of a body that are shown."""
_PATIENCE = 2.0
"""Seconds for the answer to a TLS handshake."""


class Memory:
    """What came of the last request to one server; nothing in it is secret."""

    def __init__(self, rule: HeaderRule, network: Network, *, usual: str, hide: Redactor, connect: float) -> None:
        self._tell: Callable[[], Answer] | None = None
        self.found: Diagnosis | None = None
        """What is wrong with it, or why there was none."""
        self._rule = rule
        self._network = network
        self._usual = usual
        self._hide = hide
        self._connect = connect

    @property
    def answer(self) -> Answer | None:
        """The last answer."""
        return self._tell() if self._tell else None

    def forget(self) -> None:
        """What came so far is not what matters."""
        self._tell = self.found = None

    def answered(
        self,
        request: Request,
        response: Response,
        *,
        is_mcp: bool,
        body: bytes = b"",
        in_session: bool = False,
        named: bool = False,
    ) -> None:
        """Keep an answer; `body` is the start of it where it may explain something."""
        # Not the request and the answer themselves, whose bodies may be large.
        self._tell = partial(
            self._answer_of,
            method=request.method,
            url=request.url,
            status=response.status_code,
            reason=response.reason_phrase,
            headers=response.headers,
            body=body[:ENOUGH],
            is_mcp=is_mcp,
            in_session=in_session,
            named=named,
            sent=request.headers,
        )
        # What is as it should be is not looked into, since every call of a tool comes here.
        fine = is_mcp and response.status_code < HTTPStatus.BAD_REQUEST
        self.found = None if fine else self._judged(self._tell())

    def _judged(self, answer: Answer) -> Diagnosis | None:
        return judge(answer, authorized=self._rule.authorizes, slip=self._rule.slip, usual=self._usual)

    def _answer_of(
        self,
        *,
        url: Url,
        reason: str,
        headers: Mapping[str, str],
        body: bytes,
        in_session: bool,
        sent: Headers,
        **others: Any,
    ) -> Answer:
        # Over TLS the proxy is only a tunnel.
        via = self._network.via(url) if url.scheme == "http" else None
        return Answer(
            via=via,
            had_session=in_session or "mcp-session-id" in sent,
            url=shown_url(str(url)),
            reason=self._hide(reason),
            media_type=media_type(headers),
            headers=self._hide.json(_telling(url, headers)),
            # Redacted first: of a secret that is cut in two, neither half would be recognised.
            body=self._hide(body.decode(errors="replace"))[:_SHOWN],
            **others,
        )

    def failed(self, url: Url, error: Exception) -> None:
        """Keep why there was no answer: an error of either library."""
        found = trouble(error, url, connect=self._connect, via=self._network.via(url))
        self.found = replace(found, message=self._hide(found.message))

    async def diagnosis(self, *, waited: float | None, stage: Stage | None, wording: Wording) -> Diagnosis | None:
        """What the last request says against the server, if anything; where nothing came back, that."""
        found = self.found
        if found is None:
            if self._tell or waited is None:
                return None
            logs_in = self._network.auth is not None and self._network.auth.unfinished
            late = "the login was not finished" if logs_in else "accepted the connection, but did not answer"
            return Diagnosis("timeout", f"{late} within {waited:.1f} s; {wording.longer}?", stage=stage)
        url = self._rule.url
        hung_up = found.code in ("disconnected", "not_mcp") and self._tell is None and stage == "connect"
        if (
            hung_up
            and url.scheme == "http"
            and self._network.via(url) is None
            and await _speaks_tls(url.host, url.port or 80)
        ):
            found = replace(found, code="tls", message=f"{url.host}:{url.port or 80} speaks TLS; use https://")
        return replace(found, stage=stage)


async def _speaks_tls(host: str, port: int) -> bool:
    """Whether the port of an http:// URL answers a TLS handshake, which explains why it hung up."""
    anything = ssl.create_default_context()
    anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
    refused = (OSError, ssl.SSLError, anyio.BrokenResourceError, anyio.EndOfStream)
    with anyio.move_on_after(_PATIENCE), contextlib.suppress(*refused):
        async with await anyio.connect_tcp(host, port, ssl_context=anything, tls_standard_compatible=False):
            return True
    return False


def _telling(url: Url, headers: Mapping[str, str]) -> dict[str, str]:
    told: dict[str, str] = {}
    for name in ("www-authenticate", "retry-after"):
        if name in headers:
            told[name.replace("-", "_")] = headers[name]
    # A location that is no URL tells nothing.
    if "location" in headers:
        with contextlib.suppress(ValueError):
            told["location"] = shown_url(urljoin(str(url), headers["location"]))
    return told
