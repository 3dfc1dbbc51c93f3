"""Rules for data that the schema does not allow, with the likely cause, and for data that is lost in reading."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from pydantic.fields import FieldInfo

from acp_bindings._lazy import closest
from acp_bindings._models.base import Model
from acp_bindings._models.types import NotEnum
from acp_bindings._problems.mistakes import other_spelling
from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules.rule import OPENING, remark, rule, rules
from acp_bindings.errors import Finding
from acp_bindings.setup._peer import repeated_version
from acp_bindings.setup._versions import package_named, read_version
from acp_bindings.setup.errors import BadProtocolVersion, Remark, Severity


@rules(
    {
        "warning": {
            "leniency.default-on-error": "A field has an invalid value and reads as its default.",
            "leniency.skip-invalid-items": "An item of a list is invalid and is left out.",
            "leniency.default-on-null": "A field is null, which is not allowed, and reads as empty.",
        }
    }
)
def excused(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the findings of `decode`."""
    for each in observed.findings:
        if observed.body is None and observed.method in _SHOWN_AS_NULL:
            message = "the protocol shows null here, but some programs refuse it; send {}"
            yield Remark(observed.at, f"leniency.{each.rule}", message, _SHOWN_AS_NULL[observed.method])
            continue
        causes = tuple(replace(cause, path=cause.path[len(each.path) :]) for cause in each.causes)
        yield Remark((*observed.at, *each.path), f"leniency.{each.rule}", str(Finding((), each.rule, causes)))


_SHOWN_AS_NULL: dict[str | None, Severity] = {"fs/write_text_file": "info", "session/load": "warning"}
"""Responses that pages of the protocol show as null, with the severity. Zed refuses a null for `session/load`."""


@rule("schema.version", "error", on=["initialize"])
def version(observed: ObservedMessage) -> Iterator[Remark]:
    """A protocol version is not an integer, or the response has the form of another version."""
    if observed.type_name in ("InitializeRequest", "InitializeResponse"):
        try:
            named = read_version(observed.body)
        except BadProtocolVersion as error:
            yield remark(observed, "schema.version", error.reason, "protocolVersion")
        else:
            if (
                observed.kind == "response"
                and observed.typed is None
                and (reason := repeated_version(observed.body, named))
            ):
                yield remark(observed, "schema.version", reason, "protocolVersion")


@rule("schema.servers-missing", "error", on=OPENING)
def servers_missing(observed: ObservedMessage) -> Iterator[Remark]:
    """`mcpServers` is missing, which v1 requires in `session/new` and `session/load` even if it is empty."""
    wanted = observed.version == 1 and observed.type_name in ("NewSessionRequest", "LoadSessionRequest")
    if wanted and isinstance(observed.body, dict) and "mcpServers" not in observed.members:
        if other_spelling("mcpServers", observed.members):
            return  # another rule reports the spelling
        message = 'it is missing, and agents refuse the request without it; send "mcpServers": []'
        yield remark(observed, "schema.servers-missing", message, "mcpServers")


@rule("schema.misspelt", "warning")
def misspelt(observed: ObservedMessage) -> Iterator[Remark]:
    """A field or a discriminator is misspelled or unknown, so that it is ignored."""
    # Other rules check `initialize` in more detail.
    if observed.type_name not in ("InitializeRequest", "InitializeResponse"):
        for path, value, members in observed.objects:
            for name, meant in _misspelt(value, members):
                message = f'unknown name; write "{meant}"'
                yield remark(observed, "schema.misspelt", message, *path, name)
    kind = observed.update.get("sessionUpdate")
    if observed.version > 1 or not isinstance(kind, str) or kind.startswith("_"):
        return
    known = known_updates("v1")
    if kind not in known and not other_spelling(kind, known) and kind not in known_updates("v1_unstable"):
        close = closest(kind, known)
        hint = f'did you mean "{close}"?' if close else "names of extensions begin with an underscore"
        message = f"unknown in version 1, and clients ignore or refuse it; {hint}"
        yield remark(observed, "schema.misspelt", message, "update", "sessionUpdate")


def known_updates(package: str) -> tuple[str, ...]:
    """Return the names of the updates that a protocol package has."""
    return _known(package_named(package).OtherSessionUpdate.__pydantic_fields__["session_update"])


def _misspelt(value: Model, members: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each misspelled name in *value*, which had these *members*, with the right spelling."""
    fields = type(value).__pydantic_fields__
    names = [info.alias or name for name, info in fields.items()]
    for name in (each for each in members if each not in names):
        if (meant := other_spelling(name, names)) and meant not in members:
            yield name, meant
    for name, info in fields.items():
        if meant := other_spelling(getattr(value, name), _known(info)):
            yield info.alias or name, meant


def _known(info: FieldInfo) -> tuple[str, ...]:
    return next((mark.known for mark in info.metadata if isinstance(mark, NotEnum)), ())


@rule("schema.base64", "warning")
def base64(observed: ObservedMessage) -> Iterator[Remark]:
    """The data of an image, audio, a resource or a terminal is not base64."""
    for path, value, members in observed.objects:
        name = BASE64.get(type(value).__name__)
        if name and isinstance(text := members.get(name), str) and not _is_base64(text):
            message = "remove the part before the comma" if text.startswith("data:") else "encode the bytes"
            yield remark(observed, "schema.base64", f"it is not base64; {message}", *path, name)


BASE64 = {
    "AudioContent": "data",
    "BlobResourceContents": "blob",
    "ImageContent": "data",
    "TerminalOutput": "data",
    "TerminalOutputChunk": "data",
}
"""The field of each type that the schema describes as base64. In the models it is a `str`."""


def _is_base64(text: str) -> bool:
    """Return True if it can be decoded. The URL alphabet, missing padding and line breaks are allowed."""
    found = re.fullmatch(r"([A-Za-z0-9+/_-]*)={0,2}", re.sub(r"[\r\n]", "", text))
    return found is not None and len(found[1]) % 4 != 1


@rules(
    {
        "error": {
            "schema.json": "A line is not JSON.",
            "schema.message": "The line is not a message of JSON-RPC 2.0.",
            "schema.method": "The method does not exist, or the receiver does not handle it.",
            "schema.params": "The params are not valid for the method.",
            "schema.result": "The result is not valid for the method.",
            "schema.error": "The error is not an error of JSON-RPC.",
            "schema.payload": "A payload is not valid for its type.",
        }
    }
)
def reading(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield the errors that prevented a message from being read, except those that another rule explains."""
    yield from observed.wrong
