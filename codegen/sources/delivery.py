"""What a source hands over, and the checks that it must pass before anything is replaced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from codegen.checks import check_shape
from codegen.sources.errors import MissingFilesError, NotAnAcpSchemaError, WrongDigestError
from codegen.tree import CodegenError

__all__ = ["Delivery", "Source", "check_digest", "fetch", "parse_schema"]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The schemas a source has, as it has them."""

    source: str
    """The source in its exact form: a tag such as `latest` is resolved, a password is gone."""
    version: str
    """The release that the source names, or "unknown"."""
    files: Mapping[str, bytes]
    """The bytes by their path in the schema folder; files that the source lacks are absent."""


class Source(Protocol):
    """A place where schemas are published."""

    @property
    def covers(self) -> tuple[str, ...]:
        """The files that this kind of source holds when it is complete."""
        ...

    def fetch(self, files: Sequence[str]) -> Delivery:
        """Those of `files` that the source has, and more where that costs nothing."""
        ...


def fetch(source: Source, *, only: Sequence[str] = (), sha256: Mapping[str, str] | None = None) -> Delivery:
    """The files that the source covers, or `only` those named, complete and checked.

    Raises:
        SourceError: the source cannot be reached, lacks a file, or holds something else than promised.
    """
    wanted = tuple(only) or source.covers
    delivery = source.fetch(wanted)
    missing = [file for file in wanted if file not in delivery.files]
    if missing:
        raise MissingFilesError(delivery.source, missing=missing, found=sorted(delivery.files))
    files = {file: delivery.files[file] for file in wanted}
    for file, data in files.items():
        if sha256 and file in sha256:
            check_digest(file, data, sha256[file])
        parse_schema(file, data)
    return Delivery(source=delivery.source, version=delivery.version, files=files)


def check_digest(file: str, data: bytes, sha256: str) -> None:
    """Raise WrongDigestError unless `data` has the given digest."""
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256.lower():
        raise WrongDigestError(file, expected=f"sha256 {sha256.lower()}", actual=f"sha256 {actual}")


def parse_schema(file: str, data: bytes) -> dict[str, Any]:
    """The schema in `data`.

    Raises:
        NotAnAcpSchemaError: it is cut off, no JSON, no JSON schema, or one of another protocol.
    """
    try:
        text = data.decode("utf-8")
        document: object = json.loads(text)
    except UnicodeDecodeError:
        raise NotAnAcpSchemaError(file, "it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise NotAnAcpSchemaError(file, _why_no_json(error)) from None
    except ValueError as error:
        raise NotAnAcpSchemaError(file, f"it has a number that Python does not read: {error}") from None
    except RecursionError:
        raise NotAnAcpSchemaError(file, "it is nested too deeply") from None
    if not isinstance(document, dict):
        raise NotAnAcpSchemaError(file, "it is JSON, but not an object")
    schema = cast("dict[str, Any]", document)
    if "json-schema.org" not in str(schema.get("$schema")):
        raise NotAnAcpSchemaError(file, "it has no $schema of json-schema.org")
    definitions = schema.get("$defs")
    if not isinstance(definitions, dict) or not definitions:
        raise NotAnAcpSchemaError(file, "it has no $defs")
    # Every release since 0.4 marks the parameters and results of methods like this; nobody else does.
    if not any({"x-side", "x-method"} <= keys for keys in _keys(cast("dict[str, object]", definitions))):
        raise NotAnAcpSchemaError(file, "no definition in its $defs has x-side and x-method")
    try:
        check_shape(schema)
    except CodegenError as error:
        raise NotAnAcpSchemaError(file, str(error)) from None
    return schema


def _keys(definitions: Mapping[str, object]) -> list[set[str]]:
    return [set(cast("dict[str, object]", value)) for value in definitions.values() if isinstance(value, dict)]


def _why_no_json(error: json.JSONDecodeError) -> str:
    text = error.doc
    if not text.strip():
        return "it is empty"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"it is cut off after {len(text)} characters"
    start = " ".join(text[:40].split())
    return f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg} (it starts with {start!r})"
