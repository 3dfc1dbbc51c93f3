"""The last response of a server with a URL, which explains why a session ended."""

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
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from acp_bindings._redact import Redactor, shown_url
from acp_bindings._responses import Via, address, title_of
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.responses import Answer, judge, trouble
from mcp_launch._http_types import Client, Request, Response, Url, media_type
from mcp_launch._transports.network import Network
from mcp_launch._transports.web import ENOUGH, HeaderRule
from mcp_launch.failures import Stage

_SHOWN = 500
"""Characters of a body that are shown."""
_PATIENCE = 2.0
"""Seconds for a TLS handshake."""


class Memory:
    """The outcome of the last request to one server, redacted."""

    def __init__(
        self, rule: HeaderRule, network: Network, client: Client, *, usual: str, hide: Redactor, connect: float
    ) -> None:
        self._tell: Callable[[], Answer] | None = None
        self.found: Diagnosis | None = None
        """The diagnosis of the last response, or of its absence."""
        self.was_read = False
        """True if the server has received the last request that was followed, and did not respond with a login or
        redirect."""
        self._has_worked = False
        """True if the server has responded to a request after the handshake."""
        self._rule = rule
        self._network = network
        self._via = partial(network.via, client)
        self._usual = usual
        self._hide = hide
        self._connect = connect

    @property
    def answer(self) -> Answer | None:
        """The last response."""
        return self._tell() if self._tell else None

    def forget(self) -> None:
        """Forget the last outcome."""
        self._tell = self.found = None

    async def follow(self, event: str, info: Mapping[str, Any]) -> None:
        """Note when a request was sent, which does not include connecting and logging in."""
        match event.partition(".")[2]:
            # For a proxy, CONNECT is a part of connecting.
            case "receive_response_headers.started" if info["request"].method != b"CONNECT":
                self.was_read = True
            case "receive_response_headers.complete" if info["return_value"][1] != HTTPStatus.OK:
                self.was_read = False
            case _:
                pass

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
        """Remember a response; `body` is its start if that may explain an error."""
        # Not the request and response themselves, because their bodies may be large.
        method, url, sent = request.method, request.url, request.headers
        status, reason, headers, start = response.status_code, response.reason_phrase, response.headers, body[:ENOUGH]
        is_first = not self._has_worked and sent.get("mcp-protocol-version") in HANDSHAKE_PROTOCOL_VERSIONS

        def answer() -> Answer:
            # Redacted before it is cut, because part of a secret would not be recognized.
            text, kind = self._hide(start.decode(errors="replace")), media_type(headers)
            return Answer(
                method=method,
                url=shown_url(str(url)),
                status=status,
                reason=self._hide(reason),
                media_type=kind,
                headers=self._hide.json(_relevant_headers(url, headers)),
                body=text[:_SHOWN],
                title=title_of(text, kind),
                is_mcp=is_mcp,
                had_session=in_session or "mcp-session-id" in sent,
                is_first=is_first,
                named=named,
                # Over TLS the proxy is only a tunnel.
                via=self._via(url) if url.scheme == "http" else None,
            )

        self._tell = answer
        # Valid responses are not examined, because every call of a tool comes here.
        fine = is_mcp and status < HTTPStatus.BAD_REQUEST
        self._has_worked |= fine and is_first and status == HTTPStatus.OK
        self.found = None if fine else self._judged(answer())

    def _judged(self, answer: Answer, *, offers_login: bool = False) -> Diagnosis | None:
        auth = self._network.auth
        return judge(
            answer,
            authorized=self._rule.authorizes,
            mistake=self._rule.mistake,
            usual=self._usual,
            rejected=auth.rejection if auth else None,
            offers_login=offers_login,
        )

    def failed(self, url: Url, error: Exception) -> None:
        """Remember why there was no response, by an error of httpx or httpx2."""
        found = trouble(error, url, connect=self._connect, via=self._via(url))
        self.found = replace(found, message=self._hide(found.message), advice=found.advice and self._hide(found.advice))

    async def diagnosis(self, *, waited: float | None, stage: Stage | None) -> Diagnosis | None:
        """Return what is wrong with the server by its last response, or by the lack of one."""
        if (found := self.found) is None:
            return None if self._tell or waited is None else self._silence(waited, stage)
        if found.code == "unauthorized" and (answer := self.answer) and not self._rule.authorizes:
            # Imported late because of a cycle: the client for this remembers its responses here.
            from mcp_launch._transports.http import has_oauth_metadata  # noqa: PLC0415

            mentions = "resource_metadata=" in answer.headers.get("www_authenticate", "")
            offers_login = mentions or await has_oauth_metadata(str(self._rule.url), self._network)
            found = self._judged(answer, offers_login=offers_login) or found
        if self._tell is None and stage == "connect":
            found = await unless_tls(found, self._rule.url, via=self._via(self._rule.url))
        return replace(found, stage=stage)

    def _silence(self, waited: float, stage: Stage | None) -> Diagnosis:
        """Return what was not finished in time, if there was no response at all."""
        logs_in = self._network.auth is not None and self._network.auth.unfinished
        if not (logs_in or self.was_read):
            url = self._rule.url
            return trouble(TimeoutError(), url, connect=round(waited, 1), via=self._via(url))
        late = "the login was not finished" if logs_in else "accepted the connection, but did not answer"
        found = Diagnosis("timeout", f"{late} within {waited:.1f} s; {self._network.phrases.longer}?", stage=stage)
        # Over TLS, a silent proxy does not let a request through.
        if not logs_in and self._rule.url.scheme == "http" and (via := self._via(self._rule.url)):
            message = f"the proxy {via} {found.message} If not, {via.advice}"
            return replace(found, message=message, facts=via.facts, advice=via.advice)
        return found


async def unless_tls(found: Diagnosis, url: Url, *, via: Via | None) -> Diagnosis:
    """Return why there was no response, or another reason if the port of an http:// URL speaks TLS."""
    port = url.port or 80
    hung_up = found.code in ("disconnected", "not_mcp") and url.scheme == "http" and via is None
    if not hung_up or not await _speaks_tls(url.host, port):
        return found
    advice = "use https://"
    return replace(found, code="tls", message=f"{address(url.host, port)} speaks TLS; {advice}", advice=advice)


async def _speaks_tls(host: str, port: int) -> bool:
    """Return True if the port of an http:// URL speaks TLS, which explains why it disconnected."""
    anything = ssl.create_default_context()
    anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
    refused = (OSError, ssl.SSLError, anyio.BrokenResourceError, anyio.EndOfStream)
    with anyio.move_on_after(_PATIENCE), contextlib.suppress(*refused):
        async with await anyio.connect_tcp(host, port, ssl_context=anything, tls_standard_compatible=False):
            return True
    return False


def _relevant_headers(url: Url, headers: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("www-authenticate", "retry-after", "ngrok-error-code"):
        if name in headers:
            found[name.replace("-", "_")] = headers[name]
    # A location that is not a URL is left out.
    if "location" in headers:
        with contextlib.suppress(ValueError):
            found["location"] = shown_url(urljoin(str(url), headers["location"]))
    return found
