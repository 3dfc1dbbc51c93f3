"""Write and read recordings of conversations, with the time and the sender of each message.

A recording is a file with one JSON object on each line:

    {"time": "2026-11-27T11:45:49.123456Z", "from": "client", "message": {…}}     a message, or a line that is not JSON
    {"time": …, "from": "agent", "stderr": "…"}                                   a line of standard error
    {"time": …, "receipt": {"server": "github", "event": "started"}}              what an agent did with an MCP server
    {"time": …, "finding": {"line": 12, "rule": "…", "severity": "error", …}}     a problem in an earlier line
    {"time": …, "dropped": {"from": "agent", "bytes": 70000000}}                  what was not recorded
    {"time": …, "closed": {"from": "client"}}                                     the client closes the agent's input
    {"time": …, "end": {"exitStatus": 0}}                                         the end of the agent

`acp-bindings check` reads it, and skips lines without a message.
"""

from __future__ import annotations

import re
import time as clock
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple, cast

from pydantic_core import from_json, to_json

from acp_bindings._json import items_of, members_of, pairs_of, parsed_members, refuse_names
from acp_bindings._redact import MASK, Redactor
from acp_bindings._secrets import argument_secrets, has_login, has_token, is_secret
from acp_bindings.check._inputs import EVENTS, Line, line_of
from acp_bindings.setup.capabilities import Side

__all__ = ["Recorded", "Recorder", "read_recording"]


class Recorder:
    """Writes a recording. The times of its lines are seconds since the epoch, by default the current time.

    The values of `env` and `headers` of MCP servers, terminals and providers are redacted, and those in `_meta` of a
    login. So are later occurrences of those that look like secrets.
    """

    def __init__(self, file: BinaryIO, *, secrets: Iterable[str] | None = ()) -> None:
        """Create a recorder.

        Args:
            file: the file; each line is one `write`. Open it with `buffering=0` if others read it at the same time.
            secrets: further values to redact; None to redact nothing.
        """
        self._file = file
        self._redaction = Redaction(secrets)
        self.lines = 0
        """The number of lines so far, which is the number of the last line."""

    def hide(self, secrets: Iterable[str]) -> None:
        """Redact these values as well, unless nothing is redacted."""
        self._redaction.add(secrets)

    def message(self, sender: Side, line: bytes, *, time: float | None = None) -> None:
        """Write a line of the conversation; empty lines are left out."""
        line = line.strip()
        if line:
            self._write(b'"from":"%b","message":%b' % (sender.encode(), self._redaction.message(line)), time)

    def stderr(self, line: bytes, *, time: float | None = None) -> None:
        """Write a line of the agent's standard error."""
        text = _text(line.rstrip(b"\r\n"))
        self._write(b'"from":"agent","stderr":' + to_json(self._redaction.json(text)), time)

    def event(self, name: str, about: Mapping[str, Any], *, time: float | None = None) -> None:
        """Write an event, such as `receipt`, `finding`, `dropped`, `closed` or `end`."""
        self._write(to_json(name) + b":" + to_json(self._redaction.json(dict(about)), fallback=str), time)

    def _write(self, members: bytes, time: float | None) -> None:
        moment = datetime.fromtimestamp(clock.time() if time is None else time, UTC)
        stamp = moment.isoformat(timespec="microseconds").replace("+00:00", "Z").encode()
        self._file.write(b'{"time":"%b",%b}\n' % (stamp, members))
        self.lines += 1


_PAIRS = ("env", "headers")
_LOGINS = ("authenticate", "auth/login")
_MAY_HAVE_SECRETS = re.compile(rb'mcpServers|"env"|"headers"|"authenticate"|"auth\\?/login"|"terminal\\?/create"')


class Redaction:
    """Redacts the secrets of one conversation, which it learns from its messages."""

    def __init__(self, secrets: Iterable[str] | None) -> None:
        self._redactor = None if secrets is None else Redactor(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Redact these values as well."""
        if self._redactor:
            self._redactor.add(secrets)

    def json(self, value: Any) -> Any:
        """Return a JSON value without the secrets of earlier messages."""
        return self._redactor.json(value) if self._redactor else value

    def message(self, line: bytes) -> bytes:
        """Return the message as JSON, or the line as a JSON string if it is not JSON, such as one with NaN."""
        try:
            value = from_json(line)
        except ValueError:
            return to_json(self._text(_text(line)))
        if self._redactor:
            masked = self._without_secrets(value) if _MAY_HAVE_SECRETS.search(line) else value
            # A secret may be spelled with escapes that are not among its forms.
            if b"\\u" in line or b"\\/" in line or self._redactor.hides(_text(line)):
                masked = self._redactor.json(masked)
            # The line itself if possible, because parsing loses the spelling of numbers and repeated names.
            line = line if masked == value else to_json(masked)
        try:
            refuse_names(line)
        except ValueError:
            return to_json(_text(line))
        return line

    def _text(self, text: str) -> str:
        if self._redactor is None:
            return text
        # The values of an invalid `session/new` are secrets as well.
        return self._redactor(_VALUE.sub(rf"\1{MASK}", text) if "mcpServers" in text else text)

    def _without_secrets(self, value: Any) -> Any:
        """Return *value* with the values of `env` and `headers` masked, and remember the secrets of its servers."""
        if isinstance(value, list):
            return [self._without_secrets(each) for each in items_of(value)]
        members = members_of(value)
        masked = {
            name: self._masked(each) if name == "mcpServers" else self._without_secrets(each)
            for name, each in members.items()
        }
        # A terminal has an environment as well, and a provider headers.
        if params := members_of(masked.get("params")):
            pairs = (*_PAIRS, "_meta") if masked.get("method") in _LOGINS else _PAIRS
            masked["params"] = self._masked_server(params, pairs)
        return masked or value

    def _masked(self, servers: Any) -> Any:
        if isinstance(servers, list):
            return [self._masked_server(members_of(each)) or each for each in items_of(servers)]
        # A map of names to servers, as in config files.
        return {name: self._masked_server(members_of(each)) or each for name, each in members_of(servers).items()}

    def _masked_server(self, entry: dict[str, Any], pairs: Sequence[str] = _PAIRS) -> dict[str, Any]:
        if self._redactor:
            self._redactor.add(_secrets_of(entry, pairs))
            if isinstance(url := entry.get("url"), str) and (has_login(url) or has_token(url)):
                self._redactor.add(urls=[url])
        return {name: _masked_pairs(each) if name in pairs else each for name, each in entry.items()}


_VALUE = re.compile(r'("value"\s*:\s*")(?:[^"\\]|\\.)*')
_OPAQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+=-]{16,}")
"""Values that are secrets even if the name of their variable does not say so."""


def _secrets_of(entry: dict[str, Any], pairs: Sequence[str]) -> Iterator[str]:
    for name in pairs:
        for _, named, value in pairs_of(entry.get(name)):
            if is_secret(named, value) or _OPAQUE.fullmatch(value):
                yield value
    yield from argument_secrets([each if isinstance(each, str) else "" for each in items_of(entry.get("args"))])


def _masked_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return dict.fromkeys(cast("dict[str, Any]", value), MASK)
    if isinstance(value, list):
        return [{**members_of(each), "value": MASK} if members_of(each) else MASK for each in items_of(value)]
    return value


def _text(line: bytes) -> str:
    return line.decode(errors="replace")


class Recorded(NamedTuple):
    """A line of a recording."""

    number: int
    """The number of the line, from 1."""
    time: float | None
    """Seconds since the epoch; None if the recording has no times."""
    event: str | None
    """`stderr`, `receipt`, `finding`, `dropped`, `closed` or `end`; None for a message."""
    about: Any
    """The content of the event; None for a message."""
    line: Line
    """The message without its wrapper, with its sender."""


def read_recording(lines: Iterable[bytes]) -> Iterator[Recorded]:
    """Yield the lines of a recording, also of another program's that `acp-bindings check` accepts.

    Empty lines and half a line at the end are skipped.
    """
    for number, raw in enumerate(lines, start=1):
        text = raw.strip()
        if not text:
            continue
        wrapper = parsed_members(text)
        if not wrapper and not raw.endswith(b"\n") and text.startswith(b"{"):
            continue
        event = None if "message" in wrapper else next((each for each in EVENTS if each in wrapper), None)
        yield Recorded(number, _time(wrapper.get("time")), event, wrapper.get(event or ""), line_of(text))


def _time(value: Any) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except ValueError:
        return None
